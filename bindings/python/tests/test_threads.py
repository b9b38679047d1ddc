# SPDX-License-Identifier: Apache-2.0
"""The interpreter's lock is let go of while a session runs, and a session belongs to one caller at a time."""
import os
import signal
import sys
import threading

import numpy as np
import pytest
from conftest import random

import rnnpack


@pytest.fixture
def no_switching():
    """A thread keeps the interpreter until it lets go of it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


class Long:
    """A long run in a thread of its own."""

    def __init__(self, session, x):
        self.started, self.result = threading.Event(), None
        self.thread = threading.Thread(target=self.work, args=(session, x))
        self.thread.start()
        self.started.wait()

    def work(self, session, x):
        self.started.set()
        self.result = session.run(x)

    def end(self):
        self.thread.join()
        return self.result


@pytest.mark.parametrize("prepared", [False, True])
def test_other_threads_run_while_a_session_does(wide, no_switching, either_calls, prepared):
    """With no switching, this thread wakes up during the run only if the run lets go of the interpreter."""
    x, session = random((400, 1, 256)), wide.session()
    session.run(x)
    seen = 0
    for _ in range(20):
        long = Long(session if prepared else wide.session(), x)
        seen += long.thread.is_alive() and long.result is None
        long.end()
    assert seen > 0


def test_a_session_in_use_is_refused_to_others_and_undisturbed(wide):
    x, session = random((2000, 1, 256)), wide.session()
    want = wide.session().run(x)
    refused = 0
    for _ in range(20):
        session.state.reset()
        long = Long(session, x)
        try:
            while long.thread.is_alive():
                session.state.save()
        except rnnpack.BusyError as error:
            assert "another thread" in str(error)
            for act in (lambda: session.step(x[0]), lambda: session.run(x), session.state.reset, lambda: setattr(session, "state", None)):
                if long.thread.is_alive():
                    try:
                        act()
                    except (rnnpack.BusyError, TypeError):
                        refused += 1
        got = long.end()
        if refused:
            break
    assert refused > 0
    assert np.array_equal(got, want)


def test_sessions_of_one_model_run_side_by_side(vad):
    x = [random((300, 1, 256), seed) for seed in range(8)]
    want = [vad.session().run(one) for one in x]
    got = [None] * len(x)

    def work(at):
        session = vad.session()
        got[at] = np.concatenate([session.run(piece) for piece in np.array_split(x[at], 7)])

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(x))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(got, want))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork_threads_are_refused_and_plain_sessions_go_on(wide):
    x = random((3, 1, 256))
    threaded, plain = wide.session(threads=2, all_threads=True), wide.session()
    want = threaded.run(x)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # whoever waits for threads that are not there does it for ever
        code = 1
        try:
            try:
                threaded.run(x)
            except rnnpack.BusyError:
                same = np.array_equal(plain.run(x), want) and np.array_equal(wide.session(threads=2, all_threads=True).run(x), want)
                del threaded
                code = 0 if same else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    threaded.state.reset()
    assert np.array_equal(threaded.run(x), want)


def test_threads_end_with_their_session(wide):
    def count():
        return len(os.listdir("/proc/self/task"))

    before = count()
    sessions = [wide.session(threads=4) for _ in range(5)]
    assert count() == before + 15
    del sessions
    assert count() == before
