# SPDX-License-Identifier: Apache-2.0
"""Models of Keras, safetensors and model files of other kinds, against plain numpy in f64."""
import json
import os
import pathlib
import struct

import numpy as np
import pytest

import rnnpack

pytest.importorskip("h5py")
from keras_files import (DENSE, GRU, HIDDEN, INPUTS, LSTM, RECURRENT, STEPS, X, close, functional, gru, layer, lstm, sequential,  # noqa: E402
                         weights, write_h5, write_keras)


def test_sequential_models_of_both_files(tmp_path):
    config = sequential(layer("LSTM", "first", units=HIDDEN, **RECURRENT), layer("Dense", "head", units=2, activation="tanh", use_bias=True))
    write_keras(tmp_path / "m.keras", config, {"lstm/cell": LSTM, "dense": DENSE})
    write_h5(tmp_path / "m.h5", config, {"first": LSTM, "head": DENSE})
    expected = np.tanh(lstm(X, *LSTM) @ DENSE[0] + DENSE[1])
    for name in ("m.keras", "m.h5"):
        close(rnnpack.from_keras(tmp_path / name).session(batch=2).run(X), expected)
        close(rnnpack.compile(tmp_path / name).session(batch=2).run(X), expected)


def test_functional_models(tmp_path):
    layers = [layer("LSTM", "a", ["x"], units=HIDDEN, **RECURRENT), layer("GRU", "b", ["x"], units=HIDDEN, reset_after=True, **RECURRENT),
              layer("Concatenate", "joined", ["a", "b"], axis=-1), layer("Dense", "c", ["joined"], units=2, activation="linear", use_bias=True)]
    config = functional(layers, "c")
    dense = [weights(2 * HIDDEN, 2), weights(2)]
    write_keras(tmp_path / "m.keras", config, {"lstm/cell": LSTM, "gru/cell": GRU, "dense": dense})
    expected = np.concatenate([lstm(X, *LSTM), gru(X, *GRU)], 2) @ dense[0] + dense[1]
    close(rnnpack.from_keras(tmp_path / "m.keras").session(batch=2).run(X), expected)


def test_names_of_a_second_model(tmp_path):
    """Keras counts on from model to model: lstm_1 is the first layer here. Each gets its own weights."""
    config = sequential(*(layer("LSTM", f"lstm_{at}", units=HIDDEN, **RECURRENT) for at in (1, 2)))
    second = [weights(HIDDEN, 4 * HIDDEN), *LSTM[1:]]
    write_h5(tmp_path / "m.h5", config, {"lstm_1": LSTM, "lstm_2": second})
    write_keras(tmp_path / "m.keras", config, {"lstm/cell": LSTM, "lstm_1/cell": second})
    for name in ("m.keras", "m.h5"):
        close(rnnpack.from_keras(tmp_path / name).session(batch=2).run(X), lstm(lstm(X, *LSTM), *second))


def test_cells_of_two_kinds(tmp_path):
    cells = [layer("LSTMCell", "a", units=HIDDEN, **RECURRENT), layer("GRUCell", "b", units=HIDDEN, reset_after=True, **RECURRENT)]
    config = sequential(layer("RNN", "r", return_sequences=True, cell={"class_name": "StackedRNNCells", "config": {"cells": cells}}))
    second = [weights(HIDDEN, 3 * HIDDEN), *GRU[1:]]
    write_keras(tmp_path / "m.keras", config, {"rnn/cell/cells/lstm_cell": LSTM, "rnn/cell/cells/gru_cell": second})
    close(rnnpack.from_keras(tmp_path / "m.keras").session(batch=2).run(X), gru(lstm(X, *LSTM), *second))


def test_inputs_in_the_models_order(tmp_path):
    other = layer("InputLayer", "z", batch_shape=[None, None, INPUTS], dtype="float32")
    config = functional([other, layer("Add", "sum", ["x", "z"])], "sum", inputs=[["z", 0, 0], ["x", 0, 0]])
    write_keras(tmp_path / "m.keras", config, {})
    assert [one.name for one in rnnpack.from_keras(tmp_path / "m.keras").inputs] == ["z", "x"]


