"""Policies over whole episodes beside onnxruntime: a Scan or a Loop whose body clears h and c by an input of every step.

In one call, in calls of three steps and step by step, with the state given at the start.
reset_masks_test.py TOOL. SPDX-License-Identifier: Apache-2.0
"""
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FEATURES, UNITS, ROWS = 6, 8, 3
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
LENGTHS = (1, 7, 20)
TOLERANCE = 1e-5


def tensor(name, shape=None, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


class Body:
    """One step of a policy: a dense layer, the mask, the cell, a dense layer."""

    def __init__(self, kind, mask, seed):
        self.random = np.random.default_rng(seed)
        self.states = ["h", "c"] if kind == "lstm" else ["h"]
        self.nodes, self.weights = [], []
        self.add("Sub", ["one", "d"], "keep")
        self.add("Greater", ["d", "half"], "ended")
        self.linear("x", FEATURES, FEATURES, "dense")
        self.add("Tanh", ["dense"], "features")
        for number, value in (("one", 1), ("half", 0.5), ("nothing", 0)):
            self.weights.append(numpy_helper.from_array(np.array(value, np.float32), number))
        for state in self.states:
            self.mask("none" if mask == "after" else mask, f"{state}_in", state)
        getattr(self, kind)()
        for state in self.states:
            self.mask(mask if mask == "after" else "none", f"{state}_next", f"{state}_out")
        self.linear("h_next", UNITS, 4, "y")

    def add(self, op, inputs, output, **attributes):
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))

    def linear(self, x, inputs, outputs, y):
        for part, shape in (("w", (inputs, outputs)), ("b", (outputs,))):
            self.weights.append(numpy_helper.from_array(self.random.normal(0, 0.4, shape).astype(np.float32), f"{y}_{part}"))
        self.add("MatMul", [x, f"{y}_w"], f"{y}_product")
        self.add("Add", [f"{y}_product", f"{y}_b"], y)

    def mask(self, how, before, after):
        if how == "none":
            self.add("Identity", [before], after)
        elif how == "where":
            self.add("Where", ["ended", "nothing", before], after)
        else:
            self.add("Mul", [before, "keep"], after)

    def rnn(self):
        self.linear("features", FEATURES, UNITS, "xs")
        self.linear("h", UNITS, UNITS, "hs")
        self.add("Add", ["xs", "hs"], "sum")
        self.add("Tanh", ["sum"], "h_next")

    def gru(self):
        for name, x, width in (("x", "features", FEATURES), ("h", "h", UNITS)):
            self.linear(x, width, 3 * UNITS, f"{name}s")
            self.add("Split", [f"{name}s"], [f"{name}r", f"{name}z", f"{name}n"], axis=1)
        for gate in "rz":
            self.add("Add", [f"x{gate}", f"h{gate}"], f"{gate}_in")
            self.add("Sigmoid", [f"{gate}_in"], gate)
        self.add("Mul", ["r", "hn"], "inner")
        self.add("Add", ["xn", "inner"], "n_in")
        self.add("Tanh", ["n_in"], "n")
        self.add("Sub", ["h", "n"], "less")
        self.add("Mul", ["z", "less"], "kept")
        self.add("Add", ["kept", "n"], "h_next")

    def lstm(self):
        self.linear("features", FEATURES, 4 * UNITS, "xs")
        self.linear("h", UNITS, 4 * UNITS, "hs")
        self.add("Add", ["xs", "hs"], "sum")
        self.add("Split", ["sum"], ["i_in", "f_in", "g_in", "o_in"], axis=1)
        for gate in "ifo":
            self.add("Sigmoid", [f"{gate}_in"], gate)
        self.add("Tanh", ["g_in"], "g")
        self.add("Mul", ["f", "c"], "kept")
        self.add("Mul", ["i", "g"], "fresh")
        self.add("Add", ["kept", "fresh"], "c_next")
        self.add("Tanh", ["c_next"], "c_tanh")
        self.add("Mul", ["o", "c_tanh"], "h_next")


