"""known.py -- where onnxruntime is known to differ from ONNX's text or from us, each as narrow as can be said, with a probe that asks
onnxruntime whether it still does (fuzz.py --known). SPDX-License-Identifier: Apache-2.0"""
import functools

import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference

import reference

LENGTH_0 = "final states of rows of length 0"
NAN_LOST = "NaN lost, infinities bounded"
BEYOND = "not determined in f32"
LIMITS = "infinity / infinity and 0 * infinity where an activation is at its end"
ZERO_DEFAULTS = "defaults of Affine, ScaledTanh and ThresholdedRelu in layers"
BATCH_MAJOR = "layout 1"
SOFTPLUS = "Softplus of large numbers in layers"
ROUNDING = "rounding of its own"
STEPS = "the other side of a step"
TIES = "a tie or an end that rounding decides"

REASONS = {
    LENGTH_0: "Y_h and Y_c of a row without steps are 0; ours, as with every other row, the state after its last step: the initial one",
    NAN_LOST: "activations and the gates of layers bound their arguments, which drops NaN and turns infinities into the largest number; "
              "ours keep both, as the f64 evaluation does",
    BEYOND: "huge numbers: the exact value is beyond f32, or others of the tensor are and we lost it on the way, or onnxruntime misses it too, having added numbers far apart",
    LIMITS: "x / (1 + |x|) of an infinity is NaN by the letter; ours is the limit, 1. Gates likewise: a sigmoid that is 0 only by "
            "rounding times an infinite cell",
    ZERO_DEFAULTS: "alpha and beta left out are 0; ours are those of docs/OPERATORS.md (ThresholdedRelu's is that of the operator). The "
                   "reference gets them written out",
    SOFTPLUS: "log(1 + exp(x)) as it is written: infinite from 89 on, or bounded by the cell; ours is x there, as the f64 evaluation's",
    ROUNDING: "it is past the bound by less than the bound, and ours is within it of the f64 evaluation",
    STEPS: "a rounding error of its own before an operator that jumps; ours is on the f64 evaluation's side",
    TIES: "what an operator that jumps takes lies so near to its step (two equal elements, a saturated tanh, a sum that cancels) that "
          "onnxruntime gives our element too where that is moved by rounding errors",
    BATCH_MAJOR: "its CPU kernels refuse it; the reference gets transposes instead",
}

# Operators seen to lose NaN.
LOSERS = {"LSTM", "GRU", "RNN", "Sigmoid", "Tanh", "Erf", "Gelu", "Softmax", "LogSoftmax", "Clip", "Relu", "Max", "Min", "MaxPool",
          "GlobalMaxPool", "ReduceMax", "ReduceMin", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Celu", "Selu", "Mish", "Softplus",
          "Sign", "ThresholdedRelu", "PRelu", "ReduceLogSumExp"}

