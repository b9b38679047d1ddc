"""Exports functions of JAX, and modules of Flax and Equinox, by jax2onnx: jax_models.py FOLDER [NAME...]

SPDX-License-Identifier: Apache-2.0
"""
import sys

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import onnx
import jax_shapes  # noqa: F401
from case import Folder
from jax2onnx import to_onnx

BATCH, STEPS, IN, HIDDEN = 1, 12, 6, 8
SEQUENCE, BY_STEP, ROW = (BATCH, STEPS, IN), (STEPS, BATCH, IN), (BATCH, IN)
KEY = jax.random.PRNGKey(0)
MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


def matrix(*shape):
    return np.random.default_rng(len(MODELS)).standard_normal(shape).astype(np.float32) * 0.4


class Rnn(nn.Module):
    """From zeros: jax2onnx does not export Flax' own start, which draws random numbers."""
    cell: nn.Module
    reverse: bool = False
    time_major: bool = False
    return_carry: bool = False

    @nn.compact
    def __call__(self, x, carry=None):
        zeros = jnp.zeros((x.shape[1 if self.time_major else 0], self.cell.features))
        start = (zeros, zeros) if "LSTM" in type(self.cell).__name__ else zeros
        layer = nn.RNN(self.cell, reverse=self.reverse, keep_order=self.reverse, time_major=self.time_major, return_carry=self.return_carry)
        return layer(x, initial_carry=start if carry is None else carry)


def flax_module(module, shape=SEQUENCE, dtype=jnp.float32):
    parameters = module.init(KEY, jnp.zeros(shape, dtype))
    parameters = jax.tree_util.tree_map(lambda p: p + 0.1 * jax.random.normal(KEY, p.shape), parameters)
    return lambda x: module.apply(parameters, x), shape


def flax_function(function):
    """A module of a function that calls modules."""
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return function(x)
    return flax_module(Net())


@model
def lstm():
    return flax_module(Rnn(nn.LSTMCell(HIDDEN)))


@model
def optimized_lstm():
    return flax_module(Rnn(nn.OptimizedLSTMCell(HIDDEN)))


@model
def gru():
    return flax_module(Rnn(nn.GRUCell(HIDDEN)))


@model
def minimal_gated_unit():
    return flax_module(Rnn(nn.MGUCell(HIDDEN)))


@model
def simple_cell():
    return flax_module(Rnn(nn.SimpleCell(HIDDEN)))


@model
def bidirectional_lstm():
    return flax_function(lambda x: jnp.concatenate([Rnn(nn.LSTMCell(HIDDEN))(x), Rnn(nn.LSTMCell(HIDDEN), reverse=True)(x)], -1))


@model
def gru_reverse():
    return flax_module(Rnn(nn.GRUCell(HIDDEN), reverse=True))


@model
def gru_between_flips():
    return flax_function(lambda x: jnp.flip(Rnn(nn.GRUCell(HIDDEN))(jnp.flip(x, 1)), 1))


@model
def lstm_time_major():
    return flax_module(Rnn(nn.LSTMCell(HIDDEN), time_major=True), BY_STEP)


@model
def lstm_with_carry():
    return flax_module(Rnn(nn.LSTMCell(HIDDEN), return_carry=True))


@model
def stacked_with_norm():
    return flax_function(lambda x: nn.sigmoid(nn.Dense(3)(Rnn(nn.LSTMCell(HIDDEN))(nn.LayerNorm()(Rnn(nn.GRUCell(HIDDEN))(nn.relu(nn.Dense(10)(x))))))))


@model
def last_step():
    return flax_function(lambda x: nn.Dense(3)(Rnn(nn.GRUCell(HIDDEN))(x)[:, -1]))


@model
def conv_gru():
    return flax_function(lambda x: nn.Dense(2)(Rnn(nn.GRUCell(HIDDEN))(
        nn.BatchNorm(use_running_average=True)(nn.gelu(nn.Conv(10, (3,), padding="CAUSAL")(x))))))


