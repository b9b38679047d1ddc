# SPDX-License-Identifier: Apache-2.0
"""Masks of Keras: tensors [batch, steps], 1 where a step counts. They follow the values from layer to layer when a model is called;
functional files of Keras 3 name the mask of most calls besides."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Dict, List, Sequence

from ._graph import BOOL, FLOAT
from ._keras_layer import MERGES, MODELS, SAME, KerasLayer
from ._layers import Layers, Value, broadcast

_RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional")
_READS = (*_RECURRENT, "GlobalAveragePooling1D")
LOOK_AT_MASKS = (*_READS, "Softmax", "Attention", "AdditiveAttention", "MultiHeadAttention", "Masking", "Embedding")
_IGNORES = ("BatchNormalization", "TimeDistributed")  # what they are given
_PASSES = (*SAME, "Activation", "BatchNormalization", "Dense", "ELU", "GroupNormalization", "LayerNormalization", "LeakyReLU", "PReLU", "ReLU",
           "Rescaling", "TimeDistributed", "UnitNormalization", "Attention", "AdditiveAttention", "MultiHeadAttention")


def not_equal(layers: Layers, title: str, x: Value, number: float) -> Value:
    floats = layers.graph.node("Cast", [x.name], title + ".numbers", to=FLOAT)
    equal = layers.graph.node("Equal", [floats, layers.graph.constant(title + ".number", number)], title + ".equal")
    other = layers.graph.node("Not", [equal], title + ".other")
    return Value(layers.graph.node("Cast", [other], title, to=FLOAT), x.shape, is_mask=True)


def any_of_features(layers: Layers, title: str, mask: Value) -> Value:
    name = layers.graph.node("ReduceMax", [mask.name, layers.ints(title + ".axis", [-1])], title, keepdims=0)
    return Value(name, mask.shape[:-1], is_mask=True)


def where_counts(layers: Layers, title: str, x: Value, column: str) -> Value:
    """x, and 0 in steps that do not count."""
    chosen = layers.graph.node("Cast", [column], title + ".counts", to=BOOL)
    return layers.made("Where", [chosen, x.name, layers.graph.constant(title + ".zero", 0.0)], title, x.shape)


def masking(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    number = layer.get("mask_value", 0.0)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or len(x.shape) != 3:
        raise layer.unsupported("it is supported for one number and an input [batch, steps, features]")
    mask = any_of_features(layers, layer.name + ".mask", not_equal(layers, layer.name + ".other", x, float(number)))
    y = x if number == 0 else where_counts(layers, layer.name, x, layers.column(layer.name, mask.name))
    return replace(y, mask=mask.name)


def mean_of_counted(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """GlobalAveragePooling1D."""
    axes, keep = layers.ints(layer.name + ".axes", [1]), int(bool(layer.get("keepdims", False)))
    column = layers.column(layer.name, x.mask)
    kept = where_counts(layers, layer.name + ".kept", x, column)
    sums = [layers.graph.node("ReduceSum", [one, axes], layer.name + ".sum", keepdims=keep) for one in (kept.name, column)]
    return layers.made("Div", sums, layer.name, (x.shape[0], *([1] if keep else []), x.features))


def _not_equal(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
    if len(operands) != 2 or not isinstance(operands[1], (int, float)):
        raise layer.unsupported("it is supported for a tensor and a number")
    return not_equal(layers, layer.name, operands[0], float(operands[1]))


def _any(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
    if len(operands) != 1 or layer.get("axis") not in (-1, [-1], len(operands[0].shape) - 1) or layer.get("keepdims", False):
        raise layer.unsupported("it is supported over the last axis")
    return any_of_features(layers, layer.name, operands[0])


def _joined(op: str) -> Callable[[Layers, KerasLayer, Sequence[Any]], Value]:
    def add(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
        return Value(layers.graph.node(op, [one.name for one in operands], layer.name), operands[0].shape, is_mask=True)
    return add


def _as_it_is(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
    """What Attention makes of its query's mask."""
    if len(operands) != 1:
        raise layer.unsupported(f"it has {len(operands)} inputs; accepted: one")
    return Value(layers.graph.node("Identity", [operands[0].name], layer.name), operands[0].shape, is_mask=True)


