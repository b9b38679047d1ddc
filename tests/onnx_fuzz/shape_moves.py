"""shape_moves.py -- moves that put elements elsewhere: axes, parts, joins, indices, padding and repetition.
SPDX-License-Identifier: Apache-2.0"""
import numpy as np

from graph import B, T


def transpose(g):
    x = g.any()
    order = list(range(len(x.dims)))
    g.rng.shuffle(order)
    g.keep(g.transpose(x, order))
    return True


def reshape(g):
    x = g.find(lambda v: v.axes("F") and v.axes("F") == list(range(v.axes("F")[0], len(v.dims))))
    if x is None:
        return False
    lead = x.dims[:x.axes("F")[0]]
    rest, dims = x.features(), []
    for factor in (2, 3, 5):
        if rest % factor == 0 and g.chance(0.5):
            dims.append(factor)
            rest //= factor
    dims.append(rest)
    if g.chance(0.3):
        g.rng.shuffle(dims)
    shape = [0] * len(lead) + dims
    if g.chance(0.5):
        shape[len(lead) + g.below(len(dims))] = -1
    if g.opset >= 14 and g.chance(0.3):
        g.keep(g.made("Reshape", [x, g.ints(shape)], lead + dims, x.most, allowzero=1 if 0 not in shape else 0))
    else:
        g.keep(g.reshape(x, lead + dims, shape))
    return True


def flatten(g):
    """[B, ...] as [B, features], and softmax and its like where their default axis means that too."""
    x = g.find(lambda v: v.has(B) and not v.has(T) and v.features() > 1)
    if x is None:
        x = g.find(lambda v: v.has(T, B) and v.features() > 1)
        if x is None or g.opset < 11:
            return False
        axis = x.dims.index(T)
        x = g.made("Gather", [x, g.int_scalar(-1)], x.dims[:axis] + x.dims[axis + 1:], x.most, axis=axis)
    x = g.transpose(x, [x.dims.index(B)] + x.axes("F"))
    if g.chance(0.5) and (g.opset < 13 or len(x.dims) == 2):
        x = g.made(g.pick("Softmax", "LogSoftmax"), [x], x.dims, x.most + 10)
    axis = g.pick(None, 1, 1 - len(x.dims) if g.opset >= 11 else 1)
    g.keep(g.made("Flatten", [x], [B, x.features()], x.most, axis=axis))
    return True


def squeeze(g):
    x = g.find(lambda v: 1 in v.dims and len(v.dims) > 1)
    if x is None:
        return False
    ones = [i for i, d in enumerate(x.dims) if d == 1]
    axes = sorted(set(g.pick(*ones) for _ in range(g.between(1, 2))))
    if len(axes) == len(x.dims):
        return False
    g.keep(g.squeeze(x, axes))
    return True


def unsqueeze(g):
    x = g.find(lambda v: len(v.dims) <= 4)
    if x is None:
        return False
    g.keep(g.unsqueeze(x, [g.between(0, len(x.dims))]))
    return True


def slice_(g):
    x = g.find(lambda v: v.features() > 1)
    if x is None:
        return False
    axis = g.pick(*x.axes("F"))
    size = x.dims[axis]
    first = g.below(size)
    end = g.between(first + 1, size)
    step = g.pick(1, 1, 2) if g.opset >= 10 else 1
    if step == 1 and end == size and g.chance(0.5):
        end = (1 << 63) - 1
    if g.opset >= 10 and g.chance(0.25):
        first, end, step = g.between(0, size - 1), -size - 1, -g.pick(1, 1, 2)
    elif g.chance(0.3):
        first -= size
    if abs(end) > 1 << 40:
        dims = list(x.dims)
        dims[axis] = len(range(first % size, size, step))
        g.keep(g.slice(x, axis, first, end, step, dims))
    else:
        g.keep(g.slice(x, axis, first, end, step))
    return True


