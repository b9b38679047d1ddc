"""Measures one row: loads it everywhere, compares outputs, then alternates the runtimes in rounds.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .cases import remove_case, write_case
from .rows import Row
from .workers import Family

TOLERANCE = 1e-4
REST_SECONDS = {1: 0.001, 2: 0.03}  # by threads: until the helpers of the last runtime have stopped spinning for more work
LONG_ROUNDS = 2  # the last round that a call longer than its share of the time takes part in
SLOW = 3.0  # a peer this many times slower than the fastest, and this slow in itself, is timed once
SLOW_NS = 2.5e8


@dataclass
class Timing:
    min_us: float
    median_us: float
    p99_us: float
    samples: int
    calls_per_sample: int
    empty_us: float = 0.0  # the binding's empty call; subtracted by nobody here


@dataclass
class Result:
    row: Row
    timings: dict[str, Timing] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # runtimes without a timing, and why
    wrong: list[str] = field(default_factory=list)  # comparisons that failed: the run must fail


@dataclass
class Budget:
    seconds: float  # of timing for a row, all runtimes together
    rounds: int
    load_limit: float = 600
    call_limit: float = 120


def measure_row(row: Row, family: Family, budget: Budget, folder: Path, ours: str) -> Result:
    result = Result(row, reasons=dict(family.absent))
    case = write_case(row, folder / row.name.replace("/", "-"))
    try:
        loaded = _load_everywhere(row, family, case.folder, budget, result)
        if _outputs_agree(loaded, ours, result):
            _time_in_rounds({peer: reply["empty_ns"] for peer, reply in loaded.items()}, family, budget, result)
    finally:
        for peer in list(family.workers):
            family.ask(peer, "unload", 60)
        remove_case(case)
    return result


def _load_everywhere(row: Row, family: Family, folder: Path, budget: Budget, result: Result) -> dict[str, dict[str, Any]]:
    loaded = {}
    for peer in list(family.workers):
        reply = family.ask(peer, "load", budget.load_limit, row=row.as_dict(), folder=str(folder))
        if "output" in reply:
            loaded[peer] = reply
        else:
            result.reasons[peer] = reply.get("unsupported") or reply["failed"]
    return loaded


def _outputs_agree(loaded: dict[str, dict[str, Any]], ours: str, result: Result) -> bool:
    """Ours against each peer. A peer that disagrees with the other peers is set aside; ours that disagrees ends the row."""
    outputs = {peer: np.load(reply["output"]) for peer, reply in loaded.items()}
    peers = [peer for peer in outputs if peer != ours]
    for peer in peers:
        others = [other for other in peers if other != peer]
        if len(others) >= 2 and not any(_close(outputs[peer], outputs[other]) for other in others):
            result.reasons[peer] = f"its output differs from the other peers' by {_distance(outputs[peer], outputs[others[0]]):.1e}"
            del loaded[peer]
    if ours in loaded:
        for peer in peers:
            if peer in loaded and not _close(outputs[ours], outputs[peer]):
                result.wrong.append(f"{result.row.name}: {ours} differs from {peer} by {_distance(outputs[ours], outputs[peer]):.1e}")
    return not result.wrong


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference, relative where values are above 1; infinite for NaN or another shape."""
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    return float(np.max(np.abs(a - b) / np.maximum(1, np.abs(b))))


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    return _distance(a, b) <= TOLERANCE


@dataclass
class _Runner:
    """What is known of one runtime while the rounds go on."""

    ns: list[float] = field(default_factory=list)  # per call
    calls: int = 0  # per sample, found in round 0
    share: float = 0.0  # seconds a round

    def fastest(self) -> float:
        return min(self.ns, default=float("inf"))

    def wants(self, number: int, best: float) -> bool:
        """A call longer than its share is made three times, a slow peer's once."""
        if number == 0 or self.fastest() <= 1e9 * self.share:
            return True
        slow = self.fastest() > max(SLOW * best, SLOW_NS)
        return number <= LONG_ROUNDS and not slow


def _time_in_rounds(empty_ns: dict[str, float], family: Family, budget: Budget, result: Result) -> None:
    """Round 0 warms up; a call longer than its share of the time has been warmed up by the comparison, and counts."""
    runners = {peer: _Runner(share=budget.seconds / (budget.rounds * len(empty_ns))) for peer in empty_ns}
    for number in range(budget.rounds + 1):
        best = min((runner.fastest() for runner in runners.values()), default=0.0)
        for peer in [peer for peer, runner in runners.items() if runner.wants(number, best)]:
            failure = _one_round(family, peer, runners[peer], number, budget)
            if failure:
                result.reasons[peer] = failure
                del runners[peer]
    for peer, runner in runners.items():
        result.timings[peer] = _summary(runner.ns, runner.calls, empty_ns[peer])


def _one_round(family: Family, peer: str, runner: _Runner, number: int, budget: Budget) -> str | None:
    time.sleep(REST_SECONDS.get(family.threads, 0.03))
    seconds = runner.share if number else 0
    reply = family.ask(peer, "time", budget.call_limit, seconds=seconds, calls=runner.calls)
    if "ns" not in reply:
        return reply["failed"]
    runner.calls = reply["calls"]
    ns = [sample / runner.calls for sample in reply["ns"]]
    keep = number != 1 or runner.fastest() > 1e9 * runner.share
    runner.ns = runner.ns + ns if keep else ns
    return None


def _summary(ns: list[float], calls: int, empty_ns: float) -> Timing:
    low, median, high = np.percentile(ns, [0, 50, 99]) / 1e3
    return Timing(float(low), float(median), float(high), len(ns), calls, empty_ns / 1e3)
