"""What the programs of random networks share: a seed is a network, the same one always.

A run fails where a network is wrong, where the package raises anything but its own errors, or where fewer than four fifths of the
networks are right: the others are refused, or the framework itself does not take them. A network may differ from its framework by 2e-4,
and by a hundred times what a change of its inputs in their seventh digit makes.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import pathlib
import re
import tempfile

import numpy as np

import rnnpack

IDS = 12  # of an embedding


def series(seed, shape, integer):
    """Normal numbers, or ids of this type where there are no features."""
    random = np.random.default_rng(seed)
    return random.integers(0, IDS, shape).astype(integer) if len(shape) == 2 else random.normal(0, 1, shape).astype(np.float32)


def _allowed(run, x, wanted):
    """How far each number may be off."""
    spread = [0] * len(wanted)
    if x.dtype.kind == "f":
        noise = np.random.default_rng(5).uniform(-1e-7, 1e-7, x.shape).astype(np.float32)
        spread = [np.abs(each - want) for each, want in zip(run(x * (1 + noise)), wanted)]
    return [2e-4 * (1 + np.abs(want)) + 100 * np.max(each, initial=0) for each, want in zip(spread, wanted)]


def _difference(got, wanted, bounds):
    """What is wrong, if anything."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs, not {len(wanted)}"
    for mine, want, bound in zip(got, wanted, bounds):
        if mine.ndim == want.ndim + 1 and mine.size == want.size:  # Flatten over steps: the blob keeps them apart
            mine = mine.reshape(want.shape)
        if mine.shape != want.shape:
            return f"shape {mine.shape}, not {want.shape}"
        bad = ~((np.abs(mine - want) <= bound) | (np.isnan(mine) & np.isnan(want)) | (mine == want))
        if bad.any():
            return f"{np.sum(bad)} of {bad.size} numbers differ, one by {np.nanmax(np.where(bad, np.abs(mine - want), 0)):.2g}"
    return ""


def _run_file(path, x, rows, sizes):
    """The outputs by the package."""
    try:
        model = rnnpack.compile(path)
    except rnnpack.Error as error:
        if not sizes or not any(name in str(error) for name in sizes):
            raise
        model = rnnpack.compile(path, dim=sizes)
    got = model.session(batch=rows).run(x)
    return list(got.values()) if isinstance(got, dict) else [got]


def compared_with(run, path, x, wanted, name, rows, sizes=None):
    """What came of a file beside what `run` gives, and a line about it. `rows`: of its batch; `sizes`: of its open dimensions, where it is
    not taken without."""
    try:
        got = _run_file(path, x, rows, sizes)
    except rnnpack.Error as error:
        said = re.sub(r"'[^']*'", "'.'", str(error).replace("the model is refused:\n", "").split("\n")[0])
        return ("wrong", f"{said}: {path.suffix}, {name}") if "ended with" in said else ("refused", said)  # ended: a crash
    wrong = _difference(got, wanted, _allowed(run, x, wanted))
    return ("wrong", f"{wrong}: {path.suffix}, {name}") if wrong else ("right", "")


def main(run_seed, description, least_right=0.8):
    """`run_seed` gives what came of a seed's files, each with a line about it. least_right: the share that has to be right."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="of the first network")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the files of the last network here")
    args = parser.parse_args()
    counts, reasons = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seed, args.seed + args.count):
            for result, text in run_seed(seed, args.keep or pathlib.Path(folder)):
                counts[result] += 1
                if result in ("wrong", "refused"):
                    print(f"{seed}: {result}: {text}", flush=True)
                if result not in ("right", "wrong"):
                    reasons[f"{result}: {text[:150]}"] += 1
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    for reason, count in reasons.most_common(20):
        print(f"{count} {reason}")
    return 1 if counts["wrong"] or counts["right"] < least_right * args.count else 0
