"""reference.py -- what onnxruntime makes of a model. Forms that its CPU kernels have not are written in others that mean the same:
a batch-major recurrent node between transposes, hidden_size where it is left out, and opset 22 as 21, which only adds types.
SPDX-License-Identifier: Apache-2.0"""
import copy

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

NAMES = {"LSTM": 3, "GRU": 2, "RNN": 2}


def attribute(node, name):
    return next((a for a in node.attribute if a.name == name), None)


def without(node, name):
    found = attribute(node, name)
    if found is not None:
        node.attribute.remove(found)


# Documented defaults of what onnxruntime takes for 0 where it is left out: see known.py.
ALPHA = {"leakyrelu": 0.01, "thresholdedrelu": 1.0, "elu": 1.0, "affine": 1.0, "scaledtanh": 1.0, "hardsigmoid": 0.2}
BETA = {"affine": 0.0, "scaledtanh": 1.0, "hardsigmoid": 0.5}
ZERO = {"thresholdedrelu", "affine", "scaledtanh"}
SPELLED = {n.lower(): n for n in ("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus", "LeakyRelu", "ThresholdedRelu", "Elu", "Affine",
                                  "ScaledTanh", "HardSigmoid")}


def fill_activations(node):
    """Names as the RNN kernel wants them; all values where a default is not onnxruntime's."""
    found = attribute(node, "activations")
    if found is None:
        return
    names = [s.decode().lower() for s in found.strings]
    del found.strings[:]
    found.strings.extend(SPELLED[n].encode() for n in names)
    if attribute(node, "activation_alpha") is None and ZERO & set(names):
        node.attribute.append(helper.make_attribute("activation_alpha", [ALPHA[n] for n in names if n in ALPHA]))
        if attribute(node, "activation_beta") is None and set(BETA) & set(names):
            node.attribute.append(helper.make_attribute("activation_beta", [BETA[n] for n in names if n in BETA]))


def adapted(model):
    model = copy.deepcopy(model)
    graph, nodes = model.graph, []
    shapes = {t.name: t.dims for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and attribute(node, "value") is not None:
            shapes[node.output[0]] = attribute(node, "value").t.dims
    for count, node in enumerate(graph.node):
        if node.op_type not in NAMES:
            nodes.append(node)
            continue
        if attribute(node, "hidden_size") is None:
            node.attribute.append(helper.make_attribute("hidden_size", shapes[node.input[2]][2]))
        fill_activations(node)
        layout = attribute(node, "layout")
        major = layout is not None and layout.i == 1
        without(node, "layout")
        if not major:
            nodes.append(node)
            continue
        for i, name in enumerate(node.input):
            if name and i in (0, 5, 6):
                transposed = f"{name}_in{count}_{i}"
                nodes.append(helper.make_node("Transpose", [name], [transposed], perm=[1, 0, 2]))
                node.input[i] = transposed
        nodes.append(node)
        for i, name in enumerate(node.output):
            if name:
                transposed = f"{name}_out{count}"
                node.output[i] = transposed
                nodes.append(helper.make_node("Transpose", [transposed], [name], perm=[2, 0, 1, 3] if i == 0 else [1, 0, 2]))
    del graph.node[:]
    graph.node.extend(nodes)
    if model.opset_import[0].version == 22:
        model.opset_import[0].version = 21
    return model


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


class Last:
    """A model that runs at several sizes is read once."""
    model = ready = None

    @classmethod
    def session(cls, model):
        if model is not cls.model:
            cls.model, cls.ready = model, session(adapted(model))
        return cls.ready


def run(case, model=None, feeds=None):
    """Outputs by name; of a model of one step: step after step, its states carried, outputs joined in front."""
    ready = session(adapted(model)) if model else Last.session(case.model)
    feeds = case.feeds if feeds is None else feeds
    names = [o.name for o in ready.get_outputs()]
    if not case.implied:
        return dict(zip(names, ready.run(names, feeds)))
    state = {}
    for info in case.model.graph.input:
        if info.name in dict(case.states):
            shape = [d.dim_value or case.batch for d in info.type.tensor_type.shape.dim]
            state[info.name] = np.zeros(shape, np.float32)
    joined = {name: [] for name in names}
    for step in range(case.steps):
        now = {**{n: a[step] for n, a in feeds.items()}, **state}
        for name, array in zip(names, ready.run(names, now)):
            joined[name].append(array)
        state = {i: joined[o][-1] for i, o in case.states}
    return {n: np.stack(a) if case.steps > 1 else a[0] for n, a in joined.items()}


def shaken(case, rng):
    """Model and feeds with every float a few rounding errors away: how much the results move is how well they are determined."""
    def shake(a):
        with np.errstate(all="ignore"):
            return (a * (1 + rng.integers(-4, 5, a.shape) * np.float32(2.0 ** -24))).astype(np.float32)

    model = copy.deepcopy(case.model)
    for tensor in model.graph.initializer:
        if tensor.data_type == 1:
            tensor.CopyFrom(numpy_helper.from_array(shake(numpy_helper.to_array(tensor)), tensor.name))
    return model, {n: shake(a) if a.dtype == np.float32 else a for n, a in case.feeds.items()}
