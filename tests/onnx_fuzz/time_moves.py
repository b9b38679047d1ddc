"""time_moves.py -- moves that pick steps, repeat them, take them together and compute with their number; decoders.
SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from onnx import TensorProto, helper

import norm_cells
import recurrent
from graph import B, T, Value
from time_graph import NotSampled
from time_windows import cut

REDUCE = ["ReduceMean", "ReduceMax", "ReduceSum", "ReduceMin", "ReduceMean"]


def pick_step(g):
    x = g.any_order(g.sequence())
    axis = g.time_of(x)
    k = g.pick(0, 0, -1, -1, -1, 1, -2, 2)
    if k < 0 and g.opset < 11:
        raise NotSampled
    if not all(-n <= k < n for i, n in enumerate(g.counts(x)) if i not in g.dead):
        g.changed(x.dims[axis], lambda n: 1 if -n <= k < n else 0)
    rest = x.dims[:axis] + x.dims[axis + 1:]
    name = {0: "first", -1: "last"}.get(k, "k" if k > 0 else "-k")
    how = g.pick("scalar", "scalar", "vector", "several", "by size")
    if how == "scalar":
        g.keep(g.made("Gather", [x, g.int_scalar(k)], rest, x.most, axis=axis))
    elif how == "by size":
        index = g.node("Sub", [g.size_number(x, axis), g.int_scalar(1)])
        g.keep(g.made("Gather", [x, index], rest, x.most, axis=axis))
        name = "last by size"
    else:
        places = [k] if how == "vector" else [k] + [g.pick(0, -1 if g.opset >= 11 else 0) for _ in range(g.between(1, 2))]
        dims = list(x.dims)
        dims[axis] = g.length([len(places)] * len(g.runs))
        g.keep(g.made("Gather", [x, g.ints(places)], dims, x.most, axis=axis))
        name = "several" if how == "several" else name
    return "Gather " + name


def reduce(g):
    x = g.any_order(g.sequence(lambda v: v.most <= 40))
    axis, op, keep = g.time_of(x), g.pick(*REDUCE), g.pick(0, 1, 1, None)
    dims = list(x.dims)
    dims[axis] = g.one_step()
    if keep == 0:
        del dims[axis]
    most = x.most * (max(g.counts(x)) if op == "ReduceSum" else 1)
    if g.opset >= (13 if op == "ReduceSum" else 18):
        y = g.made(op, [x, g.ints([axis])], dims, most, keepdims=keep)
    else:
        y = g.made(op, [x], dims, most, axes=[axis], keepdims=keep)
    if keep != 0 and g.chance(0.5):
        g.keep(g.squashed(g.made(g.pick("Sub", "Add", "Mul"), [x, y], x.dims, x.most * y.most + 1)))
        return op + " taken off"
    g.keep(g.squashed(y))
    return op


def arg_max(g):
    x = g.any_order(g.sequence())
    axis, keep = g.time_of(x), g.pick(0, 1, None)
    dims = list(x.dims)
    dims[axis] = g.one_step()
    if keep == 0:
        del dims[axis]
    op = g.pick("ArgMax", "ArgMax", "ArgMin")
    place = g.node(op, [x], axis=axis, keepdims=keep)
    g.keep(g.squashed(g.made("Cast", [place], dims, max(g.counts(x)), to=TensorProto.FLOAT)))
    return op


def cum_sum(g):
    if g.opset < 11:
        raise NotSampled
    x = g.any_order(g.sequence(lambda v: v.most <= 20))
    axis = g.time_of(x)
    backwards, exclusive = g.pick(None, None, 0, 1), g.pick(None, None, 1)
    y = g.made("CumSum", [x, g.constant(np.array(g.axis(x, axis), g.pick(np.int64, np.int32)))], x.dims, x.most * max(g.counts(x)),
               reverse=backwards, exclusive=exclusive)
    g.keep(g.squashed(y))
    return "CumSum" + (" backwards" if backwards else "") + (" exclusive" if exclusive else "")


def recurrence(g):
    """h' = k h + (1 - k) x, k being constant or of x: a Scan whose body is no layer."""
    if g.opset < norm_cells.SCAN_OF_RANKS:
        raise NotSampled
    x = g.laid(g.sequence(lambda v: v.most <= 20), "LBF")
    features, s, kind = x.dims[2], norm_cells.Step(g), g.pick("gated", "fixed")
    if kind == "gated":
        keeps = s("Sigmoid", s("MatMul", "x", g.weights([features, features], 1 / np.sqrt(features))))
    else:
        keeps = g.uniform([features], 0.2, 0.95)
    new = s("Mul", s("Sub", g.constant(np.array(1, np.float32)), keeps), "x")
    after = s("Add", s("Mul", keeps, "h"), new)
    y = s(*g.pick(("Identity", after), ("Tanh", after), ("Add", "h", "x")))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, features]) for name in ("h", "x", after, y)]
    body = helper.make_graph(s.nodes, "step", infos[:2], infos[2:])
    shape = g.node("Concat", [g.size_of(x, 1), g.ints([features])], axis=0)
    first = g.pick("zeros", "zeros", "a number", "a row")
    numbers = np.zeros([1, 1]) if first == "zeros" else g.numbers.normal(0, 0.5, [1, features if first == "a row" else 1])
    start = g.node("Expand", [g.constant(numbers.astype(np.float32)), shape])
    back = g.chance(0.5)
    attributes = {"scan_input_directions": [1], "scan_output_directions": [1]} if back else {}
    last, each = g.node("Scan", [start, x], 2, num_scan_inputs=1, body=body, **attributes)
    if g.chance(0.5):
        g.keep(Value(last, [B, features], x.most))
    g.keep(Value(each, x.dims, 2 * x.most))
    return f"{kind} recurrence" + (" backwards" if back else "")


