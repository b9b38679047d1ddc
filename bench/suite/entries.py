"""Turns a measured row into an entry of the results file: figures, ratios, verdicts. Everything printed comes from entries.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .limits import Limits, read_bytes
from .measure import Result, Timing
from .targets import mxnet_samples_per_s, rtneural_ns, target_of

Entry = dict[str, Any]

CLEAR = 1.3  # a peer's call must cost this many empty calls, or what is left after subtracting one is noise


def entry_of(result: Result, limits: Limits, ours: str) -> Entry:
    row = result.row
    entry: Entry = {
        "name": row.name,
        **row.as_dict(),
        "flops": row.flops,
        "read_bytes": read_bytes(row),
        "level": limits.level(row),
        "limit_gb_per_s": limits.read_gb_per_s(row),
        "bound_us": limits.bound_us(row),
        "timings": {peer: asdict(timing) for peer, timing in result.timings.items()},
        "reasons": result.reasons,
        "wrong": result.wrong,
        "published": {"rtneural_ns": rtneural_ns(row), "mxnet_samples_per_s": mxnet_samples_per_s(row)},
    }
    own = result.timings.get(ours)
    if own:
        entry["ours"] = _own_figures(result, own, limits)
        entry["ratios"] = _ratios(result, own, ours, entry["bound_us"])
        entry["target"] = _verdict(result, entry["ratios"], entry["ours"]["roofline"])
    return entry


def _own_figures(result: Result, own: Timing, limits: Limits) -> dict[str, float]:
    row = result.row
    return {
        "min_us": own.min_us,
        "median_us": own.median_us,
        "p99_us": own.p99_us,
        "gflops": row.flops / (own.min_us * 1e3),
        "roofline": limits.bound_us(row) / own.min_us,
        "weights_gb_per_s": read_bytes(row) / (own.min_us * 1e3),
        "samples_per_s": row.batch / (own.min_us * 1e-6),
    }


def _ratios(result: Result, own: Timing, ours: str, bound_us: float) -> dict[str, Any]:
    """Our time over the fastest peer's, minimum over minimum and median over median; for single steps also net of bindings.
    "at_roofline" is the ratio a library at the machine's limit would have."""
    peers = {peer: timing for peer, timing in result.timings.items() if peer != ours}
    if not peers:
        return {}
    fastest = min(peers, key=lambda peer: peers[peer].min_us)
    ratios: dict[str, Any] = {
        "fastest": fastest,
        "min": own.min_us / peers[fastest].min_us,
        "median": own.median_us / min(timing.median_us for timing in peers.values()),
        "at_roofline": bound_us / peers[fastest].min_us,
        "each": {peer: own.min_us / timing.min_us for peer, timing in peers.items()},
    }
    net = {peer: timing.min_us - timing.empty_us for peer, timing in peers.items() if timing.min_us > CLEAR * timing.empty_us}
    if result.row.steps == 1 and net:
        ratios["net_fastest"] = min(net, key=lambda peer: net[peer])
        ratios["net"] = own.min_us / min(net.values())
    return ratios


def _verdict(result: Result, ratios: dict[str, Any], roofline: float) -> dict[str, Any] | None:
    target = target_of(result.row)
    if not target or not ratios:
        return None
    reached = ratios["min"] if target.of == "fastest" else ratios["each"].get(target.of)
    if reached is None:
        return None
    met = reached <= target.ratio
    return {"ratio": target.ratio, "of": target.of, "reached": reached, "met": met, "at_roofline": reached * roofline}


def beyond_roofline(target: dict[str, Any]) -> bool:
    """Missed, and would be at the roofline too. A row that has passed its roofline shows that it is not its limit."""
    return not target["met"] and target["ratio"] < target["at_roofline"] <= target["reached"]


def add_speedups(entries: list[Entry]) -> None:
    """Two threads against one, where both were measured."""
    single = {entry["name"].removesuffix(".t1"): entry for entry in entries if entry["threads"] == 1 and "ours" in entry}
    for entry in entries:
        variant = single.get(entry["name"].removesuffix(".t2")) if entry["threads"] == 2 and "ours" in entry else None
        if variant:
            entry["ours"]["speedup"] = variant["ours"]["min_us"] / entry["ours"]["min_us"]
