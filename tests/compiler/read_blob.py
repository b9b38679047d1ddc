#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of rnnpack blobs, written from docs/BLOB_FORMAT.md alone; standard library only.

read_blob.py model.rnnp            prints the document that `rnnpack inspect --json` prints
read_blob.py --compare RNNPACK model.rnnp...   runs the tool on each blob and compares; exit code 1 on a difference
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import zlib

NONE = 0xFFFFFFFF
ALIGN = 64
CELLS = ["rnn", "lstm", "gru", "gru_linear", "lstm_norm"]
KINDS = ["sequence", "row", "const", "input"]
TYPES = ["f32", "i32", "f16", "bf16", "i8", "i4"]
ROLES = ["sequence", "row", "state", "lengths"]
BINARIES = ["add", "mul", "sub", "div", "min", "max", "pow", "equal", "less", "less_or_equal", "greater", "greater_or_equal",
            "not_equal", "prelu"]
REDUCTIONS = ["sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"]
ACTIVATIONS = ("Identity Relu Tanh Sigmoid Affine LeakyRelu ThresholdedRelu ScaledTanh HardSigmoid Elu Softsign Softplus "
               "Exp Log Sqrt Abs Neg Reciprocal Clip HardSwish Floor Ceil Sign Round Erf Gelu GeluTanh Sin Cos").split()
HEADER = struct.Struct("<8I2Q6I20I")
SECTIONS = "values nodes args inputs outputs states matrices attrs strings weights".split()
MATRIX = "13Ifi5I"
PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/BLOB_FORMAT.md").read_text()


def formats():
    """Of each row of the page's table: name, bits of a weight, NR, KR, blocks of an entry, and what it is used for, by id."""
    table = {}
    for ids, names, weight, nr, kr, use in re.findall(r"^\| ([\d, ]+) \| (\w+[\w, ]*) \| (\w+) \| \w+ \| ([\d, ]+) \| (\d+) \| (.*) \|$",
                                                      PAGE, re.MULTILINE):
        names, widths = names.split(", "), nr.split(", ")
        for at, i in enumerate(ids.split(", ")):
            height = re.search(r"_(\d+)x4", names[at])
            blocks = 16 // int(height[1]) if height else 16 if "unstructured" in use else 0
            table[int(i)] = (names[at], int(re.search(r"\d+", weight)[0]), int(widths[at % len(widths)]), int(kr), blocks, use)
    return table


FORMATS = formats()


def operators():
    """The page's names by number, and the bytes of their attributes: "u32 op  1 recurrent, ..." and "### name, 200 bytes ...: x -> y"."""
    numbers = re.search(r"^u32  op\b(.*?)^u32", PAGE, re.MULTILINE | re.DOTALL)[1]
    named = {int(i): name for i, name in re.findall(r"(\d+)\s+(\w+)", numbers)}
    sizes = {}
    for names, size in re.findall(r"^### ([\w, ]+?), (\d+) bytes[^:]*:.*->", PAGE, re.MULTILINE):
        sizes.update(dict.fromkeys(names.split(", "), int(size)))
    assert sorted(named) == list(range(1, len(named) + 1)) and set(named.values()) <= set(sizes), (named, sizes)
    return ["unknown 0", *(named[i] for i in sorted(named))], {name: sizes[name] for name in named.values()}


OPS, ATTR_BYTES = operators()
MOST_RANK = 8


def word(words, i):
    return words[i] if i < len(words) else f"unknown {i}"


def format_name(i):
    return FORMATS[i][0] if i in FORMATS else f"unknown {i}"


def maybe(value):
    return None if value == NONE else value


def number(value):
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


