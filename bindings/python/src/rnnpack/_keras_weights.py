# SPDX-License-Identifier: Apache-2.0
"""Where a Keras file has the weights of a layer."""
from __future__ import annotations

import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Protocol, Tuple

from ._errors import ModelError
from ._keras_layer import MODELS, KerasLayer, class_of
from ._layers import Array


class Weights(Protocol):
    """Of a model's layers, which are asked for once each, in the order of its description."""

    def fresh(self) -> Weights:
        """The same before anything was asked for."""

    def of(self, layer: KerasLayer) -> List[Array]: ...

    def inside(self, layer: KerasLayer, model: Mapping[str, Any]) -> Weights:
        """Of a layer that is this model, or has it inside."""


def name_of(config: Mapping[str, Any]) -> str:
    return config.get("config", {}).get("name") or config.get("name") or "layer"


def model_in(config: Mapping[str, Any]) -> Optional[Mapping[str, Any]]:
    """The model that a layer is, or that it calls at every step."""
    if class_of(config) == "TimeDistributed":
        inner = config.get("config", {}).get("layer", {})
        return inner if class_of(inner) in MODELS else None
    return config if class_of(config) in MODELS else None


def layers_of(config: Mapping[str, Any]) -> List[Any]:
    """Of a model's configuration, which may be the list itself."""
    settings = config.get("config", {})
    return settings if isinstance(settings, list) else settings.get("layers", [])


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


class ByClass:
    """Of .keras files, by the layer's class, counted over the layers."""

    def __init__(self, stored: Mapping[str, List[Array]], folder: str = "") -> None:
        self._stored, self._folder = stored, folder
        self._seen: Dict[str, int] = {}

    def fresh(self) -> ByClass:
        return ByClass(self._stored, self._folder)

    def of(self, layer: KerasLayer) -> List[Array]:
        counted = self._folder + _counted(self._seen, layer.kind)
        stored = counted if counted in self._stored else self._folder + layer.stored
        cells = layer.get("cell", {}).get("config", {}).get("cells")
        if not cells:
            return list(self._stored.get(stored, []))
        seen: Dict[str, int] = {}
        return [array for cell in cells for array in self._stored.get(f"{stored}/{_counted(seen, class_of(cell))}", [])]

    def inside(self, layer: KerasLayer, model: Mapping[str, Any]) -> ByClass:
        counted = f"{self._folder}{_counted(self._seen, layer.kind)}/"
        named = f"{self._folder}{layer.stored}/"
        return ByClass(self._stored, counted if any(name.startswith(counted) for name in self._stored) else named)


class ByName:
    """Of .h5 files, by the layer's name. A model inside has all of its weights in one list: the trained ones first, so what of it
    belongs to which layer only their names say."""

    def __init__(self, stored: Mapping[str, List[Tuple[str, Array]]]) -> None:
        self._stored = stored

    def fresh(self) -> ByName:
        return self

    def of(self, layer: KerasLayer) -> List[Array]:
        return [array for _, array in self._stored.get(layer.stored, [])]

    def inside(self, layer: KerasLayer, model: Mapping[str, Any]) -> ByName:
        names = {name_of(config): {name_of(one) for one in layers_inside(config)} for config in layers_of(model)}
        found: Dict[str, List[Tuple[str, Array]]] = {}
        for name, array in self._stored.get(layer.stored, []):
            found.setdefault(_owner(layer, name, names), []).append((name, array))
        return ByName(found)


def layers_inside(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Of a layer that is a model or has one inside, those of models inside it, too."""
    for inner in layers_of(model_in(config) or {}):
        yield inner
        yield from layers_inside(inner)


def _owner(layer: KerasLayer, weight: str, names: Mapping[str, Any]) -> str:
    """The layer whose name is part of the weight's; of a model inside, Keras 2 gave the name of its layer alone."""
    parts = weight.split("/")
    owner = next((part for part in parts if part in names), None)
    holders = [name for name, inside in names.items() if not inside.isdisjoint(parts)] if owner is None else [owner]
    if len(holders) != 1:
        raise ModelError(f"layer '{layer.name}' ({layer.kind}): which of its layers the weight '{weight}' belongs to is not clear; "
                         "save the model as .keras")
    return holders[0]
