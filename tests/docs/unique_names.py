#!/usr/bin/env python3
"""unique_names.py ROOT -- no two source files of the library, the compiler and the platforms have one name: an #include, a line of a
log or a debugger says which file is meant. SPDX-License-Identifier: Apache-2.0"""
import collections
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
places = collections.defaultdict(list)
for folder in ("include", "src", "platform"):
    for path in (root / folder).rglob("*"):
        if path.suffix in (".h", ".c", ".cpp", ".inc"):
            places[path.name].append(str(path.relative_to(root)))
# A program of one board is built alone.
twice = {name: found for name, found in places.items() if len(found) > 1 and not all("platform/board/" in one for one in found)}
for name, found in sorted(twice.items()):
    print(f"{name}: {', '.join(found)}")
sys.exit(bool(twice) or len(places) < 100)
