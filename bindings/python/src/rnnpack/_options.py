# SPDX-License-Identifier: Apache-2.0
"""The options of compile(), which from_torch() takes too."""
from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, TypedDict, Union

import numpy as np
import numpy.typing as npt

from ._progress import Progress

PathLike = Union[str, "os.PathLike[str]"]
Names = Union[str, Sequence[str]]
Data = Union[PathLike, npt.NDArray[Any]]
Sizes = Mapping[str, Sequence[Union[int, str]]]
# Numbers to become constants: one, some, an array, or an .npy file's name.
Constants = Mapping[str, Union[float, str, Sequence[float], npt.NDArray[Any]]]
Number = Union[int, float, "np.floating[Any]"]


class CompileOptions(TypedDict, total=False):
    """Keywords of compile(), where they are documented, but axes: from_torch() has its own."""
    stream: Optional[int]
    target: Optional[str]
    weights: Optional[str]
    recurrent_weights: Optional[str]
    arithmetic: Optional[str]
    keep_float: Optional[Names]
    calibrate: Union[None, Data, Sequence[PathLike], Mapping[str, Data]]
    method: Optional[str]
    prune: Union[None, str, Number]
    accuracy_min: Optional[Number]
    metric: Optional[PathLike]
    report: Optional[PathLike]
    sparse: Optional[str]
    winograd: Optional[str]
    from_: Union[None, Names, Sizes]
    to: Optional[Names]
    set: Optional[Constants]
    dim: Optional[Mapping[str, int]]
    shape: Optional[Mapping[str, Sequence[int]]]
    state: Optional[Mapping[str, str]]
    quality: Optional[Number]
    max_input: Union[None, int, str]
    meta: Optional[Mapping[str, str]]
    no_onnx_meta: bool
    check: bool
    progress: Progress


# What makes the tool measure errors.
MEASURED = ("calibrate", "metric", "accuracy_min", "prune", "report")


def measures(options: Mapping[str, Any]) -> bool:
    return any(options.get(name) is not None for name in MEASURED) or options.get("weights") == "auto" or options.get("method") not in (None, "round")
