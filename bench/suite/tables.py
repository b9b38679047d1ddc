"""Prints a results file: as aligned text for a terminal, or as Markdown for the documentation.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from .columns import Column, columns_of, label
from .entries import Entry, beyond_roofline
from .limits import Sweep
from .summary import summary_of

Results = dict[str, Any]

TITLES = {
    "steps": "Single steps, batch 1 (the audio case)",
    "sequence": "Sequences, batch 1",
    "batch": "Batches",
    "recurrence": "The recurrence alone (one input feature), panels within half an L2",
    "deepbench-device": "DeepBench inference, device set (I1: without the input projection)",
    "deepbench-server": "DeepBench inference, server set (I1: without the input projection)",
    "deepspeech2": "Deep Speech 2, MXNet's table",
    "deepspeech2-short": "Deep Speech 2, cut short",
}
FOOTNOTES = {
    "steps": [
        "targets are of onnxruntime's whole call; `net` is ours over the fastest peer's time less its binding's empty call",
        "RTNeural*: published figures of another machine (2-core AVX-512 Xeon); goal 0.6 of it",
    ],
    "deepspeech2": ["MXNet*: published samples/s of a 28-core Xeon 8180"],
}


def render(results: Results, markdown: bool) -> str:
    parts = [_limits_text(results), _summary_text(results, markdown)]
    for (group, threads), entries in _groups(results["rows"]):
        parts.append(_section(group, threads, entries, results, markdown))
    parts += [_jitter_text(results), _footprint_text(results, markdown), _verdict_text(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _groups(rows: list[Entry]) -> Iterator[tuple[tuple[str, int], list[Entry]]]:
    for key, entries in groupby(rows, key=lambda entry: (entry["group"], entry["threads"])):
        yield key, list(entries)


def _summary_text(results: Results, markdown: bool) -> str:
    lines = [summary_of(group, threads, entries) for (group, threads), entries in _groups(results["rows"])]
    if len(lines) < 2:
        return ""
    columns = [Column(title, itemgetter(title)) for title in lines[0]]
    table = _markdown_table(columns, lines) if markdown else _text_table(columns, lines)
    return "\n".join(["### Summary" if markdown else "Summary", "" if markdown else "=======", *table])


def summary_table(results: Results) -> list[str]:
    """A line per group of rows, without the verdicts on targets; "ahead" has the number of rows."""
    lines = [summary_of(group, threads, entries) for (group, threads), entries in _groups(results["rows"])]
    titles = [title for title in lines[0] if title not in ("rows", "least ratio", "targets met")]
    return _markdown_table([Column(title, itemgetter(title)) for title in titles], lines)


def _section(group: str, threads: int, entries: list[Entry], results: Results, markdown: bool) -> str:
    peers = [peer for peer in results["peers"] if any(peer in entry["timings"] for entry in entries)]
    columns = columns_of(group, threads, peers)
    title = f"{TITLES.get(group, group)}, {threads} thread{'s' if threads > 1 else ''}; us, least of all samples unless said"
    notes = [*FOOTNOTES.get(group, []), *_empty_calls(entries, peers), *_reasons(entries)]
    lines = ["### " + title, ""] if markdown else [title, "=" * len(title)]
    lines += _markdown_table(columns, entries) if markdown else _text_table(columns, entries)
    return "\n".join([*lines, *([""] if markdown and notes else []), *(f"- {note}" for note in notes)])


def _cells(columns: list[Column], entries: list[Entry]) -> list[list[str]]:
    return [[column.title for column in columns], *([column.cell(entry) for column in columns] for entry in entries)]


def _text_table(columns: list[Column], entries: list[Entry]) -> list[str]:
    cells = _cells(columns, entries)
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    return ["  ".join(text.ljust(width) if i == 0 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths))) for row in cells]


def _markdown_table(columns: list[Column], entries: list[Entry]) -> list[str]:
    head, *body = _cells(columns, entries)
    rule = "|---|" + "--:|" * (len(columns) - 1)
    head, *body = ("| " + " | ".join(row) + " |" for row in (head, *body))
    return [head, rule, *body]


def _empty_calls(entries: list[Entry], peers: list[str]) -> list[str]:
    """The bindings' own cost, where it matters."""
    if entries[0]["steps"] > 1:
        return []
    costs = {peer: min(e["timings"][peer]["empty_us"] for e in entries if peer in e["timings"]) for peer in peers}
    return ["empty call of the binding, us: " + ", ".join(f"{peer} {us:.2f}" for peer, us in costs.items() if us)]


