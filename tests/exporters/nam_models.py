"""Networks of Neural Amp Modeler as its trainer exports them (.nam): nam_models.py FOLDER [NAME...]

Streams begin behind endless silence, as in the player. SPDX-License-Identifier: Apache-2.0
"""
import json
import sys

import numpy as np
import torch
from case import Folder
from nam.models.base import BaseNet
from nam.models.factory import init

BaseNet._metadata_loudness_x = classmethod(lambda cls: torch.linspace(-1, 1, 5000))  # not its minutes of sound
SILENCE, SAMPLES = 24000, 400
FILMS = ("conv_pre_film", "conv_post_film", "input_mixin_pre_film", "input_mixin_post_film", "activation_pre_film", "activation_post_film")


def head_of(out, taps=1, bias=False):
    return {"out_channels": out, "kernel_size": taps, "bias": bias}


def array(inputs=1, channels=4, head=1, **others):
    return {"input_size": inputs, "condition_size": 1, "channels": channels, "kernel_size": 3, "dilations": [1, 2, 4], "activation": "Tanh",
            "head": head if isinstance(head, dict) else head_of(head), **others}


def two_arrays(**others):
    return [array(channels=8, head=4, **others), array(inputs=8, channels=4, **others)]


def wavenet(layers, **others):
    return "WaveNet", {"layers_configs": layers, "head_scale": 0.02, **others}


def gated(kind, primary="Tanh", secondary="Sigmoid"):
    return {"name": kind, "primary": primary, "secondary": secondary}


def films(names=FILMS, **how):
    return {name: {"active": True, **how} for name in names}


def one_by_one(out, **how):
    return {"active": True, "out_channels": out, **how}


def models():
    yield "lstm", ("LSTM", {"hidden_size": 8})
    yield "lstm_stacked", ("LSTM", {"hidden_size": 5, "num_layers": 3})
    yield "linear", ("Linear", {"receptive_field": 1, "bias": True})
    for name, normalized, activation in (("convnet", False, "Tanh"), ("convnet_batchnorm", True, "ReLU"), ("convnet_leaky", True, "LeakyReLU")):
        yield name, ("ConvNet", {"channels": 6, "dilations": [1, 2, 4, 8], "batchnorm": normalized, "activation": activation})
    yield "wavenet", wavenet([array()])
    yield "wavenet_a1", wavenet([array(channels=16, head=8, dilations=[2**i for i in range(10)]),
                                 array(inputs=16, channels=8, dilations=[2**i for i in range(10)], head=head_of(1, bias=True))])
    for activation in ("ReLU", "Sigmoid", "SiLU", "Hardswish", "Hardtanh", "Softsign", "Softsigmoid", "LeakyHardtanh", "LeakyReLU", "PReLU"):
        yield f"wavenet_{activation.lower()}", wavenet(two_arrays(activation=activation))
    yield "wavenet_leaky_slope", wavenet([array(activation={"name": "LeakyReLU", "negative_slope": 0.3})])
    yield "wavenet_hard_limits", wavenet([array(activation={"name": "LeakyHardtanh", "min_val": -0.4, "max_val": 0.6, "min_slope": 0.2,
                                                            "max_slope": 0.1})])
    yield "wavenet_hardtanh_limits", wavenet([array(activation={"name": "Hardtanh", "min_val": -0.5, "max_val": 0.5})])
    yield "wavenet_mixed", wavenet([array(kernel_sizes=[2, 5, 3], activation=["Tanh", "Softsign", "LeakyReLU"])])
    for kind in ("PairMultiply", "PairBlend"):
        yield f"wavenet_{kind.lower()}", wavenet(two_arrays(activation=gated(kind)))
        yield f"wavenet_{kind.lower()}_other", wavenet(two_arrays(activation=gated(kind, "ReLU", "Hardtanh")))
    yield "wavenet_bottleneck", wavenet([array(channels=8, bottleneck=3)])
    yield "wavenet_groups", wavenet([array(channels=8, groups_input=2, layer_1x1_config={"active": True, "groups": 4})])
    yield "wavenet_head1x1", wavenet([array(channels=8, bottleneck=4, head_1x1_config=one_by_one(6, groups=2))])
    yield "wavenet_head_taps", wavenet([array(head=head_of(1, 4, True))])
    yield "wavenet_films", wavenet([array(film_params=films())])
    yield "wavenet_films_no_shift", wavenet(two_arrays(film_params=films(shift=False)))
    yield "wavenet_films_gated", wavenet([array(activation=gated("PairBlend"), head_1x1_config=one_by_one(4),
                                                film_params=films((*FILMS, "head1x1_post_film", "layer1x1_post_film")))])
    yield "wavenet_film_behind_1x1", wavenet([array(film_params=films(("layer1x1_post_film",)))])
    yield "wavenet_no_1x1", wavenet([array(layer_1x1_config={"active": False})])
    yield "wavenet_post_head", wavenet([array(head=head_of(3, 2, True))],
                                       head={"channels": 4, "activation": "LeakyReLU", "out_channels": 1, "kernel_sizes": [3, 1, 2]})
    yield "wavenet_condition", wavenet([array(condition_size=2, groups_input_mixin=2, film_params=films(groups=2))], sample_rate=48000,
                                       condition_dsp={"name": "WaveNet", "config": {"layers_configs": [array(head=2)], "head_scale": 0.5}})
    yield "wavenet_slimmable", wavenet([array(channels=8, slimmable={"method": "slice_channels_uniform", "kwargs": {"allowed_channels": [2, 8]}})])
    sizes = [{"name": f"of{channels}", "config": {"layers_configs": [array(channels=channels)], "head_scale": 0.1}} for channels in (3, 6)]
    yield "wavenet_packed", ("PackedWaveNet", {"submodels": sizes, "sample_rate": 48000})


