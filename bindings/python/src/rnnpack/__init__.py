# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks at small batch: compiled from ONNX, run in place.

    model = rnnpack.compile("model.onnx")
    session = model.session()
    y = session.run(x)          # a sequence, or
    y = session.step(frame)     # one step after the other, as they come
"""
from __future__ import annotations

from ._abi import version as _version
from ._accuracy import ErrorFigures, LayerErrors, MatrixErrors, QuantizationErrors
from ._amx import request_amx
from ._cuda import CudaInfo, CudaSession
from ._cuda_arrays import CudaArray
from ._errors import BusyError, Error, FileError, LibraryError, ModelError, NoMemoryError, UsageError, VerifyError
from ._isa import Isa
from ._keras import from_keras
from ._model import Model, ModelInfo, compile
from ._report import NodeReport, Report
from ._session import Session, SessionInfo
from ._state import SavedState, State
from ._tensors import Tensor
from ._torch import from_torch, torch_without_projection
from ._weights import from_weights

__version__ = _version()
load = Model.load
__all__ = [
    "BusyError", "CudaArray", "CudaInfo", "CudaSession", "Error", "ErrorFigures", "FileError", "Isa", "LayerErrors", "LibraryError", "MatrixErrors", "Model", "ModelError",
    "ModelInfo", "NoMemoryError", "NodeReport", "QuantizationErrors", "Report", "SavedState", "Session", "SessionInfo", "State", "Tensor", "UsageError",
    "VerifyError", "compile", "from_keras", "from_torch", "from_weights", "load", "request_amx", "torch_without_projection", "__version__",
]
