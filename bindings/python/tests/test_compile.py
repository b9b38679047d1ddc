# SPDX-License-Identifier: Apache-2.0
"""rnnpack.compile: what it takes, what it hands to the tool, what it says."""
import concurrent.futures
import inspect
import json
import keyword
import math
import pickle
import re
import subprocess

import numpy as np
import onnx
import pytest
from conftest import VAD, layer, random

import rnnpack
from rnnpack._compiler import library
from rnnpack._tool import TOOL, options_of


def test_takes_a_path_a_message_and_bytes_for_the_same_model():
    message = onnx.load(VAD)
    models = [rnnpack.compile(VAD), rnnpack.compile(str(VAD)), rnnpack.compile(message), rnnpack.compile(message.SerializeToString())]
    assert len({bytes(m.blob) for m in models}) == 1


def test_gives_the_blob_that_the_tool_writes(tmp_path):
    subprocess.run([TOOL, "compile", VAD, "-o", tmp_path / "a.rnnp", "--target", "avx2", "--stream", "4"], check=True, capture_output=True)
    model = rnnpack.compile(VAD, target="avx2", stream=4)
    assert bytes(model.blob) == (tmp_path / "a.rnnp").read_bytes()
    assert model.info.stream_steps == 4


def test_weights_beside_the_model_are_found(tmp_path):
    onnx.save(onnx.load(VAD), tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="m.onnx.data")
    assert (tmp_path / "m.onnx.data").exists()
    assert rnnpack.compile(tmp_path / "m.onnx").info.model_id == rnnpack.compile(VAD).info.model_id


def test_an_input_becomes_a_constant_by_an_array_or_numbers():
    h0 = random((1, 1, 6))
    fixed = rnnpack.compile(layer(state=True), set={"h0": h0}, shape={"x": [-1, 1, 5]})
    assert [t.name for t in fixed.inputs] == ["x"]
    free, x = rnnpack.compile(layer(state=True)), random((4, 1, 5))
    assert np.array_equal(fixed.session().run(x)["y"], free.session().run({"x": x, "h0": h0})["y"])


def test_names_a_state_that_the_library_keeps():
    model = rnnpack.compile(layer(state=True), state={"h0": "hn"})
    assert [t.name for t in model.inputs] == ["x"] and [t.name for t in model.outputs] == ["y"]


def test_gives_a_size_to_a_named_dimension():
    model = layer()
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "bands"
    assert rnnpack.compile(model, dim={"bands": 5}).inputs[0].dims == ("steps", "batch", 5)
    with pytest.raises(rnnpack.ModelError):
        rnnpack.compile(model, dim={"bands": 4})


def test_weights_of_fewer_bits_are_calibrated_with_arrays(tmp_path):
    x = random((40, 1, 256)) * 0.1
    np.save(tmp_path / "x.npy", x)
    subprocess.run([TOOL, "compile", VAD, "-o", tmp_path / "a.rnnp", "--weights", "int8", "--calibrate", tmp_path / "x.npy"], check=True,
                   capture_output=True)
    for data in (x, {"frames": x}, str(tmp_path / "x.npy")):
        assert bytes(rnnpack.compile(VAD, weights="int8", calibrate=data).blob) == (tmp_path / "a.rnnp").read_bytes()
    assert bytes(rnnpack.compile(VAD, weights="int8").blob) != (tmp_path / "a.rnnp").read_bytes()


