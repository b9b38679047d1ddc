# SPDX-License-Identifier: Apache-2.0
"""Masks of Keras' files (Masking, mask_zero) against plain numpy in f64; make test-exporters compares the same with Keras itself."""
import numpy as np
import pytest

import rnnpack

pytest.importorskip("h5py")
from keras_files import (DENSE, GRU, HIDDEN, INPUT, INPUTS, LSTM, RECURRENT, STEPS, close, function, functional, layer, refusals_of_changes,  # noqa: E402
                         sequential, sigmoid, tensor, weights, write_h5, write_keras)

X = weights(3, STEPS, INPUTS, seed=9)
X[0, 4:] = 0  # padding behind
X[1, [0, 3]] = 0  # holes, one at the beginning
COUNTS = (X != 0).any(-1)
FIXED = layer("InputLayer", "x", batch_shape=[None, STEPS, INPUTS], dtype="float32")
MASKING = layer("Masking", "masking", ["x"], mask_value=0.0)
STORED = {"lstm/cell": LSTM, "gru/cell": GRU}


def lstm_layer(name="lstm", inputs=("masking",), **settings):
    return layer("LSTM", name, inputs, units=HIDDEN, **{**RECURRENT, **settings})


def passed_over(x, counts, arrays=LSTM, zeros=False, h=None, c=None):
    """Keras' order i f c o. All outputs, and h and c."""
    kernel, recurrent, bias = arrays
    h, c = (np.zeros((len(x), HIDDEN)) if one is None else one for one in (h, c))
    y, out = np.zeros((len(x), HIDDEN)), []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel.astype(float) + h @ recurrent.astype(float) + bias, 4, axis=1)
        new_c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        new_h = sigmoid(o) * np.tanh(new_c)
        m = counts[:, t, None]
        h, c, y = np.where(m, new_h, h), np.where(m, new_c, c), np.where(m, new_h, 0 if zeros else y)
        out.append(y)
    return np.stack(out, 1), h, c


def run(path, x=X, **options):
    return rnnpack.from_keras(path, **options).session(batch=len(x)).run(x)


def of_keras(tmp_path, config, stored=None, **options):
    write_keras(tmp_path / "m.keras", config, {**STORED, **(stored or {})})
    return run(tmp_path / "m.keras", **options)


@pytest.mark.parametrize("kind", ["sequential", "functional", "keras2"])
def test_states_stay_and_outputs_repeat_where_a_step_does_not_count(tmp_path, kind):
    expected = passed_over(X, COUNTS)[0]
    if kind == "keras2":
        config = sequential(MASKING, lstm_layer())
        write_h5(tmp_path / "m.h5", config, {"lstm": LSTM}, version="2.15.0")
        return close(run(tmp_path / "m.h5"), expected)
    config = sequential(MASKING, lstm_layer()) if kind == "sequential" else functional([MASKING, lstm_layer()], "lstm")
    close(of_keras(tmp_path, config), expected)
    model = rnnpack.from_keras(tmp_path / "m.keras").session(batch=3)
    close(np.concatenate([model.run(X[:, :3]), model.run(X[:, 3:])], 1), expected)


def test_a_call_that_names_its_mask(tmp_path):
    """As functional files of Keras 3 have it: of another tensor here, so that what it names is what counts."""
    given = [layer("InputLayer", name, batch_shape=[None, None, INPUTS], dtype="float32") for name in ("x", "z")]
    nodes = [function("NotEqual", "ne", [tensor("z"), 0.0]), function("Any", "any", [tensor("ne")], axis=-1, keepdims=False),
             lstm_layer(inputs=["x"], call={"mask": tensor("any")})]
    config = functional([given[1], *nodes], "lstm", given=given[0], inputs=(("x", 0, 0), ("z", 0, 0)))
    write_keras(tmp_path / "m.keras", config, STORED)
    z = np.roll(X, 1, 1)
    session = rnnpack.from_keras(tmp_path / "m.keras").session(batch=3)
    close(session.run({"x": X, "z": z}), passed_over(X, (z != 0).any(-1))[0])


