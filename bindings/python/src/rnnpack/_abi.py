# SPDX-License-Identifier: Apache-2.0
"""The C ABI of rnnpack.h (version 1) through ctypes, which lets go of the interpreter's lock for the length of each call."""
from __future__ import annotations

import ctypes
import pathlib
from typing import Optional

from . import _abi_tables as tables
from ._errors import LibraryError

NATIVE = pathlib.Path(__file__).resolve().parent / "_native"

ROLES = ("sequence", "row", "state", "lengths")
SEQUENCE, ROW, STATE, LENGTHS = tables.ROLE_SEQUENCE, tables.ROLE_PER_RUN, tables.ROLE_STATE, tables.ROLE_LENGTHS
F32, I32 = tables.DTYPE_F32, tables.DTYPE_I32
MAX_RANK, MAX_THREADS = tables.MAX_RANK, tables.MAX_THREADS
DIM_STEPS, DIM_BATCH = tables.DIM_STEPS, tables.DIM_BATCH
ALL_ROWS = tables.ALL_ROWS
OPEN_CHECK_WEIGHTS = tables.OPEN_CHECK_WEIGHTS
SESSION_PORTABLE_OPS, SESSION_ALL_THREADS = tables.SESSION_PORTABLE_OPS, tables.SESSION_ALL_THREADS
RUN_LAST_STEP, RUN_CHECK_FINITE = tables.RUN_LAST_STEP, tables.RUN_CHECK_FINITE
_STATUS = {name: status for status, name in tables.STATUS_NAMES.items()}
E_EXECUTOR, E_INDEX, E_NOT_FINITE = _STATUS["RNNP_E_EXECUTOR"], _STATUS["RNNP_E_INDEX"], _STATUS["RNNP_E_NOT_FINITE"]
ISA_REFERENCE_ONLY = tables.ISA_REFERENCE_ONLY
BLOB_ALIGNMENT = tables.BLOB_ALIGN

Model = tables.rnnp_model
ModelFacts = tables.rnnp_model_info
TensorFacts = tables.rnnp_tensor_info
Executor = tables.rnnp_executor
SessionOptions = tables.rnnp_session_options
Memory = tables.rnnp_memory
Refusal = tables.rnnp_refusal
SessionFacts = tables.rnnp_session_info
Buffer = tables.rnnp_buffer
Io = tables.rnnp_io


def _load() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(NATIVE / "librnnpack.so.1"))
    for name, (returned, arguments) in tables.FUNCTIONS.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = arguments, returned
    return lib


lib = _load()


def version() -> str:
    v = int(lib.rnnp_version())
    return f"{v // 10000}.{v // 100 % 100}.{v % 100}"


def status_text(status: int) -> str:
    text: bytes = lib.rnnp_status_string(status)
    return text.decode()


def call_error(status: int, session: Optional[int], what: str) -> LibraryError:
    """Of a call that a session refused: it knows more than the status says. An executor's failure is none of a call's arguments."""
    why: bytes = b"" if status == E_EXECUTOR else lib.rnnp_session_last_error(session)
    return LibraryError(f"{what}: {why.decode() or status_text(status)}", status)


def check(status: int, what: str = "") -> None:
    if status != 0:
        raise LibraryError((what + ": " if what else "") + status_text(status), status)