def keywords_of(function):
    return {name for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("command, function, elsewhere", [
    ("compile", rnnpack.compile, {"emit_c", "chunk_steps", "one_file", "max_steps", "no_check", "incbin"}),  # of Model.to_c; check=False; the tool's alone
    ("verify", rnnpack.Model.verify, {"prune", "from_", "to", "set", "dim", "shape", "axes", "state", "quality"}),  # what compile was given
])
def test_every_option_of_the_tool_is_a_keyword_with_a_type_and_a_text(command, function, elsewhere):
    options = {option.replace("-", "_") + "_" * keyword.iskeyword(option) for option in options_of(command)}
    assert keywords_of(function) - {"progress", "check"} == options - elsewhere and elsewhere <= options
    words = set(re.findall(r"\w+", function.__doc__))
    for name in keywords_of(function):
        assert name in words and inspect.signature(function).parameters[name].annotation is not inspect.Parameter.empty
    assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def test_from_torch_takes_the_keywords_of_compile():
    from rnnpack._options import CompileOptions
    assert set(CompileOptions.__annotations__) == keywords_of(rnnpack.compile) - {"axes"}


def test_an_unknown_keyword_is_refused():
    for name in ("strem", "emit_c", "output"):
        with pytest.raises(TypeError, match=f"'{name}'"):
            rnnpack.compile(VAD, **{name: 4})
    with pytest.raises(TypeError, match="not int"):
        rnnpack.compile(7)


def test_every_option_reaches_the_tool(tmp_path, monkeypatch):
    given = []

    def stop(onnx, pairs, report):
        given.extend(rnnpack._tool.arguments_of(pairs))
        raise rnnpack.UsageError("seen")

    monkeypatch.setattr(rnnpack._model, "library", lambda: True)
    monkeypatch.setattr(rnnpack._model, "compile_here", stop)
    values = {"prune": 0.5, "accuracy_min": 3.5, "stream": 2, "calibrate": tmp_path / "x.npy", "metric": tmp_path / "m", "report": tmp_path / "r",
              "set": {"a": [1, 2]}, "dim": {"a": 2}, "shape": {"x": [-1, 3]}, "axes": {"x": ["batch", "time"]}, "state": {"a": "b"}, "meta": {"k": "v"}, "no_onnx_meta": True}
    every = {name: values.get(name, "word") for name in keywords_of(rnnpack.compile) - {"progress", "check"}}
    with pytest.raises(rnnpack.UsageError, match="seen"):
        rnnpack.compile(VAD, **every)
    assert {f"--{name.rstrip('_').replace('_', '-')}" for name in every} == {argument for argument in given if argument.startswith("--")}
    assert {"a=1,2", "x=-1,3", "x=batch,time", "3.5", str(tmp_path / "r")} <= set(given)


def test_what_low_precision_weights_cost_is_kept(tmp_path):
    x = random((40, 1, 256)) * 0.1
    model = rnnpack.compile(VAD, weights="int8", calibrate=x, report=tmp_path / "r.json")
    errors, report = model.errors, json.loads((tmp_path / "r.json").read_text())
    assert errors.outputs["speech"].sqnr_db == report["outputs"][0]["sqnr_db"] > 10 and errors.steps == 40
    assert [layer.name for layer in errors.layers] == [layer["name"] for layer in report["layers"]]
    recurrent = next(layer for layer in errors.layers if layer.kind == "recurrent")
    assert [m.type for m in recurrent.matrices] == ["int8", "int8"] and recurrent.one_step.rms > 0 and errors.decisions == ()
    assert str(errors).startswith("measured on 40 steps") and f"{errors.bytes} bytes; {errors.f32_bytes} in f32" in str(errors)
    assert errors.bytes == model.info.blob_bytes and any("accuracy: output speech has" in note for note in model.notes)
    assert pickle.loads(pickle.dumps(model)).errors == errors
    assert rnnpack.compile(VAD).errors is None and rnnpack.compile(VAD, weights="f16").errors is None


def test_what_auto_chose_is_told():
    model = rnnpack.compile(VAD, weights="auto", calibrate=random((40, 1, 256)) * 0.1, accuracy_min=140)
    assert all(m.type == "f32" for layer in model.errors.layers for m in layer.matrices)
    assert model.errors.decisions and set(model.errors.decisions) <= set(model.notes)
    assert math.isinf(model.errors.outputs["speech"].sqnr_db)


@pytest.mark.parametrize("act", [
    lambda folder, model: rnnpack.load(folder / "no" / "a.rnnp"), lambda folder, model: rnnpack.load(folder),
    lambda folder, model: model.save(folder / "no" / "a.rnnp"), lambda folder, model: model.to_c("a", folder / "no"),
    lambda folder, model: model.report(steps=1).save(folder / "no" / "r.html"), lambda folder, model: model.verify(input=folder / "no.npy"),
    lambda folder, model: rnnpack.compile(folder / "no.onnx"), lambda folder, model: rnnpack.compile(VAD, weights="int8", calibrate=folder / "no.npy"),
    lambda folder, model: rnnpack.compile(VAD, report=folder / "no" / "r.json"),
])
def test_what_files_refuse_is_an_error_of_this_package(tmp_path, vad, act):
    with pytest.raises(rnnpack.FileError) as caught:
        act(tmp_path, vad)
    assert isinstance(caught.value, (rnnpack.Error, OSError)) and str(tmp_path) in str(caught.value)


def test_a_folder_for_its_own_work_that_is_missing_is_an_error_of_this_package(monkeypatch, gru):
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    for act in (lambda: rnnpack.compile(VAD), lambda: rnnpack.compile(b"abc"), gru.report, gru.verify):
        with pytest.raises(rnnpack.FileError, match="nowhere"):
            act()


def said(*arguments):
    text = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True).stderr.strip()
    return text[len("rnnpack: "):] if text.startswith("rnnpack: ") else text


