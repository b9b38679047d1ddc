# SPDX-License-Identifier: Apache-2.0
"""Attention of Keras, and its Dot: layers of two or three inputs [batch, steps, features]."""
from __future__ import annotations

from typing import Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from ._graph import BOOL
from ._keras_layer import KerasLayer
from ._layers import Array, Layers, Value


def _three(layer: KerasLayer, inputs: Sequence[Value]) -> Tuple[Value, Value, Value]:
    """Query, value and key, which is the value where there is no other."""
    if len(inputs) not in (2, 3) or any(len(v.shape) != 3 for v in inputs):
        raise layer.unsupported("its inputs are a query, a value and, if it is another, a key, each [batch, steps, features]")
    return inputs[0], inputs[1], inputs[-1]


_LEAST = 1e9  # what Keras takes from the score of a step that does not count


def _counts(layers: Layers, title: str, mask: str, axes: Sequence[int]) -> str:
    """A mask [batch, steps] as bools, with more axes of size 1."""
    counts = layers.graph.node("Cast", [mask], title + ".counts", to=BOOL)
    return layers.graph.node("Unsqueeze", [counts, layers.ints(title + ".counts_axes", list(axes))], title + ".counts")


def _masked(layers: Layers, title: str, scores: str, inputs: Sequence[Value], summed: Callable[[str], str]) -> str:
    """Of Attention and AdditiveAttention: steps of the value that do not count have the least scores, those of the query give 0."""
    graph, (query, value) = layers.graph, inputs[:2]
    if value.mask:
        less = graph.node("Sub", [scores, graph.constant(title + ".least", _LEAST)], title + ".less")
        scores = graph.node("Where", [_counts(layers, title + ".value", value.mask, [1]), scores, less], title + ".masked")
    y = summed(scores)
    if not query.mask:
        return y
    return graph.node("Where", [_counts(layers, title + ".query", query.mask, [2]), y, graph.constant(title + ".zero", 0.0)], title + ".kept")


def _weighted(layers: Layers, title: str, scores: str, value: str) -> str:
    return layers.graph.node("MatMul", [layers.graph.node("Softmax", [scores], title + ".weights", axis=-1), value], title + ".sum")


