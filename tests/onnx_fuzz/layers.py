"""layers.py -- moves that add layers with weights: dense ones in all forms, convolutions, pools, normalisations.
SPDX-License-Identifier: Apache-2.0"""
import numpy as np

from graph import B, T, Value


def dense(g):
    x = g.find(lambda v: len(v.dims) >= 2 and isinstance(v.dims[-1], int))
    if x is None:
        return False
    k, n = x.dims[-1], g.between(1, 9)
    if x.features() // k * n > 160:
        return False
    dims = x.dims[:-1] + [n]
    if len(x.dims) == 2 and g.chance(0.5):
        return gemm(g, x, n)
    y = g.made("MatMul", [x, g.weights([k, n], 1 / np.sqrt(k))], dims, 2 * x.most)
    if g.chance(0.6):
        bias = g.weights([n] if g.chance(0.7) else [1, n] if g.chance(0.5) else [1], 0.3)
        y = g.made("Add", [y, bias] if g.chance(0.7) else [bias, y], dims, y.most + 1)
    elif g.chance(0.3):
        c = g.weights([n], 0.4)
        op = g.pick("Sub", "Mul", "Div")
        if op == "Div":
            c = g.uniform([n], 0.5, 2.0)
        flip = op == "Sub" and g.chance(0.5)
        y = g.made(op, [c, y] if flip else [y, c], dims, 2 * y.most)
    if g.chance(0.4):
        y = g.made(g.pick("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Softplus", "Elu"), [y], dims, y.most)
    g.keep(g.squashed(y))
    return True


def gemm(g, x, n, then=lambda y: y):
    k = x.dims[1]
    trans_a = g.chance(0.2)
    a = g.transpose(x, [1, 0]) if trans_a else x
    trans_b = g.pick(0, 1, None)
    w = g.weights([n, k] if trans_b else [k, n], 1 / np.sqrt(k))
    bias = g.pick("", g.weights([n], 0.3), g.weights([1, n], 0.3), g.weights([], 0.3), g.weights([1], 0.3))
    if bias == "" and g.opset < 11:
        bias = g.weights([n], 0.3)
    alpha, beta = g.pick(None, None, 0.75), g.pick(None, None, -0.5)
    y = g.made("Gemm", [a, w, bias], [x.dims[0], n], 2 * x.most + 1, transA=1 if trans_a else g.pick(None, 0), transB=trans_b,
               alpha=alpha, beta=beta)
    g.keep(g.squashed(then(y)))
    return True


def gemm_of_rows(g):
    """A dense layer applied to each step, as Keras's TimeDistributed has it: all rows under each other."""
    x = g.find(lambda v: v.has(T, B) and v.features() <= 64)
    if x is None:
        return False
    flat = g.flat(x)
    rows = Value(g.node("Reshape", [flat, g.ints([-1, flat.dims[2]])]), ["TB", flat.dims[2]], x.most)
    gemm(g, rows, g.between(1, 9), lambda y: back(g, flat, y))
    return True


def left_product(g):
    """W x: sums over the axis before the last."""
    x = g.find(lambda v: len(v.dims) >= 3 and isinstance(v.dims[-2], int) and v.dims[-2] > 1)
    if x is None:
        return False
    k, n = x.dims[-2], g.between(1, 5)
    y = g.made("MatMul", [g.weights([n, k], 1 / np.sqrt(k)), x], x.dims[:-2] + [n, x.dims[-1]], 2 * x.most)
    g.keep(g.squashed(y))
    return True


def product_of_two(g):
    x = g.find(lambda v: len(v.dims) >= 3 and all(isinstance(d, int) for d in v.dims[-2:]) and v.most < 20 and v.dims[-2] ** 2 < 50)
    if x is None:
        return False
    order = list(range(len(x.dims)))
    order[-1], order[-2] = order[-2], order[-1]
    transposed = g.transpose(x, order)
    dims = x.dims[:-1] + [x.dims[-2]]
    y = g.made("MatMul", [x, transposed], dims, x.most ** 2 * x.dims[-1])
    g.keep(g.squashed(y))
    return True


def einsum(g):
    if g.opset < 12:
        return False
    x = g.find(lambda v: v.features() > 1)
    if x is None:
        return False
    axis = g.pick(*x.axes("F"))
    letters = "abcdefgh"[:len(x.dims)]
    n = g.between(1, 5)
    out = letters.replace(letters[axis], "z")
    dims = x.dims[:axis] + [n] + x.dims[axis + 1:]
    if g.chance(0.3):
        out, dims = out[::-1], dims[::-1]
    y = g.made("Einsum", [x, g.weights([x.dims[axis], n], 1 / np.sqrt(x.dims[axis]))], dims, 2 * x.most,
               equation=f"{letters},{letters[axis]}z->{out}")
    g.keep(g.squashed(y))
    return True