@pytest.mark.parametrize("error, option, value", [(rnnpack.UsageError, "target", "z80"), (rnnpack.UsageError, "dim", {"nothing": 3}),
                                                  (rnnpack.UsageError, "state", {"a": "b"})])
def test_errors_have_the_tools_own_text(tmp_path, error, option, value):
    text = ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else value
    with pytest.raises(rnnpack.Error) as caught:
        rnnpack.compile(VAD, **{option: value})
    assert str(caught.value) == said("compile", VAD, "-o", tmp_path / "a", f"--{option}", text) != ""


def test_a_model_that_is_refused_says_which_node_and_why(tmp_path):
    graph = onnx.load(VAD)
    graph.graph.node[0].op_type, graph.graph.node[0].name = "Nonsense", "front"
    with pytest.raises(rnnpack.ModelError, match="'front' .Nonsense."):
        rnnpack.compile(graph)


def test_a_file_that_is_not_there_is_an_os_error():
    with pytest.raises(OSError, match="nowhere.onnx") as caught:
        rnnpack.compile("nowhere.onnx")
    assert isinstance(caught.value, rnnpack.FileError)


def test_what_looks_ahead_is_refused_for_streams_and_notes_are_kept():
    with pytest.raises(rnnpack.ModelError, match="cannot run as a stream: node 'layer'"):
        rnnpack.compile(layer(direction="bidirectional"), stream=1)
    notes = rnnpack.compile(VAD).notes
    assert [note.split(":")[0] for note in notes] == ["axes", "streams"]  # no file's name, no commands


def test_a_graph_is_cut_in_two_and_axes_are_named():
    model = layer(dense=3)
    inner = model.graph.node[-1].input[0]
    front, back = rnnpack.compile(model, to=inner), rnnpack.compile(model, from_={inner: ["T", "N", 6]})
    assert front.outputs[0].name == inner == back.inputs[0].name
    with pytest.raises(rnnpack.ModelError, match="time"):
        rnnpack.compile(model, axes={"x": ["features", "batch", "time"]})


def told_by(call):
    told = []
    result = call(lambda done, of: told.append((done, of)))
    assert told and told == sorted(told) and len({of for _, of in told}) == 1 and told[-1][0] == told[-1][1]
    return result, told


def test_progress_of_long_work_is_told_and_changes_nothing():
    x = random((40, 1, 256)) * 0.1
    flags = {"weights": "auto", "accuracy_min": 40, "calibrate": x}
    model, told = told_by(lambda progress: rnnpack.compile(VAD, progress=progress, **flags))
    assert len(told) > 20
    plain = rnnpack.compile(VAD, **flags)
    assert bytes(model.blob) == bytes(plain.blob) and model.notes == plain.notes


def test_progress_is_told_of_other_work_with_the_tool(tmp_path):
    model = rnnpack.compile(VAD)
    text, told = told_by(lambda progress: model.verify(progress=progress))
    assert len(told) > 4 and text == model.verify()
    told_by(lambda progress: model.to_c("a", tmp_path, progress=progress))