def policy(kind, mask, loop, seed):
    """X [steps, rows, features], D [steps, rows, 1] and the states; Y and the states at the end."""
    body = Body(kind, mask, seed)
    states = [tensor(f"{s}_in", [None, UNITS]) for s in body.states]
    outs = [tensor(f"{s}_out", [None, UNITS]) for s in body.states] + [tensor("y", [None, 4])]
    inputs = [tensor("X", ["steps", "rows", FEATURES]), tensor("D", ["steps", "rows", 1])]
    inputs += [tensor(f"{s}0", ["rows", UNITS]) for s in body.states]
    results = [f"{s}N" for s in body.states] + ["Y"]
    if loop == "Scan":
        graph = helper.make_graph(body.nodes, "body", states + [tensor("x", [None, FEATURES]), tensor("d", [None, 1])], outs)
        nodes = [helper.make_node("Scan", [f"{s}0" for s in body.states] + ["X", "D"], results, num_scan_inputs=2, body=graph)]
    else:
        reads = [helper.make_node("Gather", [a, "t"], [b], axis=0) for a, b in (("X", "x"), ("D", "d"))]
        ends = [helper.make_node("Identity", ["go"], ["go_on"])]
        graph = helper.make_graph(reads + body.nodes + ends, "body", [tensor("t", [], TensorProto.INT64), tensor("go", [], TensorProto.BOOL)] + states,
                                  [tensor("go_on", [], TensorProto.BOOL)] + outs)
        zero, yes = (numpy_helper.from_array(np.array(v), n) for v, n in ((0, "zero"), (True, "yes")))
        body.weights += [zero, yes]
        nodes = [helper.make_node("Shape", ["X"], ["sizes"]), helper.make_node("Gather", ["sizes", "zero"], ["trips"]),
                 helper.make_node("Loop", ["trips", "yes"] + [f"{s}0" for s in body.states], results, body=graph)]
    made = helper.make_graph(nodes, "policy", inputs, [tensor("Y", ["steps", "rows", 4])] + [tensor(f"{s}N", ["rows", UNITS]) for s in body.states], body.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), body.states


def tool_run(tool, *args):
    done = subprocess.run([tool, *map(str, args)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
    return done.stdout


def check(tool, folder, kind, mask, loop, seed):
    model, states = policy(kind, mask, loop, seed)
    path, blob = folder / "m.onnx", folder / "m.rnnp"
    onnx.save(model, str(path))
    tool_run(tool, "compile", path, "-o", blob)
    assert "feature_recurrent" in tool_run(tool, "inspect", blob), "no layer"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(seed)
    for steps in LENGTHS:
        arrays = {"X": random.normal(0, 1, (steps, ROWS, FEATURES)), "D": random.random((steps, ROWS, 1)) < 0.3}
        arrays.update({f"{s}0": random.normal(0, 1, (ROWS, UNITS)) for s in states})
        arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
        names = ["Y"] + [f"{s}N" for s in states]
        expected = session.run(names, arrays)
        flags = []
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
            flags += ["--input", f"{name}={folder / f'{name}.npy'}"]
        for name in names:
            flags += ["--output", f"{name}={folder / f'{name}.npy'}"]
        for pieces in ([], ["--steps-per-call", 3], ["--steps-per-call", 1]):
            tool_run(tool, "run", blob, *flags, *pieces)
            for name, want in zip(names, expected):
                got = np.load(folder / f"{name}.npy")
                worst = np.max(np.abs(got - want) / np.maximum(1, np.abs(want)))
                assert got.shape == want.shape and worst <= TOLERANCE, f"{name} at {steps} steps {pieces}: {worst}"


def main():
    with tempfile.TemporaryDirectory() as work:
        for seed, (kind, mask, loop) in enumerate(itertools.product(GATES, ("before", "where", "after"), ("Scan", "Loop"))):
            try:
                check(sys.argv[1], pathlib.Path(work), kind, mask, loop, seed)
            except AssertionError as error:
                raise SystemExit(f"{kind}, mask {mask}, {loop}: {error}") from error
    return 0


if __name__ == "__main__":
    sys.exit(main())
