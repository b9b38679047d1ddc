"""What each row is to reach, and figures others published: the numbers beside which ours are printed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row

GATED = ("lstm", "gru", "gru_lbr")


@dataclass(frozen=True)
class Target:
    ratio: float
    of: str  # a peer's name, or "fastest"


def _by_cell(row: Row, lstm: float, gru: float) -> Target:
    return Target(lstm if row.cell == "lstm" else gru, "fastest")


def _steps_target(row: Row) -> Target | None:
    ratio = {16: 0.009, 64: 0.11, 128: 0.3}.get(row.hidden)
    return Target(ratio, "onnxruntime") if ratio and row.threads == 1 else None


def _sequence_target(row: Row) -> Target | None:
    if row.threads == 2:
        ratio = {64: 0.35, 128: 0.4, 256: 0.5}.get(row.hidden)
        return Target(ratio, "fastest") if ratio else None
    lstm, gru = {64: (0.5, 0.55), 128: (0.6, 0.6), 256: (0.6, 0.65), 512: (0.85, 0.85), 1024: (1.0, 1.0)}[row.hidden]
    return _by_cell(row, lstm, gru)


def target_of(row: Row) -> Target | None:
    """The ratio of our time to a peer's that the row is to stay below; None where nothing was promised."""
    if row.group.startswith("deepbench"):
        return Target(1.0, "fastest")
    if row.cell not in GATED:
        return None
    if row.group == "steps":
        return _steps_target(row)
    if row.group == "sequence":
        return _sequence_target(row)
    if row.group == "batch" and row.threads == 1 and row.batch in (4, 10):
        return Target(0.5 if row.batch == 4 else 0.45, "fastest")
    if row.group.startswith("deepspeech2") and row.threads == 1:
        return Target(0.5, "fastest")
    return None


# RTNeural, one step, ns: header-only C++ with sizes fixed at compile time and -ffast-math, measured on ANOTHER machine
# (2-core AVX-512 Xeon); it is in no package, so it cannot be run beside us. The goal is 0.6 of its time.
RTNEURAL_NS = {
    ("lstm", 8): 124, ("lstm", 16): 183, ("lstm", 32): 555, ("lstm", 64): 2128,
    ("gru_lbr", 8): 128, ("gru_lbr", 16): 172, ("gru_lbr", 32): 416, ("gru_lbr", 64): 1571,
}
RTNEURAL_GOAL = 0.6


def rtneural_ns(row: Row) -> int | None:
    return RTNEURAL_NS.get((row.cell, row.hidden)) if row.group == "steps" and row.threads == 1 else None


# MXNet's fused RNN on a 28-core Xeon 8180, samples/s, Deep Speech 2 shapes: (layers, directions) -> cell -> figure.
MXNET_SAMPLES_PER_S = {
    (1, 1): {"lstm": 394.7, "gru_lbr": 392.2, "rnn_relu": 1538.0, "rnn_tanh": 1952.0},
    (5, 2): {"lstm": 107.1, "gru_lbr": 88.9, "rnn_relu": 134.2, "rnn_tanh": 104.2},
}


def mxnet_samples_per_s(row: Row) -> float | None:
    return MXNET_SAMPLES_PER_S.get((row.layers, row.directions), {}).get(row.cell) if row.group == "deepspeech2" else None
