#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library handed over as sources: `rnnpack sources`, a folder for other build systems, and `compile --emit-c NAME --one-file`.

sources_test.py RNNPACK SOURCE CXX [ARM_GCC]     with ARM_GCC: the folder is built by one command for a Cortex-M4F and runs on an emulator
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import yaml

from cli_support import Tool

rnnpack, SOURCE, CXX, ARM = Tool(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:5]
MODEL, MIXED = SOURCE / "models/vad_gru/model.onnx", SOURCE / "models/kws_lstm/model.onnx"
STEPS = 5

# Runs the steps it has as arrays, writes what comes out.
PROGRAM = """
#include <stdio.h>
#include "net.h"
#include "data.h"
static uint8_t memory[NET_SESSION_BYTES] __attribute__((aligned(NET_ALIGN)));
int main(void) {
  rnnp_model model;
  rnnp_session *session;
  rnnp_session_options options;
  float y[NET_OUTPUT0_ELEMS];
  net_options(&options);
  if (rnnp_model_open(&model, net, NET_BYTES, RNNP_OPEN_CHECK_WEIGHTS) != RNNP_OK) return 1;
  if (%s(&session, &model, &options, memory, sizeof memory) != RNNP_OK) return 2;
  for (unsigned step = 0; step < STEPS; ++step) {
    if (rnnp_step(session, x + step * NET_INPUT0_ELEMS, y) != RNNP_OK) return 3;
    for (unsigned i = 0; i < NET_OUTPUT0_ELEMS; ++i) printf("%%a\\n", (double)y[i]);
  }
  return 0;
}
"""


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def package(self):
        rnnpack("sources", self.at / "rnnpack")
        return self.at / "rnnpack"

    def emit(self, model, *options, how=()):
        """Writes the model's files, a program's input, and gives the tool's answer to it."""
        rnnpack("compile", model, "--emit-c", self.at / "net", "-o", self.at / "net.rnnp", *options)
        facts = json.loads(rnnpack("inspect", "--json", self.at / "net.rnnp").stdout)
        header = (self.at / "net.h").read_text()
        for kind in ("input", "output"):
            for i, tensor in enumerate(facts[kind + "s"]):
                elems = np.prod([d for d in tensor["dims"] if not isinstance(d, str)], dtype=int)
                self.assertIn(f"#define NET_{kind.upper()}{i}_ELEMS {elems}u", header)
        x = np.random.default_rng(4).uniform(-1, 1, (STEPS, 1, facts["inputs"][0]["dims"][-1])).astype(np.float32)
        np.save(self.at / "x.npy", x)
        values = ",".join(float(v).hex() + "f" for v in x.ravel())
        (self.at / "data.h").write_text(f"#define STEPS {STEPS}u\nstatic const float x[] = {{{values}}};\n")
        rnnpack("run", self.at / "net.rnnp", "--input", self.at / "x.npy", "--output", self.at / "y.npy", "--portable-ops", *how)
        return np.load(self.at / "y.npy").ravel()

    def write_program(self, init="rnnp_session_init"):
        (self.at / "main.c").write_text(PROGRAM % init)
        return self.at / "main.c"

    def outputs(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=True, timeout=120)
        return np.array([float.fromhex(line) for line in done.stdout.decode().split()], np.float32)

    # --- The folder -------------------------------------------------------------------------------------------------------------

    def test_the_folder_has_what_each_build_system_reads(self):
        at = self.package()
        properties = dict(line.split("=", 1) for line in (at / "library.properties").read_text().splitlines())
        for key in ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"):
            self.assertTrue(properties[key], key)
        version = properties["version"]
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(version, rnnpack("--version").stdout.strip())
        self.assertTrue((at / "src" / properties["includes"]).is_file())
        library = json.loads((at / "library.json").read_text())
        self.assertEqual((library["name"], library["version"]), ("rnnpack", version))
        for header in library["headers"]:
            self.assertTrue((at / "src" / header).is_file(), header)
        self.assertEqual(yaml.safe_load((at / "idf_component.yml").read_text())["version"], version)
        module = yaml.safe_load((at / "zephyr/module.yml").read_text())
        self.assertTrue((at / module["build"]["cmake"] / "CMakeLists.txt").is_file())
        self.assertTrue((at / module["build"]["kconfig"]).is_file())
        for notice in ("LICENSE", "THIRD_PARTY_NOTICES"):
            self.assertEqual((at / notice).read_bytes(), (SOURCE / notice).read_bytes())
        names = collections.Counter(path.name for path in at.rglob("src/**/*.cpp"))
        self.assertEqual([name for name, count in names.items() if count > 1], [], "objects of these would overwrite each other")
        self.assertFalse(re.search(r"xnnpack/|compiler/", "\n".join(str(p.relative_to(at)) for p in at.rglob("*"))))

    def test_a_folder_that_is_not_empty_is_left_alone(self):
        (self.at / "rnnpack").mkdir()
        (self.at / "rnnpack" / "mine").write_text("mine")
        self.assertIn("not empty", rnnpack("sources", self.at / "rnnpack", code=1).stderr)
        self.assertEqual([p.name for p in (self.at / "rnnpack").iterdir()], ["mine"])

    def configure(self, text, log):
        project = self.at / log
        project.mkdir()
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(around LANGUAGES CXX)\n" + text)
        done = subprocess.run(["cmake", "-S", project, "-B", project / "build", f"-DCMAKE_CXX_COMPILER={CXX}"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"SOURCES .*/src/ops/recurrent\.cpp")

    def test_esp_idf_zephyr_and_plain_cmake_find_the_sources(self):
        """The two systems' functions are stood in for: what is checked is that the package's files call them with what is there."""
        at = self.package()
        self.configure(f"""function(idf_component_register)
  cmake_parse_arguments(a "" "" "SRCS;INCLUDE_DIRS" ${{ARGN}})
  message(STATUS "SOURCES ${{a_SRCS}}")
  add_library(component STATIC ${{a_SRCS}})
  set(COMPONENT_LIB component PARENT_SCOPE)
endfunction()
set(ESP_PLATFORM 1)
include({at}/CMakeLists.txt)
""", "idf")
        self.configure(f"""macro(zephyr_library_named name)
  add_library(${{name}} STATIC)
endmacro()
function(zephyr_library_sources)
  message(STATUS "SOURCES ${{ARGN}}")
  target_sources(rnnpack PRIVATE ${{ARGN}})
endfunction()
function(zephyr_library_compile_options)
endfunction()
function(zephyr_include_directories)
endfunction()
set(CONFIG_RNNPACK y)
add_subdirectory({at}/zephyr zephyr)
""", "zephyr")
        self.configure(f"""add_subdirectory({at} rnnpack)
get_target_property(sources rnnpack SOURCES)
message(STATUS "SOURCES ${{sources}}")
""", "plain")

    @unittest.skipUnless(ARM, "no Arm compiler")
    def test_one_command_builds_it_for_a_microcontroller(self):
        at = self.package()
        board = ["--specs=picolibc.specs", "-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
        link = ["--oslib=semihost", "--crt0=semihost", "-Tpicolibc.ld", "-Wl,--gc-sections", "-Wl,--defsym=__flash=0", "-Wl,--defsym=__flash_size=0x400000",
                "-Wl,--defsym=__ram=0x20000000", "-Wl,--defsym=__ram_size=0x400000"]
        flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off", "-fno-exceptions"]
        emulator = [SOURCE / "toolchains/parts/qemu-bare.sh", "qemu-system-arm", "-M", "mps2-an386", "-kernel"]
        answers, sizes = [], []
        for one_file in (False, True):
            expected = self.emit(MODEL, "--target", "cortex-m", *(["--one-file"] if one_file else []), how=("--reference",))
            sources = [self.at / "net.cpp"] if one_file else sorted(at.rglob("*.cpp"))
            model = [] if one_file else [self.at / "net.c"]
            program = self.write_program("rnnp_session_init" if one_file else "RNNP_INIT")
            if not one_file:
                program.write_text(program.read_text().replace("RNNP_INIT(", "rnnp_session_init_with(&net_registry, "))
            include = [f"-I{self.at}"] if one_file else [f"-I{at / 'src'}", f"-I{self.at}"]
            subprocess.run([*ARM, *board, *flags, *include, *sources, *model, program, "-o", self.at / "image.elf", *link],
                           check=True, timeout=600)
            answers.append(self.outputs(*emulator, self.at / "image.elf"))
            np.testing.assert_allclose(answers[-1], expected, atol=1e-6, rtol=1e-5)
        self.assertEqual(answers[0].tobytes(), answers[1].tobytes(), "the one file gives other bits")

    # --- One file ---------------------------------------------------------------------------------------------------------------

    def test_one_file_is_all_a_program_needs(self):
        kinds = ((MODEL, ["--weights", "int8"], ["-DRNNPACK_REFERENCE_KERNELS"], ["--reference"]), (MIXED, [], ["-mavx2", "-mfma", "-mf16c"], []))
        for model, options, flags, how in kinds:
            with self.subTest(model=model, flags=flags):
                expected = self.emit(model, "--one-file", *options, how=how)
                self.assertFalse(re.search(r'^#include [<"]rnnpack', (self.at / "net.h").read_text() + (self.at / "net.cpp").read_text(), re.M))
                command = [CXX, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-ffp-contract=off", *flags, self.at / "net.cpp"]
                subprocess.run([*command, "-x", "c++", self.write_program(), "-o", self.at / "program"], check=True, timeout=600)
                self.assertEqual(self.outputs(self.at / "program").tobytes(), expected.tobytes(), "other bits than the blob's")

    @unittest.skipUnless(shutil.which("clang++"), "no clang++")
    def test_one_file_compiles_without_a_warning_of_clang(self):
        """What headers hold and this model does not use is in the main file here, where Clang would say so."""
        for options in ([], ["--weights", "int8"], ["--weights", "int4"], ["--target", "cortex-m4", "--weights", "int8"]):
            self.emit(MODEL, "--one-file", *options)
            for standard, flags in (("c++14", ["-march=x86-64-v3"]), ("c++17", ["-march=x86-64-v4", "-mavx512vnni"]), ("c++14", ["-DRNNPACK_REFERENCE_KERNELS"])):
                command = ["clang++", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *flags, self.at / "net.cpp"]
                done = subprocess.run(command, capture_output=True, text=True, timeout=600)
                self.assertEqual((done.returncode, done.stderr), (0, ""), f"{options} {flags}")

    def test_one_file_holds_several_instruction_sets(self):
        tiles = ["-mavx512vnni", "-mavx512bf16", "-mamx-tile", "-mamx-int8", "-mamx-bf16"]
        for model, options, sets in ((MODEL, ["--weights", "int8"], []), (MIXED, [], []), (MODEL, ["--weights", "int8"], tiles),
                                     (MODEL, ["--arithmetic", "bf16"], tiles)):
            self.emit(model, "--one-file", *options)
            subprocess.run([CXX, "-std=c++17", "-march=x86-64-v4", *sets, "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-fsyntax-only",
                            self.at / "net.cpp"], check=True, timeout=600)

    @unittest.skipUnless(ARM, "no arm-none-eabi-gcc")
    def test_one_file_holds_the_kernels_of_every_arm(self):
        for target, options in (("cortex-m55", ["-mcpu=cortex-m55", "-mfloat-abi=hard"]), ("armv7", ["-mcpu=cortex-a7", "-mfpu=neon-vfpv4", "-mfloat-abi=hard"])):
            self.emit(MODEL, "--one-file", "--weights", "int8", "--target", target)
            subprocess.run([*ARM, "-x", "c++", "-std=c++17", *options, "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-fsyntax-only", self.at / "net.cpp"],
                           check=True, timeout=600)

    def test_one_file_has_only_the_operators_of_its_model(self):
        self.emit(MODEL, "--one-file")
        ops = set(re.findall(r"^RNNPACK_OP\((\w+),", (self.at / "net.cpp").read_text(), re.M))
        self.assertIn("recurrent", ops)
        self.assertFalse({"conv", "norm", "where"} & ops, ops)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
