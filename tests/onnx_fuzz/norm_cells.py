"""norm_cells.py -- layer-normalised LSTMs over a sequence, as a Scan whose body is written in every way that the cell has.

SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from graph import B, T, Value
from onnx import TensorProto, helper

SCAN_OF_RANKS = 11  # from here on what the body needs is written in one way


class Step:
    """Nodes of the body; weights are the graph's."""

    def __init__(self, g):
        self.g, self.nodes, self.native = g, [], g.opset >= 17 and g.chance(0.5)

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [self.g.fresh("s") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def mean(self, x):
        if self.g.opset >= 18:
            return self("ReduceMean", x, self.g.ints([-1]), keepdims=1)
        return self("ReduceMean", x, axes=[-1], keepdims=1)

    def norm(self, x, width):
        scale, bias, epsilon = self.g.uniform([width], 0.5, 1.5), self.g.weights([width], 0.3), self.g.pick(0.1, 0.01)
        if self.native:
            return self("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)
        off = self("Sub", x, self.mean(x))
        deviation = self("Sqrt", self("Add", self.mean(self("Mul", off, off)), self.g.constant(np.array(epsilon, np.float32))))
        return self("Add", self("Mul", self("Div", off, deviation), scale), bias)

    def split(self, x, width):
        if self.g.opset >= 13:
            return self("Split", x, self.g.ints([width] * 4), outputs=4, axis=1)
        return self("Split", x, outputs=4, axis=1, split=[width] * 4)


def gates(g, s, x, h, features, hidden):
    """Four sums: norms of both products (PyTorch's), of one of x and h side by side, or of each gate of it (TensorFlow's)."""
    how = g.pick("apart", "joint", "by gate")
    if how == "apart":
        products = [s("MatMul", each, g.weights([width, 4 * hidden], 1 / np.sqrt(width))) for each, width in ((x, features), (h, hidden))]
        return s.split(s("Add", *[s.norm(each, 4 * hidden) for each in products]), hidden)
    both = s("MatMul", s("Concat", x, h, axis=1), g.weights([features + hidden, 4 * hidden], 1 / np.sqrt(features + hidden)))
    if how == "joint":
        return s.split(s.norm(both, 4 * hidden), hidden)
    return [s.norm(each, hidden) for each in s.split(both, hidden)]


def norm_lstm(g):
    g.opset, g.special = max(g.opset, SCAN_OF_RANKS), ""
    g.open[B] = False
    features, hidden = g.between(1, 6), g.between(3, 9)
    x, s = g.input([T, B, features]), Step(g)
    i, f, o, c_in = gates(g, s, "x", "h", features, hidden)
    raw = s("Add", s("Mul", s("Sigmoid", f), "c"), s("Mul", s("Sigmoid", i), s("Tanh", c_in)))
    normed = s.norm(raw, hidden)
    h = s("Mul", s("Sigmoid", o), s("Tanh", normed))
    y = s("Identity", h)
    after = [h, raw if g.chance(0.3) else normed]

    def info(name, width):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [g.batch, width])

    body = helper.make_graph(s.nodes, "step", [info("h", hidden), info("c", hidden), info("x", features)],
                             [info(after[0], hidden), info(after[1], hidden), info(y, hidden)])
    if g.chance(0.5):
        starts = [g.input([B, hidden], name).name for name in ("h0", "c0")]
    else:
        starts = [g.constant(np.zeros((g.batch, hidden), np.float32)) for _ in range(2)]
    back = g.chance(0.3)
    attributes = {"scan_input_directions": [1], "scan_output_directions": [1]} if back else {}
    if back:
        g.notes.add("ahead")
    names = g.node("Scan", [*starts, x], 3, num_scan_inputs=1, body=body, **attributes)
    g.output(Value(names[2], [T, B, hidden], 1.0))
    if g.chance(0.5):
        g.output(Value(names[0], [B, hidden], 1.0))
