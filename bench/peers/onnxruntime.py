"""ONNX Runtime, CPU provider: IOBinding on preallocated arrays. Its LSTM, GRU and RNN are the DeepCPU code.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort

from suite.cases import Case

from .prepared import Prepared, merge_directions

VERSION = ort.__version__


def load(case: Case, threads: int) -> Prepared:
    run, y = _bind(case.onnx_path, case.x, threads)
    empty, _ = _bind(case.folder / "identity.onnx", case.x, threads)
    return Prepared(run, lambda: merge_directions(_after(run, y)), empty)


def _bind(path: Path, x: np.ndarray, threads: int):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    y_info = session.get_outputs()[0]
    y = np.empty(y_info.shape, np.float32)
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(x))
    binding.bind_output(y_info.name, "cpu", 0, np.float32, y.shape, y.ctypes.data)
    # The inner objects, without the wrappers' checks: the tightest call the binding has.
    call, bound, options_none = session._sess.run_with_iobinding, binding._iobinding, None

    def run() -> None:
        call(bound, options_none)

    run.keep = (session, binding, x, y)  # the binding holds bare addresses  # type: ignore[attr-defined]
    return run, y


def _after(run, y: np.ndarray) -> np.ndarray:
    y.fill(np.nan)
    run()
    return y
