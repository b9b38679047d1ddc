#!/usr/bin/env python3
"""write_golden.py RNNPACK GOLDEN_TEST FOLDER -- the golden blobs of format version 1 and what they compute.

FOLDER gets NAME.rnnp for each panel format, cell and operator that the compiler writes, list.txt with the largest deviation that
instruction sets may have, and NAME.out, the outputs of the reference kernels, by golden_test --write. Blobs of a released version
are never written again: a new version of the format gets blobs of its own beside them.
SPDX-License-Identifier: Apache-2.0"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "compiler"))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from cli_support import save_onnx  # noqa: E402

import read_blob  # noqa: E402

DATA = "data.npy"
FLOAT, ROUNDED, BYTES, NIBBLES = 1e-4, 0.01, 0.05, 0.2
random = np.random.default_rng(7)


def weights(*shape):
    return (random.integers(-64, 65, shape) / 128).astype(np.float32)


def cell(kind, units=16, inputs=8, sparse=0, zeros=4, directions=1, **attributes):
    """A recurrent layer of [T, N, inputs]; sparse: rows of a block of 4 columns that are zero together in all but one of `zeros` blocks."""
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[kind]
    w, r = weights(directions, gates * units, inputs), weights(directions, gates * units, units)
    if sparse:
        for matrix in (w, r):
            for row in range(0, matrix.shape[1], sparse):
                for column in range(0, matrix.shape[2], 4 if sparse > 1 else 1):
                    if random.integers(zeros):
                        matrix[:, row:row + sparse, column:column + (4 if sparse > 1 else 1)] = 0
    nodes = [(kind, ["x", "w", "r", "b"], ["y", "h"], {"hidden_size": units, **attributes})]
    return nodes, {"x": ["T", "N", inputs]}, ["y"], {"w": w, "r": r, "b": weights(directions, 2 * gates * units)}


def dense(units=16, inputs=8):
    return [("MatMul", ["x", "w"], ["a"], {}), ("Add", ["a", "b"], ["y"], {})], {"x": ["T", "N", inputs]}, ["y"], \
        {"w": weights(inputs, units), "b": weights(units)}


def plain(*nodes, shape=(8,), opset=13, **constants):
    return list(nodes), {"x": ["T", "N", *shape]}, ["y"], constants, opset


def normed_lstm(inputs, units):
    """One step of an LSTM with norms of W x, of R h and of the new c."""
    nodes = [("MatMul", ["x", "w"], ["wx"], {}), ("LayerNormalization", ["wx", "xs", "xb"], ["nx"], {}),
             ("MatMul", ["h", "r"], ["rh"], {}), ("LayerNormalization", ["rh", "hs", "hb"], ["nh"], {}), ("Add", ["nx", "nh"], ["p"], {}),
             ("Split", ["p", "four"], ["pi", "pf", "pg", "po"], {"axis": 1}),
             *[("Sigmoid", [f"p{g}"], [g], {}) for g in "ifo"], ("Tanh", ["pg"], ["g"], {}),
             ("Mul", ["f", "c"], ["fc"], {}), ("Mul", ["i", "g"], ["ig"], {}), ("Add", ["fc", "ig"], ["raw"], {}),
             ("LayerNormalization", ["raw", "cs", "cb"], ["cn"], {}), ("Tanh", ["cn"], ["tc"], {}), ("Mul", ["o", "tc"], ["hn"], {}), ("Neg", ["hn"], ["y"], {})]
    scales = {name: 1 + weights(n) / 2 for name, n in (("xs", 4 * units), ("hs", 4 * units), ("cs", units))}
    biases = {name: weights(n) for name, n in (("xb", 4 * units), ("hb", 4 * units), ("cb", units))}
    return nodes, {"x": ["N", inputs], "h": ["N", units], "c": ["N", units]}, ["y", "hn", "cn"], \
        {"w": weights(inputs, 4 * units), "r": weights(units, 4 * units), "four": ints(units, units, units, units), **scales, **biases}, 17


def ints(*values):
    return np.array(values, np.int64)


def with_indices(path):
    model = onnx.load(str(path))
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    onnx.save(model, str(path))


def models():
    """name: (what save_onnx takes, options of compile, tolerance)"""
    for target in ("avx512", "armv7", "cortex-m"):
        for kind, tolerance in (("f32", FLOAT), ("f16", FLOAT), ("bf16", FLOAT), ("int8", BYTES), ("int4", NIBBLES)):
            yield f"lstm_{kind}_{target}", cell("LSTM", inputs=32 if kind == "int4" else 8), ["--target", target, "--weights", kind], tolerance
        yield f"lstm_integer_{target}", cell("LSTM"), ["--target", target, "--weights", "int8", "--arithmetic", "integer", "--calibrate", DATA], BYTES
    for target in ("cortex-m4", "cortex-m55"):
        yield f"lstm_int8_{target}", cell("LSTM", inputs=16), ["--target", target, "--weights", "int8"], BYTES
    for kind, tolerance in (("f32", FLOAT), ("bf16", FLOAT), ("int8", BYTES)):
        for block in (16, 8, 4):
            yield f"rnn_blocks{block}_{kind}", cell("RNN", 32, 32, block, 5 if block == 16 else 6), ["--target", "avx512", "--weights", kind, "--sparse", "blocks"], tolerance
    for kind, tolerance in (("f32", FLOAT), ("int8", BYTES)):
        yield f"rnn_pairs_{kind}", cell("RNN", 32, 32, 1, 16), ["--target", "avx512", "--weights", kind, "--sparse", "pairs"], tolerance
    yield "rnn", cell("RNN"), [], FLOAT
    yield "gru", cell("GRU"), [], FLOAT
    yield "gru_linear", cell("GRU", linear_before_reset=1), [], FLOAT
    yield "lstm_bidirectional", cell("LSTM", 8, directions=2, direction="bidirectional"), [], FLOAT
    yield "dense", dense(), [], FLOAT
    yield "unary", plain(("Tanh", ["x"], ["a"], {}), ("Erf", ["a"], ["y"], {})), [], FLOAT
    yield "binary", plain(("Sub", ["x", "c"], ["a"], {}), ("Mul", ["a", "x"], ["y"], {}), c=weights(8)), [], FLOAT
    yield "softmax", plain(("Softmax", ["x"], ["y"], {"axis": -1})), [], FLOAT
    yield "copy", plain(("Transpose", ["x"], ["y"], {"perm": [0, 1, 3, 2]}), shape=(2, 4)), [], FLOAT
    yield "last_step", plain(("Slice", ["x", "a", "b", "o"], ["s"], {}), ("Tanh", ["s"], ["y"], {}), a=ints(-1), b=ints(1 << 40), o=ints(0)), [], FLOAT
    yield "norm", plain(("LayerNormalization", ["x", "s", "b"], ["y"], {}), opset=17, s=weights(8), b=weights(8)), [], FLOAT
    yield "reduce", plain(("ReduceMax", ["x"], ["y"], {"axes": [2], "keepdims": 1})), [], FLOAT
    yield "where", plain(("Less", ["x", "c"], ["m"], {}), ("Where", ["m", "x", "c"], ["y"], {}), c=weights(8)), [], FLOAT
    yield "matmul", plain(("Transpose", ["x"], ["t"], {"perm": [0, 1, 3, 2]}), ("MatMul", ["x", "t"], ["y"], {}), shape=(2, 4)), [], FLOAT
    yield "time_reduce", plain(("ReduceMean", ["x"], ["y"], {"axes": [0], "keepdims": 0})), [], FLOAT
    yield "conv", ([("Conv", ["x", "w", "b"], ["y"], {"pads": [2, 0]})], {"x": ["N", 4, "T"]}, ["y"], {"w": weights(6, 4, 3), "b": weights(6)}), \
        ["--axes", "x=batch,features,time"], FLOAT
    yield "depthwise", ([("Conv", ["x", "w"], ["y"], {"pads": [2, 0], "group": 8})], {"x": ["N", 8, "T"]}, ["y"], {"w": weights(8, 1, 3)}), \
        ["--axes", "x=batch,features,time"], FLOAT
    yield "pool", ([("MaxPool", ["x"], ["y"], {"kernel_shape": [2, 2], "strides": [2, 2]})], {"x": ["N", 2, 4, 4]}, ["y"], {}), [], FLOAT
    yield "winograd", ([("Conv", ["x", "w"], ["y"], {"pads": [1, 1, 1, 1]}), ("ReduceMean", ["y"], ["z"], {"axes": [2, 3], "keepdims": 0})], {"x": ["N", 16, 8, 8]}, ["z"], {"w": weights(16, 16, 3, 3)}), \
        ["--target", "avx512"], FLOAT
    yield "state", ([("Add", ["x", "h"], ["a"], {}), ("Tanh", ["a"], ["y"], {}), ("Neg", ["y"], ["n"], {})],
                    {"x": ["N", 4], "h": ["N", 4]}, ["y", "n"], {}), ["--state", "h=n"], FLOAT
    layer, _, _, constants = cell("GRU", 4, 4)
    yield "feature_recurrent", plain(("Transpose", ["x"], ["t"], {"perm": [2, 0, 1, 3]}), ("Reshape", ["t", "s"], ["u"], {}),
                                     ("GRU", ["u", "w", "r", "b"], ["", "y"], {"hidden_size": 4}), shape=(3, 4), s=ints(3, -1, 4), **constants), ["--dim", "N=2"], FLOAT
    yield "time_reverse", plain(("Slice", ["x", "a", "b", "o", "s"], ["y"], {}), a=ints(-1), b=ints(-(1 << 40)), o=ints(0), s=ints(-1)), [], FLOAT
    yield "gather", ([("Gather", ["table", "x"], ["y"], {})], {"x": ["T", "N"]}, ["y"], {"table": weights(12, 4)}), [], FLOAT
    for target in ("avx512", "armv7", "cortex-m"):  # after the others: what is random in those stays
        yield f"lstm_q8_{target}", cell("LSTM", inputs=40), ["--target", target, "--weights", "q8_0"], BYTES
    yield "lstm_norm", normed_lstm(8, 6), ["--state", "h=hn", "--state", "c=cn"], FLOAT
    for target in ("avx512", "armv7", "cortex-m"):
        yield f"lstm_bf16_dot_{target}", cell("LSTM", inputs=40), ["--target", target, "--arithmetic", "bf16"], ROUNDED
    yield "winograd_lines", ([("Transpose", ["x"], ["t"], {"perm": [1, 3, 0, 2]}), ("Conv", ["t", "w", "b"], ["c"], {"pads": [2, 1, 0, 1]}),
                              ("Transpose", ["c"], ["u"], {"perm": [2, 0, 3, 1]}), ("ReduceMean", ["u"], ["y"], {"axes": [3]})],
                             {"x": ["T", "N", 8, 16]}, ["y"], {"w": weights(16, 16, 3, 3), "b": weights(16)}), ["--target", "avx512"], FLOAT
    for name, backwards in (("loop", 0), ("loop_backwards", 1)):
        yield name, plain(("CumSum", ["x", "o"], ["s"], {"reverse": backwards}), ("Tanh", ["s"], ["y"], {}), o=ints(0)), [], FLOAT


def main():
    tool, test, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    lines, formats, ops = [], set(), set()
    with tempfile.TemporaryDirectory() as work:
        np.save(pathlib.Path(work) / DATA, random.uniform(-1, 1, (40, 1, 8)).astype(np.float32))
        for name, model, options, tolerance in models():
            file, blob = pathlib.Path(work) / f"{name}.onnx", folder / f"{name}.rnnp"
            save_onnx(file, *model)
            if name == "gather":
                with_indices(file)
            options = [pathlib.Path(work) / DATA if option == DATA else option for option in options]
            done = subprocess.run([tool, "compile", file, "-o", blob, "--meta", f"name={name}", *options], capture_output=True, text=True)
            if done.returncode != 0:
                print(f"{name}: {done.stderr}")
                continue
            document = read_blob.read(blob)
            formats |= {matrix["format"] for matrix in document["matrices"]}
            ops |= {node["op"] for node in document["nodes"]}
            lines.append(f"{name} {tolerance:g}\n")
    (folder / "list.txt").write_text("".join(lines))
    print("without a blob:", *sorted({f[0] for f in read_blob.FORMATS.values()} - formats), *sorted({*read_blob.OPS[1:]} - ops))
    code = subprocess.run([test, folder, "--write"]).returncode
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(folder.glob("*.[ro]*"))]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return code


if __name__ == "__main__":
    sys.exit(main())
