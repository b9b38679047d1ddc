#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""edgemark.py BUILD TOOLS -- EdgeMark's LSTM and GRU (32 inputs, 64 units, a dense layer of 32 at each of 100 steps) beside what it
publishes of TensorFlow Lite Micro on a Cortex-M4F at 120 MHz: the table of bench/results/edgemark.md.

BUILD is a build folder of the board (-DRNNPACK_FIRMWARE=ON) that has the library, TOOLS the building machine's (make build). Weights
are random: neither time nor bytes depend on them. Instructions are QEMU's; a time is instructions times the cycles an instruction of
src/compiler/inspect/device_costs.inc, from llvm-mca's model of the core, without wait states of the flash.
It fails where int8 takes more than a tenth of what is published.
Published: https://aminhasanpour.github.io/EdgeMark/results/RNN_LSTM_GRU
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from count_model import facts_of

STEPS, MHZ, HERE = 100, 120, pathlib.Path(__file__).resolve().parent
# Of TensorFlow Lite Micro: parameters, then ms, kB of flash, kB of RAM, in f32 and in int8.
PUBLISHED = {"lstm": (26912, (362.2, 473.0, 268.7), (565.4, 769.8, 258.4)), "gru": (20896, (276.7, 497.0, 298.7), (374.4, 809.8, 295.4))}
FORMS = {"f32": [], "int8": ["--weights", "int8"], "integer-only": ["--arithmetic", "integer"]}


def cycles_per_instruction(cpu):
    text = (HERE.parents[1] / "src/compiler/inspect/device_costs.inc").read_text()
    return float(re.search(rf'RNNPACK_DEVICE\(\w+, "{cpu}", \d+, ([0-9.]+)\)', text).group(1))


def measure(build, tools, cell, form, folder):
    model, data = folder / f"{cell}.onnx", folder / "x.npy"
    subprocess.run([tools / "firmware/tools/write_layer_onnx", cell, "dense", "64", model, data], check=True)
    options = FORMS[form] + (["--calibrate", str(data)] if FORMS[form] else [])
    kit, facts = facts_of(build, tools, model, options)
    ms = facts["instructions"] * STEPS * cycles_per_instruction(kit["cpu"].removesuffix("f")) / (MHZ * 1000)
    flash = facts["blob"] + facts["code"] + facts["constants"]
    ram = facts["session"] + 256 + facts["writable"] + facts["stack"]
    return ms, flash / 1024, ram / 1024, facts["instructions"] / facts["macs"]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    build, tools = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    print("| network | weights | ms | of TFLM's | flash, kB | of TFLM's | RAM and stack, kB | of TFLM's | instructions a multiply-add |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    too_much = []
    with tempfile.TemporaryDirectory() as name:
        for cell, (parameters, *published) in PUBLISHED.items():
            for form in FORMS:
                *ours, per_mac = measure(build, tools, cell, form, pathlib.Path(name))
                theirs = published[form != "f32"]
                cells = " | ".join(f"{value:.1f} | {value / of:.3f}" for value, of in zip(ours, theirs))
                print(f"| {cell.upper()}, {parameters} parameters | {form} | {cells} | {per_mac:.2f} |", flush=True)
                too_much += [f"{cell} {form}: {value:.1f} of {of}" for value, of in zip(ours, theirs) if form == "int8" and value > of / 10]
    return "\n".join(too_much) or None


if __name__ == "__main__":
    sys.exit(main())