def test_progress_is_a_bar_where_none_is_brought(capsys):
    rnnpack.compile(VAD, progress=True)
    assert re.search(r" (\d+) of \1\n$", capsys.readouterr().err)
    rnnpack.compile(VAD)
    assert capsys.readouterr().err == ""


def test_what_progress_raises_ends_the_work(monkeypatch):
    class Watched(subprocess.Popen):
        started = []

        def __init__(self, arguments, **more):
            super().__init__(arguments, **more)
            self.started.append(self)

    def stop(done, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rnnpack.compile(VAD, weights="auto", accuracy_min=40, calibrate=random((4000, 1, 256)), progress=stop)
    monkeypatch.setattr(rnnpack._model, "library", lambda: None)
    monkeypatch.setattr(subprocess, "Popen", Watched)
    with pytest.raises(KeyboardInterrupt):
        rnnpack.compile(VAD, weights="auto", accuracy_min=40, calibrate=random((4000, 1, 256)), progress=stop)
    assert [child.returncode for child in Watched.started] == [-9]
    with pytest.raises(rnnpack.UsageError, match="nothing"):
        rnnpack.compile(VAD, stream=1, axes={"nothing": ["time"]}, progress=lambda *_: None)


@pytest.mark.skipif(library() is None, reason="the package has the tool alone")
def test_the_library_and_the_tool_give_and_say_the_same(tmp_path, monkeypatch):
    flags = {"weights": "int8", "calibrate": random((40, 1, 256)) * 0.1, "meta": {"rate": "16000"}}
    here = rnnpack.compile(VAD, **flags)
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    here.to_c("net", tmp_path / "here")
    with pytest.raises(rnnpack.Error) as refused:
        rnnpack.compile(layer(direction="bidirectional"), stream=1)
    monkeypatch.setattr(rnnpack._model, "library", lambda: None)
    there = rnnpack.compile(VAD, **flags)
    there.to_c("net", tmp_path / "there")
    assert bytes(here.blob) == bytes(there.blob) and here.notes == there.notes and here.errors == there.errors
    for name in ("net.c", "net.h"):
        assert (tmp_path / "here" / name).read_text() == (tmp_path / "there" / name).read_text()
    with pytest.raises(type(refused.value)) as again:
        rnnpack.compile(layer(direction="bidirectional"), stream=1)
    assert str(refused.value) == str(again.value)


@pytest.mark.skipif(library() is None, reason="the package has the tool alone")
def test_threads_compile_side_by_side_in_this_process(monkeypatch):
    def no_process(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", no_process)
    alone = [bytes(rnnpack.compile(model).blob) for model in (VAD, layer("LSTM"))]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for i, model in enumerate(pool.map(rnnpack.compile, [VAD, layer("LSTM")] * 8)):
            assert bytes(model.blob) == alone[i % 2]


def with_a_closed_gate():
    """An LSTM whose output gate is closed by -40, under a factor of 1e15: kernels cut gates at -30 (docs/KERNELS.md)."""
    def constant(name, value):
        return onnx.numpy_helper.from_array(np.array(value, np.float32), name)

    def tensor(name, dims):
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)

    bias = np.repeat([40, -40, -40, 1, 0, 0, 0, 0], 4)  # gates i, o, f, c, then those of the state
    weights = [constant("W", np.zeros((1, 16, 4))), constant("R", np.zeros((1, 16, 4))), constant("B", bias[None]), constant("large", 1e15)]
    nodes = [onnx.helper.make_node("LSTM", ["x", "W", "R", "B"], ["h"], hidden_size=4), onnx.helper.make_node("Mul", ["h", "large"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "graph", [tensor("x", ["T", "N", 4])], [tensor("y", None)], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def test_compares_the_model_with_its_graph_unless_told_not_to():
    with pytest.raises(rnnpack.VerifyError, match="(?s)NOT written.*output 'y' of shape"):
        rnnpack.compile(with_a_closed_gate())
    assert rnnpack.compile(with_a_closed_gate(), check=False).outputs[0].name == "y"
