"""The machine's limits as rnnpack_machine measures them, and the least time they allow a row.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .rows import Row

LEVELS = ("l1", "l2", "l3", "dram")


@dataclass(frozen=True)
class Limits:
    data: dict[str, Any]  # the program's JSON

    def of(self, threads: int) -> dict[str, float]:
        """GB/s per level and GFLOP/s of all threads together."""
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

    def bound_us(self, row: Row) -> float:
        """Reading the weights each step, or computing everything, whichever takes longer."""
        limits = self.of(row.threads)
        reading = read_bytes(row) / (limits[self.level(row)] * 1e3)
        computing = row.flops / (limits["fma_gflops"] * 1e3)
        return max(reading, computing)


def swept_bytes(row: Row) -> int:
    """Weights swept each step by one layer and direction. A single step has no sequence to project ahead: it reads W as well."""
    return row.recurrent_bytes_swept + (_input_bytes(row) if row.steps == 1 else 0)


def read_bytes(row: Row) -> int:
    """All weights that must be read in a call: the recurrent ones once a step."""
    return row.recurrent_bytes * row.steps + (_input_bytes(row) if row.steps == 1 else 0)


def _input_bytes(row: Row) -> int:
    return 4 * row.spec.gates * row.hidden * sum(row.layer_inputs) * row.directions


def measure_limits(program: Path, cpus: list[int], sweep: bool) -> Limits:
    command = [str(program), ",".join(map(str, cpus)), *(["sweep"] if sweep else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Limits(json.loads(done.stdout))


def best_of(first: Limits, second: Limits) -> Limits:
    """The limits a machine showed at its best: a neighbour who disturbed one measurement cannot raise a row's score."""
    data = dict(first.data)
    data["limits"] = {
        threads: {key: value if key == "sweep" else max(value, second.data["limits"][threads][key]) for key, value in limits.items()}
        for threads, limits in first.data["limits"].items()
    }
    if "meeting_ns" in data:
        data["meeting_ns"] = min(data["meeting_ns"], second.data["meeting_ns"])
    return Limits(data)
