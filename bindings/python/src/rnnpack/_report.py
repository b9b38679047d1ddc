# SPDX-License-Identifier: Apache-2.0
"""Model.report(): a model's nodes, its memory and each node's time, as text and as the HTML that a notebook shows."""
from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, Union

from ._abi import version
from ._accuracy import QuantizationErrors
from ._files import file_errors, work_folder
from ._html import report_html
from ._isa import Isa
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
    model: str  # name of the ONNX file, where there is one, and the model's number
    machine: str
    isa: Isa  # instruction set of the recurrent kernels that were timed
    version: str  # of the library
    date: str  # ISO 8601
    errors: Optional[QuantizationErrors]  # Model.errors

    def heading(self) -> str:
        """What was timed, where and when."""
        return f"{self.model}: {self.machine}, {self.isa.name}, rnnpack {self.version}, {self.date}"

    def table(self) -> str:
        """The nodes in the order in which they run, with the time of a call and its share."""
        width = max([len(node.name) for node in self.nodes] + [4])
        lines = [f"{'node':<{width}}  {'operator':<12} {'us':>10} {'share':>6}"]
        lines += [f"{n.name:<{width}}  {n.op:<12} {n.us:>10.2f} {100 * n.share:>5.1f}%" for n in self.nodes]
        lines.append(f"{self.steps} steps, {self.batch} rows, one thread: {self.us:.2f} us a call, {self.us / self.steps:.3f} us a step")
        return "\n".join(lines)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """As a page of HTML."""
        title = escape(f"rnnpack: {self.model}")
        page = f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{title}</title></head><body>{self._repr_html_()}</body></html>\n"
        with file_errors():
            pathlib.Path(path).write_text(page, encoding="utf-8")

    def __str__(self) -> str:
        errors = f"\n{self.errors}\n" if self.errors is not None else ""
        return f"{self.heading()}\n\n{self.text.rstrip()}\n\n{self.table()}\n{errors}"

    def _repr_html_(self) -> str:
        return report_html(self)


def _machine() -> str:
    """The CPU as its maker calls it."""
    try:
        named = re.search(r"^model name\s*: (.+)$", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()


def make_report(model: Model, steps: Optional[int], batch: int) -> Report:
    with work_folder() as work:
        blob, svg = work / "model.rnnp", work / "memory.svg"
        model.save(blob)
        batch = model.info.fixed_batch or batch
        said = run_tool(["profile", str(blob), "--json", "--batch", str(batch), *(["--steps", str(steps)] if steps is not None else [])])
        times = json.loads(said.out)
        text = run_tool(["inspect", str(blob), "--memory", "--svg", str(svg)]).out
        document = json.loads(run_tool(["inspect", str(blob), "--json"]).out)
        with file_errors():
            picture = svg.read_text(encoding="utf-8")
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    return Report(times["steps"], times["batch"], times["us"], _nodes(document, times), text, document, picture, model.name, _machine(),
                  model.session(batch=batch).info.isa, version(), now, model.errors)


def _nodes(document: Any, times: Any) -> Tuple[NodeReport, ...]:
    found: List[NodeReport] = []
    for node, timed in zip(document["nodes"], times["nodes"]):
        values = [tuple(v for v in node[key] if v is not None) for key in ("inputs", "outputs")]
        found.append(NodeReport(node["name"], node["op"], values[0], values[1], timed["us"], timed["share"]))
    return tuple(found)