def _reasons(entries: list[Entry]) -> list[str]:
    """Why a runtime is missing, the rows with the same reason on one line."""
    rows: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        for peer, reason in entry["reasons"].items():
            rows.setdefault((peer, reason), []).append(label(entry))
    return [f"{peer} could not run {_few(names, len(entries))}: {reason}" for (peer, reason), names in rows.items()]


def _few(names: list[str], total: int) -> str:
    if len(names) == total:
        return "any row"
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"


def _limits_text(results: Results) -> str:
    machine = results["machine"]
    sizes = ", ".join(f"{level.upper()} {size // 1024} KiB" for level, size in machine["cache_bytes"].items())
    lines = [f"Machine: {results['machine_name']}, {machine['isa']}, {sizes}"]
    for threads, limits in machine["limits"].items():
        reads = ", ".join(f"{level.upper()} {limits[level]:.0f}" for level in ("l1", "l2", "l3", "dram"))
        lines.append(f"- {threads} thread(s): reads {reads} GB/s; f32 multiply-add {limits['fma_gflops']:.0f} GFLOP/s")
        if "sweep" in limits:  # results saved before rows were held against it have none
            lines.append(f"- {threads} thread(s), GB/s at bytes a thread: {_sweep_text(limits['sweep'])}")
    if "sync_ns" in machine:
        lines.append(f"- a barrier of two pinned threads takes {machine['sync_ns']:.0f} ns")
    named = {peer: version + (" (in development, before 1.0.0)" if peer == "rnnpack" and version.startswith("0.") else "")
             for peer, version in results["versions"].items()}
    lines.append("- " + ", ".join(f"{peer} {version}" for peer, version in named.items()))
    lines += [f"- {peer} is absent: {reason}" for peer, reason in results["absent"].items()]
    return "\n".join(lines)


def _sweep_text(sweep: Sweep) -> str:
    return ", ".join(f"{_bytes_text(size)} {rate:.0f}" for size, rate in sweep)


def _bytes_text(size: int) -> str:
    return f"{size >> 20}M" if size % (1 << 20) == 0 else f"{size >> 10}K"


def _jitter_text(results: Results) -> str:
    jitter = results.get("jitter")
    if not jitter:
        return ""
    if "failed" in jitter:
        return f"Jitter: could not run: {jitter['failed']}"
    names = {"min": "min", "p50": "p50", "p99": "p99", "p99_9": "p99.9", "p99_99": "p99.99", "max": "max"}

    def figures(what: str) -> str:
        return ", ".join(f"{text} {jitter[f'{what}{key}_ns']}" for key, text in names.items())

    loop = f"; of a loop in registers behind each step: {figures('loop_')}" if "loop_min_ns" in jitter else ""
    return f"Jitter of {jitter['steps']} single steps of {jitter['model']}, ns: {figures('')} (reading the clock, {jitter['clock_ns']}, included){loop}"


def _footprint_text(results: Results, markdown: bool) -> str:
    footprint = results.get("footprint")
    if not footprint:
        return ""
    columns = [
        Column("objects", lambda entry: entry["family"]),
        Column("instruction set", lambda entry: entry["isa"]),
        Column("code and constants, bytes", lambda entry: str(entry["text"])),
        Column("data", lambda entry: str(entry["data"])),
    ]
    table = _markdown_table(columns, footprint) if markdown else _text_table(columns, footprint)
    return "\n".join(["### Code size per family" if markdown else "Code size per family", "" if markdown else "====================", *table])


def _verdict_text(results: Results) -> str:
    judged = [entry for entry in results["rows"] if entry.get("target")]
    met = sum(entry["target"]["met"] for entry in judged)
    beyond = sum(beyond_roofline(entry["target"]) for entry in judged)
    wrong = [text for entry in results["rows"] for text in entry["wrong"]]
    return "\n".join([f"Targets met: {met} of {len(judged)}; {beyond} of the others lie beyond the roofline of this machine", *(f"WRONG RESULT: {text}" for text in wrong)])