def test_both_directions_and_the_reverse(tmp_path):
    inner = layer("LSTM", "inner", units=HIDDEN, **RECURRENT)
    both = sequential(layer("Bidirectional", "both", layer=inner, merge_mode="concat"))
    other = [weights(*array.shape, seed=3) for array in LSTM]
    write_keras(tmp_path / "b.keras", both, {"bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": other})
    expected = np.concatenate([lstm(X, *LSTM), lstm(X[:, ::-1], *other)[:, ::-1]], 2)
    close(rnnpack.from_keras(tmp_path / "b.keras").session(batch=2).run(X), expected)
    write_h5(tmp_path / "r.h5", sequential(layer("LSTM", "back", units=HIDDEN, go_backwards=True, **RECURRENT)), {"back": LSTM})
    close(rnnpack.from_keras(tmp_path / "r.h5").session(batch=2).run(X), lstm(X[:, ::-1], *LSTM))


def test_layers_between(tmp_path):
    conv, norm = [weights(3, INPUTS, 4), weights(4)], [weights(4), weights(4), weights(4), np.array([1, 2, 3, 4], np.float32)]
    config = sequential(layer("Conv1D", "c", filters=4, kernel_size=[3], strides=[1], padding="causal", dilation_rate=[2], groups=1, activation="relu",
                              use_bias=True), layer("BatchNormalization", "n", axis=-1, epsilon=0.5, center=True, scale=True), layer("Dropout", "d"),
                        layer("LeakyReLU", "r", negative_slope=0.25), layer("LSTM", "l", units=HIDDEN, **{**RECURRENT, "return_sequences": False}))
    kernel = [weights(4, 4 * HIDDEN), *LSTM[1:]]
    write_keras(tmp_path / "m.keras", config, {"conv1_d": conv, "conv1d": conv, "batch_normalization": norm, "lstm/cell": kernel})
    padded = np.concatenate([np.zeros((2, 4, INPUTS)), X], 1)
    y = np.maximum(sum(padded[:, 2 * k:2 * k + STEPS] @ conv[0][k].astype(float) for k in range(3)) + conv[1], 0)
    y = norm[0] * (y - norm[2]) / np.sqrt(norm[3] + 0.5) + norm[1]
    close(rnnpack.from_keras(tmp_path / "m.keras").session(batch=2).run(X), lstm(np.where(y > 0, y, 0.25 * y), *kernel)[:, -1])


def test_hard_sigmoid_is_that_of_the_keras_that_wrote_the_file(tmp_path):
    config = sequential(layer("SimpleRNN", "r", units=HIDDEN, activation="hard_sigmoid", use_bias=True, return_sequences=True),
                        layer("GRU", "g", units=HIDDEN, reset_after=True, **{**RECURRENT, "activation": "linear", "recurrent_activation": "hard_sigmoid"}),
                        layer("Activation", "a", activation="hard_sigmoid"))
    simple = [weights(INPUTS, HIDDEN), weights(HIDDEN, HIDDEN), weights(HIDDEN)]
    second = [weights(HIDDEN, 3 * HIDDEN, seed=4), *GRU[1:]]
    for version, slope in (("3.4.1", 1 / 6), ("2.15.0", 0.2)):
        def hard(v):
            return np.clip(slope * v + 0.5, 0, 1)
        h, g, out = np.zeros((2, HIDDEN)), np.zeros((2, HIDDEN)), []
        for t in range(STEPS):
            h = hard(X[:, t] @ simple[0].astype(float) + h @ simple[1] + simple[2])
            xz, xr, xh = np.split(h @ second[0].astype(float) + second[2][0], 3, axis=1)
            hz, hr, hh = np.split(g @ second[1].astype(float) + second[2][1], 3, axis=1)
            z = hard(xz + hz)
            g = z * g + (1 - z) * (xh + hard(xr + hr) * hh)
            out.append(hard(g))
        write_keras(tmp_path / "m.keras", config, {"simple_rnn/cell": simple, "gru/cell": second}, version)
        write_h5(tmp_path / "m.h5", config, {"r": simple, "g": second}, version)
        for name in ("m.keras", "m.h5"):
            close(rnnpack.from_keras(tmp_path / name).session(batch=2).run(X), np.stack(out, 1))
    write_keras(tmp_path / "m.keras", config, {"simple_rnn/cell": simple, "gru/cell": second})
    with pytest.raises(rnnpack.ModelError, match="'r': hard_sigmoid has slope 1/6 in Keras 3 and 0.2 before"):
        rnnpack.from_keras(tmp_path / "m.keras")


