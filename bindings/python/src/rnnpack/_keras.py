# SPDX-License-Identifier: Apache-2.0
"""Keras models from their files, .keras and .h5, by h5py: TensorFlow and Keras are not needed."""
from __future__ import annotations

import io
import json
import os
import re
import zipfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._errors import Error, FileError, ModelError, UsageError
from ._files import file_errors
from ._graph import Size
from ._keras_layer import KerasLayer
from ._keras_layers import FUNCTIONS, add_layer
from ._layers import HARD_SLOPE, OLD_HARD_SLOPE, Array, Layers, Value
from ._model import Model, compile
from ._options import CompileOptions, PathLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

Content = Tuple[Mapping[str, Any], Mapping[str, List[Array]], bool, str]
# Of what is inside a layer, as Keras lists weights.
_ORDER = ("forward_layer", "backward_layer", "cell", "cells", "layer", "query_dense", "key_dense", "value_dense", "output_dense")


def from_keras(path: PathLike, **options: Unpack[CompileOptions]) -> Model:
    """Compile a Keras model: a .keras or .h5 file of Sequential or of functional models, read by h5py. `options`: those of compile().

    Inputs and outputs are the model's layers' names; the first open size behind the batch is `steps`. Masks of Masking and mask_zero
    make loops of layers, which stream; where a layer runs backwards, the number of steps has to be fixed: dim={"steps": 50}.
    """
    sizes = dict(options.get("dim") or {})
    model = keras_to_onnx(path, sizes)
    options["dim"] = sizes
    return compile(model, **options)


def keras_to_onnx(path: PathLike, sizes: Optional[Dict[str, int]] = None) -> bytes:
    """`sizes`: of open dimensions; those of the inputs are used and taken out."""
    return content_to_onnx(os.fspath(path), read_keras(os.fspath(path)), sizes)


def content_to_onnx(path: str, content: Content, sizes: Optional[Dict[str, int]] = None) -> bytes:
    try:
        return _Importer(*content, {} if sizes is None else sizes).model()
    except Error:
        raise
    except Exception as error:  # whatever a damaged description leads to
        raise ModelError(f"'{path}' describes a layer as Keras does not: {error!r}") from error


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise UsageError("files of Keras are read by h5py: pip install h5py") from error
    return h5py


def read_keras(path: str) -> Content:
    """The configuration, the weights of each layer by its name or, in .keras files, by the name that it is stored as; which of
    the two; and the version of Keras that wrote it."""
    h5py = _h5py()
    with file_errors(), open(path, "rb") as file:
        start = file.read(8)
    try:
        if start[:4] == b"PK\3\4":
            with zipfile.ZipFile(path) as archive:
                config = json.loads(archive.read("config.json"))
                facts = json.loads(archive.read("metadata.json")) if "metadata.json" in archive.namelist() else {}
                with h5py.File(io.BytesIO(archive.read("model.weights.h5")), "r") as stored:
                    return config, _by_class(h5py, stored.get("layers", {})), True, str(facts.get("keras_version", ""))
        if start == b"\x89HDF\r\n\x1a\n":
            with h5py.File(path, "r") as stored:
                if "model_config" not in stored.attrs:
                    raise ModelError(f"'{path}' holds weights alone: save the whole model (model.save), or use from_weights")
                text = stored.attrs["model_config"]
                weights = {name: [_array(group[weight]) for weight in group.attrs.get("weight_names", [])]
                           for name, group in stored["model_weights"].items() if hasattr(group, "keys")}
                return json.loads(text), weights, False, _text(stored.attrs.get("keras_version", ""))
    except (zipfile.BadZipFile, KeyError, OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"'{path}' is not whole, damaged or no model of Keras: {error}") from error
    raise FileError(f"'{path}' is no model of Keras: neither a .keras nor an HDF5 file")


def _array(stored: Any) -> Array:
    """HDF5 has no bfloat16: Keras stores such a number as two bytes without a type."""
    array = np.asarray(stored)
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:
        return np.asarray(array.view("<u2").astype(np.uint32) << 16, np.uint32).view(np.float32)
    return array


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _by_class(h5py: Any, layers: Mapping[str, Any]) -> Mapping[str, List[Array]]:
    """Of a layer whole, and of each cell of one with several as layer/cell: which cell is the first only the configuration says."""
    found: Dict[str, List[Array]] = {}
    for name, group in layers.items():
        found[name] = _arrays(h5py, group)
        for cell, part in group.get("cell/cells", {}).items():
            found[f"{name}/{cell}"] = _arrays(h5py, part)
    return found


