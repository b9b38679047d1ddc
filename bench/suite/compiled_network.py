"""A compiled network through the C timing library, on prepared arrays.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from peers.prepared import SAMPLE_NS
from suite.locate import Built

MAX_SAMPLES = 1 << 14


class Ours:
    """The compiled network through the C timing library."""

    def __init__(self, library: ctypes.CDLL, tool: Path, blob: Path, arrays: dict[str, np.ndarray], steps: int, cpus: list[int],
                 from_start: bool | None = None, rows: int = 1) -> None:
        """from_start: each timed call begins with the initial state; left out: where it has several steps. rows: of the batch."""
        from_start = steps > 1 if from_start is None else from_start
        self.library, self.handle = library, ctypes.c_void_p()
        document = json.loads(subprocess.run([tool, "inspect", "--json", blob], capture_output=True, text=True, check=True).stdout)
        threads = (ctypes.c_int * len(cpus))(*cpus)
        self._check(library.rnnpack_network_open(ctypes.byref(self.handle), str(blob).encode(), steps, rows, threads, len(cpus), int(from_start)))
        self.arrays: list[np.ndarray] = []
        for index, io in enumerate(document["inputs"]):
            self._bind(0, index, canonical(arrays[io["name"]], io["dims"], steps))
        self.outputs: dict[str, tuple[np.ndarray, list[Any]]] = {}
        for index, io in enumerate(document["outputs"]):
            array = np.zeros((steps if io["role"] == "sequence" else 1) * rows * io["row_elems"], np.float32)
            self._bind(1, index, array)
            self.outputs[io["name"]] = (array, io["dims"])

    def _check(self, error: bytes | None) -> None:
        if error:
            raise RuntimeError(error.decode())

    def _bind(self, output: int, index: int, array: np.ndarray) -> None:
        self.arrays.append(array)
        self._check(self.library.rnnpack_network_bind(self.handle, output, index, ctypes.c_void_p(array.ctypes.data)))

    def run(self) -> None:
        self._check(self.library.rnnpack_network_run(self.handle))

    def time(self, seconds: float, calls: int) -> tuple[np.ndarray, int]:
        ns, per_sample = np.empty(MAX_SAMPLES, np.uint64), ctypes.c_uint32(calls)
        count = self.library.rnnpack_network_time(self.handle, ctypes.c_uint64(int(seconds * 1e9)), ctypes.c_uint64(SAMPLE_NS),
                                                  ctypes.c_size_t(MAX_SAMPLES), ctypes.c_void_p(ns.ctypes.data), ctypes.byref(per_sample))
        if not count:
            raise RuntimeError("the timed call failed")
        return ns[:count] / per_sample.value, per_sample.value

    def close(self) -> None:
        self.library.rnnpack_network_close(self.handle)


def canonical(array: np.ndarray, dims: list[Any], steps: int) -> np.ndarray:
    """ONNX's order -> steps, batch, features: what the library reads. Of several rows the steps are first already."""
    if "steps" in dims and array.ndim == len(dims):
        array = np.moveaxis(array, dims.index("steps"), 0)
    return np.ascontiguousarray(array, np.int32 if array.dtype.kind == "i" else np.float32)


def open_library(built: Built) -> ctypes.CDLL:
    library = ctypes.CDLL(str(built.libraries / "librnnpack_network_bench.so"))
    for name in ("open", "bind", "run"):
        getattr(library, f"rnnpack_network_{name}").restype = ctypes.c_char_p
    library.rnnpack_network_time.restype = ctypes.c_size_t
    return library
