# SPDX-License-Identifier: Apache-2.0
"""Models inside models, layers that are called more than once and directions of different layers in Keras' files, against plain numpy in
f64. tests/exporters/random_keras.py runs random ones beside Keras."""
import io
import json
import zipfile

import numpy as np
import pytest

import rnnpack

h5py = pytest.importorskip("h5py")
from keras_files import (GRU, HIDDEN, INPUTS, LSTM, RECURRENT, STEPS, X, close, functional, gru, layer, lstm, refusals_of_changes, sequential,  # noqa: E402
                         tensor, weights, write_h5, write_keras)

WIDE = weights(INPUTS, INPUTS, seed=3)
NORM = {"gamma": weights(INPUTS, seed=4), "beta": weights(INPUTS, seed=5), "mean": weights(INPUTS, seed=6), "variance": np.abs(weights(INPUTS, seed=7)) + 0.5}
EPSILON = 1e-3


def run(tmp_path, config, stored, x=X, version="3.15.1"):
    write_keras(tmp_path / "m.keras", config, stored, version)
    return rnnpack.from_keras(tmp_path / "m.keras").session(batch=2).run(x)


def run_h5(tmp_path, config, stored, version="3.15.1"):
    write_h5(tmp_path / "m.h5", config, stored, version)
    return rnnpack.from_keras(tmp_path / "m.h5").session(batch=2).run(X)


def call(name, at=0, index=0):
    one = tensor(name, index)
    one["config"]["keras_history"][1] = at
    return one


def calls(made, *given):
    """A layer, with what it is given each time."""
    made["inbound_nodes"] = [{"args": [one], "kwargs": {"mask": None}} for one in given]
    return made


def dense(name="wide", inputs=(), units=INPUTS):
    return layer("Dense", name, inputs, units=units, activation="linear", use_bias=False)


def norm(name="norm", inputs=()):
    return layer("BatchNormalization", name, inputs, axis=-1, epsilon=EPSILON, center=True, scale=True)


def normed(x):
    return (x - NORM["mean"]) / np.sqrt(NORM["variance"].astype(float) + EPSILON) * NORM["gamma"] + NORM["beta"]


def inner(*layers, name="part"):
    """A Sequential as a layer of another model."""
    return {"class_name": "Sequential", "name": name, "inbound_nodes": [],
            "config": {"name": name, "layers": [layer("InputLayer", "given", batch_shape=[None, None, INPUTS], dtype="float32"), *layers]}}


PART = inner(norm(), dense(), layer("LSTM", "cells", units=HIDDEN, **RECURRENT))
EXPECTED = lstm(normed(X.astype(float)) @ WIDE.astype(float), *LSTM)


def test_a_model_is_a_layer_of_another(tmp_path):
    stored = {"sequential/layers/batch_normalization": list(NORM.values()), "sequential/layers/dense": [WIDE], "sequential/layers/lstm/cell": LSTM}
    close(run(tmp_path, sequential(PART), stored), EXPECTED)
    close(run(tmp_path, functional([calls({**PART}, tensor("x"))], "part"), stored), EXPECTED)


def test_a_model_two_deep(tmp_path):
    stored = {"sequential/layers/sequential/layers/batch_normalization": list(NORM.values()), "sequential/layers/sequential/layers/dense": [WIDE],
              "sequential/layers/lstm/cell": LSTM}
    deep = inner(inner(norm(), dense(), name="front"), layer("LSTM", "cells", units=HIDDEN, **RECURRENT))
    close(run(tmp_path, sequential(deep), stored), EXPECTED)


@pytest.mark.parametrize("prefix, suffix, version", [("part/", "", "3.15.1"), ("", ":0", "2.15.0")])
def test_weights_of_a_model_inside_in_h5_files(tmp_path, prefix, suffix, version):
    """The trained ones of all its layers come first."""
    kernel, recurrent, bias = LSTM
    arrays = {"norm/gamma": NORM["gamma"], "norm/beta": NORM["beta"], "wide/kernel": WIDE, "cells/lstm_cell/kernel": kernel,
              "cells/lstm_cell/recurrent_kernel": recurrent, "cells/lstm_cell/bias": bias, "norm/moving_mean": NORM["mean"], "norm/moving_variance": NORM["variance"]}
    stored = {"part": {f"{prefix}{name}{suffix}": array for name, array in arrays.items()}}
    close(run_h5(tmp_path, sequential(PART), stored, version), EXPECTED)


