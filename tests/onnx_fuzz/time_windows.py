"""time_windows.py -- moves that shorten, lengthen and slide along time: Slice, Pad, convolutions, pools, joins and parts.
SPDX-License-Identifier: Apache-2.0"""
import numpy as np

from graph import B
from time_graph import NotSampled

END, BEFORE_ALL = (1 << 63) - 1, -(1 << 63) + 1


def cut(g, x, first, end, step=1):
    """x[first:end:step] along time; ends as Python has them, None for open ones."""
    axis = g.time_of(x)
    dims = list(x.dims)
    dims[axis] = g.changed(x.dims[axis], lambda n: len(range(n)[first:end:step]))
    if step != 1 and g.opset < 10:
        raise NotSampled
    low = first if first is not None else 0 if step > 0 else g.pick(-1, END)
    high = end if end is not None else g.pick(END, END, 1 << 31) if step > 0 else g.pick(BEFORE_ALL, -(1 << 31))
    return g.slice(x, axis, low, high, step, dims)


def slice_(g):
    x, k = g.any_order(g.sequence()), g.pick(1, 1, 2, 3)
    how = g.pick("front", "front", "back", "back", "both", "first k", "last k", "stride", "stride", "middle", "backwards stride")
    parts = {"front": (k, None), "back": (None, -k), "both": (k, -g.pick(1, 2)), "first k": (0, k), "last k": (-k, None),
             "stride": (g.below(3) or None, None, g.pick(2, 2, 3)), "middle": (-k - g.between(1, 2), -k),
             "backwards stride": (None, None, -2)}
    g.keep(cut(g, x, *parts[how]))
    return "Slice " + how


