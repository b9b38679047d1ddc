#!/usr/bin/env python3
"""count_tests.py REPORT.xml [SHARDS [CASES]] -- CTest's JUnit report as "passed failed skipped", then a line for each skipped test that says
why. A test shards.X stands for the cases that it ran, which SHARDS/shards.X.xml names (tests/support/run_shard.py); with CASES, all
shards together must have run so many. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys
import xml.etree.ElementTree


def cases_of(report):
    return list(xml.etree.ElementTree.parse(report).iter("testcase"))


def expanded(cases, shards):
    """The cases, those of shards in the place of the shards; and how many of them those are."""
    found, in_shards = [], 0
    for case in cases:
        report = shards / f"{case.get('name')}.xml" if shards else None
        if report and case.get("name").startswith("shards.") and report.is_file():
            inside = cases_of(report)
            found += inside
            in_shards += len(inside)
            if case.get("status") == "run" or any(each.find("failure") is not None for each in inside):
                continue  # else it failed outside of its cases, as one test more
        found.append(case)
    return found, in_shards


def main():
    cases, in_shards = expanded(cases_of(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    if len(sys.argv) > 3 and in_shards != int(sys.argv[3]):
        sys.exit(f"of {sys.argv[3]} cases the shards ran {in_shards}")
    passed, failed, skipped = 0, [], []
    for case in cases:
        skip = case.find("skipped")
        if case.get("status") == "run" and case.find("failure") is None:
            passed += 1
        elif skip is not None and skip.get("message", "").startswith("SKIP_"):
            output = (case.findtext("system-out") or "").strip().splitlines()
            reasons = [line.strip() for line in output if line.strip() and not line.startswith(("[", "Note:", "Running main", "Skipped"))]
            skipped.append((case.get("name"), reasons[-1][:160] if reasons else ""))
        else:  # failed, or could not be started
            failed.append(case.get("name"))
    print(passed, len(failed), len(skipped))
    for name, reason in skipped:
        print(f"skipped: {name}" + (f" ({reason})" if reason else ""))
    for name in failed:
        print(f"failed: {name}")


if __name__ == "__main__":
    main()
