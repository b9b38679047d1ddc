"""moves.py -- moves without weights to speak of: element by element, reductions; those of shape_moves.py among them.
SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from onnx import TensorProto

from graph import B, BOOL, T
from shape_moves import concat, expand, flatten, gather, one_step, pad, reshape, slice_, split, squeeze, tile, transpose, unsqueeze

# Operator: first opset, attributes with a range (left out half of the time), what bounds the result.
UNARY = {
    "Abs": (7, {}, None), "Neg": (7, {}, None), "Relu": (7, {}, None), "Sigmoid": (7, {}, 1), "Tanh": (7, {}, 1),
    "Softplus": (7, {}, None), "Softsign": (7, {}, 1), "Ceil": (7, {}, None), "Floor": (7, {}, None), "Round": (11, {}, None),
    "Sign": (9, {}, 1), "Erf": (9, {}, 1), "Exp": (7, {}, 50), "Log": (7, {}, 5), "Sqrt": (7, {}, None), "Reciprocal": (7, {}, 4),
    "HardSigmoid": (7, {"alpha": (0.1, 0.5), "beta": (0.2, 0.6)}, 1), "LeakyRelu": (7, {"alpha": (0.05, 0.5)}, None),
    "Elu": (7, {"alpha": (0.3, 1.5)}, None), "Celu": (12, {"alpha": (0.3, 1.5)}, None),
    "Selu": (7, {"alpha": (1.0, 2.0), "gamma": (0.8, 1.2)}, None), "ThresholdedRelu": (10, {"alpha": (-0.5, 1.5)}, None),
    "HardSwish": (14, {}, None), "Mish": (18, {}, None), "Gelu": (20, {}, None),  "Identity": (7, {}, None),
}
POSITIVE = {"Log", "Sqrt", "Reciprocal"}


def positive(g, x):
    low = g.constant(np.array(0.5, dtype=np.float32))
    return g.made("Add", [g.made("Abs", [x], x.dims, x.most), low], x.dims, x.most + 1)


def unary(g):
    for _ in range(g.pick(1, 2, 3)):
        one_unary(g)
    return True


def one_unary(g):
    fresh = [op for op, row in UNARY.items() if row[0] <= g.opset]
    fresh += [op for op in fresh if UNARY[op][0] > 12] * 3  # those that few opsets have
    op, x = g.pick(*fresh), g.any()
    _, ranges, bound = UNARY[op]
    if op == "Exp" and x.most > 4:
        x = g.made("Tanh", [x], x.dims, 1.0)
    if op in POSITIVE and g.chance(0.9):
        x = positive(g, x)
    attributes = {k: round(g.rng.uniform(*r), 2) for k, r in ranges.items() if g.chance(0.5)}
    if op == "Gelu" and g.chance(0.5):
        attributes["approximate"] = g.pick("tanh", "none")
    g.keep(g.made(op, [x], x.dims, bound or x.most + 1, **attributes))


def clip(g):
    x = g.any()
    low, high = g.pick(None, -1.0, -0.5, 0.0), g.pick(None, 0.25, 1.0, 6.0)
    if g.opset < 11:
        y = g.made("Clip", [x], x.dims, x.most, min=low, max=high)
    else:
        bounds = ["" if b is None else g.constant(np.array(b, dtype=np.float32)) for b in (low, high)]
        y = g.made("Clip", [x] + bounds, x.dims, x.most)
    g.keep(y)
    return True


def same(g):
    x = g.any()
    op = g.pick("Dropout", "Cast", "CastLike", "CastLike", "Identity")
    if op == "CastLike" and g.opset >= 15:
        y = g.made("CastLike", [x, g.any()], x.dims, x.most)
    elif op.startswith("Cast"):
        y = g.made("Cast", [x], x.dims, x.most, to=TensorProto.FLOAT)
    elif op == "Dropout" and g.opset >= 12:
        ratio = g.constant(np.array(0.3, dtype=np.float32)) if g.chance(0.5) else ""
        mode = g.constant(np.array(False)) if g.chance(0.3) else ""
        y = g.made("Dropout", [x, ratio, mode], x.dims, x.most)
    elif op == "Dropout":
        y = g.made("Dropout", [x], x.dims, x.most, ratio=g.pick(None, 0.3))
    else:
        y = g.made("Identity", [x], x.dims, x.most)
    g.keep(y)
    return True


def fitting_shape(g, x):
    rank = g.between(0, len(x.dims))
    return [d if isinstance(d, int) and g.chance(0.5) else 1 for d in x.dims[len(x.dims) - rank:]]


def with_constant(g):
    x = g.any()
    op = g.pick("Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "PRelu", "Sum", "Mean", "Add", "Mul")
    shape = fitting_shape(g, x)
    flip = g.chance(0.5)
    most = x.most + 2
    if op in ("Sum", "Mean", "Min", "Max") and g.opset < 8:
        op = "Add"
    if op in ("Sum", "Mean", "Min", "Max") and g.chance(0.3):
        c, d = g.uniform(shape, -2, 2), g.uniform(fitting_shape(g, x), -2, 2)
        y = g.made(op, [c, x, d], x.dims, x.most + 4)
    elif op == "PRelu":
        y = g.made(op, [x, g.uniform(shape, 0.05, 0.5)], x.dims, x.most)
    elif op == "Pow":
        if x.most > 20:
            return False
        power = g.pick(2.0, 2.0, 3.0, 0.5, 1.5)
        if power in (0.5, 1.5):
            x = positive(g, x)
        exponent = np.array(power, dtype=np.float32) if g.opset < 12 or power != 2.0 or g.chance(0.6) else np.array(2, dtype=np.int64)
        y = g.made(op, [x, g.constant(exponent)], x.dims, x.most ** max(power, 1))
    elif op == "Div":
        if flip:
            y = g.made(op, [g.uniform(shape, -2, 2), positive(g, x)], x.dims, 5)
        else:
            y = g.made(op, [x, g.uniform(shape, 0.5, 2)], x.dims, 2 * x.most)
    else:
        c = g.uniform(shape, -2, 2)
        y = g.made(op, [c, x] if flip else [x, c], x.dims, 2 * most if op == "Mul" else most)
    g.keep(g.squashed(y))
    return True


def joined(a, b):
    """Axes of both side by side; None where they do not broadcast."""
    long, short = (a, b) if len(a.dims) >= len(b.dims) else (b, a)
    dims, skip = list(long.dims), len(long.dims) - len(short.dims)
    for i, d in enumerate(short.dims):
        e = dims[skip + i]
        if d == e or d == 1:
            continue
        if e != 1:
            return None
        dims[skip + i] = d
    return dims if all(dims.count(r) <= 1 for r in (T, B)) else None


def partner(g, a):
    fits = [v for v in g.values if v.kind == a.kind and joined(a, v) is not None]
    return g.pick(*fits) if fits else None


def with_value(g):
    a = g.any()
    b = partner(g, a)
    if b is None:
        return False
    dims = joined(a, b)
    op = g.pick("Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Mean", "Add", "Mul")
    if op == "Div":
        b = positive(g, b)
    inputs = [a, b]
    if op in ("Sum", "Mean", "Max", "Min") and g.opset < 8:
        inputs, dims = [a, a], a.dims  # these broadcast from opset 8 on
    elif op in ("Sum", "Mean", "Max", "Min") and g.chance(0.3):
        inputs = [a, b, a] if g.chance(0.5) else [a]
        dims = dims if len(inputs) == 3 else a.dims
    most = a.most * b.most if op == "Mul" else 2 * a.most if op == "Div" else a.most + b.most
    g.keep(g.squashed(g.made(op, inputs, dims, most)))
    return True


def logic(g):
    """Comparisons, what is made of them, and Where or Cast at the end."""
    a = g.any()
    fresh = ["Greater", "Less"] + (["Equal"] if g.opset >= 11 else []) + (["GreaterOrEqual", "LessOrEqual"] if g.opset >= 12 else [])

    def compared(x):
        if g.chance(0.6):
            return g.made(g.pick(*fresh), [x, g.scalar(-0.5, 0.5)], x.dims, kind=BOOL)
        other = partner(g, x)
        return g.made(g.pick(*fresh), [x, other], joined(x, other), kind=BOOL)

    condition = compared(a)
    if condition.features() > 160:
        return False
    if g.chance(0.5):
        other = compared(a)
        dims = joined(condition, other)
        if dims is not None:
            condition = g.made(g.pick("And", "Or", "Xor"), [condition, other], dims, kind=BOOL)
    if g.chance(0.3):
        condition = g.made("Not", [condition], condition.dims, kind=BOOL)
    if g.opset >= 9 and g.chance(0.7):
        inputs = [a, g.scalar(-1, 1)]
        if g.chance(0.5):
            inputs.reverse()
        dims = joined(condition, a)
        if dims is None:
            return False
        y = g.made("Where", [condition] + inputs, dims, a.most + 1)
    else:
        y = g.made("Cast", [condition], condition.dims, 1.0, to=TensorProto.FLOAT)
    g.keep(y)
    return True


def softmax(g):
    op = g.pick("Softmax", "LogSoftmax")
    if g.opset >= 13:
        x = g.find(lambda v: v.features() > 1)
        if x is None:
            return False
        axis = g.pick(*x.axes("F"))
        last = axis == len(x.dims) - 1
        given = None if last and g.chance(0.5) else g.axis(x, axis)
    else:
        # All axes from this one on are one; the default is 1.
        x = g.find(lambda v: v.features() > 1 and isinstance(v.dims[-1], int) and len(v.dims) > 1)
        if x is None:
            return False
        first = len(x.dims) - 1
        while first > 1 and isinstance(x.dims[first - 1], int) and g.chance(0.5):
            first -= 1
        given = None if first == 1 and g.chance(0.5) else g.axis(x, first)
        if given is None and x.dims[0] == T and len(x.dims) > 2:
            g.notes.add("softmax default axis")
    g.keep(g.squashed(g.made(op, [x], x.dims, 1.0 if op == "Softmax" else x.most * 2 + 5, axis=given)))
    return True


REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
          "ReduceLogSumExp", "ReduceSumSquare"]


def reduce(g):
    op = g.pick(*REDUCE)
    x = g.find(lambda v: v.axes("F"))
    if x is None:
        return False
    axes = sorted(set(g.pick(*x.axes("F")) for _ in range(g.between(1, 2))))
    if T in x.dims and op != "ReduceLogSumExp" and g.chance(0.15):
        axes = sorted(axes + x.axes(T)) if g.chance(0.5) else x.axes(T)
    count = int(np.prod([d for i, d in enumerate(x.dims) if i in axes and isinstance(d, int)] or [1]))
    if op == "ReduceProd" and (count > 6 or x.most > 4):
        x = g.made("Tanh", [x], x.dims, 1.0)
    if op == "ReduceLogSum":
        x = positive(g, x)
    if op == "ReduceLogSumExp" and x.most > 40:
        return False
    keep = g.pick(None, 1, 0)
    if len(axes) == len(x.dims):
        keep = 1
    dims = [1 if i in axes else d for i, d in enumerate(x.dims) if keep != 0 or i not in axes]
    if not dims:
        return False
    given = [g.axis(x, a) for a in axes]
    if g.chance(0.3):
        g.rng.shuffle(given)
    most = x.most if op in ("ReduceMean", "ReduceMax", "ReduceMin") else x.most ** 2 * count if op == "ReduceSumSquare" else (
        x.most * max(count, 1) * (g.steps if T in [x.dims[a] for a in axes] else 1))
    if g.opset >= (13 if op == "ReduceSum" else 18):
        if g.chance(0.15):  # no axes: all of them or none
            nothing = g.pick(1, 1, 0 if len(x.axes("F")) == len(x.dims) else 1)
            feed = [x] if g.chance(0.5) else [x, g.constant(np.zeros([0], np.int64), plain=True)]
            if nothing:
                square = op in ("ReduceSumSquare",)
                g.keep(g.squashed(g.made(op, feed, x.dims, x.most ** 2 if square else x.most, noop_with_empty_axes=1, keepdims=keep)))
                return True
        y = g.made(op, [x, g.ints(given)], dims, most, keepdims=keep)
    else:
        y = g.made(op, [x], dims, most, axes=given, keepdims=keep)
    g.keep(g.squashed(y))
    return True


def filled(g):
    """A constant made by nodes: ConstantOfShape, Range and others of constants; or an If."""
    x = g.any()
    how = g.pick("ConstantOfShape", "Shape", "If", "Size")
    if how == "Shape":
        ones = g.node("ConstantOfShape", [g.node("Shape", [x])], value=None) if g.opset >= 9 else None
        if ones is None:
            return False
        g.keep(g.made("Add", [x, ones], x.dims, x.most))
    elif how == "Size":
        a = g.node("Size", [g.weights([2, 3], 1.0)])
        g.keep(g.made("Mul", [x, g.node("Cast", [a], to=TensorProto.FLOAT)], x.dims, 6 * x.most))
        g.keep(g.squashed(g.values.pop()))
    elif how == "ConstantOfShape" and g.opset >= 9:
        from onnx import numpy_helper
        value = None if g.chance(0.3) else numpy_helper.from_array(np.array([0.5], dtype=np.float32))
        shape = fitting_shape(g, x)
        c = g.node("ConstantOfShape", [g.ints(shape)], value=value)
        g.keep(g.made("Add", [x, c], x.dims, x.most + 1))
    elif how == "If":
        return chosen_if(g, x)
    return True


def branch(g, x, gate):
    """A few operators on x, as a graph that reads it from outside; sometimes a number beside it too."""
    from onnx import helper
    nodes, last = [], x.name
    for op in [g.pick("Tanh", "Relu", "Neg", "Sigmoid") for _ in range(g.between(1, 2))]:
        nodes.append(helper.make_node(op, [last], [g.fresh()]))
        last = nodes[-1].output[0]
    if gate and g.chance(0.3):
        nodes.append(helper.make_node("Mul", [last, gate.name], [g.fresh()]))
        nodes.append(helper.make_node("Tanh", [nodes[-1].output[0]], [g.fresh()]))
    result = nodes[-1].output[0]
    return helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)])


def chosen_if(g, x):
    """By a constant, or by a number that comes in: then both branches run."""
    gate = g.input([1], "G") if g.chance(0.5) else None
    condition = g.node("Greater", [gate, g.uniform([1], -0.5, 0.5)]) if gate else g.constant(np.array(g.chance(0.5)))
    if g.chance(0.4):
        condition = g.node("Not", [condition])
    y = g.made("If", [condition], x.dims, max(x.most, 1.0), then_branch=branch(g, x, gate), else_branch=branch(g, x, gate))
    g.keep(y)
    return True


MOVES = {unary: 16, clip: 2, same: 2, with_constant: 8, with_value: 8, logic: 6, softmax: 3, reduce: 8, transpose: 3, reshape: 3, flatten: 3,
         squeeze: 2, unsqueeze: 2, slice_: 4, split: 3, concat: 4, gather: 3, one_step: 1, pad: 3, expand: 2, tile: 2, filled: 3}
