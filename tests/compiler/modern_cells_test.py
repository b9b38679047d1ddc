"""Recurrent modern recurrent cells, as steps with --state and as whole sequences, in one direction and in both, beside the f64 evaluation, and onnxruntime where it is there.

modern_cells_test.py rnnpack [--table bench/results/networks.md]: writes the table of the page. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
from cli_support import Tool
from modern_cells import CELLS, FEATURES, ROWS, sequence_model, step_model, two_way_model

STEPS = 9
TOLERANCE = 1e-5
BEGIN, END = "<!-- cells: begin -->", "<!-- cells: end -->"
# Cells that a layer gives; all others run as the operators that they are written in.
LAYERS = {"LSTM, written out", "LSTM with layer norm", "GRU, written out", "GRU, a matrix for each gate"}


def compiled(tool, folder, name, model, states):
    path, blob = folder / f"{name}.onnx", folder / f"{name}.rnnp"
    onnx.save(model, str(path))
    flags = [word for i in range(states) for word in ("--state", f"state{i}=next{i}")]
    tool("compile", path, "-o", blob, *flags)
    text = tool("inspect", blob).stdout
    tool("verify", path, blob, "--steps", STEPS, "--batch", ROWS, "--tolerance", TOLERANCE, *flags)
    return path, blob, text


def run(tool, folder, blob, x, y):
    np.save(folder / "x.npy", x)
    tool("run", blob, "--input", f"{'X' if y == 'Y' else 'x'}={folder / 'x.npy'}", "--output", f"{y}={folder / 'y.npy'}")
    return np.load(folder / "y.npy")


def by_steps(session, x, shapes):
    """The step graph called once for each step."""
    states = {f"state{i}": np.zeros((ROWS, *shape), np.float32) for i, shape in enumerate(shapes)}
    out = []
    for each in x:
        y, *after = session.run(None, {"x": each, **states})
        states = {f"state{i}": value for i, value in enumerate(after)}
        out.append(y)
    return np.stack(out)


def against_onnxruntime(paths, x, shapes, got):
    try:
        import onnxruntime
    except ImportError:
        return
    sessions = [onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]) for path in paths]
    expected = by_steps(sessions[0], x, shapes), sessions[1].run(["Y"], {"X": x})[0]
    for ours, theirs in zip(got, expected):
        worst = np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs)))
        assert worst <= TOLERANCE, f"differs by {worst} from onnxruntime"


def check(tool, folder, index, cell):
    name, _, shapes = cell
    step, blob, text = compiled(tool, folder, f"step{index}", step_model(cell, index), len(shapes))
    sequence, whole, whole_text = compiled(tool, folder, f"sequence{index}", sequence_model(cell, index), 0)
    x = np.random.default_rng(index).normal(0, 1, (STEPS, ROWS, FEATURES)).astype(np.float32)
    got = run(tool, folder, blob, x, "y"), run(tool, folder, whole, x, "Y")
    assert np.max(np.abs(got[0] - got[1])) <= TOLERANCE, "the steps are not the sequence"
    against_onnxruntime([step, sequence], x, shapes, got)
    _, both, both_text = compiled(tool, folder, f"both{index}", two_way_model(cell, index), 0)
    ways = run(tool, folder, both, x, "Y")
    assert np.max(np.abs(ways[..., :got[1].shape[-1]] - got[1])) <= TOLERANCE, "the first half of both directions is not the forward one"
    assert "not causal" in both_text
    nodes = [re.findall(r"^  (\w+) ", each.split("\nnodes:")[1], re.M) for each in (text, whole_text)]
    for each in nodes:
        layer = each == ["recurrent"]
        assert layer == (name in LAYERS), f"a layer: {layer}"
    return f"| {name} | {' and '.join('x'.join(map(str, shape)) for shape in shapes)} | {' | '.join('a layer' if layer else str(len(each)) for each in nodes)} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--table", type=pathlib.Path)
    args = parser.parse_args()
    rows, failures = [], 0
    with tempfile.TemporaryDirectory() as work:
        for index, cell in enumerate(CELLS):
            try:
                rows.append(check(Tool(args.tool), pathlib.Path(work), index, cell))
            except AssertionError as error:
                failures += 1
                print(f"{cell[0]}: {error}")
    print("\n".join(rows))
    if args.table and failures == 0:
        page = args.table.read_text()
        head = "| cell | states | nodes of a step | nodes as a sequence |\n|---|---|---|---|\n"
        before, rest = page.split(BEGIN)
        args.table.write_text(before + BEGIN + "\n\n" + head + "\n".join(rows) + "\n\n" + END + rest.split(END)[1])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
