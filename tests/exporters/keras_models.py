"""Exports Keras models as a user would, by model.export(format="onnx") (tf2onnx): keras_models.py FOLDER [NAME...].

Each is also saved as .keras and .h5, which the Python package (on PYTHONPATH) reads without TensorFlow, and converted to TensorFlow
Lite with weights of f32, of f16 and of int8 ("dynamic range"), for one row, beside which stands what its interpreter gives.
SPDX-License-Identifier: Apache-2.0
"""
import itertools
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers as kl  # noqa: E402

from case import Folder  # noqa: E402
from keras_lite import interpreted, tensorflow_lite  # noqa: E402
from keras_networks import network_models  # noqa: E402

import rnnpack  # noqa: E402
from rnnpack._keras import keras_to_onnx  # noqa: E402

STEPS, FEATURES, UNITS = 7, 6, 10


def chain(*stack, shape=(None, FEATURES), dtype="float32"):
    return keras.Sequential([keras.Input(shape, dtype=dtype), *stack])


def functional(function, *shapes):
    inputs = [keras.Input(shape) for shape in shapes]
    return keras.Model(inputs, function(*inputs))


def with_states():
    x, h, c = keras.Input((None, FEATURES)), keras.Input((UNITS,)), keras.Input((UNITS,))
    return keras.Model([x, h, c], kl.LSTM(UNITS, return_sequences=True, return_state=True)(x, initial_state=[h, c]))


def encoder_decoder(x, y):
    _, h, c = kl.LSTM(UNITS, return_state=True)(x)
    return kl.Dense(5, activation="softmax")(kl.LSTM(UNITS, return_sequences=True)(y, initial_state=[h, c]))


def masked_encoder_decoder(x, y):
    return encoder_decoder(kl.Masking()(x), kl.Masking()(y))


def masked_attention(x):
    y = kl.LSTM(UNITS, return_sequences=True)(kl.Masking()(x))
    return kl.GlobalAveragePooling1D()(kl.Attention()([y, y]))


def masked_beside_features(x):
    x = kl.Masking()(x)
    return kl.LSTM(8)(kl.Concatenate()([x, kl.GRU(UNITS, return_sequences=True)(x)]))


def masked_heads(x):
    y = kl.Bidirectional(kl.GRU(UNITS, return_sequences=True))(kl.Masking()(x))
    return kl.LSTM(8)(y + kl.MultiHeadAttention(2, 5)(y, y))


def attention(x):
    y = kl.LSTM(UNITS, return_sequences=True)(x)
    return kl.Attention()([y, y])


def multi_head(x):
    y = kl.GRU(UNITS, return_sequences=True)(x)
    return kl.LayerNormalization()(y + kl.MultiHeadAttention(2, 5)(y, y))


def attention_pool(x):
    y = kl.Bidirectional(kl.GRU(UNITS, return_sequences=True))(x)
    return kl.Dense(3)(kl.Dot(axes=1)([kl.Softmax(axis=1)(kl.Dense(1)(y)), y]))


def text_reader():
    x = keras.Input((16, 40, 1))
    y = kl.MaxPooling2D(2)(kl.Conv2D(8, 3, padding="same", activation="relu")(x))
    y = kl.Permute((2, 1, 3))(y)
    y = kl.Reshape((20, 64))(y)
    return keras.Model(x, kl.Dense(12, activation="softmax")(kl.Bidirectional(kl.LSTM(UNITS, return_sequences=True))(y)))


