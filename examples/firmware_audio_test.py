#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""firmware_audio_test.py BUILD TOOLS SOURCE -- examples/firmware_audio.c on the emulated board, with the model as an array and by
.incbin: its outputs are those of a reference on the building machine, whose spectrum is numpy's and whose network the tool's.

BUILD: a board's build folder (-DRNNPACK_FIRMWARE=ON). TOOLS: the building machine's.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

BUILD, TOOLS, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
sys.path.insert(0, str(SOURCE / "tests" / "compiler"))
from cli_support import save_onnx  # noqa: E402

KIT = json.loads((BUILD / "firmware" / "image_kit.json").read_text())
TOOL = TOOLS / "src/compiler/rnnpack"
BANDS, UNITS, OUTPUTS, HOP, WINDOW, RATE, HALVES = 40, 24, 3, 256, 512, 16000.0, 50


def network(path):
    random = np.random.default_rng(1)
    weights = lambda *shape: random.uniform(-0.3, 0.3, shape).astype(np.float32)
    nodes = [("GRU", ["x", "W", "R"], ["Y"], {"hidden_size": UNITS, "linear_before_reset": 1}), ("Squeeze", ["Y", "one"], ["h"], {}),
             ("MatMul", ["h", "M"], ["m"], {}), ("Sigmoid", ["m"], ["y"], {})]
    constants = {"W": weights(1, 3 * UNITS, BANDS) / 8, "R": weights(1, 3 * UNITS, UNITS), "one": np.array([1]), "M": weights(UNITS, OUTPUTS) * 4}
    return save_onnx(path, nodes, {"x": ["T", 1, BANDS]}, ["y"], constants, opset=17)


def sound():
    """A sweep that grows, in noise."""
    t = np.arange(HALVES * HOP) / RATE
    sweep = np.sin(2 * np.pi * (200 + 3000 * t) * t) * np.linspace(0.02, 0.7, t.size)
    return np.round(32767 * (sweep + 0.01 * np.random.default_rng(2).standard_normal(t.size))).clip(-32768, 32767).astype(np.int16)


def log_mel(samples):
    mel = lambda hertz: 1127 * np.log(1 + hertz / 700)
    edges = 700 * (np.exp(np.linspace(mel(60), mel(RATE / 2), BANDS + 2) / 1127) - 1) * WINDOW / RATE
    k = np.arange(WINDOW // 2 + 1)
    bank = np.stack([np.clip(np.minimum((k - low) / (top - low), (high - k) / (high - top)), 0, None)
                     for low, top, high in zip(edges, edges[1:], edges[2:])])
    x = np.concatenate([np.zeros(HOP), samples / 32768.0])
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    frames = np.stack([x[n * HOP:n * HOP + WINDOW] * hann for n in range(HALVES)])
    return np.log(np.abs(np.fft.rfft(frames)) ** 2 @ bank.T + 1e-3).astype(np.float32)


class FirmwareAudio(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.model, self.samples = network(self.at / "net.onnx"), sound()
        values = ",".join(map(str, self.samples))
        (self.at / "clip.c").write_text("#include <stdint.h>\nextern const int16_t clip_samples[];\nextern const uint32_t clip_halves;\n"
                                        f"const uint32_t clip_halves = {HALVES};\nconst int16_t clip_samples[] = {{{values}}};\n")

    def run_on_board(self, *options):
        """The outputs, with the model as `options` of compile say."""
        net = self.at / "net"
        subprocess.run([TOOL, "compile", self.model, "--target", KIT["target"], "-o", f"{net}.rnnp", "--emit-c", net, *options], check=True,
                       capture_output=True)
        sources = [SOURCE / "examples" / "firmware_audio.c", self.at / "clip.c", f"{net}.c", *([f"{net}.S"] if options else [])]
        flags = [*KIT["flags"].split(), "-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections", "-DAUDIO_CLIP",
                 f"-I{SOURCE / 'include'}", f"-I{self.at}", f"-Wa,-I{self.at}"]
        subprocess.run([KIT["compiler"], *flags, *sources, KIT["library"], *KIT["link"].split(), "-lm", "-o", self.at / "audio.elf"], check=True)
        done = subprocess.run([*KIT["emulator"], self.at / "audio.elf"], capture_output=True, text=True)
        lines = (done.stdout + done.stderr).splitlines()  # semihosting prints to stderr
        self.assertEqual((done.returncode, lines[-1]), (0, "overruns 0"), lines[-5:])
        return np.array([[int(v) for v in line.split()] for line in lines[:-1]]) / 1e6

    def test_its_outputs_are_those_of_the_reference(self):
        y = self.run_on_board()
        np.save(self.at / "x.npy", log_mel(self.samples)[:, None])
        subprocess.run([TOOL, "run", self.at / "net.rnnp", "--reference", "--input", self.at / "x.npy", "--output", self.at / "y.npy"], check=True,
                       capture_output=True)
        expected = np.load(self.at / "y.npy")[:, 0]
        self.assertEqual(y.shape, (HALVES, OUTPUTS))
        self.assertGreater(np.ptp(expected, axis=0).min(), 0.05, "outputs that say nothing")
        self.assertLess(np.abs(y - expected).max(), 2e-5)

    def test_incbin_gives_the_same_outputs(self):
        self.assertTrue(np.array_equal(self.run_on_board(), self.run_on_board("--incbin")))
        self.assertLess((self.at / "net.c").stat().st_size, 1000)

    def test_another_file_than_the_headers_is_refused_by_the_assembler(self):
        self.run_on_board("--incbin")
        with open(self.at / "net.rnnp", "ab") as blob:
            blob.write(b"\0")
        done = subprocess.run([KIT["compiler"], *KIT["flags"].split(), f"-Wa,-I{self.at}", "-c", self.at / "net.S", "-o", self.at / "net.o"],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the file has another size than the blob that net.h is of", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
