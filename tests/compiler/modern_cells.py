"""Recurrent modern recurrent cells as ONNX models: one step with its states as inputs and outputs, and the same step in Scans over a sequence.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
from cell_sizes import FEATURES, HEADS, ROWS, SMALL, UNITS
from onnx import TensorProto, helper, numpy_helper

HEAD = UNITS // HEADS


class Step:
    """The operators of one step; a name for each result."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def __call__(self, operator, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def const(self, array, kind=np.float32):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, kind), name))
        return name

    def draw(self, *shape, scale=0.4):
        return self.const(self.random.normal(0, scale, shape))

    def ints(self, *values):
        return self.const(values, np.int64)

    def linear(self, x, inputs, outputs, bias=True):
        y = self("MatMul", x, self.draw(inputs, outputs))
        return self("Add", y, self.draw(outputs)) if bias else y

    def add(self, *terms):
        total = terms[0]
        for term in terms[1:]:
            total = self("Add", total, term)
        return total

    def mul(self, *factors):
        product = factors[0]
        for factor in factors[1:]:
            product = self("Mul", product, factor)
        return product

    def less(self, a, b):
        return self("Sub", a, b)

    def sigmoid(self, x):
        return self("Sigmoid", x)

    def silu(self, x):
        return self.mul(x, self.sigmoid(x))

    def rest(self, x):
        return self.less(self.const(1.0), x)

    def reshape(self, x, *shape):
        return self("Reshape", x, self.ints(*shape))

    def unsqueeze(self, x, *axes):
        return self("Unsqueeze", x, self.ints(*axes))

    def sum(self, x, axis):
        return self("ReduceSum", x, self.ints(axis), keepdims=0)

    def einsum(self, equation, *operands):
        return self("Einsum", *operands, equation=equation)

    def norm(self, x, width):
        return self("LayerNormalization", x, self.draw(width), self.draw(width), axis=-1)

    def unit(self, x):
        size = self("Sqrt", self.add(self("ReduceSum", self.mul(x, x), self.ints(-1), keepdims=1), self.const(1e-6)))
        return self("Div", x, size)


def min_gru(s, x, h):
    z = s.sigmoid(s.linear(x, FEATURES, UNITS))
    h = s.add(s.mul(s.rest(z), h), s.mul(z, s.linear(x, FEATURES, UNITS)))
    return h, [h]


def min_lstm(s, x, h):
    f, i = (s.sigmoid(s.linear(x, FEATURES, UNITS)) for _ in range(2))
    both = s.add(f, i)
    h = s.add(s.mul(s("Div", f, both), h), s.mul(s("Div", i, both), s.linear(x, FEATURES, UNITS)))
    return h, [h]


def sru(s, x, c):
    w = s.linear(x, FEATURES, UNITS, bias=False)
    f, r = (s.sigmoid(s.add(s.linear(x, FEATURES, UNITS), s.mul(s.draw(UNITS), c))) for _ in range(2))
    after = s.add(s.mul(f, c), s.mul(s.rest(f), w))
    return s.add(s.mul(r, after), s.mul(s.rest(r), s.linear(x, FEATURES, UNITS, bias=False))), [after]


def lmu(s, x, h, m):
    u = s.add(s("MatMul", x, s.draw(FEATURES, 1)), s("MatMul", h, s.draw(UNITS, 1)), s("MatMul", m, s.draw(SMALL, 1)))
    m = s.add(s("MatMul", m, s.draw(SMALL, SMALL)), s("MatMul", u, s.draw(1, SMALL)))
    h = s("Tanh", s.add(s.linear(x, FEATURES, UNITS), s("MatMul", h, s.draw(UNITS, UNITS)), s("MatMul", m, s.draw(SMALL, UNITS))))
    return h, [h, m]


def cfc(s, x, h):
    joined = s("Concat", x, h, axis=-1)
    z = s.mul(s.const(1.7159), s("Tanh", s.mul(s.const(0.666), s.linear(joined, FEATURES + UNITS, 10))))
    one, two = (s("Tanh", s.linear(z, 10, UNITS)) for _ in range(2))
    at = s.sigmoid(s.add(s.mul(s.linear(z, 10, UNITS), s.const(0.1)), s.linear(z, 10, UNITS)))
    h = s.add(s.mul(one, s.rest(at)), s.mul(at, two))
    return h, [h]