def soft_max(g):
    """Weights over time, and what they sum up."""
    if g.opset < 13:
        raise NotSampled
    x = g.any_order(g.sequence())
    axis = g.time_of(x)
    y = g.made("Softmax", [x], x.dims, 1.0, axis=axis)
    if g.chance(0.5):
        g.keep(y)
        return "Softmax over time"
    y = g.made("Mul", [y, x], x.dims, x.most)
    g.keep(g.made("ReduceSum", [y, g.ints([axis])], x.dims[:axis] + x.dims[axis + 1:], x.most, keepdims=0))
    return "attention to one row"


def attention(g):
    x = g.laid(g.sequence(lambda v: v.features() <= 12), "BLF")
    length = x.dims[1]
    other = g.laid(x, "BFL")
    scores = g.made("MatMul", [x, other], [B, length, length], x.most ** 2 * x.dims[2])
    if g.opset >= 13:
        scores = g.made("Softmax", [scores], scores.dims, 1.0, axis=2)
    else:
        scores = g.made("Sigmoid", [scores], scores.dims, 1.0)
    g.keep(g.squashed(g.made("MatMul", [scores, x], x.dims, x.most * max(g.counts(x)))))
    return "attention"


def as_step(g, row):
    """[1, B, F] or [B, 1, F] of [B, F]."""
    row = g.row_laid(row)
    at = g.pick(0, 1)
    y = g.unsqueeze(row, [at])
    y.dims[at] = g.one_step()
    return y


def step_of_row(g):
    g.keep(as_step(g, g.row()))
    return "row as a step"


def times(g, x, dim, want):
    """A vector of three: `want` repetitions along time."""
    axis = g.time_of(x)
    return g.node("Concat", [want if i == axis else g.ints([1]) for i in range(3)], axis=0)


def repeat(g):
    """A row for every step of another sequence, or so many times."""
    row, like = as_step(g, g.row()), g.sequence()
    axis = g.time_of(row)
    how = g.pick("Tile", "Tile", "Expand", "Expand", "Concat", "constant Tile", "constant Expand")
    dims = list(row.dims)
    size = g.size_of(like, g.time_of(like))
    if how in ("Tile", "Expand"):
        dims[axis] = like.dims[g.time_of(like)]
        y = g.made(how, [row, times(g, row, axis, size)], dims, row.most)
    elif how == "Concat":
        count = g.between(2, 4)
        dims[axis] = g.length([count] * len(g.runs))
        y = g.made("Concat", [row] * count, dims, row.most, axis=axis)
    else:
        n = g.same_at_all(like.dims[g.time_of(like)])
        count = n if n and g.chance(0.6) else g.between(2, 5)
        dims[axis] = g.length([count] * len(g.runs))
        counts = [count if i == axis else 1 for i in range(3)]
        y = g.made(how.split()[1], [row, g.ints(counts)], dims, row.most)
    g.keep(y)
    return "row repeated by " + how


def tile(g):
    x = g.any_order(g.sequence())
    axis, by = g.time_of(x), g.pick("number", "number", "batch", "steps")
    dims = list(x.dims)
    if by == "number":
        n = g.between(2, 3)
        counts = [n if i == axis else 1 for i in range(3)]
        dims[axis] = g.changed(dims[axis], lambda m: n * m)
        g.keep(g.made("Tile", [x, g.ints(counts)], dims, x.most))
    else:
        of = axis if by == "steps" else x.dims.index(B)
        size = g.size_of(x, of)
        dims[axis] = g.length(n * m for n, m in zip(g.counts(x), g.lengths[x.dims[of]]))
        g.keep(g.made("Tile", [x, times(g, x, axis, size)], dims, x.most))
    return "Tile by " + by


