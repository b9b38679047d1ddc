#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bounded_steps.py STEP_WORK BLOB -- the work of a step is a constant of the model: callgrind counts the same number of instructions in
rnnp_step for every kind of input (zeros, waves, huge, denormal, NaN) and for the first steps as for later ones."""
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = ("zero", "wavefront", "huge", "denormal", "nan")


def instructions(program, blob, steps, kind, folder):
    out = pathlib.Path(folder) / "callgrind.out"
    done = subprocess.run(["valgrind", "--tool=callgrind", "--toggle-collect=rnnp_step", f"--callgrind-out-file={out}", program, blob, str(steps), kind],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{kind}: {done.stderr}")
    return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1))


def main():
    program, blob = sys.argv[1:3]
    work = set()
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            total = [instructions(program, blob, steps, kind, folder) for steps in (20, 40, 60)]  # the first calls also resolve symbols
            early, late = (total[1] - total[0]) / 20, (total[2] - total[1]) / 20
            print(f"{kind:9} {early:.1f} instructions per step, later {late:.1f}")
            work |= {early, late}
    return 0 if min(work) > 0 and len(work) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
