#!/usr/bin/env python3
"""wrap_pages.py PAGE... -- breaks the lines of Markdown paragraphs and list items that have more than 120 columns; code, tables and
what a program wrote stay as they are. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import re
import sys

COLUMNS = 120
ITEM = re.compile(r"(\s*)((?:[-*]|\d+\.) +)?")
WORD = re.compile(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+")  # code and links stay whole
MARKUP = re.compile(r"([-+*>]|\d+\.|#+)$")  # what would be another thing at the beginning of a line


def filled(item):
    indent, mark = (part or "" for part in ITEM.match(item[0]).groups())
    hanging = indent + " " * len(mark) if mark or len(item) == 1 else re.match(r"\s*", item[1]).group(0)
    words = WORD.findall(" ".join(line.strip() for line in item)[len(mark):])
    lines, line = [], indent + mark + words[0]
    for at, word in enumerate(words[1:], 1):
        ahead = f" {words[at + 1]}" if at + 1 < len(words) and MARKUP.match(words[at + 1]) else ""
        if len(line) + 1 + len(word) + len(ahead) > COLUMNS:
            lines.append(line)
            line = hanging + word
        else:
            line += " " + word
    return lines + [line]


def wrapped(paragraph):
    items = []
    for line in paragraph:
        if not items or ITEM.match(line).group(2):
            items.append([])
        items[-1].append(line)
    return [line for item in items for line in (filled(item) if any(len(line) > COLUMNS for line in item) else item)]


def wrap(text):
    out, paragraph, verbatim = [], [], False
    for line in text.split("\n"):
        edge = line.startswith("```") or re.match(r"<!-- \w+: (begin|end) -->", line)
        if not verbatim and not edge and line.strip() and not line.startswith(("|", "#", "<!--", "    ", "![")):
            paragraph.append(line)
            continue
        out += wrapped(paragraph) + [line]
        paragraph, verbatim = [], verbatim != bool(edge)
    return "\n".join(out + wrapped(paragraph))


def main():
    for name in sys.argv[1:]:
        page = pathlib.Path(name)
        before = page.read_text()
        after = wrap(before)
        if after != before:
            page.write_text(after)


if __name__ == "__main__":
    main()
