"""known.py -- where onnxruntime is known to differ from ONNX's text or from us, each as narrow as can be said, with a probe that asks
onnxruntime whether it still does (fuzz.py --known). SPDX-License-Identifier: Apache-2.0"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import reference

LENGTH_0 = "final states of rows of length 0"
NAN_LOST = "NaN lost, infinities bounded"
ZERO_DEFAULTS = "defaults of Affine, ScaledTanh and ThresholdedRelu in layers"
BATCH_MAJOR = "layout 1"

REASONS = {
    LENGTH_0: "Y_h and Y_c of a row without steps are 0; ours, as with every other row, the state after its last step: the initial one",
    NAN_LOST: "activations and the gates of layers bound their arguments, which drops NaN and turns infinities into the largest number; "
              "ours keep both, as the f64 evaluation does",
    ZERO_DEFAULTS: "alpha and beta left out are 0; ours are those of docs/OPERATORS.md (ThresholdedRelu's is that of the operator). The "
                   "reference gets them written out",
    BATCH_MAJOR: "its CPU kernels refuse it; the reference gets transposes instead",
}

# Operators seen to lose NaN.
LOSERS = {"LSTM", "GRU", "RNN", "Sigmoid", "Tanh", "Erf", "Gelu", "Softmax", "LogSoftmax", "Clip", "Relu", "Max", "Min", "MaxPool",
          "GlobalMaxPool", "ReduceMax", "ReduceMin", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Celu", "Selu", "Mish", "Softplus",
          "Sign", "ThresholdedRelu", "PRelu", "ReduceLogSumExp"}


def excuse(case, ours, theirs, bounds, evaluate):
    """The name of the known difference that explains every wrong element, or "". `evaluate` gives the f64 evaluation's outputs."""
    if "length 0" in case.notes and length_0_explains(case, ours, theirs, bounds):
        return LENGTH_0
    if case.special and any(node.op_type in LOSERS for node in case.model.graph.node) and like_f64(ours, theirs, bounds, evaluate()):
        return NAN_LOST
    return ""


def wrong(mine, theirs, bound):
    with np.errstate(all="ignore"):
        near = np.abs(mine.astype(np.float64) - theirs) <= bound
    return ~(near | (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)))


def length_0_explains(case, ours, theirs, bounds):
    empty = case.feeds["lengths"] == 0
    states = [a for n, a in case.feeds.items() if n in ("h0", "c0")]
    for name, array in theirs.items():
        mine = ours[name].reshape(array.shape)
        bad = wrong(mine, array, bounds[name])
        if not bad.any():
            continue
        if array.ndim != 3 or bad[:, ~empty].any() or array[:, empty].any():
            return False
        if not any(s.shape == array.shape and np.array_equal(mine[:, empty], s[:, empty], equal_nan=True) for s in states):
            return False
    return True


def like_f64(ours, theirs, bounds, evaluated):
    """Ours is what the f64 evaluation gives, and where onnxruntime differs something is not finite or came of such."""
    for name, array in theirs.items():
        if name not in evaluated:
            return False
        exact = evaluated[name].reshape(array.shape)
        mine = ours[name].reshape(array.shape)
        bad = wrong(mine, array, bounds[name])
        with np.errstate(all="ignore"):
            rounded = exact.astype(np.float32).astype(np.float64)
        if wrong(mine[bad], rounded[bad], 1e-4 * np.maximum(1.0, np.abs(rounded[bad]))).any():
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


def probe_zero_defaults():
    return all(np.array_equal(layer("RNN", [2.0], activations=[name])[0], [value])
               for name, value in (("Affine", 0), ("ScaledTanh", 0), ("ThresholdedRelu", np.float32(1.4))))


def probe_batch_major():
    try:
        layer("LSTM", [1.0], layout=1)
    except Exception:  # pylint: disable=broad-except
        return True
    return False


PROBES = {LENGTH_0: probe_length_0, NAN_LOST: probe_nan_lost, ZERO_DEFAULTS: probe_zero_defaults, BATCH_MAJOR: probe_batch_major}


def check():
    """Says of each known difference whether it is still there; the number of those that are not."""
    gone = 0
    for name, probe in PROBES.items():
        there = bool(probe())
        gone += not there
        print(f"{'still so' if there else 'NO LONGER SO'}: {name}: {REASONS[name]}")
    return gone
