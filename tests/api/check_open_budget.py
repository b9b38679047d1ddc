#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_open_budget.py OPEN_WORK -- opening a blob, and making a session's checks of it, is linear in its tables: callgrind counts the
instructions for each shape at a size and at twice that size, up to the tables' limits."""
import pathlib
import re
import subprocess
import sys
import tempfile

SHAPES = ("values", "reversed", "nodes", "args", "inputs", "outputs", "states", "strings", "live")
MOST_GROWTH = 2.2  # n log n of a sort grows a little faster than the tables
MOST_PER_BYTE = 200  # instructions; bytes of the tables


def instructions(program, shape, size, folder):
    out = pathlib.Path(folder) / "callgrind.out"
    done = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=rnnp_model_open", "--toggle-collect=rnnp_session_init",
                           f"--callgrind-out-file={out}", program, shape, str(size)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shape}: {done.stdout}{done.stderr}")
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1)), int(done.stdout)


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            (half, _), (whole, size) = (instructions(sys.argv[1], shape, n, folder) for n in (1024, 2048))
            good = half > 0 and whole / half < MOST_GROWTH and whole / size < MOST_PER_BYTE
            print(f"{shape:9} {half} instructions, twice the tables: {whole / half:.2f} times, {whole / size:.0f} per byte {'' if good else 'BAD'}")
            bad += not good
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