def numbers_of_steps(g, x, axis, whole=False):
    """Range(0, n), as [n]."""
    if g.opset < 11:
        raise NotSampled
    end = g.size_number(x, axis)
    name = g.node("Range", [g.int_scalar(0), end, g.int_scalar(1)])
    if whole:
        return name
    return g.node("Cast", [name], to=TensorProto.FLOAT)


def along_axes(g, name, axis, x, rows=False):
    """[n] or [B, n] laid along x's axes."""
    kept = [axis] + ([x.dims.index(B)] if rows else [])
    away = [i for i in range(3) if i not in kept]
    if rows and kept[0] < kept[1]:
        name = g.node("Transpose", [name], perm=[1, 0])
    return g.node("Unsqueeze", [name, g.ints(away)]) if g.opset >= 13 else g.node("Unsqueeze", [name], axes=away)


def ramp(g):
    """The number of each step, or its part of the whole, added to it."""
    x = g.any_order(g.sequence())
    axis = g.time_of(x)
    n = numbers_of_steps(g, x, axis)
    how = g.pick("place", "part", "backwards", "how many")
    if how == "part":
        n = g.node("Div", [n, g.node("Cast", [g.size_number(x, axis)], to=TensorProto.FLOAT)])
    elif how == "backwards":
        n = g.node("Sub", [g.node("Cast", [g.size_number(x, axis)], to=TensorProto.FLOAT), n])
    elif how == "how many":
        n = g.node("Cast", [g.size_number(x, x.dims.index(B) if g.chance(0.5) else axis)], to=TensorProto.FLOAT)
    y = n if how == "how many" else along_axes(g, n, axis, x)
    g.keep(g.squashed(g.made(g.pick("Add", "Mul"), [x, y], x.dims, x.most * max(g.counts(x)) + 1)))
    return "Range: " + how


def mask(g):
    """Steps behind a row's length, or from a number on, are blanked."""
    x = g.any_order(g.sequence())
    axis = g.time_of(x)
    if g.opset < 12:
        raise NotSampled
    place, by = numbers_of_steps(g, x, axis, whole=True), g.pick("lengths", "number", "size")
    if by == "lengths" and "lengths" not in g.feeds:
        ends = g.ends_input(x.dims[axis], TensorProto.INT64)
        low = g.node("Unsqueeze", [ends, g.ints([1])]) if g.opset >= 13 else g.node("Unsqueeze", [ends], axes=[1])
        keep = g.node("Less", [place, low])
        keep = along_axes(g, keep, axis, x, rows=True)
    else:
        end = g.int_scalar(g.between(1, 4)) if by == "number" else g.node("Sub", [g.size_number(x, axis), g.int_scalar(1)])
        by = "number" if by == "number" else "size"
        keep = along_axes(g, g.node(g.pick("Less", "GreaterOrEqual"), [place, end]), axis, x)
    how = g.pick("Where", "Mul")
    if how == "Where":
        parts = [x, g.constant(np.array(g.pick(0.0, -1.0), np.float32))]
        if g.chance(0.3):
            parts.reverse()
        y = g.made("Where", [keep] + parts, x.dims, x.most + 1)
    else:
        y = g.made("Mul", [x, g.node("Cast", [keep], to=TensorProto.FLOAT)], x.dims, x.most)
    g.keep(y)
    return f"{how} by Range < {by}"