def _arrays(h5py: Any, group: Any) -> List[Array]:
    """Own variables first, then those of what is inside."""
    found: List[Array] = []
    if "vars" in group:
        own = group["vars"]
        found += [_array(own[name]) for name in sorted((n for n in own if n.isdigit()), key=int)]
    inside = [name for name in group if isinstance(group[name], h5py.Group) and name not in ("vars", "seed_generator")]
    inside.sort(key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    for name in inside:
        found += _arrays(h5py, group[name])
    return found


def _snake(name: str) -> str:
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _counted(seen: Dict[str, int], kind: str) -> str:
    """The name that Keras stores the next one of a class under."""
    plain = _snake(kind)
    at = seen.get(plain, 0)
    seen[plain] = at + 1
    return f"{plain}_{at}" if at else plain


def _leaves(node: Any) -> List[Any]:
    """What a call is given: tensors as (layer, output), and what else there is as it is."""
    if isinstance(node, Mapping) and node.get("class_name") == "__keras_tensor__":
        history = node["config"]["keras_history"]
        return [(history[0], history[2])]
    if isinstance(node, (list, tuple)):
        if len(node) >= 3 and isinstance(node[0], str) and isinstance(node[1], int):
            return [(node[0], node[2])]
        return [leaf for part in node for leaf in _leaves(part)]
    return [] if node is None else [node]


def _tensors(node: Any) -> List[Tuple[str, int]]:
    return [leaf for leaf in _leaves(node) if isinstance(leaf, tuple)]


def _call(kind: str, node: Any) -> Tuple[List[Any], Dict[str, Any]]:
    """What is given by place, initial states behind it, and what is given by name and says something."""
    if isinstance(node, Mapping):
        given, named = list(node.get("args", [])), dict(node.get("kwargs", {}))
    else:
        given = [node]
        named = {key: value for part in node if isinstance(part, list) and len(part) > 3 for key, value in dict(part[3]).items()}
    given += [named.pop(name) for name in ("query", "value", "key") if kind == "MultiHeadAttention" and name in named]
    states = _leaves(named.pop("initial_state", []))
    named = {key: value for key, value in named.items() if value is not None and value is not False}
    if kind == "GetItem" and len(given) == 2:  # a list in the key is no part of it
        key = given[1] if isinstance(given[1], list) else [given[1]]
        return [*_leaves(given[0]), *key], named
    return [*_leaves(given), *states], named


_MERGES_BY_MASKS = (3, 4)  # from this version on


class _Importer:
    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, List[Array]], in_keras: bool, version: str, given: Dict[str, int]) -> None:
        self._kind, self._config = config.get("class_name"), config.get("config", {})
        if self._kind not in ("Sequential", "Functional", "Model"):
            raise ModelError(f"a model of class '{self._kind}' is not supported; accepted: Sequential, Functional")
        if isinstance(self._config, list):
            self._config = {"layers": self._config}
        self._weights, self._in_keras = weights, in_keras
        self._given, self._fixed = given, dict(given)
        self._layers = Layers()
        old = version.split(".")[0] in ("1", "2") if version else None
        self._layers.hard_slope = None if old is None else OLD_HARD_SLOPE if old else HARD_SLOPE
        self._layers.is_old = old
        numbers = [int(part) for part in version.split(".")[:2] if part.isdecimal()]
        self._layers.merges_by_masks = tuple(numbers) >= _MERGES_BY_MASKS if len(numbers) == 2 else None
        self._values: Dict[Tuple[str, int], Value] = {}
        self._by_class: Dict[str, int] = {}

    def model(self) -> bytes:
        graph = self._layers.graph
        if self._kind == "Sequential":
            layers = self._config.get("layers", [])
            last = layers[-1].get("config", {}).get("name", "output") if layers else "output"
            reserved = graph.unused(last)
            graph.output_of(self._sequential().name, reserved)
        else:
            calls = _tensors(self._config["output_layers"])
            alone = len({name for name, _ in calls}) == len(calls)
            names = [graph.unused(name if alone else f"{name}_{index}") for name, index in calls]
            self._functional()
            for (name, index), reserved in zip(calls, names):
                graph.output_of(self._value(name, index).name, reserved)
        return graph.model()

    def _value(self, name: str, index: int) -> Value:
        if (name, index) not in self._values:
            raise ModelError(f"layer '{name}' has no output {index}, or none before it is used")
        return self._values[name, index]

    def _stored(self, layer: KerasLayer) -> List[Array]:
        """By its name in .h5 files; in .keras files by its class, counted over the layers."""
        if not self._in_keras:
            return list(self._weights.get(layer.name, []))
        by_class = _counted(self._by_class, layer.kind)
        stored = by_class if by_class in self._weights else layer.name
        cells = layer.get("cell", {}).get("config", {}).get("cells")
        if not cells:
            return list(self._weights.get(stored, []))
        seen: Dict[str, int] = {}
        kinds = [str(cell.get("class_name")).split(">")[-1] for cell in cells]
        return [array for kind in kinds for array in self._weights.get(f"{stored}/{_counted(seen, kind)}", [])]

    def _made(self, config: Mapping[str, Any]) -> KerasLayer:
        settings = config.get("config", {})
        name = settings.get("name") or config.get("name") or "layer"
        kind = str(config["class_name"]).split(">")[-1]
        is_function = not {"trainable", "dtype"} & set(settings)  # as y + 1: its settings are not those of a layer of its name
        layer = KerasLayer(kind if kind in FUNCTIONS or not is_function else f"ops.{kind}", name, settings, [], is_function=is_function)
        layer.weights = self._stored(layer)
        return layer

    def _input(self, layer: KerasLayer, shape: Optional[Sequence[Optional[int]]], dtype: Any) -> Value:
        if shape is None:
            raise ModelError(f"input '{layer.name}' has no shape")
        sizes: List[Size] = []
        for at, size in enumerate(shape):
            name = "batch" if at == 0 else f"size{at}" if any(earlier is None for earlier in shape[1:at]) else "steps"
            if size is None:
                self._given.pop(name, None)
            sizes.append(self._fixed.get(name, name) if size is None else int(size))
        kind = dtype if isinstance(dtype, str) else "float32"
        return self._layers.input(layer.name, sizes, integer="int" in kind)

    def _sequential(self) -> Value:
        value: Optional[Value] = None
        for config in self._config.get("layers", []):
            layer = self._made(config)
            shape = layer.settings.get("batch_shape") or layer.settings.get("batch_input_shape")
            if value is None:
                shape = shape or self._config.get("build_input_shape")
                integer = "int32" if layer.kind == "Embedding" else layer.settings.get("dtype") if layer.kind == "InputLayer" else "float32"
                named = layer if layer.kind == "InputLayer" else KerasLayer("InputLayer", "input", {}, [])
                value = self._input(named, shape, integer)
            if layer.kind != "InputLayer":
                layer.operands = [value]
                value = add_layer(self._layers, layer)[0]
        if value is None:
            raise ModelError("the model has no layers")
        return value

    def _functional(self) -> None:
        order = [name for name, _ in _tensors(self._config.get("input_layers", []))]
        made = [self._made(config) for config in self._config["layers"]]
        inputs = [layer for layer in made if layer.kind == "InputLayer"]
        for layer in sorted(inputs, key=lambda layer: order.index(layer.name) if layer.name in order else len(order)):
            shape = layer.settings.get("batch_shape") or layer.settings.get("batch_input_shape")
            self._values[layer.name, 0] = self._input(layer, shape, layer.settings.get("dtype"))
        for layer, config in zip(made, self._config["layers"]):
            if layer.kind == "InputLayer":
                continue
            calls = config.get("inbound_nodes", [])
            if len(calls) != 1:
                raise ModelError(f"layer '{layer.name}' is called {len(calls)} times; accepted: once")
            leaves, layer.call = _call(layer.kind, calls[0])
            masks = _leaves(layer.call.get("mask"))
            if len(masks) == 1 and isinstance(masks[0], tuple):
                layer.call["mask"] = self._value(*masks[0])
            layer.operands = [self._value(*leaf) if isinstance(leaf, tuple) else leaf for leaf in leaves]
            for index, value in enumerate(add_layer(self._layers, layer)):
                self._values[layer.name, index] = value
