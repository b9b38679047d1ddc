"""Valid JSON model files of every kind, as seeds of fuzz_model_files: write_model_file_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import random
import sys

numbers = random.Random(1)


def some(*shape):
    if not shape:
        return round(numbers.uniform(-1, 1), 2)
    return [some(*shape[1:]) for _ in range(shape[0])]


def rtneural():
    layers = [
        {"type": "dense", "activation": "tanh", "shape": [None, None, 2], "weights": [some(1, 2), some(2)]},
        {"type": "conv1d", "activation": "relu", "shape": [None, None, 4], "kernel_size": [2], "dilation": [3], "groups": 2,
         "weights": [some(2, 1, 4), some(4)]},
        {"type": "batchnorm", "activation": "", "shape": [None, None, 4], "epsilon": 0.1, "weights": [some(4), some(4), some(4), [1, 2, 3, 4]]},
        {"type": "prelu", "activation": "", "shape": [None, None, 4], "weights": [some(1, 4)]},
        {"type": "gru", "activation": "tanh", "shape": [None, None, 2], "weights": [some(4, 6), some(2, 6), some(2, 6)]},
        {"type": "lstm", "activation": "tanh", "shape": [None, None, 1], "weights": [some(2, 4), some(1, 4), some(4)]}]
    return {"in_shape": [None, None, 1], "in_skip": 1, "in_gain": -3, "out_gain": 2, "metadata": {"name": "x", "samplerate": "48000"}, "layers": layers}


def state_dict():
    return {"rec.weight_ih_l0": some(8, 1), "rec.weight_hh_l0": some(8, 2), "rec.bias_ih_l0": some(8), "rec.bias_hh_l0": some(8),
            "lin.weight": some(1, 2), "lin.bias": some(1)}


def guitarml():
    facts = {"model": "SimpleRNN", "input_size": 1, "skip": 1, "output_size": 1, "unit_type": "LSTM", "num_layers": 1, "hidden_size": 2, "bias_fl": True}
    return {"model_data": facts, "state_dict": state_dict()}


def nam(architecture, config, count, **more):
    return {"version": "0.7.0", "architecture": architecture, "config": config, "weights": some(count), "sample_rate": 48, **more}


def layers(gating, condition=1, films=False):
    wide = 4 if gating != "none" else 2
    array = {"input_size": 1, "condition_size": condition, "channels": 2, "kernel_size": 2, "dilations": [1, 2], "activation": "Tanh",
             "gating_mode": gating, "head": {"out_channels": 1, "kernel_size": 3, "bias": True}}
    count = 2 + 2 * (wide * 2 * 2 + wide + wide * condition + 4 + 2) + 6 + 1 + 1
    if films:
        array["conv_pre_film"] = {"active": True, "shift": True, "groups": 1}
        count += 2 * (4 * condition + 4)
    return array, count


def wavenet(gating, films=False, **config):
    array, count = layers(gating, 1, films)
    return nam("WaveNet", {"layers": [array], "head": None, "head_scale": 1, **config}, count)


def main(folder):
    lstm = nam("LSTM", {"input_size": 1, "hidden_size": 2, "num_layers": 1}, 8 * 3 + 8 + 4 + 3)
    container = nam("SlimmableContainer", {"submodels": [{"max_value": 0.5, "model": wavenet("none")}, {"max_value": 1, "model": lstm}]}, 0,
                    metadata={"name": "amp", "loudness": -18.5})
    files = {"rtneural": rtneural(), "state_dict": state_dict(), "guitarml": guitarml(), "lstm": lstm, "wavenet": wavenet("none"),
             "gated": wavenet("gated", True), "blended": wavenet("blended"), "condition": wavenet("none", condition_dsp=lstm),
             "linear": nam("Linear", {"receptive_field": 3, "bias": True}, 4), "container": container}
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        (folder / name).write_text(json.dumps(file))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
