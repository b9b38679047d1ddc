#!/usr/bin/env python3
"""run_shard_test.py -- run_shard.py names what fails, crashes, hangs or leaks, counts every case once, and count_tests.py sums it up.
SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent

# A program that prints what GoogleTest prints; a case's name says how it ends.
PROGRAM = """
import os, sys, time
cases = %r
if "--gtest_list_tests" in sys.argv:
    print("Suite.")
    for case in cases:
        print("  " + case)
    sys.exit(0)
chosen = [argument for argument in sys.argv if argument.startswith("--gtest_filter=")][-1].split("=", 1)[1].split(":")
status = 0
for name in chosen:
    how = name.split(".")[1]
    print("[ RUN      ] " + name, flush=True)
    if how.startswith("Crashes"):
        os._exit(139)
    if how.startswith("Hangs"):
        time.sleep(60)
    if how.startswith("Leaks"):
        status = 23
    if how.startswith("Fails"):
        print("expected 1")
        status = 1
    word = "  FAILED  " if how.startswith("Fails") else "  SKIPPED " if how.startswith("Skips") else "      OK "
    print("a line without its end[" + word + "] " + name + " (0 ms)", flush=True)
if status == 23:
    print("leaks were found")
sys.exit(status)
"""


class Shards(unittest.TestCase):
    def run_shards(self, cases, count=2, **environment):
        """{case: outcome} over all shards, what they printed, and what count_tests.py says of a report of them."""
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "program.py").write_text(PROGRAM % (cases,))
            outcomes, printed, ctest = {}, "", xml.Element("testsuite")
            for index in range(count):
                done = subprocess.run([sys.executable, HERE / "run_shard.py", at / f"shards.x.{index}.xml", "x.", str(index), str(count),
                                       sys.executable, at / "program.py"], capture_output=True, text=True, env=os.environ | environment)
                printed += done.stdout
                ran = xml.SubElement(ctest, "testcase", name=f"shards.x.{index}", status="run" if done.returncode == 0 else "fail")
                if done.returncode:
                    xml.SubElement(ran, "failure", message="")
                for case in xml.parse(at / f"shards.x.{index}.xml").iter("testcase"):
                    self.assertNotIn(case.get("name"), outcomes)
                    outcomes[case.get("name")] = case.get("status")
            xml.ElementTree(ctest).write(at / "ctest.xml")
            count_tests = HERE.parent.parent / "scripts/count_tests.py"
            counted = subprocess.run([count_tests, at / "ctest.xml", at, str(len(cases))], capture_output=True, text=True)
            return outcomes, printed, counted.stdout.splitlines(), counted.returncode

    def test_all_pass(self):
        outcomes, _, counted, status = self.run_shards(["A", "B", "Skips", "D", "E"])
        self.assertEqual(outcomes, {"x.Suite.A": "run", "x.Suite.B": "run", "x.Suite.Skips": "notrun", "x.Suite.D": "run", "x.Suite.E": "run"})
        self.assertEqual((counted[0], status), ("4 0 1", 0))

    def test_a_failure_is_named(self):
        outcomes, printed, counted, _ = self.run_shards(["A", "Fails", "C", "D"])
        self.assertEqual([name for name, how in outcomes.items() if how == "fail"], ["x.Suite.Fails"])
        self.assertIn("expected 1", printed)
        self.assertEqual((counted[0], counted[-1]), ("3 1 0", "failed: x.Suite.Fails"))

    def test_a_crash_is_named_and_the_others_run(self):
        outcomes, _, counted, _ = self.run_shards(["A", "Crashes1", "C", "Crashes2", "E", "F"], count=1)
        self.assertEqual([name for name, how in outcomes.items() if how == "fail"], ["x.Suite.Crashes1", "x.Suite.Crashes2"])
        self.assertEqual(counted[0], "4 2 0")

    def test_a_hang_is_named_and_the_others_run(self):
        outcomes, printed, counted, _ = self.run_shards(["A", "Hangs", "C"], count=1, RNNPACK_CASE_SECONDS="1")
        self.assertEqual([name for name, how in outcomes.items() if how == "fail"], ["x.Suite.Hangs"])
        self.assertIn("nothing printed for 1 s", printed)
        self.assertEqual(counted[0], "2 1 0")

    def test_a_leak_is_named(self):
        outcomes, _, counted, _ = self.run_shards(["A", "Leaks", "C"], count=1)
        self.assertEqual([name for name, how in outcomes.items() if how == "fail"], ["x.Suite.Leaks"])
        self.assertEqual(counted[0], "2 1 0")

    def test_cases_that_did_not_run_are_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "ctest.xml").write_text('<testsuite><testcase name="a" status="run"/></testsuite>')
            command = [HERE.parent.parent / "scripts/count_tests.py", at / "ctest.xml", at, "1"]
            self.assertNotEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
