"""OpenVINO, CPU plugin, f32 (it would take bf16 on CPUs that have it), one stream, preallocated tensors.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import openvino as framework
from openvino._pyopenvino import InferRequest as RawRequest
from suite.cases import Case

from .prepared import Prepared, merge_directions

VERSION = framework.__version__.split("-")[0]


def load(case: Case, threads: int) -> Prepared:
    core = framework.Core()
    request = _request(core, case.onnx_path, case.x, threads)
    empty = _request(core, case.folder / "identity.onnx", case.x, threads)
    return Prepared(_call(request, case.x), lambda: _output(request), _call(empty, case.x))


def _request(core: framework.Core, path: Path, x: np.ndarray, threads: int) -> framework.InferRequest:
    config = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,  # the worker's own affinity holds
    }
    request = core.compile_model(str(path), "CPU", config).create_infer_request()
    request.set_input_tensor(framework.Tensor(x, shared_memory=True))
    return request


def _call(request: framework.InferRequest, x: np.ndarray):
    """The C++ object's start and wait: infer() would build a dictionary of arrays after each call."""
    start, wait = RawRequest.start_async, RawRequest.wait
    nothing: dict = {}

    def run() -> None:
        start(request, nothing, None)
        wait(request)

    run.keep = x  # type: ignore[attr-defined]  # the request holds a bare address
    return run


def _output(request: framework.InferRequest) -> np.ndarray:
    request.infer()
    return merge_directions(request.get_output_tensor(0).data)
