# SPDX-License-Identifier: Apache-2.0
"""Sessions: results beside another implementation, and the same bits however a stream is given."""
import pathlib
import pickle
import re
import resource
import subprocess

import numpy as np
import pytest
from conftest import ROOT, expected, layer, looked_up, random
from onnx import TensorProto, helper, numpy_helper

import rnnpack
from rnnpack._tool import TOOL

pytestmark = pytest.mark.usefixtures("either_calls")


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_gives_what_another_implementation_gives(kind, batch_first, direction):
    model = layer(kind, batch_first=batch_first, direction=direction, dense=3)
    x = random((2, 7, 5) if batch_first else (7, 2, 5))
    y = rnnpack.compile(model).session(batch=2).run(x)
    assert y.shape == (*x.shape[:2], 3)
    assert np.allclose(y, expected(model, x=x)[0], atol=1e-5)


def test_gives_the_bits_that_the_tool_gives(tmp_path, vad):
    x = random((9, 2, 256))
    np.save(tmp_path / "x.npy", x)
    vad.save(tmp_path / "a.rnnp")
    subprocess.run([TOOL, "run", tmp_path / "a.rnnp", "--input", tmp_path / "x.npy", "--output", tmp_path / "y.npy"], check=True, capture_output=True)
    assert np.array_equal(vad.session(batch=2).run(x), np.load(tmp_path / "y.npy"))


@pytest.mark.parametrize("batch_first", [False, True])
def test_steps_pieces_and_whole_runs_give_the_same_bits(batch_first):
    model = rnnpack.compile(layer(batch_first=batch_first, dense=3))
    time = 1 if batch_first else 0
    x = random((2, 8, 5) if batch_first else (8, 2, 5))
    whole = model.session(batch=2).run(x)
    steps, session = [], model.session(batch=2)
    for t in range(8):
        steps.append(session.step(np.take(x, t, time)))
    assert np.array_equal(np.stack(steps, time), whole)
    session.state.reset()
    first, rest = np.split(x, [3], time)
    assert np.array_equal(np.concatenate([session.run(first), session.run(rest)], time), whole)


def test_a_step_with_its_axis_of_time_gives_one_back(vad):
    x, session = random((1, 1, 256)), vad.session()
    assert session.step(x).shape == (1, 1, 1) and session.step(x[0]).shape == (1, 1)


def test_a_step_of_what_is_not_float32_takes_the_long_road_to_the_same_bits(vad):
    x, a, b = random((4, 1, 256)), vad.session(), vad.session()
    for frame in x:
        assert np.array_equal(a.step(frame), b.step(frame.astype(np.float64)))
    assert np.array_equal(a.step(x[0]), b.step({"frames": x[0]}))


def test_results_go_where_they_are_wanted(vad):
    x, out = random((6, 1, 256)), np.zeros((6, 1, 1), np.float32)
    y = vad.session().run(x, out=out)
    assert y is out and np.array_equal(out, vad.session().run(x))
    step = np.zeros((1, 1), np.float32)
    assert vad.session().step(x[0], out=step) is step and step[0, 0] == out[0, 0, 0]


def test_results_go_into_arrays_of_any_strides(vad):
    x, room = random((6, 2, 256)), np.zeros((2, 3, 6), np.float32)
    out = room[:, 1:2].transpose(2, 0, 1)
    vad.session(batch=2).run(x, out=out)
    assert np.array_equal(room[:, 1].T[..., None], vad.session(batch=2).run(x)) and not room[:, 0].any()


def test_arrays_of_any_strides_and_types_are_read(vad):
    x = random((6, 2, 256))
    want = vad.session(batch=2).run(x)
    for odd in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], np.repeat(x, 2, axis=2)[..., ::2], x[::-1].copy()[::-1],
                x[:, ::-1].copy()[:, ::-1], x.astype(np.float64), x.astype(">f4"), x.tolist()):
        assert np.array_equal(vad.session(batch=2).run(odd), want)


