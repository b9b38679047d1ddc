"""Ours: compiled by the host tool, run and timed in C, so that there is no binding in the figure.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np

from suite.cases import Case

from .prepared import Prepared, Samples
from .timed_library import TimedSession, find_library

TOOL = os.environ.get("RNNPACK_BENCH_TOOL")
if not TOOL:
    raise FileNotFoundError("the host tool `rnnpack` was not built (RNNPACK_COMPILER)")
_library = find_library("librnnpack_bench.so")
_library.rnnpack_bench_version.restype = ctypes.c_char_p
VERSION = _library.rnnpack_bench_version().decode()
STREAM_STEPS = 64  # single steps walk through this many different inputs


def load(case: Case, threads: int) -> Prepared:
    blob = case.folder / "model.rnnp"
    _compile(case.folder / "streaming.onnx", blob)
    row = case.row
    session = TimedSession(_library, "rnnpack_bench")
    session.open(str(blob).encode(), row.batch, row.steps, threads, *_cpus())
    y = np.empty((row.steps, row.batch, row.directions * row.hidden), np.float32)
    stream = case.x if row.steps > 1 else _stream(case)
    return _PreparedInC(session, stream, y, case)


def _compile(model: Path, blob: Path) -> None:
    done = subprocess.run([TOOL, "compile", str(model), "-o", str(blob)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"rnnpack compile: {done.stderr.strip() or done.stdout.strip()}")


def _cpus() -> tuple[ctypes.Array, int]:
    cpus = [int(cpu) for cpu in os.environ["RNNPACK_BENCH_CPUS"].split(",")]
    return (ctypes.c_int * len(cpus))(*cpus), len(cpus)


def _stream(case: Case) -> np.ndarray:
    random = np.random.default_rng(3)
    return random.uniform(-1, 1, (STREAM_STEPS, case.row.batch, case.row.inputs)).astype(np.float32)


class _PreparedInC(Prepared):
    def __init__(self, session: TimedSession, stream: np.ndarray, y: np.ndarray, case: Case) -> None:
        super().__init__(lambda: session.run(case.x, y), lambda: self._output(), note=session.note())
        self._session, self._stream, self._y, self._single = session, stream, y, case.row.steps == 1

    def _output(self) -> np.ndarray:
        self._y.fill(np.nan)
        self.run()
        return self._y

    def time_calls(self, seconds: float, calls: int) -> Samples:
        return self._session.time_calls(self._stream, self._y, self._single, seconds, calls)
