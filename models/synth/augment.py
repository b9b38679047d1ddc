# SPDX-License-Identifier: Apache-2.0
"""What happens to a voice between mouth and converter: uneven pitch, rooms, microphones, noise, level; and labels.

Labels come from the dry voice before any of that, so that no noise or echo can move them.
"""
import numpy as np
from scipy import signal

from .voices import RATE

HOP = 256


def speech_frames(clean, hangover=6, below_peak_db=32.0):
    """1 for every 16 ms frame with speech: energy near the clip's loud frames, held for `hangover` frames."""
    frames = clean[:len(clean) // HOP * HOP].reshape(-1, HOP)
    level = 10 * np.log10(np.mean(frames ** 2, axis=1) + 1e-12)
    loud = level[level > level.max() - 40]
    active = level > np.percentile(loud, 90) - below_peak_db
    held = np.convolve(active, np.ones(hangover + 1))[:len(active)] > 0
    return (held & (level.max() > -70)).astype(np.float32)


def jitter(rng, x):
    """Reads the signal along a wavering time axis: pitch is never as steady as a synthesiser makes it."""
    knots = np.cumsum(rng.standard_normal(len(x) // 80 + 3)) * rng.uniform(0, 0.35)
    wander = np.interp(np.arange(len(x)) / 80, np.arange(len(knots)), knots)
    wander -= np.linspace(wander[0], wander[-1], len(x))
    return np.interp(np.arange(len(x)) + wander, np.arange(len(x)), x)


def breath(rng, x):
    """Mixes in noise that follows the signal's own spectrum and level, as aspiration does (a noise-driven LPC voice)."""
    order, size = 16, 512
    share = rng.uniform(0, 0.6) if rng.random() < 0.9 else 1.0
    padded = np.pad(x, (size, size))
    out = np.zeros(len(padded))
    window = np.hanning(size)
    for start in range(0, len(padded) - size, size // 2):
        frame = padded[start:start + size] * window
        energy = np.sum(frame ** 2)
        if energy < 1e-6:
            continue
        r = np.correlate(frame, frame, "full")[size - 1:size + order]
        r[0] *= 1.0001
        from_levinson = np.linalg.solve(r[np.abs(np.subtract.outer(range(order), range(order)))], r[1:])
        noise = signal.lfilter([1.0], np.r_[1.0, -from_levinson], rng.standard_normal(size)) * window
        out[start:start + size] += noise * np.sqrt(energy / (np.sum(noise ** 2) + 1e-12))
    return (1 - share) * x + share * out[size:size + len(x)]


def equalise(rng, x, depth_db=8.0):
    """A random smooth frequency response, as of some microphone and place, sometimes with narrow band limits."""
    size = len(x)
    spectrum, freq = np.fft.rfft(x), np.fft.rfftfreq(size, 1 / RATE)
    points = np.log2(np.geomspace(60, 8000, 9))
    gain_db = np.interp(np.log2(np.maximum(freq, 20)), points, rng.uniform(-depth_db, depth_db, 9))
    if rng.random() < 0.3:
        gain_db -= 24 * np.maximum(0, np.log2(rng.uniform(80, 350) / np.maximum(freq, 20)))
    if rng.random() < 0.3:
        gain_db -= 36 * np.maximum(0, np.log2(np.maximum(freq, 20) / rng.uniform(3000, 7000)))
    return np.fft.irfft(spectrum * 10 ** (gain_db / 20), size)


def reverberate(rng, x):
    """A room: the direct sound, then noise that decays exponentially by 60 dB within 0.1 to 0.6 s."""
    seconds = rng.uniform(0.1, 0.6)
    time = np.arange(int(seconds * RATE)) / RATE
    room = rng.standard_normal(len(time)) * np.exp(-6.9 * time / seconds)
    room *= rng.uniform(0.05, 0.8) / np.sqrt(np.sum(room ** 2))
    room[0] = 1.0
    return signal.fftconvolve(x, room)[:len(x)]


def active_rms(x, frames):
    """RMS over the frames labelled as speech."""
    picked = x[:len(frames) * HOP].reshape(-1, HOP)[frames > 0.5]
    return float(np.sqrt(np.mean(picked ** 2))) if len(picked) else 0.0


def mix(rng, speech, rms, noise, snr_db, peak_db):
    """Adds unit-RMS `noise` at the wanted ratio to the speech's active RMS, then sets the peak level in dBFS.

    Without speech (rms = 0) the noise stands alone. The result is rounded to 16 bits, as a converter would."""
    total = speech / rms + noise * 10 ** (-snr_db / 20) if rms > 0 else noise
    total = total * (10 ** (peak_db / 20) / (np.max(np.abs(total)) + 1e-12))
    return (np.round(total * 32767) / 32768).astype(np.float32)


def frames_of(samples):
    """Cuts a signal into x[T][256]."""
    return samples[:len(samples) // HOP * HOP].reshape(-1, HOP)
