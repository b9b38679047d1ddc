"""The recurrent cells measured: gates, ONNX operator and attributes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    name: str
    operator: str  # ONNX op_type
    gates: int
    attributes: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def activation(self) -> str | None:
        """'Tanh' or 'Relu' of a vanilla RNN, None for gated cells."""
        return self.attributes.get("activations", [None])[0]


CELLS = {
    cell.name: cell
    for cell in (
        Cell("lstm", "LSTM", 4),
        Cell("gru", "GRU", 3, {"linear_before_reset": 0}),
        Cell("gru_lbr", "GRU", 3, {"linear_before_reset": 1}),
        Cell("rnn_tanh", "RNN", 1, {"activations": ["Tanh"]}),
        Cell("rnn_relu", "RNN", 1, {"activations": ["Relu"]}),
    )
}
