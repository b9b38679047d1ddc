#!/usr/bin/env python3
"""test_desktops.py BUILD [TARGET...] -- builds archive and shared library for macOS, Windows and musl, links a C program with each,
compares the shared library's symbols with tests/abi/symbols.txt, and runs the programs where something here can: musl as it is,
AArch64 under QEMU, Windows under Wine. macOS programs are linked only. rnnpack.dll is also used by a program of MSVC's ABI.
BUILD-<target> are the builds, BUILD-zig the compilers. Debug builds: nothing is timed. SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ZIG = {"aarch64-macos": None, "x86_64-macos": None, "x86_64-windows-gnu": "wine", "x86_64-linux-musl": "",
       "aarch64-linux-musl": "qemu-aarch64-static"}
GCC = "x86_64-w64-mingw32"  # what the DLL for users is made by
USUAL = ["aarch64-macos", "x86_64-macos", GCC]  # without names; the others take as long again
WINE = shutil.which("wine64") or "/usr/lib/wine/wine64"
BLOB = ROOT / "tests/golden/v1/lstm_f32_avx512.rnnp"
LLVM = "-19"
results = []


def note(name, problem=""):
    results.append(not problem)
    print(f"FAILED  {name}: {problem}" if problem else f"ok      {name}", flush=True)


def ran(name, *command, **options):
    """Whether it ends well; the result is noted under a name, if there is one."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", cwd=ROOT, **options)
    said = (done.stdout + done.stderr).strip()
    if name or done.returncode:
        note(name or command[0], f"{done.returncode}: {said[-1500:]}" if done.returncode else "")
    return done.stdout if done.returncode == 0 else None


def build(target, folder, tools):
    """The libraries of one target; None where they do not build."""
    how = ["--toolchain", ROOT / f"toolchains/{target}.cmake"] if target == GCC else ["--toolchain", ROOT / "toolchains/zig.cmake",
                                                                                     f"-DRNNPACK_ZIG_TARGET={target}", f"-DRNNPACK_ZIG_FOLDER={tools}"]
    flags = "-O1" if target == GCC else "-O0 -fno-sanitize=undefined"
    configured = ran(None, "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={flags}",
                     "-DRNNPACK_INSTALL=OFF", *how)
    jobs = os.environ.get("JOBS", str(os.cpu_count()))
    return configured is not None and ran(f"{target}: builds", "cmake", "--build", folder, "-j", jobs, "--target", "rnnpack", "rnnpack_shared")


def library(folder):
    """The shared library itself, and what a program is linked with."""
    found = [one for one in (folder / "src").glob("*rnnpack.*") if one.suffix in (".dylib", ".so", ".dll")]
    imports = [one for one in (folder / "src").glob("librnnpack.dll.a")]
    return found[0], (imports or found)[0]


def exported(target, path):
    if "macos" in target:
        lines = ran(None, f"llvm-nm{LLVM}", "--extern-only", "--defined-only", "--format=just-symbols", path) or ""
        return {name[1:] for name in lines.split() if not name.startswith("__")}  # the linker's own
    if "musl" in target:
        lines = ran(None, f"llvm-nm{LLVM}", "-D", "--defined-only", "--format=just-symbols", path) or ""
        return set(lines.split()) - {"_init", "_fini"}
    return set(re.findall(r"^ *Name: (\S+)$", ran(None, f"llvm-readobj{LLVM}", "--coff-exports", path) or "", re.M))


def run_program(name, target, program, place):
    runner = "wine" if target == GCC else ZIG[target]
    if runner is None:
        note(f"{name} links; nothing here runs it")
        return
    loader = pathlib.Path(f"/lib/ld-musl-{target.split('-')[0]}.so.1")
    if "musl" in target and name.endswith("shared library") and not loader.exists():
        note(f"{name} links; nothing here has {loader}")
        return
    command = [WINE if runner == "wine" else runner] if runner else []
    env = dict(os.environ, WINEDEBUG="-all", LD_LIBRARY_PATH=str(place), WINEPATH=str(place))
    ran(f"{name} runs", *command, program, BLOB, env=env, timeout=120)


def programs(target, folder, compiler):
    shared, linked = library(folder)
    wanted = set((ROOT / "tests/abi/symbols.txt").read_text().split())
    found = exported(target, shared)
    note(f"{target}: {shared.name} shows the list", "" if found == wanted else f"not as listed: {sorted(found ^ wanted)}")
    source = ROOT / "tests/abi/v1/program.c"
    for kind, what in (("archive", folder / "src/librnnpack.a"), ("shared library", linked)):
        program = folder / ("program_" + kind.split()[0] + (".exe" if target == GCC or "windows" in target else ""))
        flags = ["-std=c99", "-O1", f"-I{ROOT}/tests/abi/v1"]
        if kind != "archive":
            flags += ["-DRNNP_SHARED=1"] + ([f"-Wl,-rpath,{folder}/src"] if target == GCC or "windows" not in target else [])
        if target == GCC and kind == "archive":
            flags += ["-static"]
        if ran(None, *compiler, *flags, source, what, "-o", program) is not None:
            run_program(f"{target}: a C program on the {kind}", target, program, folder / "src")


def as_msvc(folder):
    """An import library of the .def, as lib.exe makes it; clang with MSVC's ABI; lld as link.exe."""
    lib, object_file, program = folder / "rnnpack.lib", folder / "msvc_program.obj", folder / "msvc_program.exe"
    kernel = "/usr/x86_64-w64-mingw32/lib/libkernel32.a"
    steps = ((f"llvm-dlltool{LLVM}", "-m", "i386:x86-64", "-D", "rnnpack.dll", "-d", folder / "src/rnnpack.def", "-l", lib),
             (f"clang{LLVM}", "--target=x86_64-pc-windows-msvc", "-ffreestanding", "-O1", "-Wall", "-Werror", "-DRNNP_SHARED=1", f"-I{ROOT}/include",
              "-c", ROOT / "tests/desktops/msvc_program.c", "-o", object_file),
             (f"lld-link{LLVM}", "/nologo", "/nodefaultlib", "/entry:start", "/subsystem:console", f"/out:{program}", object_file, lib, kernel))
    if all(ran(None, *step) is not None for step in steps):
        run_program(f"{GCC}: a program of MSVC's ABI on rnnpack.dll and its .def", GCC, program, folder / "src")


def main():
    base, targets = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or USUAL
    unknown = [one for one in targets if one not in ZIG and one != GCC]
    if unknown:
        sys.exit(f"no target {' '.join(unknown)}; there are: {' '.join([*ZIG, GCC])}")
    zig = pathlib.Path(f"{base}-zig")
    if any(one in ZIG for one in targets):
        subprocess.run([ROOT / "scripts/setup_zig.sh", zig, *(one for one in targets if one in ZIG)], check=True)
    for target in targets:
        folder = pathlib.Path(f"{base}-{target}")
        if build(target, folder, zig / "tools"):
            programs(target, folder, [f"{GCC}-gcc-posix"] if target == GCC else [zig / "tools" / f"{target}-cc"])
            if target == GCC:
                as_msvc(folder)
            if target == "aarch64-macos":
                ran(f"{target}: the example of workgroups compiles", zig / "tools" / f"{target}-cc", "-std=c11", "-Wall", "-Wextra", "-Werror",
                    f"-I{ROOT}/include", "-c", ROOT / "platform/darwin/workgroup_example.c", "-o", folder / "workgroup_example.o")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
