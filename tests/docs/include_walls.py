#!/usr/bin/env python3
"""include_walls.py ROOT -- a folder of the compiler includes headers of folders that stand before it here and of its own, and
every folder stands here: no circles. The tool's commands include the public headers and a few doors, which show nothing of what is
behind them. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import sys

# compile.h, compile.cpp
TOP = "."
ORDER = ("onnx", "json", "graph_builder", "eval", "files", "rewrites", "ir", "import", "emit", "quantize", TOP, "tflite", "nam", "rtneural",
         "front_ends", "options", "inspect", "run", "verify", "calibrate", "job", "api", "cli")
# What lies side by side and must not know of each other.
APART = {("ir", "rewrites"), ("ir", "eval"), ("emit", "import"), ("emit", "rewrites"), ("emit", "eval"), ("quantize", "import"),
         ("front_ends", "ir"), ("tflite", "ir"), ("nam", "ir"), ("rtneural", "ir"), ("import", "rewrites")}
# What the commands include.
DOORS = {"onnx/errors.h", "files/files.h", "import/operator_table.h", "emit/source_package.h", "emit/version.h",
         "options/option_row.h", "inspect/inspect.h", "run/run.h", "verify/verify.h", "job/compile_options.h"}
# What they see through these.
BEHIND = {"options/model_options.h", "options/listener.h", "inspect/plan_machine.h"}

compiler = pathlib.Path(sys.argv[1]) / "src" / "compiler"
faults, includes, seen, headers = [], 0, set(), {}
for path in sorted(compiler.rglob("*")):
    if path.suffix not in (".h", ".cpp", ".inc"):
        continue
    here = path.relative_to(compiler).parts[0] if path.parent != compiler else TOP
    seen.add(here)
    own = headers[str(path.relative_to(compiler))] = re.findall(r'#include "compiler/([^"]+)"', path.read_text())
    for included in own:
        there = included.split("/")[0] if "/" in included else TOP
        includes += 1
        if here not in ORDER or there not in ORDER or ORDER.index(there) > ORDER.index(here) or (here, there) in APART:
            faults.append(f"{path.relative_to(compiler)} includes compiler/{included}")
        if here == "cli" and there != "cli" and included not in DOORS:
            faults.append(f"{path.relative_to(compiler)} includes compiler/{included}; the commands' doors: {' '.join(sorted(DOORS))}")
print("\n".join(faults))
if faults:
    print("each folder may include the ones before it:", " ".join(ORDER))
missing = set(ORDER) - seen
if missing:
    print("no such folder:", " ".join(sorted(missing)))

visible, left = set(), [included for path, own in headers.items() if path.startswith("cli/") for included in own]
while left:
    header = left.pop()
    if header not in visible:
        visible.add(header)
        left += headers[header]
visible = {header for header in visible if not header.startswith("cli/")}
unwanted, unused = visible - DOORS - BEHIND, (DOORS | BEHIND) - visible
if unwanted:
    print("the commands see through their doors:", " ".join(sorted(unwanted)))
if unused:
    print("no command needs these any more:", " ".join(sorted(unused)))
sys.exit(bool(faults) or bool(missing) or bool(unwanted) or bool(unused) or includes < 500)
