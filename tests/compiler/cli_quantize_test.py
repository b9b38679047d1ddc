#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""low-precision weights as a user meets them: data that decides, reports, an accuracy that is kept or refused, a measure of one's own.

cli_quantize_test.py RNNPACK
"""
import json
import os
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np

import read_blob
from cli_support import InFolder, Tool, save_onnx

rnnpack = Tool(sys.argv[1])
I, H, T = 24, 40, 60


class Quantize(InFolder):
    def setUp(self):
        super().setUp()
        self.report = self.at / "r.json"
        random = np.random.default_rng(3)
        draw = lambda *shape: (random.standard_normal(shape) * 0.25).astype(np.float32)
        save_onnx(self.onnx, [("GRU", ["x", "W", "R", "B"], ["Y"], {"hidden_size": H, "linear_before_reset": 1, "name": "gru"}),
                              ("Squeeze", ["Y", "axis"], ["s"], {}), ("MatMul", ["s", "D"], ["y"], {"name": "fc"})],
                  {"x": ["T", 1, I]}, ["y"],
                  {"W": draw(1, 3 * H, I), "R": draw(1, 3 * H, H), "B": draw(1, 6 * H), "D": draw(H, 5), "axis": np.array([1])})
        self.x = self.at / "x.npy"
        np.save(self.x, random.standard_normal((T, 1, I)).astype(np.float32))

    def compile(self, *options, code=0):
        return rnnpack("compile", self.onnx, "-o", self.blob, *options, code=code)

    def layers(self):
        return {layer["name"]: layer for layer in json.loads(self.report.read_text())["layers"]}

    def test_data_fixes_the_scales_of_x_and_the_report_has_every_figure(self):
        said = self.compile("--weights", "int8", "--calibrate", self.x, "--report", self.report).stdout
        report = json.loads(self.report.read_text())
        self.assertEqual(report["bytes"], self.blob.stat().st_size)
        self.assertLess(report["bytes"], report["f32_bytes"])
        self.assertEqual(report["steps"], T)
        self.assertEqual([o["name"] for o in report["outputs"]], ["y"])
        gru, fc = self.layers()["gru"], self.layers()["fc"]
        w, r = gru["matrices"]
        self.assertEqual((w["name"], w["type"], r["name"], r["type"]), ("W", "int8", "R", "int8"))
        self.assertGreater(w["x_scale"], 0)
        self.assertLess(w["x_clipped_share"], 0.05)
        self.assertAlmostEqual(r["x_scale"], 1 / 127, places=6)
        self.assertAlmostEqual(fc["matrices"][0]["x_scale"], 1 / 127, places=6)
        self.assertEqual(gru["one_step"]["steps"], T)
        self.assertGreater(gru["one_step"]["sqnr_db"], gru["free_running"]["sqnr_db"] - 3)
        self.assertIsNone(gru["free_running"]["first_step_over_0.1"])
        for word in ("gru", "W int8 R int8", "one step", "worst unit", "never", "output y: SQNR"):
            self.assertIn(word, said)
        verified = rnnpack("verify", self.onnx, self.blob, "--input", self.x).stdout
        self.assertIn("exact evaluation of 2 layers", verified)
        self.assertIn("equal", verified)

    def test_pruning_warns_measures_and_is_refused_where_it_costs_too_much(self):
        self.compile("--calibrate", self.x)
        whole = self.blob.stat().st_size
        said = self.compile("--prune", "0.6:4", "--sparse", "blocks", "--calibrate", self.x)
        self.assertRegex(said.stderr, r"warning: node 'gru': \d+\.\d % of R are left out")
        self.assertIn("output y: SQNR", said.stdout)
        self.assertLess(self.blob.stat().st_size, whole)
        self.assertIn("at least 40", self.compile("--prune", "0.6:4", "--calibrate", self.x, "--accuracy-min", "40", code=4).stderr)
        self.assertIn("0.05:8", self.compile("--prune", "0.6:5", code=1).stderr)
        said = self.compile("--prune", "0.6:1", "--sparse", "pairs", "--calibrate", self.x)
        self.assertRegex(said.stderr, r"warning: node 'gru': \d+\.\d % of R are left out, small weights")
        self.assertIn("R is stored as pairs of index and weight", said.stderr)
        self.assertLess(self.blob.stat().st_size, whole)

    def test_a_pruned_blob_is_verified_with_the_option_that_made_it(self):
        for weights in (["--weights", "int8"], ["--weights", "f32", "--sparse", "blocks"], []):
            said = self.compile("--prune", "0.6:4", "--calibrate", self.x, *weights)
            self.assertRegex(said.stderr, r"next: rnnpack verify \S+ \S+ --prune 0.6:4;")
            verified = rnnpack("verify", self.onnx, self.blob, "--prune", "0.6:4").stdout
            self.assertIn("errors are measured", verified)
            self.assertIn("SQNR", verified)
            self.assertIn("axes: time is", rnnpack("inspect", self.blob, "--onnx", self.onnx, "--prune", "0.6:4").stdout)
        self.assertIn("--prune", rnnpack("verify", self.onnx, self.blob, code=4).stdout)
        self.assertIn("--prune", rnnpack("inspect", self.blob, "--onnx", self.onnx, code=1).stderr)

    def test_what_is_not_finite_is_no_accuracy(self):
        """Bytes make 0 of NaN: where the f32 network gives NaN and they do not, everything is lost."""
        x = np.load(self.x)
        x[T // 2, 0, 3] = np.nan
        np.save(self.x, x)
        said = self.compile("--weights", "int8", "--calibrate", self.x, "--report", self.report).stdout
        self.assertIn("elements are NaN or infinite on one side only", said)
        self.assertEqual(json.loads(self.report.read_text())["outputs"][0]["not_finite_on_one_side"], 5 * (T - T // 2))
        self.compile("--weights", "int8", "--calibrate", self.x, "--accuracy-min", 0, code=4)
        self.compile("--weights", "auto", "--calibrate", self.x, "--accuracy-min", 20, "--report", self.report)
        self.assertNotIn("int", self.layers()["gru"]["matrices"][0]["type"])
        np.save(self.x, np.full((T, 1, I), np.nan, np.float32))
        for options in (["--weights", "int8"], ["--weights", "auto", "--accuracy-min", 40], ["--arithmetic", "integer"]):
            self.assertIn("nothing but NaN and infinity", self.compile(*options, "--calibrate", self.x, code=1).stderr)

    def test_without_data_scales_stay_open_and_the_figures_say_little(self):
        said = self.compile("--weights", "int8", "--report", self.report).stdout
        self.assertEqual(self.layers()["gru"]["matrices"][0]["x_scale"], 0)
        self.assertIn("steps of random numbers", said)
        self.assertIn("by row", said)

    def test_methods_of_rounding(self):
        found = {}
        for method in ("round", "mse", "gptq"):
            self.compile("--weights", "int8", "--calibrate", self.x, "--method", method, "--report", self.report)
            found[method] = json.loads(self.report.read_text())["outputs"][0]["sqnr_db"]
        self.assertGreater(found["gptq"], found["round"])
        self.assertIn("accepted: round, mse, gptq", self.compile("--method", "best", code=1).stderr)
        self.assertIn("--calibrate", self.compile("--weights", "int8", "--method", "gptq", code=1).stderr)

    def test_an_accuracy_is_kept_or_nothing_is_written(self):
        failed = self.compile("--weights", "int8", "--calibrate", self.x, "--accuracy-min", 70, code=4)
        self.assertIn("NOT written", failed.stderr)
        self.assertFalse(self.blob.exists())
        self.compile("--weights", "int8", "--calibrate", self.x, "--accuracy-min", 20)
        small = self.blob.stat().st_size
        said = self.compile("--weights", "auto", "--calibrate", self.x, "--accuracy-min", 70).stdout
        self.assertIn("auto: W of 'gru' alone: int4 ", said)
        self.assertIn("alone: int4", said)
        self.assertGreater(self.blob.stat().st_size, small)
        rnnpack("verify", self.onnx, self.blob, "--input", self.x, "--accuracy-min", 69)
        self.compile("--weights", "auto", "--calibrate", self.x, "--accuracy-min", 20)
        self.assertLessEqual(self.blob.stat().st_size, small)
        self.assertIn("--calibrate", self.compile("--weights", "auto", code=1).stderr)

    def test_a_measure_of_ones_own(self):
        script = self.at / "metric.py"
        script.write_text(f"#!{sys.executable}\nimport sys, numpy as np\n"
                          "got, want = (np.load(sys.argv[1] + f'/{part}y.npy') for part in ('', 'f32/'))\n"
                          "print(-float(np.abs(got - want).max()))\n")
        script.chmod(0o755)
        place = self.at / "tmp"  # where its folders are made, and nothing stays
        place.mkdir()
        self.enterContext(unittest.mock.patch.dict(os.environ, {"TMPDIR": str(place)}))
        self.addCleanup(lambda: self.assertEqual(list(place.iterdir()) if place.exists() else [], []))
        said = self.compile("--weights", "int8", "--calibrate", self.x, "--metric", script, "--report", self.report).stdout
        largest = json.loads(self.report.read_text())["outputs"][0]["max"]
        self.assertIn(f"metric: {-largest:g}"[:14], said)
        self.assertIn("NOT written", self.compile("--weights", "int8", "--calibrate", self.x, "--metric", script, "--accuracy-min", -1e-6, code=4).stderr)
        said = self.compile("--weights", "auto", "--calibrate", self.x, "--metric", script, "--accuracy-min", -1e-3).stdout
        self.assertIn("auto: W of 'gru' alone: int4 ", said)
        script.write_text("#!/bin/sh\necho none\n")
        self.assertIn("printed no number", self.compile("--weights", "int8", "--metric", script, code=3).stderr)
        self.assertIn("cannot be run", self.compile("--weights", "int8", "--metric", self.at / "missing", code=3).stderr)

    def test_a_measure_that_is_interrupted_leaves_no_folder(self):
        script, place = self.at / "metric.sh", self.at / "tmp"
        place.mkdir()
        script.write_text("#!/bin/sh\nkill -INT 0\nsleep 60\n")
        script.chmod(0o755)
        done = subprocess.run([sys.argv[1], "compile", str(self.onnx), "-o", str(self.blob), "--weights", "int8", "--calibrate", str(self.x), "--metric", str(script)],
                              env={"TMPDIR": str(place)}, start_new_session=True, capture_output=True, text=True)
        self.assertEqual((done.returncode, list(place.iterdir()), self.blob.exists()), (3, [], False))
        self.assertIn("was ended by signal 2", done.stderr)

    def test_outputs_whose_files_would_be_the_same_have_no_measure(self):
        save_onnx(self.onnx, [("Relu", ["x"], ["a/b"], {}), ("LSTM", ["x", "W", "R"], ["a_b"], {"hidden_size": 4})], {"x": ["T", 1, I]}, ["a/b", "a_b"],
                  {"W": np.ones((1, 16, I), np.float32), "R": np.ones((1, 16, 4), np.float32)})
        said = self.compile("--weights", "int8", "--calibrate", self.x, "--metric", "true", code=1).stderr
        self.assertIn("outputs 'a/b' and 'a_b' would both be in 'a_b.npy'", said)

    def test_data_beyond_what_integers_can_scale_is_cut_off(self):
        for size in (1e38, 1e-35):
            np.save(self.x, np.full((T, 1, I), size, np.float32))
            self.compile("--arithmetic", "integer", "--calibrate", self.x)
            rnnpack("run", self.blob, "--input", self.x)

    def test_weights_that_have_no_scale_are_not_blamed_on_sizes(self):
        save_onnx(self.onnx, [("RNN", ["x", "W", "R"], ["y"], {"hidden_size": 4})], {"x": ["T", "N", I]}, ["y"],
                  {"W": np.full((1, 4, I), np.inf, np.float32), "R": np.ones((1, 4, 4), np.float32)})
        said = self.compile("--weights", "int8", code=2).stderr
        self.assertIn("compile it with --weights f32", said)
        self.assertNotIn("try:", said)

    def test_layers_in_integers(self):
        said = self.compile("--weights", "int8", "--arithmetic", "integer", "--calibrate", self.x, "--report", self.report)
        self.assertIn("note: in integers alone: 1 recurrent layer\n", said.stderr)
        self.assertGreater(self.layers()["gru"]["one_step"]["sqnr_db"], 35)
        document = json.loads(rnnpack("inspect", "--json", self.blob).stdout)
        self.assertEqual(document, read_blob.read(self.blob))
        self.assertEqual({"i8_q15_nr16", "i8_nr16"}, {m["format"] for m in document["matrices"]})
        self.assertIn(" of low precision or blocks: ", rnnpack("verify", self.onnx, self.blob, "--input", f"x={self.x}", "--accuracy-min", 30).stdout)
        self.compile("--target", "cortex-m", "--arithmetic", "integer", "--calibrate", self.x)  # no other low-precision weights
        self.assertIn("exact evaluation of 1 layer", rnnpack("verify", self.onnx, self.blob, "--input", f"x={self.x}", "--accuracy-min", 30).stdout)

    def test_products_of_bf16(self):
        self.compile("--arithmetic", "bf16")
        document = json.loads(rnnpack("inspect", "--json", self.blob).stdout)
        self.assertEqual(document, read_blob.read(self.blob))
        self.assertEqual({"dot_bf16_nr16"}, {m["format"] for m in document["matrices"]})
        self.assertIn("exact evaluation of 2 layers", rnnpack("verify", self.onnx, self.blob, "--input", f"x={self.x}", "--accuracy-min", 35).stdout)
        self.compile("--arithmetic", "bf16", "--keep-float", "fc", "--calibrate", self.x, "--report", self.report)
        self.assertEqual(self.layers()["fc"]["matrices"][0]["type"], "f32")
        self.assertGreater(self.layers()["gru"]["one_step"]["sqnr_db"], 45)
        self.assertIn("exact evaluation of 1 layer", rnnpack("verify", self.onnx, self.blob, "--input", f"x={self.x}", "--accuracy-min", 35).stdout)
        self.assertIn("accepted with it: --weights bf16", self.compile("--arithmetic", "bf16", "--weights", "int8", code=1).stderr)

    def test_convolutions_in_products_of_bf16(self):
        random = np.random.default_rng(3)
        weights = {"w": random.standard_normal((33, I, 3)).astype(np.float32) * 0.2, "p": random.standard_normal((7, 33, 1)).astype(np.float32) * 0.2}
        save_onnx(self.onnx, [("Conv", ["x", "w"], ["a"], {"kernel_shape": [3], "pads": [2, 0]}), ("Relu", ["a"], ["b"], {}),
                              ("Conv", ["b", "p"], ["y"], {"kernel_shape": [1]})], {"x": ["N", I, "T"]}, ["y"], weights)
        self.compile("--arithmetic", "bf16")
        self.assertEqual({"dot_bf16_nr16"}, {m["format"] for m in json.loads(rnnpack("inspect", "--json", self.blob).stdout)["matrices"]})
        self.assertIn("exact evaluation of 2 layers", rnnpack("verify", self.onnx, self.blob, "--accuracy-min", 35).stdout)

    def test_what_integers_need_is_said(self):
        self.assertIn("--calibrate", self.compile("--arithmetic", "integer", code=1).stderr)
        self.assertIn("accepted: float, bf16, integer", self.compile("--arithmetic", "fixed", code=1).stderr)
        self.assertIn("a type", self.compile("--arithmetic", "integer", "--weights", "auto", "--calibrate", self.x, code=1).stderr)
        self.assertIn("no recurrent layer", self.compile("--arithmetic", "integer", "--calibrate", self.x, "--keep-float", "gru", code=1).stderr)

    def test_a_node_that_is_named_stays_f32(self):
        self.compile("--weights", "auto", "--calibrate", self.x, "--accuracy-min", 20, "--keep-float", "fc", "--report", self.report)
        self.assertEqual(self.layers()["fc"]["matrices"][0]["type"], "f32")
        self.assertEqual(self.layers()["gru"]["matrices"][0]["type"], "int8")
        self.assertIn("'gru', 'fc'", self.compile("--keep-float", "other", code=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
