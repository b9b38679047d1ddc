#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the voice-activity detector: synthesises data, trains, exports model.onnx, golden.npz and metrics.json.

frames[T][B][256] at 16 kHz -> speech[T][B][1], the probability that a 16 ms frame holds speech.
Nothing is downloaded; the real recordings of alsa-utils serve as a test only and are never trained on.
"""
import argparse
import json
import os
import pathlib
import sys

import numpy as np
import torch
from scipy import signal
from scipy.io import wavfile
from scipy.stats import rankdata

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from synth import augment, export, net, noises, voices  # noqa: E402

STEPS = 250
SAMPLES = STEPS * augment.HOP
ALSA_WORDS = ("Front_Center Front_Left Front_Right Rear_Center Rear_Left Rear_Right Side_Left Side_Right").split()


def speech_clip(rng, held_out):
    """Four seconds of one voice with pauses: the dry signal's frame labels and the signal as a microphone has it."""
    language, variant = voices.pick_voice(rng, held_out)
    dry = np.zeros(SAMPLES)
    place = int(rng.uniform(0, 1.5) * voices.RATE)
    while place < SAMPLES - voices.RATE // 2:
        spoken = voices.speak(rng, voices.sentence(rng, language), language, variant)
        length = min(len(spoken), SAMPLES - place)
        dry[place:place + length] = spoken[:length]
        place += length + int(rng.uniform(0.2, 2.0) * voices.RATE)
    dry *= 10 ** (0.35 * noises.slow(rng, SAMPLES, 1.5))  # people do not speak at one level
    labels = augment.speech_frames(dry)
    wet = augment.jitter(rng, dry) if rng.random() < 0.7 else dry
    wet = augment.breath(rng, wet) if rng.random() < 0.5 else wet
    wet = augment.equalise(rng, wet)
    wet = augment.reverberate(rng, wet) if rng.random() < 0.5 else wet
    return labels, wet


def make_pool(path, seed, held_out, speech_count, noise_count):
    """Speech clips, their labels and active RMS, and unit-RMS noises; kept in the cache as 16-bit integers."""
    if path.exists():
        return dict(np.load(path))
    speech, labels, rms = [], [], []
    for index in range(speech_count):
        frames, wet = speech_clip(np.random.default_rng([seed, 1, index]), held_out)
        wet = wet / np.max(np.abs(wet)) * 0.99
        speech.append(np.round(wet * 32767).astype(np.int16))
        labels.append(frames)
        rms.append(augment.active_rms(wet, frames))
        voices.progress("speech", index, speech_count)
    noise = []
    for index in range(noise_count):
        clip = noises.random_clip(np.random.default_rng([seed, 2, index]), SAMPLES, speech)
        noise.append(np.round(clip / np.max(np.abs(clip)) * 32767).astype(np.int16))
        voices.progress("noise", index, noise_count)
    pool = {"speech": np.array(speech), "labels": np.array(labels), "rms": np.array(rms), "noise": np.array(noise)}
    np.savez(path, **pool)
    return pool


def mixed_clip(rng, pool, snr_db=None):
    """One clip and its labels. About one clip in seven has no speech at all, unless an SNR is asked for."""
    row = rng.integers(len(pool["speech"]))
    clean = pool["speech"][row] / 32767.0
    noise = noises.unit(np.roll(pool["noise"][rng.integers(len(pool["noise"]))] / 32767.0, rng.integers(SAMPLES)))
    if snr_db is None and rng.random() < 0.15:
        return augment.mix(rng, clean, 0.0, noise, 0.0, rng.uniform(-60, 0)), np.zeros(STEPS, np.float32)
    snr = rng.uniform(-5, 30) if snr_db is None else snr_db
    return augment.mix(rng, clean, pool["rms"][row], noise, snr, rng.uniform(-35, 0)), pool["labels"][row]


def batch_of(rng, pool, size, snr_db=None):
    """frames[T][B][256], labels[T][B]"""
    clips, labels = zip(*(mixed_clip(rng, pool, snr_db) for _ in range(size)))
    frames = np.stack([augment.frames_of(clip) for clip in clips], axis=1)
    return frames, np.stack(labels, axis=1)


def train(pool, steps, seed):
    torch.manual_seed(seed)
    model = net.VoiceDetector()

    def loss_of_batch(step):
        frames, labels = batch_of(np.random.default_rng([seed, 3, step]), pool, 48)
        logits = model.logits(torch.from_numpy(frames))[:, :, 0]
        # Human voices score lower than the synthetic ones learned from: lean a little towards speech.
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.from_numpy(labels),
                                                                    pos_weight=torch.tensor(1.5))

    net.train(model, loss_of_batch, steps, 3e-3)
    return model


def rates(scores, labels):
    """Area under the ROC curve, and miss and false-alarm rates at a threshold of one half.

    scores and labels are [T][B]. The `inner_` figures leave out frames within 3 of a label's change, where the label
    itself, an energy threshold, is a matter of taste and a causal network cannot yet know."""
    speech = labels > 0.5
    inner = np.ones_like(speech)
    for row, column in zip(*np.nonzero(speech[1:] != speech[:-1])):
        inner[max(row - 2, 0):row + 4, column] = False
    result = {"frames": int(speech.size), "speech_share": round(float(speech.mean()), 3)}
    for prefix, keep in (("", np.ones_like(speech)), ("inner_", inner)):
        yes, no = scores[speech & keep], scores[~speech & keep]
        if len(yes) and len(no):
            ranks = rankdata(np.concatenate([yes, no]))[:len(yes)].sum()
            result[prefix + "auc"] = round(float((ranks - len(yes) * (len(yes) + 1) / 2) / (len(yes) * len(no))), 4)
            result[prefix + "miss"] = round(float(np.mean(yes < 0.5)), 4)
        result[prefix + "false_alarm"] = round(float(np.mean(no >= 0.5)), 4)
    return result


