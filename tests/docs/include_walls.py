#!/usr/bin/env python3
"""include_walls.py ROOT -- a folder of the compiler includes headers of folders that stand before it here and of its own, and
every folder stands here: no circles. SPDX-License-Identifier: Apache-2.0"""
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

compiler = pathlib.Path(sys.argv[1]) / "src" / "compiler"
faults, includes, seen = [], 0, set()
for path in sorted(compiler.rglob("*")):
    if path.suffix not in (".h", ".cpp", ".inc"):
        continue
    here = path.relative_to(compiler).parts[0] if path.parent != compiler else TOP
    seen.add(here)
    for included in re.findall(r'#include "compiler/([^"]+)"', path.read_text()):
        there = included.split("/")[0] if "/" in included else TOP
        includes += 1
        if here not in ORDER or there not in ORDER or ORDER.index(there) > ORDER.index(here) or (here, there) in APART:
            faults.append(f"{path.relative_to(compiler)} includes compiler/{included}")
print("\n".join(faults))
if faults:
    print("each folder may include the ones before it:", " ".join(ORDER))
missing = set(ORDER) - seen
if missing:
    print("no such folder:", " ".join(sorted(missing)))
sys.exit(bool(faults) or bool(missing) or includes < 500)