# Operators whose results jump.
JUMPS = {"Sign", "Ceil", "Floor", "Round", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Cast"}

# Those, and others that choose by comparing.
CHOICES = JUMPS | {"ArgMax", "ArgMin", "TopK", "Mod"}
NUDGES = 32
GATED = {"LSTM", "GRU"}

# Operators with an end that is reached by rounding.
ENDS = {"LSTM", "GRU", "RNN", "Softsign", "Sigmoid", "HardSwish", "Mish", "Gelu", "Softplus", "Elu", "Celu", "Selu"}


def excuse(case, ours, theirs, bounds, evaluate):
    """The name of the known difference that explains every wrong element, or "". `evaluate` gives what the f64 evaluation has for a
    model's outputs."""
    if "length 0" in case.notes and "lengths" in case.feeds and length_0_explains(case, ours, theirs, bounds):
        return LENGTH_0
    exact = evaluate(case.model)
    if any(n not in exact for n in theirs):
        return ""
    operators = {node.op_type for node in case.model.graph.node}
    if operators & CHOICES and decided_by_rounding(case, ours, theirs, bounds):
        return TIES
    softplus = any(a.name == "activations" and b"softplus" in [v.lower() for v in a.strings] for node in case.model.graph.node
                   for a in node.attribute)

    @functools.lru_cache(None)
    def lost_in_the_midst():
        return any(beyond(a) for a in evaluate(with_all_values(case.model)).values())

    explained = set()
    for name, array in theirs.items():
        values, bound = exact[name].reshape(array.shape), np.broadcast_to(bounds[name], array.shape)
        overflows = beyond(values)
        for at in np.argwhere(wrong(ours[name], array, bounds[name])):
            mine, other, true = float(ours[name][tuple(at)]), float(array[tuple(at)]), values[tuple(at)]
            if softplus and abs(mine - true) <= 1e-4 * max(1.0, abs(true)):
                why = SOFTPLUS
            elif overflows and not np.isfinite(mine):
                why = BEYOND
            elif abs(mine - true) <= bound[tuple(at)] and abs(other - mine) <= 2 * bound[tuple(at)]:
                why = ROUNDING
            elif operators & JUMPS and abs(mine - true) <= bound[tuple(at)]:
                why = STEPS
            elif case.special or any(huge(a) for a in theirs.values()):
                why = reason(case.special, operators, mine, other, true)
            else:
                why = ""
            if not why and operators & (JUMPS | ENDS | {"Tanh"}) and lost_in_the_midst():
                why = BEYOND
            if not why:
                return ""
            explained.add(why)
    return " and ".join(sorted(explained))


def float_values(graph):
    values = [*graph.value_info, *graph.input, *graph.output]
    return {v.name: v for v in values if v.type.tensor_type.elem_type == TensorProto.FLOAT}


def with_all_values(model):
    """The model with every value of floats as an output."""
    model = shape_inference.infer_shapes(model)
    graph = model.graph
    there = {v.name for v in [*graph.input, *graph.output]}
    graph.output.extend([v for name, v in float_values(graph).items() if name not in there])
    return model


def beyond(array):
    """Whether something is lost to the range of f32: what bounds its argument, or jumps, hides it."""
    with np.errstate(all="ignore"):
        return not (np.abs(array) <= 3e38).all()


def nudged(model, seed, most):
    """The model with noise of some rounding errors in front of every operator that jumps; integers stay as they are."""
    model = shape_inference.infer_shapes(model)
    graph, nodes = model.graph, []
    floats = float_values(graph)
    for at, node in enumerate(graph.node):
        for i, name in enumerate(node.input):
            if node.op_type not in CHOICES or name not in floats:
                continue
            noise, size, moved = (f"{name}:{what}{at}_{i}" for what in ("noise", "size", "moved"))
            nodes += [helper.make_node("RandomUniformLike", [name], [noise], low=-most, high=most, seed=float(seed + at + 64 * i)),
                      helper.make_node("Abs", [name], [size + "0"]), helper.make_node("Max", [size + "0", ":one"], [size]),
                      helper.make_node("Mul", [noise, size], [noise + "s"]), helper.make_node("Add", [name, noise + "s"], [moved])]
            node.input[i] = moved
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.append(numpy_helper.from_array(np.float32(1), ":one"))
    return model


def decided_by_rounding(case, ours, theirs, bounds):
    """Whether every wrong element is near onnxruntime's own at some noise. Its layers lose a NaN that noise makes; ours keep it."""
    loses = LOSERS & {node.op_type for node in case.model.graph.node}
    left = {n: wrong(ours[n], a, bounds[n]) for n, a in theirs.items()}
    # Our gates do not close beyond 1e-13, which a huge state shows.
    most = 2e-5 if case.special == "huge" and GATED & {node.op_type for node in case.model.graph.node} else 4e-7
    for seed in range(NUDGES):
        try:
            moved = reference.run(case, nudged(case.model, seed + 1, most))
        except Exception:  # pylint: disable=broad-except
            return False
        lost = loses and any(np.isnan(a).any() for a in moved.values())
        left = {n: bad & wrong(ours[n], moved[n], bounds[n]) & ~(np.isnan(ours[n]) & bool(lost)) for n, bad in left.items()}
        if not any(bad.any() for bad in left.values()):
            return True
    return False


def huge(array):
    with np.errstate(all="ignore"):
        return bool((~np.isfinite(array) | (np.abs(array) > 1e6)).any())


def reason(special, operators, ours, theirs, exact):
    """Why one element differs."""
    with np.errstate(all="ignore"):
        rounded = float(np.float32(exact))
    if special and operators & LOSERS and not wrong(np.array(ours), np.array(rounded), 1e-4 * max(1.0, abs(rounded))).any():
        return NAN_LOST
    if special == "inf" and operators & ENDS and np.isnan(theirs) and np.isnan(exact):
        return LIMITS
    if special == "nan":
        return ""
    if abs(exact) > 3e38 or (np.isnan(exact) and special):
        return BEYOND
    miss, theirs_miss = abs(ours - exact), abs(theirs - exact)
    far = 1e-4 * max(1.0, abs(exact))
    if not theirs_miss <= far and (special == "huge" or theirs_miss / 16 <= miss <= 16 * theirs_miss):
        return BEYOND
    return ""


def wrong(mine, theirs, bound):
    with np.errstate(all="ignore"):
        near = np.abs(mine.astype(np.float64) - theirs) <= bound
    return ~(near | (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)))


