"""ctypes over the C timing libraries of native/: open a session, run it once, let C time many runs.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from .prepared import SAMPLE_NS, Samples

MAX_SAMPLES = 1 << 16


def find_library(name: str) -> ctypes.CDLL:
    path = Path(os.environ.get("RNNPACK_BENCH_LIBRARIES", ".")) / name
    if not path.exists():
        raise FileNotFoundError(f"{name} was not built")
    return ctypes.CDLL(str(path))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class TimedSession:
    """<prefix>_open gives a handle or an error text; _run, _time, _note and _close take the handle."""

    def __init__(self, library: ctypes.CDLL, prefix: str) -> None:
        self._call = {name: getattr(library, f"{prefix}_{name}") for name in ("open", "run", "time", "note", "close")}
        self._call["open"].restype = self._call["run"].restype = self._call["note"].restype = ctypes.c_char_p
        self._call["time"].restype = ctypes.c_size_t
        self._handle = ctypes.c_void_p()
        self._ns = np.empty(MAX_SAMPLES, np.uint64)

    def open(self, *arguments: Any) -> None:
        _raise(self._call["open"](ctypes.byref(self._handle), *arguments))

    def run(self, x: np.ndarray, y: np.ndarray) -> None:
        _raise(self._call["run"](self._handle, pointer(x), pointer(y)))

    def note(self) -> str:
        return self._call["note"](self._handle).decode()

    def time_calls(self, x: np.ndarray, y: np.ndarray, single_steps: bool, seconds: float, calls: int) -> Samples:
        per_sample = ctypes.c_uint32(calls)
        stream_steps = x.shape[0] if single_steps else 0
        count = self._call["time"](
            self._handle, pointer(x), pointer(y), ctypes.c_uint32(stream_steps), ctypes.c_uint64(int(seconds * 1e9)),
            ctypes.c_uint64(SAMPLE_NS), ctypes.c_size_t(MAX_SAMPLES), pointer(self._ns), ctypes.byref(per_sample),
        )
        if not count:
            raise RuntimeError("the timed call failed")
        return Samples([int(ns) for ns in self._ns[:count]], per_sample.value)

    def __del__(self) -> None:
        if self._handle:
            self._call["close"](self._handle)


def _raise(error: bytes | None) -> None:
    if error:
        raise RuntimeError(error.decode())
