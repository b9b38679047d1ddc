"""Weights from ONNX's gate order (i o f c; z r h) into the orders other runtimes use.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import numpy as np

from suite.cases import Layer
from suite.rows import Row

ONNX_ORDER = {"LSTM": "iofc", "GRU": "zrh", "RNN": "h"}


def reorder(row: Row, matrix: np.ndarray, wanted: str) -> np.ndarray:
    """Rows [G * H, ...] regrouped so that gates come in the order of the letters `wanted`."""
    order = ONNX_ORDER[row.spec.operator]
    blocks = np.reshape(matrix, (row.spec.gates, row.hidden, *matrix.shape[1:]))
    return np.ascontiguousarray(np.concatenate([blocks[order.index(gate)] for gate in wanted]))


def split_bias(row: Row, layer: Layer, direction: int) -> tuple[np.ndarray, np.ndarray]:
    """The input biases and the recurrent biases, [G * H] each."""
    half = row.spec.gates * row.hidden
    return layer.b[direction][:half], layer.b[direction][half:]
