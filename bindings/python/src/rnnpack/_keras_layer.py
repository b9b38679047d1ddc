# SPDX-License-Identifier: Apache-2.0
"""A layer of a Keras model: its settings, weights and call."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional

from ._errors import ModelError
from ._layers import Array


MODELS = ("Sequential", "Functional", "Model")
MERGES = {"Add": "Add", "Multiply": "Mul", "Maximum": "Max", "Minimum": "Min", "Subtract": "Sub", "Average": "Mean", "Concatenate": "Concat"}
SAME = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "GaussianNoise", "GaussianDropout", "ActivityRegularization", "Identity")


def class_of(config: Mapping[str, Any]) -> str:
    """Of a layer's configuration, without the package that it is registered in."""
    return str(config.get("class_name")).split(">")[-1]


@dataclass
class KerasLayer:
    kind: str
    name: str
    settings: Mapping[str, Any]
    weights: List[Array]
    call: Dict[str, Any] = field(default_factory=dict)  # what else a call is given; who understands it takes it out
    operands: List[Any] = field(default_factory=list)  # values, numbers and slices, in the order of the call
    is_function: bool = False  # one of Keras' operations: it drops the mask of what it is given
    stored: str = ""  # its name in the file, without that of a model around it

    def get(self, key: str, otherwise: Any = None) -> Any:
        value = self.settings.get(key, otherwise)
        return otherwise if value is None else value

    def activation(self, key: str = "activation") -> Optional[str]:
        value = self.settings.get(key)
        if isinstance(value, Mapping):
            if isinstance(value.get("config"), Mapping):
                raise self.unsupported(f"its {key} is a layer ({value.get('class_name')}): put that behind it")
            value = value.get("config")
        return None if value is None else str(value).lower()

    def take(self) -> Array:
        if not self.weights:
            raise ModelError(f"layer '{self.name}' ({self.kind}): the file has too few weights for it")
        return self.weights.pop(0)

    def each(self, key: str, count: int, otherwise: int = 1) -> List[int]:
        value = self.get(key, otherwise)
        return [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)] * count

    def unsupported(self, what: str) -> ModelError:
        return ModelError(f"layer '{self.name}' ({self.kind}): {what}")

    def channels_last(self) -> None:
        if self.get("data_format", "channels_last") != "channels_last":
            raise self.unsupported("data_format is not channels_last")
