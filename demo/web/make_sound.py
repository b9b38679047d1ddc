#!/usr/bin/env python3
"""make_sound.py SOUNDS OUT -- the page's sample: the recordings of alsa-utils, with noise. OUT/sounds/speech.wav (16 kHz) and
OUT/sounds.json, which lists it; an empty list without the recordings. SPDX-License-Identifier: Apache-2.0"""
import array
import json
import pathlib
import sys
import wave

RATE, NAMES = 16000, ("Front_Center", "Front_Left", "Front_Right", "Rear_Center")


def samples(path):
    """A recording of 48 kHz at 16: the mean of three samples, which is filter enough for a sample of speech."""
    with wave.open(str(path)) as file:
        assert file.getframerate() == 3 * RATE and file.getsampwidth() == 2, path
        data = array.array("h", file.readframes(file.getnframes()))[:: file.getnchannels()]
    return [(data[i] + data[i + 1] + data[i + 2]) / 3 for i in range(0, len(data) - 2, 3)]


def main():
    sounds, out = map(pathlib.Path, sys.argv[1:3])
    there = (sounds / "Noise.wav").exists()
    if there:
        noise, speech = samples(sounds / "Noise.wav"), [0.0] * (RATE // 2)
        for name in NAMES:
            speech += samples(sounds / f"{name}.wav") + [0.0] * (RATE * 4 // 5)
        rms = lambda x: (sum(v * v for v in x) / len(x)) ** 0.5
        gain = rms(speech) / rms(noise) * 10 ** (-10 / 20)
        mixed = array.array("h", (max(-32768, min(32767, round(v + gain * noise[i % len(noise)]))) for i, v in enumerate(speech)))
        with wave.open(str(out / "sounds/speech.wav"), "wb") as file:
            file.setparams((1, 2, RATE, len(mixed), "NONE", ""))
            file.writeframes(mixed.tobytes())
    listed = [{"name": "Sample: speech in noise", "file": "sounds/speech.wav"}] if there else []
    (out / "sounds.json").write_text(json.dumps(listed) + "\n")


main()
