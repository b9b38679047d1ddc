# Made by scripts/abi/generate.py from include/rnnpack/rnnpack.abi.json: do not edit.
# SPDX-License-Identifier: Apache-2.0
"""Statuses, kinds of messages, callbacks and functions of rnnpack/compiler.h, for ctypes."""
from __future__ import annotations

from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_size_t, c_uint32, c_void_p
from typing import Any, Dict, List, Tuple

COMPILED = 0
COMPILE_USAGE = 1
COMPILE_REFUSED = 2
COMPILE_IO = 3
COMPILE_UNVERIFIED = 4
COMPILE_STOPPED = 5
COMPILE_ERROR = 0
COMPILE_NOTE = 1
COMPILE_REPORT = 2
COMPILE_SUMMARY = 3
COMPILE_PROGRESS = 4

rnnp_compile_sink = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_void_p, c_size_t)
rnnp_compile_listener = CFUNCTYPE(c_int32, c_void_p, c_int32, c_char_p)

# name: what it returns, and takes
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "rnnp_compile": (c_int32, [c_void_p, c_size_t, POINTER(c_char_p), c_size_t, rnnp_compile_sink, rnnp_compile_listener, c_void_p]),
    "rnnp_compiler_version": (c_uint32, []),
}
