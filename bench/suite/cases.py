"""A case on disk: random weights and input of one row, as ONNX for the runtimes and as arrays for the bindings.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .rows import Row

OPSET = 17


@dataclass
class Layer:
    """One layer's weights in ONNX order: W [D, G*H, I], R [D, G*H, H], B [D, 2*G*H] (input biases, then recurrent ones)."""

    w: np.ndarray
    r: np.ndarray
    b: np.ndarray


@dataclass
class Case:
    row: Row
    folder: Path
    x: np.ndarray  # [T, B, I]
    layers: list[Layer]

    @property
    def onnx_path(self) -> Path:
        return self.folder / "static.onnx"


def write_case(row: Row, folder: Path, seed: int = 7) -> Case:
    """Draw the row's weights and input and write them; weights as trainers initialise them, uniform(-1/sqrt(H), 1/sqrt(H))."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    layers = [_random_layer(random, row, inputs) for inputs in row.layer_inputs]
    x = random.uniform(-1, 1, (row.steps, row.batch, row.inputs)).astype(np.float32)
    np.save(folder / "x.npy", x)
    for index, layer in enumerate(layers):
        for part in ("w", "r", "b"):
            np.save(folder / f"{part}{index}.npy", getattr(layer, part))
    onnx.save(_model(row, layers, fixed=True), folder / "static.onnx")
    onnx.save(_model(row, layers, fixed=False), folder / "streaming.onnx")
    onnx.save(_identity(row), folder / "identity.onnx")
    return Case(row, folder, x, layers)


def read_case(row: Row, folder: Path) -> Case:
    layers = [Layer(*(np.load(folder / f"{part}{index}.npy", mmap_mode="r") for part in "wrb")) for index in range(row.layers)]
    return Case(row, folder, np.load(folder / "x.npy"), layers)


def remove_case(case: Case) -> None:
    shutil.rmtree(case.folder, ignore_errors=True)


def _random_layer(random: np.random.Generator, row: Row, inputs: int) -> Layer:
    bound = 1 / np.sqrt(row.hidden)
    rows = row.spec.gates * row.hidden

    def draw(*shape: int) -> np.ndarray:
        return ((random.random(shape, dtype=np.float32) * 2 - 1) * bound).astype(np.float32)

    return Layer(draw(row.directions, rows, inputs), draw(row.directions, rows, row.hidden), draw(row.directions, 2 * rows))


def _model(row: Row, layers: list[Layer], fixed: bool) -> onnx.ModelProto:
    """The stack as exporters write it. fixed: every dimension known (what peers optimise best for); else free steps and batch."""
    steps, batch = (row.steps, row.batch) if fixed else ("steps", "batch")
    nodes, weights = [], []
    source = "x"
    for index, layer in enumerate(layers):
        names = [f"{part}{index}" for part in "WRB"]
        weights += [numpy_helper.from_array(np.ascontiguousarray(a), n) for a, n in zip((layer.w, layer.r, layer.b), names)]
        nodes.append(_recurrent_node(row, [source, *names], f"y{index}"))
        source = f"y{index}"
        if row.layers > 1:  # [T, D, B, H] -> [T, B, D * H]
            nodes.append(helper.make_node("Transpose", [source], [f"t{index}"], perm=[0, 2, 1, 3]))
            nodes.append(helper.make_node("Reshape", [f"t{index}", "merged"], [f"m{index}"]))
            source = f"m{index}"
    if row.layers > 1:
        weights.append(numpy_helper.from_array(np.array([0, 0, -1], np.int64), "merged"))
    width = row.directions * row.hidden
    y_shape = [steps, batch, width] if row.layers > 1 else [steps, row.directions, batch, row.hidden]
    graph = helper.make_graph(
        nodes,
        "bench",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, row.inputs])],
        [helper.make_tensor_value_info(source, TensorProto.FLOAT, y_shape)],
        weights,
    )
    return _checked(graph)


def _recurrent_node(row: Row, inputs: list[str], output: str) -> onnx.NodeProto:
    attributes = dict(row.spec.attributes)
    if "activations" in attributes:
        attributes["activations"] = attributes["activations"] * row.directions
    direction = "bidirectional" if row.directions == 2 else "forward"
    return helper.make_node(row.spec.operator, inputs, [output], hidden_size=row.hidden, direction=direction, **attributes)


def _identity(row: Row) -> onnx.ModelProto:
    shape = [row.steps, row.batch, row.inputs]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "y")]
    return _checked(helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", ports[:1], ports[1:]))


def _checked(graph: onnx.GraphProto) -> onnx.ModelProto:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model
