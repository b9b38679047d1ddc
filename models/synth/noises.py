# SPDX-License-Identifier: Apache-2.0
"""Sounds that are not one person speaking, made from random numbers, oscillators and overlapping voices.

Every maker takes (rng, samples) and returns a signal of RMS 1. The set spans steady, tonal and impulsive
sounds because a detector that only ever met steady noise takes any change for speech.
"""
import numpy as np
from scipy import signal

from .augment import equalise
from .voices import RATE


def unit(x):
    return x / (np.sqrt(np.mean(x * x)) + 1e-12)


def coloured(rng, samples, slope_db):
    """Gaussian noise whose power falls by `slope_db` per octave."""
    spectrum = np.fft.rfft(rng.standard_normal(samples))
    freq = np.fft.rfftfreq(samples, 1 / RATE)
    shape = np.maximum(freq, 20.0) ** (-slope_db / 6.02)
    return unit(np.fft.irfft(spectrum * shape, samples))


def slow(rng, samples, hertz):
    """A smooth random control signal between about -1 and 1, moving at `hertz`."""
    knots = rng.uniform(-1, 1, int(samples / RATE * hertz) + 3)
    return np.interp(np.arange(samples) * (hertz / RATE), np.arange(len(knots)), knots)


def white(rng, samples):
    return coloured(rng, samples, 0.0)


def pink(rng, samples):
    return coloured(rng, samples, 3.0)


def brown(rng, samples):
    return coloured(rng, samples, 6.0)


def wind(rng, samples):
    return unit(coloured(rng, samples, rng.uniform(4, 8)) * np.exp(1.2 * slow(rng, samples, rng.uniform(0.5, 4))))


def rustle(rng, samples):
    """Noise of a random band whose level wanders at the rate of syllables."""
    low = rng.uniform(100, 3000)
    sos = signal.butter(2, [low, min(low * rng.uniform(1.5, 6), 7600)], "bandpass", fs=RATE, output="sos")
    band = signal.sosfilt(sos, rng.standard_normal(samples))
    return unit(band * np.exp(rng.uniform(0.3, 1.8) * slow(rng, samples, rng.uniform(1, 12))))


def harmonic(rng, samples, f0, partials, tilt):
    """Partials of a (possibly moving) fundamental; `f0` is a number or one value per sample."""
    phase = 2 * np.pi * np.cumsum(np.broadcast_to(f0, samples)) / RATE
    total = np.zeros(samples)
    for k in range(1, partials + 1):
        if k * np.max(f0) < RATE / 2:
            total += rng.uniform(0.2, 1) * k ** -tilt * np.sin(k * phase + rng.uniform(0, 6.28))
    return total


def hum(rng, samples):
    mains = harmonic(rng, samples, rng.choice([50.0, 60.0]), 12, rng.uniform(0.3, 1.5))
    return unit(unit(mains) + rng.uniform(0.02, 0.5) * pink(rng, samples))


def engine(rng, samples):
    f0 = rng.uniform(25, 140) * (1 + 0.15 * slow(rng, samples, rng.uniform(0.3, 1.5)))
    return unit(unit(harmonic(rng, samples, f0, 30, rng.uniform(0.3, 1.2))) + rng.uniform(0.2, 1.5) * brown(rng, samples))


def music(rng, samples):
    """Struck or bowed notes, one to three at once, on a random scale."""
    total = np.zeros(samples)
    base, beat = rng.uniform(80, 500), int(RATE * rng.uniform(0.12, 0.6))
    for _ in range(rng.integers(1, 4)):
        for start in range(0, samples, beat):
            if rng.random() < 0.7:
                length = min(int(beat * rng.uniform(0.8, 4)), samples - start)
                time = np.arange(length) / RATE
                note = base * 2 ** (rng.integers(-5, 20) / 12) * np.ones(length)
                note *= 1 + rng.choice([0, 0.006]) * np.sin(2 * np.pi * 5.5 * time)
                decay = np.exp(-time * rng.uniform(0.5, 12)) * np.minimum(1, time / rng.uniform(0.003, 0.05))
                total[start:start + length] += harmonic(rng, length, note, rng.integers(1, 10), 1.0) * decay
    return unit(total + 1e-4 * rng.standard_normal(samples))


