#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_device_costs.py BUILD TOOLS SOURCE [--check] -- what dense and recurrent layers cost on a board, fitted to what QEMU counts of many
small networks: the rows of src/compiler/inspect/device_costs.inc. --check: instead, how far `rnnpack inspect --target`, which reads them, is
from what QEMU counts of other networks; fails above the error that firmware/README.md states.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from count_model import facts_of

CHECK = "--check" in sys.argv
BUILD, TOOLS, SOURCE = (pathlib.Path(path).resolve() for path in [a for a in sys.argv[1:] if a != "--check"][:3])
sys.path.insert(0, str(SOURCE / "tests" / "compiler"))
from cli_support import save_onnx  # noqa: E402

CELLS = {"lstm": ("LSTM", 4, {}), "gru_linear": ("GRU", 3, {"linear_before_reset": 1}), "gru": ("GRU", 3, {}), "rnn": ("RNN", 1, {})}
ACTS = ("Relu", "Sigmoid", "Tanh")
TYPES = {"f32": (), "int8": ("--weights", "int8")}
MOST_ERROR = {("instructions", "f32"): 0.04, ("instructions", "int8"): 0.06, ("library", "f32"): 0.03, ("library", "int8"): 0.03}  # firmware/README.md
MOST_ERROR_M55 = {("instructions", "int8"): 0.11}

# A network: layers, each ("dense", inputs, outputs, activation or None) or (cell, inputs, units).
FITTED = ([[("dense", i, o, a)] for i, o in ((16, 16), (64, 64), (256, 96), (100, 8), (32, 200)) for a in (None, *ACTS)] +
          [[(cell, i, h)] for cell in CELLS for i, h in ((16, 16), (32, 32), (64, 64), (40, 24), (24, 80), (128, 48), (13, 20), (4, 36), (30, 50))] +
          [[("dense", i, o, "Relu")] for i, o in ((30, 40), (12, 64), (75, 30), (257, 16), (22, 100), (9, 6))] +
          [[("dense", 40, 48, "Relu"), (cell, 48, 32), ("dense", 32, 4, "Sigmoid")] for cell in CELLS])
OTHERS = ([[("dense", 257, 64, "Tanh"), ("gru_linear", 64, 64), ("gru_linear", 64, 64), ("dense", 64, 257, "Sigmoid")],
           [("lstm", 40, 64), ("lstm", 64, 64), ("dense", 64, 12, None)], [("dense", 64, 96, "Relu"), ("rnn", 96, 96), ("dense", 96, 1, "Sigmoid")],
           [("gru", 20, 48), ("dense", 48, 2, None)], [("dense", 30, 30, "Relu"), ("dense", 30, 30, "Relu"), ("dense", 30, 3, None)], [("lstm", 4, 20)]])


def write(path, network):
    random = np.random.default_rng(7)
    weights = lambda *shape: random.uniform(-0.2, 0.2, shape).astype(np.float32)
    nodes, constants, value = [], {"one": np.array([1])}, "x"
    for n, (kind, i, o, *act) in enumerate(network):
        out = f"v{n}"
        if kind == "dense":
            constants.update({f"M{n}": weights(i, o), f"b{n}": weights(o)})
            nodes += [("MatMul", [value, f"M{n}"], [f"m{n}"], {}), ("Add", [f"m{n}", f"b{n}"], [out if act[0] is None else f"a{n}"], {})]
            nodes += [] if act[0] is None else [(act[0], [f"a{n}"], [out], {})]
        else:
            op, gates, attributes = CELLS[kind]
            constants.update({f"W{n}": weights(1, gates * o, i), f"R{n}": weights(1, gates * o, o)})
            nodes += [(op, [value, f"W{n}", f"R{n}"], [f"Y{n}"], {"hidden_size": o, **attributes}), ("Squeeze", [f"Y{n}", "one"], [out], {})]
        value = out
    return save_onnx(path, nodes, {"x": ["T", 1, network[0][1]]}, [value], constants, opset=17)


def count(network, kind):
    """Instructions of a step, bytes of the library, bound on the stack; and what inspect says."""
    with tempfile.TemporaryDirectory() as folder:
        model, blob = write(pathlib.Path(folder) / "net.onnx", network), pathlib.Path(folder) / "net.rnnp"
        kit, f = facts_of(BUILD, TOOLS, model, TYPES[kind])
        said = None
        if CHECK:
            tool = TOOLS / "src/compiler/rnnpack"
            subprocess.run([tool, "compile", model, "--target", kit["target"], *TYPES[kind], "-o", blob], check=True, capture_output=True)
            target = kit["cpu"].replace("m4f", "m4")
            said = json.loads(subprocess.run([tool, "inspect", blob, "--target", target, "--json"], check=True, capture_output=True).stdout)["device"]
        return f["instructions"], f["code"] + f["constants"], f["bound"], f["session"], said