def test_the_last_output_and_two_layers(tmp_path):
    first, h, _ = passed_over(X, COUNTS)
    close(of_keras(tmp_path, sequential(MASKING, lstm_layer(return_sequences=False))), h)
    second = [weights(HIDDEN, 4 * HIDDEN), *LSTM[1:]]
    layers = [MASKING, lstm_layer(), layer("Dropout", "drop", ["lstm"], rate=0.1), lstm_layer("other", ["drop"], return_sequences=False)]
    close(of_keras(tmp_path, sequential(*layers), {"lstm_1/cell": second}), passed_over(first, COUNTS, second)[1])


def test_initial_states_are_no_output_of_a_step_that_does_not_count(tmp_path):
    states = [layer("InputLayer", name, batch_shape=[None, HIDDEN], dtype="float32") for name in "hc"]
    h, c = weights(3, HIDDEN, seed=4), weights(3, HIDDEN, seed=5)

    def made(version, behind=(), **more):
        call = {"initial_state": [tensor("h"), tensor("c")], **more}
        mask = [function("NotEqual", "ne", [tensor("x"), 0.0]), function("Any", "any", [tensor("ne")], axis=[-1], keepdims=False)] if more else []
        config = functional([*states, MASKING, *mask, lstm_layer(call=call), *behind], behind[-1]["name"] if behind else "lstm",
                            inputs=(("x", 0, 0), ("h", 0, 0), ("c", 0, 0)))
        write_keras(tmp_path / "m.keras", config, STORED, version)
        return rnnpack.from_keras(tmp_path / "m.keras").session(batch=3).run({"x": X, "h": h, "c": c})

    close(made("2.15.0"), passed_over(X, COUNTS, h=h, c=c)[0])
    # Keras 3 looks for no mask beside initial states; a mean behind the layer has it all the same.
    unmasked = passed_over(X, np.ones_like(COUNTS), h=h, c=c)[0]
    close(made("3.15.1"), unmasked)
    mean = (unmasked * COUNTS[..., None]).sum(1) / COUNTS.sum(1)[:, None]
    close(made("3.15.1", [layer("GlobalAveragePooling1D", "mean", ["lstm"])]), mean)
    close(made("3.15.1", mask=tensor("any")), passed_over(X, COUNTS, h=h, c=c)[0])
    with pytest.raises(rnnpack.ModelError, match="supported in a file that tells which Keras wrote it"):
        made(None)


def test_a_decoder_that_starts_where_a_masked_encoder_ends(tmp_path):
    """Of a fixed number of steps, in Keras 2, whose decoder is masked, too, and in Keras 3."""
    other = [weights(*array.shape, seed=3) for array in LSTM]
    encoder, decoder = lstm_layer("encoder", return_sequences=False, return_state=True), {"initial_state": [tensor("encoder", 1), tensor("encoder", 2)]}
    config = functional([MASKING, encoder, lstm_layer("decoder", call=decoder)], "decoder", given=FIXED)
    _, h, c = passed_over(X, COUNTS)
    for version, counts in (("2.15.0", COUNTS), ("3.15.1", np.ones_like(COUNTS))):
        write_keras(tmp_path / "m.keras", config, {"lstm/cell": LSTM, "lstm_1/cell": other}, version)
        close(run(tmp_path / "m.keras"), passed_over(X, counts, other, h=h, c=c)[0])