def test_rows_that_overlap_or_repeat_are_read_as_numpy_sees_them(vad):
    samples = random(256 + 100 * 5)
    windows = np.lib.stride_tricks.sliding_window_view(samples, 256)[::100, None]
    once = np.broadcast_to(random((1, 1, 256)), (6, 2, 256))
    for shared in (windows, once):
        batch = shared.shape[1]
        assert np.array_equal(vad.session(batch=batch).run(shared), vad.session(batch=batch).run(shared.copy()))


def test_several_inputs_and_outputs_go_by_name():
    proto = layer("GRU", state=True)
    model, x, h0 = rnnpack.compile(proto), random((4, 2, 5)), random((1, 2, 6), 3)
    got = model.session(batch=2).run({"x": x, "h0": h0})
    assert list(got) == [t.name for t in model.outputs] == ["y", "hn"]
    for name, value in zip(("y", "hn"), expected(proto, x=x, h0=h0)):
        assert np.allclose(got[name], value, atol=1e-5)
    session = model.session(batch=2)
    session.run({"x": x[:2], "h0": h0})
    assert np.array_equal(session.run(x[2:])["hn"], got["hn"])  # left out, the session goes on from its own state


@pytest.mark.parametrize("op", ["Slice", "Split"])
def test_a_state_that_layers_take_in_parts_may_be_left_out(op):
    """As docs/OPERATORS.md has it."""
    nodes, initializers, x = [], [], "x"
    if op == "Split":
        nodes.append(helper.make_node("Split", ["h0"], ["s0", "s1"], axis=0))
    for at in range(2):
        constants = {f"W{at}": random((1, 18, 6), at), f"R{at}": random((1, 18, 6), 2 + at) / 2, f"one{at}": np.array([1])}
        if op == "Slice":
            constants |= {f"first{at}": np.array([at]), f"end{at}": np.array([at + 1]), f"axis{at}": np.array([0])}
            nodes.append(helper.make_node("Slice", ["h0", f"first{at}", f"end{at}", f"axis{at}"], [f"s{at}"]))
        nodes += [helper.make_node("GRU", [x, f"W{at}", f"R{at}", "", "", f"s{at}"], [f"Y{at}", f"hn{at}"], hidden_size=6),
                  helper.make_node("Squeeze", [f"Y{at}", f"one{at}"], [f"y{at}"])]
        initializers += [numpy_helper.from_array(value, name) for name, value in constants.items()]
        x = f"y{at}"
    ins, outs = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in tensors.items()]
                 for tensors in ({"x": ["time", "batch", 6], "h0": [2, "batch", 6]}, {"y1": ["time", "batch", 6]}))
    proto = helper.make_model(helper.make_graph(nodes, "net", ins, outs, initializers), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    model, x, h0 = rnnpack.compile(proto), random((5, 2, 6)), random((2, 2, 6), 9)
    assert [(t.name, t.role, t.optional) for t in model.inputs] == [("x", "sequence", False), ("h0", "state", True)] and model.info.causal
    want = expected(proto, x=x, h0=h0)[0]
    session = model.session(batch=2)
    assert np.allclose(np.concatenate([session.run({"x": x[:2], "h0": h0}), session.run(x[2:])]), want, atol=1e-5)


def test_rows_end_at_their_lengths(gru):
    x = random((6, 3, 5))
    y = gru.session(batch=3).run(x, lengths=[6, 2, 4])
    alone = gru.session().run(x[:2, 1:2])
    assert np.array_equal(y[:2, 1:2], alone) and not y[2:, 1].any()
    last = gru.session(batch=3).run(x, lengths=[6, 2, 4], last_step=True)
    assert np.array_equal(last, np.stack([y[5, 0], y[1, 1], y[3, 2]]))


def test_rows_name_the_streams_that_have_data(gru):
    x, session = random((4, 3, 5)), gru.session(batch=3)
    want = gru.session(batch=3).run(x)
    session.run(x[:2])
    y = session.run(x[2:, [2, 0]], rows=[2, 0])
    assert np.array_equal(y, want[2:, [2, 0]])
    assert np.array_equal(session.run(x[2:, 1:2], rows=[1]), want[2:, 1:2])


def test_progress_is_told_and_changes_no_bit(vad, capsys):
    x, told = random((1000, 1, 256)), []
    y = vad.session().run(x, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1000, 1000) and len(told) == 100 and sorted(told) == told
    assert np.array_equal(y, vad.session().run(x, progress=True))
    assert "1000 of 1000" in capsys.readouterr().err
    assert np.array_equal(y, vad.session().run(x))


def test_progress_keeps_last_steps_final_states_and_the_first_state():
    model, x, h0 = rnnpack.compile(layer(state=True)), random((300, 2, 5)), random((1, 2, 6), 3)
    want = model.session(batch=2).run({"x": x, "h0": h0}, last_step=True)
    got = model.session(batch=2).run({"x": x, "h0": h0}, last_step=True, progress=lambda *_: None)
    assert all(np.array_equal(want[name], got[name]) for name in want)


@pytest.mark.parametrize("batch_first", [False, True])
def test_progress_keeps_rows_that_end_by_the_models_own_lengths(batch_first):
    model = rnnpack.compile(layer(state=True, lengths=True, batch_first=batch_first))
    given = {"x": random((2, 300, 5) if batch_first else (300, 2, 5)), "lengths": np.array([300, 20], np.int32)}
    plain, watched = model.session(batch=2), model.session(batch=2)
    want, got = plain.run(given), watched.run(given, progress=lambda *_: None)
    assert all(np.array_equal(want[name], got[name]) for name in want) and plain.state.save() == watched.state.save()
    row = got["y"][1, 20:] if batch_first else got["y"][20:, 1]
    assert not row.any() and got["hn"][:, 1].any()


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_a_model_that_looks_ahead_grows_with_the_state_of_each_stream(batch):
    model = rnnpack.compile(layer(direction="bidirectional"))
    short, long = random((20, batch, 5)), random((300, batch, 5), 1)
    grown, roomy = model.session(batch=batch), model.session(batch=batch, max_steps=300)
    for session in (grown, roomy):
        session.run(short)
    kept = grown.state.save()
    assert kept == roomy.state.save() and len(set(kept.rows)) == batch
    assert np.array_equal(grown.run(long), roomy.run(long)) and grown.state.save() == roomy.state.save()


def test_a_model_that_looks_ahead_makes_room_for_long_runs():
    model = rnnpack.compile(layer(direction="bidirectional"))
    session = model.session()
    small = session.info.memory_bytes
    x = random((3000, 1, 5))
    assert np.array_equal(session.run(x), model.session(max_steps=3000).run(x))
    assert session.info.memory_bytes > small
    with pytest.raises(rnnpack.LibraryError, match="max_steps"):
        model.session(max_steps=10).run(x)
    with pytest.raises(rnnpack.UsageError, match="looks ahead"):
        session.step(x[:1])


def test_a_model_that_looks_ahead_stays_as_it_was_where_it_cannot_grow():
    session, x = rnnpack.compile(layer(direction="bidirectional")).session(), random((1 << 20, 1, 5))
    want, kept = session.run(x[:50]), session.state.save()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (96 << 20), limits[1]))  # of which the output takes a half
    try:
        for _ in range(2):
            with pytest.raises(MemoryError, match="no session: there are no [0-9]{8} bytes") as caught:
                session.run(x)
            assert isinstance(caught.value, rnnpack.Error)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert session.state.save() == kept
    session.state.reset()
    assert np.array_equal(session.run(x[:50]), want) and session.run(x[:200]).shape == (200, 1, 12)


