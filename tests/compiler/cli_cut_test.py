#!/usr/bin/env python3
"""An encoder and a decoder whose lengths are both open: the two blobs that the refusal proposes, one run after the other, beside
the whole graph for one length, and onnxruntime where it is installed.

cli_cut_test.py RNNPACK. SPDX-License-Identifier: Apache-2.0
"""
import re
import sys
import unittest

import numpy as np

from cli_support import InFolder, Tool, save_onnx

rnnpack = Tool(sys.argv[1])
WORDS, UNITS, SOURCE, TARGET, ROWS = 4, 6, 7, 5, 3


def by_onnxruntime(path, inputs):
    """None where it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)[0]


class Cut(InFolder):
    def encoder_decoder(self):
        random = np.random.default_rng(5)
        nodes = [("GRU", ["x", "eW", "eR"], ["", "last"], {"hidden_size": UNITS}),
                 ("GRU", ["y", "dW", "dR", "", "", "last"], ["Y"], {"hidden_size": UNITS})]
        constants = {name: (random.standard_normal((1, 3 * UNITS, UNITS if name[1] == "R" else WORDS)) * 0.3).astype(np.float32)
                     for name in ("eW", "eR", "dW", "dR")}
        return save_onnx(self.onnx, nodes, {"x": ["source", "batch", WORDS], "y": ["target", "batch", WORDS]}, ["Y"], constants)

    def proposed(self):
        said = rnnpack("compile", self.onnx, "-o", self.blob, code=2).stderr
        halves = re.search(r"or two blobs, (.*) and (.*)\)", said)
        self.assertIsNotNone(halves, said)
        return [half.split() for half in halves.groups()]

    def run_blob(self, blob, name, **inputs):
        flags = []
        for key, value in inputs.items():
            np.save(self.at / f"{key}.npy", value)
            flags += ["--input", f"{key}={self.at / key}.npy"]
        rnnpack("run", blob, *flags, "--output", f"{name}={self.at / 'out.npy'}")
        return np.load(self.at / "out.npy")

    def test_the_split_graph_give_what_the_graph_does(self):
        self.encoder_decoder()
        for half, flags in zip(("encoder", "decoder"), self.proposed()):
            said = rnnpack("compile", self.onnx, *flags, "-o", self.at / f"{half}.rnnp").stderr
            self.assertIn("streams: yes", said)
            self.assertIn(" ".join(flags), said.splitlines()[-1])  # the next command is of the same half
            rnnpack("verify", self.onnx, self.at / f"{half}.rnnp", *flags)
        random = np.random.default_rng(6)
        x = random.standard_normal((SOURCE, ROWS, WORDS)).astype(np.float32)
        y = random.standard_normal((TARGET, ROWS, WORDS)).astype(np.float32)
        last = self.run_blob(self.at / "encoder.rnnp", "last", x=x)
        got = self.run_blob(self.at / "decoder.rnnp", "Y", y=y, last=last.reshape(1, ROWS, UNITS))
        # The whole in one blob, for sources of this length.
        rnnpack("compile", self.onnx, "--dim", f"source={SOURCE}", "-o", self.blob)
        for wanted in (self.run_blob(self.blob, "Y", x=x, y=y), by_onnxruntime(self.onnx, {"x": x, "y": y})):
            if wanted is not None:
                self.assertLess(np.max(np.abs(got.ravel() - wanted.ravel())), 1e-5)

    def test_what_cannot_be_cut_is_refused(self):
        self.encoder_decoder()
        for flags, text in ((["--to", "nothing"], "no node of the graph makes 'nothing'"),
                            (["--from", "last"], "the file does not say its shape"),
                            (["--from", "last=1,batch,0"], "'0' is no size")):
            self.assertIn(text, rnnpack("compile", self.onnx, *flags, "-o", self.blob, code=1).stderr)
            self.assertFalse(self.blob.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
