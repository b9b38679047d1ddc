#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rnnpack verify` as a user meets it: which inputs it takes or draws, what it says of NaN, roundings and cut runs.

cli_verify_test.py RNNPACK
"""
import re
import sys
import unittest

import numpy as np

from cli_support import InFolder, Tool, save_onnx

rnnpack = Tool(sys.argv[1])
H = 8


def gru(scale, seed=0, batch=1, initial=False, width=H):
    """Nodes and constants of one GRU from x to y, with random weights of this scale."""
    random = np.random.default_rng(seed)
    constants = {"W": random.standard_normal((1, 3 * H, width)) * scale, "R": random.standard_normal((1, 3 * H, H)) * scale}
    constants = {name: value.astype(np.float32) for name, value in constants.items()} | {"axis": np.array([1])}
    inputs = ["x", "W", "R"]
    if initial:
        constants["h0"] = np.full((1, batch, H), 0.25, np.float32)
        inputs += ["", "", "h0"]
    return [("GRU", inputs, ["Y"], {"hidden_size": H}), ("Squeeze", ["Y", "axis"], ["y"], {})], constants


class Verify(InFolder):
    def compile(self, nodes, constants, x=("T", "N", H), outputs=("y",)):
        save_onnx(self.onnx, nodes, {"x": list(x)}, list(outputs), constants)
        rnnpack("compile", self.onnx, "-o", self.blob)

    def verify(self, *options, code=0):
        return rnnpack("verify", self.onnx, self.blob, *options, code=code).stdout

    def test_says_what_it_drew_and_how_it_cut_the_run(self):
        self.compile(*gru(0.3))
        said = self.verify("--steps", 12, "--batch", 3, "--seed", 9, "--deviation", 0.5)
        self.assertIn(f"input x [12, 3, {H}]: drawn, normal distribution, mean 0, deviation 0.5, seed 9\n", said)
        self.assertIn("verified: 12 steps, batch 3, tolerance 1e-05", said)
        calls, sizes = re.search(r"(\d+) calls of ([\d, and.]+) steps: the same bits as one call", said).groups()
        self.assertGreater(int(calls), 1)
        if int(calls) <= 8:
            self.assertEqual(sum(map(int, re.findall(r"\d+", sizes))), 12)
        self.assertIn("not cut into calls: it is one step", self.verify("--steps", 1))

    def test_finds_the_graph_of_every_type_of_weights(self):
        w = np.random.default_rng(4).standard_normal((32, 32, 3, 3)).astype(np.float32) / 10
        for options in (["--weights", "f32"], ["--winograd", "off"], ["--weights", "int8"], ["--weights", "bf16"]):
            with self.subTest(options):
                nodes = [("Transpose", ["x"], ["t"], {"perm": [0, 3, 1, 2]}), ("Conv", ["t", "w"], ["y"], {"pads": [1, 1, 1, 1]})]
                save_onnx(self.onnx, nodes, {"x": ["N", 16, 32, 32]}, ["y"], {"w": w})
                rnnpack("compile", self.onnx, "-o", self.blob, *options)
                self.assertIn("verified", self.verify("--steps", 2))
                self.assertIn("axes: ", rnnpack("inspect", self.blob, "--onnx", self.onnx).stdout)

    def test_a_constant_state_of_one_row_is_compared_at_the_batch_its_graph_takes(self):
        self.compile(*gru(0.3, initial=True))
        said = self.verify()
        self.assertIn("cannot be evaluated at 20 steps, batch 2", said)
        self.assertIn("verified: 20 steps, batch 1", said)
        self.assertIn("cannot be evaluated", rnnpack("verify", self.onnx, self.blob, "--batch", 2, code=1).stderr)

    def test_takes_the_users_input_and_its_sizes(self):
        self.compile(*gru(0.3))
        x = np.random.default_rng(2).standard_normal((5, 3, H)).astype(np.float32)
        np.save(self.at / "x.npy", x)
        np.savez(self.at / "x.npz", x=x)
        for given in (self.at / "x.npy", f"x={self.at}/x.npy", self.at / "x.npz"):
            said = self.verify("--input", given)
            self.assertIn(f"input x [5, 3, {H}]: as given\n", said)
            self.assertIn("verified: 5 steps, batch 3", said)
        self.assertIn("'nosuch'", rnnpack("verify", self.onnx, self.blob, "--input", f"nosuch={self.at}/x.npy", code=1).stderr)
        np.save(self.at / "x.npy", x[:, :, 1:])
        self.assertIn("accepted: [steps, batch", rnnpack("verify", self.onnx, self.blob, "--input", self.at / "x.npy", code=1).stderr)

    def test_the_given_input_is_what_is_compared(self):
        """Where the drawn inputs agree, a given one may be out of any bound: it has to be used."""
        nodes, constants = gru(0.3)
        self.compile(nodes + [("Exp", ["y"], ["z"], {})], constants, outputs=("y", "z"))
        self.assertIn("verified", self.verify())
        np.save(self.at / "x.npy", np.repeat(np.array([0, 1, np.inf], np.float32), H).reshape(3, 1, H))
        self.assertIn("NaN or infinite on both sides", self.verify("--input", self.at / "x.npy"))

    def test_nan_from_finite_inputs_is_said(self):
        nodes, constants = gru(0.3)
        self.compile(nodes + [("Sqrt", ["y"], ["z"], {})], constants, outputs=("z",))
        said = self.verify()
        self.assertIn("are NaN or infinite on both sides", said)
        self.assertIn("WARNING: finite inputs give NaN or infinity", said)

    def test_nothing_but_nan_is_not_verified(self):
        nodes, constants = gru(0.3)
        constants["minus"] = np.array(-2, np.float32)
        self.compile(nodes + [("Add", ["y", "minus"], ["below"], {}), ("Sqrt", ["below"], ["z"], {})], constants, outputs=("z",))
        said = self.verify(code=4)
        self.assertIn("no finite element to compare", said)
        self.assertIn("nothing was compared", said)
        self.assertIn("--input", said)
        self.assertIn("NOT verified", said)

    def test_nan_that_the_user_put_in_is_compared_beside_numbers_only(self):
        self.compile(*gru(0.3))
        x = np.random.default_rng(2).standard_normal((3, 2, H)).astype(np.float32)
        for rows, code, words in ((1, 0, ["\nverified"]), (2, 4, ["inputs with NaN or infinity give nothing but", "nothing was compared", "NOT verified"])):
            x[:, :rows] = np.nan
            np.save(self.at / "x.npy", x)
            said = self.verify("--input", self.at / "x.npy", code=code)
            for word in ["NaN or infinite on both sides", *words]:
                self.assertIn(word, said)

    def test_an_output_that_no_row_changes_has_no_axis_of_the_batch(self):
        nodes, constants = gru(0.3)
        save_onnx(self.onnx, [*nodes, ("Relu", ["c"], ["z"], {})], {"x": ["T", "N", H], "c": [2, 3]}, ["y", "z"], constants)
        rnnpack("compile", self.onnx, "-o", self.blob)
        self.assertIn("z [2, 3]: max abs error 0", self.verify("--batch", 4))
        np.save(self.at / "x.npy", np.zeros((5, 4, H), np.float32))
        np.save(self.at / "c.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
        rnnpack("run", self.blob, "--input", f"x={self.at}/x.npy", "--input", f"c={self.at}/c.npy", "--output", f"z={self.at}/z.npy")
        np.testing.assert_array_equal(np.load(self.at / "z.npy"), np.load(self.at / "c.npy"))

    def test_rounding_between_layers_is_measured(self):
        nodes, constants = gru(0.3)
        quantised = [("QuantizeLinear", ["x", "step", "zero"], ["q"], {}), ("DequantizeLinear", ["q", "step", "zero"], ["xd"], {})]
        constants |= {"step": np.array(0.03, np.float32), "zero": np.array(0, np.int8)}
        op, inputs, outputs, attributes = nodes[0]
        self.compile([*quantised, (op, ["xd", *inputs[1:]], outputs, attributes), nodes[1]], constants)
        said = self.verify()
        self.assertIn("the graph rounds values that the blob keeps in f32: errors are measured", said)
        self.verify("--accuracy-min", 80, code=4)

    def test_less_than_20_db_of_a_graph_that_rounds_is_not_verified(self):
        """Steps of 4 for inputs of deviation 1: hardly anything is left of them, while the blob keeps them."""
        nodes, constants = gru(0.3)
        quantised = [("QuantizeLinear", ["x", "step", "zero"], ["q"], {}), ("DequantizeLinear", ["q", "step", "zero"], ["xd"], {})]
        constants |= {"step": np.array(4, np.float32), "zero": np.array(0, np.int8)}
        op, inputs, outputs, attributes = nodes[0]
        save_onnx(self.onnx, [*quantised, (op, ["xd", *inputs[1:]], outputs, attributes), nodes[1]], {"x": ["T", "N", H]}, ["y"], constants)
        rnnpack("compile", self.onnx, "-o", self.blob, code=4)
        rnnpack("compile", self.onnx, "-o", self.blob, "--no-check")
        for options in ([], ["--tolerance", 10]):
            said = self.verify(*options, code=4)
            self.assertIn("below 20 dB", said)
            self.assertIn("NOT verified", said)
        self.verify("--accuracy-min", -60)

    def test_roundings_that_the_network_amplifies_are_allowed_for_up_to_a_bound(self):
        """y = tanh(Rh + x) with large R is chaotic: neighbouring inputs part by a factor a step."""
        random = np.random.default_rng(5)
        constants = {"W": np.eye(H, dtype=np.float32)[None], "R": (random.standard_normal((1, H, H)) * 2).astype(np.float32), "axis": np.array([1])}
        nodes = [("RNN", ["x", "W", "R"], ["Y"], {"hidden_size": H}), ("Squeeze", ["Y", "axis"], ["y"], {})]
        self.compile(nodes, constants)
        said = [self.verify("--steps", steps, "--batch", 1, code=code) for steps, code in ((3, 0), (12, 0), (400, 4))]
        self.assertNotIn("the evaluation moves by", said[0])
        self.assertIn("the network amplifies", said[2])
        self.assertIn("--input", said[2])
        self.verify("--steps", 400, "--batch", 1, "--tolerance", 3)
        self.verify("--steps", 12, "--batch", 1, "--tolerance", 1e-9, code=4)

    def test_what_leaves_the_range_of_floats_is_named(self):
        """h = relu(sum of x + 1e4 h) is 1e4 times as large after each step: float32 ends at the 11th, the evaluation does not."""
        constants = {"W": np.ones((1, 1, H), np.float32), "R": np.full((1, 1, 1), 1e4, np.float32), "axis": np.array([1]), "small": np.array(1e-8, np.float32)}
        nodes = [("RNN", ["x", "W", "R"], ["Y"], {"hidden_size": 1, "activations": ["Relu"]}), ("Squeeze", ["Y", "axis"], ["h"], {}), ("Mul", ["h", "small"], ["y"], {})]
        self.compile(nodes, constants)
        for sizes in ((), ("--steps", 13)):
            said = self.verify(*sizes, code=4)
            self.assertRegex(said, r"FAILED\n  values leave the range of float32, first at node 'Y' \(RNN\) in step (9|10|11), so no")
            self.assertIn("fewer --steps or a smaller --deviation", said)
        # In range, and where the numbers differ all the same, it is not what is wrong.
        self.assertNotIn("float32", self.verify("--steps", 5))
        said = self.verify("--steps", 5, "--tolerance", 1e-12, code=4)
        self.assertIn("FAILED", said)
        self.assertNotIn("float32", said)
        # Both sides are infinite.
        self.compile(nodes[:2], constants, outputs=("h",))
        said = self.verify("--steps", 13)
        self.assertRegex(said, r"WARNING: finite inputs give .* alike; these say nothing about the blob: values leave the range of float32, first at node")

    def test_an_allowance_is_said_and_measured(self):
        nodes, constants = gru(0.3)
        constants["large"] = np.array(3e3, np.float32)
        self.compile(nodes + [("Mul", ["y", "large"], ["big"], {}), ("Tanh", ["big"], ["z"], {})], constants, outputs=("z",))
        said = self.verify()
        allowed, moved = map(float, re.search(r"allowed are (\S+): the evaluation moves by (\S+) when", said).groups())
        self.assertAlmostEqual(allowed / moved, 4, delta=0.1)
        self.assertGreater(allowed, 1e-5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
