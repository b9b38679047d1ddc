#!/usr/bin/env python3
"""unity_names.py UNITY_FOLDER... -- no name of an anonymous namespace occurs in two files of a target that compiles several files at a
time: which of them meet changes with every file that is added. Reads the code as clang-format writes it.
SPDX-License-Identifier: Apache-2.0"""
import collections
import pathlib
import re
import sys

TYPE = re.compile(r"(?:template.*> )?(?:struct|class|enum class|enum|union) (\w+)(?!.*;$)")
FUNCTION = re.compile(r"(?!return|if|for|else|using|#)[A-Za-z_][\w:<>,&* ]*?[ *&](\w+)\((.*)")
VALUE = re.compile(r"(?:static |constexpr |const |thread_local )+[\w:<>,&* ]*?[ *&](\w+)(?:\[.*\])?(?: =|\{|;|,)")


def names(text):
    """Names at the left margin of anonymous namespaces; of a function with its first line of parameters, as overloads may meet."""
    inside = False
    for line in text.split("\n"):
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside:
            for pattern in (TYPE, FUNCTION, VALUE):
                if match := pattern.match(line):
                    yield "(".join(match.groups())
                    break


def main():
    count, twice = 0, []
    for folder in map(pathlib.Path, sys.argv[1:]):
        places = collections.defaultdict(set)
        for unity in folder.glob("*.cxx"):
            for path in re.findall(r'#include "(.*)"', unity.read_text()):
                for name in names(pathlib.Path(path).read_text()):
                    places[name].add(pathlib.Path(path).name)
                    count += 1
        twice += [f"{name.split('(')[0]}: {', '.join(sorted(found))}" for name, found in places.items() if len(found) > 1]
    print("\n".join(sorted(twice)))
    print(f"{count} names, {len(twice)} in two files")
    sys.exit(bool(twice) or count < 100)


if __name__ == "__main__":
    main()
