# SPDX-License-Identifier: Apache-2.0
"""From a trained torch module to the three committed files: model.onnx, golden.npz, and the checks between them.

torch's exporter writes the zero initial state as a chain of shape operators; it is dropped here (ONNX takes an absent
state as zero), so that the graph holds nothing but the network. Golden outputs come from a float64 evaluation.
"""
import copy
import warnings

import numpy as np
import onnx
import onnxruntime
import torch


def drop_zero_states(graph):
    """Removes initial_h and initial_c from the recurrent nodes, then every node whose output nobody reads."""
    for node in graph.node:
        if node.op_type in ("GRU", "LSTM"):
            del node.input[5:]
            while node.input and not node.input[-1]:
                node.input.pop()
    while True:
        used = {name for node in graph.node for name in node.input} | {out.name for out in graph.output}
        for node in graph.node:
            for i, name in enumerate(node.output):
                node.output[i] = name if name in used else ""
            while node.output and not node.output[-1]:
                node.output.pop()
        dead = [node for node in graph.node if not node.output]
        if not dead:
            break
        for node in dead:
            graph.node.remove(node)
    for tensor in [t for t in graph.initializer if t.name not in used]:
        graph.initializer.remove(tensor)


def name_weights(graph):
    """Gives the exporter's numbered constants the name of the layer that reads them."""
    numbered = {t.name: t for t in graph.initializer if t.name.startswith("onnx::")}
    for node in graph.node:
        path, _, last = node.name.strip("/").rpartition("/")
        layer = path.replace("/", ".") + last.removeprefix(node.op_type)
        for slot, name in enumerate(node.input):
            if name in numbered:
                kind = "XWRB"[slot] if node.op_type in ("GRU", "LSTM") else "weight"
                node.input[slot] = numbered[name].name = f"{layer}.{kind}"


def export_onnx(model, path, input_name, output_name, frame):
    """Writes the module as opset 17 with dynamic time and batch; frame is the size of one input row."""
    axes = {0: "time", 1: "batch"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model.eval(), (torch.zeros(4, 2, frame),), str(path), dynamo=False, opset_version=17,
                          input_names=[input_name], output_names=[output_name],
                          dynamic_axes={input_name: axes, output_name: axes})
    proto = onnx.load(str(path))
    drop_zero_states(proto.graph)
    name_weights(proto.graph)
    del proto.graph.value_info[:]
    for node in proto.graph.node:
        node.ClearField("doc_string")
    onnx.checker.check_model(proto, full_check=True)
    onnx.save(proto, str(path))
    return proto


def check_against_torch(model, path, input_name, x, tolerance=1e-5):
    """Largest difference between onnxruntime and torch, for one stream cut at two lengths and for a batch."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    worst = 0.0
    for part in (x, x[:7, :1], x[:1]):
        with torch.no_grad():
            expected = model(torch.from_numpy(part)).numpy()
        worst = max(worst, float(np.abs(session.run(None, {input_name: part})[0] - expected).max()))
    if worst > tolerance:
        raise SystemExit(f"onnxruntime differs from torch by {worst:.2e}")
    return worst


def write_golden(model, path, input_name, output_name, x):
    """Evaluates a float64 copy of the module on x[T][B][F] and stores input and output as float32."""
    with torch.no_grad():
        y = copy.deepcopy(model).double()(torch.from_numpy(x).double()).numpy().astype(np.float32)
    np.savez_compressed(path, **{input_name: x, output_name: y})


def describe(proto):
    """The graph as one line per node, for the README and the log."""
    sizes = {t.name: list(t.dims) for t in proto.graph.initializer}
    for node in proto.graph.node:
        inputs = [f"{name}{sizes.get(name, '')}" for name in node.input]
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute if a.name != "value"}
        yield f"{node.op_type}({', '.join(inputs)}) {attributes or ''} -> {', '.join(node.output)}"