def test_weights_that_may_be_of_two_models_are_refused(tmp_path):
    twice = inner(inner(dense(), name="front"), inner(dense(), name="back"))
    stored = {"part": {"wide/kernel:0": WIDE, "wide_1/kernel:0": WIDE}}
    with pytest.raises(rnnpack.ModelError, match="the weight 'wide/kernel:0' belongs to is not clear; save the model as .keras"):
        run_h5(tmp_path, sequential(twice), stored, "2.15.0")


def test_a_layer_that_is_called_twice(tmp_path):
    layers = [calls(dense(), tensor("x"), call("wide", 0)), layer("LSTM", "cells", units=HIDDEN, **RECURRENT)]
    layers[1]["inbound_nodes"] = [{"args": [call("wide", 1)], "kwargs": {}}]
    expected = lstm(X @ WIDE.astype(float) @ WIDE.astype(float), *LSTM)
    close(run(tmp_path, functional(layers, "cells"), {"dense": [WIDE], "lstm/cell": LSTM}), expected)


def test_calls_that_come_before_what_they_read(tmp_path):
    """A layer's second call reads what a later layer gives."""
    other = weights(INPUTS, INPUTS, seed=8)
    layers = [calls(dense(), tensor("x"), call("other")), dense("other"), layer("LSTM", "cells", units=HIDDEN, **RECURRENT)]
    layers[1]["inbound_nodes"] = [{"args": [call("wide", 0)], "kwargs": {}}]
    layers[2]["inbound_nodes"] = [{"args": [call("wide", 1)], "kwargs": {}}]
    expected = lstm(X @ WIDE.astype(float) @ other.astype(float) @ WIDE.astype(float), *LSTM)
    close(run(tmp_path, functional(layers, "cells"), {"dense": [WIDE], "dense_1": [other], "lstm/cell": LSTM}), expected)


def model_called_twice():
    both = functional([dense(), norm("norm", ["wide"])], "wide", "norm", given=layer("InputLayer", "given", batch_shape=[None, None, INPUTS], dtype="float32"),
                      inputs=(("given", 0, 0),))
    both["config"]["layers"][1]["inbound_nodes"] = [{"args": [tensor("given")], "kwargs": {}}]
    both = calls({**both, "name": "both", "config": {**both["config"], "name": "both"}}, tensor("x"), call("both", 0, 1))
    config = functional([both], "both")
    config["config"]["output_layers"] = [["both", 2, 1]]
    return config, {"functional/layers/dense": [WIDE], "functional/layers/batch_normalization": list(NORM.values())}


def test_a_model_that_is_called_twice(tmp_path):
    """Keras counts its calls from 1 where the outputs of the model around it are named."""
    config, stored = model_called_twice()
    once = normed(X @ WIDE.astype(float))
    close(run(tmp_path, config, stored), normed(once @ WIDE.astype(float)))
    with pytest.raises(rnnpack.ModelError, match="called more than once is accepted in files of Keras 3"):
        run(tmp_path, config, stored, version=None)


def test_a_model_at_every_step(tmp_path):
    around = layer("TimeDistributed", "steps", ["x"], layer=inner(norm(), dense()))
    given = layer("InputLayer", "x", batch_shape=[None, STEPS, INPUTS], dtype="float32")
    stored = {"time_distributed/layer/layers/batch_normalization": list(NORM.values()), "time_distributed/layer/layers/dense": [WIDE]}
    close(run(tmp_path, functional([around], "steps", given=given), stored), normed(X.astype(float)) @ WIDE.astype(float))


def test_a_mask_before_a_model_at_every_step(tmp_path):
    """It is passed on, where no layer of the model looks at it."""
    x = X.copy()
    x[:, 4:] = 0
    given = layer("InputLayer", "x", batch_shape=[None, STEPS, INPUTS], dtype="float32")
    around = layer("TimeDistributed", "steps", ["masked"], layer=inner(norm(), dense()))
    cells = layer("LSTM", "cells", ["steps"], units=HIDDEN, **{**RECURRENT, "return_sequences": False})
    config = functional([layer("Masking", "masked", ["x"], mask_value=0.0), around, cells], "cells", given=given)
    stored = {"time_distributed/layer/layers/batch_normalization": list(NORM.values()), "time_distributed/layer/layers/dense": [WIDE], "lstm/cell": LSTM}
    close(run(tmp_path, config, stored, x), lstm(normed(x[:, :4].astype(float)) @ WIDE.astype(float), *LSTM)[:, -1])
    around["config"]["layer"]["config"]["layers"].append(layer("Softmax", "s", axis=-1))
    with pytest.raises(rnnpack.ModelError, match="supported where no layer of its model looks at one"):
        run(tmp_path, config, stored, x)


