"""templates.py -- networks as exporters write them: PyTorch (TorchScript and dynamo), Keras through tf2onnx, cells and norms in
primitive operators, states that a caller carries from step to step. SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from onnx import TensorProto, helper

import recurrent
from graph import B, T, Value


def shape_part(g, x, index):
    """Size of an axis, as a vector of one: Shape, Gather, Unsqueeze."""
    size = g.node("Gather", [g.node("Shape", [x]), g.int_scalar(index)], axis=0)
    if g.opset >= 13:
        return g.node("Unsqueeze", [size, g.ints([0])])
    return g.node("Unsqueeze", [size], axes=[0])


def zeros_like_batch(g, x, batch_axis, directions, hidden):
    shape = g.node("Concat", [g.ints([directions]), shape_part(g, x, batch_axis), g.ints([hidden])], axis=0)
    if g.opset >= 9 and g.chance(0.5):
        return g.node("ConstantOfShape", [shape])
    zero = g.constant(np.zeros([1, 1, 1], np.float32))
    return g.node("Expand", [zero, shape])


def linear(g, x, n, bias=True):
    k = x.dims[-1]
    if len(x.dims) == 2 and g.chance(0.7):
        inputs = [x, g.weights([n, k], 1 / np.sqrt(k))] + ([g.weights([n], 0.3)] if bias or g.opset < 11 else [])
        return g.made("Gemm", inputs, x.dims[:-1] + [n], 2 * x.most, transB=1)
    y = g.made("MatMul", [x, g.weights([k, n], 1 / np.sqrt(k))], x.dims[:-1] + [n], 2 * x.most)
    return g.made("Add", [g.weights([n], 0.3), y], y.dims, y.most) if bias else y


def torch_stack(g):
    """nn.LSTM or nn.GRU with batch_first, zero states made from the batch, some layers, a head."""
    if g.opset < 9:
        return recurrent_stack(g)
    g.open = {T: g.chance(0.8), B: True}
    op, hidden, both = g.pick("LSTM", "GRU", "RNN"), g.between(1, 12), g.chance(0.3)
    directions = 2 if both else 1
    x = g.input([B, T, g.between(1, 8)], "input")
    h = g.transpose(x, [1, 0, 2])
    for _ in range(g.between(1, 3)):
        zeros = zeros_like_batch(g, x, 0, directions, hidden)
        rows = recurrent.GATES[op] * hidden
        feed = [h, g.weights([directions, rows, h.dims[2]], 0.4), g.weights([directions, rows, hidden], 0.4),
                g.weights([directions, 2 * rows], 0.3), "", zeros] + ([zeros] if op == "LSTM" else [])
        extra = {"linear_before_reset": 1} if op == "GRU" else {}
        if op == "RNN":
            extra["activations"] = [g.pick("Tanh", "Relu")] * directions
        names = g.node(op, feed, 3 if op == "LSTM" else 2, hidden_size=hidden, direction="bidirectional" if both else None, **extra)
        y = Value(names[0], [T, directions, B, hidden], 1.0)
        if both:
            y = g.transpose(y, [0, 2, 1, 3])
            h = g.reshape(y, [T, B, 2 * hidden], [0, 0, -1])
        else:
            h = g.squeeze(y, [1])
    y = g.transpose(h, [1, 0, 2])
    how = g.pick("all", "last", "mean")
    if how == "last":
        y = g.made("Gather", [y, g.int_scalar(-1)], [B, y.dims[2]], 1.0, axis=1) if g.opset >= 11 else y
    elif how == "mean" and not both:
        y = g.made("ReduceMean", [y, g.ints([1])] if g.opset >= 18 else [y], [B, y.dims[2]], 1.0, keepdims=0,
                   axes=None if g.opset >= 18 else [1])
    y = linear(g, y, g.between(1, 5))
    g.output(g.made("LogSoftmax" if g.chance(0.3) else "Sigmoid", [y], y.dims, 1.0, axis=None) if g.opset >= 13 else y)
    if g.chance(0.3):
        g.output(Value(names[1], [directions, B, hidden]))


def recurrent_stack(g):
    """Layers one after the other, any attributes."""
    x = g.input([T, B, g.between(1, 8)])
    for i in range(g.between(2, 4)):
        found = recurrent.layer(g, x, forward=g.chance(0.9))
        x = found[0]
        if x.dims[0] != T or len(x.dims) != 3 or x.dims[1] != B:
            for value in found:
                g.output(value)
            return
        if g.chance(0.3):
            for value in found[1:]:
                g.output(value)
    g.output(linear(g, x, g.between(1, 4)))


def keras_stack(g):
    """tf2onnx: transposes around the layer, Y squeezed, activations by name, Dense as MatMul and Add."""
    g.open = {T: g.chance(0.5), B: True}
    x = g.input([B, T, g.between(1, 8)], "input_1")
    h = g.transpose(x, [1, 0, 2])
    op, hidden = g.pick("LSTM", "GRU"), g.between(1, 10)
    rows = recurrent.GATES[op] * hidden
    names = {"LSTM": [g.pick("Sigmoid", "HardSigmoid"), "Tanh", "Tanh"], "GRU": [g.pick("Sigmoid", "HardSigmoid"), g.pick("Tanh", "Relu")]}
    extra = {"activations": names[op]} if g.chance(0.7) else {}
    if op == "GRU":
        extra["linear_before_reset"] = g.pick(0, 1)
    feed = [h, g.weights([1, rows, h.dims[2]], 0.4), g.weights([1, rows, hidden], 0.4), g.weights([1, 2 * rows], 0.3)]
    whole = g.chance(0.5)
    outputs = [g.fresh() if whole else "", "" if whole else g.fresh()]
    while outputs[-1] == "":
        outputs.pop()
    g.node(op, feed, outputs, hidden_size=hidden, **extra)
    if whole:
        y = g.transpose(g.squeeze(Value(outputs[0], [T, 1, B, hidden], 1.0), [1]), [1, 0, 2])
    else:
        y = g.squeeze(Value(outputs[1], [1, B, hidden], 1.0), [0])
    y = linear(g, y, g.between(2, 5))
    g.output(g.made("Softmax", [y], y.dims, 1.0, axis=len(y.dims) - 1))


def step_states(g, names, dims):
    """States of a one-step model: kept by the library, or given."""
    kept = g.chance(0.7)
    g.implied = kept
    g.special = ""  # the f64 evaluation, second opinion on NaN, knows no steps
    if not kept:
        g.steps = 1
    values = []
    for name in names:
        if kept:
            info = helper.make_tensor_value_info(name, TensorProto.FLOAT, g.declared(dims))
            g.inputs.append(info)
            values.append(Value(name, dims, 1.0))
            g.states.append((name, name + "_out"))
        else:
            values.append(g.input(dims, name, most=1.0))
    return values


def lstm_cell(g):
    """nn.LSTMCell written out."""
    g.open = {T: True, B: g.chance(0.6)}
    inputs, hidden = g.between(1, 6), g.between(1, 8)
    if g.chance(0.3):
        inputs = hidden
    h, c = step_states(g, ["h", "c"], [B, hidden])
    x = g.input([B, inputs], "x")
    for _ in range(1):
        first, second = linear(g, x, 4 * hidden), linear(g, h, 4 * hidden, bias=g.chance(0.7))
        gates = g.made("Add", [first, second] if g.chance(0.5) else [second, first], first.dims, 4.0)
        i, f, o, u = g.split(gates, 1, [hidden] * 4)
        if g.chance(0.5):
            i, f, o, u = i, f, u, o
        i, f, o = (g.made("Sigmoid", [v], v.dims, 1.0) for v in (i, f, o))
        u = g.made("Tanh", [u], u.dims, 1.0)
        kept = g.made("Mul", [f, c] if g.chance(0.5) else [c, f], c.dims, 2.0)
        c2 = g.made("Add", [kept, g.made("Mul", [i, u], c.dims, 1.0)], c.dims, 2.0)
        h2 = g.made("Mul", [o, g.made("Tanh", [c2], c.dims, 1.0)], c.dims, 1.0)
    g.output(linear(g, h2, g.between(1, 4)) if g.chance(0.6) else g.made("Relu", [h2], h2.dims))
    g.output(h2, "h_out")
    g.output(c2, "c_out")


def gru_cell(g):
    """nn.GRUCell, or a leaky average, written out."""
    g.open = {T: True, B: g.chance(0.6)}
    inputs, hidden = g.between(1, 6), g.between(1, 8)
    h, = step_states(g, ["h"], [B, hidden])
    x = g.input([B, inputs], "x")
    first, second = linear(g, x, 3 * hidden), linear(g, h, 3 * hidden)
    xr, xz, xn = g.split(first, 1, [hidden] * 3)
    hr, hz, hn = g.split(second, 1, [hidden] * 3)
    r = g.made("Sigmoid", [g.made("Add", [xr, hr], h.dims)], h.dims, 1.0)
    z = g.made("Sigmoid", [g.made("Add", [xz, hz], h.dims)], h.dims, 1.0)
    n = g.made("Tanh", [g.made("Add", [xn, g.made("Mul", [r, hn], h.dims)], h.dims)], h.dims, 1.0)
    if g.chance(0.5):
        one = g.constant(np.array(1, np.float32))
        part = g.made("Mul", [g.made("Sub", [one, z], h.dims, 1.0), n], h.dims, 1.0)
        out = g.made("Add", [part, g.made("Mul", [z, h], h.dims, 1.0)], h.dims, 1.0)
    else:
        out = g.made("Add", [n, g.made("Mul", [z, g.made("Sub", [h, n], h.dims)], h.dims)], h.dims, 1.0)
    g.output(linear(g, out, g.between(1, 4)))
    g.output(out, "h_out")


def stateful_layer(g):
    """A recurrent node of one step whose states come in and go out, as streaming exports have it."""
    g.open = {T: True, B: g.chance(0.7)}
    op, inputs, hidden = g.pick("LSTM", "GRU", "RNN"), g.between(1, 6), g.between(1, 9)
    names = ["h", "c"] if op == "LSTM" else ["h"]
    states = step_states(g, names, [1, B, hidden])
    x = g.unsqueeze(g.input([B, inputs], "x"), [0])
    rows = recurrent.GATES[op] * hidden
    feed = [x, g.weights([1, rows, inputs], 0.4), g.weights([1, rows, hidden], 0.4), g.weights([1, 2 * rows], 0.3), ""] + states
    extra = {"linear_before_reset": g.pick(0, 1)} if op == "GRU" else {}
    if g.chance(0.3):
        extra["clip"] = 0.7
    outs = g.node(op, feed, 3 if op == "LSTM" else 2, hidden_size=hidden, **extra)
    y = g.squeeze(Value(outs[0], [1, 1, B, hidden], 1.0), [0, 1])
    g.output(linear(g, y, g.between(1, 4)))
    for name, out in zip(names, outs[1:]):
        g.output(Value(out, [1, B, hidden]), name + "_out")


def streamed_layers(g):
    """States as inputs and outputs of a network with a time axis: the layers' own, kept by name."""
    op, hidden = g.pick("LSTM", "GRU"), g.between(1, 8)
    x = g.input([T, B, g.between(1, 6)])
    h = x
    for i in range(g.between(1, 2)):
        rows = recurrent.GATES[op] * hidden
        states = []
        for kind in ("h", "c")[:2 if op == "LSTM" else 1]:
            states.append(g.input([1, B, hidden], f"{kind}{i}", most=1.0))
        feed = [h, g.weights([1, rows, h.dims[2]], 0.4), g.weights([1, rows, hidden], 0.4), g.weights([1, 2 * rows], 0.3), ""] + states
        outs = g.node(op, feed, 3 if op == "LSTM" else 2, hidden_size=hidden)
        h = g.squeeze(Value(outs[0], [T, 1, B, hidden], 1.0), [1])
        for kind, out in zip(("h", "c"), outs[1:]):
            g.output(Value(out, [1, B, hidden]), f"{kind}{i}_out")
    g.output(linear(g, h, g.between(1, 4)))


