"""fuzz.py -- random ONNX models, compiled and run by the driver, beside onnxruntime. A seed is a model: the same one always.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import collections
import pathlib
import re
import sys
import time

from onnx import helper

import case as cases
import coverage
import known
from driver_process import Driver


WALKS_TO_NOTICE = 8  # a walk leaves outputs out now and then


def reason_of(message):
    """A refusal without its names and numbers."""
    line = message.split("\n")[0]
    line = re.sub(r"'[^']*'", "'.'", line)
    return re.sub(r"-?\d+", "#", line)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--driver", help="the program onnx_fuzz_driver")
    parser.add_argument("--seed", type=int, default=1, help="of the first model")
    parser.add_argument("--count", type=int, default=1000, help="models")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long")
    parser.add_argument("--walks", type=int, default=2, help="random walks over the API per model")
    parser.add_argument("--keep-failures", metavar="DIR", help="write model, inputs and the way to show it of each failure")
    parser.add_argument("--minimise", action="store_true", help="make failing models smaller first")
    parser.add_argument("--case", metavar="DIR", help="run one that was kept")
    parser.add_argument("--spoilt", action="store_true", help="only ask whether wrong outputs and walks are noticed")
    parser.add_argument("--known", action="store_true", help="only ask onnxruntime whether it differs as known.py says")
    parser.add_argument("--operators", metavar="PAGE", help="docs/OPERATORS.md: each operator there must have run often enough")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def node_text(node):
    given = {a.name: helper.get_attribute_value(a) for a in node.attribute if a.type not in (a.TENSOR, a.GRAPH)}
    return f"{node.op_type}({','.join(node.input)}){given or ''} -> {','.join(node.output)}"


def report_failure(case, result, driver, options):
    print(f"seed {case.seed} {case.template}: {result.text}", flush=True)
    if options.minimise:
        import minimise
        case, result = minimise.minimise(case, result, driver, options.walks)
        print("  smaller:", "; ".join(node_text(n) for n in case.model.graph.node))
        print("  ", result.text)
    if options.keep_failures:
        case.save(pathlib.Path(options.keep_failures) / str(case.seed), result.text)


def spoilt(driver):
    """Models that run, again with a wrong number among the outputs, then among what the walks should find: each must fail."""
    asked, missed = 0, []
    for seed in range(1, 40):
        case = cases.Case.of_seed(seed)
        result = cases.run(case, driver, WALKS_TO_NOTICE)
        if result.kind != cases.RAN or result.shaken or result.excused:
            continue
        asked += 1
        missed += [(seed, spoil) for spoil in (1, 2) if cases.run(case, driver, WALKS_TO_NOTICE, spoil).kind != cases.FAILED]
    driver.close()
    print(f"{asked} models spoilt in two ways, missed:", missed)
    return 1 if missed or asked < 20 else 0


def main():
    options = arguments()
    if options.known:
        return 1 if known.check() else 0
    driver = Driver(options.driver)
    if options.spoilt:
        return spoilt(driver)
    counts, reasons, excused = collections.Counter(), collections.Counter(), collections.Counter()
    seeds_of, seen, start = {}, coverage.Coverage(), time.monotonic()
    for seed in range(options.seed, options.seed + (1 if options.case else options.count)):
        if options.seconds and time.monotonic() - start > options.seconds:
            break
        case = cases.Case.load(options.case) if options.case else cases.Case.of_seed(seed)
        result = cases.run(case, driver, options.walks)
        counts[result.kind] += 1
        counts["causal"] += result.causal
        counts["shaken"] += result.shaken
        if result.kind == cases.RAN:
            seen.add(case.model)
        if result.excused:
            excused[result.excused] += 1
        if result.kind in (cases.REFUSED_, cases.NO_REFERENCE):
            key = (result.kind, reason_of(result.text))
            reasons[key] += 1
            seeds_of.setdefault(key, (seed, case.template, result.text.split("\n")[0]))
        if result.kind == cases.FAILED:
            report_failure(case, result, driver, options)
    driver.close()
    return summary(options, counts, reasons, excused, seeds_of, seen, time.monotonic() - start)


def summary(options, counts, reasons, excused, seeds_of, seen, seconds):
    total = sum(counts[k] for k in (cases.RAN, cases.REFUSED_, cases.FAILED, cases.NO_REFERENCE))
    for (kind, reason), count in reasons.most_common(None if options.verbose else 12):
        seed, template, text = seeds_of[(kind, reason)]
        print(f"{count:6d} {kind}: {text if options.verbose else reason}  (seed {seed} {template})")
    for name, count in excused.most_common():
        print(f"{count:6d} where onnxruntime is known to differ: {name}")
    rare = seen.rare(options.operators) if options.operators else []
    for line in rare:
        print("too rare:", line)
    if options.verbose:
        print(seen.table())
    print(f"{total} models, {counts[cases.RAN]} like onnxruntime ({counts['shaken']} after a shake), {counts['causal']} causal, "
          f"{counts[cases.REFUSED_]} refused ({100 * counts[cases.REFUSED_] / max(1, total):.0f} %), {counts[cases.NO_REFERENCE]} that "
          f"onnxruntime cannot run, {counts[cases.FAILED]} wrong; {total / max(seconds, 1e-9):.0f} models/s")
    few = total >= 100 and counts[cases.RAN] < 0.7 * total
    if few:
        print("too few models ran: the generator tests little")
    return 1 if counts[cases.FAILED] or rare or few else 0


if __name__ == "__main__":
    sys.exit(main())