def beeps(rng, samples):
    """Alarms, sirens and dial tones: one or two gated or sweeping sines."""
    time = np.arange(samples) / RATE
    f0 = rng.uniform(300, 3000) * (1 + rng.choice([0, 0.3]) * np.sin(2 * np.pi * rng.uniform(0.3, 4) * time))
    gate = signal.square(2 * np.pi * rng.uniform(0.5, 5) * time, rng.uniform(0.2, 0.9)) > 0
    tone = harmonic(rng, samples, f0, rng.integers(1, 4), 1.0)
    return unit(tone * (gate if rng.random() < 0.7 else 1.0) + 0.01 * rng.standard_normal(samples))


def impacts(rng, samples, per_second, decay, ring):
    """Short bursts of noise and ringing resonances at random times."""
    total = np.zeros(samples)
    for _ in range(max(1, rng.poisson(per_second * samples / RATE))):
        start = rng.integers(0, samples)
        length = min(int(RATE * 0.4), samples - start)
        time = np.arange(length) / RATE
        hit = rng.standard_normal(length) * np.exp(-time / (decay * rng.uniform(0.5, 2)))
        hit += ring * np.sin(2 * np.pi * rng.uniform(80, 5000) * time) * np.exp(-time / (3 * decay))
        total[start:start + length] += hit * 10 ** rng.uniform(-1, 0)
    return unit(total + 1e-4 * rng.standard_normal(samples))


def clicks(rng, samples):
    return impacts(rng, samples, rng.uniform(0.5, 20), 0.001, 0.0)


def keyboard(rng, samples):
    return impacts(rng, samples, rng.uniform(2, 9), 0.006, 0.3)


def knocks(rng, samples):
    return impacts(rng, samples, rng.uniform(0.5, 4), 0.03, 1.0)


def fan(rng, samples):
    blades = harmonic(rng, samples, rng.uniform(60, 400), 6, 1.0)
    return unit(pink(rng, samples) + rng.uniform(0.05, 0.6) * unit(blades))


MAKERS = {"white": white, "pink": pink, "brown": brown, "wind": wind, "rustle": rustle, "hum": hum, "engine": engine,
          "music": music, "beeps": beeps, "clicks": clicks, "keyboard": keyboard, "knocks": knocks, "fan": fan}
KINDS = list(MAKERS) + ["babble"]


def babble(rng, samples, speech_pool):
    """Six to ten voices at once; `speech_pool[n][samples]` holds one speaker per row."""
    total = np.zeros(samples)
    for row in rng.choice(len(speech_pool), rng.integers(6, 11), replace=False):
        voice = np.asarray(speech_pool[row], np.float64)
        total += unit(np.resize(np.roll(voice, rng.integers(0, len(voice))), samples)) * 10 ** rng.uniform(-0.3, 0)
    return unit(total)


def make(rng, kind, samples, speech_pool):
    return babble(rng, samples, speech_pool) if kind == "babble" else MAKERS[kind](rng, samples)


def random_clip(rng, samples, speech_pool):
    """Any kind of noise, one time in five with a second one behind it, mostly through a random microphone."""
    kind = rng.choice(KINDS, p=[0.85 / len(MAKERS)] * len(MAKERS) + [0.15])
    noise = make(rng, kind, samples, speech_pool)
    if rng.random() < 0.2:
        noise = noise + 10 ** rng.uniform(-1, 0) * make(rng, rng.choice(KINDS), samples, speech_pool)
    return equalise(rng, noise) if rng.random() < 0.7 else noise
