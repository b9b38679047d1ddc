# SPDX-License-Identifier: Apache-2.0
"""Files of Keras, written as Keras 3 writes them: Keras itself is not needed. And what is in them, computed by numpy in f64."""
import io
import json
import zipfile

import h5py
import numpy as np

import rnnpack
from rnnpack._keras import content_to_onnx, read_keras

STEPS, INPUTS, HIDDEN = 7, 3, 4


def weights(*shape, seed=0):
    return (np.random.default_rng(seed + sum(shape)).standard_normal(shape) * 0.5).astype(np.float32)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def lstm(x, kernel, recurrent, bias):
    """Keras' order i f c o."""
    h, c, out = np.zeros((len(x), HIDDEN)), np.zeros((len(x), HIDDEN)), []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel.astype(float) + h @ recurrent.astype(float) + bias, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out, 1)


def gru(x, kernel, recurrent, bias):
    """Keras' order z r h, the reset gate behind the product."""
    h, out = np.zeros((len(x), HIDDEN)), []
    for t in range(x.shape[1]):
        xz, xr, xh = np.split(x[:, t] @ kernel.astype(float) + bias[0], 3, axis=1)
        hz, hr, hh = np.split(h @ recurrent.astype(float) + bias[1], 3, axis=1)
        z = sigmoid(xz + hz)
        h = z * h + (1 - z) * np.tanh(xh + sigmoid(xr + hr) * hh)
        out.append(h)
    return np.stack(out, 1)


LSTM = [weights(INPUTS, 4 * HIDDEN), weights(HIDDEN, 4 * HIDDEN), weights(4 * HIDDEN)]
GRU = [weights(INPUTS, 3 * HIDDEN), weights(HIDDEN, 3 * HIDDEN), weights(2, 3 * HIDDEN)]
DENSE = [weights(HIDDEN, 2), weights(2)]
X = weights(2, STEPS, INPUTS, seed=9)


def tensor(name, index=0):
    return {"class_name": "__keras_tensor__", "config": {"keras_history": [name, 0, index]}}


def function(kind, name, args, **settings):
    """Of Keras' operations, as y + 1: what is no layer has neither "trainable" nor "dtype"."""
    return {"class_name": kind, "config": {"name": name, **settings}, "name": name, "inbound_nodes": [{"args": args, "kwargs": {}}]}


def layer(kind, name, inputs=(), call=None, **settings):
    tensors = [tensor(one) for one in inputs]
    config = function(kind, name, [tensors if len(inputs) > 1 else tensors[0]] if inputs else [], trainable=True, **settings)
    config["inbound_nodes"] = [{**config["inbound_nodes"][0], "kwargs": call or {}}] if inputs else []
    return config


INPUT = layer("InputLayer", "x", batch_shape=[None, None, INPUTS], dtype="float32")
RECURRENT = {"activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True, "return_sequences": True}


def sequential(*layers, given=INPUT):
    return {"class_name": "Sequential", "config": {"name": "m", "layers": [given, *layers]}}


def functional(layers, *outputs, given=INPUT, inputs=(("x", 0, 0),)):
    return {"class_name": "Functional", "config": {"layers": [given, *layers], "input_layers": inputs, "output_layers": [[one, 0, 0] for one in outputs]}}


def write_keras(path, config, stored, version=None):
    """`stored`: {"lstm/cell": [arrays]}, as Keras 3 names them: by class, not by the layer's name."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for place, arrays in stored.items():
            for at, array in enumerate(arrays):
                file[f"layers/{place}/vars/{at}"] = array
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        if version is not None:
            archive.writestr("metadata.json", json.dumps({"keras_version": version}))
        archive.writestr("model.weights.h5", buffer.getvalue())


def write_h5(path, config, stored, version=None):
    """`stored`: {"lstm": [arrays]}, or {"model": {"lstm/kernel": array}} where the names say something."""
    with h5py.File(path, "w") as file:
        if version is not None:
            file.attrs["keras_version"] = version
        file.attrs["model_config"] = json.dumps(config)
        for name, arrays in stored.items():
            group = file.create_group(f"model_weights/{name}")
            named = arrays if isinstance(arrays, dict) else {f"{name}/w{at}": array for at, array in enumerate(arrays)}
            group.attrs["weight_names"] = list(named)
            for title, array in named.items():
                group[title] = array


def close(got, expected):
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() < 1e-5


def _changed(node):
    """One part of a description at a time, to what Keras does not write there."""
    if not isinstance(node, (dict, list)):
        return
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        for other in (None, 0, -1, 3.5, "x", [], {}, [[]], {"config": []}, 1 << 70):
            node[key] = other
            yield
        node[key] = value
        yield from _changed(value)


def refusals_of_changes(path):
    """How many changes of the file's description are refused; the others are read: there is no other exception."""
    content = read_keras(str(path))
    assert content_to_onnx("m.keras", content)
    read = refused = 0
    for _ in _changed(content[0]):
        try:
            content_to_onnx("m.keras", content)
            read += 1
        except rnnpack.ModelError:
            refused += 1
    assert read > 0
    return refused