@pytest.mark.parametrize("every", [True, False])
def test_both_directions(tmp_path, every):
    other = [weights(*array.shape, seed=3) for array in LSTM]
    both = layer("Bidirectional", "both", ["masking"], layer=lstm_layer("inner", (), return_sequences=every), merge_mode="concat")
    stored = {"bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": other}
    ways = [passed_over(X, COUNTS, zeros=every), passed_over(X[:, ::-1], COUNTS[:, ::-1], other, zeros=every)]
    expected = np.concatenate([ways[0][0], ways[1][0][:, ::-1]] if every else [h for _, h, _ in ways], -1)
    close(of_keras(tmp_path, sequential(MASKING, both, given=FIXED), stored), expected)
    close(of_keras(tmp_path, sequential(MASKING, both), stored), expected)
    turned = lstm_layer(return_sequences=every, go_backwards=True)
    y, h, _ = passed_over(X[:, ::-1], COUNTS[:, ::-1])
    close(of_keras(tmp_path, sequential(MASKING, turned)), y if every else h)


def test_stacked_cells(tmp_path):
    cells = [{"class_name": "LSTMCell", "config": lstm_layer(f"cell{i}", ())["config"]} for i in range(2)]
    stack = {"class_name": "StackedRNNCells", "config": {"cells": cells}}
    second = [weights(HIDDEN, 4 * HIDDEN), *LSTM[1:]]
    write_keras(tmp_path / "m.keras", sequential(MASKING, layer("RNN", "rnn", ["masking"], return_sequences=True, cell=stack)),
                {"rnn/cell/cells/lstm_cell": LSTM, "rnn/cell/cells/lstm_cell_1": second})
    close(run(tmp_path / "m.keras"), passed_over(passed_over(X, COUNTS)[0], COUNTS, second)[0])


def test_masks_that_are_joined_beside_features(tmp_path):
    """As a call of Concatenate leaves them in functional files of Keras 3: any of them."""
    def joined(axis, dtype="bool"):
        return [function("NotEqual", "ne", [tensor("x"), 0.0]), function("Any", "any", [tensor("ne")], axis=[-1], keepdims=False), lstm_layer("first"),
                function("ExpandDims", "column", [tensor("any")], axis=axis), function("ZerosLike", "none", [tensor("masking")], dtype=dtype),
                function("LogicalOr", "wide", [tensor("column"), tensor("none")]), function("OnesLike", "all", [tensor("first")], dtype=dtype)]

    both = layer("Concatenate", "both", ["masking", "first"], axis=-1)
    second = [weights(INPUTS + HIDDEN, 4 * HIDDEN), *LSTM[1:]]
    first = passed_over(X, COUNTS)[0]
    for name, counts in (("wide", COUNTS), ("all", np.ones_like(COUNTS))):
        masks = [function("Concatenate", "masks", [[tensor("wide"), tensor(name)]], axis=-1), function("Any", "counts", [tensor("masks")], axis=-1)]
        nodes = [MASKING, *joined(-1), both, *masks, lstm_layer("last", ["both"], call={"mask": tensor("counts")})]
        stored = {"lstm/cell": LSTM, "lstm_1/cell": second}
        close(of_keras(tmp_path, functional(nodes, "last"), stored), passed_over(np.concatenate([X, first], -1), counts, second)[0])
    for nodes, words in ((joined(1), "it is supported for an axis behind the steps"), (joined(-1, "float32"), "as a bool of")):
        with pytest.raises(rnnpack.ModelError, match=words):
            of_keras(tmp_path, functional([MASKING, *nodes], "first"))


