#!/usr/bin/env python3
"""check_vzeroupper.py OBJDUMP ARCHIVE -- every object of the archive that writes registers of 256 or 512 bits says vzeroupper somewhere:
without it, the code of 128 bits that runs next waits for the upper halves. GCC leaves it out of code built small.
SPDX-License-Identifier: Apache-2.0
"""
import re
import subprocess
import sys

WIDE = re.compile(r"%[yz]mm[0-9]+$")


def main():
    objdump, archive = sys.argv[1:]
    wide, zeroed, member = set(), set(), ""
    for line in subprocess.run([objdump, "-d", "--no-show-raw-insn", archive], capture_output=True, text=True, check=True).stdout.splitlines():
        if ":     file format" in line:
            member = line.split(":")[0]
        elif "vzeroupper" in line:
            zeroed.add(member)
        elif WIDE.search(line):
            wide.add(member)
    for member in sorted(wide - zeroed):
        print(f"{member}: registers of more than 128 bits, and no vzeroupper")
    print(f"{len(wide)} objects of wide registers")
    return 1 if wide - zeroed or not wide else 0


if __name__ == "__main__":
    sys.exit(main())
