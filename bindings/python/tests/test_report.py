"""Model.report(): the table, and what a notebook shows."""
import xml.etree.ElementTree

import numpy as np
import pytest
from conftest import layer

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