def complex_step(s, real, imaginary, shape, drive):
    """(a + ib) times the state, plus what comes in: both parts."""
    size, angle = np.exp(-s.random.uniform(0.1, 1, shape)), s.random.uniform(0, 3, shape)
    a, b = s.const(size * np.cos(angle)), s.const(size * np.sin(angle))
    return (s.add(s.less(s.mul(a, real), s.mul(b, imaginary)), drive[0]), s.add(s.mul(a, imaginary), s.mul(b, real), drive[1]))


def s4d(s, x, real, imaginary):
    u = s.unsqueeze(s.linear(x, FEATURES, UNITS), -1)
    real, imaginary = complex_step(s, real, imaginary, (UNITS, SMALL), [s.mul(u, s.draw(UNITS, SMALL)) for _ in range(2)])
    y = s.sum(s.less(s.mul(real, s.draw(UNITS, SMALL)), s.mul(imaginary, s.draw(UNITS, SMALL))), -1)
    return s.add(s.mul(s.const(2.0), y), s.mul(s.draw(UNITS), s("Squeeze", u, s.ints(-1)))), [real, imaginary]


def s5(s, x, real, imaginary):
    real, imaginary = complex_step(s, real, imaginary, (SMALL,), [s("MatMul", x, s.draw(FEATURES, SMALL)) for _ in range(2)])
    y = s.less(s("MatMul", real, s.draw(SMALL, UNITS)), s("MatMul", imaginary, s.draw(SMALL, UNITS)))
    return s.add(y, s("MatMul", x, s.draw(FEATURES, UNITS))), [real, imaginary]


def rg_lru(s, x, h):
    u = s.linear(x, FEATURES, UNITS)
    r, i = (s.sigmoid(s.linear(x, FEATURES, UNITS)) for _ in range(2))
    a = s("Exp", s.mul(s.const(-8.0), s("Softplus", s.draw(UNITS)), r))
    h = s.add(s.mul(a, h), s.mul(s("Sqrt", s.rest(s.mul(a, a))), s.mul(i, u)))
    return h, [h]


def log_gates(s, x, h, m, width):
    """exp of the input and forget gates, held down by the larger of them: xLSTM's m."""
    into, keep = (s.linear(x, FEATURES, width) for _ in range(2))
    if h is not None:
        into, keep = (s.add(gate, s("MatMul", h, s.draw(UNITS, width))) for gate in (into, keep))
    keep = s.add(s("Neg", s("Softplus", s("Neg", keep))), m)
    top = s("Max", keep, into)
    return s("Exp", s.less(into, top)), s("Exp", s.less(keep, top)), top


def slstm(s, x, h, c, n, m):
    z = s("Tanh", s.add(s.linear(x, FEATURES, UNITS), s("MatMul", h, s.draw(UNITS, UNITS))))
    o = s.sigmoid(s.add(s.linear(x, FEATURES, UNITS), s("MatMul", h, s.draw(UNITS, UNITS))))
    i, f, m = log_gates(s, x, h, m, UNITS)
    c, n = s.add(s.mul(f, c), s.mul(i, z)), s.add(s.mul(f, n), i)
    h = s.mul(o, s("Div", c, n))
    return h, [h, c, n, m]


def mlstm(s, x, big, n, m):
    q, k, v = (s.linear(x, FEATURES, SMALL) for _ in range(3))
    i, f, m = log_gates(s, x, None, m, 1)
    outer = s.mul(s.unsqueeze(v, -1), s.unsqueeze(k, -2))
    big = s.add(s.mul(s.unsqueeze(f, -1), big), s.mul(s.unsqueeze(i, -1), outer))
    n = s.add(s.mul(f, n), s.mul(i, k))
    size = s("Max", s("Abs", s("ReduceSum", s.mul(n, q), s.ints(-1), keepdims=1)), s.const(1.0))
    h = s("Div", s("Squeeze", s("MatMul", big, s.unsqueeze(q, -1)), s.ints(-1)), size)
    return s.mul(s.sigmoid(s.linear(x, FEATURES, SMALL)), h), [big, n, m]


def heads_of(s, x, inputs):
    return s.reshape(s.linear(x, inputs, UNITS), -1, HEADS, HEAD)