def models():
    seq = {"return_sequences": True}
    fixed = (STEPS, FEATURES)
    yield "lstm", chain(kl.LSTM(UNITS, **seq))
    yield "lstm_fixed_steps", chain(kl.LSTM(UNITS, **seq), shape=fixed)
    yield "lstm_classifier", chain(kl.LSTM(UNITS), kl.Dense(3, activation="softmax"))
    yield "lstm_stacked", chain(kl.LSTM(UNITS, **seq), kl.Dropout(0.2), kl.LSTM(8, **seq), kl.TimeDistributed(kl.Dense(4)))
    yield "lstm_bidirectional", chain(kl.Bidirectional(kl.LSTM(UNITS, **seq)), kl.Dense(4))
    yield "lstm_hard_sigmoid", chain(kl.LSTM(UNITS, recurrent_activation="hard_sigmoid", **seq))
    yield "lstm_relu", chain(kl.LSTM(UNITS, activation="relu", **seq))
    yield "lstm_unrolled", chain(kl.LSTM(UNITS, unroll=True, **seq), shape=fixed)
    yield "lstm_backwards", chain(kl.LSTM(UNITS, go_backwards=True, **seq))
    yield "lstm_states", with_states()
    yield "lstm_no_bias", chain(kl.LSTM(UNITS, use_bias=False, **seq))
    stateful = keras.Sequential([keras.Input(batch_shape=(1, 1, FEATURES)), kl.LSTM(UNITS, stateful=True, **seq), kl.Dense(2)])
    yield "lstm_stateful_one_step", stateful
    stateful = keras.Sequential([keras.Input(batch_shape=(4, STEPS, FEATURES)), kl.LSTM(UNITS, stateful=True, **seq)])
    yield "lstm_stateful_batch4", stateful
    yield "lstm_cells_stacked", chain(kl.RNN([kl.LSTMCell(UNITS), kl.LSTMCell(8)], **seq))
    yield "gru", chain(kl.GRU(UNITS, **seq))
    yield "gru_reset_before", chain(kl.GRU(UNITS, reset_after=False, **seq))
    yield "gru_bidirectional", chain(kl.Bidirectional(kl.GRU(UNITS, **seq)))
    yield "gru_backwards", chain(kl.GRU(UNITS, go_backwards=True))
    yield "gru_fixed_steps", chain(kl.GRU(UNITS), kl.Dense(1), shape=fixed)
    yield "gru_cell", chain(kl.RNN(kl.GRUCell(UNITS), **seq))
    yield "simple_rnn", chain(kl.SimpleRNN(UNITS))
    yield "simple_rnn_sequences", chain(kl.SimpleRNN(UNITS, activation="relu", **seq), kl.Dense(2))
    yield "masking_lstm", chain(kl.Masking(), kl.LSTM(UNITS, **seq))
    yield "masking_gru_last", chain(kl.Masking(), kl.GRU(UNITS), kl.Dense(1))
    yield "ids_lstm", chain(kl.Embedding(20, 8), kl.LSTM(UNITS, **seq), shape=(None,), dtype="int32")
    yield "ids_lstm_float", chain(kl.Embedding(20, 8), kl.LSTM(UNITS, **seq), shape=(None,))
    yield "ids_mask_zero_float", chain(kl.Embedding(20, 8, mask_zero=True), kl.LSTM(UNITS), kl.Dense(1), shape=(None,))
    yield "ids_mask_zero", chain(kl.Embedding(20, 8, mask_zero=True), kl.LSTM(UNITS), kl.Dense(1, activation="sigmoid"), shape=(None,), dtype="int32")
    yield "conv_lstm_1d", chain(kl.ConvLSTM1D(4, 3, padding="same", **seq), shape=(STEPS, 8, 2))
    yield "conv_lstm_2d", chain(kl.ConvLSTM2D(3, 3, padding="same"), shape=(STEPS, 6, 6, 2))
    yield "layer_normalization", chain(kl.LSTM(UNITS, **seq), kl.LayerNormalization(), kl.Dense(2))
    yield "unit_normalization", chain(kl.LSTM(UNITS, **seq), kl.UnitNormalization(), kl.Dense(2))
    yield "unit_normalization_of_masked", chain(kl.Masking(), kl.GRU(UNITS, **seq), kl.UnitNormalization(), kl.LSTM(UNITS), kl.UnitNormalization())
    yield "batch_normalization", chain(kl.GRU(UNITS, **seq), kl.BatchNormalization(), kl.Dense(2))
    yield "repeat_vector", chain(kl.LSTM(UNITS), kl.RepeatVector(5), kl.LSTM(8, **seq), kl.Dense(2), shape=fixed)
    yield "repeat_vector_same_steps", chain(kl.LSTM(UNITS), kl.RepeatVector(STEPS), kl.LSTM(8, **seq), kl.Dense(2), shape=fixed)
    yield "conv_same_front", chain(kl.Conv1D(8, 3, padding="same", activation="relu"), kl.GRU(UNITS, **seq))
    yield "conv_causal_front", chain(kl.Conv1D(8, 3, padding="causal", activation="relu"), kl.GRU(UNITS, **seq))
    yield "conv_strided_front", chain(kl.Conv1D(8, 3, strides=2, padding="same"), kl.GRU(UNITS, **seq))
    yield "conv_pooled_front", chain(kl.Conv1D(8, 3, padding="same"), kl.MaxPooling1D(2), kl.LSTM(UNITS, **seq), shape=(8, FEATURES))
    yield "global_average", chain(kl.LSTM(UNITS, **seq), kl.GlobalAveragePooling1D(), kl.Dense(3))
    yield "global_max", chain(kl.GRU(UNITS, **seq), kl.GlobalMaxPooling1D(), kl.Dense(3))
    yield "attention", functional(attention, (None, FEATURES))
    yield "multi_head_attention", functional(multi_head, (None, FEATURES))
    yield "attention_pool", functional(attention_pool, (None, FEATURES))
    yield "encoder_decoder", functional(encoder_decoder, (None, FEATURES), (None, FEATURES))
    yield "masking_attention", functional(masked_attention, fixed)
    yield "masking_concatenate", functional(masked_beside_features, (None, FEATURES))
    yield "masking_multi_head_attention", functional(masked_heads, fixed)
    yield "masking_encoder_decoder", functional(masked_encoder_decoder, fixed, fixed)
    yield "text_reader", text_reader()
    yield "flatten", chain(kl.LSTM(UNITS, **seq), kl.Flatten(), kl.Dense(3), shape=fixed)
    yield "float16", chain(kl.GRU(UNITS, **seq, dtype="float16"), dtype="float16")


