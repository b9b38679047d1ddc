# SPDX-License-Identifier: Apache-2.0
"""A report as HTML without scripts: graph, memory map and time per node, readable on light and on dark pages."""
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from ._accuracy import QuantizationErrors
from ._tensors import Tensor

if TYPE_CHECKING:
    from ._report import Report

_ROW, _LEFT, _WIDTH, _HEIGHT = 44, 150, 260, 28
_COLOURS = {"recurrent": "#2a7ab0", "dense": "#3c8d5a", "conv": "#8a5fb0", "depthwise": "#8a5fb0"}
_OTHER = "#9a6a35"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else "…" + text[1 - most:]


def _box(at: int, title: str, below: str, colour: str) -> str:
    y = at * _ROW + 8
    return (f'<g><title>{escape(title)}</title><rect x="{_LEFT}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="{colour}"/>'
            f'<text x="{_LEFT + 8}" y="{y + 18}" font-size="12" fill="#fff">{escape(_short(title, 26))}'
            f'<tspan x="{_LEFT + _WIDTH - 8}" text-anchor="end">{escape(below)}</tspan></text></g>')


def _edge(first: int, second: int, lane: int) -> str:
    """From below one box to the top of another; past those between on the left, in a lane of its own."""
    y0, y1, x = first * _ROW + 8 + _HEIGHT, second * _ROW + 8, _LEFT + _WIDTH // 2
    if second == first + 1:
        return f'<path d="M{x} {y0}V{y1 - 4}" stroke="#888" fill="none" marker-end="url(#rnnpack-end)"/>'
    side = _LEFT - 12 - 9 * (lane % 14)
    middle0, middle1 = y0 - _HEIGHT // 2, y1 + _HEIGHT // 2
    return f'<path d="M{_LEFT} {middle0}H{side}V{middle1}H{_LEFT - 4}" stroke="#888" fill="none" marker-end="url(#rnnpack-end)"/>'


def _graph(document: Any) -> str:
    """Inputs, nodes in the order in which they run, outputs, from top to bottom."""
    boxes: List[str] = []
    edges: List[Tuple[int, int]] = []
    made: Dict[int, int] = {}
    for tensor in document["inputs"]:
        made[tensor["value"]] = len(boxes)
        boxes.append(_box(len(boxes), tensor["name"], str(tensor["row_elems"]), "#666"))
    for node in document["nodes"]:
        for value in node["inputs"]:
            if value in made:
                edges.append((made[value], len(boxes)))
        for value in node["outputs"]:
            made[value] = len(boxes)
        boxes.append(_box(len(boxes), node["name"] or node["op"], node["op"], _COLOURS.get(node["op"], _OTHER)))
    for tensor in document["outputs"]:
        if tensor["value"] in made:
            edges.append((made[tensor["value"]], len(boxes)))
        boxes.append(_box(len(boxes), tensor["name"], str(tensor["row_elems"]), "#666"))
    far = [edge for edge in dict.fromkeys(edges) if edge[1] != edge[0] + 1]
    paths = [_edge(*edge, far.index(edge) if edge in far else 0) for edge in dict.fromkeys(edges)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 10}" height="{len(boxes) * _ROW + 8}" '
            'font-family="sans-serif"><defs><marker id="rnnpack-end" viewBox="0 0 6 6" refX="3" refY="3" markerWidth="6" markerHeight="6" '
            f'orient="auto"><path d="M0 0L6 3L0 6z" fill="#888"/></marker></defs>{"".join(paths)}{"".join(boxes)}</svg>')


def _times(report: Report) -> str:
    rows = []
    for node in report.nodes:
        bar = f'<div style="background:#2a7ab0;height:10px;width:{max(1, round(200 * node.share))}px"></div>'
        rows.append(f"<tr><td style='text-align:left'>{escape(node.name)}</td><td style='text-align:left'>{escape(node.op)}</td>"
                    f"<td>{node.us:.2f}</td><td>{100 * node.share:.1f} %</td><td>{bar}</td></tr>")
    return ("<table><thead><tr><th>node</th><th>operator</th><th>µs a call</th><th>share</th><th></th></tr></thead><tbody>" + "".join(rows) +
            "</tbody></table>")


def _facts(report: Report) -> str:
    d = report.document
    kind = "causal: may run in pieces" if d["causal"] else "looks ahead: whole sequences only"
    return (f"{d['file_bytes']} bytes, {kind}, {d['macs_per_step']} multiply-accumulates a step and row. {report.steps} steps of {report.batch} "
            f"rows on one thread: {report.us:.2f} µs a call, {report.us / report.steps:.3f} µs a step.")


def _legend(report: Report) -> str:
    """Colours of the graph's boxes."""
    ops = list(dict.fromkeys(node.op for node in report.nodes))
    boxes = [("input, output", "#666"), *((op, _COLOURS.get(op, _OTHER)) for op in ops)]
    return "<p>" + " ".join(f'<span style="background:{colour};color:#fff;padding:1px 6px;border-radius:3px">{escape(name)}</span>'
                            for name, colour in boxes) + " Numbers: elements of a row.</p>"


def _cell(value: str) -> str:
    return f"<td style='text-align:left'>{escape(value)}</td>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{''.join(f'<th>{escape(one)}</th>' for one in head)}</tr></thead><tbody>{body}</tbody></table>"


def _accuracy(errors: Optional[QuantizationErrors]) -> str:
    if errors is None:
        return ""
    rows = [(f"output {name}", "", f"{f.sqnr_db:.1f}", f"{f.max:.3g}", f"{f.rms:.3g}") for name, f in errors.outputs.items()]
    for layer in errors.layers:
        f = layer.running
        rows.append((layer.name, ", ".join(f"{m.name} {m.type}" for m in layer.matrices), f"{f.sqnr_db:.1f}", f"{f.max:.3g}", f"{f.rms:.3g}"))
    told = "".join(f"<li>{escape(line)}</li>" for line in errors.decisions)
    return (f"<h4>Quantization errors</h4><p>{escape(errors.data)}, compared with the same network in f32; {errors.bytes} bytes, "
            f"{errors.f32_bytes} in f32.</p>{table(('output or layer', 'stored as', 'SQNR, dB', 'largest', 'rms'), rows)}"
            f"{'<ul>' + told + '</ul>' if told else ''}")


def report_html(report: Report) -> str:
    pools = report.document["pools"]
    return (f'<div class="rnnpack-report"><p><b>{escape(report.heading())}</b></p><p>{escape(_facts(report))}</p>'
            f"<h4>Time per node</h4>{_times(report)}<h4>Graph</h4>{_legend(report)}{_graph(report.document)}<h4>Memory</h4>"
            f"<p>Values in the pools: {4 * pools['sequence_elems']} bytes for each step and row, {4 * pools['row_elems']} bytes for each row. "
            f"Nodes to the right, bytes upwards.</p>{report.memory_svg}{_accuracy(report.errors)}</div>")


def tensors_html(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> str:
    rows = [(kind, t.name, f"[{', '.join(map(str, t.dims))}]", t.role, np.dtype(t.dtype).name)
            for kind, some in (("input", inputs), ("output", outputs)) for t in some]
    return table(("", "name", "axes", "role", "type"), rows)
