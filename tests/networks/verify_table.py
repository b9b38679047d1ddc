#!/usr/bin/env python3
"""Compiles the published networks as docs/NETWORKS.md says, all of them checked, and lets `rnnpack verify` judge each: beside the f64 evaluation of its ONNX
file, and chunked into calls.

verify_table.py RNNPACK [--table bench/results/networks.md]      77 where RNNPACK_MODELS_DIR names no folder of them
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

GRUS = ("vad", "noise", "denoise")
NETWORKS = [
    ("DTLN, first", "dtln/model_1.onnx", ["--state", "input_3=tf_op_layer_stack_2"]),
    ("DTLN, second", "dtln/model_2.onnx", ["--state", "input_5=tf_op_layer_stack_5"]),
    ("Silero VAD, 16 kHz", "silero_vad/*.onnx", ["--set", "sr=16000", "--shape", "input=-1,576", "--state", "state=stateN"]),
    ("Silero VAD, 8 kHz", "silero_vad/*.onnx", ["--set", "sr=8000", "--shape", "input=-1,288", "--state", "state=stateN"]),
    ("DeepFilterNet 3, encoder", "deepfilternet3/enc.onnx", []),
    ("DeepFilterNet 3, gains", "deepfilternet3/erb_dec.onnx", []),
    ("DeepFilterNet 3, filters", "deepfilternet3/df_dec.onnx", []),
    ("NSNet2", "nsnet2/nsnet2_rebuilt.onnx", ["--state", "h1=h1n", "--state", "h2=h2n"]),
    ("RNNoise 2019", "rnnoise_2019/model.onnx", [part for g in GRUS for part in ("--state", f"h_{g}_gru=h_{g}_gru_out")]),
    ("NAM amplifier, 1x16", "nam_boss_lstm_1x16/model.onnx", ["initial"]),
    ("NAM amplifier, 2x8", "nam_boss_lstm_2x8/model.onnx", ["initial"]),
    ("NAM core", "namcore_lstm_h3/model.onnx", ["initial"]),
    ("keywords, LSTM", "kws_basic_lstm_s/model.onnx", []),
    ("keywords, GRU", "kws_gru_s/model.onnx", []),
    ("RTNeural", "rtneural_full_model/model.onnx", []),
]


def flags_of(path, flags, work):
    """States that start from numbers which came with the network become part of the blob."""
    if flags != ["initial"]:
        return flags
    given = []
    for name, value in np.load(path.with_name("initial_state.npz")).items():
        np.save(work / f"{name}.npy", value)
        given += ["--set", f"{name}={work / name}.npy"]
    return given


def row(tool, models, name, pattern, flags):
    path = next(iter(sorted(models.glob(pattern))))
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        flags, blob = flags_of(path, flags, work), work / "m.rnnp"
        for command in (["compile", path, "-o", blob], ["verify", path, blob]):
            done = subprocess.run([tool, *map(str, command), *flags], capture_output=True, text=True, timeout=250)
            if done.returncode:
                raise SystemExit(f"{name}: {done.stdout}{done.stderr}")
            if "not checked" in done.stdout + done.stderr:
                raise SystemExit(f"{name}: the check of compile left something out: {done.stdout}{done.stderr}")
    said = done.stdout
    worst = max(float(v) for v in re.findall(r"max relative error (\S+)", said))
    steps = re.search(r"^verified: (\d+ steps?)", said, re.M).group(1)
    cut = "the same bits" if "same bits as one call" in said else "one call"
    return f"| {name} | {steps} | {worst:.1e} | {cut} |"


def main():
    tool, models = sys.argv[1], pathlib.Path(os.environ.get("RNNPACK_MODELS_DIR", ""))
    if not (models / "dtln").is_dir():
        print("skipped: no published networks (RNNPACK_MODELS_DIR)")
        return 77
    rows = [row(tool, models, *network) for network in NETWORKS]
    table = "\n".join(["| network | verified | largest relative error | chunked into calls |", "|---|---|---|---|", *rows])
    print(table)
    if "--table" in sys.argv:
        page = pathlib.Path(sys.argv[sys.argv.index("--table") + 1])
        text = page.read_text()
        page.write_text(re.sub(r"(<!-- verify: begin -->\n).*?(<!-- verify: end -->)", lambda m: f"{m[1]}\n{table}\n\n{m[2]}", text, flags=re.S))
    return 0


if __name__ == "__main__":
    sys.exit(main())
