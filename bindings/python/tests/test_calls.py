# SPDX-License-Identifier: Apache-2.0
"""Prepared calls: the second call on arrays of a layout is the library's alone, with the results of the first way, and everything that
fits no prepared call goes that first way again."""
import gc
import itertools
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from conftest import layer, looked_up, random

import rnnpack
from rnnpack._calls import RUN, STEP

pytestmark = pytest.mark.usefixtures("either_calls")




class Unprepared:
    """A session's calls that remember nothing."""

    def __init__(self, calls):
        self.acquire, self.release, self.opened = calls.acquire, calls.release, calls.opened

    def call(self, *_):
        return None

    def remember(self, *_):
        pass


def unprepared(session):
    session._calls = Unprepared(session._calls)
    return session


def equal(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(np.array_equal(a[name], b[name]) for name in a)
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)


def misaligned(x):
    room = np.empty(x.nbytes + 1, np.uint8)
    view = room[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    assert not view.flags.aligned
    return view


def of_bytes(x):
    """A buffer of floats that says nothing of its alignment; the first call on its layout is with one that is aligned."""
    of_bytes.shift = not of_bytes.shift
    return memoryview(bytearray(of_bytes.shift) + bytearray(np.ascontiguousarray(x).tobytes()))[of_bytes.shift:].cast("f", shape=x.shape)


of_bytes.shift = True


def frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = [np.ascontiguousarray, np.asfortranarray, frozen, misaligned, lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x[::-1].copy()[::-1],
           lambda x: x.astype(np.float64), lambda x: x.astype(">f4"), lambda x: x.tolist(), lambda x: np.repeat(x, 2, axis=1)[:, ::2],
           lambda x: np.lib.stride_tricks.as_strided(np.ascontiguousarray(x), x.shape, x.strides), memoryview, of_bytes]


@pytest.mark.parametrize("batch_first", [False, True])
def test_every_layout_in_any_order_gives_the_bits_of_a_call_that_is_not_prepared(batch_first):
    model = rnnpack.compile(layer(batch_first=batch_first, dense=3))
    session, plain = model.session(batch=2), unprepared(model.session(batch=2))
    for number, (make, _) in enumerate(itertools.product(LAYOUTS, range(3))):
        steps = 1 + number % 5
        x = make(np.ascontiguousarray(random((2, steps, 5) if batch_first else (steps, 2, 5), number)))
        frame = make(np.ascontiguousarray(random((2, 5), number)))
        for call in ("run", "step", "run"):
            value = frame if call == "step" else x
            assert equal(getattr(session, call)(value), getattr(plain, call)(value)), (number, call)
        assert equal(session.run(x, last_step=True), plain.run(x, last_step=True))


def test_several_inputs_and_outputs_by_name_in_any_choice():
    model = rnnpack.compile(layer(state=True))
    session, plain = model.session(batch=2), unprepared(model.session(batch=2))
    h0, out = random((1, 2, 6), 9), {"y": np.zeros((3, 2, 6), np.float32), "hn": np.zeros((1, 2, 6), np.float32)}
    for number in range(4):
        x = random((3, 2, 5), number)
        for given in ({"x": x}, {"h0": h0, "x": x}, x):
            assert equal(session.run(given), plain.run(given))
            assert equal(session.step({**given, "x": x[0]} if isinstance(given, dict) else x[0]),
                         plain.step({**given, "x": x[0]} if isinstance(given, dict) else x[0]))
            got = session.run(given, out=out)
            assert got["y"] is out["y"] and got["hn"] is out["hn"] and equal(got, plain.run(given))
            got = session.run(given, out={"hn": out["hn"]})
            assert got["hn"] is out["hn"] and got["y"] is not out["y"] and equal(got, plain.run(given))
        with pytest.raises(rnnpack.UsageError, match="no input 'z'"):
            session.run({"x": x, "z": x})
        with pytest.raises(rnnpack.UsageError, match="no output 'z'"):
            session.run(x, out={"y": out["y"], "hn": out["hn"], "z": out["y"]})


def test_indices_are_int32_and_nothing_else_that_has_four_bytes():
    session = rnnpack.compile(looked_up(random((7, 4)))).session(batch=2)
    for indices in ([[1], [6]], [[0], [5]]):
        for kind in (np.int32, np.int64, np.int32):
            assert session.run(np.array(indices, kind)).shape == (2, 1, 4)
    with pytest.raises(rnnpack.UsageError, match="indices"):
        session.run(np.ones((2, 1), np.float32))


def test_the_second_call_is_prepared_and_a_conversion_is_not(vad):
    session, x = vad.session(), random((4, 1, 256))
    assert session._calls.call(RUN, x, None) is None
    session.run(x)
    assert session._calls.call(RUN, x, None) is not None and session._calls.call(STEP, x[0], None) is None
    session.step(x[0])
    assert session._calls.call(STEP, x[1], None) is not None
    session.run(x.astype(np.float64))
    assert session._calls.call(RUN, x.astype(np.float64), None) is None


def test_outputs_that_do_not_fit_are_refused_after_those_that_do(vad):
    session, x, out = vad.session(), random((2, 1, 256)), np.zeros((2, 1, 1), np.float32)
    for _ in range(2):
        session.run(x, out=out)
    for bad in (np.zeros((3, 1, 1), np.float32), np.zeros((2, 1, 1)), np.zeros((2, 1, 1), np.int32), frozen(out), out.tolist()):
        with pytest.raises(rnnpack.UsageError, match="out for 'speech'"):
            session.run(x, out=bad)
    before = session.state.save()
    with pytest.raises(rnnpack.UsageError, match="out for 'speech'"):
        session.step(x[0], out=np.zeros((1, 2), np.float32))
    assert session.state.save() == before


def test_a_refused_call_says_why_in_the_sessions_words():
    session, room = rnnpack.compile(layer(hidden=5)).session(), np.zeros(100, np.float32)
    x, out, after = (room[at:at + 20].reshape(4, 1, 5) for at in (0, 50, 5))
    before = session.state.save()
    for _ in range(2):  # the second time all was prepared
        with pytest.raises(rnnpack.LibraryError, match="^a run of 4 steps: an output overlaps another, or an input") as caught:
            session.run(x, out=after)
        assert caught.value.status == -1
        assert session.state.save() == before
        session.run(x, out=out)
        session.state.reset()
        assert session._calls.call(RUN, x, out) is out
        session.state.reset()


def test_a_session_that_grows_forgets_the_calls_of_the_smaller_one():
    model = rnnpack.compile(layer(direction="bidirectional"))
    session, short, long = model.session(), random((50, 1, 5)), random((500, 1, 5))
    for _ in range(2):
        for x in (short, long, short):
            session.state.reset()
            assert np.array_equal(session.run(x), model.session(max_steps=500).run(x))


def test_a_call_that_finds_another_one_is_refused(vad):
    session, x = vad.session(), random((1, 256))
    session.step(x)
    with session._turn():
        for call in (lambda: session.step(x), lambda: session.run(x[None]), session.state.reset):
            with pytest.raises(rnnpack.BusyError, match="another thread"):
                call()
    session.step(x)


def test_threads_that_meet_in_prepared_calls_are_refused_and_harm_nothing():
    session = rnnpack.compile(layer("LSTM", inputs=64, hidden=128)).session()
    x, refused, done = random((200, 1, 64)), [], []
    session.run(x)

    def work():
        for _ in range(20):
            try:
                done.append(session.run(x).shape)
            except rnnpack.BusyError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) + len(refused) == 80 and done
    session.run(x)


def test_nothing_is_kept_of_the_arrays_of_a_call(vad):
    session, x, out = vad.session(), random((1, 256)), np.zeros((1, 1), np.float32)
    two, h0 = rnnpack.compile(layer(state=True)).session(), {"x": random((1, 5))}
    calls = [lambda: session.step(x), lambda: session.step(x, out=out), lambda: session.run(x[None]), lambda: two.step(h0)]
    for call in calls * 2:
        call()
    with pytest.raises(rnnpack.UsageError):
        session.step(x, out=x)
    counts = sys.getrefcount(x), sys.getrefcount(out), sys.getrefcount(h0["x"])
    tracemalloc.start()
    try:
        for call in calls * 500:
            call()
        assert tracemalloc.get_traced_memory()[0] < 20_000
    finally:
        tracemalloc.stop()
    assert counts == (sys.getrefcount(x), sys.getrefcount(out), sys.getrefcount(h0["x"]))


def test_a_session_ends_with_its_last_reference(vad):
    session = vad.session()
    session.step(random((1, 256)))
    watched = weakref.ref(session)
    gc.disable()
    try:
        del session
        assert watched() is None
    finally:
        gc.enable()
