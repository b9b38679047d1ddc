# SPDX-License-Identifier: Apache-2.0
"""Session.state: every stream's state, kept elsewhere and brought back."""
import pickle

import numpy as np
import pytest
from conftest import random

import rnnpack


def test_reset_begins_anew_for_one_stream_or_all(gru):
    x, session = random((3, 2, 5)), gru.session(batch=2)
    first = session.run(x)
    second = session.run(x)
    assert not np.array_equal(first, second)
    session.state.reset()
    assert np.array_equal(session.run(x), first)
    session.state.reset(1)
    third = session.run(x)
    assert np.array_equal(third[:, 1], first[:, 1]) and np.array_equal(third[:, 0], second[:, 0])


def test_save_and_load_go_back_in_time_and_into_other_sessions(gru):
    x, session = random((6, 2, 5)), gru.session(batch=2)
    session.run(x[:3])
    saved = session.state.save()
    want = session.run(x[3:])
    session.state.load(saved)
    assert np.array_equal(session.run(x[3:]), want)
    other = gru.session(batch=2)
    other.state = saved
    assert np.array_equal(other.run(x[3:]), want)


def test_a_stream_moves_to_another_place(gru):
    x, session = random((6, 2, 5)), gru.session(batch=2)
    session.run(x[:3])
    alone = gru.session()
    alone.state.load(session.state.save(1))
    want = session.run(x[3:])
    assert np.array_equal(alone.run(x[3:, 1:]), want[:, 1:])
    bigger = gru.session(batch=4)
    bigger.state.load(alone.state.save(0), row=3)


def test_pickles_as_what_load_takes(gru):
    x, session = random((6, 1, 5)), gru.session()
    session.run(x[:3])
    kept = pickle.loads(pickle.dumps(session.state))
    assert isinstance(kept, rnnpack.SavedState) and len(kept) == 1
    want = session.run(x[3:])
    session.state = kept
    assert np.array_equal(session.run(x[3:]), want)


def test_a_state_of_another_model_is_refused_and_changes_nothing(gru, vad):
    x, session = random((3, 2, 5)), gru.session(batch=2)
    session.run(x)
    good = session.state.save()
    with pytest.raises(rnnpack.LibraryError, match="state") as caught:
        session.state.load(rnnpack.SavedState((good.rows[1], vad.session().state.save().rows[0])))
    assert caught.value.status == -9
    assert session.state.save() == good


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_refused_state_of_one_stream_changes_none(gru, vad, row):
    session = gru.session(batch=3)
    session.run(random((3, 3, 5)))
    good = session.state.save()
    assert len(set(good.rows)) == 3
    for bad in (vad.session().state.save(), good.rows[row][:-1], b""):
        with pytest.raises(rnnpack.Error):
            session.state.load(bad, row=row)
        assert session.state.save() == good


@pytest.mark.parametrize("act", [lambda s: s.reset(2), lambda s: s.save(-1), lambda s: s.load(s.save(0)), lambda s: s.load(s.save(), row=0),
                                 lambda s: s.save(0.5), lambda s: s.reset(2**32), lambda s: s.load(s.save(0), row="0")])
def test_streams_that_are_not_there_are_refused(gru, act):
    with pytest.raises(rnnpack.UsageError):
        act(gru.session(batch=2).state)