def predict(model, frames):
    with torch.no_grad():
        return model(torch.from_numpy(np.ascontiguousarray(frames, np.float32))).numpy()[:, :, 0]


def test_synthetic(model, pool):
    """Held-out voices, languages and noises, one row per SNR; levels from -35 to 0 dBFS."""
    table = {}
    for snr_db in (-5, 0, 5, 10, 20):
        frames, labels = batch_of(np.random.default_rng([77, snr_db + 100]), pool, 200, snr_db)
        table[f"snr_{snr_db}_db"] = rates(predict(model, frames), labels)
    return table


def alsa_recording(folder):
    """The eight spoken files of alsa-utils one after the other, 0.8 s apart, at 16 kHz."""
    parts = [np.zeros(voices.RATE)]
    for name in ALSA_WORDS:
        rate, samples = wavfile.read(folder / f"{name}.wav")
        parts += [signal.resample_poly(samples / 32768.0, 1, rate // voices.RATE), np.zeros(int(0.8 * voices.RATE))]
    return np.concatenate(parts)


def test_recording(model, clean, pool, snrs):
    """A real recording, clean and mixed with every kind of noise; the scores of one row are pooled over the kinds."""
    clean = clean[:len(clean) // augment.HOP * augment.HOP]
    labels = augment.speech_frames(clean)
    rms, table = augment.active_rms(clean, labels), {}
    for snr_db in snrs:
        clips = []
        for number, kind in enumerate(noises.KINDS):
            rng = np.random.default_rng([78, number])
            noise = noises.make(rng, kind, len(clean), pool["speech"])
            clips.append(augment.frames_of(augment.mix(rng, clean, rms, noise, snr_db, rng.uniform(-30, -3))))
        scores = predict(model, np.stack(clips, axis=1))
        table[f"snr_{snr_db}_db"] = rates(scores, np.repeat(labels[:, None], len(clips), axis=1))
        if snr_db == 10:
            table["by_noise_at_10_db"] = {
                kind: rates(scores[:, n:n + 1], labels[:, None]) for n, kind in enumerate(noises.KINDS)}
    return table


def evaluate(model, pool, alsa):
    metrics = {"held_out_synthetic": test_synthetic(model, pool)}
    if (alsa / "Front_Center.wav").exists():
        metrics["alsa_recordings"] = test_recording(model, alsa_recording(alsa), pool, (40, 20, 10, 5, 0))
        rate, noise = wavfile.read(alsa / "Noise.wav")
        noise = signal.resample_poly(noise / 32768.0, 1, rate // voices.RATE)
        scores = predict(model, augment.frames_of(noise)[:, None])
        metrics["alsa_noise_only"] = rates(scores, np.zeros_like(scores))
    shared = os.environ.get("RNNPACK_SHARED_DIR")
    extra = pathlib.Path(shared or ".") / "audio" / "silero_test_16k.wav"
    if shared and extra.exists():
        clean = wavfile.read(extra)[1] / 32768.0
        metrics["silero_test_recording"] = test_recording(model, clean, pool, (40, 20, 10, 5))
    return metrics


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for synthesised data and the checkpoint")
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="folder for the results (default: beside this file)")
    parser.add_argument("--alsa", type=pathlib.Path, default=pathlib.Path("/usr/share/sounds/alsa"),
                        help="folder with the recordings of alsa-utils (skipped when absent)")
    parser.add_argument("--steps", type=int, default=5000, help="training steps of 48 clips of 4 s")
    parser.add_argument("--clips", type=int, default=5000, help="synthetic speech clips to train on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluate", action="store_true", help="only repeat the evaluation, from the cached checkpoint")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    tests = make_pool(options.cache / "vad_test.npz", 1000 + options.seed, True, 240, 240)
    checkpoint = options.cache / "vad_gru.pt"
    if options.evaluate:
        model = net.VoiceDetector()
        model.load_state_dict(torch.load(checkpoint, weights_only=True))
    else:
        training = make_pool(options.cache / "vad_train.npz", options.seed, False, options.clips, options.clips // 2)
        model = train(training, options.steps, options.seed)
        torch.save(model.state_dict(), checkpoint)
    finish(model, tests, options)


def finish(model, tests, options):
    path = options.out / "model.onnx"
    proto = export.export_onnx(model, path, "frames", "speech", augment.HOP)
    print("\n".join(export.describe(proto)))
    frames = batch_of(np.random.default_rng(79), tests, 2, 10)[0][60:160]
    metrics = {"onnxruntime_max_difference": export.check_against_torch(model, path, "frames", frames)}
    export.write_golden(model, options.out / "golden.npz", "frames", "speech", frames)
    metrics |= {"parameters": sum(p.numel() for p in model.parameters()), "macs_per_step": net.macs_per_step(model),
                "model_bytes": path.stat().st_size}
    metrics |= evaluate(model, tests, options.alsa)
    (options.out / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    print(json.dumps(metrics, indent=1))


if __name__ == "__main__":
    main()
