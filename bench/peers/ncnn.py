"""ncnn, f32, from a .param and .bin written here: batch 1 only, PyTorch's forms of the cells.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ncnn as framework
from suite.cases import Case, Layer
from suite.rows import Row

from .gate_order import reorder, split_bias
from .prepared import Prepared, Unsupported

VERSION = framework.__version__
ORDER = {"lstm": "ifoc", "gru_lbr": "rzh", "rnn_tanh": "h"}
F32 = np.zeros(1, np.uint32).tobytes()  # tag in front of each array of the weights file: raw f32


def load(case: Case, threads: int) -> Prepared:
    row = case.row
    if row.cell not in ORDER:
        raise Unsupported(f"ncnn has no {row.spec.operator} of this form")
    if row.batch > 1:
        raise Unsupported("ncnn's recurrent layers have no batch")
    net = _net(case, threads)
    x = framework.Mat(np.ascontiguousarray(case.x[:, 0, :])).clone()

    def run():
        extractor = net.create_extractor()
        extractor.input("x", x)
        return extractor.extract("y")[1]

    def empty():
        extractor = net.create_extractor()
        extractor.input("x", x)
        return extractor.extract("x")[1]

    return Prepared(run, lambda: np.array(run()).reshape(row.steps, 1, -1), empty)


def _net(case: Case, threads: int) -> framework.Net:
    net = framework.Net()
    net.opt.num_threads = threads
    for option in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage", "use_vulkan_compute"):
        setattr(net.opt, option, False)
    param, weights = case.folder / "ncnn.param", case.folder / "ncnn.bin"
    param.write_text(_param(case))
    _write_weights(case, weights)
    if net.load_param(str(param)) or net.load_model(str(weights)):
        raise RuntimeError("ncnn refused the model")
    return net


def _param(case: Case) -> str:
    row = case.row
    kind = row.spec.operator
    lines = ["Input input 0 1 x"]
    for index, layer in enumerate(case.layers):
        source = "x" if index == 0 else f"y{index - 1}"
        target = "y" if index == row.layers - 1 else f"y{index}"
        direction = 2 if row.directions == 2 else 0
        lines.append(f"{kind} rnn{index} 1 1 {source} {target} 0={row.hidden} 1={layer.w.size} 2={direction}")
    return "\n".join(["7767517", f"{len(lines)} {len(lines)}", *lines]) + "\n"


def _write_weights(case: Case, path: Path) -> None:
    with path.open("wb") as file:
        for layer in case.layers:
            for array in _layer_arrays(case.row, layer):
                file.write(F32)
                file.write(array.astype(np.float32).tobytes())


def _layer_arrays(row: Row, layer: Layer) -> list[np.ndarray]:
    """Input weights, biases, recurrent weights; the directions one after the other within each."""
    order = ORDER[row.cell]
    each = range(row.directions)
    w = np.concatenate([reorder(row, np.asarray(layer.w[d]), order) for d in each])
    r = np.concatenate([reorder(row, np.asarray(layer.r[d]), order) for d in each])
    return [w, np.concatenate([_bias(row, layer, d) for d in each]), r]


def _bias(row: Row, layer: Layer, direction: int) -> np.ndarray:
    """One bias per gate; the GRU's candidate keeps its two apart: r, u, input part of n, recurrent part of n."""
    of_w, of_r = (reorder(row, np.asarray(part), ORDER[row.cell]) for part in split_bias(row, layer, direction))
    both = of_w + of_r
    if row.spec.operator != "GRU":
        return both
    gates = 2 * row.hidden
    return np.concatenate([both[:gates], of_w[gates:], of_r[gates:]])
