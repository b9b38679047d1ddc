#!/usr/bin/env python3
"""check_headers.py INCLUDE CC CXX -- the public headers under many compilers and warnings, without a library.

C99 and C11 (pedantic), C++11 to C++20, clang's -Weverything, clang for Windows' ABI where nothing but the compiler's own headers
is found; rnnpack.hpp with and without exceptions and RTTI. The example that rnnpack.h opens with compiles. Pointers to doubles do
not pass for floats. Every function that returns a status says that it must not be ignored, and an ignored one is refused.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

include, cc, cxx = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
PLAIN = ["rnnpack.h", "registry.h", "trace.h", "threads.h", "cuda.h", "compiler.h"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
# What the headers are on purpose: padded structs, extern "C" names, C casts and zeros in macros that C shares, headers of C++17.
EVERYTHING = ["-Weverything", "-Werror", "-Wno-padded", "-Wno-unused-macros", "-Wno-reserved-identifier",
              "-Wno-declaration-after-statement", "-Wno-unknown-warning-option"]
EVERYTHING_CXX = [*EVERYTHING, "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-old-style-cast",
                  "-Wno-zero-as-null-pointer-constant", "-Wno-unsafe-buffer-usage"]
failures = []
ran = 0


def compiles(what, command, text, suffix, fails=False, of=include):
    global ran
    ran += 1
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"source{suffix}"
        source.write_text(text)
        done = subprocess.run([*command, "-fsyntax-only", "-I", str(of), str(source)], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        failures.append(f"{what}: {' '.join(command)} {'accepts' if fails else 'refuses'}\n{text}\n{done.stderr[:2000]}")


def includes(headers):
    return "".join(f"#include <rnnpack/{header}>\n" for header in headers)


def check_plain(c, cpp, clang):
    for header in PLAIN:
        for standard in ("c99", "c11", "c17"):
            compiles(header, [c, f"-std={standard}", *STRICT, "-Wstrict-prototypes"], includes([header]), ".c")
        for standard in ("c++11", "c++14", "c++17", "c++20"):
            compiles(header, [cpp, f"-std={standard}", *STRICT], includes([header]), ".cpp")
        if clang:
            compiles(header, [c, "-std=c11", *EVERYTHING], includes([header]), ".c")
            compiles(header, [cpp, "-std=c++17", *EVERYTHING_CXX], includes([header]), ".cpp")
            windows = ["--target=x86_64-pc-windows-msvc", "-ffreestanding", *STRICT]
            for shared in ([], ["-DRNNP_SHARED"], ["-DRNNP_SHARED_BUILD"]):
                compiles(header, [c, "-std=c11", *windows, *shared], includes([header]), ".c")
                compiles(header, [cpp, "-std=c++17", *windows, *shared], includes([header]), ".cpp")


def check_wrapper(cpp, clang):
    text = includes(["rnnpack.hpp"]) + """
rnnp_status use(const void *blob, std::size_t bytes, const float *x, float *y);
rnnp_status use(const void *blob, std::size_t bytes, const float *x, float *y) {
  rnnpack::Model model;
  rnnpack::Session session;
  if (const rnnp_status code = model.open(blob, bytes); code != RNNP_OK) return code;
  if (const rnnp_status code = session.create(model); code != RNNP_OK) return code;
  return session.step({x, 4}, {y, 4});
}
"""
    with tempfile.TemporaryDirectory() as folder:  # as a build without threads installs it
        alone = pathlib.Path(folder) / "rnnpack"
        alone.mkdir()
        for name in ("rnnpack.h", "rnnpack.hpp"):
            shutil.copy(include / "rnnpack" / name, alone)
        compiles("rnnpack.hpp", [cpp, "-std=c++17", *STRICT], text, ".cpp", of=pathlib.Path(folder))
    for standard in ("c++17", "c++20"):
        for more in ([], ["-fno-exceptions", "-fno-rtti"], ["-DRNNPACK_EXCEPTIONS=0"]):
            compiles("rnnpack.hpp", [cpp, f"-std={standard}", *STRICT, *more], text, ".cpp")
            if clang:
                compiles("rnnpack.hpp", [cpp, f"-std={standard}", *EVERYTHING_CXX, "-Wno-weak-vtables", *more], text, ".cpp")


def check_types(c, cpp):
    calls = {"rnnp_step_f32(s, {p}, f)": "const", "rnnp_step_f32(s, f, {p})": "", "rnnp_run_f32(s, 1, {p}, f)": "const",
             "(rnnp_input_f32({p}, 0, 0).data == f ? RNNP_OK : RNNP_E_ARG)": "const",
             "(rnnp_output_f32({p}, 0, 0).data == f ? RNNP_OK : RNNP_E_ARG)": ""}
    for call in calls:
        for kind, fails in (("float", False), ("double", True), ("int32_t", True)):
            text = includes(["rnnpack.h"]) + (f"rnnp_status use(rnnp_session *s, float *f, {kind} *p);\n"
                                              f"rnnp_status use(rnnp_session *s, float *f, {kind} *p) "
                                              f"{{ (void)p; (void)f; (void)s; return {call.format(p='p')}; }}\n")
            compiles("f32", [cpp, "-std=c++17"], text, ".cpp", fails)
            compiles("f32", [c, "-std=c11", "-Werror=incompatible-pointer-types"], text, ".c", fails)


def check_statuses(cpp):
    for header in sorted((include / "rnnpack").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        found = re.findall(r"^([A-Z_ ]*)rnnp_status (rnnp_\w+)\(", text, re.M)
        failures.extend(f"{header.name}: {name} lacks RNNP_NODISCARD" for before, name in found if "RNNP_NODISCARD" not in before)
    for header, call, arguments in (("rnnpack.h", "rnnp_state_reset(s, 0)", "rnnp_session *s"), ("cuda.h", "rnnp_cuda_wait(s, 0)", "rnnp_cuda_session *s")):
        for kept, fails in (("return ", False), ("", True)):
            text = includes([header]) + f"rnnp_status use({arguments});\nrnnp_status use({arguments}) {{ {kept}{call}; return RNNP_OK; }}\n"
            compiles("status", [cpp, "-std=c++17", "-Werror"], text, ".cpp", fails)


def check_example(c, cpp):
    opening = (include / "rnnpack/rnnpack.h").read_text().split("*/")[0]
    example = [line[5:] for line in opening.split("on the device:")[1].split(" * Each call returns")[0].splitlines() if line.startswith(" *   ")]
    text = "\n".join(example) + "\n"
    if not re.search(r"rnnp_model_open.*rnnp_session_memory.*rnnp_session_init.*rnnp_step", text, re.S):
        failures.append("rnnpack.h does not open with an example of the four calls in order")
    compiles("example", [c, "-std=c11", "-Wall", "-Wextra", "-Werror"], text, ".c")
    compiles("example", [cpp, "-std=c++17", "-Wall", "-Wextra", "-Werror"],
             text.replace("#include <stdlib.h>", "#include <cstdlib>\nusing std::aligned_alloc; using std::free;"),
             ".cpp")


compilers = [(cc, cxx)]
if shutil.which("clang") and shutil.which("clang++"):
    compilers.append((shutil.which("clang"), shutil.which("clang++")))
for c, cpp in compilers:
    clang = "clang" in subprocess.run([c, "--version"], capture_output=True, text=True).stdout
    check_plain(c, cpp, clang)
    check_wrapper(cpp, clang)
    check_types(c, cpp)
    check_statuses(cpp)
    check_example(c, cpp)
print(f"{ran} compilations, {len(failures)} not as expected")
sys.exit("\n".join(failures) if failures else 0)