def test_products_and_extremes_of_steps_that_do_not_count(tmp_path):
    """What Keras makes of them from 3.4 on; before it did as elsewhere. Dense looks at no mask."""
    dense = [weights(INPUTS, INPUTS, seed=2), np.full(INPUTS, 0.4, np.float32)]
    z = np.roll(X, 1, 1)
    counts = [c[..., None] for c in (COUNTS, (z != 0).any(-1))]
    x, y = X.astype(float), X @ dense[0].astype(float) + dense[1]
    given = [layer("InputLayer", "z", batch_shape=[None, None, INPUTS], dtype="float32"), MASKING, layer("Masking", "other", ["z"], mask_value=0.0),
             layer("Dense", "dense", ["masking"], units=INPUTS, use_bias=True, activation="linear")]
    kinds = {"Multiply": np.multiply, "Maximum": np.maximum, "Minimum": np.minimum}
    merges = [layer(kind, kind + case, inputs) for kind in kinds for case, inputs in
              (("same", ["masking", "dense"]), ("two", ["dense", "other"]), ("one", ["dense", "z"]), ("three", ["dense", "other", "z"]))]

    def merged(kind, values, masks):
        if kind == "Multiply":
            product = np.prod([v if m is None else np.where(m, v, 1) for v, m in zip(values, masks)], 0)
            return product if any(m is None for m in masks) else np.where(np.any(masks, 0), product, 0)
        out, known = values[0], masks[0]
        for v, m in zip(values[1:], masks[1:]):
            v = v if m is None else np.where(m, v, out)
            out = out if known is None else np.where(known, out, v)
            known = None if known is None or m is None else known | m
            out = kinds[kind](out, v)
        return out

    config = functional([*given, *merges], *(one["name"] for one in merges), inputs=(("x", 0, 0), ("z", 0, 0)))
    for version, masked in (("3.15.1", True), ("3.4.0", True), ("3.3.3", False), ("2.15.0", False)):
        write_keras(tmp_path / "m.keras", config, {"dense": dense}, version)
        got = rnnpack.from_keras(tmp_path / "m.keras").session(batch=3).run({"x": X, "z": z})
        for kind in kinds:
            for case, values, masks in (("same", (x, y), (counts[0], counts[0])), ("two", (y, z), counts), ("one", (y, z), (counts[0], None)),
                                        ("three", (y, z, z), (*counts, None))):
                close(got[kind + case], merged(kind, values, masks if masked else [None] * len(values)))
    write_keras(tmp_path / "m.keras", config, {"dense": dense})
    with pytest.raises(rnnpack.ModelError, match="a mask before it is supported in a file that tells which Keras wrote it"):
        run(tmp_path / "m.keras")


def attended(scores, value, allowed):
    """Where nothing is allowed, everything is, as in Keras."""
    scores = np.where(allowed, scores, -1e9)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value


@pytest.mark.parametrize("kind", ["Attention", "AdditiveAttention"])
def test_attention_over_steps_that_count(tmp_path, kind):
    """Its output has the query's mask: so the mean behind it."""
    x = X.astype(float)
    scale = np.ones(INPUTS) if kind == "Attention" else weights(INPUTS)
    scores = x @ x.transpose(0, 2, 1) if kind == "Attention" else (np.tanh(x[:, :, None] + x[:, None]) * scale).sum(-1)
    y = attended(scores, x, COUNTS[:, None]) * COUNTS[..., None]
    layers = [MASKING, layer(kind, "a", ["masking", "masking"], use_scale=kind == "AdditiveAttention"), layer("GlobalAveragePooling1D", "mean", ["a"]),
              function("ConvertToTensor", "mask", [tensor("any")]), lstm_layer(inputs=["a"], call={"mask": tensor("mask")}, return_sequences=False)]
    mask = [function("NotEqual", "ne", [tensor("x"), 0.0]), function("Any", "any", [tensor("ne")], axis=[-1], keepdims=False)]
    write_keras(tmp_path / "m.keras", functional([*mask, *layers], "a", "mean", "lstm", given=FIXED), {**STORED, "additive_attention": [scale]})
    got = run(tmp_path / "m.keras")
    close(got["a"], y)
    close(got["mean"], y.sum(1) / COUNTS.sum(1)[:, None])
    close(got["lstm"], passed_over(y, COUNTS)[1])


