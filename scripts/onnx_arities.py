#!/usr/bin/env python3
"""How many inputs and outputs each standard ONNX operator has, from onnx.defs, as the rows of src/compiler/onnx/arities.inc.

    scripts/onnx_arities.py > src/compiler/onnx/arities.inc     (onnx 1.23.2: older releases know fewer opsets)
    scripts/onnx_arities.py --check src/compiler/onnx/arities.inc

--check compares the opsets that the installed onnx knows. A row holds from its opset until the operator's next row.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import re
import sys

import onnx.defs

LAST_OPSET = 25  # kMaxOpset of src/compiler/onnx/model_file.h
ENDLESS = 2**31 - 1
HEAD = """// arities.inc -- written by scripts/onnx_arities.py from onnx's schemas. ARITY(operator, first opset, inputs that must have a name,
// least inputs, most inputs, least outputs, most outputs). SPDX-License-Identifier: Apache-2.0
// clang-format off
"""


def row_of(schema):
    single = onnx.defs.OpSchema.FormalParameterOption.Single
    required = 0
    while required < len(schema.inputs) and schema.inputs[required].option == single:
        required += 1
    most = [ENDLESS if n >= ENDLESS else n for n in (schema.max_input, schema.max_output)]
    # A node without outputs is nothing, even where the schema lets every one be left out.
    return (required, schema.min_input, most[0], max(1, schema.min_output), most[1])


def rows(last):
    found = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx") and not schema.deprecated and schema.since_version <= last:
            found[schema.name, schema.since_version] = row_of(schema)
    out = []
    for name, first in sorted(found):
        if not out or out[-1][0] != name or out[-1][2:] != found[name, first]:
            out.append((name, first) + found[name, first])
    return out


def text_of(row):
    return "ARITY(%s, %s)\n" % (row[0], ", ".join("kEndless" if n == ENDLESS else str(n) for n in row[1:]))


def check(path):
    last = min(LAST_OPSET, onnx.defs.onnx_opset_version())
    lines = [line for line in open(path, encoding="utf-8") if line.startswith("ARITY(")]
    have = {line for line in lines if int(re.match(r"ARITY\(\w+, (\d+)", line).group(1)) <= last}
    want = {text_of(row) for row in rows(last)}
    for line in sorted(have ^ want):
        print("%s: %s" % ("wrong" if line in have else "missing", line.strip()))
    print("%d rows up to opset %d compared" % (len(want), last))
    return 0 if have == want and want else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", metavar="FILE")
    options = parser.parse_args()
    if options.check:
        sys.exit(check(options.check))
    sys.stdout.write(HEAD + "".join(text_of(row) for row in rows(LAST_OPSET)))


main()
