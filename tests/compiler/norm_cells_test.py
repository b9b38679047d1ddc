"""Layer-normalised LSTMs as exporters write them become one layer each, and are near the f64 evaluation of the file.

norm_cells_test.py rnnpack. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from cli_support import Tool
from modern_cells import FEATURES, ROWS, UNITS, Step, model, sequence_model, step_model, tensor
from onnx import TensorProto, helper, numpy_helper

STEPS = 7
SHAPES = [(UNITS,)] * 2


def moments(s, x, width, epsilon):
    """A norm in primitive operators, as tf2onnx and older PyTorch exporters write it."""
    off = s.less(x, s("ReduceMean", x, axes=[-1], keepdims=1))
    deviation = s("Sqrt", s.add(s("ReduceMean", s.mul(off, off), axes=[-1], keepdims=1), s.const(epsilon)))
    return s.add(s.mul(s("Div", off, deviation), s.draw(width, scale=1)), s.draw(width))


def finish(s, i, f, g, o, c, norm, keeps_c=False):
    raw = s.add(s.mul(s.sigmoid(f), c), s.mul(s.sigmoid(i), s("Tanh", g)))
    normed = norm(raw)
    h = s.mul(s.sigmoid(o), s("Tanh", normed))
    return h, [h, raw if keeps_c else normed]


def torch_cell(written_out, bias, keeps_c=False):
    """LayerNormLSTM of PyTorch's benchmarks: norms of W x and R h, over all gates, in the order i f g o."""
    def step(s, x, h, c):
        def norm(v, width):
            return moments(s, v, width, 1e-5) if written_out else s.norm(v, width)

        sums = [norm(s.linear(each, width, 4 * UNITS, bias), 4 * UNITS) for each, width in ((x, FEATURES), (h, UNITS))]
        i, f, g, o = s("Split", s.add(*sums), s.ints(*[UNITS] * 4), outputs=4, axis=1)
        return finish(s, i, f, g, o, c, lambda raw: norm(raw, UNITS), keeps_c)

    return step


def tensorflow_cell(s, x, h, c):
    """LayerNormBasicLSTMCell: one product, in the order i j f o; a norm of each gate; 1 is added to the forget gate."""
    product = s("MatMul", s("Concat", x, h, axis=1), s.draw(FEATURES + UNITS, 4 * UNITS))
    i, j, f, o = (moments(s, gate, UNITS, 1e-12) for gate in s("Split", product, s.ints(*[UNITS] * 4), outputs=4, axis=1))
    return finish(s, i, s.add(f, s.const(1.0)), j, o, c, lambda raw: moments(s, raw, UNITS, 1e-12))


def no_norm_of_c(s, x, h, c):
    """Not of the cell: c is scaled, but has no norm."""
    sums = [s.norm(s.linear(each, width, 4 * UNITS), 4 * UNITS) for each, width in ((x, FEATURES), (h, UNITS))]
    i, f, g, o = s("Split", s.add(*sums), s.ints(*[UNITS] * 4), outputs=4, axis=1)
    return finish(s, i, f, g, o, c, lambda raw: s.mul(raw, s.draw(UNITS)))


CELLS = {
    "torch": torch_cell(False, False), "torch with biases": torch_cell(False, True), "torch in primitives": torch_cell(True, False),
    "torch, c as it is before its norm": torch_cell(False, True, True), "tensorflow": tensorflow_cell,
}


def reversed_model(cell, seed):
    """Scans in both directions, side by side."""
    forwards, backwards = sequence_model(cell, seed), sequence_model(cell, seed + 1)
    nodes, weights = [], []
    for prefix, part in (("a", forwards), ("b", backwards)):
        names = {w.name: prefix + w.name for w in part.graph.initializer}
        scan = part.graph.node[0]
        body = next(a.g for a in scan.attribute if a.name == "body")
        for node in body.node:
            node.input[:] = [names.get(name, name) for name in node.input]
        scan.input[:] = [names.get(name, name) for name in scan.input]
        scan.output[:] = [prefix + name for name in scan.output]
        scan.name = prefix
        if prefix == "b":
            scan.attribute.extend([helper.make_attribute("scan_input_directions", [1]), helper.make_attribute("scan_output_directions", [1])])
        for w in part.graph.initializer:
            w.name = names[w.name]
        nodes.append(scan)
        weights.extend(part.graph.initializer)
    nodes.append(helper.make_node("Concat", ["aY", "bY"], ["Y"], axis=-1))
    return model(helper.make_graph(nodes, "both", list(forwards.graph.input), [tensor("Y")], weights))


