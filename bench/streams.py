#!/usr/bin/env python3
"""Streams per core: how many independent streams of a network one core serves in real time, and what one stream alone takes.

The networks come from the folder RNNPACK_MODELS_DIR (one that is not there is named and left out) and from the project's models/. Every
call runs one frame of all streams in one session; a frame is the network's own, or a block of samples for networks that work on samples.
Standard library only. SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from suite.locate import Built

PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Network:
    name: str
    file: str
    period_ms: float  # of a call
    flags: tuple[str, ...] = ()
    steps: int = 1  # of a call
    own: bool = False


def states(*pairs: str) -> tuple[str, ...]:
    return tuple(word for pair in pairs for word in ("--state", pair))


RNNOISE = states("h_vad_gru=h_vad_gru_out", "h_noise_gru=h_noise_gru_out", "h_denoise_gru=h_denoise_gru_out")
BLOCK = 48  # samples at 48 kHz: 1 ms
NETWORKS = (
    Network("vad_gru", "vad_gru/model.onnx", 16, own=True),
    Network("kws_lstm", "kws_lstm/model.onnx", 16, own=True),
    Network("RNNoise 2019", "rnnoise_2019/model.onnx", 10, RNNOISE),
    Network("NSNet2", "nsnet2/nsnet2_rebuilt.onnx", 10, states("h1=h1n", "h2=h2n")),
    Network("ML-KWS LSTM S", "kws_basic_lstm_s/model.onnx", 20),
    Network("ML-KWS GRU S", "kws_gru_s/model.onnx", 40),
    Network("NAM LSTM 1x16", "nam_boss_lstm_1x16/model.onnx", 1, states("h0=h0_out", "c0=c0_out"), BLOCK),
    Network("NAM LSTM 2x8", "nam_boss_lstm_2x8/model.onnx", 1, states("h0=h0_out", "c0=c0_out", "h1=h1_out", "c1=c1_out"), BLOCK),
    Network("NAM LSTM 3", "namcore_lstm_h3/model.onnx", 1, states("h0=h0_out", "c0=c0_out"), BLOCK),
    Network("RTNeural full", "rtneural_full_model/model.onnx", 1, (), BLOCK),
    Network("DTLN 1", "dtln/model_1.onnx", 8, states("input_3=tf_op_layer_stack_2")),
    Network("DTLN 2", "dtln/model_2.onnx", 8, states("input_5=tf_op_layer_stack_5")),
    Network("Silero VAD 16 kHz", "silero_vad/silero_vad_16k_op15.onnx", 32,
            ("--set", "sr=16000", "--shape", "input=-1,576", *states("state=stateN"))),
    Network("DeepFilterNet 3 enc", "deepfilternet3/enc.onnx", 10),
    Network("DeepFilterNet 3 erb_dec", "deepfilternet3/erb_dec.onnx", 10),
    Network("DeepFilterNet 3 df_dec", "deepfilternet3/df_dec.onnx", 10),
)


def measured(built: Built, network: Network, folder: Path) -> dict[str, float]:
    root = PROJECT / "models" if network.own else Path(os.environ.get("RNNPACK_MODELS_DIR", ""))
    model = root / network.file
    if not root.name or not model.is_file():
        raise FileNotFoundError(f"{network.file} is not there")
    blob = folder / "model.rnnp"
    subprocess.run([built.tool, "compile", model, "-o", blob, "--stream", str(network.steps), *network.flags], check=True, capture_output=True)
    command = [built.libraries / "rnnpack_streams", blob, str(network.steps), str(round(network.period_ms * 1e6))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="CMake build folder with RNNPACK_BENCH")
    parser.add_argument("--only", default="", help="networks whose name holds this")
    arguments = parser.parse_args()
    built = Built(arguments.build)
    print("| network | frame period | one stream | streams per core | a call of all of them |\n|---|---|---|---|---|")
    absent, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        for network in NETWORKS:
            if arguments.only not in network.name:
                continue
            try:
                row = measured(built, network, Path(folder))
            except FileNotFoundError as error:
                absent.append(str(error))
                continue
            except subprocess.CalledProcessError as error:
                failed.append(f"{network.name}: {error.stderr if isinstance(error.stderr, str) else error.stderr.decode()}")
                continue
            frame = f"{network.period_ms:g} ms" + (f" ({network.steps} steps)" if network.steps > 1 else "")
            print(f"| {network.name} | {frame} | {row['one_ns'] / 1e3:.1f} us | {row['streams']:.0f} | {row['call_ns'] / 1e6:.2f} ms |", flush=True)
    for line in absent + failed:
        print(f"left out: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
