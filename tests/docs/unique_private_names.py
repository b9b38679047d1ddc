#!/usr/bin/env python3
"""unique_private_names.py ROOT -- `rnnpack compile --one-file` puts the device library's files into one: no name of an unnamed namespace
is in two of them, nor declared by a header. The sources of one RNNPACK_SET share a namespace with the headers they include; overloads
in these may meet.
SPDX-License-Identifier: Apache-2.0"""
import collections
import pathlib
import re
import sys

from unity_names import FUNCTION, TYPE, VALUE, names

ROOT = pathlib.Path(sys.argv[1])
PRIVATE = "namespace rnnp::RNNPACK_SET"  # of a header
ONE_OF = {"fixed_sums_v6m.h": "fixed_sums.h"}  # never both


def included(text, found):
    """The headers that a text includes, and those that these include, with their texts."""
    for header in re.findall(r'^#include "((?:format|kernels|ops|runtime)/.*\.h)"', text, re.M):
        if header not in found:
            found[header] = (ROOT / "src" / header).read_text()
            included(found[header], found)
    return found


def shared_names(text):
    """What a header declares outside of unnamed namespaces."""
    for line in re.sub(r"^namespace \{$.*?^\}  // namespace$", "", text, flags=re.M | re.S).split("\n"):
        for pattern in (TYPE, FUNCTION, VALUE, re.compile(r"(?:struct|class) (\w+);")):
            if match := pattern.match(line):
                yield match.group(1)
                break


def own_names(text):
    return {found.split("(")[0] for found in names(text)}


places = collections.defaultdict(set)  # of (set, name)
headers = collections.defaultdict(dict)  # of a set
for folder in ("src/base", "src/pack", "src/format", "src/kernels", "src/ops", "src/runtime", "platform/bare"):
    for path in [*(ROOT / folder).glob("*.h"), *(ROOT / folder).glob("*.cpp")]:
        text = path.read_text()
        if PRIVATE in text or path.match("pack/*.cpp"):
            continue
        if path.suffix == ".h":
            for name in shared_names(text):
                places["", name].add("a header")
        match = re.search(r"^#define RNNPACK_SET (\w+)$", text, re.M)
        of = match.group(1) if match else ""
        if of:
            included(text, headers[of])
        for name in own_names(text):
            places[of, name].add(ONE_OF.get(path.name, path.name))
        if of and re.search(rf"^namespace rnnp \{{\nnamespace \{{|^namespace rnnp::(?!{of} )", text, re.M):
            places[of, "its namespace"] |= {path.name, "RNNPACK_SET"}
for of, texts in headers.items():
    for header, text in texts.items():
        for name in own_names(text) if PRIVATE in text else ():
            if (of, name) in places:
                places[of, name].add(header)
twice = [f"{of + '::' if of else ''}{name}: {', '.join(sorted(found))}" for (of, name), found in places.items() if len(found) > 1]
print("\n".join(sorted(twice)))
print(f"{len(places)} names, {len(twice)} in two files")
sys.exit(bool(twice) or len(places) < 500)
