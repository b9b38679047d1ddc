#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of "Twenty common graphs" in docs/EXPORTING.md: a small model of each, and what the page says comes of it now.

common_refusals_test.py RNNPACK docs/EXPORTING.md
"""
import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cli_support import InFolder, Tool

rnnpack = Tool(sys.argv[1])
PAGE = pathlib.Path(sys.argv[2])
F, H = 8, 4
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NUMPY = {TensorProto.INT32: np.int32, TensorProto.UINT8: np.uint8, TensorProto.FLOAT16: np.float16, TensorProto.DOUBLE: np.float64}


class Made:
    """A model under construction; `x` are its inputs: name -> (shape, type)."""

    def __init__(self, **inputs):
        self.inputs = {name: given if isinstance(given, tuple) else (given, FLOAT) for name, given in inputs.items()}
        self.nodes, self.constants, self.random = [], {}, np.random.default_rng(1)

    def const(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def weights(self, name, *shape):
        return self.const(name, (self.random.standard_normal(shape) * 0.3).astype(np.float32))

    def node(self, op, ins, out, **attributes):
        outs = [out] if isinstance(out, str) else out
        self.nodes.append(helper.make_node(op, ins, outs, name=outs[0], **attributes))
        return outs[0]

    def gru(self, x, out, features=F, state=""):
        """Over [steps, batch, features]; gives [steps, batch, H]."""
        start = ["", "", state] if state else []
        self.node("GRU", [x, self.weights(out + "W", 1, 3 * H, features), self.weights(out + "R", 1, 3 * H, H)] + start, [out + "Y", out + "h"],
                  hidden_size=H)
        return self.node("Squeeze", [out + "Y", self.const(out + "d", [1])], out)

    def batch_first(self, x, out, features=F, **more):
        self.node("Transpose", [x], out + "_t", perm=[1, 0, 2])
        self.gru(out + "_t", out + "_g", features, **more)
        return self.node("Transpose", [out + "_g"], out, perm=[1, 0, 2])

    def model(self, output="y", opset=17):
        inputs = [helper.make_tensor_value_info(name, kind, shape) for name, (shape, kind) in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "graph", inputs, [helper.make_tensor_value_info(output, FLOAT, None)],
                                  [numpy_helper.from_array(v, k) for k, v in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def front(padded):
    m = Made(x=["batch", "steps", F])
    m.node("Transpose", ["x"], "c", perm=[0, 2, 1])
    m.node("Conv", ["c", m.weights("K", F, F, 4)], "d", strides=[2], **({"pads": [1, 1]} if padded else {}))
    m.node("Transpose", ["d"], "t", perm=[2, 0, 1])
    m.gru("t", "y")
    return m.model()


def reader(width):
    m = Made(x=["batch", 1, 8, width])
    m.node("Conv", ["x", m.weights("K", 4, 1, 3, 3)], "c", pads=[1, 1, 1, 1])
    m.node("MaxPool", ["c"], "p", kernel_shape=[2, 2], strides=[2, 2])
    m.node("Reshape", ["p", m.const("s", [0, 16, -1])], "r")
    m.node("Transpose", ["r"], "t", perm=[2, 0, 1])
    m.gru("t", "y", 16)
    return m.model()


def dual_path():
    m = Made(x=[1, 7, 5, F])
    m.node("Reshape", ["x", m.const("a", [7, 5, F])], "frames")
    m.batch_first("frames", "bands")
    m.node("Transpose", [m.gru("bands", "y", H)], "out", perm=[1, 0, 2])
    return m.model("out")


def reversed_steps():
    m = Made(x=["batch", "steps", F])
    m.node("Slice", ["x", m.const("b", [-1]), m.const("e", [-2**63 + 1]), m.const("a", [1]), m.const("s", [-1])], "back")
    m.batch_first("back", "z")
    m.node("Gather", ["z", m.const("last", -1)], "y", axis=1)
    return m.model()


def behind_a_layer(add):
    m = Made(x=["batch", "steps", F])
    add(m, m.batch_first("x", "z"))
    return m.model()


def attention_pool(m, z):
    m.node("MatMul", [z, m.weights("v", H, 1)], "score")
    m.node("Softmax", ["score"], "a", axis=1)
    m.node("Mul", ["a", z], "az")
    m.node("ReduceSum", ["az", m.const("axis", [1])], "y", keepdims=0)


def top_k(m, z):
    m.node("TopK", [z, m.const("k", [2])], ["y", "places"], axis=-1)


def counted(m, z):
    m.node("CumSum", [z, m.const("axis", 1)], "y")


def loop():
    m = Made(x=["batch", "steps", F])
    m.node("Transpose", ["x"], "all", perm=[1, 0, 2])
    m.node("Shape", ["all"], "sizes")
    m.node("Gather", ["sizes", m.const("i0", 0)], "steps")
    m.node("Gather", ["sizes", m.const("i1", [1])], "rows")
    m.node("Concat", ["rows", m.const("width", [H])], "start_shape", axis=0)
    m.node("ConstantOfShape", ["start_shape"], "start")
    inside = Made()
    inside.node("Gather", ["all", "i"], "step")
    inside.node("MatMul", ["step", inside.weights("W", F, H)], "xw")
    inside.node("MatMul", ["h", inside.weights("R", H, H)], "hr")
    inside.node("Add", ["xw", "hr"], "sum")
    inside.node("Tanh", ["sum"], "h_next")
    inside.node("Identity", ["go"], "go_on")
    inside.node("Identity", ["h_next"], "each")
    value = helper.make_tensor_value_info
    body = helper.make_graph(inside.nodes, "body", [value("i", INT64, []), value("go", TensorProto.BOOL, []), value("h", FLOAT, [None, H])],
                             [value("go_on", TensorProto.BOOL, []), value("h_next", FLOAT, [None, H]), value("each", FLOAT, [None, H])],
                             [numpy_helper.from_array(v, k) for k, v in inside.constants.items()])
    m.node("Loop", ["steps", m.const("true", np.array(True)), "start"], ["last", "made"], body=body)
    m.node("Transpose", ["made"], "y", perm=[1, 0, 2])
    return m.model()


def ids(kind):
    m = Made(x=(["batch", "steps"], kind))
    m.node("Add", ["x", m.const("one", np.array(1, NUMPY[kind]))], "next")
    m.node("Cast", ["next"], "i", to=INT64)
    m.node("Gather", [m.weights("table", 300, F), "i"], "e")
    m.batch_first("e", "y")
    return m.model()


def repeated():
    m = Made(x=["batch", F])
    m.node("Unsqueeze", ["x", m.const("front", [0])], "one")
    m.node("Tile", ["one", m.const("times", [5, 1, 1])], "many")
    m.gru("many", "y")
    return m.model()


def masked():
    m = Made(x=["batch", "steps", F], mask=(["batch", "steps", 1], TensorProto.BOOL))
    m.node("Where", ["mask", "x", m.const("zero", np.float32(0))], "kept")
    m.batch_first("kept", "y")
    return m.model()


def of_type(kind):
    m = Made(x=(["batch", "steps", F], kind))
    m.batch_first("x", "y")
    m.constants = {k: v.astype(NUMPY[kind]) if v.dtype == np.float32 else v for k, v in m.constants.items()}
    model = m.model()
    model.graph.output[0].type.tensor_type.elem_type = kind
    return model


def joined():
    m = Made(x=["batch", "steps", F], context=[2, 7, 5])
    m.batch_first("x", "z")
    m.node("Concat", ["z", "context"], "y", axis=-1)
    return m.model()


def flattened():
    m = Made(x=[2, 10, F])
    m.batch_first("x", "z")
    m.node("Reshape", ["z", m.const("flat", [2, 10 * H])], "row")
    m.node("Gemm", ["row", m.weights("V", 10 * H, 3)], "y")
    return m.model()


def two_lengths(source, target):
    m = Made(x=[2, source, F], past=[2, target, F])
    m.batch_first("x", "encoder")
    m.batch_first("past", "y", state="encoder_gh")
    return m.model()


def backwards():
    m = Made(x=["batch", "steps", F])
    m.node("Shape", ["x"], "sizes")
    m.node("Slice", ["sizes", m.const("b", [0]), m.const("e", [1])], "rows")
    m.node("Gather", ["sizes", m.const("i1", 1)], "steps")
    m.node("Expand", ["steps", "rows"], "lengths")
    m.node("ReverseSequence", ["x", "lengths"], "back", batch_axis=0, time_axis=1)
    m.batch_first("back", "z")
    m.node("Gather", ["z", m.const("last", -1)], "y", axis=1)
    return m.model()


ROWS = {
    "a strided or pooled front end, time open": [front(True)],
    "the same, steps dropped by a convolution without padding": [front(False)],
    "a text reader, width open, padding that keeps the columns": [reader("width")],
    "a text reader, width fixed": [reader(20)],
    "dual-path, sizes fixed": [dual_path()],
    "a reversed sequence, steps open": [reversed_steps()],
    "softmax over time (attention pooling)": [behind_a_layer(attention_pool)],
    "ArgMax at the end": [behind_a_layer(lambda m, z: m.node("ArgMax", [z], "y", axis=-1))],
    "TopK at the end": [behind_a_layer(top_k)],
    "CumSum over time, positions": [behind_a_layer(counted)],
    "Keras GRU, SimpleRNN, cells, Masking": [loop()],
    "Keras Embedding before a layer": [ids(TensorProto.INT32)],
    "Keras RepeatVector": [repeated()],
    "UINT8 ids or INT8 features": [ids(TensorProto.UINT8)],
    "a BOOL mask": [masked()],
    "a file of float16 or float64": [of_type(TensorProto.FLOAT16), of_type(TensorProto.DOUBLE)],
    "two inputs of fixed sizes, joined": [joined()],
    "all steps flattened into a dense layer": [flattened()],
    "encoder and decoder of two lengths": [two_lengths(7, 4), two_lengths("steps", "steps_out")],
    "Keras `go_backwards`": [backwards()],
}


def rows_of_the_page():
    section = PAGE.read_text().split("\n## Twenty common graphs\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.M)[1:]
    return {what: now for what, now in rows if what.strip("-") != ""}


class CommonRefusals(InFolder):
    def outcome(self, model):
        onnx.save(model, str(self.onnx))
        done = rnnpack.run("compile", self.onnx, "-o", self.blob)
        if done.returncode == 0:
            rnnpack("verify", self.onnx, self.blob)
        return done

    def check(self, now, done):
        if done.returncode == 0:
            self.assertTrue(now.startswith("compiled"), done.stderr)
            note = re.search(r"note: (.*)", now)
            self.assertIn(note.group(1) if note else "made ", done.stderr)
            self.assertIn("streams: no" if "whole sequences" in now else "streams: yes" if "in streams" in now else "streams: ", done.stderr)
            if "as layers" in now or "direction reverse" in now:
                self.assertRegex(rnnpack("inspect", self.blob).stdout, r"(?m)^  recurrent ")
            return
        lines = done.stderr.splitlines()
        self.assertEqual((done.returncode, len(lines)), (2, 3), done.stderr)  # one cause, said once, and what helps
        message = now.split("else ")[-1]
        self.assertRegex(". ".join(lines[1:]), ".*".join(re.escape(part) for part in message.split("...")), now)

    def test_each_row_of_the_page_is_what_comes_of_its_model(self):
        page = rows_of_the_page()
        self.assertEqual(list(page), list(ROWS))
        self.assertEqual(len(page), 20)
        for what, models in ROWS.items():
            done = [self.outcome(model) for model in models]
            for one in done:
                with self.subTest(what):
                    self.check(page[what], one)
            with self.subTest(what):
                self.assertEqual([one.returncode for one in done].count(2), "accepted:" in page[what] or "else try" in page[what])


if __name__ == "__main__":
    import unittest
    unittest.main(argv=sys.argv[:1])
