"""What else has recurrent layers of low precision, for low_precision.py. oneDNN (GRU that resets first; the LSTM of 2.6 finds no reorder
for its weights) and ncnn (LSTM, GRU that resets after) in int8, each quantised in its own way from the same f32 weights; PyTorch in f32 and
bf16, whose LSTM is oneDNN's. Shapes are ONNX's: W [1, gates * H, I], R [1, gates * H, H], B [1, 8 or 6 * H].

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np

from peers.prepared import sample
from peers.timed_library import TimedSession, find_library

# ONNX: LSTM i o f c, GRU z r h, which is oneDNN's order too. Where ncnn's gates are found in it.
NCNN_GATES = {"LSTM": (0, 2, 1, 3), "GRU": (1, 0, 2)}
TORCH_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2)}  # PyTorch's
ONEDNN_GRU = 1  # of the enum Cell
INT8_TAG = np.array([0x000D4B38], np.uint32).tobytes()


def reordered(array: np.ndarray, gates: tuple[int, ...]) -> np.ndarray:
    parts = np.split(np.asarray(array, np.float32), len(gates))
    return np.ascontiguousarray(np.concatenate([parts[g] for g in gates]))


class OneDnn:
    """Timed in C++: no binding in the figure."""

    def __init__(self, weights: dict[str, np.ndarray], x: np.ndarray) -> None:
        hidden, inputs = weights["R"].shape[2], weights["W"].shape[2]
        of_w, of_r = np.split(weights["B"][0], 2)
        arrays = [np.ascontiguousarray(part, np.float32) for part in (weights["W"][0], weights["R"][0], of_w + of_r)]
        self._keep = arrays
        pointers = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in arrays))
        shape = (ctypes.c_int * 7)(x.shape[0], 1, inputs, hidden, 1, 1, 8)
        self._session = TimedSession(find_library("libonednn_bench.so"), "onednn_bench")
        self._session.open(ONEDNN_GRU, shape, pointers)
        self._x, self._y = np.ascontiguousarray(x), np.empty((x.shape[0], hidden), np.float32)
        self.outputs = {"y": self._y}
        self._session.run(self._x, self._y)

    def time(self, seconds: float, calls: int) -> tuple[np.ndarray, int]:
        taken = self._session.time_calls(self._x, self._y, False, seconds, calls)
        return np.array(taken.ns) / taken.calls, taken.calls


class _Timed:
    """A call through Python."""

    _run: Callable[[], object]

    def time(self, seconds: float, calls: int) -> tuple[np.ndarray, int]:
        taken = sample(self._run, seconds, calls)
        return np.array(taken.ns) / taken.calls, taken.calls


class Torch(_Timed):
    """torch.lstm and torch.gru, without a module around them; x lies in their type already. From zeros in each call."""

    def __init__(self, cell: str, weights: dict[str, np.ndarray], x: np.ndarray, kind: str) -> None:
        import torch as framework

        framework.set_num_threads(1)
        framework.set_grad_enabled(False)
        tensor = lambda array: framework.from_numpy(np.ascontiguousarray(array)).to(getattr(framework, kind))  # noqa: E731
        of_w, of_r = np.split(weights["B"][0], 2)
        parts = [tensor(reordered(part, TORCH_GATES[cell])) for part in (weights["W"][0], weights["R"][0], of_w, of_r)]
        zero = tensor(np.zeros((1, x.shape[1], weights["R"].shape[2]), np.float32))
        state = (zero, zero.clone()) if cell == "LSTM" else zero
        operator, given = framework.lstm if cell == "LSTM" else framework.gru, tensor(x)
        run = lambda: operator(given, state, parts, True, 1, 0.0, False, False, False)  # noqa: E731
        self._run = run
        self.outputs = {"y": run()[0].float().numpy()}


class Ncnn(_Timed):
    """Through Python: an extractor a call, as for every call of it."""

    def __init__(self, cell: str, weights: dict[str, np.ndarray], x: np.ndarray, folder: Path) -> None:
        import ncnn as framework

        param, bin_ = folder / "ncnn.param", folder / "ncnn.bin"
        hidden = weights["R"].shape[2]
        param.write_text(f"7767517\n2 2\nInput input 0 1 x\n{cell} rnn 1 1 x y 0={hidden} 1={weights['W'].size} 2=0 8=1\n")
        write_ncnn(cell, weights, bin_)
        self._net = framework.Net()
        self._net.opt.num_threads = 1
        for option in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage", "use_vulkan_compute"):
            setattr(self._net.opt, option, False)
        if self._net.load_param(str(param)) or self._net.load_model(str(bin_)):
            raise RuntimeError("ncnn refused the model")
        self._x = framework.Mat(np.ascontiguousarray(x[:, 0, :])).clone()
        self._run = self._extract
        self.outputs = {"y": np.array(self._extract())}

    def _extract(self) -> object:
        extractor = self._net.create_extractor()
        extractor.input("x", self._x)
        return extractor.extract("y")[1]


def write_ncnn(cell: str, weights: dict[str, np.ndarray], path: Path) -> None:
    """Input weights, biases, recurrent weights, each with its tag; then the scales of both, without."""
    gates = NCNN_GATES[cell]
    of_w, of_r = (reordered(part, gates) for part in np.split(weights["B"][0], 2))
    candidate = of_w.size * 2 // 3
    bias = of_w + of_r if cell == "LSTM" else np.concatenate([(of_w + of_r)[:candidate], of_w[candidate:], of_r[candidate:]])
    scales = []
    with path.open("wb") as file:
        for name in ("W", "B", "R"):
            if name == "B":
                file.write(bytes(4) + bias.astype(np.float32).tobytes())
                continue
            array = reordered(weights[name][0], gates)
            scale = 127 / np.maximum(np.abs(array).max(axis=1), 1e-9)
            scales.append(scale.astype(np.float32))
            data = np.rint(array * scale[:, None]).astype(np.int8).tobytes()
            file.write(INT8_TAG + data + bytes(-len(data) % 4))
        for scale in scales:
            file.write(scale.tobytes())
