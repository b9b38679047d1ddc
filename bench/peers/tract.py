"""tract (Sonos), through its Python package: ONNX with a state that is made once. Its calls copy x and y.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import tract

from suite.cases import Case

from .prepared import Prepared, Unsupported, merge_directions

VERSION = version("tract")


def load(case: Case, threads: int) -> Prepared:
    if threads != 1:
        raise Unsupported("tract's package runs on one thread")
    run = _bind(case.onnx_path, case.x)
    return Prepared(run, lambda: merge_directions(run()[0].to_numpy()), _bind(case.folder / "identity.onnx", case.x))


def _bind(path: Path, x: np.ndarray):
    inferred = tract.onnx().load(path)
    inferred.set_input_fact(0, ",".join(map(str, x.shape)) + ",f32")
    runnable = inferred.into_model().into_runnable()
    tensor = tract.Tensor.from_numpy(x)
    return lambda: runnable.run([tensor])