def merge(g):
    """Time and batch as one axis for a dense layer; or steps side by side."""
    x = g.sequence(lambda v: v.features() <= 24)
    f, n = x.features(), g.between(1, 6)
    how = g.pick("rows", "rows", "pairs", "halves", "all steps")
    if how == "rows":
        x = g.laid(x, g.pick("LBF", "BLF"))
        flat = g.made("Reshape", [x, g.ints([-1, f])], ["rows", f], x.most)
        y = g.made("MatMul", [flat, g.weights([f, n], 1 / np.sqrt(f))], ["rows", n], 2 * x.most)
        sizes = [g.size_of(x, 0), g.pick(g.size_of(x, 1), g.ints([-1])), g.ints([n])]
        y = g.made("Reshape", [y, g.node("Concat", sizes, axis=0)], x.dims[:2] + [n], y.most)
    elif how == "all steps":
        steps = g.same_at_all(x.dims[g.time_of(x)])
        if steps is None or steps * f > 160:
            raise NotSampled
        x = g.laid(x, "BLF")
        y = g.made("Reshape", [x, g.ints([g.pick(0, -1), steps * f])], [B, steps * f], x.most)
        y = g.made("MatMul", [y, g.weights([steps * f, n], 1 / np.sqrt(steps * f))], [B, n], 2 * x.most)
    elif how == "pairs":
        x = g.laid(x, "BLF")
        y = g.made("Reshape", [x, g.ints([0, -1, 2 * f])], [B, g.changed(x.dims[1], lambda m: 0 if m % 2 else m // 2), 2 * f], x.most)
    else:
        if f % 2:
            raise NotSampled
        x = g.laid(x, "BLF")
        y = g.made("Reshape", [x, g.ints([0, -1, f // 2])], [B, g.changed(x.dims[1], lambda m: 2 * m), f // 2], x.most)
    g.keep(g.squashed(y))
    return "Reshape: " + how


def squeeze_and_back(g):
    x = g.any_order(g.sequence())
    at = g.below(4)
    y = g.unsqueeze(x, [at])
    if g.chance(0.5):
        y = g.made(g.pick("Tanh", "Relu", "Sigmoid"), [y], y.dims, 1.0)
    g.keep(g.squeeze(y, [at]))
    return "Unsqueeze and Squeeze"


def row_on_all(g):
    """A row added to every step."""
    x = g.sequence()
    row = g.row(lambda v: v.features() in (1, x.features()))
    x = g.laid(x, "LBF")
    g.keep(g.squashed(g.made(g.pick("Add", "Mul", "Sub"), [x, g.row_laid(row)], x.dims, x.most * row.most + 1)))
    return "row on all steps"


# Layers.
def length_said(g, x):
    """What a layer's X has come to along time."""
    if x.dims[0] != T:
        g.form("layer over one step" if set(g.counts(x)) == {1} else "layer over another length")


def kept(g, values):
    """Y as a sequence; states stay as they are, and as rows or steps."""
    for value in values:
        g.keep(g.squashed(value))
        if g.is_sequence(value) or len(value.dims) != 3:
            continue
        directions = next((i for i, d in enumerate(value.dims) if d == 1), None)
        if directions == 0 and value.dims[1] == B and g.chance(0.4):
            step = Value(value.name, [g.one_step(), B, value.dims[2]], value.most)
            g.keep(step)
        elif directions is not None and B in value.dims and g.chance(0.6):
            g.keep(g.squeeze(value, [directions]))


def layer(g):
    x = g.laid(g.sequence(lambda v: v.features() <= 48), "LBF")
    length_said(g, x)
    kept(g, recurrent.layer(g, x, hidden=g.pick(None, g.between(1, 6)), forward=g.chance(0.6), plain=g.chance(0.7)))
    return "layer"


def layer_over_batch(g):
    x = g.laid(g.sequence(lambda v: v.features() <= 24), "BLF")
    y = recurrent.layer(g, x, hidden=g.between(1, 4), forward=True, plain=True)[0]
    g.keep(g.squashed(y))
    return "layer over the batch"


def decoder(g):
    """A layer that is fed one step of another, or starts from its state."""
    x = g.sequence(lambda v: v.features() <= 48)
    states = [v for v in g.values if v.dims[:2] == [1, B] and len(v.dims) == 3 and isinstance(v.dims[2], int) and v.dims[2] <= 12]
    how = g.pick("last step", "first step", "last step", "state", "state")
    start, hidden = (), g.between(1, 6)
    if how == "last step":
        x = cut(g, g.any_order(x), -1, None)
    elif how == "first step":
        x = cut(g, g.any_order(x), 0, 1)
    elif not states:
        raise NotSampled
    if states and (how == "state" or g.chance(0.4)):
        state = g.pick(*states)
        hidden, start = state.dims[2], [changed_state(g, state)]
        how += " with a state" if how != "state" else ""
    x = g.laid(x, "LBF")
    length_said(g, x)
    kept(g, recurrent.layer(g, x, hidden=hidden, forward=True, plain=True, start=start))
    return "decoder from " + how


def changed_state(g, state):
    what = g.pick("as it is", "as it is", "Mul", "Tanh", "Add")
    if what == "Mul":
        return g.made("Mul", [state, g.constant(np.array(0.5, np.float32))], state.dims).name
    if what == "Tanh":
        return g.made("Tanh", [state], state.dims).name
    if what == "Add":
        return g.made("Add", [state, state], state.dims).name
    return state.name


MOVES = {pick_step: 8, reduce: 5, arg_max: 2, cum_sum: 3, recurrence: 6, soft_max: 2, attention: 1, step_of_row: 4, repeat: 6, tile: 2, ramp: 3, mask: 4,
         merge: 4, squeeze_and_back: 2, row_on_all: 2, layer: 10, layer_over_batch: 1, decoder: 8}
