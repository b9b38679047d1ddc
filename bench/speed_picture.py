#!/usr/bin/env python3
"""speed_picture.py RESULTS.json... --into FILE.svg -- the time of each runtime over rnnpack's, for a few rows of saved results, as one
picture: a panel for each machine. SPDX-License-Identifier: Apache-2.0"""
import argparse
import json
import math
import pathlib
from html import escape

from suite.machines import NAMES

ROWS = [
    ("steps/lstm/T1.B1.I16.H16.t1", "LSTM 16, one step"), ("steps/lstm/T1.B1.I64.H64.t1", "LSTM 64, one step"),
    ("steps/gru_lbr/T1.B1.I64.H64.t1", "GRU 64, one step"), ("steps/lstm/T1.B1.I256.H256.t1", "LSTM 256, one step"),
    ("sequence/lstm/T100.B1.I64.H64.t1", "LSTM 64, 100 steps"), ("sequence/gru_lbr/T100.B1.I128.H128.t1", "GRU 128, 100 steps"),
    ("sequence/lstm/T100.B1.I256.H256.t1", "LSTM 256, 100 steps"), ("batch/gru_lbr/T100.B4.I256.H256.t1", "GRU 256, 100 steps, batch 4"),
]
COLOURS = {"onnxruntime": "#0072b2", "torch": "#d55e00", "openvino": "#009e73", "ncnn": "#cc79a7", "litert": "#e69f00", "onednn": "#56b4e9", "tract": "#000000"}
OURS = "#111"
LEFT, RIGHT, WIDTH, LINE, TOP, LEAST, MOST = 290, 30, 900, 28, 64, 0.7, 1000


def x_of(ratio):
    return LEFT + (WIDTH - LEFT - RIGHT) * math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def time_text(us):
    return f"{us * 1000:.0f} ns" if us < 1 else f"{us:.3g} µs" if us < 1000 else f"{us / 1000:.2g} ms"


def row_lines(results, y):
    """The rows that this machine has, one below the other, and where they end."""
    drawn = []
    timings = {row["name"]: row["timings"] for row in results["rows"]}
    for name, label in ROWS:
        if name not in timings:
            continue
        times = {peer: timing["min_us"] for peer, timing in timings[name].items()}
        ours = times.pop("rnnpack")
        drawn.append(f'<path d="M{x_of(min(1, min(times.values()) / ours)):.1f} {y}H{x_of(max(times.values()) / ours):.1f}" stroke="#ddd" stroke-width="6"/>')
        drawn.append(text(LEFT - 16, y + 4, f"{label}: {time_text(ours)}", 'text-anchor="end"'))
        for peer, us in times.items():
            said = f"{peer} {time_text(us)}, {us / ours:.2g} times"
            drawn.append(f'<circle cx="{x_of(us / ours):.1f}" cy="{y}" r="6" fill="{COLOURS.get(peer, "#777")}"><title>{escape(said)}</title></circle>')
        drawn.append(f'<circle cx="{x_of(1):.1f}" cy="{y}" r="4" fill="{OURS}"/>')
        y += LINE
    return drawn, y


def panel(results, top):
    drawn, end = row_lines(results, top + TOP)
    axis = []
    for ratio in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        axis.append(f'<path d="M{x_of(ratio):.1f} {top + TOP - 16}V{end - LINE + 16}" stroke="#e4e4e4"/>')
        axis.append(text(x_of(ratio), end + 8, f"{ratio}×", 'text-anchor="middle" fill="#555"'))
    title = text(LEFT, top + 24, f"{NAMES.get(results['machine_name'], results['machine_name'])}, one thread", 'font-weight="bold"')
    return axis + [title] + drawn, end + 30


def legend(peers, y):
    drawn, x = [], LEFT
    for name in ["rnnpack", *peers]:
        drawn.append(f'<circle cx="{x}" cy="{y - 4}" r="6" fill="{OURS if name == "rnnpack" else COLOURS.get(name, "#777")}"/>')
        drawn.append(text(x + 11, y, name))
        x += 30 + 7.2 * len(name)
    return drawn


def picture(machines):
    peers = [peer for peer in COLOURS if any(peer in results["peers"] for results in machines)]
    drawn = [text(20, 28, "Time over rnnpack's, least of many calls: further right is slower", 'font-size="16" font-weight="bold"')] + legend(peers, 56)
    y = 66
    for results in machines:
        lines, y = panel(results, y)
        drawn += lines
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="13" fill="#222">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *drawn, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--into", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.into.write_text(picture([json.loads(path.read_text()) for path in options.results]), encoding="utf-8")


if __name__ == "__main__":
    main()
