# SPDX-License-Identifier: Apache-2.0
"""The command that the package installs, and its files."""
import pathlib
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

import rnnpack


def test_the_tool_is_installed_as_a_command_and_a_module():
    command = pathlib.Path(sys.executable).with_name("rnnpack")
    for start in ([command], [sys.executable, "-m", "rnnpack"]):
        done = subprocess.run([*start, "--version"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.split()[-1] == rnnpack.__version__
        assert subprocess.run([*start, "run", "nothing.rnnp"], capture_output=True).returncode != 0


def test_only_numpy_is_needed():
    code = "import sys, rnnpack; print(sorted(m for m in ('onnx', 'torch', 'dask', 'google') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "[]"


def test_a_package_without_its_parts_says_so(tmp_path):
    package = pathlib.Path(rnnpack.__file__).parent
    shutil.copytree(package, tmp_path / "rnnpack", ignore=shutil.ignore_patterns("rnnpack", "librnnpack_compiler*", "__pycache__"))
    code = "import rnnpack\ntry:\n    rnnpack.compile(b'x')\nexcept rnnpack.FileError as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert "the tool that comes with the package does not start" in done.stdout, done.stderr


def command(*arguments, **how):
    return subprocess.run([sys.executable, "-m", "rnnpack", *map(str, arguments)], capture_output=True, text=True, **how)


@pytest.mark.parametrize("name", ["net.keras", "net.h5", "Zoë's net (1).keras"])
def test_the_command_takes_files_of_keras(tmp_path, name):
    pytest.importorskip("h5py")
    from keras_files import INPUTS, LSTM, STEPS, HIDDEN, RECURRENT, layer, sequential, write_h5, write_keras
    config = sequential(layer("LSTM", "lstm", units=HIDDEN, **RECURRENT), layer("Flatten", "flat", ["lstm"]))
    if name.endswith(".h5"):
        write_h5(tmp_path / name, config, {"lstm": LSTM}, version="2.15.0")
    else:
        write_keras(tmp_path / name, config, {"lstm/cell": LSTM})
    refused = command("compile", name, "-o", "net.rnnp", cwd=tmp_path)
    assert refused.returncode == 2 and refused.stderr.startswith("rnnpack: "), refused.stderr
    assert not (tmp_path / "net.rnnp").exists()
    sizes = "--dim", f"steps={STEPS}"
    done = command("compile", name, "-o", "net.rnnp", *sizes, cwd=tmp_path)
    assert done.returncode == 0 and f"rnnpack verify {' '.join(sizes)} {shlex.quote(name)} net.rnnp" in done.stdout + done.stderr, done.stderr
    checked = command("verify", name, "net.rnnp", *sizes, cwd=tmp_path)
    assert checked.returncode == 0 and "verified" in checked.stdout, checked.stderr
    np.savez(tmp_path / "x.npz", x=np.zeros((1, STEPS, INPUTS), np.float32))
    assert command("run", "net.rnnp", "--input", "x.npz", cwd=tmp_path).returncode == 0