def sample(spec, random):
    shape = [2 if i == 0 else STEPS for i in range(len(spec.shape))]
    shape = [given or free for given, free in zip(spec.shape, shape)]
    name = getattr(spec.dtype, "name", spec.dtype)
    if len(shape) == 2 and spec.shape[1] is None:
        return random.integers(0, 20, shape).astype(name)
    return random.standard_normal(shape).astype(name)


def add_files(folder, name, model, inputs, outputs):
    for ending in ("keras", "h5"):
        title = f"{name}.{ending}_file"
        file = folder.path / f"{name}.{ending}"
        try:
            model.save(file)
        except Exception as error:  # noqa: BLE001
            folder.failed(title, "Keras", f"{ending}_file", error)
            continue
        try:
            folder.model_path(title).write_bytes(keras_to_onnx(file))
            folder.add(title, "Keras", f"{ending}_file", inputs, outputs)
        except rnnpack.Error as error:
            folder.refused(title, "Keras", f"{ending}_file", error)


def add_lite_files(folder, name, model, inputs):
    one_row = [x[:1] for x in inputs]
    for kind in ("tflite_f32", "tflite_f16", "tflite_int8"):
        title = f"{name}.{kind}"
        try:
            content = tensorflow_lite(model, one_row, kind)
            (folder.path / f"{title}.tflite").write_bytes(content)
            folder.add_named(title, "Keras", kind, {f"x{i}": x for i, x in enumerate(one_row)}, interpreted(content, one_row))
        except Exception as error:  # noqa: BLE001
            folder.failed(title, "Keras", kind, error)


def main():
    keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    wanted = sys.argv[2:]
    folder = Folder(sys.argv[1])
    for name, model in itertools.chain(models(), network_models()):
        if wanted and name not in wanted:
            continue
        title = f"{name}.keras"
        try:
            inputs = [sample(spec, random) for spec in model.inputs]
            if "mask" in name:
                inputs[0][0, 4:] = 0
            expected = model(inputs[0] if len(inputs) == 1 else inputs)
            outputs = [np.asarray(e) for e in tf.nest.flatten(expected)]
            add_files(folder, name, model, inputs, outputs)
            add_lite_files(folder, name, model, inputs)
            model.export(str(folder.model_path(title)), format="onnx", verbose=False)
            folder.add(title, "Keras", "keras", inputs, outputs)
        except Exception as error:  # noqa: BLE001: what an exporter cannot do is a row of the table
            folder.failed(title, "Keras", "keras", error)
        print(title, file=sys.stderr, flush=True)
    folder.close()


main()