def ret_net(s, x, state):
    q, k, v = (heads_of(s, x, FEATURES) for _ in range(3))
    decay = s.const(np.array([0.9, 0.8]).reshape(HEADS, 1, 1))
    state = s.add(s.mul(decay, state), s.mul(s.unsqueeze(k, -1), s.unsqueeze(v, -2)))
    y = s.reshape(s("MatMul", s.unsqueeze(q, -2), state), -1, UNITS)
    return s.mul(s.silu(s.linear(x, FEATURES, UNITS)), s.norm(y, UNITS)), [state]


def gated_delta_net(s, x, state):
    q, v = heads_of(s, x, FEATURES), heads_of(s, x, FEATURES)
    k = s.unit(heads_of(s, x, FEATURES))
    beta = s.unsqueeze(s.sigmoid(s.linear(x, FEATURES, HEADS)), -1)
    alpha = s.unsqueeze(s("Exp", s("Neg", s("Softplus", s.linear(x, FEATURES, HEADS)))), -1, -2)
    state = s.mul(alpha, state)
    now = s.einsum("bhk,bhkv->bhv", k, state)
    state = s.add(state, s.mul(s.unsqueeze(k, -1), s.unsqueeze(s.mul(beta, s.less(v, now)), -2)))
    return s.reshape(s.einsum("bhk,bhkv->bhv", q, state), -1, UNITS), [state]


def short_conv(s, u, past):
    """Three steps before, kept, and this one under four taps."""
    window = s("Concat", past, s.unsqueeze(u, -1), axis=-1)
    y = s.silu(s.add(s.sum(s.mul(window, s.draw(UNITS, 4)), -1), s.draw(UNITS)))
    return y, s("Slice", window, s.ints(1), s.ints(4), s.ints(2))


def mamba_1(s, x, past, state):
    u, past = short_conv(s, s.linear(x, FEATURES, UNITS), past)
    dt = s("Softplus", s.linear(s.linear(u, UNITS, 2, bias=False), 2, UNITS))
    b, c = (s.unsqueeze(s.linear(u, UNITS, SMALL, bias=False), 1) for _ in range(2))
    decay = s("Exp", s.mul(s.unsqueeze(dt, -1), s.const(-s.random.uniform(0.2, 2, (UNITS, SMALL)))))
    state = s.add(s.mul(decay, state), s.mul(s.unsqueeze(s.mul(dt, u), -1), b))
    y = s.add(s.sum(s.mul(state, c), -1), s.mul(s.draw(UNITS), u))
    return s.mul(y, s.silu(s.linear(x, FEATURES, UNITS))), [past, state]


def mamba_2(s, x, past, state):
    u, past = short_conv(s, s.linear(x, FEATURES, UNITS), past)
    dt = s("Softplus", s.linear(x, FEATURES, HEADS))
    b, c = (s.linear(u, UNITS, SMALL, bias=False) for _ in range(2))
    decay = s.unsqueeze(s("Exp", s.mul(dt, s.const([-0.5, -1.5]))), -1, -2)
    u = s.reshape(u, -1, HEADS, HEAD)
    state = s.add(s.mul(decay, state), s.einsum("bh,bhp,bn->bhpn", dt, u, b))
    y = s.add(s.einsum("bhpn,bn->bhp", state, c), s.mul(s.draw(HEADS, 1), u))
    return s.mul(s.norm(s.reshape(y, -1, UNITS), UNITS), s.silu(s.linear(x, FEATURES, UNITS))), [past, state]


def shifted(s, x, before, width):
    """RWKV's token shift: between this step's x and the one before."""
    return s.add(x, s.mul(s.less(before, x), s.const(s.random.uniform(0, 1, width))))


def rwkv_6(s, x, before, state):
    r, k, v = (s.reshape(s.linear(shifted(s, x, before, FEATURES), FEATURES, UNITS, bias=False), -1, HEADS, HEAD) for _ in range(3))
    low = s("Tanh", s.linear(shifted(s, x, before, FEATURES), FEATURES, 3, bias=False))
    w = s.reshape(s("Exp", s("Neg", s("Exp", s.linear(low, 3, UNITS)))), -1, HEADS, HEAD, 1)
    kv = s.mul(s.unsqueeze(k, -1), s.unsqueeze(v, -2))
    y = s("MatMul", s.unsqueeze(r, -2), s.add(s.mul(s.draw(HEADS, HEAD, 1), kv), state))
    state = s.add(s.mul(w, state), kv)
    gate = s.silu(s.linear(shifted(s, x, before, FEATURES), FEATURES, UNITS, bias=False))
    return s.mul(s.norm(s.reshape(y, -1, UNITS), UNITS), gate), [s("Identity", x), state]


