"""Which columns a group of rows has, and how an entry fills them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .entries import Entry, beyond_roofline
from .targets import RTNEURAL_GOAL

ABSENT = "-"


@dataclass(frozen=True)
class Column:
    title: str
    cell: Callable[[Entry], str]


def columns_of(group: str, threads: int, peers: list[str]) -> list[Column]:
    columns = [Column("row", label), *_own_columns()]
    columns += [Column(peer, _timing(peer)) for peer in peers]
    columns += [Column("fastest", _ratio_text("fastest")), Column("ratio", _ratio("min")), Column("of medians", _ratio("median")), Column("at roofline", _ratio("at_roofline"))]
    if group == "steps":
        columns += [Column("net", _ratio("net")), *_rtneural_columns()]
    if group == "recurrence":
        columns += [Column("GB/s", _own("weights_gb_per_s", "{:.0f}")), Column("of reads", _of_reads)]
    if group == "deepspeech2":
        columns += [Column("samples/s", _own("samples_per_s", "{:.1f}")), Column("MXNet*", _published("mxnet_samples_per_s"))]
    if threads == 2:
        columns.append(Column("speed-up", _own("speedup", "{:.2f}")))
    return [*columns, Column("target", _target), Column("met", _met)]


def label(entry: Entry) -> str:
    """The row's name without its group and thread count, which stand in the title."""
    return entry["name"].split("/", 1)[1].rsplit(".", 1)[0].replace("/", " ").replace(".", " ")


def microseconds(us: float) -> str:
    return f"{us:.3f}" if us < 10 else f"{us:.1f}" if us < 1000 else f"{us:.0f}"


def _own_columns() -> list[Column]:
    return [
        Column("us min", _own("min_us", None)),
        Column("median", _own("median_us", None)),
        Column("p99", _own("p99_us", None)),
        Column("GFLOP/s", _own("gflops", "{:.1f}")),
        Column("roofline", _roofline),
    ]


def _roofline(entry: Entry) -> str:
    return f"{entry['ours']['roofline']:.0%} {entry['level'].upper()}" if "ours" in entry else ABSENT


def _own(key: str, form: str | None) -> Callable[[Entry], str]:
    def cell(entry: Entry) -> str:
        value = entry.get("ours", {}).get(key)
        return ABSENT if value is None else form.format(value) if form else microseconds(value)

    return cell


def _timing(peer: str) -> Callable[[Entry], str]:
    return lambda entry: microseconds(entry["timings"][peer]["min_us"]) if peer in entry["timings"] else ABSENT


def _ratio(key: str) -> Callable[[Entry], str]:
    return lambda entry: f"{entry['ratios'][key]:.3f}" if key in entry.get("ratios", {}) else ABSENT


def _ratio_text(key: str) -> Callable[[Entry], str]:
    return lambda entry: entry.get("ratios", {}).get(key, ABSENT)


def _rtneural_columns() -> list[Column]:
    def of_it(entry: Entry) -> str:
        published = entry["published"]["rtneural_ns"]
        if not published or "ours" not in entry:
            return ABSENT
        ratio = entry["ours"]["min_us"] * 1e3 / published
        return f"{ratio:.2f} ({'<=' if ratio <= RTNEURAL_GOAL else '>'} {RTNEURAL_GOAL})"

    return [Column("RTNeural* ns", _published("rtneural_ns")), Column("of it", of_it)]


def _published(key: str) -> Callable[[Entry], str]:
    return lambda entry: str(entry["published"][key] or ABSENT)


def _of_reads(entry: Entry) -> str:
    return f"{entry['ours']['weights_gb_per_s'] / entry['limit_gb_per_s']:.0%}" if "ours" in entry else ABSENT


def _target(entry: Entry) -> str:
    target = entry.get("target")
    if not target:
        return ABSENT
    return f"{target['ratio']}" + ("" if target["of"] == "fastest" else f" of {target['of']}")


def _met(entry: Entry) -> str:
    if entry["wrong"]:
        return "WRONG"
    target = entry.get("target")
    if not target:
        return ABSENT
    if target["met"]:
        return "yes"
    beyond = f", roofline {target['at_roofline']:.3f}" if beyond_roofline(target) else ""
    return f"no ({target['reached']:.3f}{beyond})"