def _column(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
    mask = operands[0]
    if layer.get("axis") not in (-1, len(mask.shape)) or len(mask.shape) != 2:
        raise layer.unsupported("it is supported for an axis behind the steps")
    return Value(layers.column(layer.name, mask.name), (*mask.shape, 1), is_mask=True)


def _like(number: float) -> Callable[[Layers, KerasLayer, Sequence[Any]], Value]:
    """What a mask of features is joined with to be as wide as they are: one number for all of them does."""
    def add(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
        shape = operands[0].shape
        if layer.settings.get("dtype") != "bool" or len(shape) != 3:
            raise layer.unsupported("it is supported as a bool of [batch, steps, features]")
        return Value(layers.graph.constant(layer.name, [[[number]]]), (*shape[:2], 1), is_mask=True)
    return add


def _all_features(layers: Layers, layer: KerasLayer, operands: Sequence[Any]) -> Value:
    """Masks of features side by side, of which Any is taken behind it: any of them does."""
    if layer.get("axis", -1) not in (-1, 2) or any(len(one.shape) != 3 for one in operands):
        raise layer.unsupported("masks are joined over their features")
    return Value(layers.graph.node("Max", [one.name for one in operands], layer.name), operands[0].shape, is_mask=True)


# Functions that are given values; that make a mask where they are given masks; that make masks.
OF_VALUES = ("NotEqual", "ZerosLike", "OnesLike")
OF_MASKS: Dict[str, Callable[[Layers, KerasLayer, Sequence[Any]], Value]] = {"ExpandDims": _column, "Concatenate": _all_features}
MASKS: Dict[str, Callable[[Layers, KerasLayer, Sequence[Any]], Value]] = {
    "ZerosLike": _like(0.0), "OnesLike": _like(1.0), "NotEqual": _not_equal, "Any": _any, "LogicalOr": _joined("Max"), "LogicalAnd": _joined("Min"), "ConvertToTensor": _as_it_is}


def _columns(layers: Layers, title: str, inputs: Sequence[Value]) -> List[str]:
    """Of each input a bool [batch, steps, 1], or nothing where it has no mask."""
    return [one.mask and layers.graph.node("Cast", [layers.column(title, one.mask)], title + ".counts", to=BOOL) for one in inputs]


def _product(layers: Layers, title: str, op: str, inputs: Sequence[Value]) -> Value:
    """What does not count is 1, and where nothing does the product is 0."""
    graph, counts = layers.graph, _columns(layers, title, inputs)
    one, zero = (graph.constant(f"{title}.{name}", number) for name, number in (("one", 1.0), ("zero", 0.0)))
    factors = [graph.node("Where", [mask, value.name, one], title + ".factor") if mask else value.name for mask, value in zip(counts, inputs)]
    name = graph.chain(op, factors, title)
    if all(counts):
        name = graph.node("Where", [graph.chain("Or", counts, title + ".either"), name, zero], title)
    return Value(name, broadcast([one.shape for one in inputs]))


def _extreme(layers: Layers, title: str, op: str, inputs: Sequence[Value]) -> Value:
    """What does not count is as the other is; of two that do not, the first stays."""
    graph, counts = layers.graph, _columns(layers, title, inputs)
    name, known = inputs[0].name, counts[0]
    for value, mask in zip(inputs[1:], counts[1:]):
        other = graph.node("Where", [mask, value.name, name], title + ".filled") if mask else value.name
        if known:
            name = graph.node("Where", [known, name, other], title + ".kept")
        known = graph.node("Or", [known, mask], title + ".either") if known and mask else ""
        name = graph.node(op, [name, other], title)
    return Value(name, broadcast([one.shape for one in inputs]))


MERGES_OF_MASKED: Dict[str, Callable[[Layers, str, str, Sequence[Value]], Value]] = {"Multiply": _product, "Maximum": _extreme, "Minimum": _extreme}


def with_mask(layer: KerasLayer, inputs: Sequence[Value]) -> List[Value]:
    """The inputs as the layer sees them: the first with its mask where that is looked at."""
    masked = any(one.mask for one in inputs)
    given = layer.call.get("mask")
    if isinstance(given, Value) and given.is_mask and layer.kind in (*_READS, *_IGNORES, *MODELS):
        del layer.call["mask"]
        return [replace(inputs[0], mask=given.name), *inputs[1:]]
    if masked and layer.kind == "Softmax" and not layer.is_function:
        raise layer.unsupported("a mask (of Masking or mask_zero) before it is not supported")
    return list(inputs)


def as_computed(layers: Layers, layer: KerasLayer, inputs: Sequence[Value], is_named: bool) -> Sequence[Value]:
    """The inputs as the layer computes with them. Beside initial states Keras 3 looks for no mask, but for one that the call names; the output
    has the mask all the same."""
    if len(inputs) == 1 or is_named or layer.kind not in _RECURRENT or not inputs[0].mask:
        return inputs
    if layers.is_old is None:
        raise layer.unsupported("a mask beside initial states is supported in a file that tells which Keras wrote it")
    return inputs if layers.is_old else [replace(inputs[0], mask=""), *inputs[1:]]


def masks_behind(layers: Layers, layer: KerasLayer, inputs: Sequence[Value], made: Sequence[Value]) -> List[Value]:
    """What the layer made, with the mask that Keras gives it."""
    if layer.kind in ("Masking", "Embedding"):  # their own
        return list(made)
    if not any(one.mask for one in inputs) or layer.is_function:
        return [replace(one, mask="") for one in made]
    mask = inputs[0].mask
    if layer.kind in MERGES:
        masks = list(dict.fromkeys(one.mask for one in inputs))
        if layer.kind == "Concatenate" and any(masks) and int(layer.get("axis", -1)) % len(inputs[0].shape) == 1:
            raise layer.unsupported("masks of steps that are joined are not supported")
        mask = "" if "" in masks else masks[0] if len(masks) == 1 else layers.graph.node("Max", masks, layer.name + ".mask")
    elif layer.kind in _RECURRENT:
        settings = layer.get("layer", {}).get("config", {}) if layer.kind == "Bidirectional" else layer.settings
        mask = mask if settings.get("return_sequences", False) else ""
    elif layer.kind not in _PASSES:
        mask = ""
    return [replace(made[0], mask=mask), *(replace(one, mask="") for one in made[1:])]