def random_weights(network):
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm1d):
                module.running_mean.normal_()
                module.running_var.uniform_(0.2, 2)


def result_of(network, x):
    """Behind silence; of a container: of its best network, which is what no --quality means."""
    with torch.no_grad():
        y = network(torch.from_numpy(np.concatenate([np.zeros(SILENCE, np.float32), x])), pad_start=True)
    return y.reshape(-1, SILENCE + SAMPLES)[-1, -SAMPLES:].numpy().reshape(1, SAMPLES, 1)


def sequential_file(path, parts):
    """As the player has it; what the trainer writes does not say whose weights are whose."""
    path.write_text(json.dumps({"version": "0.7.0", "metadata": {}, "architecture": "Sequential", "config": {"models": parts}, "weights": [],
                                "sample_rate": 48000}))


def export_sequential(folder, x):
    parts = [init(name, kwargs={"config": {**config, "sample_rate": 48000}})
             for name, config in (("ConvNet", {"channels": 4, "dilations": [1, 2]}), wavenet([array()]), ("LSTM", {"hidden_size": 4}))]
    files = []
    value = torch.from_numpy(np.concatenate([np.zeros(2 * SILENCE, np.float32), x]))
    for part in parts:
        random_weights(part)
        part.eval()
        part.export(folder.path, basename="part")
        files.append(json.loads((folder.path / "part.nam").read_text()))
        with torch.no_grad():
            value = part(value, pad_start=True)
    sequential_file(folder.path / "nam_sequential.nam", files)
    folder.add_named("nam_sequential", "nam", "nam", {"input": x.reshape(1, SAMPLES, 1)}, [value[-SAMPLES:].numpy().reshape(1, SAMPLES, 1)])


def main():
    folder = Folder(sys.argv[1])
    only = sys.argv[2:]
    x = (np.random.default_rng(3).standard_normal(SAMPLES) * 0.5).astype(np.float32)
    for name, (kind, config) in models():
        if only and name not in only:
            continue
        name = f"nam_{name}"
        try:
            network = init(kind, kwargs={"config": {"sample_rate": 48000, **config}})
            random_weights(network)
            network.eval()
            network.export(folder.path, basename=name)
            folder.add_named(name, "nam", "nam", {"input": x.reshape(1, SAMPLES, 1)}, [result_of(network, x)])
        except Exception as error:  # noqa: BLE001
            folder.failed(name, "nam", "nam", error)
    if not only or "sequential" in only:
        export_sequential(folder, x)
    folder.close()


main()
