#!/usr/bin/env python3
"""vocabulary.py ROOT -- no tracked file uses a retired term of docs/GLOSSARY.md.

"Retired words" have words or phrases in their first column, compared as whole words without regard to case, and in their third where they
are retired: `anywhere`, `pages` (Markdown alone) or `review` (a reader's to judge, not checked here). "Retired identifiers" are
compared as they are written, `*` being any letters, digits and underscores. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import subprocess
import sys

LEFT_OUT = ("docs/GLOSSARY.md", "docs/RESULTS.md", "bench/results/", "bench/notebook/", "tests/abi/v1/", "LICENSE")
COUNT = 60


def rows(text, heading):
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def word_pattern(words):
    # A phrase may be broken by the end of a line, with the marks of the next comment line behind it.
    gap = r"\s+(?:(?://|#|\*)\s*)?"
    return re.compile(r"(?<![A-Za-z0-9_])(?:" + "|".join(gap.join(map(re.escape, w.split())) for w in words) + r")(?![A-Za-z0-9_])", re.I)


def identifier_pattern(names):
    parts = [r"[A-Za-z0-9_]*".join(map(re.escape, name.split("*"))) for name in names]
    return re.compile(r"(?<![A-Za-z0-9_-])(?:" + "|".join(parts) + r")(?![A-Za-z0-9_-])")


def patterns(glossary):
    words = {"anywhere": [], "pages": [], "review": []}
    for retired, _, where in rows(glossary, "Retired words"):
        words[quoted(where)[0]] += quoted(retired)
    names = [name for row in rows(glossary, "Retired identifiers") for name in quoted(row[0])]
    if min(map(len, (words["anywhere"], words["pages"], names))) < 5:
        sys.exit("the glossary's tables are not as this test reads them")
    return word_pattern(words["anywhere"]), word_pattern(words["anywhere"] + words["pages"]), identifier_pattern(names)


def main(root):
    everywhere, pages, names = patterns((root / "docs/GLOSSARY.md").read_text(encoding="utf-8"))
    tracked = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True).stdout.decode()
    found, read = [], 0
    for name in filter(None, tracked.split("\0")):
        if name.startswith(LEFT_OUT) or not (root / name).is_file():
            continue
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # weights and pictures
        read += 1
        if names.search(pathlib.PurePath(name).stem):
            found.append(f"{name}: the file's name")
        for pattern in (pages if name.endswith(".md") else everywhere), names:
            found += [f"{name}:{text.count(chr(10), 0, m.start()) + 1}: {m.group(0)!r}" for m in pattern.finditer(text)]
    for line in found[:COUNT]:
        print(line)
    print(f"{read} files, {len(found)} uses of retired terms (docs/GLOSSARY.md says what to write instead)")
    return bool(found) or read < 500


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
