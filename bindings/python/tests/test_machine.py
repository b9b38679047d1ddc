# SPDX-License-Identifier: Apache-2.0
"""Sessions by a machine file of `rnnpack tune`: its options, the same bits, and files that are none refused by what is wrong."""
import json

import numpy as np
import pytest
from conftest import random

import rnnpack

OPTIONS = {"threads": 2, "all_threads": True, "chunk_steps": 3, "isa_allowed": [], "l2_bytes": 262144}


def write(tmp_path, **changed):
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps({"format": "rnnpack machine 1", "cpu": "x", "options": {**OPTIONS, **changed}}))
    return path


def test_a_session_has_the_options_of_the_file(gru, tmp_path):
    model = gru
    x = random((10, 1, 5))
    session = model.session(machine=write(tmp_path))
    assert (session.info.threads, session.info.chunk_steps) == (2, 3)
    assert np.array_equal(session.run(x), model.session().run(x))


def test_other_files_are_refused_by_what_is_wrong(gru, tmp_path):
    model = gru
    for changed, said in (({"isa_allowed": ["sse9"]}, "SSE9"), ({"threads": "two"}, "another type"), ({"l2_bytes": -1}, "another type")):
        with pytest.raises(rnnpack.UsageError, match=said):
            model.session(machine=write(tmp_path, **changed))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(rnnpack.UsageError, match="format"):
        model.session(machine=tmp_path / "other.json")
    with pytest.raises(rnnpack.UsageError, match="takes the place"):
        model.session(threads=2, machine=write(tmp_path))
    with pytest.raises(rnnpack.FileError):
        model.session(machine=tmp_path / "none.json")
