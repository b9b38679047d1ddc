# Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
# SPDX-License-Identifier: Apache-2.0
"""Structs, arguments of functions and constants of cuda.h, for ctypes."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char, c_int32, c_size_t, c_uint32, c_void_p
from typing import Any, Dict, List, Tuple

from ._abi_tables import Sized, rnnp_io, rnnp_model, rnnp_refusal

CUDA_RESIDENT = 1
CUDA_STEPS = 2
CUDA_CLUSTER = 4
CUDA_FINDINGS_BYTES = 64
CUDA_REASON_BYTES = 164
CUDA_DEVICE_MEMORY = 0
CUDA_MAPPED_MEMORY = 1
CUDA_F32 = 0
CUDA_F16 = 1
CUDA_BF16 = 2


class rnnp_cuda_device(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("arch", c_uint32),
        ("sm_count", c_uint32),
        ("shared_per_block", c_uint32),
        ("l2_bytes", c_uint32),
        ("clock_mhz", c_uint32),
        ("memory_mb_per_s", c_uint32),
        ("integrated", c_uint32),
        ("cooperative", c_uint32),
        ("cluster_blocks", c_uint32),
    ]


class rnnp_cuda_options(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("max_batch", c_uint32),
        ("max_steps", c_uint32),
        ("chunk_steps", c_uint32),
        ("max_steps_per_launch", c_uint32),
        ("weights", c_uint32),
        ("sm_limit", c_uint32),
        ("kernels_allowed", c_uint32),
        ("spin_limit", c_uint32),
        ("device", POINTER(rnnp_cuda_device)),
    ]


class rnnp_cuda_memory(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("host_align", c_uint32),
        ("host_bytes", c_size_t),
        ("image_bytes", c_size_t),
        ("weight_bytes", c_size_t),
        ("work_bytes", c_size_t),
        ("state_bytes", c_size_t),
    ]


class rnnp_cuda_buffers(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("reserved", c_uint32),
        ("host", c_void_p),
        ("host_bytes", c_size_t),
        ("image", c_void_p),
        ("weights", c_void_p),
        ("work", c_void_p),
        ("findings", c_void_p),
    ]


class rnnp_cuda_layer_info(Sized):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("kernel", c_uint32),
        ("blocks", c_uint32),
        ("units", c_uint32),
        ("columns", c_uint32),
        ("held", c_uint32),
        ("shared_bytes", c_uint32),
        ("steps_per_launch", c_uint32),
        ("predicted_ns", c_uint32),
        ("reason", c_char * 164),
    ]


# name: what it returns, and takes
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "rnnp_cuda_device_query": (c_int32, [c_int32, POINTER(rnnp_cuda_device)]),
    "rnnp_cuda_session_memory": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_cuda_options), POINTER(rnnp_cuda_memory)]),
    "rnnp_cuda_session_explain": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_cuda_options), POINTER(rnnp_refusal)]),
    "rnnp_cuda_pack": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_cuda_options), c_void_p, c_size_t]),
    "rnnp_cuda_session_init": (c_int32, [POINTER(c_void_p), POINTER(rnnp_model), POINTER(rnnp_cuda_options), POINTER(rnnp_cuda_buffers), c_void_p]),
    "rnnp_cuda_layer_get_info": (c_int32, [c_void_p, c_uint32, POINTER(rnnp_cuda_layer_info)]),
    "rnnp_cuda_plan": (c_int32, [POINTER(rnnp_model), POINTER(rnnp_cuda_options), c_uint32, POINTER(rnnp_cuda_layer_info)]),
    "rnnp_cuda_run": (c_int32, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]),
    "rnnp_cuda_step": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "rnnp_cuda_run_io": (c_int32, [c_void_p, POINTER(rnnp_io), c_void_p]),
    "rnnp_cuda_wait": (c_int32, [c_void_p, c_void_p]),
    "rnnp_cuda_graph_make": (c_int32, [POINTER(c_void_p), c_void_p, POINTER(rnnp_io), c_void_p]),
    "rnnp_cuda_graph_run": (c_int32, [c_void_p, c_void_p, c_void_p]),
    "rnnp_cuda_graph_free": (None, [c_void_p]),
    "rnnp_cuda_session_device": (c_int32, [c_void_p]),
    "rnnp_cuda_error": (c_int32, [c_void_p]),
    "rnnp_cuda_state_reset": (c_int32, [c_void_p, c_uint32, c_void_p]),
    "rnnp_cuda_state_save": (c_int32, [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p]),
    "rnnp_cuda_state_load": (c_int32, [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p]),
    "rnnp_cuda_alloc": (c_int32, [c_uint32, c_size_t, POINTER(c_void_p)]),
    "rnnp_cuda_free": (None, [c_uint32, c_void_p]),
    "rnnp_cuda_copy": (c_int32, [c_void_p, c_void_p, c_size_t, c_void_p]),
}
