# SPDX-License-Identifier: Apache-2.0
"""Threads that share the work of a session's calls: the library's own (rnnpack/threads.h)."""
from __future__ import annotations

import ctypes
import os
import weakref

from . import _abi
from ._errors import UsageError

_ALIGNMENT = 64


def _memory(threads: int) -> ctypes.Array[ctypes.c_char]:
    """RNNP_THREADS_BYTES, and room to align them."""
    return ctypes.create_string_buffer(512 + 64 * threads + _ALIGNMENT)


class Team:
    """Threads, and the executor that lends them to a session."""

    def __init__(self, threads: int) -> None:
        self.executor = _abi.Executor(threads=1)
        memory = _memory(threads)
        address = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
        status = _abi.lib.rnnp_threads_start(ctypes.byref(self.executor), threads, None, address, len(memory) - _ALIGNMENT)
        if status != 0:
            raise UsageError(f"cannot make {threads} threads: {_abi.status_text(status)}")
        # A child of fork has the memory, but not the threads: there is nothing to end.
        self._end = weakref.finalize(self, _end_team, self.executor, memory, os.getpid())


def _end_team(executor: _abi.Executor, memory: ctypes.Array[ctypes.c_char], owner: int) -> None:
    if os.getpid() == owner:
        _abi.lib.rnnp_threads_stop(ctypes.byref(executor))
    del memory  # the threads lived in it
