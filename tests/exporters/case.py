"""What the two exporting programs share: a folder of cases, each an ONNX file with inputs to run it on and what the framework gave.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib

import numpy as np
import onnx


def bytes_saturate():
    """Whether sums of onnxruntime's byte products saturate: on x86 without VNNI, but for weights of 7 bits (its reduce_range)."""
    cpu = pathlib.Path("/proc/cpuinfo")
    flags = cpu.read_text() if cpu.exists() else ""
    return "sse2" in flags and "vnni" not in flags


class Folder:
    """Cases NAME.onnx, NAME.tflite or NAME.nam, NAME.npz (inputs by the names of the ONNX file; outputs as out0, out1...) and one cases.json."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.cases = []

    def model_path(self, name):
        return self.path / f"{name}.onnx"

    def add(self, name, kind, exporter, inputs, outputs):
        model = onnx.load(self.model_path(name), load_external_data=False)
        constants = {c.name for c in model.graph.initializer}
        names = [i.name for i in model.graph.input if i.name not in constants]
        assert len(names) <= len(inputs), f"{name}: {names} of {len(inputs)} inputs"
        self.add_named(name, kind, exporter, dict(zip(names, inputs)), outputs)

    def add_named(self, name, kind, exporter, arrays, outputs):
        arrays = dict(arrays)
        arrays.update({f"out{i}": np.asarray(value) for i, value in enumerate(outputs)})
        np.savez(self.path / f"{name}.npz", **arrays)
        self.cases.append({"name": name, "kind": kind, "exporter": exporter})

    def options(self, flags=(), quantised=False):
        """Of the case that was added last: what a user gives, and whether its weights are integers."""
        self.cases[-1].update({"flags": list(flags), "quantised": quantised})

    def failed(self, name, kind, exporter, error):
        text = str(error).strip().splitlines() or [type(error).__name__]
        self.cases.append({"name": name, "kind": kind, "exporter": exporter, "not_exported": text[0][:160]})

    def refused(self, name, kind, exporter, error):
        """By the package, which reads the framework's own files."""
        self.cases.append({"name": name, "kind": kind, "exporter": exporter, "refused": str(error)})

    def close(self):
        (self.path / "cases.json").write_text(json.dumps(self.cases, indent=1))