def test_heads_over_steps_that_count(tmp_path):
    heads, width = 2, 5
    stored = {name: [weights(INPUTS, heads, width, seed=at), weights(heads, width, seed=at)] for at, name in enumerate(("query", "key", "value"))}
    stored["output"] = [weights(heads, width, INPUTS), weights(INPUTS)]
    q, k, v = (np.einsum("btc,chd->bhtd", X, stored[name][0].astype(float)) + stored[name][1][:, None] for name in ("query", "key", "value"))
    allowed = COUNTS[:, None, :, None] & COUNTS[:, None, None, :]
    y = np.einsum("bhtd,hdc->btc", attended(q @ k.transpose(0, 1, 3, 2) / np.sqrt(width), v, allowed), stored["output"][0].astype(float)) + stored["output"][1]
    layers = [MASKING, layer("MultiHeadAttention", "m", ["masking"], call={"value": tensor("masking")}, num_heads=heads, key_dim=width, use_bias=True),
              layer("GlobalAveragePooling1D", "mean", ["m"])]
    config = functional(layers, "m", "mean", given=FIXED)
    arrays = {f"multi_head_attention/{name}_dense": pair for name, pair in stored.items()}
    write_keras(tmp_path / "m.keras", config, arrays, "3.15.1")
    got = run(tmp_path / "m.keras")
    close(got["m"], y)
    close(got["mean"], (y * COUNTS[..., None]).sum(1) / COUNTS.sum(1)[:, None])
    for version in ("2.15.0", None):
        write_keras(tmp_path / "m.keras", config, arrays, version)
        with pytest.raises(rnnpack.ModelError, match="before it is supported in files of Keras 3"):
            run(tmp_path / "m.keras")


def test_zeros_of_steps_that_do_not_count_and_masks_of_another_number(tmp_path):
    close(of_keras(tmp_path, sequential(MASKING, lstm_layer(zero_output_for_mask=True))), passed_over(X, COUNTS, zeros=True)[0])
    x = np.where(COUNTS[..., None], X, np.float32(2))
    dense = layer("Dense", "dense", ["masking"], units=INPUTS, use_bias=True, activation="linear")
    config = sequential(layer("Masking", "masking", ["x"], mask_value=2.0), dense, lstm_layer(inputs=["dense"]))
    pair = [weights(INPUTS, INPUTS), weights(INPUTS)]
    write_keras(tmp_path / "m.keras", config, {**STORED, "dense": pair})
    close(run(tmp_path / "m.keras", x), passed_over(X @ pair[0].astype(float) + pair[1], COUNTS)[0])


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_indices_of_zero(tmp_path, dtype):
    table, ids = weights(9, INPUTS), np.array([[3, 1, 2, 0, 0, 0, 0], [0, 4, 5, 0, 6, 7, 8]], np.int32)
    words = layer("Embedding", "words", ["x"], input_dim=9, output_dim=INPUTS, mask_zero=True)
    given = layer("InputLayer", "x", batch_shape=[None, None], dtype=dtype)
    rows, counts = table[ids].astype(float), ids != 0
    for behind, expected in ((lstm_layer(inputs=["words"], return_sequences=False), passed_over(rows, counts)[1]),
                             (layer("GlobalAveragePooling1D", "mean", ["words"]), (rows * counts[..., None]).sum(1) / counts.sum(1)[:, None])):
        write_keras(tmp_path / "m.keras", sequential(words, behind, given=given), {**STORED, "embedding": [table]})
        close(run(tmp_path / "m.keras", ids), expected)


@pytest.mark.parametrize("between, passes", [
    ([layer("Activation", "between", ["masking"], activation="relu")], True),
    ([layer("TimeDistributed", "between", ["masking"], layer=layer("ReLU", "relu"))], True),
    ([layer("Add", "between", ["masking", "masking"])], True),
    ([layer("Add", "between", ["masking", "x"])], False),
    ([function("Add", "between", [tensor("masking"), 1.0])], False),
    ([layer("ZeroPadding1D", "between", ["masking"], padding=[0, 0])], False),
])
def test_masks_follow_through_layers_as_in_keras(tmp_path, between, passes):
    kind = between[0]["class_name"]
    x = np.maximum(X, 0) if kind in ("Activation", "TimeDistributed") else X + 1 if len(between[0]["inbound_nodes"][0]["args"]) == 2 else X * 2 if kind == "Add" else X
    got = of_keras(tmp_path, functional([MASKING, *between, lstm_layer(inputs=["between"])], "lstm"))
    close(got, passed_over(x, COUNTS if passes else np.ones_like(COUNTS))[0])


