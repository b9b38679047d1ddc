"""Model.report(): a model's nodes, its memory and each node's time, as text and as the HTML that a notebook shows."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, Union

from ._html import report_html
from ._tool import run_tool

if TYPE_CHECKING:
    from ._model import Model


@dataclass(frozen=True)
class NodeReport:
    name: str
    op: str
    inputs: Tuple[int, ...]  # numbers of values
    outputs: Tuple[int, ...]
    us: float  # microseconds of one call, least of the rounds
    share: float  # of all nodes' time


@dataclass(frozen=True)
class Report:
    """What Model.report() found. print() shows it; in a notebook it shows itself."""
    steps: int  # of each timed call
    batch: int
    us: float  # microseconds of one call of the whole model, without timers
    nodes: Tuple[NodeReport, ...]
    text: str  # of `rnnpack inspect --memory`
    document: Any  # of `rnnpack inspect --json`
    memory_svg: str

    def table(self) -> str:
        """The nodes, dearest first last column: time of a call and share."""
        width = max([len(node.name) for node in self.nodes] + [4])
        lines = [f"{'node':<{width}}  {'operator':<12} {'us':>10} {'share':>6}"]
        lines += [f"{n.name:<{width}}  {n.op:<12} {n.us:>10.2f} {100 * n.share:>5.1f}%" for n in self.nodes]
        lines.append(f"{self.steps} steps, {self.batch} rows, one thread: {self.us:.2f} us a call, {self.us / self.steps:.3f} us a step")
        return "\n".join(lines)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """As a page of HTML."""
        page = f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>rnnpack</title></head><body>{self._repr_html_()}</body></html>\n"
        pathlib.Path(path).write_text(page, encoding="utf-8")

    def __str__(self) -> str:
        return f"{self.text.rstrip()}\n\n{self.table()}\n"

    def _repr_html_(self) -> str:
        return report_html(self)


def make_report(model: Model, steps: Optional[int], batch: int) -> Report:
    with tempfile.TemporaryDirectory() as work:
        blob, svg = pathlib.Path(work) / "model.rnnp", pathlib.Path(work) / "memory.svg"
        model.save(blob)
        batch = model.info.fixed_batch or batch
        said = run_tool(["profile", str(blob), "--json", "--batch", str(batch), *(["--steps", str(steps)] if steps else [])])
        times = json.loads(said.out)
        text = run_tool(["inspect", str(blob), "--memory", "--svg", str(svg)]).out
        document = json.loads(run_tool(["inspect", str(blob), "--json"]).out)
        nodes = _nodes(document, times)
        return Report(times["steps"], times["batch"], times["us"], nodes, text, document, svg.read_text(encoding="utf-8"))


def _nodes(document: Any, times: Any) -> Tuple[NodeReport, ...]:
    found: List[NodeReport] = []
    for node, timed in zip(document["nodes"], times["nodes"]):
        values = [tuple(v for v in node[key] if v is not None) for key in ("inputs", "outputs")]
        found.append(NodeReport(node["name"], node["op"], values[0], values[1], timed["us"], timed["share"]))
    return tuple(found)
