"""coverage.py -- which operators and attributes the models that ran had, by opset. SPDX-License-Identifier: Apache-2.0"""
import collections
import re

ENOUGH = 12  # models of a thousand with an operator


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
        for key in found:
            (self.operators if isinstance(key, str) else self.attributes)[key] += 1

    def rare(self, page):
        """Operators of the table in docs/OPERATORS.md that too few models had."""
        table = open(page, encoding="utf-8").read()
        claimed = re.findall(r"^\| ([A-Z][A-Za-z]*) \| \d", table, re.M)
        least = max(1, ENOUGH * self.models // 1000)
        return [f"{op}: {self.operators[op]} of {self.models} models" for op in claimed if self.operators[op] < least]

    def table(self):
        lines = []
        for op, count in sorted(self.operators.items()):
            given = ", ".join(f"{a} {n}" for (o, a), n in sorted(self.attributes.items()) if o == op)
            lines.append(f"{op:24} {count:5d}  {given}")
        return "\n".join(lines)
