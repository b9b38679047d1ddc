# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: running the tool, .npy files, small ONNX models."""
import array
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

import onnx
from onnx import TensorProto, helper, numpy_helper


class Tool:
    def __init__(self, path):
        self.path = path

    def run(self, *args):
        return subprocess.run([self.path, *map(str, args)], capture_output=True, text=True, timeout=120)

    def __call__(self, *args, code=0):
        done = self.run(*args)
        assert done.returncode == code, f"{args}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}"
        return done


class InFolder(unittest.TestCase):
    """Each test has a folder, gone at its end, with places for a model and its blob."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.onnx, self.blob = self.at / "m.onnx", self.at / "m.rnnp"


def write_npy(path, shape, values, descr="<f4", code="f", fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array(code, values).tobytes())


def read_npy(path):
    data = path.read_bytes()
    length = struct.unpack_from("<H", data, 8)[0]
    shape = tuple(int(v) for v in re.search(r"'shape': \(([^)]*)\)", data[10:10 + length].decode()).group(1).replace(",", " ").split())
    return shape, array.array("f", data[10 + length:]).tolist()


def save_onnx(path, nodes, inputs, outputs, constants, opset=13):
    """inputs: {name: shape}, shapes of numbers and names; constants: {name: numpy array}."""
    graph = helper.make_graph([helper.make_node(op, ins, outs, **attributes) for op, ins, outs, attributes in nodes], "graph",
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))
    return path
