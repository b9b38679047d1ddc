"""Puts the rendered tables between the two markers of a Markdown page, and nothing else into it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from pathlib import Path

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"


def replace_tables(page: Path, tables: str) -> None:
    text = page.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: the lines {BEGIN} and {END} are not there")
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n{END}{after}")
