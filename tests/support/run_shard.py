#!/usr/bin/env python3
"""run_shard.py REPORT.xml PREFIX INDEX COUNT PROGRAM... -- every COUNT-th case of a GoogleTest program, from case INDEX on, in one process.

A process per case costs more than most cases. What a process per case gives is kept: REPORT names every case, with what it printed
where it did not pass; behind a case that crashes or hangs the next ones run in a new process; where the program fails though every
case passes (a leak), each runs again alone, which names the one at fault. PREFIX stands before the names, as CTest has them.
SPDX-License-Identifier: Apache-2.0"""
import os
import pathlib
import re
import selectors
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

CASE_SECONDS = int(os.environ.get("RNNPACK_CASE_SECONDS", "600"))  # as CTest's TIMEOUT: a hang, not a measurement
EVENT = re.compile(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+?)(?:,? |$)")


def cases_of(program):
    """Full names, in the program's order."""
    names, suite = [], ""
    for line in subprocess.run([*program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout.splitlines():
        text = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + text.strip())
        elif text.endswith("."):
            suite = text
    return [name for name in names if "DISABLED_" not in name]


def lines_of(process):
    """What it prints, line by line; ends it when it prints nothing for CASE_SECONDS. GoogleTest flushes a line before each case."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        rest, last = b"", time.monotonic()
        while True:
            if not selector.select(timeout=max(0, last + CASE_SECONDS - time.monotonic())):
                process.kill()
                yield f"run_shard.py: nothing printed for {CASE_SECONDS} s\n"
                return
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            last = time.monotonic()
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode(errors="replace") + "\n"
            if not chunk:
                yield rest.decode(errors="replace")
                return


def run(program, names):
    """({name: (outcome, output)} of the cases that ran, exit status, what was printed outside of them)."""
    results, outside, now, output = {}, [], None, []
    command = [*program, "--gtest_filter=" + ":".join(names), "--gtest_color=no"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:
        for line in lines_of(process):
            event = EVENT.search(line)
            if event and event[1] == "RUN":
                now, output = event[2], []
            elif event and event[2] == now:
                results[now] = (event[1], "".join(output))
                now = None
            else:
                (output if now else outside).append(line)
    if now:
        results[now] = ("FAILED", "".join(output) + f"\n{now} ended the program with status {process.returncode}\n")
    return results, process.returncode, "".join(outside)


def run_all(program, names):
    """{name: (outcome, output)} of all of them; "the program" among them where it failed and no case did."""
    results, left = {}, names
    while left:
        done, status, outside = run(program, left)
        results.update(done)
        left = [name for name in left if name not in results]
        if not done:
            results.update({name: ("FAILED", f"did not run\n{outside}") for name in left})
            left = []
        elif status != 0 and not any(outcome == "FAILED" for outcome, _ in done.values()):
            guilty = find_guilty(program, done)
            results.update(guilty or {"the program": ("FAILED", f"status {status}, and no case alone gives it\n{outside}")})
    return results


def find_guilty(program, names):
    guilty = {}
    for name in names:
        done, status, outside = run(program, [name])
        if status != 0:
            guilty[name] = ("FAILED", done.get(name, ("", ""))[1] + outside)
    return guilty


def write_report(path, prefix, results):
    """As CTest's own report, for scripts/count_tests.py."""
    suite = xml.Element("testsuite", tests=str(len(results)))
    for name, (outcome, output) in results.items():
        case = xml.SubElement(suite, "testcase", name=prefix + name, status="run" if outcome == "OK" else "fail" if outcome == "FAILED" else "notrun")
        if outcome == "FAILED":
            xml.SubElement(case, "failure", message="")
        if outcome == "SKIPPED":
            xml.SubElement(case, "skipped", message="SKIP_REGULAR_EXPRESSION_MATCHED")
        if outcome != "OK":
            xml.SubElement(case, "system-out").text = re.sub(r"[^\t\n\x20-\ud7ff]", "?", output)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(suite).write(path, encoding="unicode")


def main():
    report, prefix, index, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    program = sys.argv[5:]
    report.unlink(missing_ok=True)
    results = run_all(program, cases_of(program)[index::count])
    write_report(report, prefix, results)
    failed = [name for name, (outcome, _) in results.items() if outcome == "FAILED"]
    for name in failed:
        print(f"{prefix}{name}:\n{results[name][1]}")
    for name in failed:
        print(f"FAILED {prefix}{name}")
    skipped = sum(outcome == "SKIPPED" for outcome, _ in results.values())
    print(f"{len(results) - len(failed) - skipped} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
