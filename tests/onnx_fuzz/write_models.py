#!/usr/bin/env python3
"""write_models.py FOLDER COUNT -- the models of the first seeds as files FOLDER/0.onnx, 1.onnx, ...: for the tests that compile some
themselves. Those with NaN, infinity or huge numbers among their constants, and single steps, are left out.
SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

import onnx

import models


def main(folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    written, seed = 0, 0
    while written < count:
        seed += 1
        g = models.make(seed)
        if not g.special and not g.implied and not g.states:
            onnx.save(g.model(), folder / f"{written}.onnx")
            written += 1


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
