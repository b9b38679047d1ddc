#!/usr/bin/env python3
"""spectrogram_picture.py WAV... --into FILE.png -- spectrograms one below the other, time to the right, frequency upwards, one scale of
colours for all: what `make demo-speech` wrote before and after, small enough for a page. SPDX-License-Identifier: Apache-2.0"""
import argparse
import pathlib
import struct
import wave
import zlib

import numpy as np

WINDOW, BANDS, COLUMNS, GAP, SHADES, FLOOR_DB = 512, 128, 860, 6, 20, -70
COLOURS = np.array([[8, 6, 24], [60, 15, 98], [140, 41, 99], [216, 75, 55], [250, 158, 20], [252, 250, 180]])  # from quiet to loud


def read_wav(path, seconds):
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(min(file.getnframes(), int(seconds * file.getframerate()))), "<i2")
        return samples.reshape(-1, file.getnchannels()).mean(axis=1) / 32768


def decibels(samples):
    """[bands, columns], the loudest of two neighbouring bands, the highest one above."""
    starts = np.linspace(0, len(samples) - WINDOW, COLUMNS).astype(int)
    frames = np.stack([samples[at:at + WINDOW] for at in starts]) * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames))[:, 1:] ** 2
    return 10 * np.log10(power.reshape(COLUMNS, BANDS, -1).max(axis=2) + 1e-12).T[::-1]


def png(pixels, palette):
    """8 bits a pixel, indices into a palette."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    rows = np.insert(pixels, 0, 0, axis=1).astype(np.uint8).tobytes()  # each row begins with its filter: none
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) + chunk(b"PLTE", palette.tobytes()) +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def picture(panels):
    loudest = panels[0].max()
    shades = [np.clip((panel - loudest - FLOOR_DB) / -FLOOR_DB, 0, 1) * (SHADES - 1) for panel in panels]
    white = np.full((GAP, COLUMNS), SHADES)
    rows = [part for panel in shades for part in (panel.round(), white)][:-1]
    scale = np.linspace(0, len(COLOURS) - 1, SHADES)
    palette = np.stack([np.interp(scale, range(len(COLOURS)), COLOURS[:, c]) for c in range(3)], axis=1)
    return png(np.concatenate(rows), np.concatenate([palette.round(), [[255, 255, 255]]]).astype(np.uint8))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wavs", nargs="+", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="of the beginning; default: all")
    parser.add_argument("--into", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.into.write_bytes(picture([decibels(read_wav(path, options.seconds)) for path in options.wavs]))


if __name__ == "__main__":
    main()
