#!/usr/bin/env python3
"""check_needed_only.py BUILD README MODEL.onnx -- the README's program links what its model needs and no more, in each way the README
names: the file of `rnnpack registry` beside the program, and the package's CMake functions. It gives the same numbers as the program
that links everything, and has at most half of its code. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def cache_value(build, name):
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found.group(1) if found else ""


def text_bytes(program):
    return int(subprocess.run(["size", program], check=True, capture_output=True, text=True).stdout.split("\n")[1].split()[0])


EMITTED = """#include "detector.h"
#include <stdio.h>
#include <stdlib.h>

static uint8_t memory[DETECTOR_SESSION_BYTES] __attribute__((aligned(DETECTOR_ALIGN)));

int main(void) {
  rnnp_model model;
  rnnp_session *session;
  rnnp_session_options options;
  rnnp_tensor_info in = RNNP_TENSOR_INFO_INIT, out = RNNP_TENSOR_INFO_INIT;
  detector_options(&options);
  if (rnnp_model_open(&model, detector, DETECTOR_BYTES, 0) || rnnp_model_get_input(&model, 0, &in) || rnnp_model_get_output(&model, 0, &out) ||
      rnnp_session_init_with(&detector_registry, &session, &model, &options, memory, sizeof memory)) return 1;
  float *x = calloc(in.row_elems, sizeof *x), *y = calloc(out.row_elems, sizeof *y);
  for (int t = 0; t < 10; ++t) if (rnnp_step(session, x, y)) return 2;
  printf("%s: %u floats in, %u out, y[0] = %g\\n", rnnp_status_string(RNNP_OK), (unsigned)in.row_elems, (unsigned)out.row_elems, y[0]);
  return 0;
}
"""

PROJECT = """cmake_minimum_required(VERSION 3.18)
project(app C)
find_package(rnnpack REQUIRED COMPONENTS static tool)
add_executable(blob stream.c)
rnnpack_add_registry(blob vad.rnnp)
add_executable(emitted emitted.c)
rnnpack_add_model(emitted "{model}" NAME detector OPTIONS --chunk-steps 1)
"""


def one_layer(path):
    """An LSTM alone: what its input needs is needed by sessions of some chunks only."""
    weights = [numpy_helper.from_array(np.full((1, 64, units), 0.01, np.float32), name) for name, units in (("W", 4), ("R", 16))]
    node = helper.make_node("LSTM", ["x", "W", "R"], ["y"], hidden_size=16)
    graph = helper.make_graph([node], "one_layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", "N", 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def main():
    build, readme, model = map(pathlib.Path, sys.argv[1:4])
    cc = cache_value(build, "CMAKE_C_COMPILER")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*command, **more):
            done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
            if done.returncode != 0:
                raise SystemExit(f"{command}:\n{done.stdout}")
            return done.stdout

        run("cmake", "--install", str(build), "--prefix", str(folder / "installed"))
        tool = folder / "installed/bin/rnnpack"
        (folder / "stream.c").write_text(re.search(r"```c\n(.*?)```", readme.read_text(), re.S).group(1))
        (folder / "emitted.c").write_text(EMITTED)
        (folder / "CMakeLists.txt").write_text(PROJECT.format(model=model.resolve()))
        run(tool, "compile", model.resolve(), "-o", "vad.rnnp")
        run(tool, "registry", "vad.rnnp", "-o", "registry.c")
        pc = next((folder / "installed").rglob("rnnpack.pc")).parent
        flags = run("pkg-config", "--cflags", "--libs", "rnnpack-static", env={"PKG_CONFIG_PATH": str(pc), "PATH": "/usr/bin"}).split()
        common = [cc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wl,--gc-sections", "stream.c"]
        run(*common, "-o", "everything", *flags)
        run(*common, "registry.c", "-o", "needed", *flags)
        one_layer(folder / "layer.onnx")
        run(tool, "compile", "layer.onnx", "-o", "layer.rnnp")
        run(tool, "registry", "layer.rnnp", "-o", "layer.c")
        run(*common, "layer.c", "-o", "layer", *flags)
        for program, blob in (("layer", "layer.rnnp"), ("everything", "layer.rnnp")):
            print(f"{program}: {text_bytes(folder / program)} bytes of code, {run(folder / program, blob).strip()}")
        if run(folder / "layer", "layer.rnnp") != run(folder / "everything", "layer.rnnp"):
            raise SystemExit("the program of one layer gives other numbers")
        run("cmake", "-S", ".", "-B", "cmake", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}", f"-DCMAKE_C_COMPILER={cc}",
            "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", "cmake")
        programs = ["everything", "needed", "cmake/blob", "cmake/emitted"]
        sizes = {program: text_bytes(folder / program) for program in programs}
        sizes["cmake/emitted"] -= (folder / "vad.rnnp").stat().st_size  # the model lies among the constants
        printed = {program: run(folder / program, "vad.rnnp") for program in programs}
        for program in programs:
            print(f"{program}: {sizes[program]} bytes of code, {printed[program].strip()}")
            if printed[program] != printed["everything"]:
                raise SystemExit(f"{program} gives other numbers")
            if program != "everything" and sizes[program] * 2 > sizes["everything"]:
                raise SystemExit(f"{program} is more than half of the program with everything")


if __name__ == "__main__":
    main()
