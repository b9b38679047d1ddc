"""Random networks of JAX, Flax and Equinox, exported by jax2onnx and run by the Python package beside JAX: random_jax.py [--seed N] [--count N].

SPDX-License-Identifier: Apache-2.0
"""
import logging
import random
import sys
import warnings

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import onnx
from flax import nnx
from jax2onnx import to_onnx

import jax_shapes  # noqa: F401
from random_networks import IDS, compared_with, main, series

KEY = jax.random.PRNGKey(0)
ACTIVATIONS = {
    "relu": nn.relu, "tanh": jnp.tanh, "sigmoid": nn.sigmoid, "gelu": nn.gelu, "gelu_exact": lambda x: nn.gelu(x, approximate=False), "silu": nn.silu,
    "elu": nn.elu, "selu": nn.selu, "celu": nn.celu, "softplus": nn.softplus, "leaky_relu": lambda x: nn.leaky_relu(x, 0.2), "soft_sign": nn.soft_sign,
    "relu6": nn.relu6, "hard_tanh": nn.hard_tanh, "hard_sigmoid": nn.hard_sigmoid, "hard_silu": jax.nn.hard_silu, "log_sigmoid": nn.log_sigmoid,
    "mish": jax.nn.mish, "squareplus": jax.nn.squareplus, "softmax": nn.softmax, "log_softmax": nn.log_softmax, "square": lambda x: jnp.square(nn.relu(x)),
    "where": lambda x: jnp.where(x > 0, x, 0.1 * x), "clip": lambda x: jnp.clip(x, -0.7, 0.9), "exp": lambda x: jnp.exp(-jnp.abs(x)),
    "log1p": lambda x: jnp.sign(x) * jnp.log1p(jnp.abs(x)), "sin": jnp.sin, "abs": jnp.abs, "power": lambda x: x ** 3 / (1 + x ** 2),
    "sqrt": lambda x: jnp.sqrt(x ** 2 + 1e-3), "minimum": lambda x: jnp.minimum(x, 0.5), "tanh_gelu": lambda x: 0.5 * x * (1 + jnp.tanh(0.8 * x))}
BACKWARDS = 0.01  # of scans: jax2onnx 0.17 exports none with reverse=True
BOTH = 0.5  # networks with what keeps a state beside layers and with what knows the whole run
KEEPS_STATE = {"cumsum", "cumlogsumexp"}  # and loops that are no layer
WHOLE_RUN = {"attention", "over time", "squeeze", "flip", "flip by slice", "backward cumsum", "center", "min max", "places", "pool", "roll", "mean so far"}
CELLS = ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell", "MGUCell")


def is_float(leaf):
    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)


