"""coverage.py -- which operators and attributes the models that ran had, by opset. SPDX-License-Identifier: Apache-2.0"""
import collections
import re

from onnx import defs

ENOUGH = 8  # models of a thousand with an operator
SOME = 2  # with an attribute given, and with it left out
# Attributes of training, of other types, and those that nodes of ours always or never have.
NOT_ASKED = {("Dropout", "seed"), ("BatchNormalization", "training_mode"), ("Cast", "saturate"), ("Cast", "round_mode"),
             ("CastLike", "saturate"), ("CastLike", "round_mode"),
             ("Constant", "sparse_value"), ("Constant", "value_string"), ("Constant", "value_strings"), ("MaxPool", "storage_order"),
             ("LayerNormalization", "stash_type"), ("GroupNormalization", "stash_type"), ("Shape", "start"), ("Shape", "end"),
             ("ConvTranspose", "output_shape"), ("Split", "axis")}
NOT_ASKED |= {("Reduce" + kind, "noop_with_empty_axes") for kind in ("LogSum", "Max", "Mean", "Prod", "Sum", "Min", "L1", "L2", "LogSumExp",
                                                                    "SumSquare")}  # drawn, but not each a few times

# Not drawn here: the bodies of loops are graphs of their own; quantised forms, places and integers at run time have tests of
# their own in tests/compiler/ and tests/exporters/, which compare them.
ELSEWHERE = {"Loop", "Scan", "QuantizeLinear", "DequantizeLinear", "ArgMax", "ArgMin", "Cos", "CumSum", "GatherND", "Mod",
             "OneHot", "Resize", "ReverseSequence", "ScatterElements", "ScatterND", "Sin", "TopK"}


class Coverage:
    def __init__(self):
        self.models, self.operators, self.attributes = 0, collections.Counter(), collections.Counter()

    def add(self, model):
        self.models += 1
        found = set()
        for node in model.graph.node:
            found.add(node.op_type)
            for attribute in node.attribute:
                found.add((node.op_type, attribute.name))
            schema = defs.get_schema(node.op_type, model.opset_import[0].version, "")
            given = {a.name for a in node.attribute}
            found.update((node.op_type, a.name, "left out") for a in schema.attributes.values() if a.name not in given and not a.required)
        for key in found:
            (self.operators if isinstance(key, str) else self.attributes)[key] += 1

    def rare_attributes(self, op):
        newest = defs.get_schema(op, 22, "").attributes.values()
        for a in newest:
            if (op, a.name) in NOT_ASKED:
                continue
            if self.attributes[op, a.name] < SOME:
                yield f"{op} with {a.name}: {self.attributes[op, a.name]} models"
            if not a.required and op != "Constant" and self.attributes[op, a.name, "left out"] < SOME:
                yield f"{op} without {a.name}: {self.attributes[op, a.name, 'left out']} models"

    def rare(self, page):
        """Operators of the table in docs/OPERATORS.md that too few models had."""
        table = open(page, encoding="utf-8").read()
        claimed = ", ".join(re.findall(r"^\| ([A-Z][A-Za-z0-9, ]*) \| \d", table, re.M)).split(", ")
        assert len(claimed) > 100, f"{page} claims {len(claimed)} operators"
        claimed = [op for op in claimed if op not in ELSEWHERE]
        least = max(1, ENOUGH * self.models // 1000)
        lines = [f"{op}: {self.operators[op]} of {self.models} models" for op in claimed if self.operators[op] < least]
        return lines + [line for op in claimed for line in self.rare_attributes(op)]

    def table(self):
        lines = []
        for op, count in sorted(self.operators.items()):
            given = ", ".join(f"{a} {n}" for (o, a), n in sorted(i for i in self.attributes.items() if len(i[0]) == 2) if o == op)
            lines.append(f"{op:24} {count:5d}  {given}")
        return "\n".join(lines)
