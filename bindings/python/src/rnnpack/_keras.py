# SPDX-License-Identifier: Apache-2.0
"""Keras models from their files, .keras and .h5, by h5py: TensorFlow and Keras are not needed."""
from __future__ import annotations

import io
import json
import os
import zipfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ._errors import Error, FileError, ModelError, UsageError
from ._files import file_errors
from ._keras_network import model_of
from ._keras_weights import ByClass, ByName, Weights
from ._layers import Array
from ._model import Model, compile
from ._options import CompileOptions, PathLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

Content = Tuple[Mapping[str, Any], Weights, str]
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
        return model_of(*content, {} if sizes is None else sizes)
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
    """The configuration, the weights, and the version of Keras that wrote it."""
    h5py = _h5py()
    with file_errors(), open(path, "rb") as file:
        start = file.read(8)
    try:
        if start[:4] == b"PK\3\4":
            with zipfile.ZipFile(path) as archive:
                config = json.loads(archive.read("config.json"))
                facts = json.loads(archive.read("metadata.json")) if "metadata.json" in archive.namelist() else {}
                with h5py.File(io.BytesIO(archive.read("model.weights.h5")), "r") as stored:
                    return config, ByClass(_by_class(h5py, stored.get("layers", {}))), str(facts.get("keras_version", ""))
        if start == b"\x89HDF\r\n\x1a\n":
            with h5py.File(path, "r") as stored:
                if "model_config" not in stored.attrs:
                    raise ModelError(f"'{path}' holds weights alone: save the whole model (model.save), or use from_weights")
                text = stored.attrs["model_config"]
                weights = {name: [(_text(weight), _array(group[weight])) for weight in group.attrs.get("weight_names", [])]
                           for name, group in stored["model_weights"].items() if hasattr(group, "keys")}
                return json.loads(text), ByName(weights), _text(stored.attrs.get("keras_version", ""))
    except (zipfile.BadZipFile, AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
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
    """Of a layer whole, of each cell of one with several as layer/cell: which cell is the first only the configuration says. Of a
    model inside as model/layer."""
    found: Dict[str, List[Array]] = {}
    for name, group in layers.items():
        model = group if "layers" in group else group.get("layer", {})
        if "layers" in model:
            found.update((f"{name}/{inner}", arrays) for inner, arrays in _by_class(h5py, model["layers"]).items())
            continue
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
