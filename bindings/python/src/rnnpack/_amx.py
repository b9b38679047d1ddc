# SPDX-License-Identifier: Apache-2.0
"""Permission to use the tiles of AMX, which Linux grants a process that asks."""
from __future__ import annotations

import ctypes
import platform
import sys

_SYS_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XTILE_DATA = 158, 0x1023, 18


def request_amx() -> bool:
    """Ask that this process may use AMX; sessions that are made from then on do, for int8 products of eight rows and more.

    True where it may. Linux refuses while a thread has a stack for signals (sigaltstack) that is too small for tiles to be saved on, and
    from then on asks for larger ones. The package never asks by itself."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    return int(syscall(ctypes.c_long(_SYS_ARCH_PRCTL), ctypes.c_long(_ARCH_REQ_XCOMP_PERM), ctypes.c_long(_XTILE_DATA))) == 0