@model
def encoder_decoder():
    def net(x):
        carry, _ = Rnn(nn.LSTMCell(HIDDEN), return_carry=True)(x)
        return nn.Dense(2)(Rnn(nn.LSTMCell(HIDDEN))(x, carry))
    return flax_function(net)


@model
def embedding_gru():
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(4)(Rnn(nn.GRUCell(HIDDEN))(nn.Embed(20, IN)(x)))
    return flax_module(Net(), (BATCH, STEPS), jnp.int32)


@model
def attention():
    return flax_module(nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8))


@model
def norms():
    return flax_function(lambda x: nn.Dense(4)(nn.RMSNorm()(nn.Dense(8)(nn.GroupNorm(num_groups=2)(nn.LayerNorm()(x))))))


@model
def feed_forward():
    return flax_module(nn.Sequential([nn.Dense(8), nn.swish, nn.LayerNorm(), nn.Dense(4), nn.softmax]))


@model
def gru_step():
    cell, head = nn.GRUCell(HIDDEN), nn.Dense(2)
    of_cell, of_head = cell.init(KEY, jnp.zeros((BATCH, HIDDEN)), jnp.zeros(ROW)), head.init(KEY, jnp.zeros((BATCH, HIDDEN)))

    def step(x, h):
        h, y = cell.apply(of_cell, h, x)
        return head.apply(of_head, y), h
    return step, ROW, (BATCH, HIDDEN)


def scanned(step, start, shape=BY_STEP, **how):
    return lambda x: jax.lax.scan(step, start, x, **how)[1], shape


@model
def scan_rnn():
    w, r = matrix(IN, HIDDEN), matrix(HIDDEN, HIDDEN)
    return scanned(lambda h, x: (jnp.tanh(x @ w + h @ r),) * 2, jnp.zeros((BATCH, HIDDEN)))


@model
def scan_masked():
    """Steps whose first feature is not above 0 are passed over."""
    w, r = matrix(IN, HIDDEN), matrix(HIDDEN, HIDDEN)

    def step(h, x):
        new = jnp.tanh(x @ w + h @ r)
        runs = x[:, :1] > 0
        return jnp.where(runs, new, h), jnp.where(runs, new, 0.0)
    return scanned(step, jnp.zeros((BATCH, HIDDEN)))


@model
def scan_decay():
    w = matrix(IN, HIDDEN)
    return scanned(lambda h, x: (0.9 * h + x @ w,) * 2, jnp.zeros((BATCH, HIDDEN)))


@model
def scan_with_counter():
    def step(carry, x):
        h, i = carry
        h = jnp.tanh(x + h * jnp.where(i < 3, 0.5, 0.1))
        return (h, i + 1), h
    return scanned(step, (jnp.zeros(ROW), 0))


@model
def scan_with_positions():
    def step(h, both):
        x, i = both
        h = x + h * jnp.where(i < 3, 0.5, 0.1)
        return h, h
    return lambda x: jax.lax.scan(step, jnp.zeros(ROW), (x, jnp.arange(STEPS)))[1], BY_STEP


@model
def scan_over_layers():
    w, b = matrix(4, IN, IN), matrix(4, IN)
    return lambda x: jax.lax.scan(lambda h, p: (jnp.tanh(h @ p[0] + p[1]), None), x, (w, b))[0], SEQUENCE


@model
def scan_of_length():
    w = matrix(IN, IN)
    return lambda x: jax.lax.scan(lambda h, _: (jnp.tanh(h @ w),) * 2, x, None, length=6), ROW


@model
def fori_loop():
    w = matrix(IN, IN)
    return lambda x: jax.lax.fori_loop(0, 5, lambda i, h: jnp.tanh(h @ w) * (i + 1).astype(jnp.float32), x), ROW


@model
def fori_loop_over_weights():
    w = jnp.asarray(matrix(5, IN, IN))
    return lambda x: jax.lax.fori_loop(0, 5, lambda i, h: jnp.tanh(h @ w[i]), x), SEQUENCE


@model
def while_loop():
    w = matrix(IN, IN)
    return lambda x: jax.lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, jnp.tanh(s[1] @ w)), (0, x))[1], ROW


