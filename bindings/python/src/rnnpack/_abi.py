# SPDX-License-Identifier: Apache-2.0
"""The C ABI of rnnpack.h (version 1) through ctypes, which lets go of the interpreter's lock for the length of each call."""
from __future__ import annotations

import ctypes
import pathlib
from ctypes import c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, List, Tuple

from ._errors import LibraryError

NATIVE = pathlib.Path(__file__).resolve().parent / "_native"

ROLES = ("sequence", "row", "state", "lengths")
SEQUENCE, ROW, STATE, LENGTHS = range(4)
F32, I32 = 0, 1
MAX_RANK = 8
DIM_STEPS, DIM_BATCH = -1, -2
ALL_ROWS = 0xFFFFFFFF
OPEN_CHECK_WEIGHTS = 1
SESSION_PORTABLE_OPS, SESSION_ALL_THREADS = 1, 2
RUN_LAST_STEP = 1
ISA_REFERENCE_ONLY = 1 << 31
BLOB_ALIGNMENT = 64


class Sized(ctypes.Structure):
    """A struct that begins with its own size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(ctypes.sizeof(self), **members)


def _u32(*names: str) -> List[Tuple[str, Any]]:
    return [(name, c_uint32) for name in names]


def _u64(*names: str) -> List[Tuple[str, Any]]:
    return [(name, c_uint64) for name in names]


class Model(ctypes.Structure):
    _fields_ = [("opaque", c_uint64 * 32)]


class ModelFacts(Sized):
    _fields_ = _u32("struct_bytes", "blob_version", "blob_align", "input_count", "output_count", "node_count", "recurrent_count", "causal",
                    "fixed_batch", "layout_nr", "stream_steps", "in_place") + _u64("blob_bytes", "weight_bytes", "state_bytes_per_row",
                                                                                   "model_id", "macs_per_step")


class TensorFacts(Sized):
    _fields_ = _u32("struct_bytes", "role", "row_elems", "rank") + [("dims", c_int32 * MAX_RANK), ("name", c_char_p)] + _u32("dtype", "limit")


class Executor(Sized):
    _fields_ = _u32("struct_bytes", "threads") + [("ctx", c_void_p), ("parallel", c_void_p), ("wait", c_void_p)]


class SessionOptions(Sized):
    _fields_ = _u32("struct_bytes", "max_batch", "max_steps", "chunk_steps", "isa_allowed", "flags", "l1d_bytes", "l2_bytes",
                    "l3_bytes") + [("executor", ctypes.POINTER(Executor))]


class Memory(Sized):
    _fields_ = _u32("struct_bytes", "alignment") + [("session_bytes", c_size_t), ("state_bytes", c_size_t)]


class Refusal(Sized):
    _fields_ = [("struct_bytes", c_uint32), ("status", c_int32), *_u32("node", "reserved"), ("needed", c_uint64), ("node_name", c_char_p),
                ("op", c_char_p), ("reason", c_char_p)]


class SessionFacts(Sized):
    _fields_ = _u32("struct_bytes", "max_batch", "chunk_steps", "threads", "isa", "xnnpack", "xnnpack_refused", "wavefront_stages", "wavefront_steps")


class Buffer(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("step_stride_bytes", c_size_t), ("row_stride_bytes", c_size_t)]


class Io(Sized):
    _fields_ = _u32("struct_bytes", "buffer_bytes", "flags", "batch") + [("steps", c_size_t), *_u32("input_count", "output_count"),
                                                                         ("lengths", c_void_p), ("inputs", c_void_p),
                                                                         ("outputs", c_void_p), ("rows", c_void_p)]


def _load() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(NATIVE / "librnnpack.so.1"))
    pointer, facts = ctypes.POINTER, ctypes.POINTER
    model, options = pointer(Model), pointer(SessionOptions)
    arguments = {
        "rnnp_model_open": [model, c_void_p, c_size_t, c_uint32],
        "rnnp_model_get_info": [model, facts(ModelFacts)],
        "rnnp_model_get_input": [model, c_uint32, facts(TensorFacts)],
        "rnnp_model_get_output": [model, c_uint32, facts(TensorFacts)],
        "rnnp_session_memory": [model, options, pointer(Memory)],
        "rnnp_session_init": [pointer(c_void_p), model, options, c_void_p, c_size_t],
        "rnnp_session_explain": [model, options, c_void_p, c_size_t, pointer(Refusal)],
        "rnnp_session_get_info": [c_void_p, facts(SessionFacts)],
        "rnnp_step": [c_void_p, c_void_p, c_void_p],
        "rnnp_run_io": [c_void_p, pointer(Io)],
        "rnnp_state_reset": [c_void_p, c_uint32],
        "rnnp_state_save": [c_void_p, c_uint32, c_void_p, c_size_t],
        "rnnp_state_load": [c_void_p, c_uint32, c_void_p, c_size_t],
    }
    for name, types in arguments.items():
        function = getattr(lib, name)
        function.argtypes, function.restype = types, c_int32
    lib.rnnp_model_get_meta.argtypes = [model, c_uint32, pointer(c_char_p), pointer(c_char_p)]
    lib.rnnp_model_get_meta.restype = c_int32
    lib.rnnp_threads_start.argtypes = [pointer(Executor), c_uint32, c_void_p, c_void_p, c_size_t]
    lib.rnnp_threads_start.restype = c_int32
    lib.rnnp_threads_stop.argtypes, lib.rnnp_threads_stop.restype = [pointer(Executor)], None
    lib.rnnp_version.restype = c_uint32
    lib.rnnp_status_string.argtypes, lib.rnnp_status_string.restype = [c_int32], c_char_p
    return lib


lib = _load()


def version() -> str:
    v = int(lib.rnnp_version())
    return f"{v // 10000}.{v // 100 % 100}.{v % 100}"


def status_text(status: int) -> str:
    text: bytes = lib.rnnp_status_string(status)
    return text.decode()


def check(status: int, what: str = "") -> None:
    if status != 0:
        raise LibraryError((what + ": " if what else "") + status_text(status), status)
