#!/usr/bin/env python3
"""mutants.py -- one-line bugs that the tests must notice. Each *.json beside this file is a list of

    {"name": ..., "file": ..., "find": ..., "replace": ..., "tests": ..., "why": ..., "stage": ...}

`find` occurs exactly once in `file`, `tests` is a regular expression over CTest's names. `why` (optional) says what the bug does,
`stage` (optional) which preset of CMakePresets.json builds it; "hosted" where it is not given. A copy of the tree is built, the named
tests must pass on it as it is; then each bug alone is put in, built and tested. It must build, and a test must fail.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import in_copy

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEYS = {"name", "file", "find", "replace", "tests", "why", "stage"}
NEEDED = KEYS - {"why", "stage"}


def read_mutants():
    mutants = []
    for path in sorted(HERE.glob("*.json")):
        for mutant in json.loads(path.read_text()):
            if not NEEDED <= mutant.keys() <= KEYS:
                sys.exit(f"{path.name}: {mutant.get('name', mutant)}: keys are {', '.join(sorted(NEEDED))} and perhaps why, stage")
            mutants.append(mutant)
    for name, count in collections.Counter(mutant["name"] for mutant in mutants).items():
        if count > 1:
            sys.exit(f"two mutants are named '{name}'")
    return mutants


def stage_of(mutant):
    return mutant.get("stage", "hosted")


def misplaced(mutant):
    """Why the bug cannot be put in, or None."""
    path = ROOT / mutant["file"]
    if not path.is_file():
        return f"there is no {mutant['file']}"
    if mutant["find"] == mutant["replace"]:
        return "find and replace are the same"
    count = path.read_text().count(mutant["find"])
    return None if count == 1 else f"FIND NOT UNIQUE: occurs {count} times in {mutant['file']}"


def check(mutants, build):
    """Every bug has its place, and in the build folder `build` of stage hosted its test: nothing is built."""
    names = in_copy.registered_names(build)
    bad = 0
    for mutant in mutants:
        problem = misplaced(mutant)
        if not problem and stage_of(mutant) == "hosted" and not any(re.search(mutant["tests"], name) for name in names):
            problem = f"no test is named {mutant['tests']}"
        if problem:
            print(f"{mutant['name']}: {problem}")
            bad += 1
    print(f"{len(mutants)} mutants, {bad} of them out of date")
    return bad


def run_stage(stage, mutants, options):
    """Rows (name, outcome, detail, alive) of the stage's mutants."""
    copy = in_copy.Copy(ROOT, options.work, stage, options.jobs, options.timeout)
    names = copy.build_all()
    rows, ready = [], []
    for mutant in mutants:
        mutant["chosen"] = [name for name in names if re.search(mutant["tests"], name)]
        problem = misplaced(mutant) or (None if mutant["chosen"] else f"NO TEST is named {mutant['tests']}")
        if problem:
            rows.append((mutant["name"], problem, "", True))
        else:
            ready.append(mutant)
    wanted = sorted({name for mutant in ready for name in mutant["chosen"]})
    print(f"{stage}: {len(wanted)} tests on the clean copy", flush=True)
    bad = copy.run_tests(wanted, stop=False)
    if bad:
        sys.exit("the clean copy fails:\n" + "\n".join(f"  {name}: {how}" for name, how in bad.items()))
    for mutant in sorted(ready, key=lambda each: each["file"]):
        rows.append(run_mutant(copy, mutant, options))
        print(f"  {rows[-1][0]}: {rows[-1][1]} {rows[-1][2]}", flush=True)
    return rows


def run_mutant(copy, mutant, options):
    name = mutant["name"]
    with copy.changed(mutant["file"], mutant["find"], mutant["replace"]):
        if not copy.build_for(mutant["chosen"], f"{name}.log"):
            return name, "DOES NOT BUILD", str(copy.logs / f"{name}.log"), True
        bad = copy.run_tests(mutant["chosen"], stop=not options.all)
    if "did not run" in bad.values():
        return name, "TESTS ARE GONE", ", ".join(list(bad)[:3]), True
    if not bad:
        return name, "SURVIVED", ", ".join(mutant["chosen"][:3]), True
    how = "killed by timeout" if set(bad.values()) == {"timeout"} else "killed"
    more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
    return name, how, ", ".join(list(bad)[:3]) + more, False


def parse_arguments():
    parser = argparse.ArgumentParser(description="one-line bugs that the tests must notice; see CONTRIBUTING.md")
    parser.add_argument("--only", metavar="NAME", action="append", help="this mutant alone (a regular expression; may be given again)")
    parser.add_argument("--list", action="store_true", help="name the mutants and their tests; run nothing")
    parser.add_argument("--check", metavar="BUILD", help="only say whether every mutant has its place and its test, in a built stage hosted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one test of one mutant; a hang counts as killed, and says so")
    parser.add_argument("--all", action="store_true", help="run all tests of a mutant, not up to the first that fails")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutants", help="folder of the copies and their builds")
    return parser.parse_args()


def main():
    options = parse_arguments()
    mutants = read_mutants()
    if options.only:
        mutants = [mutant for mutant in mutants if any(re.search(only, mutant["name"]) for only in options.only)]
        if not mutants:
            sys.exit("no mutant is named so; --list names them")
    if options.list:
        for mutant in mutants:
            print(f"{mutant['name']:44} {mutant['file']:40} {mutant['tests']}")
        return 0
    if options.check:
        return 1 if check(mutants, pathlib.Path(options.check)) else 0
    stages = collections.defaultdict(list)
    for mutant in mutants:
        stages[stage_of(mutant)].append(mutant)
    rows = [row for stage, members in sorted(stages.items()) for row in run_stage(stage, members, options)]
    width = min(60, max((len(row[0]) for row in rows), default=0))
    print()
    for name, outcome, detail, _ in sorted(rows):
        print(f"{name:{width}}  {outcome:18} {detail}"[: shutil.get_terminal_size((160, 24)).columns])
    alive = sum(row[3] for row in rows)
    print(f"{len(rows) - alive} killed, {alive} not")
    return 1 if alive else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}")
