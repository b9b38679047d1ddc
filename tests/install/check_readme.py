#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_readme.py BUILD README MODEL.onnx -- the README's C program, pasted as it is, compiles against the installed library and
runs on compiled models, small and large."""
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


def large_model(path):
    """One GRU whose blob is larger than what a buffer of some round size would hold."""
    units = 640
    weights = {name: numpy_helper.from_array(np.full((1, 3 * units, units), 0.01, np.float32), name) for name in "WR"}
    node = helper.make_node("GRU", ["x", "W", "R"], ["y"], hidden_size=units)
    graph = helper.make_graph([node], "large", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", "N", units])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], list(weights.values()))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))
    return path


def main():
    build, readme, model = map(pathlib.Path, sys.argv[1:4])
    program = re.search(r"```c\n(.*?)```", readme.read_text(), re.S).group(1)
    sanitize = cache_value(build, "RNNPACK_SANITIZE")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = lambda *command, **more: subprocess.run(command, check=True, cwd=folder, text=True, **more)
        run("cmake", "--install", str(build), "--prefix", str(folder / "installed"), stdout=subprocess.DEVNULL)
        (folder / "stream.c").write_text(program)
        run(folder / "installed/bin/rnnpack", "compile", str(model), "-o", "vad.rnnp")
        pc = next((folder / "installed").rglob("rnnpack.pc")).parent
        flags = run("pkg-config", "--cflags", "--libs", "rnnpack-static", capture_output=True, env={"PKG_CONFIG_PATH": str(pc), "PATH": "/usr/bin"}).stdout.split()
        sanitizers = [f"-fsanitize={sanitize}"] if sanitize else []
        run(cache_value(build, "CMAKE_C_COMPILER"), "-std=c11", *sanitizers, "stream.c", "-o", "stream", *flags)
        print(run("./stream", "vad.rnnp", capture_output=True).stdout)
        run(folder / "installed/bin/rnnpack", "compile", large_model(folder / "large.onnx"), "-o", "large.rnnp")
        if (folder / "large.rnnp").stat().st_size <= 4 << 20:
            raise SystemExit("the large model is not large")
        print(run("./stream", "large.rnnp", capture_output=True).stdout)


if __name__ == "__main__":
    main()
