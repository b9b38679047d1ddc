# SPDX-License-Identifier: Apache-2.0
"""Integers of the caller, Python's or NumPy's: nothing is rounded, cut to 32 bits or read from a text."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import UsageError


def integer(name: str, value: Any, least: int, most: int = 2**32 - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise UsageError(f"{name} is {value!r}; accepted: integers from {least} to {most}")
    return number


def integers(what: str, values: Any, count: int, least: int, most: int) -> npt.NDArray[Any]:
    """`what` says how they are refused."""
    array: npt.NDArray[Any] = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape != (count,) or np.any(array < least) or np.any(array > most):
        raise UsageError(f"{what}, not {values!r}" if array.size <= 8 else what)
    return array
