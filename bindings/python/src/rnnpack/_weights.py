# SPDX-License-Identifier: Apache-2.0
"""Networks from named weights (safetensors, or arrays) and a description that names the layers."""
from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Set, Union, cast

import numpy as np
import numpy.typing as npt

from ._errors import ModelError, UsageError
from ._files import file_errors
from ._graph import Size
from ._layers import Array, Layers, Value, torch_recurrent
from ._model import Model, compile
from ._options import CompileOptions, PathLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

Description = Union[PathLike, Mapping[str, Any]]
Weights = Union[PathLike, Mapping[str, npt.ArrayLike]]
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "u1"}
_MOST_HEADER = 100 << 20
_EVERY = {"type", "name", "from", "activation"}
_SEVERAL = ("concat", "add", "multiply")
_SETTINGS: Dict[str, Set[str]] = {
    "lstm": {"weights", "last"}, "gru": {"weights", "last"}, "rnn": {"weights", "last"}, "linear": {"weights"},
    "conv1d": {"weights", "dilation", "stride", "groups", "padding"}, "batch_norm": {"weights", "epsilon"}, "layer_norm": {"weights", "epsilon"},
    "prelu": {"weights"}, "embedding": {"weights"}, "activation": set(), "concat": {"axis"}, "add": set(), "multiply": set()}


def from_weights(description: Description, arrays: Weights, **options: Unpack[CompileOptions]) -> Model:
    """Compile a network from its weights by name, as PyTorch names and lays them out.

    description  a mapping, or the path of a JSON file:
                 {"inputs": {"x": ["batch", "steps", 40]},
                  "layers": [{"type": "lstm", "weights": "encoder"}, {"type": "linear", "weights": "head", "activation": "sigmoid"}],
                  "outputs": ["linear"]}
                 A layer takes the one before it, or those that "from" names, and is called by its "name" or its type. Types: lstm, gru,
                 rnn (all layers and both directions of the module; "last": true gives the last states), linear, conv1d ("dilation",
                 "stride", "groups", "padding": causal, same or valid), batch_norm, layer_norm ("epsilon"), prelu, embedding,
                 activation, add, multiply, concat. Without "outputs" the last layer is the output.
    arrays       the path of a .safetensors file, or arrays by name
    options      those of compile()
    """
    return compile(weights_to_onnx(description, arrays), **options)


def weights_to_onnx(description: Description, weights: Weights) -> bytes:
    if not isinstance(description, Mapping):
        with file_errors(), open(description, encoding="utf-8") as file:
            try:
                description = json.load(file)
            except ValueError as error:
                raise ModelError(f"'{file.name}' is no JSON: {error}") from error
    if not isinstance(description, Mapping):
        raise UsageError("the description is no object: {\"inputs\": ..., \"layers\": [...]}")
    arrays = read_safetensors(weights) if isinstance(weights, (str, os.PathLike)) else {k: np.asarray(v, np.float32) for k, v in weights.items()}
    return _Network(description, arrays).model()


def read_safetensors(path: PathLike) -> Dict[str, Array]:
    with file_errors(), open(path, "rb") as file:
        content = file.read()
    name = os.fspath(path)
    if len(content) < 8:
        raise ModelError(f"'{name}' is no safetensors file: it has {len(content)} bytes")
    size = struct.unpack("<Q", content[:8])[0]
    if size > min(len(content) - 8, _MOST_HEADER):
        raise ModelError(f"'{name}' is no safetensors file, or not whole: its header is said to have {size} bytes")
    try:
        header = json.loads(content[8:8 + size])
        data = memoryview(content)[8 + size:]
        return {key: _tensor(name, key, facts, data) for key, facts in header.items() if key != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"'{name}' has a damaged header: {error!r}") from error


def _tensor(name: str, key: str, facts: Mapping[str, Any], data: memoryview) -> Array:
    begin, end = (int(v) for v in facts["data_offsets"])
    shape = [int(v) for v in facts["shape"]]
    if not 0 <= begin <= end <= len(data) or any(v < 0 for v in shape):
        raise ModelError(f"'{name}' is not whole: '{key}' ends at byte {end} of {len(data)}")
    kind = facts["dtype"]
    if kind == "BF16":
        array = (np.frombuffer(data[begin:end], "<u2").astype(np.uint32) << 16).view(np.float32)
    elif kind in _TYPES:
        array = np.frombuffer(data[begin:end], _TYPES[kind])
    else:
        raise ModelError(f"'{name}': '{key}' is of type {kind!r}; accepted: {', '.join(_TYPES)}, BF16")
    if array.size != int(np.prod(shape, dtype=object)):
        raise ModelError(f"'{name}': '{key}' has {array.size} elements, its shape {shape} others")
    return cast(Array, array.astype(np.float32).reshape(shape))