def slice_by_size(g):
    """The end is computed: the number of steps, or half of it, less some."""
    x, k = g.any_order(g.sequence()), g.pick(1, 2)
    axis = g.time_of(x)
    if g.opset < 10:
        raise NotSampled
    size, half = g.size_of(x, axis), g.chance(0.3)
    if half:
        size = g.node("Div", [size, g.ints([2])])
    end = g.node("Sub", [size, g.ints([k])])
    dims = list(x.dims)
    dims[axis] = g.changed(x.dims[axis], lambda n: (n // 2 if half else n) - k)
    g.keep(g.made("Slice", [x, g.ints([0]), end, g.ints([axis])], dims, x.most))
    return "Slice by half the size" if half else "Slice by size"


def pad(g):
    x = g.any_order(g.sequence())
    axis = g.time_of(x)
    p, q = g.pick((1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (3, 0), (1, 2), (-1, 0), (0, -1), (1, -1))
    mode = g.pick("constant", "constant", "constant", "edge", "reflect") if min(p, q) >= 0 else "constant"
    before, after = [0] * 3, [0] * 3
    before[axis], after[axis] = p, q
    dims = list(x.dims)
    if mode == "reflect" and g.lengths[dims[axis]][0] <= max(p, q):
        raise NotSampled
    dims[axis] = g.changed(dims[axis], lambda n: 0 if mode == "reflect" and n <= max(p, q) else n + p + q)
    number = g.pick(0.0, 0.0, 0.5) if mode == "constant" else 0.0
    g.keep(g.pad(x, before, after, number, mode=mode if mode != "constant" else None, dims=dims))
    return f"Pad {'cut' if min(p, q) < 0 else 'front' if q == 0 else 'back' if p == 0 else 'both'}" if mode == "constant" else "Pad " + mode


def window_sizes(g, transposed=False):
    """Kernel, dilation, stride, pads or auto_pad, and the length of a window over n steps."""
    k, d = g.pick(1, 2, 2, 3, 3, 4), g.pick(1, 1, 1, 2)
    s, span = g.pick(1, 1, 1, 1, 1, 2, 3), (k - 1) * d
    how = g.pick("valid", "valid", "causal", "same", "full", "ahead", "some", "auto")
    p, q = {"valid": (0, 0), "causal": (span, 0), "same": (span // 2, span - span // 2), "full": (span, span), "ahead": (0, span),
            "some": (g.between(0, span), g.between(0, span)), "auto": (0, 0)}[how]
    auto = g.pick("VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET") if how == "auto" and not transposed else None
    if auto and auto.startswith("SAME") and d > 1:
        d, span = 1, k - 1
    attributes = {"kernel_shape": [k] if g.chance(0.6) else None, "dilations": [d] if d > 1 or g.chance(0.3) else None,
                  "strides": [s] if s > 1 or g.chance(0.3) else None, "pads": None if auto or (p + q == 0 and g.chance(0.5)) else [p, q],
                  "auto_pad": auto}

    def rule(n):
        if transposed:
            return (n - 1) * s + span + 1 - p - q
        if auto and auto.startswith("SAME"):
            return -(-n // s)
        return (n + p + q - span - 1) // s + 1 if n + p + q > span else 0

    return k, s, how, attributes, rule


def conv(g):
    x = g.laid(g.sequence(lambda v: v.features() <= 40), "BFL")
    transposed = g.chance(0.12)
    k, s, how, attributes, rule = window_sizes(g, transposed)
    c = x.dims[1]
    group = g.pick(1, 1, 1, c)
    maps = group * g.pick(1, 2, 3) if group > 1 else g.between(1, 6)
    if maps > 40:
        raise NotSampled
    dims = [B, maps, g.changed(x.dims[2], rule)]
    w = g.weights(([c, maps // group] if transposed else [maps, c // group]) + [k], 1 / np.sqrt(c // group * k))
    inputs = [x, w] + ([g.weights([maps], 0.3)] if g.chance(0.7) else [])
    if group > 1:
        attributes["group"] = group
    op = "ConvTranspose" if transposed else "Conv"
    y = g.made(op, inputs, dims, 2 * x.most + 1, **attributes)
    if g.chance(0.3):
        y = g.made(g.pick("Relu", "Tanh"), [y], y.dims, y.most)
    g.keep(g.squashed(y))
    return op + " stride" if s > 1 else op if transposed else f"{op} {how}"


def conv_of_planes(g):
    """Time is the first of two axes of a plane; the features are the other."""
    x = g.laid(g.sequence(lambda v: v.features() <= 16), "BLF")
    k, s, how, attributes, rule = window_sizes(g)
    maps, wide = g.between(1, 3), x.dims[2]
    for name, second in (("kernel_shape", wide), ("strides", 1), ("dilations", 1)):
        if attributes[name]:
            attributes[name] = attributes[name] + [second]
    if attributes["pads"]:
        p, q = attributes["pads"]
        attributes["pads"] = [p, 0, q, 0]
    if attributes["auto_pad"] and attributes["auto_pad"].startswith("SAME"):
        raise NotSampled
    steps = g.changed(x.dims[1], rule)
    plane = g.unsqueeze(x, [1])
    w = g.weights([maps, 1, k, wide], 1 / np.sqrt(wide * k))
    y = g.made("Conv", [plane, w, g.weights([maps], 0.3)], [B, maps, steps, 1], 2 * x.most + 1, **attributes)
    g.keep(g.squashed(g.squeeze(y, [3])))
    return "Conv of planes" + (" stride" if s > 1 else "")


def pool(g):
    x = g.laid(g.sequence(), "BFL")
    if g.chance(0.2):
        op = g.pick("GlobalAveragePool", "GlobalMaxPool")
        g.keep(g.made(op, [x], [B, x.dims[1], g.one_step()], x.most))
        return op
    op, k = g.pick("MaxPool", "AveragePool"), g.pick(2, 2, 3)
    s, p, q = g.pick(1, 1, k), 0, 0
    if g.chance(0.5):
        p, q = g.pick((k - 1, 0), (0, k - 1), (1, 1))
    attributes = {"pads": [p, q] if p + q or g.chance(0.3) else None, "strides": [s] if s > 1 or g.chance(0.3) else None}
    ceil = g.opset >= 10 and g.chance(0.15)

    def rule(n):
        if n + p + q < k:
            return 0
        count = (-(-(n + p + q - k) // s) if ceil else (n + p + q - k) // s) + 1
        return count - 1 if (count - 1) * s >= n + p else count

    if ceil:
        attributes["ceil_mode"] = 1
    if op == "AveragePool" and g.chance(0.5):
        attributes["count_include_pad"] = g.pick(0, 1)
    dims = [B, x.dims[1], g.changed(x.dims[2], rule)]
    g.keep(g.made(op, [x], dims, x.most, kernel_shape=[k], **attributes))
    return op + (" stride" if s > 1 else " overlapping")


def concat(g):
    x = g.any_order(g.sequence())
    axis, f = g.time_of(x), x.features()
    order = "".join("L" if i == axis else "B" if d == B else "F" for i, d in enumerate(x.dims))
    others = [v for v in g.values if g.is_sequence(v) and v.features() == f]
    how = g.pick("itself", "another", "another", "shift", "shift", "zeros", "last again", "constant")
    if how == "itself":
        parts = [x, x]
    elif how == "another":
        parts = [x, g.laid(g.pick(*others), order)]
        g.rng.shuffle(parts)
    elif how == "shift":
        zero = g.constant(np.array(0, np.float32))
        first = cut(g, x, 0, 1)
        parts = [g.made("Mul", [first, zero], first.dims, 1.0), cut(g, x, None, -1)]
    elif how == "zeros":
        first = cut(g, x, 0, g.pick(1, 2))
        parts = [g.made("Sub", [first, first], first.dims, 1.0), x]
        if g.chance(0.4):
            parts.reverse()
    elif how == "last again":
        parts = [x, cut(g, x, -1, None)] if g.chance(0.6) else [cut(g, x, 0, 1), x]
    else:
        if g.same_at_all(B) is None:
            raise NotSampled
        shape = [g.pick(1, 2) if d == x.dims[axis] else d if isinstance(d, int) else g.same_at_all(d) for d in x.dims]
        dims = list(x.dims)
        dims[axis] = g.length([shape[axis]] * len(g.runs))
        rows = g.numbers.normal(0, 0.5, [shape[i] if i != x.dims.index(B) else 1 for i in range(3)]).astype(np.float32)
        parts = [type(x)(g.constant(np.broadcast_to(rows, shape).copy()), dims), x]
        if g.chance(0.4):
            parts.reverse()
    dims = list(x.dims)
    dims[axis] = g.length(sum(n) for n in zip(*(g.counts(p) for p in parts)))
    g.keep(g.made("Concat", parts, dims, max(p.most for p in parts), axis=g.axis(x, axis)))
    return "Concat " + how


def split(g):
    x = g.any_order(g.sequence())
    axis = g.time_of(x)
    n, counts = g.same_at_all(x.dims[axis]), g.counts(x)
    if n is None:
        if g.opset < 18:
            raise NotSampled
        sizes = [[-(-c // 2) for c in counts], [c // 2 for c in counts]]
        names = g.node("Split", [x], 2, axis=g.axis(x, axis), num_outputs=2)
        parts = []
        for name, size in zip(names, sizes):
            dims = list(x.dims)
            dims[axis] = g.length(size)
            parts.append(type(x)(name, dims, x.most))
        how = "Split in halves"
    else:
        if n < 2:
            raise NotSampled
        head = n // 2 if n % 2 == 0 and g.chance(0.5) else g.between(1, n - 1)
        parts = g.split(x, axis, [head, n - head])
        for part, size in zip(parts, (head, n - head)):
            part.dims[axis] = g.length([size] * len(g.runs))
        how = "Split by sizes"
    what = g.pick("first", "second", "both", "swapped", "sum")
    if what == "sum" and parts[0].dims == parts[1].dims:
        g.keep(g.made("Add", parts, parts[0].dims, 2 * x.most))
    elif what == "swapped":
        g.keep(g.made("Concat", parts[::-1], x.dims, x.most, axis=axis))
    else:
        for part in parts[:1] if what == "first" else parts[1:] if what == "second" else parts:
            g.keep(part)
    return how


def residual(g):
    """Two sequences whose lengths differ by the same number everywhere: the longer one is cut, then they are added."""
    x = g.sequence()
    pairs = []
    for v in g.values:
        if not g.is_sequence(v) or v.features() != x.features() or v.name == x.name:
            continue
        extra = {a - b for i, (a, b) in enumerate(zip(g.counts(v), g.counts(x))) if i not in g.dead}
        if len(extra) == 1 and abs(min(extra)) <= 4:
            pairs.append((v, min(extra)))
    if not pairs:
        return delta(g, x)
    v, extra = g.pick(*pairs)
    order = g.pick("LBF", "BLF", "BFL")
    x, v = g.laid(x, order), g.laid(v, order)
    long, short = (v, x) if extra > 0 else (x, v)
    if extra:
        front = g.between(0, abs(extra))
        long = cut(g, long, front or None, front - abs(extra) or None)
    g.keep(g.squashed(g.made(g.pick("Add", "Add", "Sub", "Mul"), [long, short], short.dims, long.most * short.most + 1)))
    return "residual of a shortened one" if extra else "residual"


def delta(g, x):
    """x[k:] - x[:-k]"""
    k = g.pick(1, 1, 2)
    x = g.any_order(x)
    late, early = cut(g, x, k, None), cut(g, x, None, -k)
    g.keep(g.squashed(g.made("Sub", [late, early], late.dims, 2 * x.most)))
    return "difference of steps"


def reverse(g):
    x = g.sequence()
    if g.opset >= 10 and g.chance(0.5):
        g.keep(cut(g, g.any_order(x), None, None, -1))
        return "reversal by Slice"
    if g.opset < 10:
        raise NotSampled
    axis = g.pick(0, 1)
    x = g.laid(x, "LBF" if axis == 0 else "BLF")
    n = g.same_at_all(x.dims[axis])
    what = g.pick("input", "constant", "size")
    if what == "constant" and (n is None or g.same_at_all(B) is None):
        what = "size"
    if what == "input" and "lengths" in g.feeds:
        what = "size"
    if what == "input":
        from onnx import TensorProto
        ends = g.ends_input(x.dims[axis], TensorProto.INT64).name
    elif what == "constant":
        whole = g.chance(0.5)
        ends = g.constant(np.array([n if whole else g.between(1, n) for _ in range(g.batch)], np.int64))
    else:
        ends = g.node("Expand", [g.size_of(x, axis), g.size_of(x, 1 - axis)])
    given = {"time_axis": axis, "batch_axis": 1 - axis}
    if axis == 0 and g.chance(0.5):
        given = {}
    g.keep(g.made("ReverseSequence", [x, ends], x.dims, x.most, **given))
    return "ReverseSequence by " + what


MOVES = {slice_: 10, slice_by_size: 2, pad: 5, conv: 8, conv_of_planes: 2, pool: 3, concat: 5, split: 3, residual: 6, reverse: 4}