def test_a_session_beyond_all_memory_says_so():
    with pytest.raises(rnnpack.NoMemoryError, match="a smaller batch"):
        rnnpack.compile(layer(direction="bidirectional")).session(batch=1 << 20, max_steps=1 << 28)


def test_threads_change_no_bit(wide):
    x = random((20, 2, 256))
    session = wide.session(batch=2, threads=2, all_threads=True)
    assert session.info.threads == 2
    assert np.array_equal(session.run(x), wide.session(batch=2).run(x))


def test_reference_kernels_run_anywhere(vad):
    x = random((3, 1, 256))
    session = vad.session(reference=True)
    assert session.info.isa == 0 and session.info.isa is rnnpack.Isa.REFERENCE and np.allclose(session.run(x), vad.session().run(x), atol=1e-5)


def test_instruction_sets_have_the_headers_names(vad):
    header = (ROOT / "include/rnnpack/rnnpack.h").read_text()
    bits = {name: 1 << int(bit) for name, bit in re.findall(r"#define RNNP_ISA_(\w+) \(1u << (\d+)\)", header) if name != "REFERENCE_ONLY"}
    assert {isa.name: isa.value for isa in rnnpack.Isa if isa.value} == bits and len(bits) > 10
    isa = vad.session().info.isa
    assert isinstance(isa, rnnpack.Isa) and isa.name and pickle.loads(pickle.dumps(isa)) == isa


