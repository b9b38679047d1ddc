#!/usr/bin/env python3
"""Steps of today's networks beside ONNX Runtime, one thread: a beat tracker's front, products with one column, RWKV-7, ConvGRU,
a minGRU as a loop.

The models are written here, with random weights; outputs are compared before anything is timed, then the two sides take turns in one
process (networks.py). Exit status 1 when an output is wrong.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from networks import Network, measure, start, table

RANDOM = np.random.default_rng(7)


class Graph:
    """Nodes, weights, inputs and outputs of one model, in the order in which they were asked for."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, *dims: int | str) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        return name

    def output(self, value: str, name: str, *dims: int | str) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))

    def tensor(self, array: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape: int, scale: float = 0.0) -> str:
        bound = scale or 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 2 else shape[0])
        return self.tensor(RANDOM.uniform(-bound, bound, shape).astype(np.float32))

    def ints(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.tensor(np.array(value, np.float32))

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: object) -> str | list[str]:
        names = [f"{self.prefix}t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def save(self, path: Path) -> None:
        graph = helper.make_graph(self.nodes, path.stem, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


HEADS, HEAD = 12, 64


def lstm(g: Graph, x: str, size: int, hidden: int) -> str:
    y = g.add("LSTM", x, g.weight(1, 4 * hidden, size), g.weight(1, 4 * hidden, hidden), g.weight(1, 8 * hidden, scale=0.1),
              outputs=3, hidden_size=hidden)[0]
    return g.add("Squeeze", y, g.ints(1))


def beat_tracker(layers: int) -> Graph:
    """Frames of 272 values: Conv1d 1 -> 2 with 10 taps, relu, pool by 2, dense to 150; then LSTMs."""
    g = Graph()
    frames = g.add("Reshape", g.input("x", "T", 1, 272), g.ints(-1, 1, 272))
    y = g.add("Relu", g.add("Conv", frames, g.weight(2, 1, 10), g.weight(2, scale=0.1)))
    y = g.add("MaxPool", y, kernel_shape=[2], strides=[2])
    y = g.add("Gemm", g.add("Reshape", y, g.ints(-1, 262)), g.weight(262, 150), g.weight(150, scale=0.1))
    y = g.add("Reshape", y, g.ints(-1, 1, 150))
    for _ in range(layers):
        y = g.add("Reshape", lstm(g, y, 150, 150), g.ints(-1, 1, 150))
    g.output(y, "y", "T", 1, 150)
    return g


def column_product(with_matmul: bool) -> Graph:
    """A state matrix of each head times a column, as products or as Mul and ReduceSum."""
    g = Graph()
    s, v = g.input("s", 1, HEADS, HEAD, HEAD), g.input("v", 1, HEADS, HEAD)
    if with_matmul:
        y = g.add("MatMul", s, g.add("Reshape", v, g.ints(1, HEADS, HEAD, 1)))
        y = g.add("Reshape", y, g.ints(1, HEADS, HEAD))
    else:
        y = g.add("ReduceSum", g.add("Mul", s, g.add("Reshape", v, g.ints(1, HEADS, 1, HEAD))), g.ints(3), keepdims=0)
    g.output(y, "y", 1, HEADS, HEAD)
    return g


def shifted(g: Graph, x: str, last: str, width: int) -> list[str]:
    """x mixed with the last step's, six times."""
    change = g.add("Sub", last, x)
    return [g.add("Add", x, g.add("Mul", change, g.weight(width, scale=0.5))) for _ in range(6)]


def normed(g: Graph, x: str, size: int) -> str:
    return g.add("LayerNormalization", x, g.weight(size, scale=1), g.weight(size, scale=0.1), axis=-1)


def rwkv7(heads: int) -> Graph:
    """The time mixing of one RWKV-7 block, one step: x, the last x and a matrix of each head."""
    g, width = Graph(), heads * HEAD
    x = normed(g, g.input("x", 1, width), width)
    last, state = g.input("last", 1, width), g.input("s", 1, heads, HEAD, HEAD)
    x_r, x_w, x_k, x_v, x_a, x_g = shifted(g, x, last, width)

    def dense(value: str, size: int = width, units: int = width) -> str:
        return g.add("MatMul", value, g.weight(size, units))

    def low_rank(value: str, rank: int, between: str = "") -> str:
        inner = dense(value, width, rank)
        return dense(g.add(between, inner) if between else inner, rank, width)

    def split(value: str, *dims: int) -> str:
        return g.add("Reshape", value, g.ints(1, heads, *dims))

    r, k, v = dense(x_r), dense(x_k), dense(x_v)
    decay = g.add("Sigmoid", g.add("Add", low_rank(x_w, 64, "Tanh"), g.weight(width, scale=1)))
    decay = g.add("Exp", g.add("Mul", decay, g.number(-0.606531)))
    rate = g.add("Sigmoid", g.add("Add", low_rank(x_a, 64), g.weight(width, scale=1)))
    gate = low_rank(x_g, 128, "Sigmoid")
    removal = split(g.add("Mul", k, g.weight(width, scale=1)), HEAD)
    size = g.add("ReduceL2", removal, axes=[-1], keepdims=1)
    removal = g.add("Div", removal, g.add("Max", size, g.number(1e-12)))
    grown = g.add("Mul", g.add("Sub", rate, g.number(1)), g.weight(width, scale=1))
    k = g.add("Mul", k, g.add("Add", grown, g.number(1)))
    removed = g.add("MatMul", state, g.add("Neg", split(removal, HEAD, 1)))
    replaced = g.add("Mul", split(removal, 1, HEAD), split(rate, 1, HEAD))
    s = g.add("Mul", state, split(decay, 1, HEAD))
    s = g.add("Add", s, g.add("MatMul", removed, replaced))
    s = g.add("Add", s, g.add("MatMul", split(v, HEAD, 1), split(k, 1, HEAD)))
    y = g.add("Reshape", g.add("MatMul", s, split(r, HEAD, 1)), g.ints(1, heads, HEAD))
    y = g.add("Reshape", g.add("LayerNormalization", y, g.tensor(np.ones(HEAD, np.float32)), axis=-1), g.ints(1, width))
    bonus = split(g.add("Mul", g.add("Mul", r, k), g.weight(width, scale=0.5)), HEAD)
    bonus = g.add("Mul", g.add("ReduceSum", bonus, g.ints(-1), keepdims=1), split(v, HEAD))
    y = g.add("Mul", g.add("Add", y, g.add("Reshape", bonus, g.ints(1, width))), gate)
    g.output(dense(y), "y", 1, width)
    g.output(x, "last_out", 1, width)
    g.output(s, "s_out", 1, heads, HEAD, HEAD)
    return g


def conv_gru() -> Graph:
    """16 channels of 16 x 16 pixels, 3 x 3 windows over x and h side by side."""
    g = Graph()
    x, h = g.input("x", 1, 16, 16, 16), g.input("h", 1, 16, 16, 16)

    def conv(value: str, outputs: int) -> str:
        return g.add("Conv", value, g.weight(outputs, 32, 3, 3), g.weight(outputs, scale=0.1), pads=[1, 1, 1, 1])

    gates = g.add("Sigmoid", conv(g.add("Concat", x, h, axis=1), 32))
    z, r = g.add("Split", gates, g.ints(16, 16), outputs=2, axis=1)
    new = g.add("Tanh", conv(g.add("Concat", x, g.add("Mul", r, h), axis=1), 16))
    kept = g.add("Mul", z, h)
    out = g.add("Add", kept, g.add("Mul", g.add("Sub", g.number(1), z), new))
    g.output(out, "y", 1, 16, 16, 16)
    g.output(g.add("Identity", out), "h_out", 1, 16, 16, 16)
    return g


def min_gru(g: Graph, x: str, units: int, rows: int) -> str:
    """A Scan over the first axis of x, which is no layer: a state that is mixed with a product of x."""
    body = Graph(f"scan{len(g.nodes)}_")
    h, step = (body.input(body.prefix + name, rows, units) for name in ("h", "x"))

    def dense() -> str:
        return body.add("Add", body.add("MatMul", step, g.weight(units, units)), g.weight(units, scale=0.1))

    z = body.add("Sigmoid", dense())
    h = body.add("Add", body.add("Mul", body.add("Sub", g.number(1), z), h), body.add("Mul", z, dense()))
    for name in ("h_next", "y"):
        body.output(h, body.prefix + name, rows, units)
    graph = helper.make_graph(body.nodes, body.prefix + "body", body.inputs, body.outputs)
    return g.add("Scan", g.tensor(np.zeros((rows, units), np.float32)), x, outputs=2, num_scan_inputs=1, body=graph)[1]


def gru(g: Graph, x: str, units: int) -> str:
    y = g.add("GRU", x, g.weight(1, 3 * units, units), g.weight(1, 3 * units, units), g.weight(1, 6 * units, scale=0.1), outputs=2,
              hidden_size=units, linear_before_reset=1)[0]
    return g.add("Squeeze", y, g.ints(1))


def loop(units: int, rows: int, between_layers: bool) -> Graph:
    g = Graph()
    x = g.input("x", "T", rows, units)
    y = min_gru(g, gru(g, x, units) if between_layers else x, units, rows)
    g.output(gru(g, y, units) if between_layers else y, "y", "T", rows, units)
    return g


FORMS = (
    (Network("beat_front", "", 50), lambda: beat_tracker(0)),
    (Network("beat_tracker", "", 50), lambda: beat_tracker(2)),
    (Network("matmul_column", "", 0), lambda: column_product(True)),
    (Network("mul_reduce_sum", "", 0, goal=1.0), lambda: column_product(False)),
    (Network("rwkv7_256", "", 0, flags=("--state", "last=last_out", "--state", "s=s_out"), states=("last", "s")), lambda: rwkv7(4)),
    (Network("rwkv7_768", "", 0, flags=("--state", "last=last_out", "--state", "s=s_out"), states=("last", "s")), lambda: rwkv7(12)),
    (Network("conv_gru", "", 0, flags=("--state", "h=h_out"), states=("h",)), conv_gru),
    (Network("min_gru_256", "", 100), lambda: loop(256, 1, False)),
    (Network("min_gru_256_rows_4", "", 100), lambda: loop(256, 4, False)),
    (Network("gru_min_gru_gru_128", "", 100), lambda: loop(128, 1, True)),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="folder that gets the models")
    options, built, library = start(parser, "forms", 2.0, 40)
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        for network, make in FORMS:
            if options.filter not in network.name:
                continue
            path = (options.keep or Path(folder)) / f"{network.name}.onnx"
            make().save(path)
            for steps in [1] + [network.steps] * (network.steps > 0):
                entries.append(measure(network, steps, path, library, built, options))
    print(table(entries))
    return 1 if any("wrong" in entry for entry in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
