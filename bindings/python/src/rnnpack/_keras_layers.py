# SPDX-License-Identifier: Apache-2.0
"""One function per layer class of Keras: its settings and weights become nodes."""
from __future__ import annotations

from dataclasses import replace
from typing import Callable, Dict, List, Sequence, Tuple

import numpy as np

from ._keras_attention import ATTENTION
from ._keras_convs import CONVS
from ._keras_layer import MERGES, SAME, KerasLayer, class_of
from ._keras_masks import MASKS, MERGES_OF_MASKED, OF_MASKS, OF_VALUES, as_computed, masking, masks_behind, mean_of_counted, not_equal, with_mask
from ._layers import Layers, Recurrent, Value, broadcast

# Functions that do as a layer with their name and settings does.
_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "Silu", "Softplus", "Softsign")
FUNCTIONS = ("Add", "Multiply", "Maximum", "Minimum", "Subtract", "Concatenate", "Softmax", "GetItem", *MASKS, *OF_MASKS, *_ACTIVATIONS)
_WAYS = ("forward", "backward")
_KINDS = {"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "rnn", "LSTMCell": "lstm", "GRUCell": "gru", "SimpleRNNCell": "rnn"}


def add_layer(layers: Layers, layer: KerasLayer) -> List[Value]:
    """Its outputs. All weights must be used up, and all that the call is given."""
    inputs = [one for one in layer.operands if isinstance(one, Value)]
    numbers = [one for one in layer.operands if isinstance(one, (int, float)) and layer.kind in MERGES and layer.kind != "Concatenate"]
    if not inputs:
        raise layer.unsupported("it has no input")
    if len(inputs) + len(numbers) < len(layer.operands) and layer.kind not in ("GetItem", "NotEqual"):
        raise layer.unsupported("it is called with more than tensors; accepted: tensors")
    if len(inputs) > 1 and layer.kind not in (*MERGES, *MASKS, *ATTENTION, "LSTM", "GRU", "SimpleRNN"):
        raise layer.unsupported(f"it has {len(inputs)} inputs; accepted: one")
    of_masks = MASKS.get(layer.kind) or (OF_MASKS.get(layer.kind) if all(one.is_mask for one in inputs) else None)
    takes_masks = of_masks is not None and layer.kind not in OF_VALUES
    if any(one.is_mask != takes_masks for one in inputs):
        raise layer.unsupported("an input of it is a mask, or is none; accepted: where Keras puts masks")
    is_named = "mask" in layer.call
    inputs = with_mask(layer, inputs)
    if of_masks is not None:
        made = [of_masks(layers, layer, layer.operands)]
    elif layer.kind in MERGES:
        made = [_merge(layers, layer, inputs)]
    elif layer.kind in SAME:
        made = [inputs[0]]
    elif layer.kind in _RECURRENT:
        made = _RECURRENT[layer.kind](layers, layer, as_computed(layers, layer, inputs, is_named))
    elif layer.kind in ATTENTION:
        made = [ATTENTION[layer.kind](layers, layer, inputs)]
    elif layer.kind in _PLAIN:
        made = [_PLAIN[layer.kind](layers, layer, inputs[0])]
    else:
        accepted = sorted([*MERGES, *SAME, *_RECURRENT, *ATTENTION, *_PLAIN])
        raise layer.unsupported(f"this class is not supported; accepted: {', '.join(accepted)}. Keras' own export may do: "
                                "model.export('m.onnx', format='onnx')")
    if layer.weights:
        raise layer.unsupported(f"{len(layer.weights)} more weights than it takes are in the file")
    if layer.call:
        raise layer.unsupported(f"a call with {', '.join(sorted(layer.call))} is not supported")
    return masks_behind(layers, layer, inputs, made)


def _merge(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> Value:
    if layer.kind == "Concatenate":
        return layers.concat(layer.name, inputs, int(layer.get("axis", -1)))
    if any(one.mask for one in inputs) and layer.kind in MERGES_OF_MASKED and not layer.is_function:
        if layers.merges_by_masks is None:
            raise layer.unsupported("a mask before it is supported in a file that tells which Keras wrote it")
        if any(len(one.shape) != 3 for one in inputs):
            raise layer.unsupported("a mask before it is supported for inputs [batch, steps, features]")
        if layers.merges_by_masks:
            return MERGES_OF_MASKED[layer.kind](layers, layer.name, MERGES[layer.kind], inputs)
    names = [one.name if isinstance(one, Value) else layers.graph.constant(layer.name + ".number", float(one)) for one in layer.operands]
    if len(names) > 2 and MERGES[layer.kind] in ("Add", "Mul"):
        names = [layers.graph.chain(MERGES[layer.kind], names[:-1], layer.name + ".some"), names[-1]]
    return layers.made(MERGES[layer.kind], names, layer.name, broadcast([v.shape for v in inputs]))


def _dense(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    y = layers.dense(layer.name, x, layer.take(), layer.take() if layer.get("use_bias", True) else None)
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _over_places(op: str) -> Callable[[Layers, KerasLayer, Value], Value]:
    """Over steps, or over rows and columns: all but batch and channels."""
    def add(layers: Layers, layer: KerasLayer, x: Value) -> Value:
        layer.channels_last()
        keep, inner = bool(layer.get("keepdims", False)), list(range(1, len(x.shape) - 1))
        shape = (x.shape[0], *([1] * len(inner) if keep else []), x.shape[-1])
        return layers.made(op, [x.name, layers.ints(layer.name + ".axes", inner)], layer.name, shape, keepdims=int(keep))
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
    if layer.get("rms_scaling", False):
        raise layer.unsupported("rms_scaling is not supported")
    gamma = layer.take() if layer.get("scale", True) else None
    return layers.layer_norm(layer.name, x, gamma, layer.take() if layer.get("center", True) else None, float(layer.get("epsilon", 1e-3)))


def _group_norm(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    if not _is_last(layer, x):
        raise layer.unsupported("its axis is not the last one")
    groups = int(layer.get("groups", 32))
    gamma = layer.take() if layer.get("scale", True) else np.ones(x.features)
    beta = layer.take() if layer.get("center", True) else np.zeros(x.features)
    return layers.group_norm(layer.name, x, x.features if groups == -1 else groups, gamma, beta, float(layer.get("epsilon", 1e-3)))


def _unit_norm(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """Divided by its length, which is at least 1e-12; before Keras 3 by 1e-6."""
    axis = layer.get("axis", -1)
    axes = sorted(int(a) % len(x.shape) for a in (axis if isinstance(axis, (list, tuple)) else [axis]))
    if 0 in axes:
        raise layer.unsupported("its axes include the batch")
    shape = [1 if at in axes else size for at, size in enumerate(x.shape)]
    length = layers.made("ReduceL2", [x.name, layers.ints(layer.name + ".axes", axes)], layer.name + ".length", shape, keepdims=1)
    least = layers.graph.constant(layer.name + ".least", 1e-6 if layers.is_old else 1e-12)
    length = layers.made("Max", [length.name, least], layer.name + ".divisor", shape)
    return layers.made("Div", [x.name, length.name], layer.name, x.shape)


def _activation(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.activation(layer.name, x, layer.activation())


def _function(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.activation(layer.name, x, layer.kind.lower())


def _relu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """x from the threshold on, up to the largest value; below the threshold, what x lacks of it times the slope is taken away."""
    slope, most, threshold = float(layer.get("negative_slope", 0.0)), layer.settings.get("max_value"), float(layer.get("threshold", 0.0))
    if slope and most is None and threshold == 0:
        return layers.made("LeakyRelu", [x.name], layer.name, x.shape, alpha=slope)
    y = layers.activation(layer.name, x, "relu")
    if threshold != 0:
        zero, limit = (layers.graph.constant(f"{layer.name}.{key}", number) for key, number in (("zero", 0.0), ("threshold", threshold)))
        above = layers.graph.node("Greater", [x.name, limit], layer.name + ".above")
        y = layers.made("Where", [above, x.name, zero], layer.name, x.shape)
    if most is not None:
        y = layers.between(layer.name, y, 0.0, float(most))
    if slope:
        limit, factor = (layers.graph.constant(f"{layer.name}.{key}", number) for key, number in (("limit", threshold), ("slope", slope)))
        lacking = layers.graph.node("Relu", [layers.graph.node("Sub", [limit, x.name], layer.name + ".lacking")], layer.name + ".below")
        y = layers.made("Sub", [y.name, layers.graph.node("Mul", [lacking, factor], layer.name + ".sloped")], layer.name, x.shape)
    return y


def _leaky_relu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.made("LeakyRelu", [x.name], layer.name, x.shape, alpha=float(layer.get("negative_slope", layer.get("alpha", 0.3))))


def _elu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.made("Elu", [x.name], layer.name, x.shape, alpha=float(layer.get("alpha", 1.0)))


def _prelu(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    slopes = layer.take()
    if slopes.size != slopes.shape[-1] or slopes.size not in (1, x.features):
        raise layer.unsupported(f"slopes of shape {list(slopes.shape)}; accepted: one a channel, which steps share (shared_axes)")
    return layers.prelu(layer.name, x, slopes.reshape(-1))


def _softmax(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    return layers.made("Softmax", [x.name], layer.name, x.shape, axis=int(layer.get("axis", -1)))


def _embedding(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    y = layers.embedding(layer.name, x, layer.take())
    return replace(y, mask=not_equal(layers, layer.name + ".mask", x, 0.0).name) if layer.get("mask_zero", False) else y


def _mean(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    if not x.mask:
        return _over_places("ReduceMean")(layers, layer, x)
    layer.channels_last()
    return mean_of_counted(layers, layer, x)


def _repeat(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    count = int(layer.get("n", 1))
    one = layers.graph.node("Unsqueeze", [x.name, layers.ints(layer.name + ".axis", [1])], layer.name + ".one")
    return layers.made("Tile", [one, layers.ints(layer.name + ".repeats", [1, count, 1])], layer.name, (x.shape[0], count, *x.shape[1:]))


def _flatten(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    layer.channels_last()
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


def _item(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """x[:, -1], x[:, 1:], x[..., 2]: of each axis a place, which goes, or a range."""
    key = layer.operands[1:]
    kinds = [one.get("class_name") if isinstance(one, dict) else type(one).__name__ for one in key]
    if any(kind not in ("int", "__slice__", "__ellipsis__") for kind in kinds) or kinds.count("__ellipsis__") > 1:
        raise layer.unsupported("only places and ranges can be taken of an input")
    whole: Dict[str, object] = {"class_name": "__slice__", "config": {}}
    rest = len(x.shape) - len(key) + kinds.count("__ellipsis__")
    at = kinds.index("__ellipsis__") if "__ellipsis__" in kinds else len(key)
    axes = [*key[:at], *[whole] * rest, *key[at + 1:]]
    if len(axes) != len(x.shape) or axes[0] != whole and any(v is not None for v in axes[0]["config"].values()):
        raise layer.unsupported("it takes a part of the batch, or has more axes than its input")
    for axis in range(len(axes) - 1, 0, -1):
        one, title = axes[axis], f"{layer.name}.axis{axis}"
        if isinstance(one, int):
            x = layers.made("Gather", [x.name, layers.ints(title, one)], title, (*x.shape[:axis], *x.shape[axis + 1:]), axis=axis)
        elif any(v is not None for v in one["config"].values()):
            x = layers.part(title, x, axis, one["config"].get("start"), one["config"].get("stop"), int(one["config"].get("step") or 1))
    return x


def _rescaling(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    scaled = layers.made("Mul", [x.name, layers.graph.constant(layer.name + ".scale", layer.get("scale", 1.0))], layer.name + ".scaled", x.shape)
    return layers.made("Add", [scaled.name, layers.graph.constant(layer.name + ".offset", layer.get("offset", 0.0))], layer.name, x.shape)


def _time_distributed(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    inner = layer.get("layer", {})
    kind = class_of(inner)
    each = kind in ("Dense", "Activation", "ReLU", "LeakyReLU", "Softmax", "LayerNormalization", "BatchNormalization", *SAME)
    if not each and kind not in _OF_PLACES:
        raise layer.unsupported(f"around '{kind}' it is not supported; accepted: layers of single steps, as Dense and Conv2D")
    if kind == "Softmax" and inner.get("config", {}).get("axis", -1) != -1:
        raise layer.unsupported("its axis is not the last one")
    weights, layer.weights = layer.weights, []

    def add(x: Value) -> Value:
        return add_layer(layers, KerasLayer(kind, layer.name, inner.get("config", {}), weights, operands=[x]))[0]
    return add(x) if each else steps_as_rows(layers, layer, x, add)


def steps_as_rows(layers: Layers, layer: KerasLayer, x: Value, add: Callable[[Value], Value]) -> Value:
    """What `add` makes of every step as a row of its own."""
    steps, rest = x.shape[1], x.shape[2:]
    if not all(isinstance(size, int) for size in (steps, *rest)):
        raise layer.unsupported("a size of its input is open: fix it in the model")
    y = add(layers.made("Reshape", [x.name, layers.ints(layer.name + ".row", [-1, *rest])], layer.name + ".rows", (x.shape[0], *rest)))
    return layers.made("Reshape", [y.name, layers.ints(layer.name + ".step", [-1, steps, *y.shape[1:]])], layer.name + ".steps", (x.shape[0], steps, *y.shape[1:]))


def _weights_of(layers: Layers, layer: KerasLayer, kind: str, settings: KerasLayer) -> Recurrent:
    kernel, recurrent = layer.take(), layer.take()
    bias = layer.take() if settings.get("use_bias", True) else None
    gate = settings.activation("recurrent_activation") or ("sigmoid" if kind != "rnn" else "")
    return Recurrent(kind, kernel, recurrent, bias, bool(settings.get("reset_after", False)), settings.activation() or "linear",
                     "sigmoid" if kind == "rnn" else gate, layers.hard_slope)


def _check_turned(layer: KerasLayer, zeros: bool, settings: KerasLayer) -> None:
    """Of a layer that runs backwards behind a mask."""
    if zeros and bool(settings.get("unroll", False)):
        raise layer.unsupported("unroll with a mask is not supported where all steps come backwards: Keras reads that mask in the other order")


def _finish(layers: Layers, layer: KerasLayer, x: Value, recurrent: Recurrent, states: Sequence[Value]) -> List[Value]:
    backwards, every = bool(layer.get("go_backwards", False)), bool(layer.get("return_sequences", False))
    if x.mask:
        zeros = bool(layer.get("zero_output_for_mask", False))
        if backwards:
            _check_turned(layer, zeros, layer)
        if zeros and not every:
            raise layer.unsupported("zero_output_for_mask of the last output is not supported")
        y, (out, *last) = layers.masked_recurrent(layer.name, x, recurrent, reverse=backwards, states=states, zeros=zeros)
    else:
        y, last = layers.recurrent(layer.name, x, [recurrent], reverse=backwards, states=states)
        out = last[0]
    if backwards and every:
        y = layers.part(layer.name + ".reversed", y, 1, None, None, -1)
    out = y if every else out
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
        kind = class_of(one)
        if kind not in _KINDS:
            raise layer.unsupported(f"the cell '{kind}' is not supported; accepted: LSTMCell, GRUCell, SimpleRNNCell")
        recurrent = _weights_of(layers, layer, _KINDS[kind], KerasLayer(kind, layer.name, one.get("config", {}), []))
        if at + 1 == len(cells):
            return _finish(layers, layer, x, recurrent, inputs[1:])
        title = f"{layer.name}.{at}"
        y, _ = layers.masked_recurrent(title, x, recurrent) if x.mask else layers.recurrent(title, x, [recurrent])
        x = replace(y, mask=x.mask)
    raise layer.unsupported("it has no cells")


def _directions(layers: Layers, layer: KerasLayer, x: Value, pair: Sequence[Recurrent], every: bool) -> Tuple[List[Value], List[List[Value]]]:
    """All steps of each direction, and its last states. Behind a mask Keras makes outputs of steps that do not count 0 where it gives
    all of them."""
    found = []
    for way, one in zip(_WAYS, pair):
        title, reverse = f"{layer.name}.{way}", way == "backward"
        if x.mask:
            y, (_, *last) = layers.masked_recurrent(title, x, one, reverse=reverse, zeros=every)
        else:
            y, last = layers.recurrent(title, x, [one], reverse=reverse)
        found.append((y, last))
    return [y for y, _ in found], [last for _, last in found]


def _is_one_layer(x: Value, pair: Sequence[Recurrent]) -> bool:
    """Of both directions."""
    return not x.mask and len({(one.kind, one.recurrent.shape, one.reset_after) for one in pair}) == 1


def _bidirectional(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> List[Value]:
    inner, x = layer.get("layer", {}), inputs[0]
    merge = layer.settings.get("merge_mode", "concat")
    both = [KerasLayer(class_of(one), layer.name, one.get("config", {}), []) for one in (inner, layer.get("backward_layer", inner))]
    kinds = " and ".join(sorted({f"'{one.kind}'" for one in both}))
    if any(one.kind not in ("LSTM", "GRU", "SimpleRNN") for one in both) or merge not in ("concat", "sum", "mul", "ave"):
        raise layer.unsupported(f"around {kinds} with merge_mode {merge!r} it is not supported")
    if both[0].get("go_backwards", False) or any(one.get("time_major", False) for one in both):
        raise layer.unsupported("around a layer with go_backwards or time_major it is not supported")
    every, gives_states = (bool(both[0].get(key, False)) for key in ("return_sequences", "return_state"))
    if any(bool(both[1].get(key, False)) != wanted for key, wanted in (("return_sequences", every), ("return_state", gives_states))):
        raise layer.unsupported("its two directions give different outputs")
    if x.mask:
        for one in both:
            _check_turned(layer, every, one)
    pair = [_weights_of(layers, layer, _KINDS[one.kind], one) for one in both]
    if _is_one_layer(x, pair):
        y, last = layers.recurrent(layer.name, x, pair)
        states = [last[:len(last) // 2], last[len(last) // 2:]]
        ends = (0, y.features // 2, y.features)
        halves = [y] if merge == "concat" else [layers.part(f"{layer.name}.{way}", y, 2, ends[at], ends[at + 1]) for at, way in enumerate(_WAYS) if every]
    else:
        halves, states = _directions(layers, layer, x, pair, every)
    if not every:
        halves = [last[0] for last in states]
    given = [state for last in states for state in last] if gives_states else []
    if merge == "concat":
        return [layers.concat(layer.name + ".joined", halves, -1) if len(halves) > 1 else halves[0], *given]
    op = {"sum": "Add", "mul": "Mul", "ave": "Mean"}[merge]
    return [layers.made(op, [half.name for half in halves], layer.name + ".joined", halves[0].shape), *given]


_RECURRENT: Dict[str, Callable[[Layers, KerasLayer, Sequence[Value]], List[Value]]] = {
    "LSTM": _recurrent, "GRU": _recurrent, "SimpleRNN": _recurrent, "RNN": _rnn, "Bidirectional": _bidirectional}
_OF_PLACES = ("Conv1D", "Conv2D", "DepthwiseConv2D", "SeparableConv2D", "MaxPooling1D", "MaxPooling2D", "AveragePooling1D", "AveragePooling2D", "Flatten",
              "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "Reshape", "ZeroPadding2D")
_PLAIN: Dict[str, Callable[[Layers, KerasLayer, Value], Value]] = {
    **CONVS, **{name: _function for name in _ACTIVATIONS}, "Dense": _dense, "GlobalAveragePooling1D": _mean, "Masking": masking, "GlobalMaxPooling1D": _over_places("ReduceMax"),
    "GlobalAveragePooling2D": _over_places("ReduceMean"), "GlobalMaxPooling2D": _over_places("ReduceMax"), "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm, "GroupNormalization": _group_norm, "UnitNormalization": _unit_norm, "Activation": _activation,
    "ReLU": _relu, "LeakyReLU": _leaky_relu, "ELU": _elu, "PReLU": _prelu, "Softmax": _softmax, "Embedding": _embedding, "RepeatVector": _repeat, "Flatten": _flatten, "Reshape": _reshape,
    "Permute": _permute, "Rescaling": _rescaling, "TimeDistributed": _time_distributed, "GetItem": _item}
