#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of panel formats is written three times for three readers: the rows of src/pack/panel_formats.inc, docs/BLOB_FORMAT.md and
read_blob.py. They are the same. check_panel_formats.py SOURCE_DIR"""
import pathlib
import re
import sys

import read_blob

BITS = {"F32": 32, "F16": 16, "Bf16": 16, "I8": 8, "I4": 4}


def rows_of_source(text):
    rows = {}
    for name, number, weight, factor, nr, kr in re.findall(r"^RNNPACK_PANEL_FORMAT\((\w+), (\d+), k(\w+), k(\w+), (\d+), (\d+),", text, re.M):
        assert int(number) not in rows, f"two formats of id {number}"
        rows[int(number)] = (name, weight, factor, int(nr), int(kr))
    assert len(rows) == text.count("\nRNNPACK_PANEL_FORMAT("), "a row that this test cannot read"
    return rows


def rows_of_page(text):
    table = text.split("## Panel formats")[1].split("\n## ")[0]
    rows = {}
    for line in table.splitlines():  # a line has one format, or three that differ by name, and perhaps by NR
        if re.match(r"\| \d+[,\d ]* \|", line):
            ids, names, weight, factor, nrs, kr = ([part.strip() for part in cell.split(",")] for cell in line.strip("|").split("|")[:6])
            for number, name, nr in zip(ids, names, nrs * (len(ids) // len(nrs)), strict=True):
                assert int(number) not in rows, f"two lines of id {number}"
                rows[int(number)] = (name, weight[0].capitalize(), factor[0].capitalize(), int(nr), int(kr[0]))
    return rows


def main(source):
    rows = rows_of_source((source / "src/pack/panel_formats.inc").read_text())
    assert rows and rows == rows_of_page((source / "docs/BLOB_FORMAT.md").read_text()), "docs/BLOB_FORMAT.md has another table"
    reader = {number: (name, BITS[weight], nr, kr) for number, (name, weight, _, nr, kr) in rows.items()}
    assert reader == {number: row[:4] for number, row in read_blob.FORMATS.items()}, "read_blob.py reads the page otherwise"
    print(f"{len(rows)} panel formats, written alike in the table and on the page")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
