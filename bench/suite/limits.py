"""The machine's limits as rnnpack_machine measures them, and the least time they allow a row.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import math
import subprocess
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .rows import Row

Sweep = list[tuple[int, float]]  # bytes of each thread, ascending, and GB/s of all threads together


@dataclass(frozen=True)
class Limits:
    data: dict[str, Any]  # the program's JSON

    def of(self, threads: int) -> dict[str, Any]:
        """GB/s per level and per size, and GFLOP/s, of all threads together."""
        return self.data["limits"].get(str(threads), self.data["limits"]["1"])

    def level(self, row: Row) -> str:
        """The nearest level that holds what each thread sweeps through; the last-level cache is shared, the others private."""
        share = swept_bytes(row) / row.threads
        sizes = self.data["cache_bytes"]
        if share <= sizes["l1"]:
            return "l1"
        if share <= sizes["l2"]:
            return "l2"
        return "l3" if swept_bytes(row) <= sizes["l3"] else "dram"

    def read_gb_per_s(self, row: Row) -> float:
        """What all threads together read when each sweeps through as many bytes as it does in this row."""
        return rate_at(self.of(row.threads)["sweep"], swept_bytes(row) / row.threads)

    def bound_us(self, row: Row) -> float:
        """Reading the weights each step, or computing everything, whichever takes longer."""
        reading = read_bytes(row) / (self.read_gb_per_s(row) * 1e3)
        computing = row.flops / (self.of(row.threads)["fma_gflops"] * 1e3)
        return max(reading, computing)


def rate_at(sweep: Sweep, size: float) -> float:
    """Linear in the logarithm of the size between the sizes measured, constant outside them."""
    above = bisect_left(sweep, size, key=lambda point: point[0])
    if above == 0 or above == len(sweep):
        return sweep[min(above, len(sweep) - 1)][1]
    (low, low_rate), (high, high_rate) = sweep[above - 1 : above + 1]
    return low_rate + (high_rate - low_rate) * math.log(size / low) / math.log(high / low)


def swept_bytes(row: Row) -> int:
    """Weights swept each step by one layer and direction. A single step has no sequence to project ahead: it reads W as well."""
    return row.recurrent_bytes_swept + (_input_bytes(row) if row.steps == 1 else 0)


def read_bytes(row: Row) -> int:
    """All weights that must be read in a call: the recurrent ones once a step."""
    return row.recurrent_bytes * row.steps + (_input_bytes(row) if row.steps == 1 else 0)


def _input_bytes(row: Row) -> int:
    return 4 * row.spec.gates * row.hidden * sum(row.layer_inputs) * row.directions


def measure_limits(program: Path, cpus: list[int], threads: list[int]) -> Limits:
    command = [str(program), ",".join(map(str, cpus)), *map(str, threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Limits(json.loads(done.stdout))


def best_of(first: Limits, second: Limits) -> Limits:
    """The limits a machine showed at its best: a neighbour who disturbed one measurement cannot raise a row's score."""
    data = dict(first.data)
    data["limits"] = {threads: _best_rates(limits, second.data["limits"][threads]) for threads, limits in first.data["limits"].items()}
    if "sync_ns" in data:
        data["sync_ns"] = min(data["sync_ns"], second.data["sync_ns"])
    return Limits(data)


def _best_rates(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    best = {key: max(value, second[key]) for key, value in first.items() if key != "sweep"}
    best["sweep"] = [(size, max(rate, other)) for (size, rate), (_, other) in zip(first["sweep"], second["sweep"])]
    return best
