#!/usr/bin/env python3
"""write_onnx_seeds.py FOLDER -- small valid ONNX models for the importer's fuzzer to start from: each cell, and what stands around it."""
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


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    graphs = [recurrent("RNN", 1, activations=["Relu"]), recurrent("GRU", 2, direction="bidirectional", linear_before_reset=1),
              recurrent("GRU", 1, direction="reverse"), recurrent("LSTM", 1, clip=0.5, input_forget=1), recurrent("LSTM", 2, direction="bidirectional")]
    for number, graph in enumerate(graphs):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        onnx.save(model, folder / f"seed{number}.onnx")


if __name__ == "__main__":
    main()
