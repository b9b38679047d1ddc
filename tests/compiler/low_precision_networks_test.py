#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that were published in few bits, beside what their authors' own code gives. The files are third-party and lie in the folder
RNNPACK_MODELS_LP_DIR; without it nothing is run, and that is said.

low_precision_networks_test.py RNNPACK
"""
import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cli_support import Tool

rnnpack = Tool(sys.argv[1])
models = os.environ.get("RNNPACK_MODELS_LP_DIR")
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

    def nnom_matrix(self, data, name, along):
        """int8 [outputs][inputs] and the scale of a matrix that lies as NNoM's products read it: four outputs smlad, `along` inputs at a time."""
        order = {2: [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (2, 1), (3, 1)],
                 4: [(0, 0), (1, 0), (0, 2), (1, 2), (2, 0), (3, 0), (2, 2), (3, 2), (0, 1), (1, 1), (0, 3), (1, 3), (2, 1), (3, 1), (2, 3), (3, 3)]}[along]
        inputs, outputs = data[name].shape
        smlad = data[name].ravel()
        matrix, whole = np.zeros((outputs, inputs), np.int8), outputs // 4 * 4
        for place, (row, column) in enumerate(order):
            matrix[row:whole:4, column::along] = smlad[:whole * inputs].reshape(whole // 4, inputs // along, 4 * along)[:, :, place]
        matrix[whole:] = smlad[whole * inputs:].reshape(-1, inputs)
        return matrix, np.float32(2.0 ** -data[name + "_dec_bits"][0])

    def nnom_denoiser(self):
        """The file of NNoM's denoiser: 5 GRUs, gains and speech. Its code shifts a recurrent bias as if it were the input's (gru_cell_run):
        that is what these weights stand for here, too."""
        data = dict(np.load(self.models / "nnom_rnn_denoise/nnom_rnn_denoise_q7.npz"))
        nodes, weights = [], []

        def quantized(name, matrix, scale):
            weights.extend([numpy_helper.from_array(matrix, name + "_q"), numpy_helper.from_array(scale, name + "_scale")])
            nodes.append(helper.make_node("DequantizeLinear", [name + "_q", name + "_scale"], [name]))
            return name

        def gru(number, x, y):
            tail = f"_{number}" if number else ""
            part = lambda what: f"tensor_gru{tail}_gru_cell{tail}_{what}_0"
            (w, w_scale), (r, r_scale) = self.nnom_matrix(data, part("kernel"), 2), self.nnom_matrix(data, part("recurrent_kernel"), 2)
            b = data[part("bias")] * 2.0 ** -data[part("bias") + "_dec_bits"][0]
            b[1] *= r_scale / w_scale
            weights.append(numpy_helper.from_array(b.reshape(1, -1).astype(np.float32), f"B{number}"))
            nodes.append(helper.make_node("GRU", [x, quantized(f"W{number}", w[None], w_scale), quantized(f"R{number}", r[None], r_scale), f"B{number}"],
                                          [y + "_4d"], hidden_size=r.shape[1], linear_before_reset=1, name=f"gru{number}"))
            nodes.append(helper.make_node("Squeeze", [y + "_4d", "direction"], [y]))

        def dense(name, x, y):
            matrix, scale = self.nnom_matrix(data, f"tensor_{name}_kernel_0", 4)
            bias = data[f"tensor_{name}_bias_0"] * 2.0 ** -data[f"tensor_{name}_bias_0_dec_bits"][0]
            weights.append(numpy_helper.from_array(bias.astype(np.float32), name + "_b"))
            quantized(name + "_w", np.ascontiguousarray(matrix.T), scale)
            nodes.extend([helper.make_node("MatMul", [x, name + "_w"], [name + "_xw"]), helper.make_node("Add", [name + "_xw", name + "_b"], [name + "_y"]),
                          helper.make_node("HardSigmoid", [name + "_y"], [y], alpha=0.2, beta=0.5)])

        weights.append(numpy_helper.from_array(np.array([1], np.int64), "direction"))
        gru(0, "x", "speech1"), gru(1, "speech1", "speech2"), gru(2, "x", "features")
        nodes.append(helper.make_node("Concat", ["features", "speech1", "speech2"], ["noise_x"], axis=2))
        gru(3, "noise_x", "noise")
        nodes.append(helper.make_node("Concat", ["features", "noise", "speech2"], ["gains_x"], axis=2))
        gru(4, "gains_x", "denoised")
        dense("dense_1", "denoised", "gains"), dense("dense", "speech2", "vad")
        info = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["T", "N", width])
        graph = helper.make_graph(nodes, "nnom", [info("x", 40)], [info("gains", 20), info("vad", 1)], weights)
        path = self.at / "nnom.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
        return path

    def test_the_denoiser_of_nnom_hears_speech_as_the_original_does(self):
        # Its tables of sigmoid and tanh begin anew beyond +-8 in the two GRUs of the gains (3 bits behind the point), which no network
        # means: gains are the original's until that happens, in the fourth frame.
        folder = self.models / "nnom_rnn_denoise"
        x = np.fromfile(folder / "golden_in.i8", np.int8).reshape(200, 1, 40) / np.float32(128)
        golden = np.fromfile(folder / "golden_out.i8", np.int8).reshape(200, 21) / 128
        blob = self.at / "nnom.rnnp"
        self.assertIn("int8 weights and their scales are kept", rnnpack("compile", self.nnom_denoiser(), "-o", blob).stderr)
        gains, vad = self.run_blob(blob, ["gains", "vad"], x=x)
        speech = vad[:, 0, 0].astype(np.float64)
        decibels = 10 * np.log10((golden[:, 20] ** 2).sum() / ((speech - golden[:, 20]) ** 2).sum())
        error = np.abs(gains[:, 0] - golden[:, :20]).max(axis=1)
        print(f"nnom: speech {decibels:.1f} dB over 200 frames; gains, largest of the first three frames {error[:3].max():.3f}, of all {error.max():.3f}")
        self.assertGreater(decibels, 30)
        self.assertLess(error[:3].max(), 0.05)

    def test_the_integer_lstms_of_tensorflow_lite_are_as_near_as_its_runtimes_are_to_each_other(self):
        folder = self.models / "tflite_lstm_int8"
        blob = self.at / "dtln.rnnp"
        self.assertIn("int8 weights and their scales are kept", rnnpack("compile", folder / "dtln_noise_suppression.tflite", "-o", blob).stderr)
        micro, lite = (np.load(folder / f"{name}.npz") for name in ("dtln_noise_suppression_golden_tflm", "dtln_tflm_int8_golden_litert"))
        x = ((micro["x"].astype(np.float64) + 128) * 0.06857891).astype(np.float32)
        y, = self.run_blob(blob, ["activation_20"], input_7=x[None])
        goldens = [(g["y"].reshape(50, 257).astype(np.float64) + 128) / 256 for g in (micro, lite)]
        sqnr = lambda got, want: 10 * np.log10((want ** 2).sum() / ((got - want) ** 2).sum())
        print(f"dtln: {sqnr(y[0], goldens[0]):.1f} and {sqnr(y[0], goldens[1]):.1f} dB; TFLM beside LiteRT {sqnr(goldens[1], goldens[0]):.1f} dB")
        for golden in goldens:
            self.assertGreater(sqnr(y[0], golden), 29)
            self.assertLess(np.abs(y[0, 0] - golden[0]).max(), 4 / 256)  # the first step, before states drift apart
        digits = np.load(folder / "trained_lstm_int8_golden_tflm.npz")
        blob = self.at / "digits.rnnp"
        rnnpack("compile", folder / "trained_lstm_int8.tflite", "-o", blob)
        y, = self.run_blob(blob, ["sequential"], fixed_input=((digits["x"].astype(np.float64) + 128) / 255).astype(np.float32))
        golden = (digits["y"].reshape(8, 10).astype(np.float64) + 128) / 256
        print(f"digits: largest {np.abs(y - golden).max():.3f}")
        self.assertTrue((y.argmax(1) == golden.argmax(1)).all())
        self.assertLess(np.abs(y - golden).max(), 0.1)


if __name__ == "__main__":
    if not models:
        print("RNNPACK_MODELS_LP_DIR is not set: the published networks are not here")
    unittest.main(argv=sys.argv[:1], verbosity=1)