@model
def while_loop_until_small():
    return lambda x: jax.lax.while_loop(lambda s: jnp.max(s) > 0.1, lambda s: s * 0.5, x), ROW


@model
def map_over_steps():
    w = matrix(IN, IN)
    return lambda x: jax.lax.map(lambda row: jnp.tanh(row @ w), x), BY_STEP


@model
def cumulative_sum():
    return lambda x: jnp.cumsum(x, axis=1), SEQUENCE


def equinox_scan(cell):
    lstm = isinstance(cell, eqx.nn.LSTMCell)

    def step(h, x):
        h = cell(x, h)
        return h, h[0] if lstm else h
    zeros = jnp.zeros(HIDDEN)
    return lambda x: jax.lax.scan(step, (zeros, zeros) if lstm else zeros, x)[1]


def masked_scan():
    cell = eqx.nn.GRUCell(IN, HIDDEN, key=KEY)

    def step(h, x):
        new = jnp.where(x[0] > 0, cell(x, h), h)
        return new, new
    return lambda x: jax.lax.scan(step, jnp.zeros(HIDDEN), x)[1]


@model
def equinox_masked():
    return masked_scan(), (STEPS, IN)


@model
def equinox_masked_vmap():
    return jax.vmap(masked_scan()), SEQUENCE


@model
def equinox_gru():
    return equinox_scan(eqx.nn.GRUCell(IN, HIDDEN, key=KEY)), (STEPS, IN)


@model
def equinox_lstm():
    return equinox_scan(eqx.nn.LSTMCell(IN, HIDDEN, key=KEY)), (STEPS, IN)


@model
def equinox_gru_of_rows():
    return jax.vmap(equinox_scan(eqx.nn.GRUCell(IN, HIDDEN, key=KEY))), SEQUENCE


@model
def equinox_lstm_of_rows():
    return jax.vmap(equinox_scan(eqx.nn.LSTMCell(IN, HIDDEN, key=KEY))), SEQUENCE


@model
def cond_by_gain():
    w = matrix(IN, IN)
    return lambda x, gain: jax.lax.cond(gain[0] > 0.0, lambda x: jnp.tanh(x @ w), lambda x: 0.5 * x, x), SEQUENCE, (1,)


@model
def cond_by_mean():
    w = matrix(IN, IN)
    return lambda x: jax.lax.cond(jnp.mean(x) > 0.0, lambda x: jnp.tanh(x @ w), lambda x: 0.5 * x, x), (IN,)


def open_shape(shape):
    """Of sequences the steps too; scans that start from zeros of BATCH rows keep those."""
    rows = "B" if shape in (SEQUENCE, ROW) else BATCH
    return tuple("T" if size == STEPS else rows if size == BATCH else size for size in shape)


def export(folder, name, function, shapes, fixed):
    random = np.random.default_rng(3)
    ints = len(shapes[0]) == 2 and shapes[0] == (BATCH, STEPS)
    arrays = [random.integers(0, 20, s).astype(np.int32) if ints else random.standard_normal(s).astype(np.float32) for s in shapes]
    outputs = jax.tree_util.tree_leaves(function(*map(jnp.asarray, arrays)))
    declared = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays] if fixed else [open_shape(shapes[0])]
    onnx.save(to_onnx(function, declared), folder.model_path(name))
    folder.add(name, "jax", "jax", arrays, [np.asarray(v) for v in outputs])


def main():
    folder = Folder(sys.argv[1])
    only = sys.argv[2:]
    for name, make in MODELS.items():
        if only and name not in only:
            continue
        for kind in ("fixed", "dynamic"):
            function, *shapes = make()
            if kind == "dynamic" and (len(shapes) > 1 or name.startswith("embedding")):
                continue
            try:
                export(folder, f"jax_{name}.jax.{kind}", function, shapes, kind == "fixed")
            except Exception as error:  # noqa: BLE001
                folder.failed(f"jax_{name}.jax.{kind}", "jax", "jax", error)
    folder.close()


main()
