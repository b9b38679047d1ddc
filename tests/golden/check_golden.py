#!/usr/bin/env python3
"""check_golden.py SOURCE FOLDER -- no golden file has changed, every panel format, cell and operator has a blob, all are small.
SPDX-License-Identifier: Apache-2.0"""
import hashlib
import pathlib
import re
import sys

source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "tests/compiler"))
import read_blob  # noqa: E402

MOST_BYTES = 300_000
problems = []
sums = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines())
listed = [line.split()[0] for line in (folder / "list.txt").read_text().splitlines()]
for name, digest in sums.items():
    if not (folder / name).exists() or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
        problems.append(f"{name} has changed: blobs of a released version never do")
for name in listed:
    problems += [f"{file} is not in SHA256SUMS" for file in (f"{name}.rnnp", f"{name}.out") if file not in sums]
documents = [read_blob.read(folder / f"{name}.rnnp") for name in listed]
known = {name for name in re.findall(r"\b(?:f32|f16|bf16|i8|i4|q8)_\w+", (source / "src/pack/panel_formats.inc").read_text())
         if name in {f[0] for f in read_blob.FORMATS.values()}}
for what, wanted, found in (
        ("panel format", known, {m["format"] for d in documents for m in d["matrices"]}),
        ("operator", set(read_blob.OPS[1:]), {n["op"] for d in documents for n in d["nodes"]}),
        ("cell", set(read_blob.CELLS), {n["attr"]["cell"] for d in documents for n in d["nodes"] if n["op"] == "recurrent"})):
    problems += [f"no golden blob has {what} {one}" for one in sorted(wanted - found)]
size = sum(path.stat().st_size for path in folder.iterdir())
if size > MOST_BYTES:
    problems.append(f"{folder} takes {size} bytes, at most {MOST_BYTES}")
print(f"{len(listed)} blobs, {len(known)} panel formats, {size} bytes")
sys.exit("\n".join(problems) if problems else 0)
