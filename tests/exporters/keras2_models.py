"""Models of Keras 2 (the package tf_keras, tf.keras up to TensorFlow 2.15) as their users have them: keras2_models.py FOLDER [NAME...]

Each is saved as .h5 and .keras, which the Python package (on PYTHONPATH) reads without TensorFlow, and exported by tf2onnx.
SPDX-License-Identifier: Apache-2.0
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402
import tf_keras as keras  # noqa: E402
from tf_keras import layers as kl  # noqa: E402

from case import Folder  # noqa: E402

import rnnpack  # noqa: E402
from rnnpack._keras import keras_to_onnx  # noqa: E402

STEPS, FEATURES, UNITS, IDS = 7, 6, 10, 20
SEQ = {"return_sequences": True}
HARD = {"recurrent_activation": "hard_sigmoid"}
BEFORE = {"reset_after": False}


def chain(*stack, steps=None, ids=False):
    return keras.Sequential([keras.Input((steps,) if ids else (steps, FEATURES)), *stack])


def models():
    yield "keras2_lstm", chain(kl.LSTM(UNITS, **SEQ), kl.LSTM(UNITS), kl.Dense(3))
    yield "keras2_lstm_hard", chain(kl.LSTM(UNITS, **SEQ, **HARD))
    yield "keras2_lstm_relu", chain(kl.LSTM(UNITS, activation="relu"))
    yield "keras2_gru", chain(kl.GRU(UNITS, **SEQ), kl.Dense(3))
    yield "keras2_gru_hard", chain(kl.GRU(UNITS, **SEQ, **HARD))
    yield "keras2_gru_reset_before", chain(kl.GRU(UNITS, **SEQ, **BEFORE))
    yield "keras2_gru_hard_reset_before", chain(kl.GRU(UNITS, **SEQ, **HARD, **BEFORE), kl.GRU(UNITS, **HARD, **BEFORE))
    yield "keras2_gru_no_bias_reset_before", chain(kl.GRU(UNITS, use_bias=False, **BEFORE))
    yield "keras2_rnn_relu", chain(kl.SimpleRNN(UNITS, activation="relu"))
    yield "keras2_bidirectional_lstm", chain(kl.Bidirectional(kl.LSTM(UNITS, **SEQ)), kl.TimeDistributed(kl.Dense(3)))
    yield "keras2_bidirectional_gru_hard", chain(kl.Bidirectional(kl.GRU(UNITS, **HARD, **BEFORE)))
    yield "keras2_backwards", chain(kl.LSTM(UNITS, go_backwards=True, **SEQ))
    yield "keras2_cells", chain(kl.RNN([kl.LSTMCell(UNITS), kl.GRUCell(4)], **SEQ))
    yield "keras2_unrolled", chain(kl.GRU(UNITS, unroll=True, **HARD, **BEFORE), steps=STEPS)
    yield "keras2_convolution", chain(kl.Conv1D(8, 3, padding="causal", activation="relu"), kl.BatchNormalization(), kl.GRU(UNITS))
    yield "keras2_mask", chain(kl.Masking(0.0), kl.LSTM(UNITS), kl.Dense(1))
    yield "keras2_mask_gru_hard", chain(kl.Masking(0.0), kl.GRU(UNITS, **HARD, **BEFORE))
    yield "keras2_ids", chain(kl.Embedding(IDS, 8), kl.LSTM(UNITS), ids=True)
    yield "keras2_ids_mask", chain(kl.Embedding(IDS, 8, mask_zero=True), kl.Bidirectional(kl.LSTM(UNITS)), kl.Dense(2), ids=True)


def sample(model, random):
    ids = len(model.inputs[0].shape) == 2
    x = random.integers(1, IDS, (2, STEPS)) if ids else random.standard_normal((2, STEPS, FEATURES))
    if "mask" in model.name:
        x[0, 4:] = 0
    return x.astype(np.float32)


def add(folder, model, kind, x, y, write):
    title = f"{model.name}.{kind}"
    try:
        folder.model_path(title).write_bytes(write())
        folder.add(title, "Keras", kind, [x], [y])
    except rnnpack.Error as error:
        folder.refused(title, "Keras", kind, error)
    except Exception as error:  # noqa: BLE001: what an exporter cannot do is a row of the table
        folder.failed(title, "Keras", kind, error)


def exported(model):
    spec = [tf.TensorSpec(model.inputs[0].shape, tf.float32, name="x")]
    proto, _ = tf2onnx.convert.from_function(tf.function(lambda x: model(x), input_signature=spec), input_signature=spec, opset=15)
    return proto.SerializeToString()


def saved(model, path):
    model.save(path)
    return keras_to_onnx(path)


def main():
    keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    folder = Folder(sys.argv[1])
    for name, model in models():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        model._name = name
        model.set_weights([np.abs(w) if "variance" in v.name else random.normal(0, 0.3, w.shape) for v, w in zip(model.weights, model.get_weights())])
        x = sample(model, random)
        y = np.asarray(model(x))
        add(folder, model, "keras2_h5", x, y, lambda: saved(model, folder.path / f"{name}.h5"))
        add(folder, model, "keras2_file", x, y, lambda: saved(model, folder.path / f"{name}.keras"))
        add(folder, model, "keras2", x, y, lambda: exported(model))
        print(name, file=sys.stderr, flush=True)
    folder.close()


main()