class Network:
    """Functions drawn one after the other, called in turn."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.time, self.batch = r.choice([*[(1, 0)] * 5, *[(0, 1)] * 4, (0, None)])  # the axes of the steps and of the rows
        self.features = self.width = r.choice([1, 2, 3, 6])
        self.steps = r.choice([5, 6, 8])
        self.parts, self.names, self.has_layer, self.fixed = [], [], False, False
        self.keeps_state, self.knows_all = (True, True) if self.chance(BOTH) else r.choice([(True, False), (False, True)])
        self.ids = self.batch is not None and self.chance(0.15)
        if self.ids:
            self.add_table()
        for _ in range(r.randint(1, 4)):
            self.draw()
        if not self.has_layer:
            self.add_layer()
        if self.chance(0.6):
            self.add_end()
        if self.chance(0.6):
            self.add("head", self.dense(r.choice([1, 3])), 3)
        self.gives_both = not self.ids and self.chance(0.15)

    def chance(self, share):
        return self.random.random() < share

    def matrix(self, *shape):
        return jnp.asarray(self.numbers.normal(0, 0.4, shape), jnp.float32)

    def add(self, name, call, width=None):
        self.names.append(name)
        self.parts.append(call)
        self.width = width or self.width

    def drawn(self, tree):
        """The same module with weights of ours."""
        def draw(path, leaf):
            value = self.matrix(*leaf.shape) if is_float(leaf) else leaf
            return jnp.abs(value) + 0.3 if "'var'" in jax.tree_util.keystr(path) else value
        return jax.tree_util.tree_map_with_path(draw, tree)

    def linen(self, module, width=None):
        shape = [2] * (2 if self.batch is None else 3)
        shape[self.time], shape[-1] = self.steps, width or self.width
        variables = self.drawn(module.init(KEY, jnp.zeros(shape)))
        return lambda *args, **how: module.apply(variables, *args, **how)

    def nnx(self, module):
        graph, state = nnx.split(module)
        module = nnx.merge(graph, self.drawn(state))
        module.eval()
        return module

    def rows(self, function):
        """Equinox' modules take one row of [steps, features]."""
        return function if self.batch is None else jax.vmap(function, in_axes=self.batch, out_axes=self.batch)

    def start(self, x, size):
        return jnp.zeros((size,) if self.batch is None else (x.shape[self.batch], size))

    def scan(self, step, start, x, **how):
        """x: one array or several, all of this network's axes."""
        turn = (lambda tree: tree) if self.time == 0 else lambda tree: jax.tree_util.tree_map(lambda each: jnp.swapaxes(each, 0, 1), tree)
        return turn(jax.lax.scan(step, start, turn(x), **how)[1])

    def narrow(self, x, first, last):
        """These steps alone."""
        return x[first:last] if self.time == 0 else x[:, first:last]

    # Layers that carry a state.

    def linen_layer(self, hidden):
        r, kind = self.random, self.random.choice(CELLS if self.keeps_state else CELLS[:4])
        options = {"GRUCell": {"activation_fn": nn.relu}, "SimpleCell": {"activation_fn": nn.relu, "residual": True}, "MGUCell": {"reset_gate": False},
                   "LSTMCell": {"gate_fn": nn.hard_sigmoid, "activation_fn": nn.soft_sign}, "OptimizedLSTMCell": {"activation_fn": nn.relu}}[kind]
        options = {name: value for name, value in options.items() if self.chance(0.15)} if self.keeps_state else {}
        how, turns = {"time_major": self.time == 0}, self.knows_all
        layers = [nn.RNN(getattr(nn, kind)(hidden, **options), unroll=r.choice([1, 1, 2]), reverse=way == "back", keep_order=self.chance(0.7), **how)
                  for way in (["there", "there too"] if turns and self.chance(0.3) else [r.choice(["there", "back"] if turns else ["there"])])]
        two = len(layers) == 2
        layer = self.linen(nn.Bidirectional(*layers, **how) if two else layers[0])
        own_start = self.chance(0.98 if "LSTM" in kind else 0.5)  # else Flax' own, of which jax2onnx 0.17 does not export LSTMs'

        def run(x):
            zeros = self.start(x, hidden)
            start = (zeros, zeros) if "LSTM" in kind else zeros
            return layer(x, initial_carry=(start, start) if two else start) if own_start else layer(x)
        self.add(f"linen {'both ' if two else ''}{kind}", run, hidden * len(layers))

    def linen_states(self, hidden):
        """The second layer starts from the first one's state."""
        kind = self.random.choice(CELLS[:4])
        first, second = (self.linen(nn.RNN(getattr(nn, kind)(hidden), time_major=self.time == 0)) for _ in range(2))

        def run(x):
            zeros = self.start(x, hidden)
            start = (zeros, zeros) if "LSTM" in kind else zeros
            return second(x, initial_carry=first(x, initial_carry=start, return_carry=True)[0])
        self.add(f"linen states {kind}", run, hidden)

    def nnx_layer(self, hidden):
        kind, r = self.random.choice(CELLS[:4]), self.random
        way = r.choice(["RNN", "RNN", "scan", "loop", "both"])
        way = way if way != "both" or self.knows_all else "RNN"
        cells = [self.nnx(getattr(nnx, kind)(self.width, hidden, rngs=nnx.Rngs(0))) for _ in range(2)]
        reverse, keep, axis, whole = self.chance(BACKWARDS if way == "scan" else 0.3 if self.knows_all else 0), self.chance(0.7), self.time, self.time == 0
        self.fixed |= way == "loop"

        def run(x):
            zeros = self.start(x, hidden)
            start = (zeros, zeros) if "LSTM" in kind else zeros
            if way == "scan":
                return self.scan(cells[0], start, x, reverse=reverse)
            if way == "loop":
                out = []
                for step in range(x.shape[axis]):
                    start, y = cells[0](start, jax.lax.index_in_dim(x, step, axis, keepdims=False))
                    out.append(y)
                return jnp.stack(out, axis)
            layers = [nnx.RNN(each, time_major=whole) for each in nnx.clone(cells)]  # of this trace: nnx.scan takes no others
            if way == "both":
                return nnx.Bidirectional(*layers, time_major=whole, rngs=nnx.Rngs(0))(x, initial_carry=(start, start))
            return layers[0](x, initial_carry=start, reverse=reverse, keep_order=keep)
        self.add(f"nnx {way} {kind}", run, hidden * (2 if way == "both" else 1))

    def eqx_layer(self, hidden):
        kind, r = self.random.choice([eqx.nn.GRUCell, eqx.nn.LSTMCell]), self.random
        cell = self.drawn(kind(self.width, hidden, use_bias=self.chance(0.8), key=KEY))
        how = {"reverse": self.chance(BACKWARDS), "unroll": r.choice([1, 1, 2])}

        def step(state, x):
            state = cell(x, state)
            return state, state[0] if isinstance(state, tuple) else state

        def run(x):
            zeros = jnp.zeros(hidden)
            return jax.lax.scan(step, (zeros, zeros) if kind is eqx.nn.LSTMCell else zeros, x, **how)[1]
        self.add(f"eqx {kind.__name__}", self.rows(run), hidden)

    def own_step(self, size):
        """A name; a step of the state and of x; how many numbers each array of the state has; the output's width, where it is another."""
        width, m = self.width, self.matrix
        w, u, b, wide, tall = m(width, size), m(size, size), m(size), m(width, 4 * size), m(size, 4 * size)
        other, mixed, decay = m(width, size), m(width + size, 2 * size), nn.sigmoid(m(size))

        def twice(new):
            return new, new

        def lstm(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ wide + h @ tall, 4, -1)
            c = nn.sigmoid(f + 1) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        def gru(h, x):
            z, r = jnp.split(nn.sigmoid(jnp.concatenate([x, h], -1) @ mixed), 2, -1)
            return twice((1 - z) * h + z * jnp.tanh(x @ w + (r * h) @ u))

        def rotating(state, x):
            real, imaginary = state
            real, imaginary = decay * (real * 0.8 - imaginary * 0.6) + x @ w, decay * (real * 0.6 + imaginary * 0.8) + x @ other
            return (real, imaginary), jnp.concatenate([real, imaginary], -1)

        def exponential(state, x):
            c, n, most = state
            i, f, z, _ = jnp.split(x @ wide, 4, -1)
            new = jnp.maximum(f + most, i)
            c, n = jnp.exp(f + most - new) * c + jnp.exp(i - new) * jnp.tanh(z), jnp.exp(f + most - new) * n + jnp.exp(i - new)
            return (c, n, new), c / jnp.maximum(n, 1.0)

        def normalized(h, x):
            h = x @ w + h @ u
            h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-3)
            return twice(jnp.tanh(h))

        def two_layers(state, x):
            first = jnp.tanh(x @ w + state[0] @ u)
            second = jnp.tanh(first @ u.T + state[1] * decay)
            return (first, second), second

        def gate(h, x):
            z = nn.sigmoid(x @ w)
            return twice((1 - z) * h + z * (x @ other))
        layers = [("plain", lambda h, x: twice(jnp.tanh(x @ w + h @ u + b)), (size,)), ("lstm", lstm, (size, size)), ("gru", gru, (size,))]
        return self.random.choice(layers if not self.keeps_state else [
            *layers, ("leaky", lambda h, x: twice(h + 0.3 * (nn.relu(x @ w + h @ u + b) - h)), (size,)),
            ("independent", lambda h, x: twice(jnp.tanh(x @ w + h * decay)), (size,)), ("decay", lambda h, x: twice(decay * h + x @ w), (size,)),
            ("average", lambda h, x: twice(0.9 * h + 0.1 * x), (width,), width),
            ("largest", lambda h, x: twice(jnp.maximum(h, x)), (width,), width),
            ("masked", lambda h, x: twice(jnp.where(x[..., :1] > 0, jnp.tanh(x @ w + h @ u), h)), (size,)),
            ("before", lambda h, x: (jnp.tanh(x @ w + h @ u), h @ u), (size,)),
            ("delay", lambda s, x: ((x, s[0]), x + 0.5 * s[0] - 0.2 * s[1]), (width, width), width),
            ("rotating", rotating, (size, size), 2 * size), ("exponential", exponential, (size,) * 3),
            ("normalized", normalized, (size,)), ("two layers", two_layers, (size, size)), ("minimal gru", gate, (size,))])

    def own_layer(self, hidden):
        name, step, sizes, *width = self.own_step(hidden)
        how = {"reverse": self.chance(BACKWARDS), "unroll": self.random.choice([1, 1, 1, 2])}
        first = [self.matrix(size) for size in sizes] if self.chance(0.05) else None  # learned
        single = self.chance(0.3)

        def run(x, rows):
            start = tuple(jnp.zeros((*rows, size)) if first is None else jnp.broadcast_to(first[i], (*rows, size)) for i, size in enumerate(sizes))
            return start if len(start) > 1 else start[0]
        call = self.rows(lambda x: jax.lax.scan(step, run(x, ()), x, **how)[1]) if single else lambda x: self.scan(
            step, run(x, () if self.batch is None else (x.shape[self.batch],)), x, **how)
        self.add(f"scan {name}", call, *width or (hidden,))

    def linear_layer(self, hidden):
        """h = a h + b of every step, written in the ways of linear recurrences."""
        r, axis = self.random, self.time
        way = r.choice([*["scan", "scan", "matrix", "sums"] * self.keeps_state, "doubling", "associative"])
        gates, inputs, keys, values = (self.matrix(self.width, hidden) for _ in range(4))
        self.fixed |= way in ("doubling", "associative")

        def join(left, right):
            return left[0] * right[0], right[0] * left[1] + right[1]

        def shifted(x, count, value):
            first = jnp.full_like(self.narrow(x, 0, count), value)
            return jnp.concatenate([first, self.narrow(x, 0, x.shape[axis] - count)], axis)

        def run(x):
            a, b = nn.sigmoid(jnp.tanh(x) @ gates), x @ inputs
            if way == "scan":
                return self.scan(lambda h, each: (each[0] * h + each[1],) * 2, self.start(x, hidden), (a, b))
            if way == "matrix":  # linear attention: the state is a matrix
                def step(state, each):
                    decay, key, value, query = each
                    state = decay[..., None] * state + key[..., None] * value[..., None, :]
                    return state, jnp.einsum("...kv,...k->...v", state, query)
                zeros = jnp.zeros((hidden, hidden) if self.batch is None else (x.shape[self.batch], hidden, hidden))
                return self.scan(step, zeros, (a, x @ keys, x @ values, b))
            if way == "doubling":
                for count in (1, 2, 4):
                    a, b = a * shifted(a, count, 1), b + a * shifted(b, count, 0)
                return b
            if way == "sums":
                total = jnp.cumsum(jnp.log(a), axis=axis)
                return jnp.exp(total) * jnp.cumsum(b * jnp.exp(-total), axis=axis)
            return jax.lax.associative_scan(join, (a, b), axis=axis)[1]
        if way != "associative" or self.chance(0.1):  # jax2onnx 0.17 does not export it
            self.add(f"linear {way}", run, hidden)

    def add_layer(self):
        r = self.random
        self.has_layer = True
        own = [self.own_layer, self.own_layer, self.eqx_layer]
        flax = [self.linen_layer, self.linen_layer, self.nnx_layer]  # of one row without a batch jax2onnx 0.17 writes invalid files
        flax += [self.linen_states] * self.knows_all
        r.choice(own if self.batch is None else own + flax)(r.choice([1, 3, 5, 8, 12]))

    # Layers that do not.

    def dense(self, out):
        r, width, bias = self.random, self.width, self.chance(0.8)
        w, b = self.matrix(width, out), self.matrix(out)
        module = self.nnx(nnx.Linear(width, out, use_bias=bias, rngs=nnx.Rngs(0)))
        dense = nn.Dense(out, use_bias=bias)
        variables = self.drawn(dense.init(KEY, jnp.zeros((1, width))))
        ways = [lambda x: x @ w + b, lambda x: jnp.dot(x, w) + b]
        if self.batch is not None:  # else jax2onnx 0.17 writes an invalid product of a vector
            ways += [module, lambda x: dense.apply(variables, x), module, lambda x: dense.apply(variables, x)]
        return r.choice([*ways * 8, lambda x: jnp.einsum("...i,io->...o", x, w)])

    def add_table(self):
        r, width = self.random, self.random.choice([3, 5, 8])
        table = self.matrix(IDS, width)
        module, linen = self.nnx(nnx.Embed(IDS, width, rngs=nnx.Rngs(0))), nn.Embed(IDS, width)
        variables = self.drawn(linen.init(KEY, jnp.zeros((1, 2), jnp.int32)))
        ways = [("nnx embed", module), ("linen embed", lambda ids: linen.apply(variables, ids)), ("take", lambda ids: jnp.take(table, ids, axis=0))]
        name, call = r.choice([*ways * 8, ("index", lambda ids: table[ids]), ("one hot", lambda ids: jax.nn.one_hot(ids, IDS) @ table)])
        self.add(name, call, width)

    def batch_first(self, call):
        """A module of [batch, steps, features] in this network."""
        return call if self.batch != 1 else lambda x: jnp.swapaxes(call(jnp.swapaxes(x, 0, 1)), 0, 1)

    def add_conv(self):
        r, width, out, taps, far = self.random, self.width, self.random.choice([2, 4, 8]), self.random.choice([1, 2, 3, 5]), self.random.choice([1, 1, 2])
        kind, padding = r.choice(["linen", "nnx", "lax", "eqx", "depthwise"]), r.choice(["CAUSAL", "CAUSAL", "SAME", "VALID"] if self.knows_all else ["CAUSAL"])
        if padding == "VALID" and far * (taps - 1) > 3:
            padding = "SAME"
        if kind in ("linen", "nnx"):
            groups = {"feature_group_count": 2} if width % 2 == 0 and self.chance(0.2) else {}
            how = {"padding": padding, "kernel_dilation": far, "use_bias": self.chance(0.8), **groups}
            if kind == "nnx":
                call = self.nnx(nnx.Conv(width, out, (taps,), rngs=nnx.Rngs(0), **how))
            else:
                module = nn.Conv(out, (taps,), **how)
                variables = self.drawn(module.init(KEY, jnp.zeros((1, 8, width))))
                call = lambda x: module.apply(variables, x)  # noqa: E731
            self.add(f"{kind} conv {padding}", self.batch_first(call), out)
        elif kind == "eqx":
            module = self.drawn(eqx.nn.Conv1d(width, out, taps, padding=((far * (taps - 1), 0),), dilation=far, key=KEY))
            self.add("eqx conv", self.rows(lambda x: module(x.T).T), out)
        elif self.batch is not None:
            out = width if kind == "depthwise" else out
            w = self.matrix(taps, 1 if kind == "depthwise" else width, out)
            how = {"dimension_numbers": ("NWC", "WIO", "NWC"), "rhs_dilation": (far,), "feature_group_count": width if kind == "depthwise" else 1}
            padding = padding if padding != "CAUSAL" else [(far * (taps - 1), 0)]
            self.add(f"{kind} conv {padding}", self.batch_first(lambda x: jax.lax.conv_general_dilated(x, w, (1,), padding, **how)), out)

    def add_pool(self):
        function, window = self.random.choice([nn.avg_pool, nn.max_pool]), self.random.choice([2, 3])
        if self.batch is not None:
            self.add(function.__name__, self.batch_first(lambda x: function(x, window_shape=(window,), strides=(1,), padding="SAME")))

    def add_norm(self):
        width, scale = self.width, self.matrix(self.width)
        over = self.rows(jax.vmap(self.drawn(eqx.nn.LayerNorm(width)))), self.rows(jax.vmap(self.drawn(eqx.nn.RMSNorm(width))))
        flags = {"use_bias": self.chance(0.8), "use_scale": self.chance(0.8)}
        name, call = self.random.choice([
            ("linen LayerNorm", self.linen(nn.LayerNorm(**flags))), ("linen RMSNorm", self.linen(nn.RMSNorm())),
            ("nnx LayerNorm", self.nnx(nnx.LayerNorm(width, rngs=nnx.Rngs(0), **flags))), ("nnx RMSNorm", self.nnx(nnx.RMSNorm(width, rngs=nnx.Rngs(0)))),
            ("linen BatchNorm", self.linen(nn.BatchNorm(use_running_average=True))), ("nnx BatchNorm", self.nnx(nnx.BatchNorm(width, rngs=nnx.Rngs(0)))),
            ("eqx LayerNorm", over[0]), ("eqx RMSNorm", over[1]),
            ("own RMSNorm", lambda x: scale * x * jax.lax.rsqrt(jnp.mean(x ** 2, -1, keepdims=True) + 1e-5)),
            ("standardize", lambda x: nn.standardize(x, axis=-1)), ("unit", lambda x: x / (jnp.linalg.norm(x, axis=-1, keepdims=True) + 1e-3)),
            ("own LayerNorm", lambda x: scale * (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5))])
        self.add(name, call)

    def add_attention(self):
        r, width, size = self.random, self.width, 4
        q, k, v = (self.matrix(width, size) for _ in range(3))
        mask = jnp.tril(jnp.ones((self.steps, self.steps), bool))
        way = r.choice(["linen", "nnx", "own", "causal", "jax.nn"])
        self.fixed = True
        if self.batch is None:
            return

        def own(x):
            scores = jnp.einsum("bqd,bkd->bqk", x @ q, x @ k) / np.sqrt(size)
            return nn.softmax(jnp.where(mask, scores, -1e9) if way == "causal" else scores, -1) @ (x @ v)

        def heads(x):
            split = [(x @ each).reshape(x.shape[0], x.shape[1], 2, size // 2) for each in (q, k, v)]
            return jax.nn.dot_product_attention(*split, is_causal=True).reshape(x.shape[0], x.shape[1], size)
        linen = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=4)
        variables = self.drawn(linen.init(KEY, jnp.zeros((1, self.steps, width))))
        module = self.nnx(nnx.MultiHeadAttention(2, width, 4, decode=False, rngs=nnx.Rngs(0)))
        call = {"linen": lambda x: linen.apply(variables, x), "nnx": module, "jax.nn": heads}.get(way, own)
        self.add(f"{way} attention", self.batch_first(call), None if way in ("linen", "nnx") else size)

    def shifted(self, x, first):
        return jnp.concatenate([first(self.narrow(x, 0, 1)), self.narrow(x, 0, -1)], self.time)

    def draw(self):
        r, width, axis = self.random, self.width, self.time
        out, activation, half = r.choice([2, 4, 8]), r.choice(list(ACTIVATIONS)), width // 2
        act, pads = ACTIVATIONS[activation], [(0, 0)] * (2 if self.batch is None else 3)
        pads[axis] = (1, 0)
        by_any = self.chance(0.2)
        same, gate, wide, places = self.dense(width), self.dense(width), self.dense(2 * width), self.matrix(self.steps, width)
        dropout, by_nnx = nn.Dropout(0.3, deterministic=True), self.nnx(nnx.Dropout(0.3, rngs=nnx.Rngs(0)))
        dense, choice, w, v = self.dense(out), jnp.asarray([self.random.randrange(width) for _ in range(3)]), self.matrix(width, width), self.matrix(width)

        def counts(x):
            return (x != 0).any(-1, keepdims=True) if by_any else jnp.abs(x).sum(-1, keepdims=True) > 0

        def put(call, width=None):
            return lambda: self.add(name, call, width)
        draws = {
            "layer": self.add_layer, "more layers": self.add_layer, "other layers": self.add_layer, "linear": lambda: self.linear_layer(r.choice([2, 5, 8])),
            "conv": self.add_conv, "norm": self.add_norm, "pool": self.add_pool, "attention": self.add_attention,
            "dense": lambda: self.add(f"dense {activation}", lambda x: act(dense(x)), out),
            "activation": lambda: self.add(activation, act),
            "glu": put(lambda x: nn.glu(wide(x), axis=-1)),
            "swiglu": put(lambda x: (lambda a, b: same(nn.silu(a) * b))(*jnp.split(wide(x), 2, axis=-1))),
            "own glu": put(lambda x: wide(x)[..., :width] * nn.sigmoid(wide(x)[..., width:])),
            "dropout": put(r.choice([lambda x: dropout.apply({}, x), by_nnx])),
            "residual": put(lambda x: x + act(same(x))),
            "highway": put(lambda x: (lambda z: z * x + (1 - z) * jnp.tanh(same(x)))(nn.sigmoid(gate(x)))),
            "concat": put(lambda x: jnp.concatenate([x, act(dense(x))], axis=-1), width + out),
            "einsum": put(lambda x: jnp.einsum("...i,oi->...o" if self.batch is None else "abi,oi->abo", x, w)),
            "over time": put(lambda x: x * nn.softmax(gate(x).mean(-1, keepdims=True), axis=axis)),
            "squeeze": put(lambda x: x * nn.sigmoid(gate(x.mean(axis, keepdims=True)))),
            "flip": put(lambda x: jnp.flip(x, axis)),
            "flip by slice": put(lambda x: x[::-1] if axis == 0 else x[:, ::-1]),
            "flip features": put(lambda x: x[..., ::-1]),
            "shift by pad": put(lambda x: self.narrow(jnp.pad(x, pads), 0, -1)),
            "roll": put(lambda x: jnp.roll(x, 1, axis)),
            "shift": lambda: self.put_shifted(r.choice([lambda x: self.shifted(x, jnp.zeros_like), lambda x: x - self.shifted(x, lambda first: first)])),
            "diff": put(lambda x: jnp.diff(x, axis=axis, prepend=self.narrow(x, 0, 1))),
            "cumsum": put(lambda x: jnp.cumsum(x, axis=axis)),
            "backward cumsum": put(lambda x: jax.lax.cumsum(x, axis=axis, reverse=True)),
            "cumlogsumexp": put(lambda x: jax.lax.cumlogsumexp(x, axis=axis)),
            "mean so far": self.put_mean_so_far,
            "by the first": put(lambda x: x * x[..., :1] * 2 + 1),
            "stack": put(lambda x: jnp.stack([x, x * 2], axis=-1).sum(-1)),
            "split": put(lambda x: (lambda a, b: jnp.concatenate([b, jnp.tanh(a)], -1))(*jnp.split(x, [half], axis=-1))) if half else None,
            "take": put(lambda x: jnp.take(x, choice, axis=-1), 3),
            "index": put(lambda x: x[..., choice], 3),
            "turn": put(lambda x: jnp.swapaxes(jnp.swapaxes(x, -1, -2) * 2, -1, -2)),
            "center": put(lambda x: x - x.mean(axis, keepdims=True)),
            "min max": put(lambda x: (x - x.min(axis, keepdims=True)) / (jnp.ptp(x, axis, keepdims=True) + 1e-2)),
            "scale": put(lambda x: (x - v) / (1 + jnp.abs(v))),
            "mask": put(lambda x: jnp.where(x[..., :1] > 0, x, 0.0)),
            "mask of steps": put(lambda x: jnp.where(counts(x), same(x), 0.0)),
            "places": lambda: self.put_places(places),
            "select": put(lambda x: jax.lax.select(x > 0, x, jnp.zeros_like(x))),
            "tile": put(lambda x: jnp.concatenate([x, x], axis=-1), 2 * width),
            "repeat": put(lambda x: jnp.repeat(x, 2, axis=-1), 2 * width),
            "heads": put(lambda x: (x.reshape(*x.shape[:-1], 2, half) * v[:2, None]).reshape(x.shape)) if width % 2 == 0 else None,
        }
        name = r.choice(list(draws))
        if (name in WHOLE_RUN and not self.knows_all) or (name in KEEPS_STATE and not self.keeps_state):
            return
        if draws[name]:
            draws[name]()

    def put_shifted(self, call):
        self.fixed = True  # of open steps jax2onnx 0.17 lets a scan behind run once
        self.add("shifted", call)

    def put_places(self, places):
        self.fixed = True
        self.add("places", lambda x: x + (places if self.time or self.batch is None else places[:, None]))

    def put_mean_so_far(self):
        self.fixed = True
        counts = jnp.arange(1, self.steps + 1)
        counts = counts[:, None] if self.time or self.batch is None else counts[:, None, None]
        self.add("mean so far", lambda x: jnp.cumsum(x, axis=self.time) / counts)

    def add_end(self):
        axis, mix = self.time, self.matrix(self.width)
        ends = [("last", lambda x: x[-1] if axis == 0 else x[:, -1], 1), ("last", lambda x: jnp.take(x, -1, axis=axis), 1), ("mean", lambda x: x.mean(axis), 1),
                ("max", lambda x: x.max(axis), 1), ("sum", lambda x: jnp.sum(x, axis=axis), 1),
                ("mean and max", lambda x: jnp.concatenate([x.mean(axis), x.max(axis)], -1), 2)]
        name, call, times = self.random.choice(ends if not self.knows_all else [
            *ends * 2, ("attended", lambda x: jnp.sum(x * nn.softmax((x @ mix)[..., None], axis=axis), axis=axis), 1),
            ("std", lambda x: jnp.sqrt(x.var(axis) + 1e-3), 1),
            ("first", lambda x: x[0] if axis == 0 else x[:, 0], 1), ("logsumexp", lambda x: jax.nn.logsumexp(x, axis=axis), 1)])
        self.add(f"to {name}", call, self.width * times)

    def __call__(self, x):
        y = x
        for call in self.parts:
            y = call(y)
        return (y, x * 2) if self.gives_both else y


def declared(network, x):
    """What jax2onnx is told of x."""
    shape, r = list(x.shape), network.random
    if not network.fixed and network.chance(0.6):
        sizes = jax.export.symbolic_shape("batch, steps")
        for axis, size in r.choice([[(network.batch, sizes[0]), (network.time, sizes[1])], [(network.batch, sizes[0])], [(network.time, sizes[1])]]):
            if axis is not None:
                shape[axis] = size
    return jax.ShapeDtypeStruct(tuple(shape), x.dtype)


def run_seed(seed, folder):
    """What came of its file, and a line about it."""
    network = Network(seed)
    shape = [1, 1] if network.ids or network.batch is None else [1, 1, 1]
    shape[network.time], rows = network.steps, 1
    if network.batch is not None:
        shape[network.batch] = rows = network.random.choice([1, 2, 3])
    if not network.ids:
        shape[-1] = network.features
    x = series(seed, [1, *shape] if network.batch is None else shape, np.int32).reshape(shape)
    compiled, path = jax.jit(network), folder / "network.onnx"

    def run(values):
        return [np.asarray(each) for each in jax.tree_util.tree_leaves(compiled(jnp.asarray(values)))]
    wanted = run(x)
    if not all(np.isfinite(each).all() for each in wanted):
        return [("no network", "its numbers are not finite")]
    try:
        onnx.save(to_onnx(network, [declared(network, x)]), path)
    except Exception as error:  # noqa: BLE001: what the exporter does not take
        return [("not exported", str(error).split("\n")[0][:80])]
    dims = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
    sizes = {dim.dim_param: x.shape[axis] for axis, dim in enumerate(dims) if dim.dim_param}
    return [compared_with(run, path, x, wanted, ", ".join(network.names), rows, sizes)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    sys.exit(main(run_seed, __doc__, least_right=0.65))
