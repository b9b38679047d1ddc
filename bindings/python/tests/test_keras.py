# SPDX-License-Identifier: Apache-2.0
"""Layers and calls of Keras' files beside those of test_importers.py, against plain numpy in f64; what is not understood is refused."""
import numpy as np
import pytest

import rnnpack

pytest.importorskip("h5py")
from keras_files import (HIDDEN, INPUTS, LSTM, RECURRENT, STEPS, X, close, function, functional, layer, lstm, refusals_of_changes, sequential,  # noqa: E402
                         tensor, weights, write_h5, write_keras)

SLICE = "__slice__"


def places(start=None, stop=None, step=None):
    return {"class_name": SLICE, "config": {"start": start, "stop": stop, "step": step}}


def softmax(v):
    e = np.exp(v - v.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def compiled(tmp_path, config, stored=None):
    write_keras(tmp_path / "m.keras", config, stored or {})
    return rnnpack.from_keras(tmp_path / "m.keras")


def run(tmp_path, config, stored=None, x=X):
    return compiled(tmp_path, config, stored).session(batch=2).run(x)


def dense(kernel, **settings):
    return layer("Dense", "dense", ["last"], units=kernel.shape[1], activation="linear", use_bias=False, **settings)


FIXED = layer("InputLayer", "x", batch_shape=[None, STEPS, INPUTS], dtype="float32")


def fixed(layers, *outputs):
    return functional(layers, *outputs, given=FIXED)


@pytest.mark.parametrize("padding, strides, dilation", [("same", (1, 1), (1, 1)), ("valid", (1, 1), (1, 2)), ("same", (2, 1), (1, 1)), ("valid", (1, 2), (1, 1))])
def test_convolutions_over_rows_and_columns(tmp_path, padding, strides, dilation):
    rows, columns, channels, taps = 8, 6, 2, (3, 2)
    x = weights(2, rows, columns, channels, seed=5)
    kernel, bias = weights(*taps, channels, 3), weights(3)
    wide = [(t - 1) * d for t, d in zip(taps, dilation)]
    if padding == "same":
        total = [max((-(-n // s) - 1) * s + w + 1 - n, 0) for n, s, w in zip((rows, columns), strides, wide)]
        padded = np.pad(x, ((0, 0), *((t // 2, t - t // 2) for t in total), (0, 0)))
    else:
        padded = x
    y = 0
    for a in range(taps[0]):
        for b in range(taps[1]):
            part = padded[:, a * dilation[0]:a * dilation[0] + padded.shape[1] - wide[0], b * dilation[1]:b * dilation[1] + padded.shape[2] - wide[1]]
            y = y + part[:, ::strides[0], ::strides[1]] @ kernel[a, b].astype(float)
    y = np.maximum(y + bias, 0)
    pooled = y[:, :y.shape[1] // 2 * 2].reshape(2, -1, 2, *y.shape[2:]).max(2).reshape(2, y.shape[1] // 2, -1)
    config = sequential(layer("Conv2D", "c", filters=3, kernel_size=taps, strides=strides, padding=padding, dilation_rate=dilation, groups=1, activation="relu",
                              use_bias=True), layer("MaxPooling2D", "p", pool_size=[2, 1], padding="valid", strides=[2, 1]),
                        layer("Reshape", "r", target_shape=[pooled.shape[1], pooled.shape[2]]), layer("LSTM", "l", units=HIDDEN, **RECURRENT),
                        given=layer("InputLayer", "x", batch_shape=[None, rows, columns, channels], dtype="float32"))
    own = [weights(pooled.shape[2], 4 * HIDDEN), *LSTM[1:]]
    close(run(tmp_path, config, {"conv2_d": [kernel, bias], "conv2d": [kernel, bias], "lstm/cell": own}, x), lstm(pooled, *own))


def test_images_at_every_step(tmp_path):
    rows, columns, channels = 4, 3, 2
    x = weights(2, STEPS, rows, columns, channels, seed=5)
    kernel = weights(2, 2, channels, 3)
    y = sum(x[:, :, a:a + rows - 1, b:b + columns - 1] @ kernel[a, b].astype(float) for a in range(2) for b in range(2)).reshape(2, STEPS, -1)
    conv = layer("Conv2D", "c", filters=3, kernel_size=[2, 2], strides=[1, 1], padding="valid", dilation_rate=[1, 1], groups=1, activation="linear", use_bias=False)
    config = sequential(layer("TimeDistributed", "t", layer=conv), layer("TimeDistributed", "f", layer=layer("Flatten", "flat")),
                        layer("LSTM", "l", units=HIDDEN, **RECURRENT),
                        given=layer("InputLayer", "x", batch_shape=[None, STEPS, rows, columns, channels], dtype="float32"))
    own = [weights(y.shape[2], 4 * HIDDEN), *LSTM[1:]]
    close(run(tmp_path, config, {"time_distributed/layer": [kernel], "lstm/cell": own}, x), lstm(y, *own))
    config["config"]["layers"][0] = layer("InputLayer", "x", batch_shape=[None, None, rows, columns, channels], dtype="float32")
    with pytest.raises(rnnpack.ModelError, match="layer 't' .TimeDistributed.: a size of its input is open"):
        compiled(tmp_path, config, {"time_distributed/layer": [kernel], "lstm/cell": own})


@pytest.mark.parametrize("taps, stride, padding", [(3, 2, "same"), (2, 3, "same"), (4, 2, "valid"), (2, 3, "valid")])
def test_transposed_convolutions(tmp_path, taps, stride, padding):
    kernel, bias = weights(taps, 4, INPUTS), weights(4)
    steps = STEPS * stride + (max(taps - stride, 0) if padding == "valid" else 0)
    full = np.zeros((2, (STEPS - 1) * stride + max(taps, stride), 4))
    for t in range(STEPS):
        for k in range(taps):
            full[:, t * stride + k] += X[:, t] @ kernel[k].astype(float).T
    cut = max(taps - stride, 0) // 2 if padding == "same" else 0
    y = full[:, cut:cut + steps] + bias
    config = sequential(layer("Conv1DTranspose", "c", filters=4, kernel_size=[taps], strides=[stride], padding=padding, dilation_rate=[1], activation="linear",
                              use_bias=True), layer("LSTM", "l", units=HIDDEN, **RECURRENT),
                        given=FIXED)
    own = [weights(4, 4 * HIDDEN), *LSTM[1:]]
    got = run(tmp_path, config, {"conv1_d_transpose": [kernel, bias], "conv1d_transpose": [kernel, bias], "lstm/cell": own})
    close(got.reshape(2, -1, HIDDEN), lstm(y, *own))


def test_norms_over_groups_and_steps_cut_and_repeated(tmp_path):
    scale, shift = weights(4), weights(4, seed=1)
    kernel = weights(INPUTS, 4)
    y = (X @ kernel.astype(float)).reshape(2, STEPS, 2, 2)
    y = (y - y.mean((1, 3), keepdims=True)) / np.sqrt(y.var((1, 3), keepdims=True) + 1e-3)
    y = np.repeat((y.reshape(2, STEPS, 4) * scale + shift)[:, 1:-2], 3, 1)
    config = sequential(layer("Dense", "d", units=4, activation="linear", use_bias=False), layer("GroupNormalization", "g", groups=2, axis=-1, epsilon=1e-3),
                        layer("Cropping1D", "c", cropping=[1, 2]), layer("UpSampling1D", "u", size=3),
                        given=FIXED)
    got = run(tmp_path, config, {"dense": [kernel], "group_normalization": [scale, shift]})
    close(got.reshape(2, -1, 4), y)


def test_steps_of_several_elements_are_given_as_the_file_has_them(tmp_path):
    """Two elements make one step behind a convolution of stride 2."""
    kernel, bias, own = weights(2, INPUTS, HIDDEN), weights(HIDDEN), [weights(HIDDEN, 4 * HIDDEN), *LSTM[1:]]
    config = sequential(layer("Conv1D", "c", filters=HIDDEN, kernel_size=[2], strides=[2], padding="valid", dilation_rate=[1], groups=1,
                              activation="linear", use_bias=True), layer("LSTM", "l", units=HIDDEN, **RECURRENT))
    write_keras(tmp_path / "m.keras", config, {"conv1d": [kernel, bias], "lstm/cell": own})
    x = X[:, :6]
    expected = lstm(np.einsum("bski,kio->bso", x.reshape(2, 3, 2, INPUTS).astype(float), kernel.astype(float)) + bias, *own)
    session = rnnpack.from_keras(tmp_path / "m.keras").session(batch=2)
    for _ in range(2):  # the second call is prepared
        session.state.reset()
        close(session.run(x), expected)
    session.state.reset()
    close(session.run(x.reshape(2, 3, 2, INPUTS)), expected)
    session.state.reset()
    close(np.concatenate([session.run(x[:, :2]), session.run(x[:, 2:])], 1), expected)
    with pytest.raises(rnnpack.UsageError, match="has 7 elements along axis 1; accepted: a multiple of 2, which make one step"):
        session.run(X)


def test_numbers_are_divided_by_their_length(tmp_path):
    x = np.concatenate([X, np.zeros((2, 1, INPUTS), np.float32), np.full((2, 1, INPUTS), 1e-8, np.float32)], 1)
    length = np.linalg.norm(x.astype(float), axis=-1, keepdims=True)
    config = sequential(layer("UnitNormalization", "u", axis=-1))
    close(run(tmp_path, config, {}, x=x), x / np.maximum(length, 1e-12))
    write_h5(tmp_path / "m.h5", config, {"u": []}, version="2.15.0")
    close(rnnpack.from_keras(tmp_path / "m.h5").session(batch=2).run(x), x / np.maximum(length, 1e-6))


def test_attention_with_several_heads(tmp_path):
    heads, width = 2, 5
    stored = {name: [weights(INPUTS, heads, width, seed=at), weights(heads, width, seed=at)] for at, name in enumerate(("query", "key", "value"))}
    stored["output"] = [weights(heads, width, INPUTS), weights(INPUTS)]
    q, k, v = (np.einsum("btc,chd->bhtd", x, stored[name][0].astype(float)) + stored[name][1][:, None] for name, x in (("query", X), ("key", 2 * X), ("value", X)))
    expected = np.einsum("bhtd,hdc->btc", softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(width)) @ v, stored["output"][0].astype(float)) + stored["output"][1]
    attention = layer("MultiHeadAttention", "m", ["x"], call={"value": tensor("x"), "key": tensor("twice")}, num_heads=heads, key_dim=width, use_bias=True)
    twice = function("Multiply", "twice", [tensor("x"), 2.0])
    config = fixed([twice, attention], "m")
    close(run(tmp_path, config, {f"multi_head_attention/{name}_dense": pair for name, pair in stored.items()}), expected)
    write_h5(tmp_path / "m.h5", config, {"m": [array for name in ("query", "key", "value", "output") for array in stored[name]]})
    close(rnnpack.from_keras(tmp_path / "m.h5").session(batch=2).run(X), expected)
    refused = fixed([layer("MultiHeadAttention", "m", ["x", "x"], call={"use_causal_mask": True}, num_heads=heads, key_dim=width, use_bias=True)], "m")
    with pytest.raises(rnnpack.ModelError, match="a call with use_causal_mask is not supported"):
        compiled(tmp_path, refused, {f"multi_head_attention/{name}_dense": pair for name, pair in stored.items()})


def test_attention_of_products_and_of_sums(tmp_path):
    scale = weights(INPUTS)
    layers = [layer("Attention", "dot", ["x", "x"], score_mode="dot", use_scale=True), layer("AdditiveAttention", "sum", ["x", "x"], use_scale=True),
              layer("Softmax", "over", ["x"], axis=-1), layer("Dot", "product", ["over", "x"], axes=1, normalize=False)]
    got = run(tmp_path, fixed(layers, "dot", "sum", "product"), {"attention": [np.float32(0.7)], "additive_attention": [scale]})
    x = X.astype(float)
    close(got["dot"], softmax(np.float32(0.7) * x @ x.transpose(0, 2, 1)) @ x)
    close(got["sum"], softmax((np.tanh(x[:, :, None] + x[:, None]) * scale).sum(-1)) @ x)
    close(got["product"], softmax(x).transpose(0, 2, 1) @ x)


def test_functions_and_parts_of_tensors(tmp_path):
    layers = [function("Multiply", "half", [tensor("x"), 0.5]), function("Subtract", "rest", [1, tensor("half")]), function("Sigmoid", "s", [tensor("rest")]),
              function("GetItem", "last", [tensor("s"), [places(), -1]]),
              function("GetItem", "some", [tensor("s"), [{"class_name": "__ellipsis__", "config": {}}, places(None, None, -1)]]),
              function("GetItem", "middle", [tensor("s"), [places(), places(1, 5, 2), 1]])]
    got = run(tmp_path, fixed(layers, "last", "some", "middle"))
    y = 1 / (1 + np.exp(0.5 * X.astype(float) - 1))
    close(got["last"], y[:, -1])
    close(got["some"], y[:, :, ::-1])
    close(got["middle"], y[:, 1:5:2, 1])


def test_weights_of_two_bytes(tmp_path):
    short = [(array.view("<u4") >> 16).astype("<u2") for array in LSTM]
    config = sequential(layer("LSTM", "l", units=HIDDEN, **RECURRENT))
    write_h5(tmp_path / "m.h5", config, {"l": [array.view("V2") for array in short]})
    write_keras(tmp_path / "m.keras", config, {"lstm/cell": [array.view("V2") for array in short]})
    expected = lstm(X, *((array.astype("<u4") << 16).view("<f4") for array in short))
    for name in ("m.keras", "m.h5"):
        close(rnnpack.from_keras(tmp_path / name).session(batch=2).run(X), expected)


def test_broadcast_sizes(tmp_path):
    kernel, head = weights(INPUTS, 1), weights(INPUTS, 2)
    layers = [layer("Dense", "gate", ["x"], units=1, activation="sigmoid", use_bias=False), layer("Multiply", "last", ["gate", "x"]), dense(head)]
    got = run(tmp_path, functional(layers, "dense"), {"dense": [kernel], "dense_1": [head]})
    close(got, (X / (1 + np.exp(-(X @ kernel.astype(float))))) @ head.astype(float))


def test_states_of_both_directions(tmp_path):
    other = [weights(*array.shape, seed=3) for array in LSTM]
    inner = layer("LSTM", "inner", units=HIDDEN, return_state=True, **RECURRENT)
    both = layer("Bidirectional", "both", ["x"], layer=inner, merge_mode="sum")
    config = fixed([both], "both")
    config["config"]["output_layers"] = [["both", 0, 0], ["both", 0, 1], ["both", 0, 3]]
    got = run(tmp_path, config, {"bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": other})
    forward, backward = lstm(X, *LSTM), lstm(X[:, ::-1], *other)
    for name, expected in (("both_0", forward + backward[:, ::-1]), ("both_1", forward[:, -1]), ("both_3", backward[:, -1])):
        close(got[name], expected)


@pytest.mark.parametrize("layers, words", [
    ([layer("LSTM", "a", ["x"], call={"mask": tensor("x")}, units=HIDDEN, **RECURRENT)], "layer 'a' .LSTM.: a call with mask is not supported"),
    ([layer("Dropout", "a", ["x"], call={"training": True}, rate=0.5)], "a call with training is not supported"),
    ([function("Average", "a", [tensor("x")], axis=1)], r"layer 'a' \(ops.Average\): this class is not supported"),
    ([function("Reshape", "a", [tensor("x")], newshape=[-1, 21])], r"layer 'a' \(ops.Reshape\): this class is not supported"),
    ([function("Concatenate", "a", [[tensor("x"), 1.0]], axis=-1)], "is called with more than tensors"),
    ([function("GetItem", "a", [tensor("x"), [places(), [0, 2]]])], "only places and ranges can be taken"),
    ([function("GetItem", "a", [tensor("x"), [places(), None, 1]])], "only places and ranges can be taken"),
    ([function("GetItem", "a", [tensor("x"), [places(1)]])], "it takes a part of the batch"),
    ([layer("LayerNormalization", "a", ["x"], axis=-1, rms_scaling=True, scale=False, center=False)], "rms_scaling is not supported"),
    ([layer("UnitNormalization", "a", ["x"], axis=[0, 2])], "its axes include the batch"),
    ([layer("Flatten", "a", ["x"], data_format="channels_first")], "data_format is not channels_last"),
    ([layer("PReLU", "a", ["x"], shared_axes=[2])], r"slopes of shape \[3, 1\]; accepted: one a channel"),
    ([layer("TimeDistributed", "a", ["x"], layer=layer("Softmax", "s", axis=1))], "its axis is not the last one"),
    ([layer("TimeDistributed", "a", ["x"], layer=layer("LSTM", "s", units=HIDDEN, **RECURRENT))], "around 'LSTM' it is not supported"),
    ([layer("Activation", "a", ["x"], activation={"class_name": "ReLU", "config": {"name": "relu", "max_value": 1.0}})], "its activation is a layer .ReLU."),
    ([layer("Bidirectional", "a", ["x"], layer=layer("LSTM", "l", units=HIDDEN, go_backwards=True, **RECURRENT), merge_mode="concat")],
     "around a layer with go_backwards"),
])
def test_calls_and_settings_that_are_refused(tmp_path, layers, words):
    stored = {"p_re_lu": [weights(INPUTS, 1)], "lstm/cell": LSTM, "bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": LSTM}
    with pytest.raises(rnnpack.ModelError, match=words):
        compiled(tmp_path, fixed(layers, "a"), stored)


def test_calls_of_older_files_are_refused_too(tmp_path):
    config = fixed([layer("LSTM", "a", units=HIDDEN, **RECURRENT)], "a")
    config["config"]["layers"][1]["inbound_nodes"] = [[["x", 0, 0, {"mask": ["x", 0, 0]}]]]
    write_h5(tmp_path / "m.h5", config, {"a": LSTM})
    with pytest.raises(rnnpack.ModelError, match="a call with mask is not supported"):
        rnnpack.from_keras(tmp_path / "m.h5")


def test_descriptions_that_keras_does_not_write(tmp_path):
    """One part of the description changed at a time: a message, or a model, never another exception."""
    config = fixed([layer("Conv1D", "c", ["x"], filters=4, kernel_size=[3], strides=[1], padding="same", dilation_rate=[1], groups=1, activation="relu", use_bias=True),
                    function("GetItem", "part", [tensor("c"), [places(), places(1)]]),
                    layer("Bidirectional", "b", ["part"], layer=layer("LSTM", "l", units=HIDDEN, **RECURRENT), merge_mode="concat"),
                    layer("MultiHeadAttention", "m", ["b", "b"], num_heads=2, key_dim=3, use_bias=False)], "m")
    first = [weights(4, 4 * HIDDEN), *LSTM[1:]]
    stored = {"conv1d": [weights(3, INPUTS, 4), weights(4)], "bidirectional/forward_layer/cell": first, "bidirectional/backward_layer/cell": first,
              **{f"multi_head_attention/{name}_dense": [weights(2 * HIDDEN, 2, 3)] for name in ("query", "key", "value")},
              "multi_head_attention/output_dense": [weights(2, 3, 2 * HIDDEN)]}
    write_keras(tmp_path / "m.keras", config, stored)
    assert refusals_of_changes(tmp_path / "m.keras") > 500
