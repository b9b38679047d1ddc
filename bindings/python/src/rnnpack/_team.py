# SPDX-License-Identifier: Apache-2.0
"""Threads that share the work of a session's calls: native/team.c."""
from __future__ import annotations

import ctypes
import os
import weakref

from . import _abi
from ._errors import UsageError


class Team:
    """Threads, and the executor that lends them to a session."""

    def __init__(self, threads: int) -> None:
        self.executor = _abi.Executor()
        address = _abi.team_lib.rnnpack_team_new(threads, ctypes.byref(self.executor))
        if not address:
            raise UsageError(f"cannot make {threads} threads")
        # A child of fork has the memory, but not the threads: there is nothing to end.
        self._end = weakref.finalize(self, _end_team, address, os.getpid())


def _end_team(address: int, owner: int) -> None:
    if os.getpid() == owner:
        _abi.team_lib.rnnpack_team_free(address)