def test_arrays_that_are_not_aligned_are_copied(vad):
    x = random((6, 1, 256))
    for shift in (1, 2, 3):
        room = np.zeros(x.nbytes + 4, np.uint8)
        odd = room[shift:shift + x.nbytes].view(np.float32).reshape(x.shape)
        odd[...] = x
        assert not odd.flags.aligned
        assert np.array_equal(vad.session().run(odd), vad.session().run(x))
        assert np.array_equal(vad.session().step(odd[0]), vad.session().step(x[0]))
        out = np.zeros(6 * 4 + 4, np.uint8)[shift:shift + 24].view(np.float32).reshape(6, 1, 1)
        assert vad.session().run(odd, out=out) is out and np.array_equal(out, vad.session().run(x))


def test_pickles_with_its_state(vad):
    x, session = random((6, 2, 256)), vad.session(batch=2)
    session.run(x[:3])
    again = pickle.loads(pickle.dumps(session))
    assert np.array_equal(again.run(x[3:]), session.run(x[3:])) and again.info == session.info


@pytest.mark.parametrize("kind, least, most", [(np.int16, -32768, 32767), (np.int32, -2**31, 2**31 - 1), (np.uint8, 0, 255), (">i2", -32768, 32767)])
def test_sound_in_integers_is_scaled_where_that_is_asked_for(vad, kind, least, most):
    x = np.random.default_rng(1).integers(least, most, (4, 1, 256), endpoint=True).astype(kind)
    x[0, 0, :3] = least, most, (least + most + 1) // 2
    want = (x.astype(np.float64) * 2 - (least + most + 1)) / (most - least + 1)
    assert want[0, 0, 0] == -1 and 0.99 < want[0, 0, 1] < 1 and want[0, 0, 2] == 0
    y = vad.session().run(x, pcm=True)
    assert np.array_equal(y, vad.session().run(want.astype(np.float32)))
    session = vad.session()
    assert np.array_equal(np.stack([session.step(frame, pcm=True) for frame in x]), y)
    floats = want.astype(np.float32)
    assert np.array_equal(vad.session().run(floats, pcm=True), y)  # what is no sound in integers stays
    with pytest.raises(rnnpack.UsageError, match="not converted silently"):
        vad.session().run(x)


