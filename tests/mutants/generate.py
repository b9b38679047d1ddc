#!/usr/bin/env python3
"""generate.py -- draws one-line bugs of C++ files by a seed, puts each in a copy of the tree, and names those that no test notices.

Over tokens, so nothing here is bound to the text of a file: relations (< for <=), signs, && for ||, integers one larger, an operand of
&& or || dropped, two plain arguments swapped, a call, an assignment or a check that returns left out. Comments, texts, directives and
static assertions are left alone. The test programs that cover the file must fail. A bug that does not build is replaced by another one.
A survivor is a missing test or changes nothing that can be seen: which of them, a reader has to say.
SPDX-License-Identifier: Apache-2.0"""
import argparse
import dataclasses
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import in_copy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEVICE = ["src/runtime", "src/format", "src/ops", ":!src/ops/xnnpack"]

# Which preset builds the tests of a file, and their programs.
COVERING = [(r"^src/(compiler|pack)/", "hosted", r"compiler_test|pack|golden|conformance"),
            (r"^src/cuda/", "hosted", r"cuda"),
            (r"^src/ops/xnnpack/", "hosted", r"xnnpack|api_test"),
            (r"^(src|platform)/", "freestanding", r"")]

SKIPPED = re.compile(r"prefetch|static_assert|assert\(|alignas|^\s*(case|using|typedef|template|friend|public|private|enum)\b")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "&&": "||", "||": "&&"}
PLAIN = r"[A-Za-z_][\w.]*(?:->\w+|\[\w+\])*"
STATEMENT = re.compile(rf"^\s+(?:(?:\+\+|--){PLAIN}|{PLAIN}(?:\+\+|--)|\*?{PLAIN} (?:[-+*/|&]|<<|>>)?= [^{{}}]*|(?:\w+::)*{PLAIN}\([^{{}}]*\));$")
CHECK = re.compile(r"^\s+if \(.*\) (?:return|continue|break)\b[^{}]*;$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    begin: int
    end: int
    text: str
    kind: str
    line: int

    def put_in(self, source):
        return source[:self.begin] + self.text + source[self.end:]

    def describe(self, source):
        start = source.rfind("\n", 0, self.begin) + 1
        stop = source.find("\n", self.end)
        before, after = source[start:stop].strip(), (source[start:self.begin] + self.text + source[self.end:stop]).strip()
        return f"{self.file}:{self.line}: {self.kind}\n    - {before}\n    + {after}"


def masked(source):
    """Every comment, text and directive as spaces; line ends stay."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), source, flags=re.DOTALL | re.MULTILINE)


def operand_end(text, at):
    """Where the operand that begins at `at` ends: before &&, ||, ?, a comma, a semicolon or the closing bracket."""
    depth = 0
    while at < len(text):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            if depth == 0:
                return at
            depth -= 1
        elif depth == 0 and (text[at] in ";,?" or text[at:at + 2] in ("&&", "||")):
            return at
        at += 1
    return at


def mutants_of(file, source):
    """All of one file, in order of their places."""
    text = masked(source)
    starts = [0] + [m.end() for m in re.finditer("\n", text)]
    found = []

    def add(begin, end, new, kind):
        number = sum(start <= begin for start in starts)
        found.append(Mutant(file, begin, end, new, kind, number))

    for number, start in enumerate(starts):
        line = text[start:starts[number + 1] - 1] if number + 1 < len(starts) else text[start:]
        if SKIPPED.search(line) or not line.startswith("  "):
            continue
        for m in re.finditer(r" (<=|>=|==|!=|<|>|\+|-|&&|\|\|) ", line):
            kind = {"&": "logic", "|": "logic", "+": "sign", "-": "sign"}.get(m[1][0], "relation")
            add(start + m.start(1), start + m.end(1), RELATIONS[m[1]], kind)
            if kind == "logic":
                stop = operand_end(text, start + m.end())
                add(start + m.start(), len(text[:stop].rstrip()), "", "operand dropped")
        for m in re.finditer(r"(?<![\w.])(\d+)(?=(?:u|ull|U|UL|z)?\b(?!\.))(?![\w]*\.)", line):
            add(start + m.start(1), start + m.end(1), str(int(m[1]) + 1), "constant")
        for m in re.finditer(rf"(?<=\w\()({PLAIN}), ({PLAIN})(?=[,)])", line):
            if m[1] != m[2]:
                add(start + m.start(), start + m.end(), f"{m[2]}, {m[1]}", "arguments swapped")
        before = text[:start].rstrip()[-1:]
        if STATEMENT.match(line) and before in (";", "{", "}", ")", ":"):
            add(start + len(line) - len(line.lstrip()), start + len(line), ";", "statement left out")
        if CHECK.match(line) and not text[:start].rstrip().endswith("else"):
            add(start + len(line) - len(line.lstrip()), start + len(line), ";", "check left out")
    return found


def sources(places):
    listed = subprocess.run(["git", "ls-files", "--", *places], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in listed if name.endswith((".cpp", ".h", ".c"))]


def draw(places, seed):
    """All mutants of the files in an order that the seed decides."""
    everything = [m for file in sources(places) for m in mutants_of(file, (ROOT / file).read_text())]
    random.Random(seed).shuffle(everything)
    return everything


def covering(file):
    return next((stage, programs) for pattern, stage, programs in COVERING if re.search(pattern, file))


class Programs:
    """A stage's GoogleTest programs, in a copy of the tree."""

    def __init__(self, stage, options):
        self.copy = in_copy.Copy(ROOT, options.work, stage, options.jobs, options.timeout)
        self.copy.build_all()
        self.options = options
        commands = [command for command in self.copy.commands.values() if any(word.startswith("--gtest_filter") for word in command)]
        self.all = sorted({command[0] for command in commands})
        self.seconds = {}  # of each program on the clean copy

    def those(self, pattern):
        return [program for program in self.all if re.search(pattern, pathlib.Path(program).name)]

    def build(self, programs, name):
        targets = [str(pathlib.Path(program).relative_to(self.copy.build)) for program in programs]
        with open(self.copy.logs / f"{name}.log", "w") as out:
            return subprocess.run(["ninja", "-C", str(self.copy.build), "-j", str(self.options.jobs), *targets], stdout=out, stderr=out).returncode == 0

    def failure(self, programs):
        """The first case that fails, a crash or a hang; None: all pass."""
        for program in sorted(programs, key=lambda each: "api_test" not in each):
            command = [program, "--gtest_fail_fast", "--gtest_brief=1", "--gtest_color=no"]
            limit, began = max(self.options.timeout, 5 * self.seconds.get(program, 0)), time.monotonic()
            try:
                done = subprocess.run(command, capture_output=True, timeout=limit, preexec_fn=self.copy.set_limits, cwd=pathlib.Path(program).parent)
            except subprocess.TimeoutExpired:
                return f"{pathlib.Path(program).name} hangs"
            self.seconds.setdefault(program, time.monotonic() - began)
            if done.returncode != 0:
                case = re.search(rb"\[  FAILED  \] (\S+?),? ", done.stdout + b" ")
                return case[1].decode() if case else f"{pathlib.Path(program).name} ends with {done.returncode}"
        return None


def run(options):
    built, killed, survivors, broken = {}, 0, [], 0
    for mutant in draw(options.files, options.seed):
        if killed + len(survivors) >= options.count:
            break
        stage, pattern = covering(mutant.file)
        if stage not in built:
            built[stage] = Programs(stage, options)
            bad = built[stage].failure(built[stage].those(pattern))
            if bad:
                sys.exit(f"the clean copy fails: {bad}")
        place = built[stage]
        programs, path = place.those(pattern), place.copy.tree / mutant.file
        clean = path.read_text()
        path.write_text(mutant.put_in(clean))
        try:
            good = place.build(programs, "generated")
            bad = place.failure(programs) if good else None
        finally:
            path.write_text(clean)
        if not good:
            broken += 1
            continue
        killed += bad is not None
        if bad is None:
            survivors.append(mutant)
        print(f"{'killed by ' + bad if bad else 'SURVIVED'}: {mutant.describe(clean)}", flush=True)
    print(f"\n{killed} killed, {len(survivors)} survived, {broken} more did not build (seed {options.seed})")
    for mutant in survivors:
        print(mutant.describe((ROOT / mutant.file).read_text()))


def parse_arguments():
    parser = argparse.ArgumentParser(description="bugs drawn by a seed that the tests must notice; see CONTRIBUTING.md")
    parser.add_argument("files", nargs="*", default=DEVICE, help="files or folders; by default " + ", ".join(DEVICE))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="so many that build")
    parser.add_argument("--list", action="store_true", help="print the first that the seed draws; build nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one program, and at least five times what it takes on the clean copy; a hang counts as killed")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutants", help="folder of the copies and their builds")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not options.list:
        return run(options)
    drawn = draw(options.files, options.seed)
    print(f"{len(drawn)} in {len({mutant.file for mutant in drawn})} files")
    for mutant in drawn[:options.count]:
        print(mutant.describe((ROOT / mutant.file).read_text()))


if __name__ == "__main__":
    main()
