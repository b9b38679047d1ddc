#!/usr/bin/env python3
"""spectrogram_picture.py LABEL=WAV... --into FILE.svg -- spectrograms one below the other with axes, labels and a colour bar, one scale
of colours for all, small enough for a page. README's, after `make demo-speech` with the published networks:
spectrogram_picture.py "Noisy speech, 5 dB SNR=build/speech/silero_test_16k_before.wav" \\
  "After DeepFilterNet 3=build/speech/silero_test_16k_DeepFilterNet3.wav" --seconds 12 --into docs/pictures/denoiser.svg
SPDX-License-Identifier: Apache-2.0"""
import argparse
import base64
import pathlib
import struct
import wave
import zlib
from html import escape

import numpy as np

WINDOW, BANDS, COLUMNS, SHADES, FLOOR_DB = 512, 128, 860, 20, -70
COLOURS = np.array([[8, 6, 24], [60, 15, 98], [140, 41, 99], [216, 75, 55], [250, 158, 20], [252, 250, 180]])  # from quiet to loud
LEFT, TITLE, HEIGHT, GAP, BOTTOM, BAR_GAP, BAR, RIGHT = 62, 24, 128, 12, 46, 18, 14, 52  # places in the picture, in pixels


def read_wav(path, seconds):
    """Samples in [-1, 1), and their rate."""
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(min(file.getnframes(), int(seconds * rate))), "<i2")
        return samples.reshape(-1, file.getnchannels()).mean(axis=1) / 32768, rate


def decibels(samples):
    """[bands, columns], the loudest of two neighbouring bands, the highest one above."""
    starts = np.linspace(0, len(samples) - WINDOW, COLUMNS).astype(int)
    frames = np.stack([samples[at:at + WINDOW] for at in starts]) * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames))[:, 1:] ** 2
    return 10 * np.log10(power.reshape(COLUMNS, BANDS, -1).max(axis=2) + 1e-12).T[::-1]


def png(shades):
    """Shades in [0, 1] as a PNG of 8 bits a pixel, indices into a palette, in a data URI."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = (np.clip(shades, 0, 1) * (SHADES - 1)).round().astype(np.uint8)
    height, width = pixels.shape
    scale = np.linspace(0, len(COLOURS) - 1, SHADES)
    palette = np.stack([np.interp(scale, range(len(COLOURS)), COLOURS[:, c]) for c in range(3)], axis=1).round().astype(np.uint8)
    rows = np.insert(pixels, 0, 0, axis=1).tobytes()  # each row begins with its filter: none
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) + chunk(b"PLTE", palette.tobytes()) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{escape(words)}</text>'


def image(x, y, width, height, shades):
    return f'<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" href="{png(shades)}"/>'


def panel(label, shades, rate, top):
    """A spectrogram under its label, with an axis of frequencies."""
    drawn = [text(LEFT, top - 7, label, 'font-weight="bold"'), image(LEFT, top, COLUMNS, HEIGHT, shades)]
    most = rate / 2000
    for khz in np.arange(0, most + 0.1, 2):
        y = top + HEIGHT * (1 - khz / most)
        drawn += [f'<path d="M{LEFT - 5} {y:.1f}h5" stroke="#222"/>', text(LEFT - 9, y + 4, f"{khz:g}", 'text-anchor="end"')]
    middle = top + HEIGHT / 2
    return drawn + [text(LEFT - 36, middle, "kHz", f'text-anchor="middle" transform="rotate(-90 {LEFT - 36} {middle:.1f})"')]


def time_axis(seconds, y):
    drawn = [text(LEFT + COLUMNS / 2, y + 38, "time, s", 'text-anchor="middle"')]
    for second in range(0, int(seconds) + 1, 2 if seconds < 30 else 10):
        x = LEFT + COLUMNS * second / seconds
        drawn += [f'<path d="M{x:.1f} {y}v5" stroke="#222"/>', text(x, y + 19, f"{second}", 'text-anchor="middle"')]
    return drawn


def colour_bar(top, bottom):
    """Loudest above; the scale is relative to the loudest point of the first recording."""
    x, height = LEFT + COLUMNS + BAR_GAP, bottom - top
    drawn = [image(x, top, BAR, height, np.linspace(1, 0, SHADES)[:, None])]
    for db in range(0, FLOOR_DB - 1, -10):
        y = top + height * db / FLOOR_DB
        drawn += [f'<path d="M{x + BAR} {y:.1f}h4" stroke="#222"/>', text(x + BAR + 7, y + 4, f"{db}".replace("-", "\u2212"))]
    return drawn + [text(x + BAR, top - 7, "dB", 'text-anchor="middle"')]


def picture(recordings):
    """recordings: (label, samples, rate) of equal lengths."""
    panels = [decibels(samples) for _, samples, _ in recordings]
    loudest, top, drawn = panels[0].max(), TITLE, []
    for (label, _, rate), levels in zip(recordings, panels):
        drawn += panel(label, (levels - loudest - FLOOR_DB) / -FLOOR_DB, rate, top)
        top += HEIGHT + GAP + TITLE
    bottom = top - GAP - TITLE
    drawn += time_axis(len(recordings[0][1]) / recordings[0][2], bottom) + colour_bar(TITLE, bottom)
    size = f"{LEFT + COLUMNS + BAR_GAP + BAR + RIGHT} {bottom + BOTTOM}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif" font-size="13" fill="#222">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *drawn, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="+", metavar="LABEL=WAV")
    parser.add_argument("--seconds", type=float, default=1e9, help="of the beginning; default: all")
    parser.add_argument("--into", type=pathlib.Path, required=True)
    options = parser.parse_args()
    named = [recording.rpartition("=") for recording in options.recordings]
    options.into.write_text(picture([(label, *read_wav(path, options.seconds)) for label, _, path in named]), encoding="utf-8")


if __name__ == "__main__":
    main()
