#!/usr/bin/env python3
"""check_pages.py SOURCE PAGE... -- pages that can be read: no line of more than 120 columns but rows of tables and what a program wrote,
contents at the top of a long page that name all its sections, links and pictures that are there, pictures that are small. README and
docs together stay under 35,000 words, and each page of docs but the blob format within 250 lines.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import sys

import pages

COLUMNS, LONG_PAGE, SECTIONS, PICTURE_BYTES = 120, 120, 4, 100_000
WORDS, LINES, SPECIFICATION = 35_000, 250, "docs/BLOB_FORMAT.md"
WRITTEN = re.compile(r"<!-- (\w+): begin -->.*?<!-- \1: end -->", re.S)  # by a program, between marks
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchor(heading):
    """As GitHub makes it of a heading's words."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(text):
    found = []
    for heading in re.findall(r"^#+ (.*)$", pages.prose(text), re.M):
        name = anchor(heading)
        found.append(name if name not in found else f"{name}-{sum(f == name or f.startswith(name + '-') for f in found)}")
    return found


def complaints(source, name):
    path, text = source / name, (source / name).read_text()
    by_hand = WRITTEN.sub(lambda found: "\n" * found.group(0).count("\n"), text)
    for number, line in enumerate(by_hand.splitlines(), 1):
        if len(line) > COLUMNS and not line.startswith("|") and " " in line.strip():
            yield f"line {number} has {len(line)} columns, {COLUMNS} fit (scripts/wrap_pages.py breaks those of paragraphs)"
    if name.startswith("docs/") and name != SPECIFICATION and text.count("\n") > LINES:
        yield f"it has {text.count(chr(10))} lines; {LINES} at most"
    sections = re.findall(r"^## (.*)$", pages.prose(text), re.M)
    if len(by_hand.splitlines()) > LONG_PAGE and len(sections) >= SECTIONS:
        contents = re.search(r"^Contents:(.*?)\n\n", text, re.S | re.M)
        listed = re.findall(r"\(#([^)]*)\)", contents.group(1)) if contents else []
        yield from (f"its contents leave out '{title}' (#{anchor(title)})" for title in sections if anchor(title) not in listed)
    for target in LINK.findall(pages.prose(text)):
        file, _, fragment = target.partition("#")
        if re.match(r"\w+:", target):
            continue
        there = path.parent / file if file else path
        if not there.exists():
            yield f"its link {target} leads nowhere"
        elif fragment and there.suffix == ".md" and fragment not in anchors(there.read_text()):
            yield f"its link {target} leads to no section"
        elif there.suffix in (".png", ".svg") and there.stat().st_size > PICTURE_BYTES:
            yield f"its picture {target} has {there.stat().st_size} bytes"


def main():
    source, bad = pathlib.Path(sys.argv[1]), 0
    for name in sys.argv[2:]:
        for complaint in complaints(source, name):
            print(f"{name}: {complaint}")
            bad += 1
    words = sum(len((source / name).read_text().split()) for name in sys.argv[2:] if name == "README.md" or name.startswith("docs/"))
    if words > WORDS:
        print(f"README.md and docs have {words} words; {WORDS} at most")
        bad += 1
    print(f"{len(sys.argv) - 2} pages, {bad} complaints")
    return 1 if bad or len(sys.argv) < 12 else 0


if __name__ == "__main__":
    sys.exit(main())
