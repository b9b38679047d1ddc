#!/usr/bin/env python3
"""Whole networks beside ONNX Runtime, one thread: the same file, the same inputs, outputs compared, then timed in turns.

The networks come from the folder RNNPACK_MODELS_DIR (a network that is not there is named and left out) and from the project's models/; one
of AECMOS's form, of which there are no free weights, is made here with random ones.
`call`: one step, as a device runs it block by block. `sequence`: many steps in one call, where the file leaves their number open.
ONNX Runtime is called through IOBinding on prepared arrays; ours by rnnp_run_io from C. Exit status 1 when an output is wrong.
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
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from convolutions import Graph

from peers.prepared import SAMPLE_NS, sample
from suite.compiled_network import Ours, open_library
from suite.locate import Built, choose_cpus

BENCH = Path(__file__).resolve().parent
TOLERANCE = 1e-4
NO_SLOWER, RECURRENT = 1.0, 0.6


@dataclass(frozen=True)
class Network:
    name: str
    file: str
    steps: int  # of the sequence; 0: the file has no open number of steps
    flags: tuple[str, ...] = ()
    sizes: dict[str, int] = field(default_factory=dict)  # of open dimensions other than the steps
    values: dict[str, int] = field(default_factory=dict)  # of integer inputs
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of inputs whose dimensions have no names
    states: tuple[str, ...] = ()  # inputs that the library keeps: zeros
    step_name: str = "T"
    goal: float = RECURRENT
    own: bool = False


SILERO = ("--set", "sr=16000")
NETWORKS = (
    Network("vad_gru", "vad_gru/model.onnx", 100, step_name="time", own=True),
    Network("kws_lstm", "kws_lstm/model.onnx", 100, step_name="time", own=True),
    Network("rnnoise", "rnnoise_2019/model.onnx", 100),
    Network("nsnet2", "nsnet2/nsnet2_rebuilt.onnx", 100, sizes={"batch": 1}, step_name="time"),
    Network("kws_basic_lstm_s", "kws_basic_lstm_s/model.onnx", 49, sizes={"N": 1}),
    Network("kws_gru_s", "kws_gru_s/model.onnx", 25, sizes={"N": 1}),
    Network("nam_boss_1x16", "nam_boss_lstm_1x16/model.onnx", 480),
    Network("nam_boss_2x8", "nam_boss_lstm_2x8/model.onnx", 480),
    Network("namcore_h3", "namcore_lstm_h3/model.onnx", 480),
    Network("rtneural_full", "rtneural_full_model/model.onnx", 480),
    Network("dtln_1", "dtln/model_1.onnx", 0),
    Network("dtln_2", "dtln/model_2.onnx", 0, goal=NO_SLOWER),
    Network("silero_vad_16k", "silero_vad/silero_vad_16k_op15.onnx", 0, flags=(*SILERO, "--dim", "sequence=576"),
            sizes={"batch": 1, "sequence": 576}, values={"sr": 16000}, goal=NO_SLOWER),
    Network("silero_vad", "silero_vad/silero_vad.onnx", 0, flags=(*SILERO, "--shape", "input=1,576", "--shape", "state=2,1,128"),
            values={"sr": 16000}, shapes={"input": (1, 576), "state": (2, 1, 128)}, goal=NO_SLOWER),
    Network("silero_vad_openvino", "silero_vad/silero_vad_openvino_16k.onnx", 0, goal=NO_SLOWER),
    Network("deepfilternet3_enc", "deepfilternet3/enc.onnx", 100, step_name="S", goal=NO_SLOWER),
    Network("deepfilternet3_erb_dec", "deepfilternet3/erb_dec.onnx", 100, step_name="S", goal=NO_SLOWER),
    Network("deepfilternet3_df_dec", "deepfilternet3/df_dec.onnx", 100, step_name="S", goal=NO_SLOWER),
    Network("aecmos_form", "", 901, step_name="steps", goal=NO_SLOWER),
)


def write_aecmos_form(path: Path) -> None:
    """901 frames of 161 bins, 3 channels: four 3 x 3 convolutions, each with a pool of two bins behind it, and a GRU; it looks ahead."""
    g, x, channels = Graph(9), "x", 3
    for out in (32, 64, 64, 64):
        x = g.node("Relu", [g.conv(x, (out, channels, 3, 3), [1, 1, 1, 1])])
        x, channels = g.node("MaxPool", [x], kernel_shape=[1, 2], strides=[1, 2]), out
    rows = g.node("Reshape", [g.node("Transpose", [x], perm=[2, 0, 1, 3]), g.constant(np.array([0, 0, -1]))])
    y = g.node("GRU", [rows, g.weight(1, 192, 640), g.weight(1, 192, 64), g.weight(1, 384)], hidden_size=64, linear_before_reset=1)
    g.save(path, g.node("Squeeze", [y, g.constant(np.array([1]))]), [1, 3, "steps", 161], ["steps", 1, 64])


class Peer:
    """ONNX Runtime on arrays bound once."""

    def __init__(self, path: Path, arrays: dict[str, np.ndarray]) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        names = [output.name for output in self.session.get_outputs()]
        self.outputs = dict(zip(names, (np.array(value) for value in self.session.run(None, arrays))))
        binding = self.session.io_binding()
        for name, array in arrays.items():
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
        self.keep = (binding, arrays)
        for name, array in self.outputs.items():
            binding.bind_output(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
        call, bound = self.session._sess.run_with_iobinding, binding._iobinding
        self.run: Callable[[], object] = lambda: call(bound, None)

    def time(self, seconds: float, calls: int) -> tuple[np.ndarray, int]:
        taken = sample(self.run, seconds, calls)
        return np.array(taken.ns) / taken.calls, taken.calls


def as_onnx(array: np.ndarray, dims: list[Any], shape: tuple[int, ...], steps: int) -> np.ndarray:
    if "steps" not in dims:
        return array.reshape(shape)
    rest = [1 if dim == "batch" else dim for dim in dims if dim != "steps"]
    return np.moveaxis(array.reshape([steps, *rest]), 0, dims.index("steps")).reshape(shape)


def inputs_of(network: Network, path: Path, steps: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    arrays: dict[str, np.ndarray] = {}
    for info in session.get_inputs():
        if info.name in network.values:
            arrays[info.name] = np.array(network.values[info.name], np.int64)
            continue
        sizes = {**network.sizes, network.step_name: steps}
        shape = network.shapes.get(info.name) or tuple(sizes.get(dim, 1) if isinstance(dim, str) else dim for dim in info.shape)
        arrays[info.name] = random.uniform(-1, 1, shape).astype(np.float32) * (info.name not in network.states)
    return arrays


def distance(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    return float(np.max(np.abs(a - b) / np.maximum(1, np.abs(b)))) if a.size else 0.0


def measure(network: Network, steps: int, path: Path, library: ctypes.CDLL, built: Built, options: argparse.Namespace) -> dict[str, Any]:
    entry: dict[str, Any] = {"network": network.name, "steps": steps, "goal": network.goal}
    with tempfile.TemporaryDirectory() as folder:
        blob = Path(folder) / "model.rnnp"
        done = subprocess.run([built.tool, "compile", path, "-o", blob, *network.flags], capture_output=True, text=True)
        if done.returncode:
            return {**entry, "reason": (done.stderr.strip().splitlines() or ["refused"])[-1][:160]}
        arrays = inputs_of(network, path, steps)
        peer = Peer(path, arrays)
        ours = Ours(library, built.tool, blob, arrays, steps, choose_cpus(options.cpus, 1))
        ours.run()
        expected = {name: np.array(value) for name, value in peer.outputs.items()}
        far = max(distance(as_onnx(array, dims, expected[name].shape, steps), expected[name]) for name, (array, dims) in ours.outputs.items())
        entry["difference"] = far
        if far <= TOLERANCE:
            take_turns(entry, ours, peer, options)
        else:
            entry["wrong"] = f"{network.name}, {steps} steps: differs from onnxruntime by {far:.1e}"
        ours.close()
    return entry


def take_turns(entry: dict[str, Any], ours: Ours, peer: Peer, options: argparse.Namespace) -> None:
    taken: dict[str, list[np.ndarray]] = {"ours": [], "onnxruntime": []}
    calls = {"ours": 0, "onnxruntime": 0}
    for number in range(options.rounds + 1):
        for name, side in (("ours", ours), ("onnxruntime", peer)):
            time.sleep(0.001)
            ns, calls[name] = side.time(options.seconds / options.rounds if number else 0.01, calls[name])
            if number:
                taken[name].append(ns)
    for name, rounds in taken.items():
        ns = np.concatenate(rounds) / 1e3
        entry[name] = {"min_us": float(ns.min()), "median_us": float(np.median(ns))}
    entry["ratio"] = entry["ours"]["min_us"] / entry["onnxruntime"]["min_us"]
    entry["ratio_of_medians"] = entry["ours"]["median_us"] / entry["onnxruntime"]["median_us"]


def table(entries: list[dict[str, Any]]) -> str:
    lines = ["| network | steps a call | ours, us | onnxruntime, us | ratio | of medians | goal | difference |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for e in entries:
        if "ratio" not in e:
            lines.append(f"| {e['network']} | {e['steps']} | - | - | - | - | {e['goal']} | {e.get('wrong') or e['reason']} |")
            continue
        verdict = "met" if e["ratio"] <= e["goal"] else "missed"
        lines.append(f"| {e['network']} | {e['steps']} | {e['ours']['min_us']:.2f} | {e['onnxruntime']['min_us']:.2f} | {e['ratio']:.2f} | "
                     f"{e['ratio_of_medians']:.2f} | {e['goal']} {verdict} | {e['difference']:.0e} |")
    return "\n".join(lines)


def start(parser: argparse.ArgumentParser, rows: str, seconds: float, rounds: int) -> tuple[argparse.Namespace, Built, ctypes.CDLL]:
    """Reads the arguments that all of these benches have besides the parser's own, opens the built library and pins this process."""
    parser.add_argument("--build", type=Path, default=BENCH.parent / "build")
    parser.add_argument("--filter", default="", help=f"{rows} whose name holds this")
    parser.add_argument("--seconds", type=float, default=seconds, help="of timing for each side of a row")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--cpus")
    options = parser.parse_args()
    built = Built(options.build.resolve())
    options.both = choose_cpus(options.cpus, 2)
    os.sched_setaffinity(0, options.both[:1])
    return options, built, open_library(built)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=os.environ.get("RNNPACK_MODELS_DIR"), help="folder of the networks (default: RNNPACK_MODELS_DIR)")
    parser.add_argument("--output", type=Path, help="results file (default <build>/bench-networks.json)")
    options, built, library = start(parser, "networks", 1.0, 5)
    entries, made = [], tempfile.TemporaryDirectory()
    for network in NETWORKS:
        folder = BENCH.parent / "models" if network.own else options.models
        path = Path(folder) / network.file if folder else None
        if options.filter not in network.name:
            continue
        if not network.file:
            path = Path(made.name) / "made.onnx"
            write_aecmos_form(path)
        if path is None or not path.exists():
            entries.append({"network": network.name, "steps": network.steps, "goal": network.goal, "reason": "not in RNNPACK_MODELS_DIR"})
            continue
        for steps in [1] * (network.file != "") + [network.steps] * (network.steps > 0):
            entries.append(measure(network, steps, path, library, built, options))
            print(f"bench: {network.name}, {steps} steps: {entries[-1].get('ratio') or entries[-1].get('wrong') or entries[-1].get('reason')}",
                  file=sys.stderr, flush=True)
    output = options.output or options.build.resolve() / "bench-networks.json"
    output.write_text(json.dumps({"onnxruntime": ort.__version__, "networks": entries}, indent=1) + "\n")
    print(table(entries))
    return 1 if any("wrong" in entry for entry in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
