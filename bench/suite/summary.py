"""One line per group of rows: in how many of them we are ahead of every peer, and by how much.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from statistics import median

from .entries import Entry


def summary_of(group: str, threads: int, entries: list[Entry]) -> Entry:
    """The line's cells by title. Ratios: our least time over the fastest peer's, of the rows in which a peer could run."""
    ratios = [entry["ratios"]["min"] for entry in entries if entry.get("ratios")]
    judged = [entry["target"]["met"] for entry in entries if entry.get("target")]
    figures = [min(ratios), median(ratios), max(ratios)] if ratios else []
    least, middle, largest = (f"{figure:.2f}" for figure in figures) if figures else ("-", "-", "-")
    return {
        "group": group,
        "threads": str(threads),
        "rows": str(len(entries)),
        "ahead of every peer": f"{sum(ratio < 1 for ratio in ratios)}/{len(ratios)}",
        "least ratio": least,
        "median": middle,
        "largest": largest,
        "targets met": f"{sum(judged)}/{len(judged)}" if judged else "-",
    }
