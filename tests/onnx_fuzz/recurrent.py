"""recurrent.py -- RNN, GRU and LSTM nodes with every attribute, input and output. SPDX-License-Identifier: Apache-2.0"""
import numpy as np

from graph import B, T, Value

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
COUNT = {"RNN": 1, "GRU": 2, "LSTM": 3}  # activations of a direction
# Activations and how many of alpha and beta they take.
TAKES = {"Relu": 0, "Tanh": 0, "Sigmoid": 0, "Softsign": 0, "Softplus": 0, "LeakyRelu": 1, "ThresholdedRelu": 1, "Elu": 1,
         "Affine": 2, "ScaledTanh": 2, "HardSigmoid": 2}


def activations(g, op, directions):
    names, alphas, betas = [], [], []
    for _ in range(directions):
        for i in range(COUNT[op]):
            gate = op != "RNN" and i == 0
            usual = "Sigmoid" if gate else "Tanh"
            # Gates that do not saturate let states grow; one in a while is enough.
            bounded = ["Sigmoid", "Tanh", "HardSigmoid", "Softsign"]
            if g.bounded:
                names.append(usual if g.chance(0.5) else g.pick(*bounded))
                continue
            names.append(usual if g.chance(0.3) else g.pick(*bounded) if gate and g.chance(0.7) else g.pick(*TAKES))
    attributes = {"activations": [g.pick(n, n, n, n.lower(), n.upper()) for n in names]}
    # Defaults where left out; given for all that take one, as onnxruntime hands them out in order.
    if g.chance(0.5):
        for n in names:
            if TAKES[n] >= 1:
                alphas.append(round(g.rng.uniform(0.1, 1.2), 2))
            if TAKES[n] == 2:
                betas.append(round(g.rng.uniform(0.2, 0.9), 2))
        if alphas:
            attributes["activation_alpha"] = alphas
        if betas:
            attributes["activation_beta"] = betas
    return attributes


def row_state(g, dims, exclusive):
    """A constant state: the same for all rows, unless the batch may be fixed."""
    count = g.batch
    rows = g.numbers.normal(0, 0.5, (dims[0], count if exclusive else 1, dims[1])).astype(np.float32)
    return np.repeat(rows, 1 if exclusive else count, axis=1)


def initial_state(g, kind, directions, hidden, layout, stem, rows=B):
    dims = [rows, directions, hidden] if layout else [directions, rows, hidden]
    if kind == "input":
        return g.input(dims, stem, most=1.0).name
    if kind == "constant":
        data = g.spoilt(row_state(g, (directions, hidden), g.chance(0.4)), 0.1)
        return g.constant(np.ascontiguousarray(data.transpose(1, 0, 2)) if layout else data)
    if kind == "value":
        fits = [v for v in g.values if v.dims == dims]
        if fits:
            return g.pick(*fits).name
        found = [v for v in g.values if sorted(map(str, v.dims)) == sorted(map(str, [rows, directions * hidden])) and v.dims[0] == rows]
        if found and not layout:
            return g.unsqueeze(g.pick(*found), [0]).name if directions == 1 else ""
    return ""


def lengths(g, kind, steps=T):
    if kind == "constant":
        return g.constant(g.row_ends(steps))
    return g.ends_input(steps).name


