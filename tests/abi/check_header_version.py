#!/usr/bin/env python3
"""check_header_version.py HEADER HISTORY -- RNNP_HEADER_VERSION moves with every change of a declaration.

HISTORY has a line for each version: the version and the SHA-256 of the header without comments and white space. The last line
is the present header's. A changed declaration takes a new line with a larger version; --record adds it.
SPDX-License-Identifier: Apache-2.0"""
import hashlib
import re
import sys

record = "--record" in sys.argv
header, history = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
text = open(header, encoding="utf-8").read()
version = int(re.search(r"#define RNNP_HEADER_VERSION (\d+)u", text).group(1))
digest = hashlib.sha256("".join(re.sub(r"/\*.*?\*/", "", text, flags=re.S).split()).encode()).hexdigest()
lines = [line.split() for line in open(history, encoding="utf-8").read().splitlines() if line]
versions = [int(line[0]) for line in lines]
if versions != sorted(set(versions)):
    sys.exit("the versions in the history do not rise")
if lines and (versions[-1], lines[-1][1]) == (version, digest):
    print(f"header version {version}: as recorded")
elif lines and lines[-1][1] == digest:
    sys.exit(f"no declaration changed since version {versions[-1]}: RNNP_HEADER_VERSION {version} has no reason")
elif lines and version <= versions[-1]:
    sys.exit(f"declarations changed since version {versions[-1]} was recorded: raise RNNP_HEADER_VERSION above it, then --record")
elif record:
    with open(history, "a", encoding="utf-8") as file:
        file.write(f"{version} {digest}\n")
else:
    sys.exit(f"version {version} is not recorded: check_header_version.py --record {header} {history}")
