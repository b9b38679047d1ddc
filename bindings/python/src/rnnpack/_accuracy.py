# SPDX-License-Identifier: Apache-2.0
"""What low-precision weights cost: the report of `rnnpack compile --report`."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple


@dataclass(frozen=True)
class ErrorFigures:
    """Differences from the same network in f32."""
    sqnr_db: float  # signal-to-quantization-noise ratio; infinite without noise, NaN where nothing was compared
    max: float
    rms: float
    not_finite: int  # values that are finite on one side only


@dataclass(frozen=True)
class MatrixErrors:
    name: str  # "W" or "R"
    type: str  # what it is stored as
    bytes: int
    x_scale: Optional[float]  # of int8 inputs; 0: found of every row; None: the inputs stay f32
    x_clipped_share: Optional[float]  # of inputs beyond the largest int8


@dataclass(frozen=True)
class LayerErrors:
    name: str
    kind: str
    matrices: Tuple[MatrixErrors, ...]
    running: ErrorFigures  # in the network as it runs: errors of earlier layers and steps included
    first_step_over_0_1: Optional[int]  # the first step with an error above 0.1
    one_step: Optional[ErrorFigures]  # of recurrent layers: every step from the f32 network's state
    worst_unit: Optional[int]  # which differs most from one step to the next


@dataclass(frozen=True)
class QuantizationErrors:
    """Model.errors. print() shows the tool's table."""
    data: str  # what it was measured on
    steps: int
    bytes: int  # of the blob
    f32_bytes: int
    outputs: Mapping[str, ErrorFigures]
    layers: Tuple[LayerErrors, ...]
    decisions: Tuple[str, ...]  # of weights="auto": what was tried, and what was chosen
    table: str

    def __str__(self) -> str:
        return self.table

    @property
    def notes(self) -> Tuple[str, ...]:
        """One line for each decision and each output."""
        measured = (f"accuracy: output {name} has {f.sqnr_db:.1f} dB SQNR, largest error {f.max:.3g}, on {self.data}"
                    for name, f in self.outputs.items())
        return (*self.decisions, *measured, f"size: {self.bytes} bytes; {self.f32_bytes} in f32")


def _figures(given: Mapping[str, Any]) -> ErrorFigures:
    ratio = given["sqnr_db"]
    if ratio is None:  # JSON has no infinity
        ratio = math.inf if given["max"] == 0 else -math.inf if given.get("not_finite_on_one_side") else math.nan
    return ErrorFigures(ratio, _number(given["max"]), _number(given["rms"]), given.get("not_finite_on_one_side", 0))


def _number(value: Optional[float]) -> float:
    return math.nan if value is None else value


def _matrix(given: Mapping[str, Any]) -> MatrixErrors:
    return MatrixErrors(given["name"], given["type"], given["bytes"], given.get("x_scale"), given.get("x_clipped_share"))


def _layer(given: Mapping[str, Any]) -> LayerErrors:
    one, running = given.get("one_step"), given["free_running"]
    return LayerErrors(given["name"], given["kind"], tuple(map(_matrix, given["matrices"])), _figures(running),
                       running["first_step_over_0.1"], None if one is None else _figures(one), None if one is None else one["worst_unit"])


def errors_of(document: Mapping[str, Any], said: str) -> QuantizationErrors:
    """`said`: what the tool printed, decisions first, the table behind them."""
    outputs: Dict[str, ErrorFigures] = {one["name"]: _figures(one) for one in document["outputs"]}
    decisions = tuple(document.get("decisions", ()))
    lines = said.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith("measured on ")), 0)
    return QuantizationErrors(document["data"], document["steps"], document["bytes"], document["f32_bytes"], outputs,
                              tuple(map(_layer, document["layers"])), decisions, "\n".join(lines[first:]))
