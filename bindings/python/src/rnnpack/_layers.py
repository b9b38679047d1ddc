# SPDX-License-Identifier: Apache-2.0
"""Layers of Keras and PyTorch on values [batch, steps, features] or [batch, features], as nodes of a Graph. Weights come as Keras has
them; of_torch() turns those of PyTorch."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._errors import ModelError
from ._graph import BOOL, FLOAT, INT32, Graph, Size

Array = npt.NDArray[Any]
HARD_SLOPE, OLD_HARD_SLOPE = 1 / 6, 0.2  # of hard_sigmoid, whose middle is 0.5: of Keras 3, and before
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
_ORDER = {"rnn": (0,), "gru": (0, 1, 2), "lstm": (0, 3, 1, 2)}  # Keras' gates in ONNX's order
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "softmax": "Softmax", "elu": "Elu", "selu": "Selu", "softplus": "Softplus",
                "softsign": "Softsign", "exponential": "Exp", "gelu": "Gelu", "mish": "Mish", "hard_silu": "HardSwish", "hard_swish": "HardSwish",
                "log_softmax": "LogSoftmax", "celu": "Celu"}
_BOUNDS = {"relu6": (0.0, 6.0), "hard_tanh": (-1.0, 1.0)}
_INNER = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "softsign": "Softsign", "softplus": "Softplus", "hard_sigmoid": "HardSigmoid",
          "linear": "Affine"}


@dataclass(frozen=True)
class Value:
    """mask: of a tensor [batch, steps], 1 where a step counts and 0 where layers pass over it; or empty. is_mask: it is one itself."""
    name: str
    shape: Tuple[Size, ...]
    mask: str = ""
    is_mask: bool = False

    @property
    def features(self) -> int:
        last = self.shape[-1]
        if not isinstance(last, int):
            raise ModelError(f"'{self.name}': its last size is open; layers need it")
        return last


def broadcast(shapes: Sequence[Sequence[Size]]) -> Tuple[Size, ...]:
    """Of an operation on elements: of each axis, counted from the last, the size that is not 1."""
    rank = max(len(shape) for shape in shapes)
    made: List[Size] = []
    for axis in range(-rank, 0):
        sizes = [shape[axis] for shape in shapes if len(shape) >= -axis]
        made.append(next((size for size in sizes if size != 1 and isinstance(size, int)), next((size for size in sizes if size != 1), 1)))
    return tuple(made)


def fitting(what: str, weights: Array, shape: Sequence[int]) -> Array:
    if tuple(weights.shape) != tuple(shape):
        raise ModelError(f"{what} has shape {list(weights.shape)}; expected: {list(shape)}")
    return weights


@dataclass(frozen=True)
class Recurrent:
    """Of one direction, as Keras has it: kernel [I, G H], recurrent [H, G H], bias [G H], [2, G H] or none."""
    kind: str
    kernel: Array
    recurrent: Array
    bias: Optional[Array]
    reset_after: bool = True
    activation: str = "tanh"
    gate: str = "sigmoid"
    slope: Optional[float] = HARD_SLOPE  # of hard_sigmoid

    def packed(self, title: str, inputs: int) -> Tuple[Array, Array, Array]:
        gates, hidden = GATES[self.kind], self.recurrent.shape[0]
        width = gates * hidden
        kernel = fitting(f"'{title}': its kernel", self.kernel, (inputs, width))
        recurrent = fitting(f"'{title}': its recurrent kernel", self.recurrent, (hidden, width))
        bias = np.zeros((2, width), np.float32)
        if self.bias is not None:
            rows = self.bias.reshape(-1, width) if self.bias.size in (width, 2 * width) else fitting(f"'{title}': its bias", self.bias, (width,))
            bias[:len(rows)] = rows
        order = np.concatenate([np.arange(g * hidden, (g + 1) * hidden) for g in _ORDER[self.kind]])
        return kernel.T[order], recurrent.T[order], bias[:, order].ravel()


def of_torch(kind: str, ih: Array, hh: Array, bias_ih: Optional[Array], bias_hh: Optional[Array]) -> Recurrent:
    """Gates i f g o are Keras' i f c o; r z n are its r, z, h in another order."""
    hidden = hh.shape[1]
    order = np.arange(GATES[kind] * hidden)
    if kind == "gru":
        order = np.concatenate([order[hidden:2 * hidden], order[:hidden], order[2 * hidden:]])
    if ih.shape[0] != order.size or hh.shape[0] != order.size:
        raise ModelError(f"weights of {ih.shape[0]} and {hh.shape[0]} rows are not those of a {kind.upper()} of {hidden}")
    bias = None if bias_ih is None or bias_hh is None else np.stack([bias_ih[order], bias_hh[order]])
    return Recurrent(kind, ih[order].T, hh[order].T, bias)