@pytest.mark.parametrize("x, text", [
    (np.zeros((3, 1, 5)), r"'frames' has shape \[3, 1, 5\]; accepted: \[steps, batch, 256\]"),
    (np.zeros((3, 256)), r"accepted: \[steps, batch, 256\]"),
    (np.zeros((0, 1, 256)), "accepted"),
    (np.zeros((3, 2, 256)), r"2 rows for a session of 1: model.session\(batch=2\)"),
    (np.zeros((3, 1, 256), complex), "not complex128"),
    (np.full((3, 1, 256), 2**24 + 1), "has integers beyond 16777216"),
    (np.zeros((3, 1, 256), np.int16), "not converted silently: pcm=True scales"),
    (np.zeros((3, 1, 256), np.uint8), "pcm=True"), (np.zeros((3, 1, 256), np.int32), "pcm=True"),
    (np.zeros((3, 1, 256), np.uint16), r"not converted silently: x.astype\(np.float32\)"),
    ({"sound": np.zeros((3, 1, 256))}, "no input 'sound'; the model has frames"),
    ({}, "input frames .* is missing"),
])
def test_what_does_not_fit_is_refused_by_name(vad, x, text):
    with pytest.raises(rnnpack.UsageError, match=text):
        vad.session().run(x)


@pytest.mark.parametrize("more, text", [
    ({"out": np.zeros((3, 1), np.float32)}, r"shape \[3, 1, 1\]"), ({"out": np.zeros((3, 1, 1))}, "float32"),
    ({"out": {"noise": np.zeros((3, 1, 1), np.float32)}}, "no output 'noise'"), ({"lengths": [4]}, "from 0 to 3"), ({"lengths": [1, 1]}, "1 integers"),
    *(({"lengths": bad}, r"lengths must be 1 integers from 0 to 3, not \[") for bad in ([2**32 + 3], [2**64], [-2**32], [2.9], ["3"], [None], [True])),
    ({"rows": [1]}, "from 0 to 0"),
    *(({"rows": bad}, r"rows must be 1 different integers from 0 to 0, not \[") for bad in ([2**32], [0.5], ["0"], [-1], [0, 0])),
])
def test_arguments_that_do_not_fit_are_refused(vad, more, text):
    session, x = vad.session(), random((3, 1, 256))
    with pytest.raises(rnnpack.UsageError, match=text):
        session.run(x, **more)
    assert np.array_equal(session.run(x), vad.session().run(x))  # nothing had moved


def test_rows_that_are_named_twice_are_refused(vad):
    with pytest.raises(rnnpack.UsageError, match=r"rows must be 2 different integers from 0 to 2, not \[1, 1\]"):
        vad.session(batch=3).run(random((3, 2, 256)), rows=[1, 1])


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_integers_of_numpy_are_integers(gru, kind):
    x, options = random((6, 2, 5)), {"batch": kind(2), "threads": kind(1), "chunk_steps": kind(3), "max_steps": kind(6)}
    session, plain = gru.session(**options), gru.session(batch=2)
    for name, value in (("lengths", [6, 2]), ("rows", [1, 0])):
        for given in (np.array(value, kind), [kind(one) for one in value]):
            assert np.array_equal(session.run(x, **{name: given}), plain.run(x, **{name: value}))
    assert session.state.save(kind(1)) == plain.state.save(1)


@pytest.mark.parametrize("name, least", [("batch", 1), ("threads", 1), ("chunk_steps", 0), ("max_steps", 0)])
def test_numbers_of_a_session_that_are_no_integers_of_32_bits_are_refused(gru, name, least):
    for bad in (2**32 + 1, -2**32 + 1, least - 1, 1.5, "1", np.float32(1), [1]):
        with pytest.raises(rnnpack.UsageError, match=f"^{name} is .*; accepted: integers from {least} to "):
            gru.session(**{name: bad})


def test_a_session_that_cannot_be_is_explained(vad):
    with pytest.raises(rnnpack.LibraryError, match="no session: .*chunk_steps") as caught:
        vad.session(chunk_steps=1 << 21)
    assert caught.value.status == -1
    with pytest.raises(rnnpack.UsageError):
        vad.session(batch=0)
    with pytest.raises(rnnpack.UsageError):
        vad.session(threads=0)