def unrolled_model(cell, seed):
    """The step written out for each of the steps, with the same weights."""
    single = step_model(cell, seed).graph
    nodes, states, made = [], ["start0", "start1"], []
    for t in range(STEPS):
        x = f"x{t}"
        nodes.append(helper.make_node("Gather", ["X", f"index{t}"], [x], axis=0))
        names = {"x": x, "state0": states[0], "state1": states[1]}
        for node in single.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [names.get(name, name) for name in node.input]
            for name in node.output:
                names[name] = f"{name}_{t}"
            copy.output[:] = [names[name] for name in node.output]
            nodes.append(copy)
        states = [names["next0"], names["next1"]]
        nodes.append(helper.make_node("Unsqueeze", [names["y"], "zero"], [f"row{t}"]))
        made.append(f"row{t}")
    nodes.append(helper.make_node("Concat", made, ["Y"], axis=0))
    weights = list(single.initializer) + [numpy_helper.from_array(np.array(t), f"index{t}") for t in range(STEPS)]
    weights += [numpy_helper.from_array(np.zeros((ROWS, UNITS), np.float32), f"start{i}") for i in range(2)]
    weights.append(numpy_helper.from_array(np.array([0]), "zero"))
    return model(helper.make_graph(nodes, "unrolled", [tensor("X", [STEPS, ROWS, FEATURES])], [tensor("Y")], weights))


def loop_model(cell, seed):
    """The step in a Loop that reads X at its counter, as TorchScript's exporter writes it."""
    single = step_model(cell, seed).graph
    names = [tensor(f"state{i}", [ROWS, UNITS]) for i in range(2)]
    body = [helper.make_node("Gather", ["X", "t"], ["x"], axis=0), *single.node, helper.make_node("Identity", ["go"], ["goes_on"])]
    flags = [helper.make_tensor_value_info("go", TensorProto.BOOL, []), helper.make_tensor_value_info("goes_on", TensorProto.BOOL, [])]
    graph = helper.make_graph(body, "body", [helper.make_tensor_value_info("t", TensorProto.INT64, []), flags[0], *names],
                              [flags[1], tensor("next0"), tensor("next1"), tensor("y")])
    nodes = [helper.make_node("Shape", ["X"], ["sizes"]), helper.make_node("Gather", ["sizes", "zero"], ["trips"]),
             helper.make_node("Loop", ["trips", "yes", "start0", "start1"], ["last0", "last1", "Y"], name="loop", body=graph)]
    weights = list(single.initializer) + [numpy_helper.from_array(np.zeros((ROWS, UNITS), np.float32), f"start{i}") for i in range(2)]
    weights += [numpy_helper.from_array(np.array(0), "zero"), numpy_helper.from_array(np.array(True), "yes")]
    return model(helper.make_graph(nodes, "looped", [tensor("X", ["steps", ROWS, FEATURES])], [tensor("Y")], weights))


def nodes_of(tool, folder, name, graph, flags, options=()):
    path, blob = folder / f"{name}.onnx", folder / f"{name}.rnnp"
    onnx.save(graph, str(path))
    tool("compile", path, "-o", blob, *flags, *options)
    accuracy = ("--accuracy-min", 25) if options else ("--tolerance", 1e-5)
    text = tool("verify", path, blob, "--steps", STEPS, "--batch", ROWS, *accuracy, *flags).stdout
    assert not options or "the same bits" in text or "exact evaluation of 1 layer" in text, text
    return json.loads(tool("inspect", "--json", blob).stdout)["nodes"]


def are_layers(nodes, count):
    layers = [node["attr"].get("cell") for node in nodes if node["op"] == "recurrent"]
    return layers == ["lstm_norm"] * count


def check(tool, folder, index, name, step):
    cell, states = (name, step, SHAPES), [word for i in range(2) for word in ("--state", f"state{i}=next{i}")]
    for form, graph, flags, count in (("step", step_model(cell, index), states, 1), ("Scan", sequence_model(cell, index), (), 1), ("Loop", loop_model(cell, index), (), 1),
                                      ("two directions", reversed_model(cell, index), (), 2), ("unrolled", unrolled_model(cell, index), (), 1)):
        nodes = nodes_of(tool, folder, f"{form}{index}".replace(" ", ""), graph, flags)
        assert are_layers(nodes, count), f"{name}, {form}: {[node['op'] for node in nodes]}"
    nodes = nodes_of(tool, folder, f"i8{index}", sequence_model(cell, index), (), ("--weights", "int8"))
    assert are_layers(nodes, 1), f"{name}, int8"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    tool = Tool(parser.parse_args().tool)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        for index, (name, step) in enumerate(CELLS.items()):
            check(tool, folder, index, name, step)
        nodes = nodes_of(tool, folder, "other", sequence_model(("", no_norm_of_c, SHAPES), 9), ())
        assert all(node["op"] != "recurrent" for node in nodes), "a cell without a norm of c became a layer"
    return 0


if __name__ == "__main__":
    sys.exit(main())