def written_norms(g):
    """LayerNorm, RMSNorm, SiLU, GELU and GLU in primitive operators around a layer."""
    x = g.input([T, B, 2 * g.between(1, 4)])
    h = recurrent.layer(g, x, forward=True, plain=True, hidden=g.pick(2, 4, 6, 8))[0]
    if h.dims[:2] != [T, B]:
        return g.output(h)
    n = h.dims[2]

    def mean(v):
        if g.opset >= 18:
            return g.made("ReduceMean", [v, g.ints([-1])], [T, B, 1], v.most)
        return g.made("ReduceMean", [v], [T, B, 1], v.most, axes=[-1 if g.opset >= 11 else 2])

    def number(value):
        return g.constant(np.array(value, np.float32))

    what = g.pick("layer", "rms", "silu", "gelu", "glu")
    if what in ("layer", "rms"):
        d = g.made("Sub", [h, mean(h)], h.dims) if what == "layer" else h
        square = g.made("Pow", [d, number(2.0)], h.dims) if g.chance(0.5) else g.made("Mul", [d, d], h.dims)
        root = g.made("Sqrt", [g.made("Add", [mean(square), number(0.01)], [T, B, 1])], [T, B, 1])
        y = g.made("Div", [d, root], h.dims, 3.0)
        y = g.made("Mul", [y, g.uniform([n], 0.5, 1.5)], h.dims, 4.0)
        y = g.made("Add", [y, g.weights([n], 0.3)], h.dims, 5.0)
    elif what == "silu":
        y = g.made("Mul", [h, g.made("Sigmoid", [h], h.dims)], h.dims)
    elif what == "gelu" and g.opset >= 9:
        e = g.made("Erf", [g.made("Div", [h, number(np.sqrt(2.0))], h.dims)], h.dims)
        y = g.made("Mul", [g.made("Mul", [h, g.made("Add", [e, number(1.0)], h.dims)], h.dims), number(0.5)], h.dims)
    elif n % 2 == 0:
        a, b = g.split(h, 2, [n // 2, n // 2])
        y = g.made("Mul", [a, g.made("Sigmoid", [b], b.dims)], a.dims)
    else:
        y = h
    g.output(linear(g, y, g.between(1, 4)))


def conv_front(g):
    """Frames through convolutions over features, then a layer: as speech networks begin."""
    bands = g.pick(4, 6, 8)
    x = g.input([B, 1, T, bands])
    g.open = {T: True, B: True}
    maps = g.between(1, 3)
    steps = g.between(1, 3)
    y = g.pad(x, [0, 0, steps - 1, 0], [0, 0, 0, 0])
    size = (bands - 3) // 2 + 1
    y = g.made("Conv", [y, g.weights([maps, 1, steps, 3], 0.4), g.weights([maps], 0.3)], [B, maps, T, size], strides=[1, 2])
    y = g.made(g.pick("Relu", "Elu", "Tanh"), [y], y.dims)
    y = g.transpose(y, [2, 0, 1, 3])
    y = g.reshape(y, [T, B, maps * size], [0, 0, maps * size])
    for value in recurrent.layer(g, y, plain=True):
        g.output(value)


def embedding(g):
    """Token indices into a table, then a layer."""
    rows, width = g.between(2, 12), g.between(1, 6)
    low = -rows if g.opset >= 11 and g.chance(0.3) else 0
    kind = g.pick((TensorProto.INT64, np.int64), (TensorProto.INT32, np.int32))
    index = g.input([B, T], "tokens", g.numbers.integers(low, rows, (g.batch, g.steps)).astype(kind[1]), kind[0])
    x = g.made("Gather", [g.weights([rows, width], 1.0), index], [B, T, width])
    for value in recurrent.layer(g, g.transpose(x, [1, 0, 2]), plain=True):
        g.output(value)


def encoder_decoder(g):
    """A layer that starts where another ended."""
    op, hidden = g.pick("LSTM", "GRU"), g.between(1, 8)
    rows = recurrent.GATES[op] * hidden
    x = g.input([T, B, g.between(1, 6)])
    y = g.input([T, B, g.between(1, 6)], "Y")
    outs = g.node(op, [x, g.weights([1, rows, x.dims[2]], 0.4), g.weights([1, rows, hidden], 0.4)], 3 if op == "LSTM" else 2,
                  hidden_size=hidden)
    feed = [y, g.weights([1, rows, y.dims[2]], 0.4), g.weights([1, rows, hidden], 0.4), "", ""] + list(outs[1:])
    names = g.node(op, feed, 2, hidden_size=hidden)
    g.output(Value(names[0], [T, 1, B, hidden]))
    if g.chance(0.4):
        g.output(Value(names[1], [1, B, hidden]))


def ended_rows(g):
    """Rows of any length, zero among them, with every final state as an output: nothing computes with a state of such a row."""
    op, hidden = g.pick("LSTM", "GRU", "RNN"), g.between(1, 6)
    rows, both = recurrent.GATES[op] * hidden, g.chance(0.4)
    directions = 2 if both else 1
    x = g.input([T, B, g.between(1, 5)])
    ends = np.array([g.between(0, g.steps) for _ in range(g.batch)], dtype=np.int32)
    name = g.input([B], "lengths", ends, TensorProto.INT32).name
    start = g.chance(0.6)
    feed = [x, g.weights([directions, rows, x.dims[2]], 0.4), g.weights([directions, rows, hidden], 0.4),
            g.weights([directions, 2 * rows], 0.3), name]
    if start:
        feed += [g.input([directions, B, hidden], s) for s in ("h0", "c0")[:2 if op == "LSTM" else 1]]
        if 0 in ends:
            g.notes.add("length 0")
    outs = g.node(op, feed, 3 if op == "LSTM" else 2, hidden_size=hidden, direction="bidirectional" if both else None)
    g.output(Value(outs[0], [T, directions, B, hidden]))
    for out in outs[1:]:
        g.output(Value(out, [directions, B, hidden]))


ALL = [torch_stack, torch_stack, recurrent_stack, recurrent_stack, keras_stack, lstm_cell, gru_cell, stateful_layer, streamed_layers,
       written_norms, conv_front, embedding, encoder_decoder, ended_rows]
