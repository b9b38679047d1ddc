"""Writes a .tflite model of one sequence operator with the schema that comes with the runtime; no TensorFlow needed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from suite.cases import Case

from .gate_order import reorder, split_bias

ABSENT = -1


class _Graph:
    """Tensors and buffers in the order they are added; buffer 0 is the empty one by convention."""

    def __init__(self) -> None:
        self.tensors: list[schema.TensorT] = []
        self.buffers = [schema.BufferT()]

    def add(self, name: str, shape: tuple[int, ...], data: np.ndarray | None = None, variable: bool = False) -> int:
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type = name, list(shape), schema.TensorType.FLOAT32
        tensor.isVariable = variable
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, np.float32).tobytes(), np.uint8)
            self.buffers.append(buffer)
            tensor.buffer = len(self.buffers) - 1
        self.tensors.append(tensor)
        return len(self.tensors) - 1


def recurrent_model(case: Case) -> bytes:
    row, graph = case.row, _Graph()
    x = graph.add("x", (row.steps, row.batch, row.inputs))
    y = graph.add("y", (row.steps, row.batch, row.hidden))
    if row.spec.operator == "LSTM":
        operands, code, kind, options = _lstm_operands(graph, case), schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, *_lstm_options()
    else:
        operands, code, kind, options = _rnn_operands(graph, case), schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN, *_rnn_options(case)
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [x, *operands], [y]
    operator.builtinOptionsType, operator.builtinOptions = kind, options
    return _pack(graph, operator, code, [x], [y])


def empty_model(case: Case) -> bytes:
    """The least the runtime can be asked to do with the same input."""
    graph = _Graph()
    x, y = (graph.add(name, case.x.shape) for name in "xy")
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [x], [y]
    return _pack(graph, operator, schema.BuiltinOperator.ABS, [x], [y])


def _lstm_operands(graph: _Graph, case: Case) -> list[int]:
    """Operand order of the operator: 4 W, 4 R, 3 peepholes, 4 biases, projection and its bias, state h, state c, 4 norms."""
    row, layer = case.row, case.layers[0]
    parts = {"w": layer.w[0], "r": layer.r[0], "b": np.add(*split_bias(row, layer, 0))}

    def gates(part: str) -> list[int]:
        blocks = np.split(reorder(row, np.asarray(parts[part]), "ifco"), 4)
        return [graph.add(f"{part}{gate}", block.shape, block) for gate, block in zip("ifco", blocks)]

    state = [graph.add(name, (row.batch, row.hidden), variable=True) for name in ("h", "c")]
    return [*gates("w"), *gates("r"), *[ABSENT] * 3, *gates("b"), ABSENT, ABSENT, *state, *[ABSENT] * 4]


def _rnn_operands(graph: _Graph, case: Case) -> list[int]:
    row, layer = case.row, case.layers[0]
    constants = {"w": np.asarray(layer.w[0]), "r": np.asarray(layer.r[0]), "b": np.add(*split_bias(row, layer, 0))}
    indices = [graph.add(name, array.shape, array) for name, array in constants.items()]
    return [*indices, graph.add("h", (row.batch, row.hidden), variable=True)]


def _lstm_options() -> tuple[int, schema.UnidirectionalSequenceLSTMOptionsT]:
    options = schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction, options.timeMajor = schema.ActivationFunctionType.TANH, True
    return schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions, options


def _rnn_options(case: Case) -> tuple[int, schema.SequenceRNNOptionsT]:
    options = schema.SequenceRNNOptionsT()
    relu = case.row.spec.activation == "Relu"
    options.fusedActivationFunction = schema.ActivationFunctionType.RELU if relu else schema.ActivationFunctionType.TANH
    options.timeMajor = True
    return schema.BuiltinOptions.SequenceRNNOptions, options


def _pack(graph: _Graph, operator: schema.OperatorT, code: int, inputs: list[int], outputs: list[int]) -> bytes:
    subgraph = schema.SubGraphT()
    subgraph.tensors, subgraph.operators, subgraph.inputs, subgraph.outputs = graph.tensors, [operator], inputs, outputs
    operator_code = schema.OperatorCodeT()
    operator_code.builtinCode = operator_code.deprecatedBuiltinCode = code
    operator_code.version = 1
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [operator_code], [subgraph], graph.buffers
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
