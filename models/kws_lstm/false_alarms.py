#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the keyword spotter raises an alarm in speech that holds no command, and how many keywords it misses, in the recordings
at hand: those of alsa-utils (eight phrases; six say "left" or "right"), those of a folder with silero_test_16k.wav (a minute of
ordinary speech) and tflm_{yes,no}_1000ms_16k.wav, and sentences spoken by espeak-ng where it is installed.

An alarm: a keyword's score, averaged over 12 steps, rises above one half. No speech here was transcribed: a keyword that someone
happens to say in ordinary speech counts as a false alarm too.

Needs numpy and the tool: false_alarms.py --rnnpack build/src/compiler/rnnpack [--audio FOLDER]
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import wave

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = "silence unknown yes no up down left right on off stop go".split()
RATE, HOP, VOTE_STEPS, THRESHOLD = 16000, 256, 12, 0.5
SENTENCES = ("The weather in the mountains changes quickly, so take a warm coat and something to drink.",
             "My grandmother used to bake bread every Saturday morning before anyone else was awake.",
             "Several engineers measured how much power the little machine needs while it listens.",
             "A ship that leaves the harbour at midnight reaches the island early in the afternoon.",
             "Please remember to water the plants in the kitchen while we are away this summer.",
             "The museum shows paintings from three centuries, most of them by people nobody remembers.")


def read_16k(path):
    with wave.open(str(path)) as file:
        rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
        if width != 2 or rate % RATE:
            raise ValueError(f"{path}: {8 * width} bits at {rate} Hz; accepted: 16 bits at a multiple of {RATE} Hz")
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, channels).mean(axis=1) / 32768
    return decimate(samples, rate // RATE)


def decimate(samples, factor):
    """A windowed sinc cuts off what the lower rate cannot hold."""
    if factor == 1:
        return samples
    at = np.arange(-16 * factor, 16 * factor + 1)
    kernel = np.sinc(at / factor) * np.hanning(len(at) + 2)[1:-1]
    return np.convolve(samples, kernel / kernel.sum(), "same")[::factor]


def spoken(text, folder):
    path = folder / "spoken.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-w", path, text], check=True)
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
    at = np.arange(0, len(samples) - 1, rate / RATE)
    return np.interp(at, np.arange(len(samples)), samples)


class Spotter:
    """The network, run by the tool as one stream from its initial state."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        subprocess.run([tool, "compile", HERE / "model.onnx", "-o", folder / "kws.rnnp"], check=True, stderr=subprocess.DEVNULL)

    def alarms(self, samples):
        """The keywords heard, in order, and the seconds listened to."""
        steps = len(samples) // HOP
        np.save(self.folder / "x.npy", samples[:steps * HOP].reshape(steps, 1, HOP).astype(np.float32))
        subprocess.run([self.tool, "run", self.folder / "kws.rnnp", "--input", self.folder / "x.npy", "--output", self.folder / "y.npy"],
                       check=True, stderr=subprocess.DEVNULL)
        scores = np.load(self.folder / "y.npy")[:, 0]
        window = np.ones(VOTE_STEPS) / VOTE_STEPS
        above = np.stack([np.convolve(scores[:, c], window, "valid") > THRESHOLD for c in range(len(CLASSES))], axis=1)[:, 2:]
        rises = above & ~np.vstack([np.zeros((1, above.shape[1]), bool), above[:-1]])
        return [CLASSES[2 + c] for _, c in zip(*np.nonzero(rises))], steps * HOP / RATE


def padded(samples):
    """With half a second before and after, and the faint noise of a microphone: digital silence is heard nowhere."""
    samples = np.pad(samples, RATE // 2)
    return samples + 1e-3 * np.random.default_rng(78).standard_normal(len(samples))


def report_speech(spotter, name, pieces):
    heard, seconds = [], 0.0
    for samples in pieces:
        words, listened = spotter.alarms(padded(samples))
        heard, seconds = heard + words, seconds + listened
    row = {"seconds": round(seconds, 1), "alarms": len(heard), "alarms_per_hour": round(len(heard) * 3600 / seconds)}
    print(f"{name}: {len(heard)} alarms in {seconds:.0f} s, {row['alarms_per_hour']} an hour ({', '.join(heard) or 'none'})")
    return row


def report_words(spotter, recordings):
    """recordings: (path, keyword)"""
    missed, other = 0, 0
    for path, word in recordings:
        heard = spotter.alarms(padded(read_16k(path)))[0]
        missed += word not in heard
        other += any(h != word for h in heard)
        print(f"{path.name}: said {word}, heard {', '.join(heard) or 'nothing'}")
    print(f"recorded keywords: {missed} of {len(recordings)} missed, {other} taken for another")
    return {"recordings": len(recordings), "missed": missed, "taken_for_another": other}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rnnpack", required=True, help="the tool")
    parser.add_argument("--alsa", type=pathlib.Path, default=pathlib.Path("/usr/share/sounds/alsa"), help="recordings of alsa-utils")
    shared = os.environ.get("RNNPACK_SHARED_DIR")
    parser.add_argument("--audio", type=pathlib.Path, default=pathlib.Path(shared) / "audio" if shared else None,
                        help="folder of further recordings (default: audio/ of RNNPACK_SHARED_DIR)")
    parser.add_argument("--json", type=pathlib.Path, help="also write the numbers there")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        spotter = Spotter(options.rnnpack, folder)
        words = [(options.alsa / f"{place}_{side}.wav", side.lower()) for side in ("Left", "Right") for place in ("Front", "Rear", "Side")]
        others = [options.alsa / f"{place}_Center.wav" for place in ("Front", "Rear")]
        if options.audio:
            words += [(options.audio / f"tflm_{word}_1000ms_16k.wav", word) for word in ("yes", "no")]
            speech = options.audio / "silero_test_16k.wav"
            if speech.exists():
                found["ordinary_speech"] = report_speech(spotter, speech.name, [read_16k(speech)])
        words = [(path, word) for path, word in words if path.exists()]
        others = [path for path in others if path.exists()]
        if others:
            found["other_words"] = report_speech(spotter, "other words of alsa-utils", map(read_16k, others))
        if words:
            found["keywords"] = report_words(spotter, words)
        try:
            found["spoken_by_espeak"] = report_speech(spotter, "sentences of espeak-ng", [spoken(text, folder) for text in SENTENCES])
        except FileNotFoundError:
            print("espeak-ng is not installed: no sentences")
    if not found:
        raise SystemExit("no recording: install alsa-utils or espeak-ng, or give --audio FOLDER")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
