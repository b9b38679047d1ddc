#!/usr/bin/env python3
"""Networks of causal convolutions by two builds of the library in turns, one thread: what a step of a stream took before and takes now.

Both builds have RNNPACK_BENCH; the blobs are made by the newer one's tool. Files come from RNNPACK_MODELS_DIR and RNNPACK_MODELS_IN_DIR (what is
not there is named and left out); a TCN denoiser and a network of UL-UNAS's form, of which there are no free weights, are made here with
random ones. Outputs of both builds are compared: exit status 1 where a bit differs.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from suite.compiled_network import Ours, open_library
from suite.locate import Built, choose_cpus, machine_name


@dataclass(frozen=True)
class Network:
    name: str
    file: str  # below its folder; of networks made here nothing
    steps: tuple[int, ...]  # of a call
    folder: str = "RNNPACK_MODELS_IN_DIR"
    flags: tuple[str, ...] = ()


DEEP = "deepfilternet3/"
NETWORKS = (
    Network("NAM A1 standard", "nam/wavenet_a1_standard.nam", (1, 64)),
    Network("NAM A2 full", "nam/A2.nam", (1, 64)),
    Network("NAM A2 lite", "nam/A2.nam", (1, 64), flags=("--quality", "0")),
    Network("TCN denoiser, 16 channels", "", (1, 64)),
    Network("TCN denoiser, 64 channels", "", (1, 64)),
    Network("UL-UNAS's form", "", (1, 10)),
    Network("DeepFilterNet 3 enc", DEEP + "enc.onnx", (1, 10), "RNNPACK_MODELS_DIR"),
    Network("DeepFilterNet 3 erb_dec", DEEP + "erb_dec.onnx", (1, 10), "RNNPACK_MODELS_DIR"),
    Network("DeepFilterNet 3 df_dec", DEEP + "df_dec.onnx", (1, 10), "RNNPACK_MODELS_DIR"),
    Network("microWakeWord vad", "microwakeword/vad.tflite", (1,)),
    Network("microWakeWord okay_nabu", "microwakeword/okay_nabu.tflite", (1,)),
)


class Graph:
    """An ONNX graph of convolutions with weights drawn at random."""

    def __init__(self, seed: int) -> None:
        self.random, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def weight(self, *shape: int) -> str:
        scale = 1 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.1
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, array: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def conv(self, x: str, shape: tuple[int, ...], pads: list[int], **attributes: Any) -> str:
        return self.node("Conv", [x, self.weight(*shape), self.weight(shape[0])], pads=pads, **attributes)

    def causal(self, x: str, shape: tuple[int, int, int], dilation: int, **attributes: Any) -> str:
        return self.conv(x, shape, [(shape[2] - 1) * dilation, 0], dilations=[dilation], **attributes)

    def prelu(self, x: str, channels: int, rank: int) -> str:
        return self.node("PRelu", [x, self.constant(np.full((channels,) + (1,) * rank, 0.2, np.float32))])

    def save(self, path: Path, y: str, x_shape: list[Any], y_shape: list[Any]) -> None:
        inputs, outputs = helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape), helper.make_tensor_value_info(y, TensorProto.FLOAT, y_shape)
        graph = helper.make_graph(self.nodes, "network", [inputs], [outputs], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def write_tcn(path: Path, channels: int) -> None:
    """Two stacks of eight blocks with dilations 1 to 128: 1x1, PReLU, three taps, PReLU, 1x1, added to what came in; a mask for 64 bands."""
    g = Graph(7)
    x = g.conv("x", (channels, 64, 1), [0, 0])
    for block in range(16):
        y = g.prelu(g.conv(x, (channels, channels, 1), [0, 0]), channels, 1)
        y = g.prelu(g.causal(y, (channels, channels, 3), 1 << block % 8), channels, 1)
        x = g.node("Add", [x, g.conv(y, (channels, channels, 1), [0, 0])])
    g.save(path, g.node("Sigmoid", [g.conv(x, (64, channels, 1), [0, 0])]), [1, 64, "steps"], [1, 64, "steps"])


def write_unas(path: Path) -> None:
    """Blocks of 1x1, depthwise taps over steps and bands, 1x1, with strides along 129 bands to 33, and back to a mask by 1x1 over bands."""
    g = Graph(8)
    x, channels = "x", 2
    for out, stride in ((12, 2), (24, 2), (24, 1), (32, 1), (16, 1)):
        y = g.prelu(g.conv(x, (out, channels, 1, 1), [0, 0, 0, 0]), out, 2)
        y = g.prelu(g.conv(y, (out, 1, 3, 3), [2, 1, 0, 1], group=out, strides=[1, stride]), out, 2)
        y = g.conv(y, (out, out, 1, 1), [0, 0, 0, 0])
        x, channels = (g.node("Add", [x, y]) if channels == out and stride == 1 else y), out
    g.save(path, g.node("Sigmoid", [g.conv(x, (2, channels, 1, 1), [0, 0, 0, 0])]), [1, 2, "steps", 129], [1, 2, "steps", 33])


def file_of(network: Network, folder: Path) -> Path:
    if network.file:
        root = os.environ.get(network.folder, "")
        path = Path(root) / network.file
        if not root or not path.exists():
            raise FileNotFoundError(f"{network.file} is not in {network.folder}")
        return path
    path = folder / "made.onnx"
    if network.name.startswith("TCN"):
        write_tcn(path, int(network.name.split()[2]))
    else:
        write_unas(path)
    return path


def arrays_of(tool: Path, blob: Path, steps: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    document = json.loads(subprocess.run([tool, "inspect", "--json", blob], capture_output=True, text=True, check=True).stdout)
    arrays = {}
    for io in document["inputs"]:
        shape = [steps if dim == "steps" else 1 if dim == "batch" else dim for dim in io["dims"]]
        arrays[io["name"]] = random.uniform(-1, 1, shape).astype(np.float32)
    return arrays


def measure(network: Network, steps: int, blob: Path, sides: dict[str, tuple[ctypes.CDLL, Path]], options: argparse.Namespace) -> dict[str, Any]:
    tool, cpus = sides["now"][1], choose_cpus(options.cpus, 1)
    arrays = arrays_of(tool, blob, steps)
    runs = {name: Ours(library, tool, blob, arrays, steps, cpus, from_start=False) for name, (library, _) in sides.items()}
    for ours in runs.values():
        ours.run()
    first = {name: [array.copy() for array, _ in ours.outputs.values()] for name, ours in runs.items()}
    entry: dict[str, Any] = {"network": network.name, "steps": steps}
    entry["same"] = all(np.array_equal(a.view(np.uint32), b.view(np.uint32)) for a, b in zip(first["before"], first["now"]))
    calls, taken = dict.fromkeys(runs, 0), {name: [] for name in runs}
    for number in range(options.rounds + 1):
        for name, ours in runs.items():
            ns, calls[name] = ours.time(options.seconds / options.rounds if number else 0.01, calls[name])
            taken[name] += [ns] * (number > 0)
    for name, ours in runs.items():
        ns = np.concatenate(taken[name]) / steps
        entry[name] = [float(ns.min()), float(np.median(ns))]
        ours.close()
    return entry


def row(e: dict[str, Any]) -> str:
    (least, median), (least_now, median_now) = e["before"], e["now"]
    bits = "the same" if e["same"] else "others"
    return f"| {e['network']} | {e['steps']} | {least:.0f} / {median:.0f} | {least_now:.0f} / {median_now:.0f} | {median_now / median:.2f} | {bits} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="CMake build folder with RNNPACK_BENCH")
    parser.add_argument("--before", type=Path, required=True, help="the same of an older library")
    parser.add_argument("--filter", default="", help="networks whose name holds this")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing for each side of a row")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--cpus")
    options = parser.parse_args()
    now, before = Built(options.build.resolve()), Built(options.before.resolve())
    sides = {"before": (open_library(before), now.tool), "now": (open_library(now), now.tool)}
    os.sched_setaffinity(0, choose_cpus(options.cpus, 1))
    print(f"{machine_name()}, ns a step of one row on one thread, least / median, both in turns\n")
    print("| network | steps a call | before | now | ratio of medians | bits |\n|---|--:|--:|--:|--:|---|")
    differ = False
    with tempfile.TemporaryDirectory() as folder:
        for network in NETWORKS:
            if options.filter not in network.name:
                continue
            blob = Path(folder) / "model.rnnp"
            try:
                path = file_of(network, Path(folder))
                subprocess.run([now.tool, "compile", path, "-o", blob, *network.flags], check=True, capture_output=True, text=True)
            except (FileNotFoundError, subprocess.CalledProcessError) as error:
                print(f"left out: {network.name}: {getattr(error, 'stderr', '') or error}".strip(), file=sys.stderr)
                continue
            for steps in network.steps:
                entry = measure(network, steps, blob, sides, options)
                differ = differ or not entry["same"]
                print(row(entry), flush=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
