#!/usr/bin/env python3
"""check_size.py -- the library's code and constants against a budget of budgets.json: all of an archive (size's text), or what a
program linked of it (a GNU ld map). Prints the parts, largest first, so that what grew is seen.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../firmware/count"))
from link_map import kind_of, library_sections  # noqa: E402


def parts_of_archive(size, archive):
    lines = subprocess.run([size, archive], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    return Counter({line.split()[5]: int(line.split()[0]) for line in lines})


def parts_of_map(path):
    parts = Counter()
    for section, size, file in library_sections(path):
        if kind_of(section) in ("text", "rodata"):
            parts[file.rsplit("(")[-1].rstrip(")")] += size
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("budgets")
    parser.add_argument("name", help="of the budget")
    parser.add_argument("--archive", nargs=2, metavar=("SIZE", "ARCHIVE"), help="the toolchain's size, and the library")
    parser.add_argument("--map", help="a program's link map")
    parser.add_argument("--without", default="^$", help="objects that do not count, a regular expression")
    parser.add_argument("--only", default="", help="objects that count, the same")
    options = parser.parse_args()
    parts = parts_of_map(options.map) if options.map else parts_of_archive(*options.archive)
    parts = Counter({name: n for name, n in parts.items() if re.search(options.only, name) and not re.search(options.without, name)})
    most, total = json.load(open(options.budgets))[options.name], sum(parts.values())
    for name, bytes_of in parts.most_common(12):
        print(f"{bytes_of:8d} {name}")
    print(f"{total:8d} in {len(parts)} objects; the budget {options.name} is {most}")
    if len(parts) < (2 if options.only else 8):
        print("that is not the library")
        return 1
    return 0 if total <= most else 1


if __name__ == "__main__":
    sys.exit(main())
