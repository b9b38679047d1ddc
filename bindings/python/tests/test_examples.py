# SPDX-License-Identifier: Apache-2.0
"""The examples, run as their first lines say, on a folder of wavs: the same answers as one file after the other."""
import pathlib
import subprocess
import sys
import wave

import numpy as np
import pytest
from conftest import VAD

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def wavs(tmp_path_factory):
    """Bursts of something like a voice (a buzz with formants, its loudness swaying) in noise, of several rates and channels."""
    folder, rng = tmp_path_factory.mktemp("wavs"), np.random.default_rng(1)
    for at, (rate, channels) in enumerate([(16000, 1), (16000, 2), (48000, 1), (44100, 2), (8000, 1)]):
        t = np.arange(int(rate * (1 + 0.3 * at))) / rate
        buzz = sum(np.sin(2 * np.pi * 120 * n * t) * np.exp(-((120 * n - 600) / 500) ** 2) for n in range(1, 25))
        sound = 0.2 * buzz * (np.sin(2 * np.pi * 3 * t) > 0) + 0.003 * rng.standard_normal(len(t))
        with wave.open(str(folder / f"{at}.wav"), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(np.repeat((sound * 20000).clip(-32768, 32767).astype("<i2"), channels).tobytes())
    return folder


def run(name, *arguments):
    done = subprocess.run([sys.executable, "-B", EXAMPLES / name, VAD, *map(str, arguments)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def one_by_one(wavs):
    lines = run("speech.py", wavs).splitlines()
    assert [line.split()[0] for line in lines] == [f"{at}.wav" for at in range(5)]
    assert any(float(line.split()[1]) > 0.1 for line in lines)
    return "\n".join(lines) + "\n"


def test_a_dask_cluster_gives_what_one_process_gives(wavs, one_by_one):
    pytest.importorskip("distributed", reason="no dask.distributed in this environment (requirements.txt)")
    assert run("wavs_dask.py", wavs) == one_by_one


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_workers_of_a_dataloader_give_what_one_process_gives(wavs, one_by_one, start):
    pytest.importorskip("torch", reason="no torch in this environment (requirements-torch.txt)")
    assert run("wavs_dataloader.py", wavs, 2, start) == one_by_one
