#!/usr/bin/env python3
"""count_tests.py REPORT.xml -- CTest's JUnit report as "passed failed skipped", then a line for each skipped test that says why.
SPDX-License-Identifier: Apache-2.0"""
import sys
import xml.etree.ElementTree

passed, failed, skipped = 0, 0, []
for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    skip = case.find("skipped")
    if case.get("status") == "run" and case.find("failure") is None:
        passed += 1
    elif skip is not None and skip.get("message", "").startswith("SKIP_"):
        output = (case.findtext("system-out") or "").strip().splitlines()
        reasons = [line.strip() for line in output if line.strip() and not line.startswith(("[", "Note:", "Running main", "Skipped"))]
        skipped.append((case.get("name"), reasons[-1][:160] if reasons else ""))
    else:  # failed, or could not be started
        failed += 1
print(passed, failed, len(skipped))
for name, reason in skipped:
    print(f"skipped: {name}" + (f" ({reason})" if reason else ""))
