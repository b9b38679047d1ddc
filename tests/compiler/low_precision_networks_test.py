#!/usr/bin/env python3
"""Networks that were published in few bits, beside what their authors' own code gives. The files are third-party and lie in the folder
RNNPACK_MODELS_LP_DIR; without it nothing is run, and that is said.

low_precision_networks_test.py RNNPACK
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cli_support import Tool

rnnpack = Tool(sys.argv[1])
models = os.environ.get("RNNPACK_MODELS_LP_DIR")
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
H = 1024


@unittest.skipUnless(models, "RNNPACK_MODELS_LP_DIR is not set")
class Published(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        self.models = pathlib.Path(models)

    def tearDown(self):
        self.folder.cleanup()

    def run_blob(self, blob, outputs, **inputs):
        arguments = []
        for name, value in inputs.items():
            np.save(self.at / f"{name}.npy", value)
            arguments += ["--input", f"{name}={self.at / name}.npy"]
        for name in outputs:
            arguments += ["--output", f"{name}={self.at / ('out_' + name)}.npy"]
        rnnpack("run", blob, *arguments)
        return [np.load(self.at / f"out_{name}.npy") for name in outputs]

    def test_rnnoise_gains_are_the_originals(self):
        golden = np.load(self.models / "rnnoise_0_2/golden_200_frames.npz")
        blob = self.at / "rnnoise.rnnp"
        notes = rnnpack("compile", self.models / "rnnoise_0_2/rnnoise_0_2_qdq.onnx", "-o", blob).stderr
        self.assertIn("int8 weights and their scales are kept", notes)
        self.assertNotIn("rows of", notes)  # every integer has its place
        gains, vad = self.run_blob(blob, ["gains", "vad"], features=golden["features"][:, None])
        got = np.concatenate([gains[:, 0], vad[:, 0]], axis=1)
        for original in ("int8_plain_c", "int8_avx2_maddubs", "int8_avx512vnni"):
            error = np.abs(got - golden[original])
            print(f"rnnoise beside {original}: largest {error.max():.4f}, rms {np.sqrt((error ** 2).mean()):.5f}")
            self.assertLessEqual(error[:, :32].max(), 0.02)

    def sparse_gru(self, name):
        """The file of a network whose R has blocks of 4x4, gates r z h; its data."""
        z = np.load(self.models / f"lyra_v1_gru/{name}.npz")
        mask = np.unpackbits(z["block_mask"])[:768 * 256].reshape(768, 256).astype(bool)
        r = np.zeros((768, 256, 4, 4), np.float32)
        r[mask] = z["blocks4x4"]
        r = r.transpose(0, 2, 1, 3).reshape(3, H, H)[[1, 0, 2]].reshape(3 * H, H)
        swapped = lambda a: np.concatenate([a[H:2 * H], a[:H], a[2 * H:]])
        places = np.flatnonzero(r)
        sparse = helper.make_sparse_tensor(numpy_helper.from_array(r.ravel()[places], "R"),
                                           numpy_helper.from_array(places.astype(np.int64), "R_places"), [1, 3 * H, H])
        graph = helper.make_graph(
            [helper.make_node("GRU", ["x", "W", "R", "B", "", "h0"], ["Y"], hidden_size=H, linear_before_reset=1, name="gru")], name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", "N", 8]), helper.make_tensor_value_info("h0", TensorProto.FLOAT, [1, "N", H])],
            [helper.make_tensor_value_info("Y", TensorProto.FLOAT, ["T", 1, "N", H])],
            [numpy_helper.from_array(swapped(z["W"])[None], "W"),
             numpy_helper.from_array(np.concatenate([swapped(z["Wb"]), swapped(z["bias"])])[None], "B")])
        graph.sparse_initializer.append(sparse)
        path = self.at / f"{name}.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
        return path, z

    def test_one_step_of_the_sparse_grus_is_the_originals(self):
        # These are chaotic: each step starts from the original's state, all of them as rows of one batch.
        for name in ("lyra_gru", "wavernn_gru"):
            path, z = self.sparse_gru(name)
            h = z["h_original_float"]
            for weights, largest in ((None, 3e-6), ("bf16", 0.06), ("int8", 0.4)):
                blob = self.at / f"{name}.rnnp"
                rnnpack("compile", path, "-o", blob, *(["--weights", weights] if weights else []))
                y, = self.run_blob(blob, ["Y"], x=z["x"][1:][None], h0=h[:-1][None])
                error = np.abs(y[0, 0] - h[1:])
                print(f"{name} {weights or 'f32'}: largest {error.max():.3g}, rms {np.sqrt((error ** 2).mean()):.3g}")
                self.assertLessEqual(error.max(), largest)


    def converted(self, name):
        path, blob = self.at / f"{name}.onnx", self.at / f"{name}.rnnp"
        subprocess.run([sys.executable, SCRIPTS / "tflite_to_onnx.py", self.models / f"tflite_lstm_int8/{name}.tflite", path], check=True)
        self.assertIn("int8 weights and their scales are kept", rnnpack("compile", path, "-o", blob).stderr)
        return blob

    def test_the_integer_lstms_of_tensorflow_lite_are_as_near_as_its_runtimes_are_to_each_other(self):
        folder = self.models / "tflite_lstm_int8"
        blob = self.converted("dtln_noise_suppression")
        micro, lite = (np.load(folder / f"{name}.npz") for name in ("dtln_noise_suppression_golden_tflm", "dtln_tflm_int8_golden_litert"))
        x = ((micro["x"].astype(np.float64) + 128) * 0.06857891).astype(np.float32)
        y, = self.run_blob(blob, ["y0"], x0=x[None])
        goldens = [(g["y"].reshape(50, 257).astype(np.float64) + 128) / 256 for g in (micro, lite)]
        sqnr = lambda got, want: 10 * np.log10((want ** 2).sum() / ((got - want) ** 2).sum())
        print(f"dtln: {sqnr(y[0], goldens[0]):.1f} and {sqnr(y[0], goldens[1]):.1f} dB; TFLM beside LiteRT {sqnr(goldens[1], goldens[0]):.1f} dB")
        for golden in goldens:
            self.assertGreater(sqnr(y[0], golden), 29)
            self.assertLess(np.abs(y[0, 0] - golden[0]).max(), 4 / 256)  # the first step, before states drift apart
        digits = np.load(folder / "trained_lstm_int8_golden_tflm.npz")
        y, = self.run_blob(self.converted("trained_lstm_int8"), ["y0"], x0=((digits["x"].astype(np.float64) + 128) / 255).astype(np.float32))
        golden = (digits["y"].reshape(8, 10).astype(np.float64) + 128) / 256
        print(f"digits: largest {np.abs(y - golden).max():.3f}")
        self.assertTrue((y.argmax(1) == golden.argmax(1)).all())
        self.assertLess(np.abs(y - golden).max(), 0.1)


if __name__ == "__main__":
    if not models:
        print("RNNPACK_MODELS_LP_DIR is not set: the published networks are not here")
    unittest.main(argv=sys.argv[:1], verbosity=1)