def split(g):
    x = g.find(lambda v: max([v.dims[i] for i in v.axes("F")] or [0]) > 1)
    if x is None:
        return False
    axis = g.pick(*[i for i in x.axes("F") if x.dims[i] > 1])
    size = x.dims[axis]
    even = [n for n in (2, 3, 4) if size % n == 0]
    if even and g.chance(0.5):
        n = g.pick(*even)
        sizes = [size // n] * n
    else:
        head = g.between(1, size - 1)
        sizes = [head, size - head]
    for part in g.split(x, axis, sizes):
        g.keep(part)
    return True


def concat(g):
    x = g.find(lambda v: v.axes("F"))
    if x is None:
        return False
    axis = g.pick(*x.axes("F"))
    fits = [v for v in g.values if v.kind == x.kind and len(v.dims) == len(x.dims) and isinstance(v.dims[axis], int)
            and all(i == axis or v.dims[i] == d for i, d in enumerate(x.dims))]
    others = [g.pick(*fits) for _ in range(g.between(1, 2))]
    if g.chance(0.2) and T not in x.dims and B not in x.dims:
        return False
    dims = list(x.dims)
    dims[axis] += sum(v.dims[axis] for v in others)
    g.keep(g.made("Concat", [x] + others, dims, max([x.most] + [v.most for v in others]), axis=g.axis(x, axis)))
    return True


def gather(g):
    x = g.find(lambda v: v.axes("F"))
    if x is None:
        return False
    axis = g.pick(*x.axes("F"))
    size = x.dims[axis]
    shape = [g.between(1, 3) for _ in range(g.below(3))]
    low = -size if g.opset >= 11 else 0
    places = g.numbers.integers(low, size, shape).astype(g.pick(np.int64, np.int32))
    dims = x.dims[:axis] + shape + x.dims[axis + 1:]
    if not dims:
        return False
    given = None if axis == 0 and g.chance(0.5) else g.axis(x, axis)
    g.keep(g.made("Gather", [x, g.constant(places)], dims, x.most, axis=given))
    return True


def one_step(g):
    x = g.find(lambda v: T in v.dims and len(v.dims) > 1)
    if x is None:
        return False
    axis = x.dims.index(T)
    first = g.chance(0.2)
    if g.chance(0.5):
        y = g.made("Gather", [x, g.int_scalar(0 if first else -1)], x.dims[:axis] + x.dims[axis + 1:], x.most, axis=axis)
        if not first and g.opset < 11:
            return False
    else:
        dims = x.dims[:axis] + [1] + x.dims[axis + 1:]
        y = g.slice(x, axis, 0 if first else -1, 1 if first else (1 << 63) - 1, dims=dims)
    g.keep(y)
    return True


def pad(g):
    x = g.find(lambda v: v.axes("F"))
    if x is None:
        return False
    before, after = [0] * len(x.dims), [0] * len(x.dims)
    axis = g.pick(*x.axes("F"))
    mode = g.pick("constant", "constant", "constant", "edge", "reflect", *(["wrap"] if g.opset >= 19 else []))
    most = x.dims[axis] - 1 if mode == "reflect" else min(2, x.dims[axis])
    before[axis], after[axis] = g.between(0, max(most, 0)), g.between(0, max(most, 0))
    if mode == "constant":
        g.keep(g.pad(x, before, after, g.pick(0.0, 0.0, 0.5, -1.0)))
    else:
        g.keep(g.pad(x, before, after, mode=mode))
    return True


def expand(g):
    if g.opset < 8:
        return False
    x = g.find(lambda v: 1 in v.dims) if g.chance(0.7) else g.any()
    if x is None:
        return False
    n = g.between(2, 4)
    ones = [i for i, d in enumerate(x.dims) if d == 1]
    axis = g.pick(*ones) if ones and g.chance(0.8) else None
    dims = [n if i == axis else d for i, d in enumerate(x.dims)]
    shape = [n if i == axis else d if isinstance(d, int) and g.chance(0.4) else 1 for i, d in enumerate(x.dims)]
    if g.chance(0.2):
        shape, dims = [2] + shape, [2] + dims
    g.keep(g.made("Expand", [x, g.ints(shape)], dims, x.most))
    return True


def tile(g):
    x = g.find(lambda v: v.axes("F") and v.features() <= 60)
    if x is None:
        return False
    repeats = [1] * len(x.dims)
    repeats[g.pick(*x.axes("F"))] = g.between(1, 3)
    dims = [d * r if isinstance(d, int) else d for d, r in zip(x.dims, repeats)]
    g.keep(g.made("Tile", [x, g.ints(repeats)], dims, x.most))
    return True
