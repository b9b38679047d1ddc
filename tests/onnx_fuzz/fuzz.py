"""fuzz.py -- random ONNX models, compiled and run by the driver, beside onnxruntime. A seed is a model: the same one always.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import onnx
from onnx import helper

import case as cases
import coverage
import known
import time_models
from driver_process import Driver


KINDS = (cases.RAN, cases.REFUSED_, cases.UNCLEAR, cases.FAILED, cases.NO_REFERENCE, cases.PART)
# What share of models must run, and may be refused in words that cannot be understood: around the time axis, and else.
LEAST_RUN, MOST_UNCLEAR = {True: 0.3, False: 0.7}, 0.03
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
    parser.add_argument("--time", action="store_true", help="models around the time axis, each at several sizes")
    parser.add_argument("--known-wrong", metavar="FILE", help="seeds that are wrong today, each with its class: they are no failures")
    parser.add_argument("--tool", metavar="RNNPACK", help="count the wrong models that the check at the end of its `compile` finds")
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


def report_failure(case, result, driver, options, forms=()):
    print(f"seed {case.seed} {case.template}: {result.text}", flush=True)
    if forms:
        print("  drawn:", "; ".join(sorted(forms)))
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
    driver = Driver(options.driver, 30 if options.time else 120)
    if options.spoilt:
        return spoilt(driver)
    tally, start = Tally(options), time.monotonic()
    for seed in range(options.seed, options.seed + (1 if options.case else options.count)):
        if options.seconds and time.monotonic() - start > options.seconds:
            break
        forms = ()
        if options.case:
            sizes = [cases.Case.load(options.case)]
        elif options.time:
            sizes, forms = cases.Case.around_time(seed)
        else:
            sizes = [cases.Case.of_seed(seed)]
        tally.add(sizes, *run_sizes(sizes, driver, options), forms, driver)
    driver.close()
    return summary(options, tally, time.monotonic() - start)


def run_sizes(sizes, driver, options):
    """The result of the model, the size it is of, and at how many sizes it ran."""
    result, ran = None, 0
    for at, case in enumerate(sizes):
        now = cases.run(case, driver, options.walks)
        ran += now.kind == cases.RAN
        if now.kind == cases.FAILED:
            return now, case, ran
        if at == 0:
            result = now
        if now.kind in (cases.REFUSED_, cases.UNCLEAR):
            break
    return result, sizes[0], ran


def found_by(tool, model):
    """What the tool's own check says of a wrong model."""
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/model.onnx")
        try:
            code = subprocess.run([tool, "compile", "model.onnx", "-o", "model.rnnp"], cwd=folder, capture_output=True, check=False,
                                  timeout=30).returncode
        except subprocess.TimeoutExpired:
            return "check hangs"
    return {4: "check finds", 0: "check passes", 2: "check refuses"}.get(code, f"check ends with {code}")


class Tally:
    """What came of the models."""

    def __init__(self, options):
        self.options = options
        self.counts, self.reasons, self.excused = collections.Counter(), collections.Counter(), collections.Counter()
        self.drawn, self.accepted = collections.Counter(), collections.Counter()  # forms of models around the time axis
        self.seeds_of, self.seen, self.wrong = {}, coverage.Coverage(), []

    def known_wrong(self):
        path = self.options.known_wrong
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines() if path else []
        return {int(line.split()[0]): line for line in lines if line and not line.startswith("#")}

    def add(self, sizes, result, case, ran, forms, driver):
        self.counts[result.kind] += 1
        self.counts["sizes"] += ran
        self.counts["causal"] += result.causal
        self.counts["shaken"] += result.shaken
        self.drawn.update(forms)
        if result.kind == cases.RAN:
            self.seen.add(case.model)
            self.accepted.update(forms)
        if result.excused:
            self.excused[result.excused] += 1
        if result.kind in (cases.REFUSED_, cases.NO_REFERENCE, cases.PART, cases.UNCLEAR):
            key = (result.kind, reason_of(result.text))
            self.reasons[key] += 1
            self.seeds_of.setdefault(key, (case.seed, case.template, result.text.split("\n")[0]))
        if result.kind == cases.FAILED:
            self.wrong.append(case.seed)
            if self.options.tool:
                self.counts[found_by(self.options.tool, case.model)] += 1
            report_failure(case, result, driver, self.options, forms)


def form_table(tally):
    return "\n".join(f"{name:36} {count:5d} drawn {tally.accepted[name]:5d} ran" for name, count in sorted(tally.drawn.items()))


def summary(options, tally, seconds):
    counts, seen = tally.counts, tally.seen
    total = sum(counts[k] for k in KINDS)
    for (kind, reason), count in tally.reasons.most_common(None if options.verbose else 12):
        seed, template, text = tally.seeds_of[(kind, reason)]
        print(f"{count:6d} {kind}: {text if options.verbose else reason}  (seed {seed} {template})")
    for name, count in tally.excused.most_common():
        print(f"{count:6d} where onnxruntime is known to differ: {name}")
    rare = seen.rare(options.operators) if options.operators else []
    if options.time and total >= 500:
        rare = time_models.rare(tally.drawn)
    for line in rare:
        print("too rare:", line)
    if options.verbose:
        print(seen.table())
        print(form_table(tally))
    print(f"{total} models, {counts[cases.RAN]} like onnxruntime ({counts['shaken']} after a shake), {counts['causal']} causal, "
          f"{counts[cases.REFUSED_]} refused ({100 * counts[cases.REFUSED_] / max(1, total):.0f} %), {counts[cases.NO_REFERENCE]} that "
          f"onnxruntime cannot run, {counts[cases.PART]} at sizes that end within a step, {counts[cases.UNCLEAR]} refused unclearly, "
          f"{counts[cases.FAILED]} wrong; {counts['sizes']} sizes; {total / max(seconds, 1e-9):.0f} models/s")
    known_wrong = tally.known_wrong()
    for seed in sorted(set(known_wrong) - set(tally.wrong)):
        if options.seed <= seed < options.seed + options.count:
            print("no longer wrong, take it off the list:", known_wrong[seed])
    new = [seed for seed in tally.wrong if seed not in known_wrong]
    few = total >= 100 and counts[cases.RAN] < LEAST_RUN[options.time] * total
    if few:
        print("too few models ran: the generator tests little")
    many = total >= 100 and counts[cases.UNCLEAR] > MOST_UNCLEAR * total
    if many:
        print("too many refusals cannot be understood")
    if new:
        print("wrong:", *new)
    if options.tool:
        print("the tool's own check:", {name: count for name, count in counts.items() if name.startswith("check ")})
    return 1 if new or rare or few or many else 0


if __name__ == "__main__":
    sys.exit(main())
