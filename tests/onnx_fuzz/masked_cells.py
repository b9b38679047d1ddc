"""masked_cells.py -- layers over a sequence some steps of which a mask passes over, as a Scan whose body chooses between the states
that a step makes and those before it.

SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from graph import B, T, Value
from norm_cells import SCAN_OF_RANKS, Step
from onnx import TensorProto, helper
from recurrent import GATES, TAKES, activations


class MaskedStep(Step):
    def axis(self, op, x):
        return self(op, x, self.g.ints([0])) if self.g.opset >= 13 else self(op, x, axes=[0])

    def layer(self, features, hidden):
        """An operator over one step: h, and c of LSTM."""
        g, op = self.g, self.g.pick("LSTM", "GRU", "RNN")
        g.bounded = True
        attributes = {"hidden_size": hidden}
        given = activations(g, op, 1)
        # onnxruntime has other numbers where they are left out.
        if "activation_alpha" in given or not any(TAKES.get(name.capitalize(), 2) for name in given["activations"]):
            attributes.update(given)
        if op == "GRU":
            attributes["linear_before_reset"] = g.pick(0, 1)
        rows = GATES[op] * hidden
        weights = [g.weights([1, rows, width], 1 / np.sqrt(width)) for width in (features, hidden)]
        bias = g.weights([1, 2 * rows], 0.4) if g.chance(0.8) else ""
        states = ["h", "c"] if op == "LSTM" else ["h"]
        inner = [self.axis("Unsqueeze", name) for name in ("x", *states)]
        made = self(op, inner[0], *weights, bias, "", *inner[1:], outputs=1 + len(states), **attributes)
        return states, [self.axis("Squeeze", name) for name in made[1:]], "activations" in attributes

    def written(self, features, hidden):
        """The cell of an RNN or a GRU in products, sums and gates."""
        weights = [self.g.weights([width, 3 * hidden], 1 / np.sqrt(width)) for width in (features, hidden)]
        if self.g.chance(0.3):
            weights = [self.g.weights([width, hidden], 1 / np.sqrt(width)) for width in (features, hidden)]
            return ["h"], [self("Tanh", self("Add", self("MatMul", "x", weights[0]), self("MatMul", "h", weights[1])))], False
        parts = []
        for name, matrix in zip("xh", weights):
            product = self("MatMul", name, matrix)
            parts.append(self("Split", product, self.g.ints([hidden] * 3), outputs=3, axis=1) if self.g.opset >= 13
                         else self("Split", product, outputs=3, axis=1, split=[hidden] * 3))
        z, r = (self("Sigmoid", self("Add", parts[0][i], parts[1][i])) for i in (0, 1))
        n = self("Tanh", self("Add", parts[0][2], self("Mul", r, parts[1][2])))
        one = self.g.constant(np.array(1, np.float32))
        return ["h"], [self("Add", self("Mul", self("Sub", one, z), n), self("Mul", z, "h"))], False

    def choose(self, how, runs, new, old):
        if how == "where":
            return self("Where", runs, new, old)
        passed = self("Not", runs)
        if how == "not":
            return self("Where", passed, old, new)
        parts = [self("Mul", self("Cast", mask, to=TensorProto.FLOAT), value) for mask, value in ((runs, new), (passed, old))]
        return self("Add", *(parts if self.g.chance(0.5) else parts[::-1]))


def masked_layer(g):
    g.opset, g.special = max(g.opset, SCAN_OF_RANKS), ""
    g.open[B] = False
    features, hidden = g.between(1, 6), g.between(1, 19)
    x, s = g.input([T, B, features]), MaskedStep(g)
    zero = g.constant(np.array(0, np.float32))
    inside = g.chance(0.4)
    width = g.pick(1, 1, hidden) if not inside else 1
    mask = g.input([T, B, 1])
    runs = s("Greater", "m", zero) if inside else "m"
    if width > 1 and not inside:
        runs = s("Expand", "m", g.ints([1, hidden]))
    states, made, grows = (s.written if g.chance(0.5) else s.layer)(features, hidden)
    how = g.pick("where", "where", "not", "sum")
    after = [s.choose(how, runs, new, old) for new, old in zip(made, states)]
    given, own = g.pick("state", "zeros", "own", "unread", "fresh"), []
    y = after[0]
    if given in ("zeros", "unread"):
        y = s.choose(how, runs, made[0], g.constant(np.zeros(hidden, np.float32)))
    if given == "own":
        y = s.choose(how, runs, made[0], "o")
    if given == "fresh":
        y = made[0]
    if given in ("own", "unread"):
        own, after = ["o"], [*after, y]
    y = s("Identity", y)

    def info(name, size, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, [g.batch, size])

    inputs = [*(info(name, hidden) for name in (*states, *own)), info("x", features), info("m", 1, TensorProto.FLOAT if inside else TensorProto.BOOL)]
    body = helper.make_graph(s.nodes, "step", inputs, [info(name, hidden) for name in (*after, y)])
    zeros = g.constant(np.zeros((g.batch, hidden), np.float32))
    starts = [g.input([B, hidden], name).name for name in ("h0", "c0")[:len(states)]] if g.chance(0.3) else [zeros] * len(states)
    outside = mask.name if inside else g.node("Greater", [mask, zero])
    back = g.chance(0.4)
    attributes = {"scan_input_directions": [1, 1], "scan_output_directions": [1]} if back else {}
    if back:
        g.notes.add("ahead")
    names = g.node("Scan", [*starts, *[zeros] * len(own), x, outside], len(after) + 1, num_scan_inputs=2, body=body, **attributes)
    most = 40.0 if grows else 1.0
    g.output(Value(names[-1], [T, B, hidden], most))
    for name in names[:-1]:
        if g.chance(0.4):
            g.output(Value(name, [B, hidden], most))
