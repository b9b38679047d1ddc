"""rnnpack.compile: what it takes, what it hands to the tool, what it says."""
import subprocess

import numpy as np
import onnx
import pytest
from conftest import VAD, layer, random

import rnnpack
from rnnpack._tool import TOOL


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


def test_an_unknown_keyword_is_refused_with_those_that_there_are():
    with pytest.raises(TypeError, match="'strem'.*stream"):
        rnnpack.compile(VAD, strem=4)
    with pytest.raises(TypeError, match="Model.to_c"):
        rnnpack.compile(VAD, emit_c="a")
    with pytest.raises(TypeError, match="not int"):
        rnnpack.compile(7)


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
    with pytest.raises(TypeError, match="from_, "):
        rnnpack.compile(model, nothing=1)
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
    assert "200 of 200\n" in capsys.readouterr().err
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

    rnnpack.compile(VAD)  # the options' names are known now
    monkeypatch.setattr(subprocess, "Popen", Watched)
    with pytest.raises(KeyboardInterrupt):
        rnnpack.compile(VAD, weights="auto", accuracy_min=40, calibrate=random((4000, 1, 256)), progress=stop)
    assert [child.returncode for child in Watched.started] == [-9]
    with pytest.raises(rnnpack.UsageError, match="nothing"):
        rnnpack.compile(VAD, stream=1, axes={"nothing": ["time"]}, progress=lambda *_: None)
