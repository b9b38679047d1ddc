#!/usr/bin/env python3
"""check_exports.py LIBRARY SYMBOLS.txt -- the shared library shows the symbols of the list and no others, needs nothing
but the C library, and its name carries the major version.
check_exports.py --compiler LIBRARY NAME... -- the compiler's library shows the names NAME... alone.
check_exports.py --plugin LIBRARY NAME... -- a plug-in that links the archive shows its own symbols NAME... and none of the archive's.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import subprocess
import sys


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def exported(library):
    return {line.split()[-1].split("@")[0] for line in lines("nm", "-D", "--defined-only", library)} - {"_init", "_fini"}


def listed(path):
    return set(pathlib.Path(path).read_text().split())


def check(found, wanted):
    problems = [f"shown, and not in the list: {name}" for name in sorted(found - wanted)]
    return problems + [f"in the list, and not shown: {name}" for name in sorted(wanted - found)]


def main():
    if sys.argv[1] in ("--plugin", "--compiler"):
        problems = check(exported(sys.argv[2]), set(sys.argv[3:]))
    else:
        library, symbols = sys.argv[1:3]
        problems = check(exported(library), listed(symbols))
        dynamic = "\n".join(lines("readelf", "-d", library))
        if not re.search(r"SONAME.*\[librnnpack\.so\.1\]", dynamic):
            problems.append("the library's name is not librnnpack.so.1")
        problems += [f"needs {name}" for name in re.findall(r"NEEDED.*\[([^]]*)\]", dynamic) if not re.match(r"(libc|libm|ld-linux[\w-]*)\.so", name)]
    print("\n".join(problems) or "as listed")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
