# SPDX-License-Identifier: Apache-2.0
"""float32 arrays are read and written where they lie: by their addresses, and by what NumPy allocates meanwhile."""
import ctypes
import tracemalloc

import numpy as np
import pytest
from conftest import layer, random

import rnnpack
from rnnpack import _abi


pytestmark = pytest.mark.usefixtures("either_calls")
RUN_IO = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
STEP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Spy:
    """The addresses that the library's functions were given by sessions made from now on."""

    def __init__(self, monkeypatch):
        self.run_io, self.step = _abi.lib.rnnp_run_io, _abi.lib.rnnp_step
        self.inputs, self.outputs = [], []
        self.seen = RUN_IO(self.see_run), STEP(self.see_step)
        monkeypatch.setattr(_abi.lib, "rnnp_run_io", self.seen[0])
        monkeypatch.setattr(_abi.lib, "rnnp_step", self.seen[1])

    def see_run(self, handle, at):
        given = _abi.Io.from_address(at)
        for count, place, seen in ((given.input_count, given.inputs, self.inputs), (given.output_count, given.outputs, self.outputs)):
            seen.extend(buffer.data for buffer in (_abi.Buffer * count).from_address(place))
        return self.run_io(handle, ctypes.byref(given))

    def see_step(self, handle, x, y):
        self.inputs.append(x)
        self.outputs.append(y)
        return self.step(handle, x, y)


def address(array):
    return array.ctypes.data


@pytest.mark.parametrize("batch_first", [False, True])
def test_the_library_reads_and_writes_the_callers_own_memory(monkeypatch, batch_first):
    model, spy = rnnpack.compile(layer(batch_first=batch_first)), Spy(monkeypatch)
    x, session = random((3, 8, 5) if batch_first else (8, 3, 5)), model.session(batch=3)
    ys = [session.run(x) for _ in range(3)]
    assert spy.inputs == [address(x)] * 3 and spy.outputs == [address(y) for y in ys] and all(y.flags.c_contiguous for y in ys)


def test_steps_read_and_write_the_callers_own_memory(monkeypatch, vad):
    spy, session = Spy(monkeypatch), vad.session()
    x, out = random((1, 256)), np.empty((1, 1), np.float32)
    frozen = x.copy()
    frozen.flags.writeable = False
    session.step(x, out=out)
    session.step(frozen, out=out)
    assert spy.inputs == [address(x), address(frozen)] and spy.outputs == [address(out)] * 2


def test_parts_of_a_bigger_array_are_read_where_they_lie(monkeypatch, vad):
    spy, long = Spy(monkeypatch), random((40, 3, 300))
    part = long[5:25:2, 1:, 10:266]
    y = vad.session(batch=2).run(part)
    assert spy.inputs == [address(part)]
    assert np.array_equal(y, vad.session(batch=2).run(part.copy()))


@pytest.mark.parametrize("batch", [1, 4])
def test_nothing_of_the_size_of_the_data_is_allocated(vad, batch):
    x = random((1024, batch, 256))
    out, session = np.empty((1024, batch, 1), np.float32), vad.session(batch=batch)
    session.run(x, out=out)
    tracemalloc.start()
    try:
        session.run(x, out=out)
        for frame in x[:50]:
            session.step(frame)
        peak = tracemalloc.get_traced_memory()[1]
        session.run(x.astype(np.float64), out=out)
        copied = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000 < x.nbytes < copied  # a conversion is seen, so a copy would be


def test_a_loaded_blob_is_used_where_the_file_is_mapped(tmp_path, vad):
    vad.save(tmp_path / "a.rnnp")
    tracemalloc.start()
    try:
        model = rnnpack.load(tmp_path / "a.rnnp")
        assert tracemalloc.get_traced_memory()[1] < len(vad.blob) // 2
    finally:
        tracemalloc.stop()
    assert ctypes.addressof(ctypes.c_char.from_buffer_copy(model.blob[:1])) and model.info == vad.info
