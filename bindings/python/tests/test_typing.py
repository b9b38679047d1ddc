# SPDX-License-Identifier: Apache-2.0
"""The package is typed: mypy has nothing to say about it, nor about who uses it, and says what is wrong with a wrong use."""
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="no mypy in this environment (requirements.txt)")
ROOT = pathlib.Path(__file__).resolve().parents[1]

GOOD = """
from __future__ import annotations
import numpy as np
import rnnpack
from rnnpack import Model, Session, Report

model: Model = rnnpack.compile("m.onnx", stream=1, state={"h": "hn"}, weights="int8", progress=lambda done, of: print(done / of))
session: Session = model.session(batch=2, threads=2)
x = np.zeros((3, 2, 5), np.float32)
y = session.run(x, lengths=[1, 2])
level: float = session.run(x).mean() + session.step(x[0]).mean()
session.run(x.astype(np.int16), pcm=True, out=y).tobytes()
named = session.run({"x": x, "h0": x}, out={"y": y})
print(named["y"].mean(), session.step({"x": y})["y"].mean())
isa: str | None = session.info.isa.name
saved: rnnpack.SavedState = session.state.save()
session.state = saved
report: Report = model.report()
bytes_: int = model.info.blob_bytes + model.inputs[0].row_elems
"""
BAD = """
import rnnpack
model = rnnpack.compile(7)
rnnpack.compile("m.onnx", progress="yes")
model.session(batch="two")
model.info.blob_bytes = "many"
model.no_such_thing
model.session().run("x").no_such_thing
model.session().step([1.0], out=3)
model.session().run({"x": 1}, progress="yes")
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")  # NumPy's own types are dear to read

    def run(*arguments, cwd):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True)

    return run


def test_mypy_has_nothing_to_say_about_the_package(mypy):
    done = mypy("--config-file", ROOT / "pyproject.toml", cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_types_reach_those_who_use_it(tmp_path, mypy):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text(BAD)
    done = mypy("good.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    said = mypy("bad.py", cwd=tmp_path).stdout
    assert set(re.findall(r"bad.py:(\d+): error:", said)) == {str(line) for line in range(3, 11)}, said
