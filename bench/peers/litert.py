"""LiteRT (TensorFlow Lite): its sequence LSTM and RNN operators, XNNPACK where it has something to say, in a model written here.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from ai_edge_litert.interpreter import Interpreter

from suite.cases import Case

from .litert_model import empty_model, recurrent_model
from .prepared import Prepared, Unsupported

VERSION = version("ai-edge-litert")


def load(case: Case, threads: int) -> Prepared:
    row = case.row
    if row.spec.operator == "GRU":
        raise Unsupported("LiteRT has no GRU operator; converters write a loop of small ones")
    if row.layers > 1 or row.directions > 1:
        raise Unsupported("only one layer, one direction are written here")
    interpreter = _interpreter(recurrent_model(case), case, threads)
    empty = _interpreter(empty_model(case), case, threads)
    y_index = interpreter.get_output_details()[0]["index"]
    invoke = interpreter._interpreter.Invoke  # without the wrapper's check for dangling views

    def output() -> np.ndarray:
        interpreter.reset_all_variables()
        invoke()
        return interpreter.get_tensor(y_index)

    return Prepared(invoke, output, empty._interpreter.Invoke)


def _interpreter(model: bytes, case: Case, threads: int) -> Interpreter:
    interpreter = Interpreter(model_content=model, num_threads=threads)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], case.x)
    return interpreter
