#!/usr/bin/env python3
"""low_precision_picture.py RESULTS.json --into FILE.svg -- what bench/low_precision.py has saved, as one picture: the error of each
type against the bytes of the blob, and against the time of a step. SPDX-License-Identifier: Apache-2.0"""
import argparse
import json
import math
import pathlib
from html import escape

ROWS = {"sequence LSTM 64": "#e69f00", "sequence LSTM 256": "#009e73", "sequence LSTM 512": "#0072b2", "sequence LSTM 1024": "#d55e00"}
TYPES = ("f32", "f16", "bf16", "int8", "int4")
TOP_DECIBELS, WIDTH, HEIGHT, TOP, BOTTOM, PANEL, GAP, LEFT = 100, 900, 430, 92, 52, 370, 72, 52
BYTES = ([1e4, 1e5, 1e6, 1e7, 1e8], ["10 kB", "100 kB", "1 MB", "10 MB", "100 MB"], "bytes of the blob")
TIMES = ([0.1, 1, 10, 100, 1000, 10000], ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms"], "time of a step, least")


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def y_of(decibels):
    """f32 and what is as good as it stand at the upper edge."""
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(decibels, TOP_DECIBELS) / TOP_DECIBELS)


def panel(results, left, axis, value_of):
    marks, names, title = axis
    x_of = lambda v: left + PANEL * math.log(v / marks[0]) / math.log(marks[-1] / marks[0])  # noqa: E731
    drawn = [text(left, TOP - 14, f"Signal over error, dB, against {title}", 'font-weight="bold"')]
    for decibels in range(0, TOP_DECIBELS + 1, 20):
        drawn.append(f'<path d="M{left} {y_of(decibels):.1f}h{PANEL}" stroke="#e4e4e4"/>')
        drawn.append(text(left - 8, y_of(decibels) + 4, str(decibels), 'text-anchor="end" fill="#555"'))
    for mark, name in zip(marks, names):
        drawn.append(f'<path d="M{x_of(mark):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
        drawn.append(text(x_of(mark), HEIGHT - BOTTOM + 20, name, 'text-anchor="middle" fill="#555"'))
    for row in results["rows"]:
        points = [(name, row["sides"][name]) for name in TYPES if name in row["sides"]] if row["row"] in ROWS else []
        places = [(x_of(value_of(side)), y_of(side["decibels"])) for _, side in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        drawn.append(f'<path d="M{path}" fill="none" stroke="{ROWS[row["row"]]}" stroke-opacity="0.4"/>' if places else "")
        for (name, side), (x, y) in zip(points, places):
            said = f"{row['row']}, {name}: {side['decibels']:.0f} dB, {side['blob_bytes']:,} bytes, {side['min_us']:.3g} µs"
            drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{ROWS[row["row"]]}"><title>{escape(said)}</title></circle>')
            drawn.append(text(x + 8, y + 4, name, 'font-size="11" fill="#555"'))
    return drawn


def picture(results):
    drawn = [text(20, 28, f"What low precision cost: LSTMs of random weights, 100 steps, one row, one thread", 'font-size="16" font-weight="bold"')]
    for i, (row, colour) in enumerate(ROWS.items()):
        drawn.append(f'<circle cx="{LEFT + 130 * i}" cy="50" r="5" fill="{colour}"/>')
        drawn.append(text(LEFT + 10 + 130 * i, 54, row.removeprefix("sequence ")))
    drawn.append(text(WIDTH - 20, 54, results["machine"], 'text-anchor="end" fill="#555"'))
    drawn += panel(results, LEFT, BYTES, lambda side: side["blob_bytes"])
    drawn += panel(results, LEFT + PANEL + GAP, TIMES, lambda side: side["min_us"])
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" fill="#222">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *filter(None, drawn), "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--into", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.into.write_text(picture(json.loads(options.results.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