def padded(n):
    return (n + 3) // 4 * 4


# The sums that inspect makes (src/compiler/inspect/device_estimate.cpp), in the order of a row's numbers.
def work_of(network):
    row = dict.fromkeys(["step", "dense", "dense_mac", "dense_output", "dense_k", *ACTS, "layer", "layer_mac", "layer_k", "odd4", "odd4_output",
                         "odd8_output", *CELLS], 0.0)
    row["step"] = 1

    def product(k, outputs):
        """Rows that whole registers do not hold."""
        row["odd4"] += k % 4 != 0
        row["odd4_output"] += outputs * (k % 4 != 0)
        row["odd8_output"] += outputs * (k % 8 != 0)

    for kind, i, o, *act in network:
        if kind == "dense":
            row["dense"] += 1
            row["dense_mac"] += i * padded(o)
            row["dense_output"] += padded(o)
            row["dense_k"] += i
            product(i, padded(o))
            if act[0]:
                row[act[0]] += o
        else:
            row["layer"] += 1
            row["layer_mac"] += CELLS[kind][1] * padded(o) * (i + o)
            row["layer_k"] += i + o
            product(i, CELLS[kind][1] * padded(o))
            product(o, CELLS[kind][1] * padded(o))
            row[kind] += padded(o)
    return row


def code_of(network):
    kinds = {layer[0] for layer in network}
    return {"runtime": 1, "dense": float("dense" in kinds), "layer": float(bool(kinds & set(CELLS))), **{c: float(c in kinds) for c in CELLS},
            "act": float(any(layer[0] == "dense" and layer[3] for layer in network))}


def fit(rows, values):
    names = list(rows[0])
    a, b = np.array([list(row.values()) for row in rows]), np.array(values, float)
    scale = 1 / b
    x = np.linalg.lstsq(a * scale[:, None], np.ones_like(b), rcond=None)[0]
    error = np.abs(a @ x / b - 1)
    return dict(zip(names, x)), error.max()


def all_counts(networks, kind):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda network: count(network, kind), networks))


def print_rows():
    cpu = json.loads((BUILD / "firmware" / "image_kit.json").read_text())["cpu"].replace("-", "_").replace("m4f", "m4")
    stack = 0
    for kind in TYPES:
        counts = all_counts(FITTED, kind)
        work, error = fit([work_of(n) for n in FITTED], [c[0] for c in counts])
        code, code_error = fit([code_of(n) for n in FITTED], [c[1] for c in counts])
        stack = max([stack] + [c[2] for c in counts])
        print(f"// fitted within {100 * error:.1f} % and, bytes, {100 * code_error:.1f} %")
        print(f"RNNPACK_DEVICE_WORK({cpu}, {kind}, {', '.join(f'{v:.4g}' for v in work.values())})")
        print(f"RNNPACK_DEVICE_CODE({cpu}, {kind}, {', '.join(f'{v:.0f}' for v in code.values())})")
    print(f"stack {stack}")


def check():
    worst = dict.fromkeys(MOST_ERROR, 0.0)
    most_error = MOST_ERROR | MOST_ERROR_M55 if "m55" in str(BUILD) else MOST_ERROR
    failed = False
    for kind in TYPES:
        for network, (instructions, library, stack, session, said) in zip(OTHERS, all_counts(OTHERS, kind)):
            errors = {"instructions": said["instructions"] / instructions - 1, "library": said["library_bytes"] / library - 1}
            print(f"{kind} {network}: {instructions:.0f} instructions, said {said['instructions']}; library {library}, said {said['library_bytes']}")
            for name, error in errors.items():
                worst[name, kind] = max(worst[name, kind], abs(error))
            if said["session_bytes"] != session or said["stack_bytes"] < stack:
                failed = True
                print(f"  session {session}, said {said['session_bytes']}; stack {stack}, said {said['stack_bytes']}")
    for name, most in most_error.items():
        print(f"{' of '.join(name)}: off by at most {100 * worst[name]:.1f} %, {100 * most:.0f} % stated")
    return int(failed or any(worst[name] > most for name, most in most_error.items()))


if __name__ == "__main__":
    sys.exit(check() if CHECK else print_rows())