def test_convolutions_of_each_channel(tmp_path):
    settings = {"kernel_size": [3], "strides": [1], "padding": "same", "dilation_rate": [1], "use_bias": True}
    kernel, mix, bias = weights(3, INPUTS, 2), weights(1, 2 * INPUTS, 4), weights(2 * INPUTS)
    config = sequential(layer("DepthwiseConv1D", "d", depth_multiplier=2, activation="relu", **settings),
                        layer("SeparableConv1D", "s", filters=4, depth_multiplier=1, **settings))
    second = [weights(3, 2 * INPUTS, 1, seed=2), mix, weights(4)]
    write_keras(tmp_path / "m.keras", config, {"depthwise_conv1d": [kernel, bias], "depthwise_conv1_d": [kernel, bias], "separable_conv1_d": second,
                                               "separable_conv1d": second})

    def each(x, kernel):  # [taps, in, multiplier]
        padded = np.pad(x, ((0, 0), (1, 1), (0, 0)))
        y = sum(padded[:, k:k + STEPS, :, None] * kernel[k].astype(float) for k in range(3))
        return y.reshape(2, STEPS, -1)
    y = each(np.maximum(each(X, kernel) + bias, 0), second[0]) @ mix[0].astype(float) + second[2]
    close(rnnpack.from_keras(tmp_path / "m.keras").session(batch=2).run(X), y)
    write_keras(tmp_path / "m.keras", config, {"depthwise_conv1d": [kernel[:, :2], bias], "depthwise_conv1_d": [kernel[:, :2], bias]})
    with pytest.raises(rnnpack.ModelError, match=r"'d': its kernel has shape \[3, 2, 2\]; expected: \[3, 3, 2\]"):
        rnnpack.from_keras(tmp_path / "m.keras")