class Layers:
    hard_slope: Optional[float] = HARD_SLOPE  # of hard_sigmoid; None: who wrote the file is not known
    is_old: Optional[bool] = None  # written by Keras 1 or 2; None: not known
    merges_by_masks: Optional[bool] = None  # what does not count is left out of products, largest and least; None: not known

    def __init__(self) -> None:
        self.graph = Graph()
        self.calls = 0  # of layers of Keras

    def input(self, name: str, shape: Sequence[Size], integer: bool = False) -> Value:
        return Value(self.graph.input(name, shape, INT32 if integer else FLOAT), tuple(shape))

    def made(self, op: str, inputs: Sequence[str], title: str, shape: Sequence[Size], **attributes: Any) -> Value:
        return Value(self.graph.node(op, inputs, title, **attributes), tuple(shape))

    def ints(self, title: str, values: npt.ArrayLike) -> str:
        return self.graph.constant(title, values, integer=True)

    def activation(self, title: str, x: Value, kind: Optional[str]) -> Value:
        if kind in (None, "", "linear"):
            return x
        if kind in ("silu", "swish"):
            return self.made("Mul", [x.name, self.graph.node("Sigmoid", [x.name], title + ".gate")], title, x.shape)
        if kind == "hard_sigmoid":
            return self.made("HardSigmoid", [x.name], title, x.shape, alpha=_slope(title, self.hard_slope), beta=0.5)
        if kind == "leaky_relu":
            return self.made("LeakyRelu", [x.name], title, x.shape, alpha=0.2)
        if kind in _BOUNDS:
            return self.between(title, x, *_BOUNDS[kind])
        if kind == "tanh_shrink":
            return self.made("Sub", [x.name, self.graph.node("Tanh", [x.name], title + ".tanh")], title, x.shape)
        if kind == "log_sigmoid":
            turned = self.graph.node("Softplus", [self.graph.node("Neg", [x.name], title + ".neg")], title + ".softplus")
            return self.made("Neg", [turned], title, x.shape)
        if kind not in _ACTIVATIONS:
            others = ("hard_sigmoid", "leaky_relu", "log_sigmoid", "silu", "tanh_shrink", *_BOUNDS)
            raise ModelError(f"'{title}': the activation '{kind}' is not supported; accepted: {', '.join(sorted((*_ACTIVATIONS, *others)))}")
        return self.made(_ACTIVATIONS[kind], [x.name], title, x.shape)

    def between(self, title: str, x: Value, least: float, most: float) -> Value:
        bounds = [self.graph.constant(f"{title}.{name}", number) for name, number in (("least", least), ("most", most))]
        return self.made("Clip", [x.name, *bounds], title, x.shape)

    def dense(self, title: str, x: Value, kernel: Array, bias: Optional[Array]) -> Value:
        fitting(f"'{title}': its kernel", kernel, (x.features, kernel.shape[-1]))
        shape = (*x.shape[:-1], kernel.shape[1])
        y = self.made("MatMul", [x.name, self.graph.constant(title + ".kernel", kernel)], title, shape)
        return y if bias is None else self.made("Add", [y.name, self.graph.constant(title + ".bias", fitting(f"'{title}': its bias", bias, kernel.shape[1:]))],
                                                title + ".biased", shape)

    def conv(self, title: str, x: Value, kernel: Array, bias: Optional[Array], *, padding: str = "causal", strides: Sequence[int] = (1,),
             dilations: Sequence[int] = (1,), groups: int = 1) -> Value:
        """Over steps, or over rows and columns: kernel [taps..., in / groups, out]."""
        taps = kernel.shape[:-2]
        if len(taps) != len(x.shape) - 2:
            raise ModelError(f"'{title}': a kernel over {len(taps)} axes for an input of {len(x.shape)}")
        fitting(f"'{title}': its kernel", kernel, (*taps, x.features // groups, kernel.shape[-1]))
        whole = [(t - 1) * d for t, d in zip(taps, dilations)]
        attributes: Dict[str, Any] = {"dilations": list(dilations), "strides": list(strides), "group": groups}
        if padding == "same" and any(stride != 1 for stride in strides):
            attributes["auto_pad"] = "SAME_UPPER"
        else:
            before, after = {"causal": (whole, [0] * len(taps)), "same": ([w // 2 for w in whole], [w - w // 2 for w in whole]),
                             "valid": ([0] * len(taps),) * 2}[padding]
            attributes["pads"] = [*before, *after]
        inputs = [self.graph.constant(title + ".kernel", np.moveaxis(kernel, (-1, -2), (0, 1)))]
        if bias is not None:
            inputs.append(self.graph.constant(title + ".bias", fitting(f"'{title}': its bias", bias, kernel.shape[-1:])))
        places = [_steps(n, t, d, s, padding) for n, t, d, s in zip(x.shape[1:-1], taps, dilations, strides)]
        return self._channels_first(title, x, "Conv", inputs, (x.shape[0], *places, kernel.shape[-1]), attributes)

    def conv_transpose(self, title: str, x: Value, kernel: Array, bias: Optional[Array], stride: int, padding: str) -> Value:
        """Over steps: kernel [taps, out, in]. Every step becomes `stride`, and what lies beyond the last ones unless padding is same."""
        taps, out, _ = fitting(f"'{title}': its kernel", kernel, (*kernel.shape[:2], x.features)).shape
        beyond, missing = max(taps - stride, 0), max(stride - taps, 0)
        cut = beyond if padding == "same" else 0
        attributes = {"strides": [stride], "pads": [cut // 2, cut - cut // 2], "output_padding": [missing]}
        inputs = [self.graph.constant(title + ".kernel", kernel.transpose(2, 1, 0))]
        if bias is not None:
            inputs.append(self.graph.constant(title + ".bias", fitting(f"'{title}': its bias", bias, (out,))))
        steps = x.shape[1] if isinstance(x.shape[1], str) else x.shape[1] * stride + beyond - cut
        return self._channels_first(title, x, "ConvTranspose", inputs, (x.shape[0], steps, out), attributes)

    def pool(self, title: str, x: Value, op: str, sizes: Sequence[int], strides: Sequence[int], padding: str) -> Value:
        attributes: Dict[str, Any] = {"kernel_shape": list(sizes), "strides": list(strides)}
        if padding == "same":
            attributes["auto_pad"] = "SAME_UPPER"
        places = [_steps(n, size, 1, stride, padding) for n, size, stride in zip(x.shape[1:-1], sizes, strides)]
        return self._channels_first(title, x, op, [], (x.shape[0], *places, x.features), attributes)

    def group_norm(self, title: str, x: Value, groups: int, gamma: Array, beta: Array, epsilon: float) -> Value:
        if groups < 1 or x.features % groups:
            raise ModelError(f"'{title}': {x.features} channels are no multiple of {groups} groups")
        inputs = [self.graph.constant(f"{title}.{name}", fitting(f"'{title}': its {name}", one, (x.features,))) for name, one in (("scale", gamma), ("shift", beta))]
        return self._channels_first(title, x, "GroupNormalization", inputs, x.shape, {"num_groups": groups, "epsilon": epsilon})

    def _channels_first(self, title: str, x: Value, op: str, inputs: Sequence[str], shape: Sequence[Size], attributes: Mapping[str, Any]) -> Value:
        last = len(x.shape) - 1
        inner = self.graph.node("Transpose", [x.name], title + ".channels", perm=[0, last, *range(1, last)])
        y = self.graph.node(op, [inner, *inputs], title, **attributes)
        return self.made("Transpose", [y], title + ".steps", shape, perm=[0, *range(2, last + 1), 1])

    def column(self, title: str, mask: str) -> str:
        """A mask beside features: [batch, steps, 1]."""
        return self.graph.node("Unsqueeze", [mask, self.ints(title + ".last", [-1])], title + ".mask_column")

    def part(self, title: str, x: Value, axis: int, start: Optional[int], stop: Optional[int], step: int = 1) -> Value:
        """x[start:stop:step] of one axis."""
        size = x.shape[axis]
        if isinstance(size, int):
            size = len(range(*slice(start, stop, step).indices(size)))
        far = (1 << 62) if step > 0 else -(1 << 62)
        first = (0 if step > 0 else -1) if start is None else start
        ends = [self.ints(f"{title}.{name}", [value]) for name, value in (("from", first), ("to", far if stop is None else stop), ("axis", axis), ("by", step))]
        return self.made("Slice", [x.name, *ends], title, (*x.shape[:axis], size, *x.shape[axis + 1:]))

    def scale_shift(self, title: str, x: Value, scale: Array, shift: Array) -> Value:
        fitting(f"'{title}': its scale", scale, (x.features,))
        scaled = self.made("Mul", [x.name, self.graph.constant(title + ".scale", scale)], title, x.shape)
        return self.made("Add", [scaled.name, self.graph.constant(title + ".shift", shift)], title + ".shifted", x.shape)

    def batch_norm(self, title: str, x: Value, gamma: Optional[Array], beta: Optional[Array], mean: Array, variance: Array, epsilon: float) -> Value:
        scale = (1.0 if gamma is None else gamma.astype(np.float64)) / np.sqrt(variance.astype(np.float64) + epsilon)
        shift = (0.0 if beta is None else beta.astype(np.float64)) - mean * scale
        return self.scale_shift(title, x, np.asarray(scale), np.asarray(shift))

    def layer_norm(self, title: str, x: Value, gamma: Optional[Array], beta: Optional[Array], epsilon: float) -> Value:
        scale = np.ones(x.features) if gamma is None else gamma
        inputs = [x.name, self.graph.constant(title + ".scale", fitting(f"'{title}': its scale", scale, (x.features,)))]
        if beta is not None:
            inputs.append(self.graph.constant(title + ".shift", beta))
        return self.made("LayerNormalization", inputs, title, x.shape, axis=-1, epsilon=float(epsilon))

    def prelu(self, title: str, x: Value, slopes: Array) -> Value:
        return self.made("PRelu", [x.name, self.graph.constant(title + ".slopes", slopes)], title, x.shape)

    def embedding(self, title: str, x: Value, table: Array) -> Value:
        ids = self.graph.node("Cast", [x.name], title + ".ids", to=INT32)
        return self.made("Gather", [self.graph.constant(title + ".table", table), ids], title, (*x.shape, table.shape[1]), axis=0)

    def concat(self, title: str, values: Sequence[Value], axis: int) -> Value:
        axis = axis % len(values[0].shape)
        sizes = [v.shape[axis] for v in values]
        total: Size = sum(s for s in sizes if isinstance(s, int)) if all(isinstance(s, int) for s in sizes) else "joined"
        shape = (*values[0].shape[:axis], total, *values[0].shape[axis + 1:])
        return self.made("Concat", [v.name for v in values], title, shape, axis=axis)

    def recurrent(self, title: str, x: Value, layers: Sequence[Recurrent], *, reverse: bool = False,
                  states: Sequence[Value] = ()) -> Tuple[Value, List[Value]]:
        """Of one direction, or of two: forward, then reverse. All steps [batch, steps, directions H], and the last states, each
        [batch, H]: h, for LSTM c, of every direction."""
        kind, hidden = layers[0].kind, layers[0].recurrent.shape[0]
        op, weights, attributes = self._layer(title, x.features, layers)
        attributes["direction"] = "bidirectional" if len(layers) == 2 else "reverse" if reverse else "forward"
        inputs = [self.graph.node("Transpose", [x.name], title + ".by_step", perm=[1, 0, 2]), *weights]
        if states:
            inputs += ["", *(self.graph.node("Unsqueeze", [s.name, self.ints(title + ".axis", [0])], title + ".initial") for s in states)]
        outputs = [self.graph.unused(f"{title}.{name}") for name in (["Y", "h", "c"] if kind == "lstm" else ["Y", "h"])]
        self.graph.node_to(op, inputs, outputs, title, attributes)
        wide = len(layers) * hidden
        by_row = self.graph.node("Transpose", [outputs[0]], title + ".by_row", perm=[2, 0, 1, 3])  # [steps, directions, batch, H]
        y = self.made("Reshape", [by_row, self.ints(title + ".shape", [0, 0, wide])], title, (x.shape[0], x.shape[1], wide))
        last = []
        for direction in range(len(layers)):
            for state in outputs[1:]:
                last.append(self.made("Gather", [state, self.ints(title + ".direction", direction)], title + ".last", (x.shape[0], hidden), axis=0))
        return y, last

    def _layer(self, title: str, features: int, layers: Sequence[Recurrent]) -> Tuple[str, List[str], Dict[str, Any]]:
        """Its operator, W, R and B, and its attributes but the direction."""
        kind = layers[0].kind
        packed = [layer.packed(title, features) for layer in layers]
        weights = [self.graph.constant(f"{title}.{name}", np.stack([part[i] for part in packed])) for i, name in enumerate("WRB")]
        attributes: Dict[str, Any] = {"hidden_size": layers[0].recurrent.shape[0]}
        if kind == "gru":
            attributes["linear_before_reset"] = int(layers[0].reset_after)
        if any(layer.activation != "tanh" or layer.gate != "sigmoid" for layer in layers):
            names = [name for layer in layers for name in _inner_activations(title, layer)]
            attributes["activations"] = [name for name, _ in names]
            numbers = [both for _, both in names if both is not None]
            if numbers:
                attributes["activation_alpha"], attributes["activation_beta"] = ([float(one[i]) for one in numbers] for i in (0, 1))
        return {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}[kind], weights, attributes

    def masked_recurrent(self, title: str, x: Value, layer: Recurrent, *, reverse: bool = False, states: Sequence[Value] = (),
                         zeros: bool = False) -> Tuple[Value, List[Value]]:
        """Of one direction, a loop that passes over the steps where x.mask is 0: the states stay as they are, and the output is the
        last one, at first 0, or with `zeros` always 0. All steps, then the last output and the last states."""
        g, hidden, batch = self.graph, layer.recurrent.shape[0], x.shape[0]
        starts = [s.name for s in states] or [self._zero_states(title, x, hidden)] * (2 if layer.kind == "lstm" else 1)
        column = self.column(title, x.mask)
        parts = (x.name, column, g.node("Cast", [column], title + ".chosen", to=BOOL))
        by_step, counts, chosen = (g.node("Transpose", [part], title + ".by_step", perm=[1, 0, 2]) for part in parts)
        last, every = [g.unused(title + ".last") for _ in starts], g.unused(title + ".every")
        ways = {f"scan_{part}_directions": [int(reverse)] * count for part, count in (("input", 2), ("output", 1))}
        g.node_to("Scan", [*starts, by_step, chosen], [*last, every], title,
                  {"body": self._masked_step(title, x, layer, len(starts)), "num_scan_inputs": 2, **ways})
        out = last[0]
        if zeros:
            every = g.node("Where", [chosen, every, g.constant(title + ".zero", 0.0)], title + ".counted")
        elif states:
            every, out = self._from_the_first(title, counts, every, out, reverse)
        y = self.made("Transpose", [every], title, (*x.shape[:2], hidden), perm=[1, 0, 2])
        return y, [Value(name, (batch, hidden)) for name in (out, *last)]

    def _zero_states(self, title: str, x: Value, hidden: int) -> str:
        begin, end, units = (self.ints(f"{title}.{name}", [number]) for name, number in (("begin", 0), ("end", 1), ("units", hidden)))
        batch = self.graph.node("Slice", [self.graph.node("Shape", [x.mask], title + ".sizes"), begin, end], title + ".batch")
        return self.graph.node("ConstantOfShape", [self.graph.node("Concat", [batch, units], title + ".state", axis=0)], title + ".zeros")

    def _masked_step(self, title: str, x: Value, layer: Recurrent, states: int) -> Graph:
        """A layer of one step, and where it does not count the states as they were."""
        op, weights, attributes = self._layer(title, x.features, [layer])
        body, first = Graph(self.graph), self.ints(title + ".first", [0])
        before = [body.input(f"{title}.before", [x.shape[0], layer.recurrent.shape[0]]) for _ in range(states)]
        step, chosen = body.input(title + ".part", [x.shape[0], x.features]), body.input(title + ".counts", [x.shape[0], 1], BOOL)
        inner = [body.node("Unsqueeze", [name, first], title + ".step") for name in (step, *before)]
        made = [body.unused(f"{title}.{name}") for name in ("Y", "h", "c")[:states + 1]]
        body.node_to(op, [inner[0], *weights, "", *inner[1:]], made, title, {**attributes, "direction": "forward"})
        new = [body.node("Squeeze", [name, first], title + ".new") for name in made[1:]]
        after = [body.node("Where", [chosen, *pair], title + ".after") for pair in zip(new, before)]
        for name in (*after, body.node("Identity", [after[0]], title + ".y")):
            body.output(name)
        return body

    def _from_the_first(self, title: str, counts: str, every: str, last: str, reverse: bool) -> Tuple[str, str]:
        """Zeros up to the first step that counts: a layer of one unit adds up how many there were."""
        g = self.graph
        one, title = g.constant(title + ".one", np.ones((1, 1, 1))), title + ".seen"
        steps, end = g.unused(title), g.unused(title)
        g.node_to("RNN", [counts, one, one], [steps, end], title,
                  {"hidden_size": 1, "activations": ["Relu"], "direction": "reverse" if reverse else "forward"})
        zero, made = g.constant(title + ".zero", 0.0), []
        for count, axis, value in ((steps, 1, every), (end, 0, last)):
            seen = g.node("Greater", [g.node("Squeeze", [count, self.ints(title + ".axis", [axis])], title), zero], title)
            made.append(g.node("Where", [seen, value, zero], title + ".output"))
        return made[0], made[1]


def _inner_activations(title: str, layer: Recurrent) -> List[Tuple[str, Optional[Tuple[float, float]]]]:
    """Their names, with alpha and beta of those that have both."""
    made = []
    for name in (layer.activation, layer.gate):
        if name not in _INNER:
            raise ModelError(f"'{title}': the activation '{name}' is not supported in recurrent layers; accepted: {', '.join(sorted(_INNER))}")
        made.append((_INNER[name], (_slope(title, layer.slope), 0.5) if name == "hard_sigmoid" else (1.0, 0.0) if name == "linear" else None))
    outer, gate = made
    return {"rnn": [outer], "gru": [gate, outer], "lstm": [gate, outer, outer]}[layer.kind]


def _slope(title: str, slope: Optional[float]) -> float:
    if slope is None:
        raise ModelError(f"'{title}': hard_sigmoid has slope 1/6 in Keras 3 and 0.2 before, and the file does not say which Keras wrote it")
    return slope


def _steps(steps: Size, taps: int, dilation: int, stride: int, padding: str) -> Size:
    if isinstance(steps, str):
        return steps
    kept = steps - (taps - 1) * dilation if padding == "valid" else steps
    return -(-kept // stride)


def torch_recurrent(weights: Mapping[str, Array], prefix: str, kind: str, title: str) -> List[List[Recurrent]]:
    """All layers of one nn.RNN, GRU or LSTM, with their directions."""
    found: List[List[Recurrent]] = []
    while f"{prefix}weight_ih_l{len(found)}" in weights:
        directions = []
        for suffix in (f"_l{len(found)}", f"_l{len(found)}_reverse"):
            if f"{prefix}weight_ih{suffix}" in weights:
                directions.append(of_torch(kind, weights[f"{prefix}weight_ih{suffix}"], weights[f"{prefix}weight_hh{suffix}"],
                                           weights.get(f"{prefix}bias_ih{suffix}"), weights.get(f"{prefix}bias_hh{suffix}")))
        found.append(directions)
    if not found:
        raise ModelError(f"'{title}': there is no '{prefix}weight_ih_l0'")
    return found