def test_directions_of_different_layers(tmp_path):
    forward, backward = layer("LSTM", "f", units=HIDDEN, **RECURRENT), layer("GRU", "b", units=HIDDEN, go_backwards=True, reset_after=True, **RECURRENT)
    both = layer("Bidirectional", "both", ["x"], layer=forward, backward_layer=backward, merge_mode="concat")
    stored = {"bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": GRU}
    expected = np.concatenate([lstm(X, *LSTM), gru(X[:, ::-1], *GRU)[:, ::-1]], -1)
    close(run(tmp_path, functional([both], "both"), stored), expected)
    both["config"]["merge_mode"] = "sum"
    close(run(tmp_path, functional([both], "both"), stored), expected[..., :HIDDEN] + expected[..., HIDDEN:])
    for one in (forward, backward):
        one["config"]["return_sequences"] = False
    close(run(tmp_path, functional([both], "both"), stored), expected[:, -1, :HIDDEN] + expected[:, 0, HIDDEN:])
    backward["config"]["return_sequences"] = True
    with pytest.raises(rnnpack.ModelError, match="its two directions give different outputs"):
        run(tmp_path, functional([both], "both"), stored)


@pytest.mark.parametrize("change, words", [
    (lambda both: both["inbound_nodes"].clear(), "layer 'both' is never called"),
    (lambda both: both["inbound_nodes"][0]["args"].append(tensor("x")), "a model with 1 inputs is called with 2"),
    (lambda both: both["inbound_nodes"][0]["args"].append(1.0), r"layer 'both' \(Functional\): it is called with more than tensors"),
    (lambda both: both["inbound_nodes"][0]["kwargs"].update(training=True), "it is called with more than tensors"),
    (lambda both: both["inbound_nodes"][0].update(args=[call("both", 1)]), "layer 'both' has no output 0, or none before it is used"),
])
def test_calls_of_models_that_are_refused(tmp_path, change, words):
    config, stored = model_called_twice()
    change(config["config"]["layers"][1])
    with pytest.raises(rnnpack.ModelError, match=words):
        run(tmp_path, config, stored)


def test_models_that_call_one_another_without_end(tmp_path):
    """2 to the power of 24 calls."""
    given = layer("InputLayer", "given", batch_shape=[None, None, INPUTS], dtype="float32")
    model = functional([layer("Activation", "last", ["given"], activation="relu")], "last", given=given, inputs=(("given", 0, 0),))
    for depth in range(24):
        inside = calls({**model, "name": "last", "config": {**model["config"], "name": "last"}}, tensor("given"), call("last", 0))
        model = functional([inside], "last", given=given, inputs=(("given", 0, 0),))
        model["config"]["output_layers"] = [["last", 2, 0]]
    with pytest.raises(rnnpack.ModelError, match="the model calls more than 10000 layers"):
        run(tmp_path, model, {})


def test_descriptions_that_keras_does_not_write(tmp_path):
    """One part of the description changed at a time: a message, or a model, never another exception."""
    config, stored = model_called_twice()
    write_keras(tmp_path / "m.keras", config, stored, "3.15.1")
    assert refusals_of_changes(tmp_path / "m.keras") > 300


@pytest.mark.parametrize("place", ["layers", "layers/dense", "layers/dense/vars", "layers/time_distributed/layer", "layers/sequential/layers"])
def test_numbers_where_keras_has_a_folder(tmp_path, place):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file[place] = WIDE
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as archive:
        archive.writestr("config.json", json.dumps(sequential(dense())))
        archive.writestr("model.weights.h5", buffer.getvalue())
    with pytest.raises(rnnpack.ModelError):
        rnnpack.from_keras(tmp_path / "m.keras")
