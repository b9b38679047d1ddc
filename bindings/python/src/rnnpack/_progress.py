# SPDX-License-Identifier: Apache-2.0
"""Progress of long work: a bar on a terminal's standard error, or whatever function the caller brings."""
from __future__ import annotations

import sys
from typing import Callable, Union

Progress = Union[bool, Callable[[int, int], None]]
_WIDTH = 40


def show_bar(done: int, total: int) -> None:
    filled = _WIDTH if total == 0 else _WIDTH * done // total
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {done} of {total}" + ("\n" if done == total else ""))
    sys.stderr.flush()


def reporter(progress: Progress) -> Callable[[int, int], None]:
    """The function to call with (done, total)."""
    if callable(progress):
        return progress
    if progress:
        return show_bar
    return lambda done, total: None