def layer(g, x, op=None, hidden=None, forward=False, plain=False, start=()):
    """x: [T, B, I]. Gives the values that later nodes may use, the layer's Y as [T, B, D * H] first. `start`: names of the initial
    states."""
    op = op or g.pick("LSTM", "GRU", "RNN")
    inputs = x.dims[2]
    hidden = hidden or g.pick(1, 2, 3, 4, 5, 7, 8, 9, 12, g.pick(16, 17, 24, 33, 48))
    attributes = {} if g.chance(0.08) else {"hidden_size": hidden}
    direction = g.pick("forward", "forward", "forward", None, None, None, "reverse", "bidirectional", "bidirectional")
    if forward:
        direction = g.pick("forward", None)
    directions = 2 if direction == "bidirectional" else 1
    attributes["direction"] = direction
    layout = 1 if g.opset >= 14 and not plain and not start and g.chance(0.2) else 0
    if layout or (g.opset >= 14 and g.chance(0.1)):
        attributes["layout"] = layout
    if g.chance(0.4):
        attributes.update(activations(g, op, directions))
    if g.chance(0.15):
        attributes["clip"] = round(g.rng.uniform(0.2, 3.0), 2)
    if op == "LSTM" and g.chance(0.2):
        attributes["input_forget"] = g.pick(0, 1, 1)
    if op == "GRU" and g.chance(0.7):
        attributes["linear_before_reset"] = g.pick(0, 1)
    rows = GATES[op] * hidden
    scale = g.pick(0.5, 1.0, 1.0) / np.sqrt(hidden)
    at = g.transpose(x, [1, 0, 2]) if layout else x
    feed = [at, g.weights([directions, rows, inputs], 1 / np.sqrt(inputs)), g.weights([directions, rows, hidden], scale)]
    feed.append("" if g.chance(0.2) else g.weights([directions, 2 * rows], 0.4))
    kinds = ["none"] * 5 + ["constant", "input", "value", "value"]
    what = "none" if plain else g.pick("none", "none", "none", "none", "none", "constant", "input")
    feed.append("" if what == "none" else lengths(g, what, x.dims[0]))
    given = list(start) + [initial_state(g, g.pick(*kinds), directions, hidden, layout, stem, x.dims[1])
                           for stem in ("h0", "c0")[len(start):2 if op == "LSTM" else 1]]
    feed += given[:1]
    if op == "LSTM":
        feed.append(given[1])
        feed.append(g.weights([directions, 3 * hidden], 0.5) if g.chance(0.2) else "")
    if what == "constant" or direction == "reverse" or directions == 2:
        g.notes.add("ahead")
    grows = 40.0 if "activations" in attributes else 1.0
    return outputs_of(g, op, feed, attributes, directions, hidden, layout, grows, x.dims[:2])


def outputs_of(g, op, feed, attributes, directions, hidden, layout, most, axes):
    steps, rows = axes
    count = 3 if op == "LSTM" else 2
    used = g.pick(1, 1, 1, 2, count, count)
    names = [g.fresh("y") for _ in range(used)]
    only_final = used > 1 and g.chance(0.12)
    if only_final:
        names[0] = ""
    if used == 3 and g.chance(0.3):
        names[1] = ""
    g.node(op, feed, names, **attributes)
    kept = []
    if names[0]:
        dims = [rows, steps, directions, hidden] if layout else [steps, directions, rows, hidden]
        kept.append(merged(g, Value(names[0], dims, most), directions, hidden, layout))
    for name in names[1:]:
        if name:
            kept.append(Value(name, [rows, directions, hidden] if layout else [directions, rows, hidden], most))
    return kept


def merged(g, y, directions, hidden, layout):
    """[T, B, D * H] of Y, whose axes have these names or others."""
    steps, rows = (y.dims[1], y.dims[0]) if layout else (y.dims[0], y.dims[2])
    if layout:
        y = g.transpose(y, [1, 0, 2, 3])
    elif directions == 1 and g.chance(0.5):
        return g.squeeze(y, [1])
    else:
        y = g.transpose(y, [0, 2, 1, 3])
    return g.reshape(y, [steps, rows, directions * hidden], [0, 0, g.pick(-1, directions * hidden)])


def time_first(g, x):
    """[T, B, features] of any value with both."""
    flat = g.flat(x)
    return flat


def grow(g):
    x = g.find(lambda v: v.has(T, B) and v.features() <= 64)
    if x is None:
        return False
    for value in layer(g, time_first(g, x), forward=g.chance(0.7), plain="streamed" in g.notes):
        g.keep(g.squashed(value))
    return True