def test_keras_files_that_are_refused(tmp_path):
    file = tmp_path / "m.keras"
    good = sequential(layer("Dense", "head", units=2, activation="tanh", use_bias=True))
    dense = [weights(INPUTS, 2), weights(2)]
    for config, stored, words in (
            (sequential(layer("ConvLSTM1D", "a")), {}, r"layer 'a' \(ConvLSTM1D\): this class is not supported; accepted: .*LSTM.*"),
            (good, {"dense": dense[:1]}, "layer 'head' .Dense.: the file has too few weights"),
            (good, {"dense": [*dense, dense[0]]}, "1 more weights than it takes"),
            (good, {"dense": [dense[0].T, dense[1]]}, r"'head': its kernel has shape \[2, 3\]; expected: \[3, 3\]"),
            (sequential(layer("Dense", "head", activation="sparsemax", use_bias=True)), {"dense": dense}, "the activation 'sparsemax' is not supported"),
            ({"class_name": "Custom", "config": {}}, {}, "a model of class 'Custom' is not supported")):
        write_keras(file, config, stored)
        with pytest.raises(rnnpack.ModelError, match=words):
            rnnpack.from_keras(file)
    whole = file.read_bytes()
    for broken in (whole[:len(whole) // 2], b"PK\3\4", b"\x89HDF\r\n\x1a\n" + b"\0" * 40):
        file.write_bytes(broken)
        with pytest.raises(rnnpack.ModelError, match="is not whole, damaged or no model of Keras"):
            rnnpack.from_keras(file)
    file.write_bytes(b"something else")
    with pytest.raises(rnnpack.FileError, match="neither a .keras nor an HDF5 file"):
        rnnpack.from_keras(file)


# The order of PyTorch's gates: i f g o, as Keras', and r z n.
TORCH = {"net.weight_ih_l0": LSTM[0].T, "net.weight_hh_l0": LSTM[1].T, "net.bias_ih_l0": LSTM[2], "net.bias_hh_l0": np.zeros(4 * HIDDEN, np.float32),
         "head.weight": DENSE[0].T, "head.bias": DENSE[1]}
DESCRIPTION = {"inputs": {"x": ["batch", "steps", INPUTS]}, "layers": [{"type": "lstm", "weights": "net"}, {"type": "linear", "weights": "head", "activation": "tanh"}]}


def write_safetensors(path, arrays, dtype="F32"):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        content = (array.view(np.uint32) >> 16).astype("<u2").tobytes() if dtype == "BF16" else array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_weights_by_name(tmp_path):
    expected = np.tanh(lstm(X, *LSTM) @ DENSE[0] + DENSE[1])
    model = rnnpack.from_weights(DESCRIPTION, TORCH, meta={"k": "v"})
    close(model.session(batch=2).run(X), expected)
    assert [t.name for t in model.outputs] == ["linear"] and model.meta == {"k": "v"} and model.info.recurrent_count == 1
    write_safetensors(tmp_path / "w.safetensors", TORCH)
    (tmp_path / "net.json").write_text(json.dumps(DESCRIPTION))
    assert bytes(rnnpack.from_weights(tmp_path / "net.json", tmp_path / "w.safetensors").blob) == bytes(rnnpack.from_weights(DESCRIPTION, TORCH).blob)
    write_safetensors(tmp_path / "w.safetensors", TORCH, "BF16")
    assert np.abs(rnnpack.from_weights(DESCRIPTION, tmp_path / "w.safetensors").session(batch=2).run(X) - expected).max() < 0.02


def test_a_torch_gru_of_two_layers_and_directions():
    order = np.concatenate([np.arange(HIDDEN, 2 * HIDDEN), np.arange(HIDDEN), np.arange(2 * HIDDEN, 3 * HIDDEN)])  # Keras' z r h as r z n
    arrays, keras = {}, {}
    for at, inputs in enumerate((INPUTS, 2 * HIDDEN)):
        for suffix in ("", "_reverse"):
            one = [weights(inputs, 3 * HIDDEN, seed=at), weights(HIDDEN, 3 * HIDDEN, seed=at + len(suffix)), weights(2, 3 * HIDDEN, seed=at)]
            keras[at, suffix] = one
            arrays.update({f"weight_ih_l{at}{suffix}": one[0].T[order], f"weight_hh_l{at}{suffix}": one[1].T[order],
                           f"bias_ih_l{at}{suffix}": one[2][0][order], f"bias_hh_l{at}{suffix}": one[2][1][order]})
    y = X
    for at in range(2):
        y = np.concatenate([gru(y, *keras[at, ""]), gru(y[:, ::-1], *keras[at, "_reverse"])[:, ::-1]], 2)
    description = {"inputs": {"x": ["batch", "steps", INPUTS]}, "layers": [{"type": "gru"}]}
    close(rnnpack.from_weights(description, arrays).session(batch=2).run(X), y)


def test_a_residual_network_by_names():
    arrays = {"conv.weight": weights(INPUTS, INPUTS, 2), "act.weight": weights(INPUTS), "norm.running_mean": weights(INPUTS), "norm.running_var": np.ones(INPUTS, np.float32)}
    description = {"inputs": {"x": ["batch", "steps", INPUTS]}, "outputs": ["sum"],
                   "layers": [{"type": "conv1d", "weights": "conv", "dilation": 3}, {"type": "batch_norm", "weights": "norm"},
                              {"type": "prelu", "weights": "act"}, {"type": "add", "name": "sum", "from": ["prelu", "x"]}]}
    padded = np.concatenate([np.zeros((2, 3, INPUTS)), X], 1)
    y = sum(padded[:, 3 * k:3 * k + STEPS] @ arrays["conv.weight"][:, :, k].T.astype(float) for k in range(2))
    y = (y - arrays["norm.running_mean"]) / np.sqrt(1 + 1e-5)
    close(rnnpack.from_weights(description, arrays).session(batch=2).run(X), np.where(y > 0, y, y * arrays["act.weight"]) + X)


@pytest.mark.skipif("RNNPACK_MODELS_IN_DIR" not in os.environ, reason="RNNPACK_MODELS_IN_DIR is not set")
def test_rtneurals_micro_tcn():
    """Its parts are files of a state_dict each; the output is PyTorch's, which leaves out the steps that lack taps."""
    folder = pathlib.Path(os.environ["RNNPACK_MODELS_IN_DIR"]) / "rtneural"
    arrays = {f"{part}.{name}": np.array(values, np.float32) for part in ("conv1", "bn", "relu", "res")
              for name, values in json.loads((folder / f"microtcn/{part}.json").read_text()).items() if isinstance(values, list)}
    description = {"inputs": {"x": ["batch", "steps", 1]}, "layers": [
        {"type": "conv1d", "weights": "conv1", "dilation": 10}, {"type": "batch_norm", "weights": "bn"}, {"type": "prelu", "weights": "relu"},
        {"type": "conv1d", "name": "res", "weights": "res", "from": "x"}, {"type": "add", "from": ["prelu", "res"]}]}
    x, y = np.loadtxt(folder / "microtcn_x.csv", dtype=np.float32), np.loadtxt(folder / "microtcn_y.csv", delimiter=",")
    close(rnnpack.from_weights(description, arrays).session().run(x.reshape(1, -1, 1))[0, 30:], y.T)


@pytest.mark.skipif("RNNPACK_MODELS_IN_DIR" not in os.environ, reason="RNNPACK_MODELS_IN_DIR is not set")
def test_rtneurals_strided_convolution():
    """The file does not tell the stride; the output of every step is there."""
    folder = pathlib.Path(os.environ["RNNPACK_MODELS_IN_DIR"]) / "rtneural"
    arrays = {name: np.array(values, np.float32) for name, values in json.loads((folder / "conv1d_torch_stride_3.json").read_text()).items()}
    description = {"inputs": {"x": ["batch", 1000, 1]}, "layers": [{"type": "conv1d", "stride": 3, "padding": "valid"}]}
    x, y = np.loadtxt(folder / "conv1d_torch_x.csv", dtype=np.float32), np.loadtxt(folder / "conv1d_torch_y.csv", delimiter=",")
    close(rnnpack.from_weights(description, arrays).session().run(x.reshape(1, -1, 1))[0], y.T[::3])


def test_weights_that_are_refused(tmp_path):
    for change, error, words in (
            ({"layers": [{"type": "lstm", "weights": "other"}]}, rnnpack.ModelError, "there is no 'other.weight_ih_l0'"),
            ({"layers": [{"type": "linear", "weights": "head"}]}, rnnpack.ModelError, r"its kernel has shape \[4, 2\]; expected: \[3, 2\]"),
            ({"layers": [{"type": "mamba"}]}, rnnpack.UsageError, "the type 'mamba' is not known; accepted: lstm, gru"),
            ({"layers": [{"type": "lstm", "weights": "net", "units": 4}]}, rnnpack.UsageError, "unknown members units; accepted"),
            ({"layers": [{"type": "lstm", "weights": "net", "stride": 2}]}, rnnpack.UsageError, "unknown members stride; accepted for lstm: activation, from, last"),
            ({"layers": [{"type": "rnn", "weights": "net", "activation": "relu"}]}, rnnpack.UsageError, "unknown members activation; accepted for rnn: from, last"),
            ({"layers": [{"type": "linear", "weights": "head", "from": ["x", "x"]}]}, rnnpack.UsageError, "it has 2 inputs; accepted: one"),
            ({"layers": [{"type": "add", "from": ["x", "y"]}]}, rnnpack.UsageError, "there is no layer or input 'y'; there are: x"),
            ({"layers": []}, rnnpack.UsageError, "the description needs")):
        with pytest.raises(error, match=words):
            rnnpack.from_weights({**DESCRIPTION, **change}, TORCH)
    file = tmp_path / "w.safetensors"
    write_safetensors(file, TORCH)
    whole = file.read_bytes()
    for broken, words in ((whole[:5], "it has 5 bytes"), (whole[:100], "not whole"), (whole[:-4], "is not whole: 'head.bias' ends at byte"),
                          (whole.replace(b"F32", b"F8x"), "of type 'F8x'; accepted"), (b"\x10" + b"\0" * 7 + b"{" * 16, "damaged header")):
        file.write_bytes(broken)
        with pytest.raises(rnnpack.ModelError, match=words):
            rnnpack.from_weights(DESCRIPTION, file)


def test_files_of_other_kinds_through_the_compiler(tmp_path):
    nam = {"version": "0.5.4", "architecture": "Linear", "config": {"receptive_field": 2, "bias": True}, "weights": [0.5, 0.25, 1], "sample_rate": 48000}
    x = np.array([[[1], [2], [4]]], np.float32)
    container = {"version": "0.7.0", "architecture": "SlimmableContainer", "weights": [], "config": {"submodels": [
        {"max_value": 0.5, "model": {**nam, "weights": [1, 0, 0]}}, {"max_value": 1, "model": nam}]}}
    (tmp_path / "m.nam").write_text(json.dumps(container))
    model = rnnpack.compile(tmp_path / "m.nam")
    assert model.session().run(x).ravel().tolist() == [1.5, 2.25, 3.5] and model.meta["sample_rate"] == "48000"
    small = rnnpack.compile(json.dumps(container).encode(), quality=0.2)
    assert small.session().run(x).ravel().tolist() == [1, 2, 4]
    small.verify(steps=5)
    with pytest.raises(rnnpack.UsageError, match="--quality is of files that hold several networks"):
        rnnpack.compile(json.dumps(nam).encode(), quality=0.2)