def test_numbers_that_are_none_are_found_where_that_is_asked_for(vad):
    session, x = vad.session(), random((3, 1, 256))
    spoiled = x.copy()
    spoiled[1, 0, 7] = np.nan
    before = session.run(x, check_finite=True)
    with pytest.raises(rnnpack.LibraryError) as caught:
        session.run(spoiled, check_finite=True)
    assert caught.value.status == -21
    fresh = vad.session()
    assert np.array_equal(before, fresh.run(x)) and np.array_equal(session.run(x), fresh.run(x))  # the state had not moved


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize("weights", ["f32", "bf16", "int8", "int4", "q8_0", "q4_0"])
def test_numbers_that_are_none_stay_in_the_state_of_floats_and_are_rounded_by_integers(kind, weights):
    """As rnnpack.h has it."""
    model, x = rnnpack.compile(layer(kind, inputs=32, hidden=32), weights=weights), random((6, 2, 32))
    spoiled, without = x.copy(), x.copy()
    spoiled[2, 0, 7], without[2, 0, 7] = np.nan, 0
    y, plain = model.session(batch=2).run(spoiled), model.session(batch=2).run(x)
    assert np.array_equal(y[:, 1], plain[:, 1]) and np.array_equal(y[:2], plain[:2])
    if weights in ("f32", "bf16"):
        assert np.isnan(y[2:, 0]).all()
        return
    assert np.array_equal(y, model.session(batch=2).run(without))
    spoiled[2, 0, 7] = np.inf
    without[2, 0, 7] = np.abs(np.delete(x[2, 0], 7)).max()
    y = model.session(batch=2).run(spoiled)
    assert np.isfinite(y).all() and np.array_equal(y, model.session(batch=2).run(without)) and not np.array_equal(y, plain)


@pytest.mark.parametrize("step", [0, 250, 299])
def test_a_watched_run_of_numbers_that_are_none_moves_nothing(step):
    model, x, out = rnnpack.compile(layer(state=True)), random((300, 1, 5)), np.zeros((300, 1, 6), np.float32)
    session, told = model.session(), []
    session.run(x)
    before = session.state.save()
    x[step, 0, 2] = np.inf
    with pytest.raises(rnnpack.LibraryError, match="a run of 300 steps: .*NaN or infinity") as caught:
        session.run(x, out={"y": out}, check_finite=True, progress=lambda *so_far: told.append(so_far))
    assert caught.value.status == -21
    assert session.state.save() == before and not out.any() and not told
    session.run(x, progress=lambda *_: None)  # unless that is asked for


@pytest.mark.parametrize("shift", [0, 5, 500, -5])
def test_a_watched_run_writes_over_its_input_as_any_other(shift):
    model, x = rnnpack.compile(layer(hidden=5)), random((300, 1, 5))
    found = []
    for progress in (False, lambda *_: None):
        room = np.zeros(3000, np.float32)
        given, out = (room[at:at + x.size].reshape(x.shape) for at in (500, 500 + shift))
        given[...] = x
        try:
            found.append(model.session().run(given, out=out, progress=progress))
        except rnnpack.LibraryError as error:
            found.append(str(error))
            assert np.array_equal(given, x)
    assert np.array_equal(*found) and isinstance(found[0], str) == (shift != 0)


@pytest.mark.parametrize("index", [7, -8])
def test_a_watched_run_of_an_index_beyond_its_table_moves_nothing(index):
    session, out = rnnpack.compile(looked_up(random((7, 4)))).session(), np.zeros((300, 1, 4), np.float32)
    indices = np.zeros((300, 1), np.int32)
    indices[0], indices[299] = 6, -7
    session.run(indices, progress=lambda *_: None)
    indices[299] = index
    with pytest.raises(rnnpack.LibraryError, match="outside its table") as caught:
        session.run(indices, out=out, progress=lambda *_: None)
    assert caught.value.status == -14 and not out.any()


def test_a_model_that_looks_ahead_has_no_session_of_no_steps():
    with pytest.raises(rnnpack.LibraryError) as caught:
        rnnpack.compile(layer(direction="bidirectional")).session(max_steps=0)
    assert caught.value.status == -10
