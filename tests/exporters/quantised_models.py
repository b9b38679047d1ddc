"""Quantizes exported PyTorch models by onnxruntime's own tools, as a user would: quantised_models.py FLOAT_CASES FOLDER [NAME...].

quantize_dynamic (int8 weights) and quantize_static (QDQ, calibrated on the case's inputs), both with their defaults, but for
reduce_range where onnxruntime would not compute what the file says.
SPDX-License-Identifier: Apache-2.0
"""
import json
import logging
import pathlib
import sys

import numpy as np
import onnxruntime as ort
from onnxruntime import quantization

from case import Folder, bytes_saturate

MODELS = ["lstm", "gru", "lstm_stacked_bidirectional", "lstm_last_step", "gru_both_final_states", "lstmcell_loop", "grucell_step",
          "front_conv_same", "front_conv_causal", "front_conv2d", "front_conv_strided", "reader_lstm", "attention_pool", "speaker_encoder",
          "beat_tracker", "ids_int64", "pool_mean", "speech_mask", "ctc_log_softmax", "grouped_gru", "batch_norm", "dilated_stack",
          "forecast_one_step_lstm", "forecast_horizon_gru", "deepar", "time_embedding", "patches", "masked_mean", "policy_step",
          "policy_cell", "pixels_policy", "language_model_tied", "time_attention", "gtcrn_like", "crn", "rnnoise_like", "percepnet_like",
          "tcn_gru", "separable_conv", "keyword_attention", "deepspeech_like", "detector_step", "squeeze_excite", "conv_gru_step",
          "cell_norm_lstm_step", "cell_slstm_step", "cell_selective_step", "cell_minlstm_loop"]


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, inputs):
        self.left = [inputs]

    def get_next(self):
        return self.left.pop() if self.left else None


def inputs_of(path, source):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    arrays = np.load(source)
    return {i.name: arrays[i.name] for i in session.get_inputs()}


def main():
    logging.disable(logging.WARNING)
    source, folder, wanted = pathlib.Path(sys.argv[1]), Folder(sys.argv[2]), sys.argv[3:]
    exported = {c["name"] for c in json.loads((source / "cases.json").read_text()) if "not_exported" not in c}
    for name in MODELS:
        for size in ("dynamic", "fixed"):  # what TorchScript's exporter made of it
            title = f"{name}.script.{size}"
            if title in exported:
                break
        if title not in exported or (wanted and name not in wanted):
            continue
        path = source / f"{title}.onnx"
        inputs = inputs_of(path, source / f"{title}.npz")
        for how in ("dynamic_int8", "static_qdq"):
            made = f"{name}.{how}.{size}"
            try:
                if how == "dynamic_int8":
                    quantization.quantize_dynamic(path, folder.model_path(made), weight_type=quantization.QuantType.QInt8,
                                                  reduce_range=bytes_saturate())
                else:
                    quantization.quantize_static(path, folder.model_path(made), Calibration(inputs), reduce_range=bytes_saturate())
                outputs = ort.InferenceSession(str(folder.model_path(made)), providers=["CPUExecutionProvider"]).run(None, inputs)
                folder.add(made, "onnxruntime", how, list(inputs.values()), outputs)
            except Exception as error:  # noqa: BLE001: what a tool cannot do is a row of the table
                folder.failed(made, "onnxruntime", how, error)
            print(made, file=sys.stderr, flush=True)
    folder.close()


main()
