# SPDX-License-Identifier: Apache-2.0
"""Models for the tests: the project's detector, and small ones made here."""
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import rnnpack

ROOT = pathlib.Path(__file__).resolve().parents[3]
VAD = ROOT / "models" / "vad_gru" / "model.onnx"


def random(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def layer(kind="GRU", inputs=5, hidden=6, batch_first=False, direction="forward", state=False, dense=None, seed=1,
          lengths=False):
    """One recurrent layer as exporters write it: x -> y, and with `state` h0 -> hn, with `lengths` an input of that name; `dense`: so
    many units behind it, for every step."""
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[kind]
    directions = 2 if direction == "bidirectional" else 1
    rng = np.random.default_rng(seed)
    constants = {"W": (directions, gates * hidden, inputs), "R": (directions, gates * hidden, hidden), "B": (directions, 2 * gates * hidden)}
    initializers = [numpy_helper.from_array((rng.standard_normal(shape) / 2).astype(np.float32), name) for name, shape in constants.items()]
    axes = ["batch", "time"] if batch_first else ["time", "batch"]
    nodes, x = [], "x"
    if batch_first:
        nodes.append(helper.make_node("Transpose", ["x"], ["xt"], perm=[1, 0, 2]))
        x = "xt"
    attributes = {"linear_before_reset": 1} if kind == "GRU" else {}
    nodes.append(helper.make_node(kind, [x, "W", "R", "B", "lengths" if lengths else "", "h0" if state else ""], ["y4", "hn"], name="layer", hidden_size=hidden,
                                  direction=direction, **attributes))
    width = directions * hidden
    nodes.append(helper.make_node("Transpose", ["y4"], ["y3"], perm=[2, 0, 1, 3] if batch_first else [0, 2, 1, 3]))
    initializers.append(numpy_helper.from_array(np.array([0, 0, width], np.int64), "flat"))
    last = "y" if dense is None else "wide"
    nodes.append(helper.make_node("Reshape", ["y3", "flat"], [last]))
    if dense is not None:
        initializers.append(numpy_helper.from_array((rng.standard_normal((width, dense)) / 2).astype(np.float32), "D"))
        nodes.append(helper.make_node("MatMul", ["wide", "D"], ["y"], name="dense"))
        width = dense
    ins = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [*axes, inputs])]
    outs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*axes, width])]
    if state:
        ins.append(helper.make_tensor_value_info("h0", TensorProto.FLOAT, [directions, "batch", hidden]))
        outs.append(helper.make_tensor_value_info("hn", TensorProto.FLOAT, [directions, "batch", hidden]))
    if lengths:
        ins.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]))
    graph = helper.make_graph(nodes, "net", ins, outs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def looked_up(table):
    """x, indices of steps and batch -> y, their rows of the table."""
    graph = helper.make_graph([helper.make_node("Gather", ["E", "x"], ["y"])], "net",
                              [helper.make_tensor_value_info("x", TensorProto.INT32, ["time", "batch"])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["time", "batch", table.shape[1]])],
                              [numpy_helper.from_array(table, "E")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def expected(model, **inputs):
    """By onnx's own evaluator: what another implementation gives."""
    from onnx.reference import ReferenceEvaluator
    try:
        return ReferenceEvaluator(model).run(None, inputs)
    except NotImplementedError as error:
        pytest.skip(f"onnx {onnx.__version__}: {error}")


@pytest.fixture(scope="session")
def vad():
    return rnnpack.compile(VAD)


@pytest.fixture(scope="session")
def gru():
    return rnnpack.compile(layer())


@pytest.fixture(scope="session")
def wide():
    """Big enough to gain from threads."""
    return rnnpack.compile(layer("LSTM", inputs=256, hidden=512))


@pytest.fixture(params=["native", "plain"])
def either_calls(request, monkeypatch):
    """Calls by the C module and by ctypes: both are there, whichever this interpreter takes."""
    from rnnpack import _calls
    if request.param == "plain":
        monkeypatch.setattr(_calls, "NativeCalls", None)
    elif _calls.NativeCalls is None:
        pytest.skip("no native calls in this interpreter")
    return request.param
