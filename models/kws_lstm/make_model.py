#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the test fixture kws_lstm, a keyword spotter: synthesises words, trains, exports model.onnx, golden.npz and metrics.json.

frames[T][B][256] at 16 kHz -> scores[T][B][12]: silence, unknown, then ten keywords. It listens without end: the score
of a word rises at the word's end and falls a quarter of a second later. All training words come from espeak-ng.
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from synth import augment, export, net, noises, voices  # noqa: E402

STEPS = 112
SAMPLES = STEPS * augment.HOP
KEYWORDS = "yes no up down left right on off stop go".split()
CLASSES = ["silence", "unknown"] + KEYWORDS
# Words near the keywords teach more than far ones, but none may sound the same as a keyword (know, write).
NEAR_WORDS = ("yet yell yellow guess chess mess press knee nor note nose cut upper app town gown noun den lift laugh let "
              "leaf lend theft lest ride rice light ripe fright in and gone orange oath cough often scoff awful step "
              "star stock stab top shop stoop goat gold ghost cold so nine seven ten done stuff").split()
IGNORE = -100
VOTE_FRAMES, THRESHOLD = 12, 0.5


def spoken_word(rng, text, held_out):
    """One word cut to where it sounds, then sent through a random room and microphone; and its dry length."""
    language, variant = voices.pick_voice(rng, held_out, english_only=True)
    dry = voices.speak(rng, text, language, variant, (110, 220), (0.9, 1.15))
    active = np.nonzero(augment.speech_frames(dry, hangover=0))[0]
    dry = dry[active[0] * augment.HOP:(active[-1] + 1) * augment.HOP]
    wet = augment.jitter(rng, dry) if rng.random() < 0.7 else dry
    wet = augment.breath(rng, wet) if rng.random() < 0.15 else wet
    wet = augment.equalise(rng, np.pad(wet, (0, voices.RATE // 5)), 5.0)
    wet = augment.reverberate(rng, wet) if rng.random() < 0.3 else wet
    return wet / np.max(np.abs(wet)), len(dry)


def unknown_text(rng):
    pick = rng.random()
    if pick < 0.35:
        return str(rng.choice(NEAR_WORDS))
    if pick < 0.8:
        return str(rng.choice(voices.WORDS))
    return "pa" + voices.pseudo_word(rng)  # never a bare `no` or `go`


def make_pool(path, seed, held_out, per_keyword, unknowns, noise_count):
    """Words end to end with their classes, starts and dry lengths, and unit-RMS noises; cached as 16-bit integers."""
    if path.exists():
        return dict(np.load(path))
    labels = [2 + k for k in range(len(KEYWORDS)) for _ in range(per_keyword)] + [1] * unknowns
    words, lengths = [], []
    for index, label in enumerate(labels):
        rng = np.random.default_rng([seed, 1, index])
        samples, length = spoken_word(rng, unknown_text(rng) if label == 1 else CLASSES[label], held_out)
        words.append(np.round(samples * 32767).astype(np.int16))
        lengths.append(length)
        voices.progress("word", index, len(labels))
    pool = {"words": np.concatenate(words), "starts": np.cumsum([0] + [len(w) for w in words]),
            "lengths": np.array(lengths), "labels": np.array(labels), "noise": make_noises(seed, held_out, noise_count)}
    np.savez(path, **pool)
    return pool


def make_noises(seed, held_out, count):
    rng = np.random.default_rng([seed, 2])
    talkers = []
    for _ in range(60):
        language, variant = voices.pick_voice(rng, held_out)
        talkers.append(voices.speak(rng, voices.sentence(rng, language), language, variant))
    clips = []
    for index in range(count):
        clip = noises.random_clip(np.random.default_rng([seed, 3, index]), SAMPLES, talkers)
        clips.append(np.round(clip / np.max(np.abs(clip)) * 32767).astype(np.int16))
        voices.progress("noise", index, count)
    return np.array(clips)


def place(clip, targets, voiced, pool, row, start):
    """Puts word `row` at sample `start` and sets the targets around its end; returns the sample after the word."""
    word = pool["words"][pool["starts"][row]:pool["starts"][row + 1]] / 32767.0
    end = start + int(pool["lengths"][row])
    length = min(len(word), SAMPLES - start)
    clip[start:start + length] += word[:length]
    first, last = start // augment.HOP, end // augment.HOP
    voiced[first:last] = 1
    # What the word is cannot be known before its end, and need not be held for longer than a decision takes.
    targets[first:last + 22] = IGNORE
    targets[max(last - 3, first):last + 16] = pool["labels"][row]
    return end


def compose(rng, pool, rows, snr_db, peak_db):
    """A clip with the words of `rows` at random places in random noise; and the target class of every frame."""
    clip, targets, voiced = np.zeros(SAMPLES), np.zeros(STEPS, np.int64), np.zeros(STEPS)
    start = int(rng.uniform(0.05, 0.35) * voices.RATE)
    for row in rows:
        if start + pool["lengths"][row] + 18 * augment.HOP < SAMPLES:
            start = place(clip, targets, voiced, pool, row, start) + int(rng.uniform(0.38, 0.8) * voices.RATE)
    noise = noises.unit(np.roll(pool["noise"][rng.integers(len(pool["noise"]))] / 32767.0, rng.integers(SAMPLES)))
    return augment.mix(rng, clip, augment.active_rms(clip, voiced), noise, snr_db, peak_db), targets


def training_batch(rng, pool, size, ease):
    """frames[T][B][256], targets[T][B]; one clip in eight holds noise alone, half of the others two words.

    `ease` falls from 1 to 0 over the first part of training: clear loud words first. With all of the noise from the
    start the network learns only that a word ended and stays there for thousands of steps."""
    clips, targets = [], []
    known = np.nonzero(pool["labels"] > 1)[0]
    unknown = np.nonzero(pool["labels"] == 1)[0]
    for _ in range(size):
        count = 0 if rng.random() < 0.125 else rng.integers(1, 3)
        rows = [rng.choice(known if rng.random() < 0.65 else unknown) for _ in range(count)]
        clip, target = compose(rng, pool, rows, rng.uniform(3 + 20 * ease, 32), rng.uniform(20 * ease - 32, 0))
        clips.append(augment.frames_of(clip))
        targets.append(target)
    return np.stack(clips, axis=1), np.stack(targets, axis=1)


def train(pool, steps, seed):
    torch.manual_seed(seed)
    model = net.KeywordSpotter(len(CLASSES))
    carried = [None]
    weight = torch.ones(len(CLASSES))
    weight[:2] = torch.tensor([0.3, 0.6])

    def loss_of_batch(step):
        frames, targets = training_batch(np.random.default_rng([seed, 4, step]), pool, 64, max(0.0, 1 - step / (0.3 * steps)))
        # Every other batch goes on from the state the last one left: in use the network is never reset.
        logits, state = model.logits(torch.from_numpy(frames), carried[0] if step % 2 else None)
        carried[0] = tuple(part.detach() for part in state)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(targets).flatten(), weight,
                                                 ignore_index=IGNORE)

    net.train(model, loss_of_batch, steps, 8e-3)
    return model


def scores_of(model, clips):
    """clips[B][samples] -> scores[T][B][classes]"""
    frames = np.stack([augment.frames_of(clip) for clip in clips], axis=1).astype(np.float32)
    with torch.no_grad():
        return model(torch.from_numpy(frames)).numpy()


def decide(scores):
    """The class heard in each clip: the best keyword whose score, averaged over 12 frames, passes one half;
    failing that `unknown` by the same rule; failing that silence."""
    votes = np.stack([np.apply_along_axis(np.convolve, 0, scores[:, b], np.ones(VOTE_FRAMES) / VOTE_FRAMES, "valid")
                      for b in range(scores.shape[1])]).max(axis=1)
    keyword = votes[:, 2:].argmax(axis=1) + 2
    heard = np.where(votes[:, 1] > THRESHOLD, 1, 0)
    return np.where(votes[:, 2:].max(axis=1) > THRESHOLD, keyword, heard)


def test_clips(pool, low, high):
    """Every held-out word once at a random SNR between the two, and a tenth as many clips without a word."""
    rng = np.random.default_rng([77, low, high])
    rows = [[row] for row in range(len(pool["labels"]))] + [[]] * (len(pool["labels"]) // 10)
    rng.shuffle(rows)
    truth = np.array([pool["labels"][row[0]] if row else 0 for row in rows])
    return [compose(rng, pool, row, rng.uniform(low, high), rng.uniform(-32, 0))[0] for row in rows], truth


def test_synthetic(model, pool):
    table = {}
    for name, low, high in (("snr_30_db", 30, 30), ("snr_20_db", 20, 20), ("snr_10_db", 10, 10), ("snr_5_db", 5, 5),
                            ("snr_0_db", 0, 0), ("snr_5_to_30_db", 5, 30)):
        clips, truth = test_clips(pool, low, high)
        table[name] = summary(truth, decide(scores_of(model, clips)))
    # The last clips again, twenty to a stream, the state never reset.
    count = len(clips) // 20 * 20
    scores = scores_of(model, np.concatenate(clips[:count]).reshape(-1, 20 * SAMPLES))
    scores = scores.transpose(1, 0, 2).reshape(count, STEPS, -1).transpose(1, 0, 2)
    table["snr_5_to_30_db_never_reset"] = summary(truth[:count], decide(scores))
    return table


def summary(truth, heard):
    keyword = truth > 1
    result = {"clips": len(truth), "accuracy_12_classes": np.mean(truth == heard),
              "keyword_recall": np.mean(heard[keyword] == truth[keyword]),
              "keyword_heard_in_unknown": np.mean(heard[truth == 1] > 1),
              "keyword_heard_in_noise": np.mean(heard[truth == 0] > 1)}
    result |= {f"recall_{name}": np.mean(heard[truth == 2 + k] == 2 + k) for k, name in enumerate(KEYWORDS)}
    return {key: value if key == "clips" else round(float(value), 4) for key, value in result.items()}


def read_16k(path):
    rate, samples = wavfile.read(path)
    return signal.resample_poly(samples / 32768.0, 1, rate // voices.RATE)


def test_recordings(model, alsa):
    """What is heard in real recordings: `left` and `right` of alsa-utils, and two words of Speech Commands if given."""
    files = [alsa / f"{a}_{b}.wav" for b in ("Left", "Right", "Center") for a in ("Front", "Rear", "Side")]
    shared = os.environ.get("RNNPACK_SHARED_DIR")
    if shared:
        files += [pathlib.Path(shared) / "audio" / f"tflm_{word}_1000ms_16k.wav" for word in ("yes", "no")]
    heard = {}
    for path in files:
        if path.exists():
            rng = np.random.default_rng(78)
            samples = np.pad(read_16k(path), voices.RATE // 2)
            samples = samples + 1e-3 * rng.standard_normal(len(samples))
            heard[path.stem] = CLASSES[decide(scores_of(model, [samples]))[0]]
    return heard


def finish(model, tests, options):
    path = options.out / "model.onnx"
    proto = export.export_onnx(model, path, "frames", "scores", augment.HOP)
    print("\n".join(export.describe(proto)))
    rng = np.random.default_rng(79)
    rows = rng.integers(0, len(tests["labels"]), (2, 2))
    frames = np.stack([augment.frames_of(compose(rng, tests, row, 15, -6)[0]) for row in rows], axis=1)[:100]
    metrics = {"classes": CLASSES, "onnxruntime_max_difference": export.check_against_torch(model, path, "frames", frames)}
    export.write_golden(model, options.out / "golden.npz", "frames", "scores", frames)
    metrics |= {"parameters": sum(p.numel() for p in model.parameters()), "macs_per_step": net.macs_per_step(model),
                "model_bytes": path.stat().st_size, "held_out_synthetic": test_synthetic(model, tests),
                "real_recordings_heard_as": test_recordings(model, options.alsa)}
    (options.out / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n")
    print(json.dumps(metrics, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for synthesised data and the checkpoint")
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="folder for the results (default: beside this file)")
    parser.add_argument("--alsa", type=pathlib.Path, default=pathlib.Path("/usr/share/sounds/alsa"),
                        help="folder with the recordings of alsa-utils (skipped when absent)")
    parser.add_argument("--steps", type=int, default=4500, help="training steps of 64 clips of 1.8 s")
    parser.add_argument("--words", type=int, default=500, help="synthetic utterances per keyword to train on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluate", action="store_true", help="only repeat the evaluation, from the cached checkpoint")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    tests = make_pool(options.cache / "kws_test.npz", 1000 + options.seed, True, 60, 240, 240)
    checkpoint = options.cache / "kws_lstm.pt"
    if options.evaluate:
        model = net.KeywordSpotter(len(CLASSES))
        model.load_state_dict(torch.load(checkpoint, weights_only=True))
    else:
        training = make_pool(options.cache / "kws_train.npz", options.seed, False, options.words, 8 * options.words, 2000)
        model = train(training, options.steps, options.seed)
        torch.save(model.state_dict(), checkpoint)
    finish(model, tests, options)


if __name__ == "__main__":
    main()