def _attention(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> Value:
    query, value, key = _three(layer, inputs)
    graph, title = layers.graph, layer.name
    if layer.get("score_mode", "dot") != "dot":
        raise layer.unsupported("score_mode is not dot")
    scores = graph.node("MatMul", [query.name, graph.node("Transpose", [key.name], title + ".key", perm=[0, 2, 1])], title + ".scores")
    if layer.get("use_scale", False):
        scores = graph.node("Mul", [scores, graph.constant(title + ".scale", layer.take().reshape(()))], title + ".scaled")
    y = _masked(layers, title, scores, inputs, lambda left: _weighted(layers, title, left, value.name))
    return Value(y, (*query.shape[:2], value.shape[2]))


def _additive(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> Value:
    """Scores: the sum over features of scale times tanh(query + key)."""
    query, value, key = _three(layer, inputs)
    graph, title = layers.graph, layer.name
    scale = layer.take().reshape(-1) if layer.get("use_scale", True) else np.ones(query.features)
    axes = [layers.ints(f"{title}.axis{at}", [at]) for at in (2, 1)]
    pair = [graph.node("Unsqueeze", [one.name, axis], title + ".apart") for one, axis in zip((query, key), axes)]
    terms = graph.node("Tanh", [graph.node("Add", pair, title + ".pairs")], title + ".tanh")
    scaled = graph.node("Mul", [terms, graph.constant(title + ".scale", scale)], title + ".scaled")
    scores = graph.node("ReduceSum", [scaled, layers.ints(title + ".features", [-1])], title + ".scores", keepdims=0)
    y = _masked(layers, title, scores, inputs, lambda left: _weighted(layers, title, left, value.name))
    return Value(y, (*query.shape[:2], value.shape[2]))


def _heads(layers: Layers, title: str, x: Value, kernel: Array, bias: Optional[Array], order: Sequence[int]) -> str:
    """kernel [features, heads, width]: [batch, heads, steps, width] for the order (0, 2, 1, 3)."""
    features, heads, width = kernel.shape
    y = layers.dense(title, x, kernel.reshape(features, heads * width), None if bias is None else bias.reshape(-1))
    apart = layers.graph.node("Reshape", [y.name, layers.ints(title + ".shape", [0, 0, heads, width])], title + ".apart")
    return layers.graph.node("Transpose", [apart], title + ".heads", perm=list(order))


def _scores_that_count(layers: Layers, layer: KerasLayer, scores: str, inputs: Sequence[Value]) -> str:
    """[batch, heads, query's steps, value's steps]: the least where a step of either does not count."""
    graph, title = layers.graph, layer.name
    masks = [(one.mask, axes) for one, axes in zip(inputs, ([1, 3], [1, 2], [1, 2])) if one.mask]
    if not masks:
        return scores
    if layers.is_old is not False:
        raise layer.unsupported("a mask (of Masking or mask_zero) before it is supported in files of Keras 3")
    counts = [_counts(layers, f"{title}.{at}", mask, axes) for at, (mask, axes) in enumerate(masks)]
    both = graph.chain("And", counts, title + ".both")
    return graph.node("Where", [both, scores, graph.constant(title + ".least", -_LEAST)], title + ".masked")


def _multi_head(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> Value:
    query, value, key = _three(layer, inputs)
    graph, title = layers.graph, layer.name
    if layer.get("attention_axes") not in (None, [1], 1) or layer.get("use_gate", False):
        raise layer.unsupported("attention_axes other than the steps, and use_gate, are not supported")
    bias = bool(layer.get("use_bias", True))
    weights = [(layer.take(), layer.take() if bias else None) for _ in range(4)]
    if any(kernel.ndim != 3 for kernel, _ in weights):
        raise layer.unsupported(f"kernels of shapes {[list(kernel.shape) for kernel, _ in weights]}; expected: three sizes each")
    scale = 1 / np.sqrt(float(weights[0][0].shape[2]))
    q, k, v = (_heads(layers, f"{title}.{name}", x, *pair, order)
               for name, x, pair, order in zip(("query", "key", "value"), (query, key, value), weights, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))))
    scaled = graph.node("Mul", [q, graph.constant(title + ".scale", scale)], title + ".scaled")
    scores = _scores_that_count(layers, layer, graph.node("MatMul", [scaled, k], title + ".scores"), inputs)
    joined = graph.node("Transpose", [_weighted(layers, title, scores, v)], title + ".by_step", perm=[0, 2, 1, 3])
    kernel, shift = weights[3]
    wide = int(kernel.shape[0] * kernel.shape[1])
    flat = layers.made("Reshape", [joined, layers.ints(title + ".joined_shape", [0, 0, wide])], title + ".joined", (*query.shape[:2], wide))
    return layers.dense(title + ".output", flat, kernel.reshape(wide, -1), shift)


def _dot(layers: Layers, layer: KerasLayer, inputs: Sequence[Value]) -> Value:
    """Of [batch, steps, features]: sums of products over one axis of each."""
    axes = layer.get("axes")
    pair = [int(one) for one in axes] if isinstance(axes, (list, tuple)) else [int(axes)] * 2
    if len(inputs) != 2 or any(len(v.shape) != 3 for v in inputs) or layer.get("normalize", False):
        raise layer.unsupported("it is supported for two inputs [batch, steps, features], without normalize")
    one, two = ((at % 3) for at in pair)
    if 0 in (one, two):
        raise layer.unsupported("axes name the batch")
    names = [v.name if fits else layers.graph.node("Transpose", [v.name], layer.name + ".turned", perm=[0, 2, 1])
             for v, fits in zip(inputs, (one == 2, two == 1))]
    return layers.made("MatMul", names, layer.name, (inputs[0].shape[0], inputs[0].shape[3 - one], inputs[1].shape[3 - two]))


ATTENTION: Dict[str, Callable[[Layers, KerasLayer, Sequence[Value]], Value]] = {
    "Attention": _attention, "AdditiveAttention": _additive, "MultiHeadAttention": _multi_head, "Dot": _dot}
