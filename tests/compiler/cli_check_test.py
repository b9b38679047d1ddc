#!/usr/bin/env python3
"""`rnnpack compile` checks what it made before it writes: what it says, what it leaves, and --no-check.

cli_check_test.py RNNPACK
SPDX-License-Identifier: Apache-2.0"""
import sys
import unittest

import numpy as np

from cli_support import InFolder, Tool, save_onnx

rnnpack = Tool(sys.argv[1])


class Check(InFolder):
    def save_beyond_f32(self):
        """(x * 1e8 + 1) - x * 1e8: 1 in the graph, whose arithmetic the evaluation does in f64, and no such thing in f32."""
        nodes = [("Mul", ["x", "large"], ["a"], {}), ("Add", ["a", "one"], ["b"], {}), ("Sub", ["b", "a"], ["y"], {})]
        return save_onnx(self.onnx, nodes, {"x": ["T", "N", 4]}, ["y"],
                         {"large": np.array(1e8, np.float32), "one": np.array(1, np.float32)})

    def save_known_limit(self):
        """An LSTM whose output gate is closed by -40, under a factor of 1e15: kernels cut gates at -30 (docs/KERNELS.md)."""
        bias = np.repeat(np.array([40, -40, -40, 1], np.float32), 4)  # gates i, o, f, c
        weights = {"W": np.zeros((1, 16, 4), np.float32), "R": np.zeros((1, 16, 4), np.float32),
                   "B": np.concatenate([bias, 0 * bias])[None], "large": np.array(1e15, np.float32)}
        nodes = [("LSTM", ["x", "W", "R", "B"], ["h"], {"hidden_size": 4}), ("Mul", ["h", "large"], ["y"], {})]
        return save_onnx(self.onnx, nodes, {"x": ["T", "N", 4]}, ["y"], weights)

    def test_says_where_roundings_hide_the_results(self):
        self.save_beyond_f32()
        said = rnnpack("compile", self.onnx, "-o", self.blob).stderr
        self.assertIn("checked with small inputs alone", said)

    def test_writes_nothing_that_differs_from_the_graph(self):
        self.save_known_limit()
        for options in (["-o", self.blob], ["--emit-c", self.at / "net"], ["--emit-c", self.at / "net", "--one-file"]):
            said = rnnpack("compile", self.onnx, *options, code=4).stderr
            self.assertRegex(said, r"NOT written: .*\n  at \d+ steps, batch \d+: output 'y' of shape \[\d+, 1, \d+, 4\], element \[")
            self.assertIn("please report it", said)
            self.assertEqual([path.name for path in self.at.iterdir()], ["m.onnx"])

    def test_no_check_writes_it_all_the_same(self):
        self.save_known_limit()
        rnnpack("compile", self.onnx, "-o", self.blob, "--no-check")
        self.assertTrue(self.blob.exists())
        self.assertIn("NOT verified", rnnpack("verify", self.onnx, self.blob, code=4).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
