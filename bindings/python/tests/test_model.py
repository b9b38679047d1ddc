# SPDX-License-Identifier: Apache-2.0
"""A compiled model: its facts, its file, pickle, and the C files for firmware."""
import importlib.metadata
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import threading

import numpy as np
import pytest
from conftest import ROOT, VAD, layer, random

import rnnpack


def test_says_what_it_is(vad):
    assert vad.info.causal and vad.info.recurrent_count == 1 and vad.info.macs_per_step == 48816
    assert vad.info.blob_bytes == len(vad.blob) and vad.info.state_bytes_per_row == 4 * 48
    assert str(vad.inputs[0]) == "frames [steps, batch, 256]" and str(vad.outputs[0]) == "speech [steps, batch, 1]"
    assert vad.inputs[0].dtype is np.float32 and vad.inputs[0].row_elems == 256 and not vad.inputs[0].optional
    assert "frames [steps, batch, 256] -> speech" in repr(vad)


def test_the_version_is_the_headers():
    number = int(re.search(r"#define RNNP_HEADER_VERSION (\d+)u", (ROOT / "include/rnnpack/rnnpack.h").read_text()).group(1))
    assert rnnpack.__version__ == f"{number // 10000}.{number // 100 % 100}.{number % 100}" == importlib.metadata.version("rnnpack")


def test_a_saved_file_is_the_blob_and_loads_where_it_lies(tmp_path, vad):
    vad.save(tmp_path / "a.rnnp")
    assert (tmp_path / "a.rnnp").read_bytes() == bytes(vad.blob)
    assert [p.name for p in tmp_path.iterdir()] == ["a.rnnp"]
    loaded, x = rnnpack.load(tmp_path / "a.rnnp"), random((3, 1, 256))
    assert np.array_equal(loaded.session().run(x), vad.session().run(x))
    maps = open("/proc/self/maps").read()
    assert str(tmp_path / "a.rnnp") in maps


def test_saving_follows_links_and_leaves_devices_what_they_are(tmp_path, vad):
    (tmp_path / "folder").mkdir()
    for target in ("there.rnnp", "new.rnnp"):
        link, file = tmp_path / f"link to {target}", tmp_path / "folder" / target
        link.symlink_to(pathlib.Path("folder") / target)
        if target == "there.rnnp":
            file.write_bytes(b"an older one")
        vad.save(link)
        assert link.is_symlink() and file.read_bytes() == bytes(vad.blob)
    assert len(list((tmp_path / "folder").iterdir())) == 2
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    vad.save(pipe)
    reader.join()
    assert pipe.is_fifo() and read == [bytes(vad.blob)]
    device = tmp_path / "device"
    device.symlink_to("/dev/full")
    with pytest.raises(rnnpack.FileError, match="No space left"):
        vad.save(device)
    assert device.is_symlink() and device.is_char_device()


def test_metadata_goes_through_the_blob(tmp_path, vad):
    model = rnnpack.compile(VAD, meta={"rate": "16000", "author": "Zoë = 1"}, no_onnx_meta=True)
    assert model.meta == {"rate": "16000", "author": "Zoë = 1"} and pickle.loads(pickle.dumps(model)).meta == model.meta
    assert model.info.model_id == vad.info.model_id
    assert rnnpack.compile(VAD, no_onnx_meta=True).meta == {}


@pytest.mark.parametrize("broken", [b"", b"RNNPACK?", "cut", "flipped"])
def test_a_broken_blob_is_refused_in_the_librarys_words(tmp_path, vad, broken):
    data = bytes(vad.blob)
    data = {"cut": data[:-64], "flipped": data[:-70] + bytes([data[-70] ^ 1]) + data[-69:]}.get(broken, broken)
    (tmp_path / "a.rnnp").write_bytes(data)
    with pytest.raises(rnnpack.Error, match="blob"):
        rnnpack.load(tmp_path / "a.rnnp")


def test_an_exported_file_that_was_there_stays_when_saving_fails(tmp_path, vad):
    with pytest.raises(OSError):
        vad.save(tmp_path / "no such folder" / "a.rnnp")


def test_pickles(vad):
    again, x = pickle.loads(pickle.dumps(vad)), random((3, 1, 256))
    assert again.info == vad.info and again.notes == vad.notes
    assert np.array_equal(again.session().run(x), vad.session().run(x))


def test_a_pickle_does_not_carry_the_onnx_model_too(gru):
    assert len(pickle.dumps(gru)) < len(gru.blob) + 1000


def test_bytes_that_do_not_lie_on_64_are_taken(vad):
    room = bytearray(len(vad.blob) + 1)
    room[1:] = vad.blob
    assert rnnpack.Model(memoryview(room)[1:]).info == vad.info


def test_the_blob_cannot_be_written(vad):
    with pytest.raises(TypeError):
        vad.blob[0] = 0


@pytest.mark.parametrize("one_file", [False, True])
def test_writes_c_for_firmware_that_compiles(tmp_path, vad, one_file):
    files = vad.to_c("detector", tmp_path, one_file=one_file)
    assert [f.name for f in files] == ["detector.h", "detector.cpp" if one_file else "detector.c"]
    assert "DETECTOR" in files[0].read_text()
    compiler = shutil.which("c++" if one_file else "cc")
    if compiler is None:
        pytest.skip("no C compiler")
    flags = ["-std=c++17", "-O0", "-mavx2", "-mfma", "-mf16c"] if one_file else ["-std=c11"]
    subprocess.run([compiler, *flags, f"-I{ROOT / 'include'}", "-c", files[1], "-o", tmp_path / "o"], check=True)


def test_c_files_are_for_the_target_that_is_named(tmp_path, vad):
    small, wide = vad.to_c("a", tmp_path), vad.to_c("b", tmp_path, target="generic")
    assert small[1].read_text() != wide[1].read_text()
    assert "nr4" in small[1].read_text() and "nr16" in wide[1].read_text()


def test_a_model_in_memory_has_c_files_and_a_loaded_blob_says_why_not(tmp_path, gru):
    gru.to_c("net", tmp_path)
    gru.save(tmp_path / "a.rnnp")
    with pytest.raises(rnnpack.UsageError, match="compile the ONNX file"):
        rnnpack.load(tmp_path / "a.rnnp").to_c("net", tmp_path)


def test_a_file_that_changed_since_is_noticed(tmp_path):
    shutil.copy(VAD, tmp_path / "m.onnx")
    model = rnnpack.compile(tmp_path / "m.onnx")
    (tmp_path / "m.onnx").write_bytes(layer().SerializeToString())
    with pytest.raises(rnnpack.Error, match="not what this model was made from"):
        model.to_c("net", tmp_path)


def test_verifies_itself_and_raises_what_differs(vad):
    assert "verified" in vad.verify(steps=5, batch=2)
    with pytest.raises(rnnpack.VerifyError, match="NOT verified"):
        vad.verify(tolerance=0)


def test_verify_is_told_the_flags_of_compile():
    model = rnnpack.compile(layer(state=True), state={"h0": "hn"})
    assert "verified" in model.verify()


def test_verify_is_told_which_part_of_the_graph_was_compiled():
    proto = layer(dense=3)
    inner = proto.graph.node[-1].input[0]
    for flags in ({"to": inner}, {"from_": {inner: ["T", "N", 6]}}):
        assert "verified" in rnnpack.compile(proto, **flags).verify()
