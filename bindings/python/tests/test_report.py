# SPDX-License-Identifier: Apache-2.0
"""Model.report(): the table, and what a notebook shows."""
import datetime
import html
import re
import time
import xml.etree.ElementTree

import numpy as np
import pytest
from conftest import VAD, layer, random

import rnnpack


@pytest.fixture(scope="module")
def report(vad):
    return vad.report(steps=8, batch=2)


def test_has_each_node_with_its_time_and_share(report):
    assert [node.op for node in report.nodes] == ["dense", "dense", "recurrent", "dense"]
    assert (report.steps, report.batch) == (8, 2) and report.us > 0
    assert abs(sum(node.share for node in report.nodes) - 1) < 1e-6 and all(node.us >= 0 for node in report.nodes)
    # What one node gives is what the next one reads.
    assert all(before.outputs[0] in after.inputs for before, after in zip(report.nodes, report.nodes[1:]))


@pytest.mark.parametrize("sizes", [{"steps": 0}, {"steps": 1.5}, {"batch": 0}, {"batch": 2**32 + 1}])
def test_sizes_that_are_none_are_refused(vad, sizes):
    with pytest.raises(rnnpack.UsageError, match=f"--{next(iter(sizes))}"):
        vad.report(**sizes)


def test_prints_as_a_table_behind_what_inspect_says(report):
    text = str(report)
    assert "causal: may run in pieces" in text and "sequence pool" in text
    for node in report.nodes:
        assert f"{node.name} " in report.table() and report.table() in text


def pictures(page):
    """Every drawing of a page, parsed."""
    ends = [part.split("</svg>")[0] for part in page.split("<svg")[1:]]
    return [xml.etree.ElementTree.fromstring(f"<svg{part}</svg>") for part in ends]


def test_a_notebook_shows_graph_memory_and_times(report):
    page = report._repr_html_()
    graph, memory = pictures(page)
    titles = [element.text for element in graph.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["frames", *(node.name for node in report.nodes), "speech"]
    edges = [element for element in graph.iter("{http://www.w3.org/2000/svg}path") if element.get("marker-end")]
    assert len(edges) == 5
    assert any("value" in (element.text or "") for element in memory.iter("{http://www.w3.org/2000/svg}title"))
    assert page.count("<tr>") == 1 + len(report.nodes) and "<script" not in page


def test_says_what_was_timed_where_and_when(report, vad):
    page, heading = report._repr_html_(), report.heading()
    assert report.model == vad.name and "vad_gru/model.onnx" in heading and f"{vad.info.model_id:016x}" in heading
    assert report.isa is vad.session(batch=2).info.isa and report.isa.name in heading and report.machine and report.machine in heading
    assert report.version == rnnpack.__version__ and f"rnnpack {report.version}," in heading
    assert abs(datetime.datetime.fromisoformat(report.date).timestamp() - time.time()) < 3600
    assert html.escape(heading) in page and str(report).startswith(heading)


def test_the_memory_map_has_bytes_and_pictures_have_legends(report):
    page = report._repr_html_()
    _, memory = pictures(page)
    pool = report.document["pools"]["sequence_elems"]
    assert f"{4 * pool} bytes" in page and any(f"({4 * pool} bytes)" in (element.text or "") for element in memory.iter())
    titles = [element.text for element in memory.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 4 and all(re.search(r"value \d+: elements \d+ .. \d+, \d+ bytes", title) for title in titles)
    assert any("Dashed: the largest live set" in (element.text or "") for element in memory.iter())
    for op in {node.op for node in report.nodes} | {"input, output"}:
        assert f">{op}</span>" in page


def test_quantization_errors_are_in_the_report():
    model = rnnpack.compile(VAD, weights="int8", calibrate=random((40, 1, 256)) * 0.1)
    report = model.report(steps=4)
    page = report._repr_html_()
    assert report.errors == model.errors and str(model.errors) in str(report)
    figures = model.errors.outputs["speech"]
    assert "<h4>Quantization errors</h4>" in page and f"<td style='text-align:left'>{figures.sqnr_db:.1f}</td>" in page
    assert "W int8, R int8" in page and "Quantization errors" not in rnnpack.compile(VAD).report(steps=4)._repr_html_()


def test_models_and_sessions_show_themselves_in_notebooks(vad):
    model = layer(state=True)
    model.graph.node[0].name = model.graph.input[0].name = "<b>x"
    model.graph.node[0].input[0] = "<b>x"
    odd = rnnpack.compile(model)
    for shown in (vad, odd, vad.session(batch=2), odd.session()):
        page = shown._repr_html_()
        root = xml.etree.ElementTree.fromstring(page)
        names = {cell.text for cell in root.iter("td")}
        of = shown if isinstance(shown, rnnpack.Model) else shown.model
        assert {t.name for t in (*of.inputs, *of.outputs)} <= names and of.name in page
    assert vad.session().info.isa.name in vad.session()._repr_html_() and vad.notes[0] in html.unescape(vad._repr_html_())


def test_names_are_text_not_html(tmp_path):
    model = layer(dense=2)
    model.graph.node[-1].name = "<img src=x>&"
    page = rnnpack.compile(model).report()._repr_html_()
    assert "<img" not in page and "&lt;img src=x&gt;&amp;" in page
    pictures(page)


def test_is_saved_as_a_page(tmp_path, report):
    report.save(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and report._repr_html_() in text


def test_a_model_of_several_inputs_and_of_whole_sequences(vad):
    both = rnnpack.compile(layer(state=True, direction="bidirectional")).report(steps=3)
    assert len(pictures(both._repr_html_())) == 2 and np.isfinite(both.us)
