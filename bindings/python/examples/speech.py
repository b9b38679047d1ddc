# SPDX-License-Identifier: Apache-2.0
"""How much of a wav file is speech: what the two examples beside this file do with many of them.

python speech.py MODEL.onnx FOLDER      one process, one file after the other
"""
import pathlib
import sys
import wave

import numpy as np

import rnnpack

RATE, FRAME = 16000, 256  # of models/vad_gru


def read_wav(path):
    """Mono float32 at 16 kHz, cut into frames: [steps, 1, 256]."""
    with wave.open(str(path)) as file:
        if file.getsampwidth() != 2:
            raise ValueError(f"{path}: 16-bit samples are expected")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
        rate = file.getframerate()
    mono = samples.mean(axis=1) / 32768
    at = np.arange(0, len(mono), rate / RATE)
    mono = np.interp(at, np.arange(len(mono)), mono).astype(np.float32)
    return mono[:len(mono) // FRAME * FRAME].reshape(-1, 1, FRAME)


def speech_seconds(model, path):
    """A session for each file: files are streams of their own, and a session is its thread's."""
    frames = read_wav(path)
    if not len(frames):
        return 0.0
    return float((model.session().run(frames) > 0.5).sum() * FRAME / RATE)


def print_table(found):
    for path, seconds in sorted(found):
        print(f"{pathlib.Path(path).name} {seconds:.3f}")


if __name__ == "__main__":
    model = rnnpack.compile(sys.argv[1])
    print_table((path, speech_seconds(model, path)) for path in pathlib.Path(sys.argv[2]).glob("*.wav"))