@pytest.mark.parametrize("layers, words", [
    ([MASKING, layer("Softmax", "a", ["masking"])], "layer 'a' .Softmax.: a mask .of Masking or mask_zero. before it is not supported"),
    ([MASKING, layer("TimeDistributed", "a", ["masking"], layer=layer("Softmax", "s"))], "a mask .of Masking or mask_zero. before it"),
    ([MASKING, layer("Concatenate", "a", ["masking", "masking"], axis=1)], "masks of steps that are joined"),
    ([layer("Masking", "a", ["x"], mask_value=[1.0])], "supported for one number"),
    ([MASKING, lstm_layer("a", return_sequences=False, zero_output_for_mask=True)], "zero_output_for_mask of the last output"),
    ([MASKING, layer("Bidirectional", "a", ["masking"], merge_mode="sum", layer=lstm_layer("l", (), unroll=True))], "unroll with a mask is not supported"),
    ([function("NotEqual", "ne", [tensor("x"), 0.0]), layer("Dense", "a", ["ne"], units=2)], "an input of it is a mask"),
    ([function("NotEqual", "ne", [tensor("x"), 0.0]), function("LogicalOr", "a", [tensor("ne"), tensor("x")])], "an input of it is a mask, or is none"),
    ([function("NotEqual", "ne", [tensor("x"), 0.0]), function("Any", "a", [tensor("ne"), tensor("ne")], axis=-1)], "it is supported over the last axis"),
    ([function("NotEqual", "a", [tensor("x"), tensor("x")])], "it is supported for a tensor and a number"),
    ([function("NotEqual", "ne", [tensor("x"), 0.0]), function("Any", "a", [tensor("ne")], axis=1)], "it is supported over the last axis"),
])
def test_masks_that_are_refused(tmp_path, layers, words):
    stored = {"dense": DENSE, "bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": LSTM}
    given = FIXED if "unroll" in words else INPUT
    write_keras(tmp_path / "m.keras", functional(layers, "a", given=given), {**STORED, **stored})
    with pytest.raises(rnnpack.ModelError, match=words):
        rnnpack.from_keras(tmp_path / "m.keras")


def test_sizes_of_compile_are_those_of_the_file(tmp_path):
    write_keras(tmp_path / "m.keras", sequential(MASKING, lstm_layer()), STORED)
    model = rnnpack.compile(tmp_path / "m.keras", dim={"steps": STEPS})
    close(model.session(batch=3).run(X), passed_over(X, COUNTS)[0])
    with pytest.raises(rnnpack.UsageError, match="no input has a dimension 'other'"):
        rnnpack.compile(tmp_path / "m.keras", dim={"steps": STEPS, "other": 2})


def test_descriptions_that_keras_does_not_write(tmp_path):
    both = layer("Bidirectional", "both", ["masking"], call={"mask": tensor("any")}, layer=lstm_layer("inner", ()), merge_mode="concat")
    nodes = [MASKING, function("NotEqual", "ne", [tensor("x"), 0.0]), function("Any", "any", [tensor("ne")], axis=-1, keepdims=False), both,
             layer("GlobalAveragePooling1D", "mean", ["both"])]
    stored = {"bidirectional/forward_layer/cell": LSTM, "bidirectional/backward_layer/cell": LSTM}
    write_keras(tmp_path / "m.keras", functional(nodes, "mean", given=FIXED), stored)
    assert refusals_of_changes(tmp_path / "m.keras") > 200
