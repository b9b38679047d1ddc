#!/usr/bin/env python3
"""count_tests.py REPORT.xml -- CTest's JUnit report as "passed failed skipped", then a line for each skipped test that says why.
SPDX-License-Identifier: Apache-2.0"""
import sys
import xml.etree.ElementTree

passed, failed, skipped = 0, 0, []
for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    if case.find("failure") is not None or case.get("status") == "fail":
        failed += 1
    elif case.find("skipped") is not None or case.get("status") != "run":
        output = (case.findtext("system-out") or "").strip().splitlines()
        reasons = [line.strip() for line in output if line.strip() and not line.startswith(("[", "Note:", "Running main", "Skipped"))]
        skipped.append((case.get("name"), reasons[-1][:160] if reasons else ""))
    else:
        passed += 1
print(passed, failed, len(skipped))
for name, reason in skipped:
    print(f"skipped: {name}" + (f" ({reason})" if reason else ""))
