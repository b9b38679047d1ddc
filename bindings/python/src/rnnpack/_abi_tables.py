# Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
# SPDX-License-Identifier: Apache-2.0
"""Structs, arguments of functions and constants of the C ABI, for ctypes."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Dict, List, Tuple

STATUS_NAMES = {
    0: "RNNP_OK",
    -1: "RNNP_E_ARG",
    -2: "RNNP_E_ALIGN",
    -3: "RNNP_E_SMALL_MEMORY",
    -4: "RNNP_E_BLOB_MAGIC",
    -5: "RNNP_E_BLOB_VERSION",
    -6: "RNNP_E_BLOB_CORRUPT",
    -7: "RNNP_E_LAYOUT",
    -8: "RNNP_E_ISA",
    -9: "RNNP_E_STATE_MISMATCH",
    -10: "RNNP_E_NOT_CAUSAL",
    -11: "RNNP_E_UNSUPPORTED",
    -12: "RNNP_E_SHAPE",
    -13: "RNNP_E_ENDIAN",
    -14: "RNNP_E_INDEX",
    -15: "RNNP_E_INPUTS",
    -16: "RNNP_E_DEVICE",
    -17: "RNNP_E_TIMEOUT",
    -18: "RNNP_E_BUSY",
    -19: "RNNP_E_IMAGE_MISMATCH",
    -20: "RNNP_E_EXECUTOR",
    -21: "RNNP_E_NOT_FINITE",
}
HEADER_VERSION = 10000
BLOB_ALIGN = 64
OPEN_CHECK_WEIGHTS = 1
MAX_RANK = 8
DIM_STEPS = -1
DIM_BATCH = -2
SPINS_BEFORE_WAIT = 4096
EXECUTOR_TRIES = 20000
MAX_THREADS = 1024
SESSION_PORTABLE_OPS = 1
SESSION_ALL_THREADS = 2
SESSION_ALL_XNNPACK = 4
MAX_BATCH = 0x100000
MAX_CHUNK_STEPS = 0x100000
MAX_STEPS = 0x10000000
ISA_AVX2 = 1
ISA_AVX512 = 2
ISA_NEON = 4
ISA_RVV = 8
ISA_SIMD128 = 16
ISA_MVE = 32
ISA_VFPV4 = 64
ISA_RVF = 128
ISA_AVX512_VNNI = 256
ISA_NEON_DOTPROD = 512
ISA_AVX_VNNI = 1024
ISA_NEON_I8MM = 2048
ISA_AMX_INT8 = 4096
ISA_AVX512_BF16 = 8192
ISA_AMX_BF16 = 16384
ISA_NEON_BF16 = 32768
ISA_REFERENCE_ONLY = 0x80000000
CACHE_NONE = 0xFFFFFFFF
NO_NODE = 0xFFFFFFFF
RUN_LAST_STEP = 1
RUN_CHECK_FINITE = 2
ALL_ROWS = 0xFFFFFFFF
ROLE_SEQUENCE = 0
ROLE_PER_RUN = 1
ROLE_STATE = 2
ROLE_LENGTHS = 3
DTYPE_F32 = 0
DTYPE_I32 = 1


class Sized(ctypes.Structure):
    """A struct that begins with its own size."""

    def __init__(self, **members: Any) -> None:
        super().__init__(ctypes.sizeof(self), **members)


class rnnp_model(ctypes.Structure):
    _fields_ = [
        ("opaque_", c_uint64 * 32),
    ]


class rnnp_model_info(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("blob_version", c_uint32),
        ("blob_align", c_uint32),
        ("input_count", c_uint32),
        ("output_count", c_uint32),
        ("node_count", c_uint32),
        ("recurrent_count", c_uint32),
        ("causal", c_uint32),
        ("fixed_batch", c_uint32),
        ("layout_nr", c_uint32),
        ("stream_steps", c_uint32),
        ("in_place", c_uint32),
        ("blob_bytes", c_uint64),
        ("weight_bytes", c_uint64),
        ("state_bytes_per_row", c_uint64),
        ("model_id", c_uint64),
        ("macs_per_step", c_uint64),
    ]


class rnnp_tensor_info(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("role", c_uint32),
        ("row_elems", c_uint32),
        ("rank", c_uint32),
        ("dims", c_int32 * 8),
        ("name", c_char_p),
        ("dtype", c_uint32),
        ("limit", c_uint32),
    ]


class rnnp_executor(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("threads", c_uint32),
        ("ctx", c_void_p),
        ("parallel", c_void_p),
        ("wait", c_void_p),
    ]


class rnnp_session_options(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("max_batch", c_uint32),
        ("max_steps", c_uint32),
        ("chunk_steps", c_uint32),
        ("isa_allowed", c_uint32),
        ("flags", c_uint32),
        ("l1d_bytes", c_uint32),
        ("l2_bytes", c_uint32),
        ("l3_bytes", c_uint32),
        ("executor", POINTER(rnnp_executor)),
    ]


class rnnp_memory(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("alignment", c_uint32),
        ("session_bytes", c_size_t),
        ("state_bytes", c_size_t),
    ]


class rnnp_refusal(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("status", c_int32),
        ("node", c_uint32),
        ("reserved", c_uint32),
        ("needed", c_uint64),
        ("node_name", c_char_p),
        ("op", c_char_p),
        ("reason", c_char_p),
    ]


class rnnp_session_info(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("max_batch", c_uint32),
        ("chunk_steps", c_uint32),
        ("threads", c_uint32),
        ("isa", c_uint32),
        ("xnnpack", c_uint32),
        ("xnnpack_refused", c_uint32),
        ("wavefront_stages", c_uint32),
        ("wavefront_steps", c_uint32),
    ]


class rnnp_const_buffer(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("step_stride_bytes", c_size_t),
        ("row_stride_bytes", c_size_t),
    ]


class rnnp_buffer(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("step_stride_bytes", c_size_t),
        ("row_stride_bytes", c_size_t),
    ]


class rnnp_io(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("buffer_bytes", c_uint32),
        ("flags", c_uint32),
        ("batch", c_uint32),
        ("steps", c_size_t),
        ("input_count", c_uint32),
        ("output_count", c_uint32),
        ("lengths", c_void_p),
        ("inputs", c_void_p),
        ("outputs", c_void_p),
        ("rows", c_void_p),
    ]


# name: what it returns, and takes
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "rnnp_version": (c_uint32, []),
    "rnnp_blob_version_min": (c_uint32, []),
    "rnnp_blob_version_max": (c_uint32, []),
    "rnnp_status_string": (c_char_p, [c_int32]),
    "rnnp_model_open": (c_int32, [POINTER(rnnp_model), c_void_p, c_size_t, c_uint32]),
    "rnnp_model_get_info": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_model_info)]),
    "rnnp_model_get_input": (c_int32, [POINTER(rnnp_model), c_uint32, POINTER(rnnp_tensor_info)]),
    "rnnp_model_get_output": (c_int32, [POINTER(rnnp_model), c_uint32, POINTER(rnnp_tensor_info)]),
    "rnnp_model_find_input": (c_int32, [POINTER(rnnp_model), c_char_p, POINTER(c_uint32)]),
    "rnnp_model_find_output": (c_int32, [POINTER(rnnp_model), c_char_p, POINTER(c_uint32)]),
    "rnnp_model_meta": (c_char_p, [POINTER(rnnp_model), c_char_p]),
    "rnnp_model_get_meta": (c_int32, [POINTER(rnnp_model), c_uint32, POINTER(c_char_p), POINTER(c_char_p)]),
    "rnnp_isa_name": (c_char_p, [c_uint32]),
    "rnnp_session_options_init": (None, [POINTER(rnnp_session_options), c_size_t]),
    "rnnp_session_memory": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_session_options), POINTER(rnnp_memory)]),
    "rnnp_session_init": (c_int32, [POINTER(c_void_p), POINTER(rnnp_model), POINTER(rnnp_session_options), c_void_p, c_size_t]),
    "rnnp_session_explain": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_session_options), c_void_p, c_size_t, POINTER(rnnp_refusal)]),
    "rnnp_session_get_info": (c_int32, [c_void_p, POINTER(rnnp_session_info)]),
    "rnnp_run": (c_int32, [c_void_p, c_size_t, c_void_p, c_void_p]),
    "rnnp_step": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "rnnp_run_io": (c_int32, [c_void_p, POINTER(rnnp_io)]),
    "rnnp_session_last_error": (c_char_p, [c_void_p]),
    "rnnp_state_reset": (c_int32, [c_void_p, c_uint32]),
    "rnnp_state_save": (c_int32, [c_void_p, c_uint32, c_void_p, c_size_t]),
    "rnnp_state_load": (c_int32, [c_void_p, c_uint32, c_void_p, c_size_t]),
    "rnnp_threads_start": (c_int32, [POINTER(rnnp_executor), c_uint32, c_void_p, c_void_p, c_size_t]),
    "rnnp_threads_stop": (None, [POINTER(rnnp_executor)]),
}
