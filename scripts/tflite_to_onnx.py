#!/usr/bin/env python3
"""tflite_to_onnx.py MODEL.tflite MODEL.onnx -- an LSTM model of TensorFlow Lite, float or full integer, as ONNX for `rnnpack compile`.

Integers stay what they are: weights become DequantizeLinear of the file's bytes, edges between layers QuantizeLinear and DequantizeLinear
with the file's scales. Inputs and outputs are floats, in the units that the file's scales stand for; batch and steps stay open where no
Reshape fixes them. Operators: UNIDIRECTIONAL_SEQUENCE_LSTM, FULLY_CONNECTED, LOGISTIC, SOFTMAX, RESHAPE, QUANTIZE, DEQUANTIZE. State that
the file keeps from call to call is the layer's own. Needs numpy and onnx. SPDX-License-Identifier: Apache-2.0"""
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LSTM, DENSE, LOGISTIC, SOFTMAX, RESHAPE, QUANTIZE, DEQUANTIZE = 44, 9, 14, 25, 22, 114, 6
TYPES = {0: np.float32, 2: np.int32, 3: np.uint8, 4: np.int64, 7: np.int16, 9: np.int8}
ACTIVATIONS = {0: None, 1: "Relu", 4: "Tanh"}


class Table:
    """A table of a FlatBuffer: fields by their numbers in the schema."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.count = (struct.unpack_from("<H", data, self.fields)[0] - 4) // 2

    def place(self, field):
        offset = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * field)[0] if field < self.count else 0
        return self.at + offset if offset else None

    def behind(self, place):
        return place + struct.unpack_from("<I", self.data, place)[0]

    def number(self, field, form="<i", otherwise=0):
        place = self.place(field)
        return otherwise if place is None else struct.unpack_from(form, self.data, place)[0]

    def table(self, field):
        place = self.place(field)
        return None if place is None else Table(self.data, self.behind(place))

    def vector(self, field, form):
        place = self.place(field)
        if place is None:
            return None
        place = self.behind(place)
        return np.frombuffer(self.data, np.dtype(form), struct.unpack_from("<I", self.data, place)[0], place + 4)

    def tables(self, field):
        place = self.place(field)
        if place is None:
            return []
        place = self.behind(place)
        return [Table(self.data, self.behind(place + 4 + 4 * i)) for i in range(struct.unpack_from("<I", self.data, place)[0])]


class Tensor:
    def __init__(self, table, buffers, index):
        self.name = f"t{index}"
        self.shape = [int(d) for d in (table.vector(0, "<i4") if table.place(0) else [])]
        self.type = TYPES.get(table.number(1, "<b"))
        raw = buffers[table.number(2, "<I")].vector(0, "u1")
        self.data = None if raw is None or self.type is None else raw.view(self.type).reshape(self.shape)
        quantization = table.table(4)
        scale = quantization.vector(2, "<f4") if quantization else None
        self.scale = None if scale is None or len(scale) == 0 else scale
        zero = quantization.vector(3, "<i8") if self.scale is not None else None
        self.zero = zero if zero is not None else np.zeros(1, np.int64)

    def floats(self):
        """A bias: 32-bit integers of a scale, or floats."""
        return self.data if self.scale is None else (self.data * self.scale.astype(np.float64)).astype(np.float32)


class Converter:
    def __init__(self, data):
        model = Table(data, struct.unpack_from("<I", data, 0)[0])
        graphs = model.tables(2)
        if len(graphs) != 1:
            raise SystemExit(f"the file has {len(graphs)} graphs; accepted: one")
        self.graph, buffers = graphs[0], model.tables(4)
        self.codes = [max(code.number(0, "<b"), code.number(3)) for code in model.tables(1)]
        self.tensors = [Tensor(t, buffers, i) for i, t in enumerate(self.graph.tables(0))]
        self.nodes, self.constants = [], []

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name, value):
        if not any(c.name == name for c in self.constants):
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weights(self, tensor, name):
        if tensor.scale is None:
            return self.constant(name, tensor.data)
        if np.any(tensor.zero != 0) or len(tensor.scale) != 1:
            raise SystemExit(f"tensor {tensor.name} has zero points or a scale a channel; accepted: one scale around 0")
        return self.node("DequantizeLinear", [self.constant(name + "_q", tensor.data), self.constant(name + "_s", tensor.scale[0])], name)

    def edge(self, tensor, value):
        """The value on the grid that the file gives to the tensor."""
        if tensor.scale is None or tensor.type != np.int8:
            return value
        scale = self.constant(tensor.name + "_scale", np.float32(tensor.scale[0]))
        zero = self.constant(tensor.name + "_zero", np.int8(tensor.zero[0]))
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [value, scale, zero], tensor.name + "_q"), scale, zero], tensor.name + "_dq")

    def lstm(self, name, inputs, options, x):
        given = [self.tensors[i] if i >= 0 else None for i in inputs]
        if any(given[i] is not None for i in (9, 10, 11, 16, 17, 20, 21, 22, 23)):
            raise SystemExit(f"{name} has peepholes, a projection or layer normalisation; accepted: none")
        if options.number(0, "<b") != 4 or options.number(1, "<f", 0.0) not in (0.0,):
            clip = options.number(1, "<f", 0.0)
            if options.number(0, "<b") != 4 or clip < 10:  # c beyond 10 is where tanh and sigmoid have ended
                raise SystemExit(f"{name} has another activation than tanh, or a clip of its cell at {clip}")
        order = (0, 3, 1, 2)  # input, forget, cell, output: ONNX has i o f c
        parts = {"W": [], "R": []}
        for gate in order:
            parts["W"].append(self.weights(given[1 + gate], f"{name}_W{gate}"))
            parts["R"].append(self.weights(given[5 + gate], f"{name}_R{gate}"))
        axis = self.constant("axis_0", np.array([0]))
        whole = [self.node("Unsqueeze", [self.node("Concat", parts[m], f"{name}_{m}_rows", axis=0), axis], f"{name}_{m}") for m in ("W", "R")]
        hidden = given[5].shape[1]
        bias = np.concatenate([given[12 + gate].floats() for gate in order] + [np.zeros(4 * hidden, np.float32)])[None]
        time_major = options.number(3, "<B")
        if not time_major:
            x = self.node("Transpose", [x], f"{name}_x", perm=[1, 0, 2])
        self.nodes.append(helper.make_node("LSTM", [x, *whole, self.constant(f"{name}_B", bias.astype(np.float32))], [f"{name}_Y"], name=name,
                                           hidden_size=hidden))
        y = self.node("Squeeze", [f"{name}_Y", self.constant("axis_1", np.array([1]))], f"{name}_y")
        return y if time_major else self.node("Transpose", [y], f"{name}_yt", perm=[1, 0, 2])

    def dense(self, name, inputs, options, x):
        w = self.node("Transpose", [self.weights(self.tensors[inputs[1]], f"{name}_w")], f"{name}_wt", perm=[1, 0])
        y = self.node("MatMul", [x, w], f"{name}_product")
        if len(inputs) > 2 and inputs[2] >= 0:
            y = self.node("Add", [y, self.constant(f"{name}_b", self.tensors[inputs[2]].floats())], f"{name}_sum")
        activation = ACTIVATIONS.get(options.number(0, "<b") if options else 0, "")
        if activation == "":
            raise SystemExit(f"{name} has activation {options.number(0, '<b')}; accepted: {list(ACTIVATIONS)}")
        return self.node(activation, [y], f"{name}_act") if activation else y

    def convert(self):
        values = {}
        fixed = any(self.codes[op.number(0, "<I")] == RESHAPE for op in self.graph.tables(3))
        inputs = []
        for index in self.graph.vector(1, "<i4"):
            tensor = self.tensors[index]
            shape = list(tensor.shape) if fixed or len(tensor.shape) != 3 else ["N", "T", tensor.shape[2]]
            inputs.append(helper.make_tensor_value_info(f"x{len(inputs)}", TensorProto.FLOAT, shape))
            values[index] = self.edge(tensor, inputs[-1].name)
        for number, op in enumerate(self.graph.tables(3)):
            code, ins, out = self.codes[op.number(0, "<I")], [int(i) for i in op.vector(1, "<i4")], int(op.vector(2, "<i4")[0])
            name, x, options = f"op{number}", values[ins[0]], op.table(4)
            if code == LSTM:
                y = self.lstm(name, ins, options, x)
            elif code == DENSE:
                y = self.dense(name, ins, options, x)
            elif code in (LOGISTIC, SOFTMAX):
                y = self.node("Sigmoid" if code == LOGISTIC else "Softmax", [x], name, **({"axis": -1} if code == SOFTMAX else {}))
            elif code == RESHAPE:
                y = self.node("Reshape", [x, self.constant(f"{name}_shape", np.array(self.tensors[out].shape, np.int64))], name)
            elif code in (QUANTIZE, DEQUANTIZE):
                y = x
            else:
                raise SystemExit(f"operator {code} is not converted; see the head of this script for those that are")
            values[out] = y if code == RESHAPE else self.edge(self.tensors[out], y)
        outputs = []
        for index in self.graph.vector(2, "<i4"):
            name = self.node("Identity", [values[index]], f"y{len(outputs)}")
            outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
        graph = helper.make_graph(self.nodes, "tflite", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with open(sys.argv[1], "rb") as file:
        onnx.save(Converter(file.read()).convert(), sys.argv[2])
