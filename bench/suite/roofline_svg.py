"""Draws the roofline plot of a results file as SVG: one panel per thread count, logarithmic on both axes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

from .columns import label, microseconds
from .entries import Entry

PANEL_WIDTH, PANEL_HEIGHT = 860, 460
LEFT, TOP, RIGHT, BOTTOM = 70, 40, 190, 50
X_RANGE = (0.25, 128.0)  # FLOPs per byte of recurrent weights read
COLOURS = {
    "steps": "#d62728", "sequence": "#1f77b4", "batch": "#2ca02c", "recurrence": "#9467bd",
    "deepbench-device": "#8c564b", "deepbench-server": "#e377c2", "deepspeech2": "#ff7f0e", "deepspeech2-short": "#bcbd22",
}
LEVEL_COLOURS = {"l1": "#222", "l2": "#555", "l3": "#888", "dram": "#aaa"}


class _Panel:
    """One thread count: axes, roofs and points, in the plot's coordinates."""

    def __init__(self, threads: int, entries: list[Entry], limits: dict[str, float], top: int) -> None:
        self.threads, self.entries, self.limits = threads, entries, limits
        self.x0, self.y0 = LEFT, top + TOP
        self.width, self.height = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM
        slowest = min((entry["ours"]["gflops"] for entry in entries if "ours" in entry), default=1.0)
        self.y_range = (10 ** math.floor(math.log10(min(slowest, limits["dram"] / 4))), 10 ** math.ceil(math.log10(limits["fma_gflops"] * 1.05)))

    def x(self, intensity: float) -> float:
        return self.x0 + self.width * _share(intensity, X_RANGE)

    def y(self, gflops: float) -> float:
        return self.y0 + self.height * (1 - _share(gflops, self.y_range))

    def draw(self) -> list[str]:
        return [*self._frame(), *self._roofs(), *self._points(), *self._legend()]

    def _frame(self) -> list[str]:
        parts = [
            f'<rect x="{self.x0}" y="{self.y0}" width="{self.width}" height="{self.height}" fill="none" stroke="#333"/>',
            _text(self.x0, self.y0 - 12, f"{self.threads} thread{'s' if self.threads > 1 else ''}", size=15),
            _text(self.x0 + self.width / 2, self.y0 + self.height + 40, "FLOPs per byte of weights read", anchor="middle"),
            f'<g transform="rotate(-90 {self.x0 - 50} {self.y0 + self.height / 2})">'
            + _text(self.x0 - 50, self.y0 + self.height / 2, "GFLOP/s", anchor="middle") + "</g>",
        ]
        for value in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128):
            parts += [_line(self.x(value), self.y0, self.x(value), self.y0 + self.height, "#eee"),
                      _text(self.x(value), self.y0 + self.height + 18, f"{value:g}", anchor="middle")]
        for value in (0.1, 1, 10, 100, 1000, 10000):
            if self.y_range[0] <= value <= self.y_range[1]:
                parts += [_line(self.x0, self.y(value), self.x0 + self.width, self.y(value), "#eee"),
                          _text(self.x0 - 8, self.y(value) + 4, f"{value:g}", anchor="end")]
        return parts

    def _roofs(self) -> list[str]:
        peak = self.limits["fma_gflops"]
        parts = [_line(self.x0, self.y(peak), self.x0 + self.width, self.y(peak), "#222"),
                 _text(self.x0 + self.width - 6, self.y(peak) - 6, f"multiply-add {peak:.0f} GFLOP/s", anchor="end")]
        for level, colour in LEVEL_COLOURS.items():
            bandwidth = self.limits[level]
            begin, end = max(X_RANGE[0], self.y_range[0] / bandwidth), min(X_RANGE[1], peak / bandwidth)
            if begin < end:
                parts.append(_line(self.x(begin), self.y(begin * bandwidth), self.x(end), self.y(end * bandwidth), colour))
                parts.append(_text(self.x(begin) + 6, self.y(begin * bandwidth) - 8, f"{level.upper()} {bandwidth:.0f} GB/s", size=10))
        return parts

    def _points(self) -> list[str]:
        parts = []
        for entry in self.entries:
            intensity = entry["flops"] / entry["read_bytes"]
            x = self.x(min(max(intensity, X_RANGE[0]), X_RANGE[1]))
            y = self.y(max(entry["ours"]["gflops"], self.y_range[0]))
            note = f"{entry['group']} {label(entry)}: {microseconds(entry['ours']['min_us'])} us, {entry['ours']['gflops']:.1f} GFLOP/s, " \
                   f"{entry['ours']['roofline']:.0%} of the roofline"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS.get(entry["group"], "#000")}" fill-opacity="0.7">'
                         f"<title>{escape(note)}</title></circle>")
        return parts

    def _legend(self) -> list[str]:
        groups = list(dict.fromkeys(entry["group"] for entry in self.entries))
        x, parts = self.x0 + self.width + 18, []
        for index, group in enumerate(groups):
            y = self.y0 + 14 + 20 * index
            parts += [f'<circle cx="{x}" cy="{y}" r="4" fill="{COLOURS.get(group, "#000")}"/>', _text(x + 10, y + 4, group)]
        return parts


def roofline_svg(results: dict[str, Any]) -> str:
    rows = [entry for entry in results["rows"] if "ours" in entry]
    panels = []
    for threads in sorted({entry["threads"] for entry in rows}):
        limits = results["machine"]["limits"].get(str(threads))
        if limits:
            panels.append(_Panel(threads, [e for e in rows if e["threads"] == threads], limits, 30 + len(panels) * PANEL_HEIGHT))
    height = 30 + max(1, len(panels)) * PANEL_HEIGHT
    title = _text(LEFT, 24, f"rnnpack on {results['machine_name']}: rows against the machine's measured limits", size=16)
    body = "\n".join(part for panel in panels for part in panel.draw())
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PANEL_WIDTH} {height}" font-family="sans-serif">\n'
            f'<rect width="100%" height="100%" fill="#fff"/>\n{title}\n{body}\n</svg>\n')


def _share(value: float, bounds: tuple[float, float]) -> float:
    low, high = (math.log(bound) for bound in bounds)
    return (math.log(value) - low) / (high - low)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'
