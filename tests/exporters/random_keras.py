"""Random Keras networks, saved as .keras or .h5, read by the Python package, run beside Keras: random_keras.py [--seed N] [--count N].

One in ten is converted to TensorFlow Lite too and run beside its interpreter.
SPDX-License-Identifier: Apache-2.0
"""
import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers as kl  # noqa: E402

from keras_lite import interpreted, tensorflow_lite  # noqa: E402
from random_networks import IDS, compared_with, main, series  # noqa: E402

ACTIVATIONS = ("relu", "tanh", "sigmoid", "linear", "elu", "selu", "softplus", "softsign", "gelu", "silu", "hard_sigmoid", "exponential", "leaky_relu", "relu6",
               "mish", "hard_silu", "hard_tanh", "log_sigmoid", "log_softmax", "celu", "tanh_shrink", "softmax")
LITE_EVERY = 10
MERGES = (kl.Add, kl.Multiply, kl.Average, kl.Maximum, kl.Minimum, kl.Subtract)


class Network:
    """Layers drawn one after the other; `x` is what the last one gives."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        r = self.random
        self.steps = None if r.random() < 0.6 else r.choice([4, 6, 8])
        features, ids = r.choice([1, 2, 3, 6]), r.random() < 0.25
        self.inputs = [keras.Input((self.steps,) if ids else (self.steps, features), dtype=r.choice(["int32", "float32"]) if ids else "float32")]
        self.x = self.inputs[0]
        self.has_layer = False
        if ids:
            self.put(kl.Embedding(IDS, r.choice([3, 5, 8]), mask_zero=r.random() < 0.5))
        elif r.random() < 0.3:
            self.put(kl.Masking(r.choice([0.0, 0.0, -1.0])))
        for _ in range(r.randint(1, 5)):
            self.put_any()
        if not self.has_layer:
            self.put_recurrent(True)
        self.outputs = [self.x]
        self.end()
        self.model = keras.Model(self.inputs, self.outputs if len(self.outputs) > 1 else self.x)
        self.set_weights(seed)

    def put(self, layer):
        self.x = layer(self.x)

    def chance(self, share):
        return self.random.random() < share

    def activation(self):
        return self.random.choice(ACTIVATIONS)

    def cell_options(self, kind):
        r = self.random
        options = {"LSTM": {"activation": ["relu", "softsign", "linear", "hard_sigmoid"], "recurrent_activation": ["hard_sigmoid", "relu"], "use_bias": [False],
                            "unit_forget_bias": [False]},
                   "GRU": {"reset_after": [False], "activation": ["relu", "softsign", "linear"], "recurrent_activation": ["hard_sigmoid"], "use_bias": [False]},
                   "SimpleRNN": {"activation": ["relu", "sigmoid", "linear"], "use_bias": [False]}}[kind]
        return {name: r.choice(values) for name, values in options.items() if self.chance(0.2)}

    def recurrent(self, sequences):
        r = self.random
        kind, units = r.choice(["LSTM", "GRU", "SimpleRNN", "RNN"]), r.choice([1, 3, 4, 7, 8, 12, 16, 17])
        if kind != "RNN":
            return getattr(kl, kind)(units, return_sequences=sequences, go_backwards=self.chance(0.2), **self.cell_options(kind))
        kinds = [r.choice(["LSTM", "GRU", "SimpleRNN"]) for _ in range(r.choice([1, 2]))]
        cells = [getattr(kl, f"{each}Cell")(r.choice([3, 5, 8]), **self.cell_options(each)) for each in kinds]
        return kl.RNN(cells if len(cells) > 1 else cells[0], return_sequences=sequences)

    def bidirectional(self, sequences):
        r = self.random
        kind, units = r.choice(["LSTM", "GRU", "SimpleRNN"]), r.choice([2, 5, 8])
        forward = getattr(kl, kind)(units, return_sequences=sequences, **self.cell_options(kind))
        backward = None
        if self.chance(0.2):
            other = r.choice(["LSTM", "GRU"])
            backward = getattr(kl, other)(units, return_sequences=sequences, go_backwards=True, **self.cell_options(other))
        return kl.Bidirectional(forward, merge_mode=r.choice(["concat", "concat", "sum", "ave", "mul"]), backward_layer=backward)

    def put_recurrent(self, sequences):
        self.has_layer = True
        if self.chance(0.3):
            self.put(self.bidirectional(sequences))
        elif sequences and self.chance(0.15):
            self.put_states()
        else:
            self.put(self.recurrent(sequences))

    def put_states(self):
        """A second layer starts from the first one's states."""
        r = self.random
        kind, units = r.choice(["LSTM", "GRU"]), r.choice([3, 5, 8])
        x, *states = getattr(kl, kind)(units, return_sequences=True, return_state=True)(self.x)
        self.x = getattr(kl, kind)(units, return_sequences=True)(self.x if self.chance(0.5) else x, initial_state=states)

    def put_merge(self):
        r = self.random
        if self.chance(0.4):
            y = self.recurrent(True)(self.x)
            self.x = kl.Concatenate()([self.x, y])
            self.has_layer = True
            return
        merge = r.choice(MERGES)
        y = [kl.Dense(self.x.shape[-1], activation=self.activation())(self.x) for _ in range(1 if merge is kl.Subtract else r.choice([1, 1, 2]))]
        self.x = merge()([self.x, *y])

    def put_shared(self):
        """One layer, read twice."""
        layer = kl.Dense(self.x.shape[-1], activation="tanh")
        self.x = layer(layer(self.x))

    def inner(self, *layers):
        """A model as a layer."""
        return keras.Sequential([keras.Input((self.x.shape[1], self.x.shape[2])), *layers])

    def put_inner(self):
        last = [self.recurrent(True), self.bidirectional(True), kl.BatchNormalization(), self.inner(kl.Dense(self.x.shape[2]), kl.BatchNormalization())]
        layers = [self.random.choice(last[:3])] if self.chance(0.5) else [last[3], self.recurrent(True)]
        self.put(self.inner(*([kl.Dense(4, activation=self.activation())] if len(layers) == 1 else []), *layers))

    def put_branches(self):
        """A model with two inputs and two outputs, called once or twice."""
        a, b = keras.Input((self.x.shape[1], self.x.shape[2])), keras.Input((self.x.shape[1], self.x.shape[2]))
        joined = kl.Concatenate()([self.recurrent(True)(a), b])
        both = keras.Model([a, b], [kl.Dense(self.x.shape[2], activation="tanh")(joined), self.inner(kl.BatchNormalization())(b)])
        one, other = both([self.x, kl.Dense(self.x.shape[2])(self.x)])
        if self.chance(0.5):
            one, other = both([other, one])
        self.has_layer, self.x = True, self.random.choice([one, other, kl.Add()([one, other])])

    def put_steps(self):
        """A model at every step."""
        if self.steps:
            self.put(kl.TimeDistributed(keras.Sequential([keras.Input((self.x.shape[2],)), kl.Dense(5, activation=self.activation()), kl.BatchNormalization()])))

    def put_any(self):
        r = self.random
        same = r.choice(["same", "causal", "valid"])
        draws = {
            "recurrent": lambda: self.put_recurrent(True),
            "more recurrent": lambda: self.put_recurrent(True),
            "dense": lambda: self.put(kl.Dense(r.choice([2, 4, 8]), activation=self.activation(), use_bias=self.chance(0.8))),
            "distributed": lambda: self.put(kl.TimeDistributed(kl.Dense(r.choice([2, 4]), activation=self.activation()))),
            "conv": lambda: self.put(kl.Conv1D(r.choice([2, 4, 6]), r.choice([1, 2, 3, 5]), padding=same, dilation_rate=r.choice([1, 1, 2]), activation=self.activation())),
            "strided conv": lambda: self.put(kl.Conv1D(4, 3, padding=same, strides=2)),
            "separable": lambda: self.put(kl.SeparableConv1D(4, 3, padding=r.choice(["same", "valid"]))),
            "depthwise": lambda: self.put(kl.DepthwiseConv1D(3, padding=r.choice(["same", "valid"]), depth_multiplier=r.choice([1, 2]))),
            "pool": lambda: self.put(r.choice([kl.MaxPooling1D, kl.AveragePooling1D])(2, strides=r.choice([1, 2]), padding=r.choice(["same", "valid"]))),
            "batch norm": lambda: self.put(kl.BatchNormalization()),
            "layer norm": lambda: self.put(kl.LayerNormalization(center=self.chance(0.8), scale=self.chance(0.8))),
            "unit norm": lambda: self.put(kl.UnitNormalization()),
            "activation": lambda: self.put(kl.Activation(self.activation())),
            "activation layer": lambda: self.put(r.choice([kl.LeakyReLU(), kl.ELU(0.7), kl.PReLU(shared_axes=[1]), kl.Softmax(), kl.ReLU(
                max_value=r.choice([None, 2.0]), negative_slope=r.choice([0.0, 0.1]), threshold=r.choice([0.0, 0.2, -0.3]))])),
            "dropout": lambda: self.put(r.choice([kl.Dropout(0.3), kl.SpatialDropout1D(0.3), kl.GaussianNoise(0.1), kl.GaussianDropout(0.1)])),
            "merge": self.put_merge,
            "shared": self.put_shared,
            "inner model": self.put_inner,
            "branches": self.put_branches,
            "model at every step": self.put_steps,
            "arithmetic": lambda: setattr(self, "x", self.x * 2.0 + 1.0),
            "pad": lambda: self.put(kl.ZeroPadding1D((r.choice([1, 2]), 0))),
            "crop": lambda: self.put(kl.Cropping1D((r.choice([0, 1]), 1))),
            "widen": lambda: self.put(kl.UpSampling1D(2)),
            "turn": lambda: self.put(kl.Permute((2, 1))) if self.steps else None,
            "reshape": lambda: self.put(kl.Reshape((self.x.shape[1], self.x.shape[2]))) if self.steps else None,
            "attention": lambda: setattr(self, "x", kl.Attention(use_scale=self.chance(0.5))([self.x, self.x])),
            "additive": lambda: setattr(self, "x", kl.AdditiveAttention()([self.x, self.x])),
            "heads": lambda: setattr(self, "x", kl.MultiHeadAttention(2, 3)(self.x, self.x)),
        }
        draws[r.choice(list(draws))]()

    def end(self):
        r = self.random
        end = r.choice(["sequence", "last", "largest", "mean", "flat", "two outputs", "none"])
        if end == "last":
            self.put_recurrent(False)
        elif end == "largest":
            self.put(kl.GlobalMaxPooling1D())
        elif end == "mean":
            self.put(kl.GlobalAveragePooling1D())
        elif end == "flat" and self.steps:
            self.put(kl.Flatten())
        elif end == "two outputs":
            self.outputs.append(kl.Dense(2)(self.x))
        if self.chance(0.7):
            self.put(kl.Dense(r.choice([1, 3]), activation=r.choice(["sigmoid", "softmax", "linear", "tanh"])))
        self.outputs[0] = self.x

    def set_weights(self, seed):
        for weight in self.model.weights:
            value = np.asarray(weight)
            if "seed" in weight.name or value.dtype.kind != "f":
                continue
            drawn = np.random.default_rng(seed + value.ndim).normal(0, 0.4, value.shape).astype(np.float32)
            weight.assign(np.abs(drawn) + 0.3 if "variance" in weight.name else drawn)

    def values(self, seed):
        """Rows of which some begin or end with what a mask leaves out."""
        r = self.random
        shape = (r.choice([1, 2, 3]), self.steps or r.choice([5, 6, 8, 12]), *self.inputs[0].shape[2:])
        x = series(seed, shape, np.int32)
        x[0, shape[1] // 2:] = 0 if len(shape) == 2 else r.choice([0, -1])
        if len(shape) == 3:
            x[-1, :2] = r.choice([0, -1])
        return x


def outputs_of(model, x):
    results = model(x)
    return [np.asarray(each) for each in (results if isinstance(results, (list, tuple)) else [results])]


def compared(model, path, x, wanted, sizes=None):
    layers = " ".join(layer.name for layer in model.layers)
    return compared_with(lambda x: outputs_of(model, x), path, x, wanted, layers, len(x), sizes)


def compared_as_lite(model, path, x):
    try:
        path.write_bytes(tensorflow_lite(model, [x], "tflite_f32"))
        wanted = interpreted(path.read_bytes(), [x])
    except Exception as error:  # noqa: BLE001: the converter or the interpreter refuses the network
        return "no file", str(error)
    return compared(model, path, x, wanted)


def run_seed(seed, folder):
    """What came of its files, each with a line about it."""
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    try:
        network = Network(seed)
        x = network.values(seed)
        wanted = outputs_of(network.model, x)
    except Exception as error:  # noqa: BLE001: Keras itself refuses the network
        return [("no network", str(error))]
    path = folder / f"network{network.random.choice(['.keras', '.h5'])}"
    network.model.save(path)
    results = [compared(network.model, path, x, wanted, {"steps": x.shape[1]} if network.steps is None else None)]
    return results + ([compared_as_lite(network.model, folder / "network.tflite", x[:1])] if seed % LITE_EVERY == 0 else [])


if __name__ == "__main__":
    sys.exit(main(run_seed, __doc__))
