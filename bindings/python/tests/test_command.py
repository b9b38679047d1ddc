# SPDX-License-Identifier: Apache-2.0
"""The command that the package installs, and its files."""
import pathlib
import shutil
import subprocess
import sys

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
