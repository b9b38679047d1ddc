"""oneDNN's recurrent primitives through its C++ API (Debian's libdnnl), timed in C++: no binding in the figure.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes

import numpy as np

from suite.cases import Case, Layer
from suite.rows import Row

from .gate_order import reorder, split_bias
from .prepared import Prepared, Samples
from .timed_library import TimedSession, find_library

_library = find_library("libonednn_bench.so")
_library.onednn_bench_version.restype = ctypes.c_char_p
VERSION = _library.onednn_bench_version().decode()
CELLS = ("lstm", "gru", "gru_lbr", "rnn_tanh", "rnn_relu")  # the order of the enum Cell
ORDER = {"LSTM": "ifco", "GRU": "zrh", "RNN": "h"}


def load(case: Case, threads: int) -> Prepared:
    row = case.row
    shape = (ctypes.c_int * 7)(row.steps, row.batch, row.inputs, row.hidden, row.layers, row.directions, 32)
    arrays = [array for layer in case.layers for array in _arrays(row, layer)]
    pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    session = TimedSession(_library, "onednn_bench")
    session.open(CELLS.index(row.cell), shape, pointers)
    y = np.empty((row.steps, row.batch, row.directions * row.hidden), np.float32)
    return _PreparedInC(session, case.x, y)


def _arrays(row: Row, layer: Layer) -> list[np.ndarray]:
    each, order = range(row.directions), ORDER[row.spec.operator]
    w = np.stack([reorder(row, np.asarray(layer.w[d]), order) for d in each])
    r = np.stack([reorder(row, np.asarray(layer.r[d]), order) for d in each])
    return [w, r, np.stack([_bias(row, layer, d) for d in each])]


def _bias(row: Row, layer: Layer, direction: int) -> np.ndarray:
    """Both biases added, except for the candidate of the linear-before-reset GRU, which gets a fourth one."""
    of_w, of_r = (reorder(row, np.asarray(part), ORDER[row.spec.operator]) for part in split_bias(row, layer, direction))
    if row.cell != "gru_lbr":
        return of_w + of_r
    gates = 2 * row.hidden
    return np.concatenate([of_w[:gates] + of_r[:gates], of_w[gates:], of_r[gates:]])


class _PreparedInC(Prepared):
    def __init__(self, session: TimedSession, x: np.ndarray, y: np.ndarray) -> None:
        super().__init__(lambda: session.run(x, y), lambda: (session.run(x, y), y)[1])
        self._session, self._x, self._y = session, x, y

    def time_calls(self, seconds: float, calls: int) -> Samples:
        return self._session.time_calls(self._x, self._y, False, seconds, calls)
