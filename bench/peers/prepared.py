"""What a runtime hands to the timing loop: a call with everything prepared, its output, and its empty call.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SAMPLE_NS = 4000  # calls shorter than this are timed several at a time, so that reading the clock does not count


class Unsupported(Exception):
    """The runtime has no operator for this row; the text says which."""


@dataclass
class Samples:
    ns: list[int]  # one entry per sample of `calls` calls
    calls: int


@dataclass
class Prepared:
    run: Callable[[], object]
    output: Callable[[], np.ndarray]  # [T, B, D * H], of a run from the initial state
    empty: Callable[[], object] | None = None  # the binding's own cost: a call that computes nothing
    note: str = ""

    def time_calls(self, seconds: float, calls: int) -> Samples:
        """At least one sample of `calls` calls, more until `seconds` have passed; calls 0 finds out how many are needed."""
        return sample(self.run, seconds, calls)

    def empty_ns(self) -> float:
        """Median of the empty call, 0 where the calls are timed without a binding in between."""
        if self.empty is None:
            return 0.0
        for _ in range(50):
            self.empty()
        samples = sample(self.empty, 0.05)
        return float(np.median(samples.ns)) / samples.calls


def sample(run: Callable[[], object], seconds: float, calls: int = 0) -> Samples:
    calls = calls or _calls_per_sample(run)
    clock = time.perf_counter_ns
    ns: list[int] = []
    end = clock() + int(seconds * 1e9)
    while not ns or clock() < end:
        ns.append(_timed(run, calls, clock))
    return Samples(ns, calls)


def _timed(run: Callable[[], object], calls: int, clock: Callable[[], int]) -> int:
    begin = clock()
    for _ in range(calls):
        run()
    return clock() - begin


def _calls_per_sample(run: Callable[[], object]) -> int:
    one = _timed(run, 1, time.perf_counter_ns)
    if one > 100 * SAMPLE_NS:
        return 1
    one = min(_timed(run, 1, time.perf_counter_ns) for _ in range(10))
    return max(1, SAMPLE_NS // max(one, 1))


def merge_directions(y: np.ndarray) -> np.ndarray:
    """ONNX's [T, D, B, H] -> [T, B, D * H]; a tensor of rank 3 is that already."""
    if y.ndim == 3:
        return np.array(y)
    steps, directions, batch, hidden = y.shape
    return np.ascontiguousarray(y.transpose(0, 2, 1, 3)).reshape(steps, batch, directions * hidden)
