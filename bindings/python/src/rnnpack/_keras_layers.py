# SPDX-License-Identifier: Apache-2.0
"""One function per layer class of Keras: its settings and weights become nodes."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from ._errors import ModelError
from ._layers import Array, Layers, Recurrent, Value, fitting

MERGES = {"Add": "Add", "Multiply": "Mul", "Maximum": "Max", "Minimum": "Min", "Subtract": "Sub", "Average": "Mean", "Concatenate": "Concat"}
_SAME = ("Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout", "ActivityRegularization", "Identity")
_KINDS = {"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "rnn", "LSTMCell": "lstm", "GRUCell": "gru", "SimpleRNNCell": "rnn"}


@dataclass
class KerasLayer:
    kind: str
    name: str
    settings: Mapping[str, Any]
    weights: List[Array]

    def get(self, key: str, otherwise: Any = None) -> Any:
        value = self.settings.get(key, otherwise)
        return otherwise if value is None else value

    def activation(self, key: str = "activation") -> Optional[str]:
        value = self.settings.get(key)
        if isinstance(value, Mapping):
            value = value.get("config", {}).get("name") if isinstance(value.get("config"), Mapping) else value.get("config")
        return None if value is None else str(value).lower()

    def take(self) -> Array:
        if not self.weights:
            raise ModelError(f"layer '{self.name}' ({self.kind}): the file has too few weights for it")
        return self.weights.pop(0)

    def one(self, key: str) -> int:
        value = self.get(key, 1)
        return int(value[0] if isinstance(value, (list, tuple)) else value)

    def unsupported(self, what: str) -> ModelError:
        return ModelError(f"layer '{self.name}' ({self.kind}): {what}")


def add_layer(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> List[Value]:
    """Its outputs. All weights must be used up."""
    if not inputs:
        raise layer.unsupported("it has no input")
    if layer.kind in MERGES:
        made = [_merge(layers, layer, inputs)]
    elif layer.kind in _SAME:
        made = [inputs[0]]
    elif layer.kind in _RECURRENT:
        made = _RECURRENT[layer.kind](layers, layer, inputs)
    elif layer.kind in _PLAIN:
        made = [_PLAIN[layer.kind](layers, layer, inputs[0])]
    else:
        accepted = sorted([*MERGES, *_SAME, *_RECURRENT, *_PLAIN])
        raise layer.unsupported(f"this class is not supported; accepted: {', '.join(accepted)}. Keras' own export may do: "
                                "model.export('m.onnx', format='onnx')")
    if layer.weights:
        raise layer.unsupported(f"{len(layer.weights)} more weights than it takes are in the file")
    return made


def _merge(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> Value:
    if layer.kind == "Concatenate":
        return layers.concat(layer.name, inputs, int(layer.get("axis", -1)))
    return layers.made(MERGES[layer.kind], [v.name for v in inputs], layer.name, max((v.shape for v in inputs), key=len))


def _dense(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    y = layers.dense(layer.name, x, layer.take(), layer.take() if layer.get("use_bias", True) else None)
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _conv(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    if layer.get("data_format", "channels_last") != "channels_last":
        raise layer.unsupported("data_format is not channels_last")
    kernel = layer.take()
    y = layers.conv(layer.name, x, kernel, layer.take() if layer.get("use_bias", True) else None, padding=str(layer.get("padding", "valid")),
                    stride=layer.one("strides"), dilation=layer.one("dilation_rate"), groups=layer.one("groups"))
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _depthwise(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """A kernel [taps, in, multiplier] for every channel; a separable one is then mixed."""
    if layer.get("data_format", "channels_last") != "channels_last":
        raise layer.unsupported("data_format is not channels_last")
    kernel = layer.take()
    if kernel.ndim != 3:
        raise layer.unsupported(f"a kernel of shape {list(kernel.shape)}; expected: [taps, channels, multiplier]")
    fitting(f"'{layer.name}': its kernel", kernel, (kernel.shape[0], x.features, kernel.shape[2]))
    separable = layer.kind == "SeparableConv1D"
    mix = layer.take() if separable else None
    bias = layer.take() if layer.get("use_bias", True) else None
    y = layers.conv(layer.name + (".depthwise" if separable else ""), x, kernel.reshape(kernel.shape[0], 1, -1), None if separable else bias,
                    padding=str(layer.get("padding", "valid")), stride=layer.one("strides"), dilation=layer.one("dilation_rate"), groups=x.features)
    if mix is not None:
        y = layers.conv(layer.name, y, mix, bias)
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _pool(op: str) -> Callable[[Layers, KerasLayer, Value], Value]:
    def add(layers: Layers, layer: KerasLayer, x: Value) -> Value:
        size = layer.one("pool_size")
        stride = layer.one("strides") if layer.get("strides") is not None else size
        return layers.pool(layer.name, x, op, size, stride, str(layer.get("padding", "valid")))
    return add


def _over_steps(op: str) -> Callable[[Layers, KerasLayer, Value], Value]:
    def add(layers: Layers, layer: KerasLayer, x: Value) -> Value:
        keep = bool(layer.get("keepdims", False))
        shape = (x.shape[0], 1, x.shape[2]) if keep else (x.shape[0], x.shape[2])
        return layers.made(op, [x.name, layers.ints(layer.name + ".axes", [1])], layer.name, shape, keepdims=int(keep))
    return add


def _is_last(layer: KerasLayer, x: Value) -> bool:
    axis = layer.get("axis", -1)
    axes = axis if isinstance(axis, (list, tuple)) else [axis]
    return [int(a) % len(x.shape) for a in axes] == [len(x.shape) - 1]


def _batch_norm(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    if not _is_last(layer, x):
        raise layer.unsupported("its axis is not the last one")
    gamma = layer.take() if layer.get("scale", True) else None
    beta = layer.take() if layer.get("center", True) else None
    return layers.batch_norm(layer.name, x, gamma, beta, layer.take(), layer.take(), float(layer.get("epsilon", 1e-3)))


def _layer_norm(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    if not _is_last(layer, x):
        raise layer.unsupported("its axis is not the last one")
    gamma = layer.take() if layer.get("scale", True) else None
    return layers.layer_norm(layer.name, x, gamma, layer.take() if layer.get("center", True) else None, float(layer.get("epsilon", 1e-3)))


def _activation(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.activation(layer.name, x, layer.activation())


def _relu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    slope, most = float(layer.get("negative_slope", 0.0)), layer.settings.get("max_value")
    if float(layer.get("threshold", 0.0)) != 0 or (slope and most is not None):
        raise layer.unsupported("a threshold, or a slope with a largest value, is not supported")
    if most is not None:
        bounds = [layers.graph.constant(f"{layer.name}.{key}", value) for key, value in (("least", 0.0), ("most", float(most)))]
        return layers.made("Clip", [x.name, *bounds], layer.name, x.shape)
    return layers.made("LeakyRelu", [x.name], layer.name, x.shape, alpha=slope) if slope else layers.activation(layer.name, x, "relu")


def _leaky_relu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.made("LeakyRelu", [x.name], layer.name, x.shape, alpha=float(layer.get("negative_slope", layer.get("alpha", 0.3))))


def _elu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.made("Elu", [x.name], layer.name, x.shape, alpha=float(layer.get("alpha", 1.0)))


def _prelu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    slopes = layer.take()
    if slopes.size != x.features and slopes.size != 1:
        raise layer.unsupported(f"slopes of shape {list(slopes.shape)}; accepted: shared_axes=[1]")
    return layers.prelu(layer.name, x, slopes.reshape(-1))


def _softmax(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.made("Softmax", [x.name], layer.name, x.shape, axis=int(layer.get("axis", -1)))


def _embedding(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    if layer.get("mask_zero", False):
        raise layer.unsupported("mask_zero is not supported")
    return layers.embedding(layer.name, x, layer.take())


def _repeat(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    count = int(layer.get("n", 1))
    one = layers.graph.node("Unsqueeze", [x.name, layers.ints(layer.name + ".axis", [1])], layer.name + ".one")
    return layers.made("Tile", [one, layers.ints(layer.name + ".repeats", [1, count, 1])], layer.name, (x.shape[0], count, *x.shape[1:]))


def _flatten(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return _reshaped(layers, layer, x, [-1])


def _reshape(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return _reshaped(layers, layer, x, [int(size) for size in layer.get("target_shape", [])])


def _reshaped(layers: Layers, layer: KerasLayer, x: Value, wanted: List[int]) -> Value:
    sizes = [size for size in x.shape[1:] if isinstance(size, int)]
    if len(sizes) != len(x.shape) - 1:
        raise layer.unsupported("a size of its input is open: fix it in the model")
    if -1 in wanted:
        wanted[wanted.index(-1)] = int(np.prod(sizes)) // max(1, -int(np.prod(wanted)))
    return layers.made("Reshape", [x.name, layers.ints(layer.name + ".shape", [0, *wanted])], layer.name, (x.shape[0], *wanted))


def _permute(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    order = [0, *(int(d) for d in layer.get("dims", []))]
    return layers.made("Transpose", [x.name], layer.name, tuple(x.shape[i] for i in order), perm=order)


def _zero_padding(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    given = layer.get("padding", 1)
    before, after = given if isinstance(given, (list, tuple)) else (given, given)
    steps = x.shape[1] if isinstance(x.shape[1], str) else x.shape[1] + before + after
    return layers.made("Pad", [x.name, layers.ints(layer.name + ".pads", [0, before, 0, 0, after, 0])], layer.name, (x.shape[0], steps, x.shape[2]))


def _rescaling(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    scaled = layers.made("Mul", [x.name, layers.graph.constant(layer.name + ".scale", layer.get("scale", 1.0))], layer.name + ".scaled", x.shape)
    return layers.made("Add", [scaled.name, layers.graph.constant(layer.name + ".offset", layer.get("offset", 0.0))], layer.name, x.shape)


def _time_distributed(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    inner = layer.get("layer", {})
    kind = inner.get("class_name")
    if kind not in ("Dense", "Activation", "ReLU", "LeakyReLU", "Softmax", "LayerNormalization", "BatchNormalization", *_SAME):
        raise layer.unsupported(f"around '{kind}' it is not supported; accepted: layers of single steps, as Dense")
    made = add_layer(layers, KerasLayer(kind, layer.name, inner.get("config", {}), layer.weights), [x])
    layer.weights = []
    return made[0]


def _weights_of(layers: Layers, layer: KerasLayer, kind: str, settings: KerasLayer) -> Recurrent:
    kernel, recurrent = layer.take(), layer.take()
    bias = layer.take() if settings.get("use_bias", True) else None
    gate = settings.activation("recurrent_activation") or ("sigmoid" if kind != "rnn" else "")
    return Recurrent(kind, kernel, recurrent, bias, bool(settings.get("reset_after", False)), settings.activation() or "linear",
                     "sigmoid" if kind == "rnn" else gate, layers.hard_slope)


def _finish(layers: Layers, layer: KerasLayer, x: Value, recurrent: Recurrent, states: Sequence[Value]) -> List[Value]:
    backwards = bool(layer.get("go_backwards", False))
    y, last = layers.recurrent(layer.name, x, [recurrent], reverse=backwards, states=states)
    if backwards and layer.get("return_sequences", False):
        y = layers.reversed_steps(layer.name + ".reversed", y)
    out = y if layer.get("return_sequences", False) else last[0]
    return [out, *last] if layer.get("return_state", False) else [out]


def _recurrent(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> List[Value]:
    if layer.get("time_major", False):
        raise layer.unsupported("time_major is not supported")
    return _finish(layers, layer, inputs[0], _weights_of(layers, layer, _KINDS[layer.kind], layer), inputs[1:])


def _rnn(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> List[Value]:
    cell = layer.get("cell", {})
    stacked = cell.get("class_name") == "StackedRNNCells"
    cells = cell["config"].get("cells", []) if stacked else [cell]
    if stacked and (layer.get("return_state", False) or layer.get("go_backwards", False)):
        raise layer.unsupported("return_state and go_backwards of stacked cells are not supported")
    x = inputs[0]
    for at, one in enumerate(cells):
        kind = str(one.get("class_name")).split(">")[-1]
        if kind not in _KINDS:
            raise layer.unsupported(f"the cell '{kind}' is not supported; accepted: LSTMCell, GRUCell, SimpleRNNCell")
        recurrent = _weights_of(layers, layer, _KINDS[kind], KerasLayer(kind, layer.name, one.get("config", {}), []))
        if at + 1 == len(cells):
            return _finish(layers, layer, x, recurrent, inputs[1:])
        x, _ = layers.recurrent(f"{layer.name}.{at}", x, [recurrent])
    raise layer.unsupported("it has no cells")


def _bidirectional(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> List[Value]:
    inner = layer.get("layer", {})
    kind = str(inner.get("class_name")).split(">")[-1]
    settings = KerasLayer(kind, layer.name, inner.get("config", {}), [])
    merge = layer.settings.get("merge_mode", "concat")
    if kind not in ("LSTM", "GRU", "SimpleRNN") or merge not in ("concat", "sum", "mul", "ave") or settings.get("return_state", False):
        raise layer.unsupported(f"around '{kind}' with merge_mode {merge!r} it is not supported")
    pair = [_weights_of(layers, layer, _KINDS[kind], settings) for _ in range(2)]
    if not settings.get("return_sequences", False):
        _, last = layers.recurrent(layer.name, inputs[0], pair)
        halves = [last[0], last[len(last) // 2]]
    elif merge == "concat":
        return [layers.recurrent(layer.name, inputs[0], pair)[0]]
    else:
        halves = [layers.recurrent(layer.name + part, inputs[0], [one], reverse=part == ".backward")[0]
                  for part, one in zip((".forward", ".backward"), pair)]
    if merge == "concat":
        return [layers.concat(layer.name + ".joined", halves, -1)]
    op = {"sum": "Add", "mul": "Mul", "ave": "Mean"}[merge]
    return [layers.made(op, [half.name for half in halves], layer.name + ".joined", halves[0].shape)]


_RECURRENT: Dict[str, Callable[[Layers, KerasLayer, Sequence[Value]], List[Value]]] = {
    "LSTM": _recurrent, "GRU": _recurrent, "SimpleRNN": _recurrent, "RNN": _rnn, "Bidirectional": _bidirectional}
_PLAIN: Dict[str, Callable[[Layers, KerasLayer, Value], Value]] = {
    "Dense": _dense, "Conv1D": _conv, "DepthwiseConv1D": _depthwise, "SeparableConv1D": _depthwise, "MaxPooling1D": _pool("MaxPool"), "AveragePooling1D": _pool("AveragePool"),
    "GlobalAveragePooling1D": _over_steps("ReduceMean"), "GlobalMaxPooling1D": _over_steps("ReduceMax"), "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm, "Activation": _activation, "ReLU": _relu, "LeakyReLU": _leaky_relu, "ELU": _elu, "PReLU": _prelu,
    "Softmax": _softmax, "Embedding": _embedding, "RepeatVector": _repeat, "Flatten": _flatten, "Reshape": _reshape, "Permute": _permute,
    "ZeroPadding1D": _zero_padding, "Rescaling": _rescaling, "TimeDistributed": _time_distributed}