def rwkv_7(s, x, before, state):
    r, k, v = (s.reshape(s.linear(shifted(s, x, before, FEATURES), FEATURES, UNITS, bias=False), -1, HEADS, HEAD) for _ in range(3))
    w = s("Exp", s.mul(s.const(-0.606531), s.sigmoid(s.linear(shifted(s, x, before, FEATURES), FEATURES, UNITS))))
    a = s.reshape(s.sigmoid(s.linear(x, FEATURES, UNITS)), -1, HEADS, HEAD)
    key = s.unit(s.mul(k, s.draw(HEADS, HEAD)))
    removed = s("MatMul", s("MatMul", state, s.unsqueeze(key, -1)), s.unsqueeze(s.mul(key, a), -2))
    state = s.add(s.less(s.mul(state, s.reshape(w, -1, HEADS, 1, HEAD)), removed), s.mul(s.unsqueeze(v, -1), s.unsqueeze(k, -2)))
    return s.norm(s.reshape(s("MatMul", state, s.unsqueeze(r, -1)), -1, UNITS), UNITS), [s("Identity", x), state]


def gates_of(s, x, h, many, units, state, norm=False):
    sums = [s.linear(x, FEATURES, many * units), s.linear(h, state, many * units)]
    if norm:
        sums = [s.norm(each, many * units) for each in sums]
    return [s("Split", each, s.ints(*[units] * many), outputs=many, axis=-1) for each in sums]


def lstm_of(s, gates, c):
    i, f, g, o = (s.add(a, b) for a, b in zip(*gates))
    return s.sigmoid(o), s.add(s.mul(s.sigmoid(f), c), s.mul(s.sigmoid(i), s("Tanh", g)))


def lstm(s, x, h, c):
    o, c = lstm_of(s, gates_of(s, x, h, 4, UNITS, UNITS), c)
    h = s.mul(o, s("Tanh", c))
    return h, [h, c]


def lstm_projected(s, x, h, c):
    o, c = lstm_of(s, gates_of(s, x, h, 4, UNITS, SMALL), c)
    h = s("MatMul", s.mul(o, s("Tanh", c)), s.draw(UNITS, SMALL))
    return h, [h, c]


def lstm_projected_to_x(s, x, h, c):
    """h as wide as x: the widths do not tell them apart."""
    o, c = lstm_of(s, gates_of(s, x, h, 4, UNITS, FEATURES), c)
    h = s("MatMul", s.mul(o, s("Tanh", c)), s.draw(UNITS, FEATURES))
    return h, [h, c]


def lstm_norm(s, x, h, c):
    o, c = lstm_of(s, gates_of(s, x, h, 4, UNITS, UNITS, norm=True), c)
    h = s.mul(o, s("Tanh", s.norm(c, UNITS)))
    return h, [h, c]


def gru_of(s, gates, h):
    (xr, xz, xn), (hr, hz, hn) = gates
    r, z = s.sigmoid(s.add(xr, hr)), s.sigmoid(s.add(xz, hz))
    return s.add(s.mul(s.rest(z), s("Tanh", s.add(xn, s.mul(r, hn)))), s.mul(z, h))


def gru(s, x, h):
    h = gru_of(s, gates_of(s, x, h, 3, UNITS, UNITS), h)
    return h, [h]


def gru_norm(s, x, h):
    h = gru_of(s, gates_of(s, x, h, 3, UNITS, UNITS, norm=True), h)
    return h, [h]


def gru_by_gates(s, x, h):
    """A matrix for each gate, as it is often written by hand."""
    gates = [[s.linear(each, width, UNITS) for _ in range(3)] for each, width in ((x, FEATURES), (h, UNITS))]
    h = gru_of(s, gates, h)
    return h, [h]


