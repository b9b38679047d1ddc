#!/usr/bin/env python3
"""Layers of low precision, of blocks and of single weights beside the same layer in f32, beside ONNX Runtime in f32, and beside the int8 of
ONNX Runtime, oneDNN and ncnn, one thread; int8 on two as well. Layers of Deep Speech 2 (20 rows) beside PyTorch in f32 and bf16, too, whose
bf16 LSTM is oneDNN's.

One row where none are named, weights drawn at random. Every side runs in this process, its outputs are compared first (signal over error,
beside the same layer in f32), then all take turns. ONNX Runtime's int8 is quantize_dynamic of the same file: it has that for LSTM alone; oneDNN and ncnn
quantise the same weights (low_precision_peers.py), and each has one form of GRU. `step`: a call is one step and goes on from the last;
`sequence`: a call is 100 steps from zeros. Exit status 1 when an output of ours is wrong; a peer's that is far off is not timed.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import ctypes
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Callable

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from low_precision_peers import Ncnn, OneDnn, Torch
from networks import Ours, Peer, start
from suite.locate import Built, machine_name

GATES = {"LSTM": 4, "GRU": 3}
SEQUENCE = 100
# Flags of the compiler, and what the signal must be over the error at least, in dB.
TYPES: dict[str, tuple[list[str], float]] = {
    "f32": (["--sparse", "off"], 100),
    "f16": (["--weights", "f16", "--sparse", "off"], 50),
    "bf16": (["--weights", "bf16", "--sparse", "off"], 35),
    "bf16 products": (["--weights", "bf16", "--arithmetic", "bf16", "--sparse", "off"], 30),
    "int8": (["--weights", "int8", "--sparse", "off"], 20),
    "int4": (["--weights", "int4", "--sparse", "off"], 8),
    "int8, 2 threads": (["--weights", "int8", "--sparse", "off"], 20),
    "f32 blocks": (["--sparse", "blocks"], 100),
    "bf16 blocks": (["--weights", "bf16", "--sparse", "blocks"], 35),
    "int8 blocks": (["--weights", "int8", "--sparse", "blocks"], 20),
    "f32 pairs": (["--sparse", "pairs"], 100),
    "int8 pairs": (["--weights", "int8", "--sparse", "pairs"], 20),
}
DENSE = ("f32", "f16", "bf16", "bf16 products", "int8", "int4", "int8, 2 threads")
BATCH = ("f32", "bf16", "bf16 products", "int8")
BLOCKS = ("f32", "int8", "f32 blocks", "bf16 blocks", "int8 blocks")
PAIRS = ("f32", "int8", "f32 pairs", "int8 pairs")
INT8 = ("f32", "int8")
PEERS = ("onnxruntime", "onnxruntime int8")
INT8_PEERS = ("onnxruntime int8", "oneDNN int8", "ncnn int8")
BATCH_PEERS = ("PyTorch", "PyTorch bf16")
LEAST_OF_PEERS = 15  # dB


@dataclass(frozen=True)
class Row:
    cell: str
    hidden: int
    steps: int
    blocks: str = ""  # which of R is not zero
    resets_first: bool = False  # linear_before_reset 0
    rows: int = 1

    @property
    def name(self) -> str:
        return f"{'step' if self.steps == 1 else 'sequence'} {self.cell} {self.hidden}" + (f", {self.blocks}" if self.blocks else "") + (", resets first" if self.resets_first else "") + (f", {self.steps} steps of {self.rows} rows" if self.rows > 1 else "")

    @property
    def types(self) -> tuple[str, ...]:
        return PAIRS if self.blocks == SINGLE else BLOCKS if self.blocks else INT8 if self.resets_first else BATCH if self.rows > 1 else DENSE


TENTH, DIAGONAL, SCATTERED, SINGLE = "a tenth in 16x4", "16 diagonal blocks", "4.94 % in 4x4", "a tenth one by one"
DEEP_SPEECH_2 = Row("LSTM", 800, 60, rows=20)
ROWS = (
    Row("LSTM", 256, 1), Row("GRU", 256, 1),
    *(Row("LSTM", hidden, SEQUENCE) for hidden in (64, 256, 512, 1024)),
    *(Row("GRU", hidden, SEQUENCE) for hidden in (64, 256, 512, 1024)),
    Row("LSTM", 512, SEQUENCE, TENTH), Row("GRU", 1024, SEQUENCE, TENTH),
    Row("GRU", 1024, SEQUENCE, DIAGONAL), Row("GRU", 1024, SEQUENCE, SCATTERED),
    Row("LSTM", 512, SEQUENCE, SINGLE), Row("LSTM", 1024, SEQUENCE, SINGLE),
    DEEP_SPEECH_2, Row("GRU", 800, 60, rows=20),
    Row("GRU", 256, 1, resets_first=True), *(Row("GRU", hidden, SEQUENCE, resets_first=True) for hidden in (64, 256, 512, 1024)),
)
# Row, ours, of whom, at most so much of it.
GOALS = (
    ("step LSTM 256", "int8", "onnxruntime int8", 0.14), ("step LSTM 256", "int8", "onnxruntime", 0.1),
    ("sequence LSTM 1024", "int8, 2 threads", "onnxruntime int8", 0.2), ("sequence LSTM 64", "int8", "onnxruntime int8", 0.35), ("sequence LSTM 256", "int8", "onnxruntime int8", 0.4),
    ("sequence LSTM 1024", "int8", "onnxruntime int8", 0.75), ("sequence LSTM 1024", "int4", "onnxruntime int8", 0.45),
    *((f"sequence GRU {hidden}", "int8", "ncnn int8", 0.5) for hidden in (64, 256, 512, 1024)),
    *((f"sequence GRU {hidden}, resets first", "int8", "oneDNN int8", 0.5) for hidden in (64, 256, 512, 1024)),
    (DEEP_SPEECH_2.name, "int8", "onnxruntime", 0.12), (DEEP_SPEECH_2.name, "bf16 products", "onnxruntime", 0.3),
    (DEEP_SPEECH_2.name, "bf16 products", "PyTorch bf16", 1.0),
    *((f"sequence {cell} {hidden}", "bf16 products", "bf16", 1.0) for cell in GATES for hidden in (64, 256, 512, 1024)),
    *((f"sequence {cell} {hidden}", kind, "f32", 0.55) for cell in GATES for hidden in (256, 512, 1024) for kind in ("f16", "bf16")),
    *((f"sequence {layer}, {TENTH}", kind, "f32", goal) for layer in ("LSTM 512", "GRU 1024")
      for kind, goal in (("f32 blocks", 1 / 8), ("int8 blocks", 1 / 60))),
)


def mask_of(row: Row, random: np.random.Generator) -> np.ndarray:
    """Of R, [gates * hidden, hidden]."""
    rows, k = GATES[row.cell] * row.hidden, row.hidden
    if not row.blocks:
        return np.ones((rows, k), bool)
    if row.blocks == DIAGONAL:
        block = np.arange(k) * 16 // k
        return np.tile(block[:, None] == block[None, :], (GATES[row.cell], 1))
    if row.blocks == SINGLE:
        return random.random((rows, k)) < 0.1
    height, part = (16, 0.1) if row.blocks == TENTH else (4, 0.0494)
    return np.kron(random.random((rows // height, k // 4)) < part, np.ones((height, 4), bool))


def write_model(row: Row, path: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """x, and the layer's weights."""
    random = np.random.default_rng(row.hidden)
    gates, hidden, inputs = GATES[row.cell], row.hidden, 8 if row.blocks else row.hidden
    mask = mask_of(row, random)
    size = 1 / np.sqrt(hidden * mask.mean())
    draw = lambda *shape, at=1 / np.sqrt(hidden): random.uniform(-at, at, shape).astype(np.float32)  # noqa: E731
    tensors = {"W": draw(1, gates * hidden, inputs), "R": (draw(gates * hidden, hidden, at=size) * mask)[None], "B": draw(1, 2 * gates * hidden)}
    form = {"linear_before_reset": int(not row.resets_first)} if row.cell == "GRU" else {}
    graph = helper.make_graph(
        [helper.make_node(row.cell, ["x", "W", "R", "B"], ["y"], hidden_size=hidden, **form)], row.name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", row.rows, inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["T", 1, row.rows, hidden])],
        [numpy_helper.from_array(value, name) for name, value in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return random.uniform(-1, 1, (row.steps, row.rows, inputs)).astype(np.float32), tensors


def decibels(got: np.ndarray, want: np.ndarray) -> float:
    error = float(((got - want) ** 2).sum())
    return 200.0 if error == 0 else min(200.0, 10 * np.log10(float((want**2).sum()) / error))


@dataclass(frozen=True)
class Job:
    """A model, what it is run on, and the types it is compiled in."""

    name: str
    path: Path
    arrays: dict[str, np.ndarray]
    output: str  # that is compared
    steps: int
    types: dict[str, tuple[list[str], float]]
    dynamic: bool = False  # ONNX Runtime has an int8 of it
    peers: dict[str, Callable[[Path], Any]] = field(default_factory=dict)  # others' low precision of it
    rows: int = 1


def job_of(row: Row, folder: Path) -> Job:
    path = folder / "model.onnx"
    types = {name: TYPES[name] for name in row.types}
    x, weights = write_model(row, path)
    peers: dict[str, Callable[[Path], Any]] = {}
    if row.resets_first:
        peers["oneDNN int8"] = lambda _: OneDnn(weights, x)
    if row.rows > 1:
        peers.update({"PyTorch": lambda _: Torch(row.cell, weights, x, "float32"), "PyTorch bf16": lambda _: Torch(row.cell, weights, x, "bfloat16")})
    elif not row.blocks and not row.resets_first:
        peers["ncnn int8"] = lambda folder: Ncnn(row.cell, weights, x, folder)
    return Job(row.name, path, {"x": x}, "y", row.steps, types, row.cell == "LSTM" and not row.blocks, peers, row.rows)


# Types of a frame of RNNoise 0.2, whose file has the authors' int8.
FRAME: dict[str, tuple[list[str], float]] = {
    "f32": (["--weights", "f32"], 80), "int8": ([], 25), "int4": (["--weights", "int4"], 8), "int8, 2 threads": ([], 25),
}


def frame_of(folder: Path) -> Job:
    random = np.random.default_rng(5)
    return Job("RNNoise 0.2, a frame", folder / "rnnoise_0_2" / "rnnoise_0_2_qdq.onnx",
               {"features": random.uniform(-1, 1, (1, 1, 65)).astype(np.float32)}, "gains", 1, FRAME)


class Sides:
    """Everyone who runs a job."""

    def __init__(self, job: Job, folder: Path, built: Built, library: ctypes.CDLL, cpus: list[int]) -> None:
        self.run: dict[str, Any] = {}
        self.blob_bytes: dict[str, int] = {}
        for name, (flags, _) in job.types.items():
            blob = folder / f"{name.replace(' ', '_')}.rnnp"
            threads = 2 if name.endswith("2 threads") else 1
            subprocess.run([built.tool, "compile", job.path, "-o", blob, *flags], check=True, capture_output=True)
            self.blob_bytes[name] = blob.stat().st_size
            self.run[name] = Ours(library, built.tool, blob, job.arrays, job.steps, cpus[:threads], rows=job.rows)
            self.run[name].run()
        self.run["onnxruntime"] = Peer(job.path, job.arrays)
        if job.dynamic:
            logging.getLogger().setLevel(logging.ERROR)  # it proposes a pre-processing that changes nothing here
            quantised = folder / "int8.onnx"
            quantize_dynamic(job.path, quantised, op_types_to_quantize=["LSTM"], weight_type=QuantType.QInt8)
            self.run["onnxruntime int8"] = Peer(quantised, job.arrays)
        for name, make in job.peers.items():
            try:
                self.run[name] = make(folder)
            except (RuntimeError, OSError, ImportError) as missing:
                print(f"bench: {job.name}: no {name}: {missing}", file=sys.stderr)
        self._ours = tuple(job.types)
        want = self._output("onnxruntime", job.output)
        self.decibels = {name: decibels(self._output(name, job.output), want) for name in self.run}
        for name in (*INT8_PEERS, *BATCH_PEERS):
            if self.decibels.get(name, LEAST_OF_PEERS) < LEAST_OF_PEERS:
                print(f"bench: {job.name}: {name} is off, {self.decibels[name]:.1f} dB", file=sys.stderr)
                del self.run[name]

    def _output(self, name: str, output: str) -> np.ndarray:
        found = self.run[name].outputs[output]
        return np.asarray(found[0] if name in self._ours else found).ravel().astype(np.float64)

    def take_turns(self, rounds: int, seconds: float) -> dict[str, np.ndarray]:
        taken: dict[str, list[np.ndarray]] = {name: [] for name in self.run}
        calls = dict.fromkeys(self.run, 0)
        for number in range(rounds + 1):
            for name, side in self.run.items():
                time.sleep(0.001)
                ns, calls[name] = side.time(seconds / rounds if number else 0.01, calls[name])
                if number:
                    taken[name].append(ns / 1e3)
        return {name: np.concatenate(samples) for name, samples in taken.items()}

    def close(self) -> None:
        for name, side in self.run.items():
            if name in self._ours:
                side.close()


def measure(make_job: Callable[[Path], Job], built: Built, library: ctypes.CDLL, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        job = make_job(Path(folder))
        entry: dict[str, Any] = {"row": job.name, "sides": {}}
        sides = Sides(job, Path(folder), built, library, options.both)
        wrong = [name for name, (_, least) in job.types.items() if sides.decibels[name] < least]
        if wrong:
            entry["wrong"] = ", ".join(f"{name} {sides.decibels[name]:.1f} dB" for name in wrong)
        else:
            for name, us in sides.take_turns(options.rounds, options.seconds).items():
                entry["sides"][name] = {"min_us": float(us.min()) / job.steps, "median_us": float(np.median(us)) / job.steps,
                                        "decibels": sides.decibels[name], "blob_bytes": sides.blob_bytes.get(name)}
        sides.close()
    print(f"bench: {job.name} {entry.get('wrong', '')}", file=sys.stderr, flush=True)
    return entry


def microseconds(us: float) -> str:
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def table(entries: list[dict[str, Any]], columns: tuple[str, ...]) -> list[str]:
    if not entries:
        return []
    lines = ["| us a step, least (median) | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for e in entries:
        cells = []
        for name in columns:
            side = e["sides"].get(name)
            cells.append(f"{microseconds(side['min_us'])} ({microseconds(side['median_us'])})" if side else "-")
        lines.append(f"| {e['row']} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def goals(entries: list[dict[str, Any]]) -> list[str]:
    lines = ["| row | ours | of | ratio | of medians | goal |", "|---|---|---|---:|---:|---|"]
    by_name = {e["row"]: e["sides"] for e in entries}
    for name, ours, of, goal in GOALS:
        sides = by_name.get(name, {})
        if ours not in sides or of not in sides:
            continue
        ratio, medians = (sides[ours][key] / sides[of][key] for key in ("min_us", "median_us"))
        lines.append(f"| {name} | {ours} | {of} | {ratio:.3f} | {medians:.3f} | {goal:.3g} {'met' if ratio <= goal else 'missed'} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="results file (default <build>/bench-low-precision.json)")
    parser.add_argument("--models", type=Path, default=os.environ.get("RNNPACK_MODELS_LP_DIR"), help="folder of rnnoise_0_2 (default: RNNPACK_MODELS_LP_DIR)")
    options, built, library = start(parser, "rows", 1.0, 10)
    os.environ.setdefault("RNNPACK_BENCH_LIBRARIES", str(built.libraries))
    entries = [measure(partial(job_of, row), built, library, options) for row in ROWS if options.filter in row.name]
    frames = []
    if options.models and options.filter in "RNNoise":
        frames.append(measure(lambda _: frame_of(options.models), built, library, options))
    output = options.output or options.build.resolve() / "bench-low-precision.json"
    document = {"machine": machine_name(), "onnxruntime": ort.__version__, "rows": [*entries, *frames]}
    output.write_text(json.dumps(document, indent=1) + "\n")
    dense = [e for e in entries if "f16" in e["sides"]]
    batch = [e for e in entries if "rows" in e["row"]]
    print("\n".join([machine_name(), "", *table(dense, (*DENSE, *PEERS)),
                     *table(batch, (*BATCH, *PEERS, *BATCH_PEERS)),
                     *table([e for e in entries if e not in batch and any(peer in e["sides"] for peer in INT8_PEERS)], ("int8", *INT8_PEERS)),
                     *table([e for e in entries if "f32 blocks" in e["sides"]], (*BLOCKS, PEERS[0])),
                     *table([e for e in entries if "f32 pairs" in e["sides"]], (*PAIRS, PEERS[0])),
                     *table([e for e in frames if e["sides"]], (*FRAME, PEERS[0])), *goals(entries)]))
    return 1 if any("wrong" in e for e in [*entries, *frames]) else 0


if __name__ == "__main__":
    sys.exit(main())