class Blob:
    def __init__(self, data):
        self.data = data
        fields = HEADER.unpack_from(data, 0)
        names = "magic version header_bytes file_bytes align flags tables_crc weights_crc model_id macs_per_step " \
                "fixed_batch panel_format metadata sequence_pool_elems row_pool_elems stream_steps"
        self.header = dict(zip(names.split(), fields))
        self.sections = {name: fields[16 + 2 * i:18 + 2 * i] for i, name in enumerate(SECTIONS)}
        self.check()

    def check(self):
        h = self.header
        assert self.data[:4] == b"RNNP", "not a rnnpack blob"
        assert h["version"] == 1 and h["header_bytes"] == HEADER.size and h["align"] == ALIGN
        assert h["file_bytes"] <= len(self.data)
        for name, (offset, size) in self.sections.items():
            assert offset % 8 == 0 and offset + size <= h["file_bytes"], name
        weights = self.sections["weights"][0]
        assert weights % ALIGN == 0
        head = bytearray(self.data[:weights])
        head[24:32] = bytes(8)  # both checksums count as 0
        assert zlib.crc32(head) == h["tables_crc"], "the tables are damaged"

    def records(self, section, layout):
        offset, size = self.sections[section]
        return list(struct.iter_unpack("<" + layout, self.data[offset:offset + size]))

    def bytes_at(self, offset):
        start = self.sections["strings"][0] + offset
        return self.data[start:self.data.index(b"\0", start)]

    def string(self, offset):
        text = self.bytes_at(offset)
        try:
            return text.decode()
        except UnicodeDecodeError:
            return "".join(chr(c) if c < 0x80 else "?" for c in text)

    def document(self):
        h = self.header
        offset, size = self.sections["weights"]
        return {
            "version": h["version"], "model_id": f"{h['model_id']:016x}", "file_bytes": h["file_bytes"], "weight_bytes": size,
            "causal": bool(h["flags"] & 1), "stepwise": bool(h["flags"] & 2), "stream_steps": h["stream_steps"], "fixed_batch": h["fixed_batch"],
            "panel_format": format_name(h["panel_format"]), "macs_per_step": h["macs_per_step"],
            "metadata": self.metadata(),
            "pools": {"sequence_elems": h["sequence_pool_elems"], "row_elems": h["row_pool_elems"]},
            "weights_crc_ok": zlib.crc32(self.data[offset:offset + size]) == h["weights_crc"],
            "inputs": self.ios("inputs"), "outputs": self.ios("outputs"),
            "states": [{"name": self.string(name), "elems": elems, "init": maybe(init), "per_row": bool(per_row), "buffers": buffers,
                        "words": words} for elems, init, per_row, name, buffers, words in self.records("states", "6I")],
            "matrices": self.matrices(),
            "nodes": self.nodes(),
            "values": [{"kind": word(KINDS, kind), "dtype": word(TYPES, dtype), "row_elems": elems, "location": maybe(location), "sequence": bool(sequence), "early": bool(early)}
                       for kind, dtype, elems, location, sequence, early in self.records("values", "6I")],
        }

    def metadata(self):
        at, out = self.header["metadata"], {}
        while at and self.bytes_at(at):
            value = at + len(self.bytes_at(at)) + 1
            out.setdefault(self.string(at), self.string(value))
            at = value + len(self.bytes_at(value)) + 1
        return out

    def ios(self, section):
        values = self.records("values", "6I")
        out = []
        for name, value, role, rank, *dims, limit, _ in self.records(section, "4I8i2I"):
            shown = [{-1: "steps", -2: "batch"}.get(dim, dim) for dim in dims[:rank]]
            out.append({"name": self.string(name), "role": word(ROLES, role), "dims": shown, "value": value, "row_elems": values[value][2],
                        "limit": limit})
        return out

    def matrices(self):
        out = []
        names = "format count gates units k entries panels index tile_first scales group_k unit_sums diagonal lhs_scale lhs_zero_point".split()
        for fields in self.records("matrices", MATRIX):
            m = dict(zip(names, fields))
            self.check_matrix(m, fields[len(names):])
            absent = {name: maybe(m[name]) for name in ("index", "tile_first", "scales", "unit_sums", "diagonal")}
            out.append({**m, **absent, "format": format_name(m["format"]), "lhs_scale": number(m["lhs_scale"])})
        return out

    def check_matrix(self, m, reserved):
        _, bits, nr, kr, blocks, use = FORMATS[m["format"]]
        assert not any(reserved) and all(m[name] > 0 for name in ("count", "gates", "units", "k", "entries"))
        assert m["tile_first"] == NONE and m["lhs_zero_point"] == 0
        assert (m["index"] != NONE) == (blocks > 0) and (m["count"] == 1 if blocks else m["entries"] == m["k"])
        scaled = bits <= 8
        grouped = "groups of k" in use
        fixed, apart, indexed_k = use == "integer-only", use.startswith("target"), 1 if "unstructured" in use else 4
        assert (m["group_k"] != 0) == grouped and m["group_k"] % 32 == 0 and (m["unit_sums"] != NONE) == (scaled and not grouped and not fixed and not apart)
        assert (m["scales"] != NONE) == scaled and (scaled and not fixed or m["diagonal"] == NONE)
        groups = -(-m["k"] // m["group_k"]) if grouped else 1
        assert m["lhs_scale"] >= (1e-31 if fixed else 0) if scaled else m["lhs_scale"] == 0
        units = -(-m["units"] // nr) * nr if nr else m["units"]
        size = units * m["gates"] * -(-m["k"] // kr) * kr * bits // 8 * m["count"]
        columns = units // 16 * m["gates"]
        if blocks:
            size = m["entries"] * 16 * indexed_k * bits // 8
            self.check_index(m, columns, blocks, indexed_k)
        vector = 4 * units * m["gates"] * m["count"]
        parts = [(m["panels"], size), (m["scales"], vector * groups), (m["unit_sums"], vector), (m["diagonal"], vector),
                 (m["index"], 4 * (columns + 1) + 2 * m["entries"] * blocks)]
        for offset, part in parts:
            assert offset == NONE or (offset % ALIGN == 0 and offset + part <= self.sections["weights"][1])

    def check_index(self, m, columns, blocks, indexed_k):
        at = self.sections["weights"][0] + m["index"]
        first = struct.unpack_from(f"<{columns + 1}I", self.data, at)
        quads = struct.unpack_from(f"<{m['entries'] * blocks}H", self.data, at + 4 * (columns + 1))
        assert first[0] == 0 and first[-1] == m["entries"] and all(a <= b for a, b in zip(first, first[1:]))
        assert all(quad <= -(-m["k"] // indexed_k) for quad in quads)

    def nodes(self):
        args = [maybe(value) for (value,) in self.records("args", "I")]
        out = []
        for op, attr, attr_bytes, in_first, in_count, out_first, out_count, name in self.records("nodes", "8I"):
            kind = word(OPS, op)
            known = attr_bytes >= ATTR_BYTES.get(kind, 1 << 32)
            shown = getattr(self, kind)(self.sections["attrs"][0] + attr) if known else {"unknown_bytes": attr_bytes}
            if kind == "state_read" and attr_bytes >= 8:  # a loop's number of nodes
                shown["nodes"] = self.unpack("I", self.sections["attrs"][0] + attr + 4)[0]
            if kind == "recurrent" and attr_bytes >= 208:
                shown.update(self.rest_of_recurrent(shown, self.sections["attrs"][0] + attr + 200, attr_bytes))
            out.append({"name": self.string(name), "op": kind, "inputs": args[in_first:in_first + in_count],
                        "outputs": args[out_first:out_first + out_count], "attr": shown})
        return out

    def unpack(self, layout, at):
        return struct.unpack_from("<" + layout, self.data, at)

    @staticmethod
    def activation(act, alpha, beta):
        return {"name": word(ACTIVATIONS, act), "alpha": number(alpha), "beta": number(beta)}

    def recurrent(self, at):
        cell, inputs, hidden, count, flags, clip = self.unpack("5If", at)
        directions = []
        for i in range(min(count, 2)):
            w, r, r_output, bias, r_bias, peephole, state_h, state_c, reverse, *rest = self.unpack("13I" + 3 * "Iff", at + 24 + 88 * i)
            inits, acts = rest[:4], rest[4:]
            used = {"rnn": 1, "lstm": 3, "lstm_norm": 3}.get(word(CELLS, cell), 2)
            directions.append({"w": w, "r": r, "r_output": maybe(r_output), "bias": bias, "r_bias": maybe(r_bias), "peephole": maybe(peephole), "state_h": state_h,
                               "state_c": maybe(state_c), "reverse": bool(reverse), "init_h": inits[:2], "init_c": inits[2:],
                               "activations": [self.activation(*acts[3 * k:3 * k + 3]) for k in range(used)]})
        return {"cell": word(CELLS, cell), "input_size": inputs, "hidden_size": hidden, "input_forget": bool(flags & 1), "mask": bool(flags & 2), "clip": number(clip), "directions": directions}

    def rest_of_recurrent(self, layer, at, attr_bytes):
        if layer["cell"] != "lstm_norm":
            return {"c_bits": list(self.unpack("2I", at))}
        if attr_bytes < 272:
            return {}
        by_gate, keeps_c, *norms = self.unpack("2I" + 2 * "5I3f", at)
        shown = []
        for n in (norms[:8], norms[8:])[:len(layer["directions"])]:
            shown.append({"x_scale": n[0], "h_scale": maybe(n[1]), "bias": n[2], "c_scale": n[3], "c_bias": n[4], "epsilons": [number(e) for e in n[5:]]})
        return {"by_gate": by_gate, "keeps_c": keeps_c, "norms": shown}

    def dense(self, at):
        inputs, outputs, matrix, bias, act, alpha, beta, groups = self.unpack("5IffI", at)
        return {"input_size": inputs, "output_size": outputs, "groups": groups, "matrix": matrix, "bias": maybe(bias), "activation": self.activation(act, alpha, beta)}

    def unary(self, at):
        return {"activation": self.activation(*self.unpack("Iff", at))}

    def binary(self, at):
        op, rank, *rest = self.unpack("26I", at)
        rank = min(rank, MOST_RANK)
        return {"op": word(BINARIES, op), "dims": rest[:rank], "a_stride": rest[8:8 + rank], "b_stride": rest[16:16 + rank]}

    def softmax(self, at):
        outer, axis, inner, log = self.unpack("4I", at)
        return {"outer": outer, "axis": axis, "inner": inner, "log": bool(log)}

    def copy(self, at):
        rank, *rest = self.unpack("9I16i2I", at)
        rank = min(rank, MOST_RANK)
        return {"dims": rest[:rank], "x_stride": rest[8:8 + rank], "y_stride": rest[16:16 + rank], "x_first": rest[24], "y_first": rest[25]}

    def window(self, at):
        n = self.unpack("10I2iI3i3I", at)
        pairs = dict(zip(["in_size", "out_size", "kernel", "stride", "dilation", "pad"], [list(n[2 * i:2 * i + 2]) for i in range(6)]))
        return {**pairs, "x_first": n[12], "x_stride": list(n[13:16]), "y_first": n[16], "y_stride": list(n[17:19])}

    def conv(self, at):
        taps, dilation, lead, state, groups, inputs, outputs, matrix, bias, act, alpha, beta, plane = self.unpack("2Ii7IffI", at + 76)
        return {**self.window(at), "time_taps": taps, "time_dilation": dilation, "lead": lead, "state": maybe(state), "groups": groups,
                "in_channels": inputs, "out_channels": outputs, "matrix": matrix, "bias": maybe(bias),
                "activation": self.activation(act, alpha, beta), "y_plane": plane}

    def pool(self, at):
        pool, channels, *counted = self.unpack("6I", at + 76)
        return {"pool": word(["max", "average"], pool), "channels": channels, **self.window(at), "counted_before": counted[:2],
                "counted_after": counted[2:]}

    def time_reduce(self, at):
        op, state = self.unpack("2I", at)
        return {"op": word(REDUCTIONS, op), "state": state}

    def time_reverse(self, at):
        return {}

    def reduce(self, at):
        op, first, kept_rank, *kept = self.unpack("11I8i", at)
        over_rank, *over = self.unpack("9I8i", at + 76)
        kept_rank, over_rank = min(kept_rank, MOST_RANK), min(over_rank, MOST_RANK)
        return {"op": word(REDUCTIONS, op), "x_first": first, "kept_dims": kept[:kept_rank], "kept_stride": kept[8:8 + kept_rank],
                "over_dims": over[:over_rank], "over_stride": over[8:8 + over_rank]}

    def norm(self, at):
        outer, elems, centred, per_outer, epsilon, scale, bias = self.unpack("4If2I", at)
        return {"outer": outer, "elems": elems, "centred": bool(centred), "per_outer": bool(per_outer), "epsilon": number(epsilon),
                "scale": maybe(scale), "bias": maybe(bias)}

    def where(self, at):
        rank, *rest = self.unpack("9I24i3I", at)
        rank = min(rank, MOST_RANK)
        return {"dims": rest[:rank], "condition_stride": rest[8:8 + rank], "a_stride": rest[16:16 + rank],
                "b_stride": rest[24:24 + rank], "first": rest[32:]}

    def gather(self, at):
        rows, elems, count, table = self.unpack("4I", at)
        return {"rows": rows, "elems": elems, "count": count, "table": table}

    def matmul(self, at):
        m, n, k, rank, *dims = self.unpack("12I", at)
        rank = min(rank, MOST_RANK)
        strides = []
        for start in (48, 92):
            first, row, column, *batch = self.unpack("I10i", at + start)
            strides.append({"first": first, "row": row, "column": column, "batch": batch[:rank]})
        return {"m": m, "n": n, "k": k, "dims": dims[:rank], "a": strides[0], "b": strides[1]}

    def feature_recurrent(self, at):
        steps, rows = self.unpack("2I", at + 200)
        return {**self.recurrent(at), "steps": steps, "rows": rows}

    def state_read(self, at):
        return {"state": self.unpack("I", at)[0]}

    state_write = state_read

    def time_step(self, at):
        last, state = self.unpack("2I", at)
        return {"last": bool(last), "state": maybe(state)}


def read(path):
    with open(path, "rb") as file:
        return Blob(file.read()).document()


def compare(tool, paths):
    different = 0
    for path in paths:
        shown = json.loads(subprocess.run([tool, "inspect", "--json", path], check=True, capture_output=True).stdout)
        if shown != read(path):
            different += 1
            print(f"{path}: the readers differ")
    print(f"{len(paths)} blobs read twice, {different} differ")
    return 1 if different or not paths else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        sys.exit(compare(sys.argv[2], sys.argv[3:]))
    json.dump(read(sys.argv[1]), sys.stdout, indent=1)
    print()