def out_size(size, kernel, stride, dilation, before, after):
    return (size + before + after - (kernel - 1) * dilation - 1) // stride + 1


def planes(g, channels_of=None):
    """Some value as [T * B, C, L] or [T * B, C, H, W] and what leads back from it."""
    x = g.find(lambda v: v.has(T, B) and 1 < v.features() <= 96)
    if x is None:
        return None
    flat = g.flat(x)
    count = flat.dims[2]
    split = [d for d in (1, 2, 3, 4, 6) if count % d == 0]
    c = g.pick(*split)
    rest = [count // c]
    inner = [d for d in (2, 3, 4, 5) if rest[0] % d == 0 and rest[0] // d > 1]
    if inner and g.chance(0.5):
        h = g.pick(*inner)
        rest = [h, rest[0] // h]
    rows = Value(g.node("Reshape", [flat, g.ints([-1, c] + rest)]), ["TB", c] + rest, x.most)
    return flat, rows


def back(g, flat, y):
    """[T, B, ...] of a value whose first axis holds both."""
    feature = [d for d in y.dims[1:]]
    shape = g.node("Shape", [flat])
    if g.opset < 10:
        head = g.node("Slice", [shape], starts=[0], ends=[2], axes=[0])
    else:
        head = g.node("Slice", [shape, g.ints([0]), g.ints([2])])
    target = g.node("Concat", [head, g.ints(feature)], axis=0)
    return Value(g.node("Reshape", [y, target]), [T, B] + feature, y.most)


def window(g, rest, op):
    """Attributes of a window over these axes, and what it leaves of them; None: nothing."""
    transposed, pool = op == "ConvTranspose", op.endswith("Pool")
    kernel = [g.between(1, min(3, r)) for r in rest]
    stride = [g.pick(1, 1, 2, 3) for _ in rest]
    dilated = not pool or (op == "MaxPool" and g.opset >= 10) or (op == "AveragePool" and g.opset >= 19)
    dilation = [g.pick(1, 1, 2) if dilated else 1 for _ in rest]
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    most = [(k if pool else e) - 1 for k, e in zip(kernel, extent)]
    before, after = [g.between(0, m) for m in most], [g.between(0, m) for m in most]
    attributes = {"kernel_shape": kernel}
    if stride != [1] * len(rest) or g.chance(0.5):
        attributes["strides"] = stride
    if dilation != [1] * len(rest) or (dilated and g.chance(0.3)):
        attributes["dilations"] = dilation
    if any(before + after) or g.chance(0.5):
        attributes["pads"] = before + after
    extra = [0] * len(rest)
    auto = None
    if not any(before + after) and g.chance(0.4) and not transposed and max(dilation) == 1:
        auto = g.pick("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
        attributes.pop("pads", None)
        attributes["auto_pad"] = auto
    if transposed:
        if not any(before + after) and g.chance(0.2):
            attributes.pop("pads", None)
            attributes["auto_pad"] = g.pick("NOTSET", "VALID")
        if g.chance(0.3):
            extra = [g.below(max(s, d)) if s > 1 else 0 for s, d in zip(stride, dilation)]
            attributes["output_padding"] = extra
        size = [s * (r - 1) + e - p - q + x for s, r, e, p, q, x in zip(stride, rest, extent, before, after, extra)]
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        if pool and "dilations" in attributes:
            return None
        size = [-(-r // s) for r, s in zip(rest, stride)]
    else:
        size = [out_size(r, k, s, d, p, q) for r, k, s, d, p, q in zip(rest, kernel, stride, dilation, before, after)]
    if op in ("AveragePool", "MaxPool") and g.opset >= 10 and auto in (None, "NOTSET") and g.chance(0.3):
        ceil = [-(-(r + p + q - e) // s) + 1 for r, p, q, e, s in zip(rest, before, after, extent, stride)]
        # A window that would start in the padding behind is dropped.
        ceil = [c - 1 if (c - 1) * s >= r + p else c for c, s, r, p in zip(ceil, stride, rest, before)]
        attributes["ceil_mode"], size = 1, ceil
    return None if min(size) < 1 else (attributes, kernel, size)


def conv_of_features(g):
    found = planes(g)
    if found is None:
        return False
    flat, rows = found
    c, rest = rows.dims[1], rows.dims[2:]
    op = g.pick("Conv", "Conv", "ConvTranspose")
    shape = window(g, rest, op)
    if shape is None:
        return False
    attributes, kernel, size = shape
    group = g.pick(1, c, g.pick(*[d for d in (1, 2, 3) if c % d == 0]))
    maps = group * g.between(1, 3)
    if maps * int(np.prod(size)) > 160:
        return False
    if group > 1 or g.chance(0.2):
        attributes["group"] = group
    if g.chance(0.4):
        attributes.pop("kernel_shape")
    fan = c // group * int(np.prod(kernel))
    w = g.weights(([maps, c // group] if op == "Conv" else [c, maps // group]) + kernel, 1 / np.sqrt(fan))
    bias = g.weights([maps], 0.3) if g.chance(0.7) else ""
    y = g.made(op, [rows, w, bias], ["TB", maps] + size, 2 * rows.most + 1, **attributes)
    if g.chance(0.3):
        y = batch_norm(g, y)
    if g.chance(0.4):
        y = g.made(g.pick("Relu", "Tanh", "LeakyRelu"), [y], y.dims, y.most)
    g.keep(g.squashed(back(g, flat, y)))
    return True


def pool(g):
    found = planes(g)
    if found is None:
        return False
    flat, rows = found
    op = g.pick("MaxPool", "AveragePool", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
    if op.startswith("Global"):
        y = g.made(op, [rows], ["TB", rows.dims[1]] + [1] * (len(rows.dims) - 2), rows.most)
    else:
        shape = window(g, rows.dims[2:], op)
        if shape is None:
            return False
        attributes, _, size = shape
        if op == "AveragePool" and g.chance(0.5):
            attributes["count_include_pad"] = g.pick(0, 1, 1)
        y = g.made(op, [rows], ["TB", rows.dims[1]] + size, rows.most, **attributes)
    g.keep(back(g, flat, y))
    return True


def batch_norm(g, x):
    c = x.dims[1]
    inputs = [x, g.uniform([c], 0.5, 1.5), g.weights([c], 0.3), g.weights([c], 0.3), g.uniform([c], 0.5, 2.0)]
    return g.made("BatchNormalization", inputs, x.dims, 2 * x.most + 2, epsilon=g.pick(None, 0.01), momentum=g.pick(None, 0.5))


def norm_of_planes(g):
    found = planes(g)
    if found is None:
        return False
    flat, rows = found
    c = rows.dims[1]
    ops = ["BatchNormalization", "InstanceNormalization"]
    if g.opset >= 18:
        ops += ["GroupNormalization", "GroupNormalization"]
    op = g.pick(*ops)
    if op == "BatchNormalization":
        y = batch_norm(g, rows)
    else:
        groups = g.pick(1, c)
        parts = groups if op == "GroupNormalization" and g.opset < 21 else c
        extra = {"num_groups": groups} if op == "GroupNormalization" else {}
        y = g.made(op, [rows, g.uniform([parts], 0.5, 1.5), g.weights([parts], 0.3)], rows.dims, 8.0, epsilon=g.pick(0.1, 0.01, None), **extra)
    g.keep(g.squashed(back(g, flat, y)))
    return True


def layer_norm(g):
    if g.opset < 17:
        return False
    x = g.find(lambda v: v.features() > 1 and isinstance(v.dims[-1], int))
    if x is None:
        return False
    first = len(x.dims) - 1
    while first > 0 and isinstance(x.dims[first - 1], int) and g.chance(0.4):
        first -= 1
    shape = x.dims[first:]
    axis = None if first == len(x.dims) - 1 and g.chance(0.5) else g.pick(first, first - len(x.dims))
    inputs = [x, g.uniform(shape, 0.5, 1.5), g.pick("", g.weights(shape, 0.3))]
    y = g.made("LayerNormalization", inputs, x.dims, 10.0, axis=axis, epsilon=g.pick(0.1, 0.01, None if int(np.prod(shape)) > 3 else 0.1))
    g.keep(y)
    return True


def conv_over_time(g):
    """[B, C, T]: causal by pads, by Pad, by what is cut off; now and then one that looks ahead."""
    x = g.find(lambda v: v.has(T, B) and v.features() <= 48)
    if x is None:
        return False
    x = g.transpose(g.flat(x), [1, 2, 0])
    c, kernel, dilation = x.dims[1], g.between(1, 3), g.pick(1, 1, 2, 3)
    span = (kernel - 1) * dilation
    group = g.pick(1, 1, c)
    maps = group * g.between(1, 3)
    if maps > 100:
        return False
    attributes = {"dilations": [dilation] if dilation > 1 or g.chance(0.3) else None, "group": group if group > 1 else g.pick(None, 1)}
    w = g.weights([maps, c // group, kernel], 1 / np.sqrt(c // group * kernel))
    inputs = [x, w] + ([g.weights([maps], 0.3)] if g.chance(0.7) else [])
    dims = [B, maps, T]
    most = 2 * x.most + 1
    how = g.pick("pads", "pads", "pad", "cut", "transposed", "ahead")
    if how == "pads":
        y = g.made("Conv", inputs, dims, most, pads=[span, 0], **attributes)
    elif how == "pad":
        inputs[0] = g.pad(x, [0, 0, span], [0, 0, 0])
        y = g.made("Conv", inputs, dims, most, **attributes)
    elif how == "cut" and span > 0:
        y = g.made("Conv", inputs, dims, most, pads=[span, span], **attributes)
        y = g.slice(y, 2, 0, -span, dims=dims)
    elif how == "transposed" and span > 0:
        w = g.weights([c, maps // group, kernel], 1 / np.sqrt(c // group * kernel))
        y = g.made("ConvTranspose", [x, w] + inputs[2:], dims, most, **attributes)
        y = g.slice(y, 2, 0, -span, dims=dims)
    else:
        g.notes.add("ahead")
        y = g.made("Conv", inputs, dims, most, pads=[span // 2, span - span // 2], **attributes)
    if g.chance(0.3):
        y = batch_norm(g, y)
    if g.chance(0.4):
        op = g.pick("Relu", "Tanh", "PRelu", "Sigmoid")
        slope = [g.uniform([maps, 1], 0.1, 0.5)] if op == "PRelu" else []
        y = g.made(op, [y] + slope, dims, y.most)
    g.keep(g.squashed(y))
    return True


def conv_2d_over_time(g):
    """[B, C, T, L]"""
    x = g.find(lambda v: v.has(T, B) and len(v.dims) == 4 and v.features() <= 48)
    if x is None:
        x = g.find(lambda v: v.has(T, B) and 4 <= v.features() <= 48)
        if x is None:
            return False
        x = g.flat(x)
        c = g.pick(*[d for d in (1, 2, 3) if x.dims[2] % d == 0])
        x = g.reshape(x, [T, B, c, x.dims[2] // c], [0, 0, c, -1])
    f = x.axes("F")
    x = g.transpose(x, [x.dims.index(B), f[0], x.dims.index(T), f[1]])
    c, length = x.dims[1], x.dims[3]
    steps, kernel, stride = g.between(1, 3), g.between(1, min(3, length)), g.pick(1, 1, 2)
    before, after = g.between(0, kernel - 1), g.between(0, kernel - 1)
    size = out_size(length, kernel, stride, 1, before, after)
    group = g.pick(1, c)
    maps = group * g.between(1, 2)
    if size < 1 or maps * size > 160:
        return False
    w = g.weights([maps, c // group, steps, kernel], 1 / np.sqrt(c // group * kernel * steps))
    y = g.made("Conv", [x, w] + ([g.weights([maps], 0.3)] if g.chance(0.7) else []), [B, maps, T, size], 2 * x.most + 1,
               pads=[steps - 1, before, 0, after], strides=[1, stride] if stride > 1 else g.pick(None, [1, 1]), group=group)
    g.keep(g.squashed(y))
    return True


def pool_over_time(g):
    x = g.find(lambda v: v.has(T, B) and v.features() <= 96)
    if x is None:
        return False
    x = g.transpose(g.flat(x), [1, 2, 0])
    if g.chance(0.4):
        y = g.made(g.pick("GlobalAveragePool", "GlobalMaxPool"), [x], [B, x.dims[1], 1], x.most)
    else:
        kernel = 1 if g.chance(0.9) else 2
        y = g.made(g.pick("MaxPool", "AveragePool"), [x], x.dims, x.most, kernel_shape=[kernel], pads=[kernel - 1, 0])
    g.keep(y)
    return True


MOVES = {dense: 6, gemm_of_rows: 3, left_product: 1, product_of_two: 1, einsum: 2, conv_of_features: 3, pool: 3, norm_of_planes: 3, layer_norm: 2,
         conv_over_time: 3, conv_2d_over_time: 2, pool_over_time: 2}
