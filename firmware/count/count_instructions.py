# SPDX-License-Identifier: Apache-2.0
"""count_instructions.py -- exact instruction counts of an image's measured steps, in total and per function, by a QEMU plugin of our own."""
import bisect
import os
import subprocess
import tempfile
from collections import defaultdict


def functions(nm, image):
    """Sorted (address, name) of the image's functions; Thumb bits removed."""
    rows = []
    for line in subprocess.run([nm, "-C", image], check=True, capture_output=True, text=True).stdout.splitlines():
        fields = line.split(maxsplit=2)
        if len(fields) == 3 and fields[1] in "tTwW" and not fields[2].startswith("$"):
            rows.append((int(fields[0], 16) & ~1, fields[2]))
    return sorted(rows)


def run_counted(emulator, image, plugin, nm):
    """(output, steps, {function: instructions over all steps}) of one run."""
    table = functions(nm, image)
    address = {name: at for at, name in table}
    with tempfile.NamedTemporaryFile(mode="r") as counts:
        argument = f"{plugin},begin={address['measure_begin']:#x},end={address['measure_end']:#x},out={counts.name}"
        run = subprocess.run(emulator + [image], capture_output=True, text=True, env={**os.environ, "RNNPACK_QEMU_PLUGIN": argument})
        if run.returncode != 0:
            raise SystemExit(f"{image} ended with status {run.returncode}\n{run.stdout}{run.stderr}")
        lines = counts.read().split("\n")
    steps = int(lines[0].split()[1])
    starts = [at for at, _ in table]
    sums = defaultdict(int)
    for line in lines[1:]:
        if line:
            at, count = line.split()
            sums[table[bisect.bisect_right(starts, int(at, 16)) - 1][1]] += int(count)
    for mark in ("measure_begin", "measure_end"):
        sums.pop(mark, None)
    return run.stdout + run.stderr, steps, sums  # semihosting prints to stderr