class _Network:
    def __init__(self, description: Mapping[str, Any], weights: Mapping[str, Array]) -> None:
        self._said, self._weights = description, weights
        self._layers = Layers()
        self._values: Dict[str, Value] = {}

    def model(self) -> bytes:
        inputs, layers = self._said.get("inputs"), self._said.get("layers")
        if not isinstance(inputs, Mapping) or not inputs or not isinstance(layers, Sequence) or not layers:
            raise UsageError("the description needs \"inputs\", a mapping of shapes, and \"layers\", a list")
        looked_up = {layer.get("from") for layer in layers if isinstance(layer, Mapping) and layer.get("type") == "embedding" and isinstance(layer.get("from"), str)}
        first = layers[0].get("type") if isinstance(layers[0], Mapping) else None
        last = ""
        for name, shape in inputs.items():
            sizes: List[Size] = [size if isinstance(size, str) else int(size) for size in shape]
            self._values[name] = self._layers.input(name, sizes, integer=name in looked_up or (len(inputs) == 1 and first == "embedding"))
            last = name
        outputs = self._reserved(layers)
        for layer in layers:
            if not isinstance(layer, Mapping) or not isinstance(layer.get("type"), str):
                raise UsageError(f"a layer is an object with a \"type\", not {layer!r}")
            if layer["type"] not in _SETTINGS:
                raise UsageError(f"layer '{layer.get('name', layer['type'])}': the type '{layer['type']}' is not known; accepted: {', '.join(_SETTINGS)}")
            known = _EVERY | _SETTINGS[layer["type"]]
            if layer["type"] == "rnn":  # an activation beside it might be meant for its inside, where there is tanh
                known -= {"activation"}
            unknown = sorted(set(layer) - known)
            if unknown:
                raise UsageError(f"layer '{layer.get('name', layer['type'])}': unknown members {', '.join(unknown)}; accepted for {layer['type']}: {', '.join(sorted(known))}")
            last = self._add(layer, last)
        for name, reserved in outputs.items():
            self._layers.graph.output_of(self._value(name).name, reserved)
        return self._layers.graph.model()

    def _reserved(self, layers: Sequence[Any]) -> Dict[str, str]:
        """Layers that are outputs, and the names of these, which no tensor before may have."""
        final = layers[-1]
        last = str(final.get("name", final.get("type"))) if isinstance(final, Mapping) else ""
        return {name: self._layers.graph.unused(name) for name in self._said.get("outputs", [last])}

    def _value(self, name: str) -> Value:
        if name not in self._values:
            raise UsageError(f"there is no layer or input '{name}'; there are: {', '.join(self._values)}")
        return self._values[name]

    def _of(self, layer: Mapping[str, Any], name: str, needed: bool = True) -> Optional[Array]:
        prefix = str(layer.get("weights", ""))
        key = f"{prefix}.{name}" if prefix else name
        if key in self._weights:
            return self._weights[key]
        if needed:
            raise ModelError(f"layer '{layer.get('name', layer['type'])}': there is no '{key}' among the weights: {', '.join(sorted(self._weights)[:20])}")
        return None

    def _needed(self, layer: Mapping[str, Any], name: str, rank: int) -> Array:
        array = self._of(layer, name)
        if array is None or array.ndim != rank:
            raise ModelError(f"layer '{layer.get('name', layer['type'])}': its {name} has shape {[] if array is None else list(array.shape)}; {rank} sizes are expected")
        return array

    def _add(self, layer: Mapping[str, Any], before: str) -> str:
        kind, title = layer["type"], str(layer.get("name", layer["type"]))
        if title in self._values:
            raise UsageError(f"two layers are called '{title}': give one a \"name\"")
        given = layer.get("from", before)
        inputs = [self._value(name) for name in ([given] if isinstance(given, str) else given)]
        if len(inputs) != 1 and kind not in _SEVERAL:
            raise UsageError(f"layer '{title}': it has {len(inputs)} inputs; accepted: one, or several for {', '.join(_SEVERAL)}")
        value = self._made(kind, title, layer, inputs)
        self._values[title] = self._layers.activation(title + ".activation", value, layer.get("activation")) if kind != "activation" else value
        return title

    def _made(self, kind: str, title: str, layer: Mapping[str, Any], inputs: Sequence[Value]) -> Value:
        layers, x = self._layers, inputs[0]
        if kind in ("lstm", "gru", "rnn"):
            return self._recurrent(kind, title, layer, x)
        if kind == "linear":
            return layers.dense(title, x, self._needed(layer, "weight", 2).T, self._of(layer, "bias", False))
        if kind == "conv1d":
            padding = str(layer.get("padding", "causal"))
            if padding not in ("causal", "same", "valid"):
                raise UsageError(f"layer '{title}': padding '{padding}'; accepted: causal, same, valid")
            return layers.conv(title, x, self._needed(layer, "weight", 3).transpose(2, 1, 0), self._of(layer, "bias", False), padding=padding,
                               strides=[int(layer.get("stride", 1))], dilations=[int(layer.get("dilation", 1))], groups=int(layer.get("groups", 1)))
        if kind == "batch_norm":
            return layers.batch_norm(title, x, self._of(layer, "weight", False), self._of(layer, "bias", False), self._needed(layer, "running_mean", 1),
                                     self._needed(layer, "running_var", 1), float(layer.get("epsilon", 1e-5)))
        if kind == "layer_norm":
            return layers.layer_norm(title, x, self._of(layer, "weight", False), self._of(layer, "bias", False), float(layer.get("epsilon", 1e-5)))
        if kind == "prelu":
            return layers.prelu(title, x, self._needed(layer, "weight", 1))
        if kind == "embedding":
            return layers.embedding(title, x, self._needed(layer, "weight", 2))
        if kind == "activation":
            return layers.activation(title, x, layer.get("activation"))
        if kind == "concat":
            return layers.concat(title, inputs, int(layer.get("axis", -1)))
        return layers.made({"add": "Add", "multiply": "Mul"}[kind], [v.name for v in inputs], title, max((v.shape for v in inputs), key=len))

    def _recurrent(self, kind: str, title: str, layer: Mapping[str, Any], x: Value) -> Value:
        prefix = str(layer.get("weights", ""))
        stack = torch_recurrent(self._weights, prefix + "." if prefix else "", kind, title)
        last: List[Value] = []
        for at, directions in enumerate(stack):
            x, last = self._layers.recurrent(title if at + 1 == len(stack) else f"{title}.{at}", x, directions)
        if not layer.get("last", False):
            return x
        states = last[::2] if kind == "lstm" else last
        return states[0] if len(states) == 1 else self._layers.concat(title + ".joined", states, -1)
