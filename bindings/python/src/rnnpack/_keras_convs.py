# SPDX-License-Identifier: Apache-2.0
"""Convolutions of Keras, and what else looks at neighbouring steps, rows and columns: values [batch, steps, channels] and
[batch, rows, columns, channels]."""
from __future__ import annotations

from typing import Callable, Dict

import numpy as np

from ._keras_layer import KerasLayer
from ._layers import Array, Layers, Value, fitting


def _conv_of(layers: Layers, layer: KerasLayer, title: str, x: Value, kernel: Array, bias: bool, groups: int) -> Value:
    axes = kernel.ndim - 2
    return layers.conv(title, x, kernel, layer.take() if bias else None, padding=str(layer.get("padding", "valid")), strides=layer.each("strides", axes),
                       dilations=layer.each("dilation_rate", axes), groups=groups)


def _conv(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    layer.channels_last()
    y = _conv_of(layers, layer, layer.name, x, layer.take(), bool(layer.get("use_bias", True)), int(layer.get("groups", 1)))
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _depthwise(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """A kernel [taps..., in, multiplier] for every channel; a separable one is then mixed."""
    layer.channels_last()
    kernel = layer.take()
    if kernel.ndim != len(x.shape):
        raise layer.unsupported(f"a kernel of shape {list(kernel.shape)}; expected: taps, then [channels, multiplier]")
    taps = kernel.shape[:-2]
    fitting(f"'{layer.name}': its kernel", kernel, (*taps, x.features, kernel.shape[-1]))
    mix = layer.take() if layer.kind.startswith("Separable") else None
    bias = bool(layer.get("use_bias", True))
    y = _conv_of(layers, layer, layer.name + (".depthwise" if mix is not None else ""), x, kernel.reshape(*taps, 1, -1), bias and mix is None, x.features)
    if mix is not None:
        ones = [1] * len(taps)
        y = layers.conv(layer.name, y, mix, layer.take() if bias else None, padding="valid", strides=ones, dilations=ones)
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _conv_transpose(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    layer.channels_last()
    if layer.settings.get("output_padding") not in (None, [None]) or layer.each("dilation_rate", 1) != [1]:
        raise layer.unsupported("output_padding and dilation_rate are not supported")
    y = layers.conv_transpose(layer.name, x, layer.take(), layer.take() if layer.get("use_bias", True) else None, layer.each("strides", 1)[0],
                              str(layer.get("padding", "valid")))
    return layers.activation(layer.name + ".activation", y, layer.activation())


def _pool(op: str) -> Callable[[Layers, KerasLayer, Value], Value]:
    def add(layers: Layers, layer: KerasLayer, x: Value) -> Value:
        layer.channels_last()
        axes = len(x.shape) - 2
        sizes = layer.each("pool_size", axes, 2)
        strides = layer.each("strides", axes) if layer.get("strides") is not None else sizes
        return layers.pool(layer.name, x, op, sizes, strides, str(layer.get("padding", "valid")))
    return add


def _zero_padding(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    layer.channels_last()
    axes = len(x.shape) - 2
    given = layer.get("padding", 1)
    pairs = given if isinstance(given, (list, tuple)) else [given] * (2 if axes == 1 else axes)
    if axes == 1:
        pairs = [pairs]
    before, after = ([int(one if isinstance(one, int) else one[at]) for one in pairs] for at in (0, 1))
    places = [size if isinstance(size, str) else size + b + a for size, b, a in zip(x.shape[1:-1], before, after)]
    pads = layers.ints(layer.name + ".pads", [0, *before, 0, 0, *after, 0])
    return layers.made("Pad", [x.name, pads], layer.name, (x.shape[0], *places, x.features))


def _cropping(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    before, after = layer.each("cropping", 2, 1)
    return layers.part(layer.name, x, 1, before, -after if after else None)


def _up_sampling(layers: Layers, layer: KerasLayer, x: Value) -> Value:
    """Every step so many times."""
    times = int(layer.get("size", 2))
    steps = x.shape[1]
    if not isinstance(steps, int):
        raise layer.unsupported("the number of steps is open: fix it in the model")
    if not 0 < times * steps <= 1 << 24:
        raise layer.unsupported(f"{steps} steps {times} times each: accepted are 1 to 16777216 in all")
    places = layers.ints(layer.name + ".places", np.repeat(np.arange(steps), times))
    return layers.made("Gather", [x.name, places], layer.name, (x.shape[0], steps * times, x.features), axis=1)


CONVS: Dict[str, Callable[[Layers, KerasLayer, Value], Value]] = {
    "Conv1D": _conv, "Conv2D": _conv, "DepthwiseConv1D": _depthwise, "DepthwiseConv2D": _depthwise, "SeparableConv1D": _depthwise,
    "SeparableConv2D": _depthwise, "Conv1DTranspose": _conv_transpose, "MaxPooling1D": _pool("MaxPool"), "MaxPooling2D": _pool("MaxPool"),
    "AveragePooling1D": _pool("AveragePool"), "AveragePooling2D": _pool("AveragePool"), "ZeroPadding1D": _zero_padding, "ZeroPadding2D": _zero_padding,
    "Cropping1D": _cropping, "UpSampling1D": _up_sampling}
