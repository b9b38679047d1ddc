#!/usr/bin/env python3
"""Measures rnnpack beside every runtime that is installed, and prints how far each row is from them and from the machine's limits.

See bench/README.md. The exit status is 1 when a result was wrong and 2 when our own library could not be measured. A missed target is a finding, not
a failure.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from peers import NAMES, OURS
from suite.document import page_of, replace_tables, summary_text
from suite.entries import add_speedups, entry_of
from suite.footprint import footprint
from suite.jitter import measure_jitter
from suite.limits import best_of, measure_limits
from suite.locate import Built, choose_cpus, machine_name
from suite.measure import Budget, Result, measure_row
from suite.roofline_svg import roofline_svg
from suite.rows import Row, full_rows, quick_rows
from suite.tables import render
from suite.workers import Family

BENCH = Path(__file__).resolve().parent
QUICK_SECONDS, FULL_SECONDS = 1.0, 4.0


def main() -> int:
    options = parse_options()
    if options.markdown:
        return write_pages(options.markdown, options.into)
    rows = choose_rows(options)
    if options.list:
        print("\n".join(row.name for row in rows))
        return 0
    results = measure_all(rows, options)
    write(results, options)
    print(render(results, markdown=False), end="")
    if options.ours in results["absent"]:
        say(f"{options.ours} itself could not be measured: {results['absent'][options.ours]}")
        return 2
    return 1 if any(entry["wrong"] for entry in results["rows"]) else 0


def write_pages(paths: list[Path], summary_page: Path | None) -> int:
    """A page of all rows beside each results file, and the summaries of all of them into `summary_page`."""
    machines = [(path, json.loads(path.read_text())) for path in paths]
    for path, machine in machines:
        path.with_suffix(".md").write_text(page_of(machine))
    if summary_page:
        links = {path: os.path.relpath(path.with_suffix(".md"), summary_page.parent) for path in paths}
        replace_tables(summary_page, "\n".join(summary_text(machine, links[path]) for path, machine in machines))
    return 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=BENCH.parent / "build", help="CMake build directory (RNNPACK_BENCH and _COMPILER on)")
    parser.add_argument("--quick", action="store_true", help="the rows that have a target, in under two minutes")
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB", help="rows whose name matches, e.g. 'steps/lstm*' (repeatable)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="thread counts (default 1 2)")
    parser.add_argument("--peers", nargs="*", default=list(NAMES), help=f"of {', '.join(NAMES)}")
    parser.add_argument("--seconds", type=float, help=f"of timing a row (default {FULL_SECONDS}, quick {QUICK_SECONDS})")
    parser.add_argument("--rounds", type=int, default=5, help="alternations between the runtimes")
    parser.add_argument("--cpus", help="cores to pin to, e.g. 2,3 (default: the first of those allowed)")
    parser.add_argument("--output", type=Path, help="results file (default <build>/bench.json; the plot is beside it)")
    parser.add_argument("--save", action="store_true", help="write bench/results/<machine>.json and .svg instead")
    parser.add_argument("--list", action="store_true", help="print the rows' names and stop")
    parser.add_argument("--markdown", type=Path, nargs="+", metavar="RESULTS", help="write <file>.md beside each results file and stop")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="with --markdown: replace the tables of this page by the files' summaries")
    parser.add_argument("--ours", default=OURS, help=argparse.SUPPRESS)  # a peer's name, to try the driver without the library
    return parser.parse_args()


def choose_rows(options: argparse.Namespace) -> list[Row]:
    threads = tuple(count for count in options.threads if count <= (os.cpu_count() or 1))
    rows = quick_rows(threads) if options.quick else full_rows(threads)
    if options.filter:
        rows = [row for row in rows if any(fnmatch.fnmatch(row.name, f"*{glob}*") for glob in options.filter)]
    return rows


def measure_all(rows: list[Row], options: argparse.Namespace) -> dict[str, Any]:
    built = Built(options.build.resolve())
    if built.tool:
        os.environ["RNNPACK_BENCH_TOOL"] = str(built.tool)
    scratch = built.root / "bench-cases"
    for folder in (scratch, built.root / "bench-logs"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    say("measuring the machine's limits")
    counts = sorted({1, *(row.threads for row in rows)})
    cpus = choose_cpus(options.cpus, max(2, *counts))
    limits = measure_limits(built.machine, cpus, counts)
    results: dict[str, Any] = {"machine_name": machine_name(), "peers": options.peers, "versions": {}, "absent": {}}
    measured: list[Result] = []
    try:
        for threads in sorted({row.threads for row in rows}):
            measure_family([row for row in rows if row.threads == threads], threads, built, scratch, results, options, measured)
    except KeyboardInterrupt:
        say(f"stopped after {len(measured)} of {len(rows)} rows: the results hold those")
    limits = best_of(limits, measure_limits(built.machine, cpus, counts))
    results["machine"] = limits.data
    results["rows"] = [entry_of(result, limits, options.ours) for result in measured]
    add_speedups(results["rows"])
    add_extras(results, built, scratch, options)
    shutil.rmtree(scratch, ignore_errors=True)
    return results


def measure_family(rows: list[Row], threads: int, built: Built, scratch: Path, results: dict[str, Any],
                   options: argparse.Namespace, measured: list[Result]) -> None:
    """All rows of one thread count, on workers made for that count; each is added to `measured` when it is done."""
    budget = Budget(options.seconds or (QUICK_SECONDS if options.quick else FULL_SECONDS), options.rounds)
    names = list(dict.fromkeys([options.ours, *options.peers]))
    family = Family(names, threads, choose_cpus(options.cpus, threads), built.libraries, built.root / "bench-logs")
    results["versions"].update(family.versions)
    results["absent"].update(family.absent)
    try:
        for number, row in enumerate(rows, 1):
            begin = time.monotonic()
            measured.append(measure_row(row, family, budget, scratch, options.ours))
            done = f"[{threads} thread(s) {number}/{len(rows)}] {row.name}: {summary(measured[-1], options.ours)}"
            say(f"{done} ({time.monotonic() - begin:.1f} s)")
    finally:
        family.stop()


def summary(result: Result, ours: str) -> str:
    if result.wrong:
        return "WRONG: " + "; ".join(result.wrong)
    times = {peer: timing.min_us for peer, timing in result.timings.items()}
    if ours not in times:
        return "not run: " + result.reasons.get(ours, "no timing")
    own = times.pop(ours)
    fastest = min(times, key=times.__getitem__, default=None)
    return f"{own:.3f} us" + (f", {own / times[fastest]:.3f} of {fastest}" if fastest else "")


def add_extras(results: dict[str, Any], built: Built, scratch: Path, options: argparse.Namespace) -> None:
    if built.archive:
        results["footprint"] = footprint(built.archive)
    if built.tool and built.jitter.exists() and not options.filter:
        say("a million single steps for the jitter")
        results["jitter"] = measure_jitter(built.jitter, built.tool, choose_cpus(options.cpus, 1)[0], scratch)


def write(results: dict[str, Any], options: argparse.Namespace) -> None:
    path = options.output or options.build.resolve() / "bench.json"
    if options.save:
        path = BENCH / "results" / f"{results['machine_name']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(results_text(results))
    path.with_suffix(".svg").write_text(roofline_svg(results))
    say(f"wrote {path} and {path.with_suffix('.svg').name}")


def results_text(results: dict[str, Any]) -> str:
    """JSON with a line per row, so that two runs can be compared by diff."""
    rows = ",\n".join(json.dumps(rounded(row)) for row in results["rows"])
    head = json.dumps(rounded({**results, "rows": []}), indent=1)
    return head.replace('"rows": []', f'"rows": [\n{rows}\n]') + "\n"


def rounded(value: Any) -> Any:
    """Six digits are more than a clock gives."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
