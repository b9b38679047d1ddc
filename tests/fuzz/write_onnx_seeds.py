#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""write_onnx_seeds.py FOLDER -- small valid ONNX models for the importer's fuzzer to start from: each cell, what stands around it,
and single operators, which reach the evaluator too where all their operands are constants."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def constant(name, *shape):
    values = np.random.default_rng(len(name)).uniform(-0.5, 0.5, shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def recurrent(op, directions, **attributes):
    gates, hidden, width = GATES[op], 3, 2
    weights = [constant("W", directions, gates * hidden, width), constant("R", directions, gates * hidden, hidden),
               constant("B", directions, 2 * gates * hidden), constant("M", directions * hidden, 4), constant("b", 4)]
    axis = numpy_helper.from_array(np.array([0, 0, -1], np.int64), "shape")
    nodes = [helper.make_node(op, ["x", "W", "R", "B"], ["Y", "Yh"], hidden_size=hidden, **attributes),
             helper.make_node("Transpose", ["Y"], ["Yt"], perm=[0, 2, 1, 3]), helper.make_node("Reshape", ["Yt", "shape"], ["Yr"]),
             helper.make_node("MatMul", ["Yr", "M"], ["d"]), helper.make_node("Add", ["d", "b"], ["s"]), helper.make_node("Softmax", ["s"], ["y"], axis=-1)]
    return helper.make_graph(nodes, op, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", "N", width])],
                             [helper.make_tensor_value_info("y", TensorProto.FLOAT, None), helper.make_tensor_value_info("Yh", TensorProto.FLOAT, None)],
                             weights + [axis])


# Operator, shapes of its operands (lists are integers), attributes.
OPERATORS = [
    ("Conv", [(1, 2, 5), (4, 1, 3), (4,)], dict(group=2, pads=[2, 0], dilations=[1], strides=[1])),
    ("Conv", [(1, 2, 4, 5), (3, 2, 2, 3)], dict(auto_pad="SAME_LOWER", strides=[1, 2])),
    ("ConvTranspose", [(1, 2, 4), (2, 3, 3)], dict(strides=[2], output_padding=[1])),
    ("AveragePool", [(1, 2, 6)], dict(kernel_shape=[3], pads=[1, 1], strides=[2], ceil_mode=1, count_include_pad=1)),
    ("MaxPool", [(1, 2, 4, 4)], dict(kernel_shape=[2, 2], dilations=[1, 2])),
    ("GlobalAveragePool", [(2, 3, 4)], {}),
    ("BatchNormalization", [(2, 3, 4), (3,), (3,), (3,), (3,)], {}),
    ("LayerNormalization", [(2, 3, 4), (3, 4), (3, 4)], dict(axis=1)),
    ("InstanceNormalization", [(2, 3, 4), (3,), (3,)], {}),
    ("ReduceMean", [(2, 3, 4)], dict(axes=[1, -1], keepdims=0)),
    ("ReduceLogSumExp", [(2, 3, 4)], dict(axes=[2])),
    ("ReduceSum", [(2, 3, 4), [1, 2]], dict(keepdims=0)),
    ("ArgMax", [(2, 3)], dict(axis=1)),
    ("CumSum", [(2, 3), [1]], dict(exclusive=1, reverse=1)),
    ("Pad", [(2, 3), [0, 1, 0, 2]], dict(mode="reflect")),
    ("Tile", [(2, 3), [1, 2]], {}),
    ("Gather", [(2, 3, 4), [0, 2, 1]], dict(axis=1)),
    ("GatherElements", [(3,), [0, 2, 1]], {}),
    ("Trilu", [(3, 3), [1]], dict(upper=0)),
    ("DepthToSpace", [(1, 4, 2, 2)], dict(blocksize=2, mode="CRD")),
    ("MatMul", [(2, 3, 4), (4, 5)], {}),
    ("Einsum", [(2, 3, 4), (4, 5)], dict(equation="abc,cd->adb")),
    ("Einsum", [(2, 3, 3), (2, 3)], dict(equation="...ii,...i")),
    ("PRelu", [(2, 3, 4), (3, 1)], {}),
    ("Greater", [(2, 3), (3,)], {}),
    ("LpNormalization", [(2, 3)], dict(p=1)),
]


def operand(name, shape):
    if isinstance(shape, list):
        return numpy_helper.from_array(np.array(shape, np.int64), name)
    return constant(name, *shape)


# With its first operand as an input, or folded as a whole.
def one_operator(op, shapes, attributes, fold):
    names = [f"x{i}" for i in range(len(shapes))]
    operands = [operand(name, shape) for name, shape in zip(names, shapes)]
    inputs = [] if fold else [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shapes[0])]
    return helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], op, inputs,
                             [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], operands if fold else operands[1:])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    graphs = [recurrent("RNN", 1, activations=["Relu"]), recurrent("GRU", 2, direction="bidirectional", linear_before_reset=1),
              recurrent("GRU", 1, direction="reverse"), recurrent("LSTM", 1, clip=0.5, input_forget=1), recurrent("LSTM", 2, direction="bidirectional")]
    graphs += [one_operator(op, shapes, attributes, fold) for op, shapes, attributes in OPERATORS for fold in (False, True)]
    for number, graph in enumerate(graphs):
        opset = {"LayerNormalization": 17, "Trilu": 14}.get(graph.name, 13)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 7
        onnx.save(model, folder / f"seed{number}.onnx")


if __name__ == "__main__":
    main()
