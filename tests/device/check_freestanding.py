#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_freestanding.py -- what the archive needs from outside: four memory functions and the compiler's own arithmetic, and of that
no 64-bit division anywhere and double precision only where powers are computed. Usage: check_freestanding.py NM ARCHIVE"""
import re
import subprocess
import sys

MEMORY = re.compile(r"^(__aeabi_)?mem(cpy|set|move|cmp|clr)\d*$")
SINGLE = re.compile(r"^__(aeabi_(f\w+|u?i2f|cf\w+)|\w+sf[23]?|fix(uns)?sfsi|float(un)?sisf)$")  # soft float, where there is no FPU
SHIFTS = re.compile(r"^__(aeabi_(llsl|llsr|lasr|lmul)|ashldi3|lshrdi3|ashrdi3|muldi3|clzsi2|popcountsi2|bswapsi2)$")
SMALL = re.compile(r"^__(aeabi_u?idiv(mod)?|gnu_thumb1_case_\w+)$")  # ARMv6-M has no division, and no table of branches
DIVISION = re.compile(r"^__(aeabi_u?ldivmod|u?divdi3|u?moddi3|u?divmoddi4)$")
# Powers are rare and computed in double precision.
EXCUSED = {"act_": re.compile(r"^__")}


def undefined(nm, archive):
    """(object file, name) of everything needed from outside, and the names that the archive defines itself."""
    member, needs, defined = "", [], set()
    for line in subprocess.run([nm, archive], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.strip():
            kind, name = line.split()[-2:]
            if kind == "U":
                needs.append((member, name))
            else:
                defined.add(name)
    return [(m, n) for m, n in needs if n not in defined], defined


def is_allowed(member, name):
    if DIVISION.match(name):
        return False
    if MEMORY.match(name) or SINGLE.match(name) and not name.startswith("__aeabi_f2d") or SHIFTS.match(name) or SMALL.match(name):
        return True
    return any(member.startswith(file) and pattern.match(name) for file, pattern in EXCUSED.items())


def main():
    needs, defined = undefined(sys.argv[1], sys.argv[2])
    problems = [f"{member} needs {name}" for member, name in needs if not is_allowed(member, name)]
    if not any("rnnp_run" in name for name in defined):
        problems.append(f"{sys.argv[2]} is not the library: it has no rnnp_run")
    for p in problems:
        print(p)
    print("needs from outside:", " ".join(sorted({name for _, name in needs})))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