# Name in the table, the step, the states' shapes.
CELLS = [
    ("minGRU", min_gru, [(UNITS,)]), ("minLSTM", min_lstm, [(UNITS,)]), ("SRU", sru, [(UNITS,)]), ("LMU", lmu, [(UNITS,), (SMALL,)]),
    ("CfC", cfc, [(UNITS,)]), ("S4D", s4d, [(UNITS, SMALL)] * 2), ("S5", s5, [(SMALL,)] * 2), ("RG-LRU", rg_lru, [(UNITS,)]),
    ("sLSTM", slstm, [(UNITS,)] * 4), ("mLSTM", mlstm, [(SMALL, SMALL), (SMALL,), (1,)]), ("RetNet", ret_net, [(HEADS, HEAD, HEAD)]),
    ("Gated DeltaNet", gated_delta_net, [(HEADS, HEAD, HEAD)]), ("Mamba-1", mamba_1, [(UNITS, 3), (UNITS, SMALL)]),
    ("Mamba-2", mamba_2, [(UNITS, 3), (HEADS, HEAD, SMALL)]), ("RWKV-6", rwkv_6, [(FEATURES,), (HEADS, HEAD, HEAD)]),
    ("RWKV-7", rwkv_7, [(FEATURES,), (HEADS, HEAD, HEAD)]), ("LSTM, written out", lstm, [(UNITS,)] * 2),
    ("LSTM with projection (LSTMP)", lstm_projected, [(SMALL,), (UNITS,)]),
    ("LSTMP, h as wide as x", lstm_projected_to_x, [(FEATURES,), (UNITS,)]), ("LSTM with layer norm", lstm_norm, [(UNITS,)] * 2),
    ("GRU, written out", gru, [(UNITS,)]), ("GRU with layer norm", gru_norm, [(UNITS,)]),
    ("GRU, a matrix for each gate", gru_by_gates, [(UNITS,)]),
]


def tensor(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model(graph):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def built(cell, seed):
    _, step, shapes = cell
    s = Step(seed)
    states = [f"state{i}" for i in range(len(shapes))]
    y, after = step(s, "x", *states)
    s.nodes.append(helper.make_node("Identity", [y], ["y"]))
    for i, name in enumerate(after):
        s.nodes.append(helper.make_node("Identity", [name], [f"next{i}"]))
    return s, states


def step_model(cell, seed):
    """x and the states in, y and the next states out."""
    s, states = built(cell, seed)
    shapes = [["batch", *shape] for shape in cell[2]]
    return model(helper.make_graph(s.nodes, "step", [tensor("x", ["batch", FEATURES])] + [tensor(*each) for each in zip(states, shapes)],
                                   [tensor("y")] + [tensor(f"next{i}", shape) for i, shape in enumerate(shapes)], s.weights))


def sequence_model(cell, seed):
    """A Scan whose body is the step; states start at zero."""
    return model(helper.make_graph(*scans(cell, seed, "Y", [0])))


def two_way_model(cell, seed):
    """The same beside one from the last step to the first."""
    nodes, *rest = scans(cell, seed, "Z", [0, 1])
    nodes.append(helper.make_node("Concat", ["Z0", "Z1"], ["Y"], axis=-1))
    return model(helper.make_graph(nodes, rest[0], rest[1], [tensor("Y")], rest[3]))


def scans(cell, seed, made, directions):
    s, states = built(cell, seed)
    afters = [tensor(f"next{i}") for i in range(len(states))]
    body = helper.make_graph(s.nodes, "body", [tensor(name, [ROWS, *shape]) for name, shape in zip(states, cell[2])] + [tensor("x")],
                             afters + [tensor("y")])
    starts = [numpy_helper.from_array(np.zeros((ROWS, *shape), np.float32), f"start{i}") for i, shape in enumerate(cell[2])]
    outputs = [made if len(directions) == 1 else f"{made}{way}" for way in directions]
    nodes = [helper.make_node("Scan", [start.name for start in starts] + ["X"], [f"last{i} {y}" for i in range(len(states))] + [y], name=f"scan{way}",
                              num_scan_inputs=1, body=body, **({"scan_input_directions": [1], "scan_output_directions": [1]} if way else {}))
             for way, y in zip(directions, outputs)]
    return nodes, "sequence", [tensor("X", ["steps", ROWS, FEATURES])], [tensor(y) for y in outputs], s.weights + starts