def length_0_explains(case, ours, theirs, bounds):
    empty = case.feeds["lengths"] == 0
    states = [a for n, a in case.feeds.items() if n in ("h0", "c0")]
    for name, array in theirs.items():
        mine = ours[name]
        bad = wrong(mine, array, bounds[name])
        if not bad.any():
            continue
        if array.ndim != 3 or bad[:, ~empty].any() or array[:, empty].any():
            return False
        if not any(s.shape == array.shape and np.array_equal(mine[:, empty], s[:, empty], equal_nan=True) for s in states):
            return False
    return True


def layer(op, x, extra=(), **attributes):
    """What onnxruntime gives for one cell that adds nothing of its own."""
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    feeds = {"X": np.array(x, np.float32).reshape(-1, 1, 1), **dict(extra)}
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32}
    weights = {"W": np.full((1, gates, 1), 0.7, np.float32), "R": np.zeros((1, gates, 1), np.float32)}
    names = ["X", "W", "R"] + (["", "lengths", "h0"] if extra else [])
    node = helper.make_node(op, names, ["Y", "Y_h"], hidden_size=1, **attributes)
    graph = helper.make_graph([node], "probe", [helper.make_tensor_value_info(n, kinds[a.dtype], a.shape) for n, a in feeds.items()],
                              [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in ("Y", "Y_h")],
                              [numpy_helper.from_array(a, n) for n, a in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return [a.reshape(-1) for a in reference.session(model).run(None, feeds)]


def probe_length_0():
    extra = [("lengths", np.array([0], np.int32)), ("h0", np.full((1, 1, 1), 0.5, np.float32))]
    return layer("GRU", [1.0, 2.0], extra)[1][0] == 0


def probe_nan_lost():
    return not np.isnan(layer("RNN", [np.nan], activations=["Relu"])[0]).any() and np.isfinite(
        layer("GRU", [-np.inf], activations=["Sigmoid", "Affine"], activation_alpha=[1.0], activation_beta=[0.0])[0]).all()


def probe_limits():
    return np.isnan(layer("RNN", [np.inf], activations=["Softsign"])[0]).all()


def probe_softplus():
    return np.isinf(layer("RNN", [200.0], activations=["Softplus"])[0]).all()


def probe_zero_defaults():
    return all(np.array_equal(layer("RNN", [2.0], activations=[name])[0], [value])
               for name, value in (("Affine", 0), ("ScaledTanh", 0), ("ThresholdedRelu", np.float32(1.4))))


def probe_batch_major():
    try:
        layer("LSTM", [1.0], layout=1)
    except Exception:  # pylint: disable=broad-except
        return True
    return False


PROBES = {LENGTH_0: probe_length_0, NAN_LOST: probe_nan_lost, LIMITS: probe_limits, ZERO_DEFAULTS: probe_zero_defaults,
          BATCH_MAJOR: probe_batch_major, SOFTPLUS: probe_softplus}


def check():
    """Says of each known difference whether it is still there; the number of those that are not."""
    gone = 0
    for name, probe in PROBES.items():
        there = bool(probe())
        gone += not there
        print(f"{'still so' if there else 'NO LONGER SO'}: {name}: {REASONS[name]}")
    return gone
