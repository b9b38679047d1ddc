"""Exports every PyTorch model by both exporters, as a user would: torch_models.py FOLDER [NAME...].

TorchScript's exporter with dynamic_axes, and dynamo's (the default) with fixed sizes and, for some, with dynamic ones.
SPDX-License-Identifier: Apache-2.0
"""
import itertools
import logging
import sys
import warnings

import numpy as np
import torch

from case import Folder
from torch_cells import cell_models
from torch_decoders import decoder_models
from torch_denoisers import denoiser_models
from torch_layers import layer_models
from torch_loops import loop_models
from torch_networks import network_models

DYNAMO_DYNAMIC = {"lstm", "gru_batch_first", "lstm_stacked_bidirectional", "lstm_last_step", "gru_state", "lstm_zero_start", "lstmcell_step",
                  "front_conv_causal", "front_conv2d", "reader_lstm", "dual_path", "attention_pool", "ids_int64", "speech_mask", "pool_mean",
                  "ctc_log_softmax", "speaker_context"}
SCRIPT_FIXED = {"lstm", "gru_batch_first", "lstm_last_step", "reader_lstm", "dual_path", "attention_self", "lstm_projected",
                "gru_features_zeroed", "gru_features_written"}
INPUTS = ("x", "y", "z")
STATES = ("x", "h", "c", "n", "m")


def flat(values):
    if isinstance(values, torch.Tensor):
        return [values]
    return list(itertools.chain.from_iterable(flat(v) for v in values))


def names_of(axes, count):
    return list(axes)[:count] if axes and len(axes) == count else list(STATES if count >= 3 else INPUTS)[:count]


def export(folder, name, model, args, axes, exporter, dynamic):
    title = f"{name}.{exporter}.{'dynamic' if dynamic else 'fixed'}"
    path = str(folder.model_path(title))
    names = names_of(axes, len(flat(args)))
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            expected = flat(model(*args))
            if exporter == "script":
                options = {"input_names": names, "dynamic_axes": axes if dynamic else None, "opset_version": 17}
                torch.onnx.export(model, args, path, dynamo=False, **options)
            elif dynamic:
                dims = {n: torch.export.Dim.AUTO for d in axes.values() for n in d.values()}
                shapes = [{axis: dims[n] for axis, n in axes.get(i, {}).items()} for i in names]
                nested, rest = [], iter(shapes)
                for arg in args:
                    nested.append(next(rest) if isinstance(arg, torch.Tensor) else tuple(next(rest) for _ in arg))
                torch.onnx.export(model, args, path, dynamic_shapes=tuple(nested), verbose=False)
            else:
                torch.onnx.export(model, args, path, verbose=False)
        folder.add(title, "PyTorch", exporter, [a.numpy() for a in flat(args)], [e.numpy() for e in expected])
    except Exception as error:  # noqa: BLE001: what an exporter cannot do is a row of the table
        folder.failed(title, "PyTorch", exporter, error)
    print(title, file=sys.stderr, flush=True)


def main():
    logging.disable(logging.WARNING)
    torch.manual_seed(1)
    np.random.seed(1)
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # has no ONNX form
    wanted = sys.argv[2:]
    folder = Folder(sys.argv[1])
    later = list(itertools.chain(decoder_models(), denoiser_models(), loop_models()))  # by dynamo with dynamic sizes too
    open_sizes = DYNAMO_DYNAMIC | {name for name, _, _, axes in later if axes}
    for name, model, args, axes in itertools.chain(layer_models(), network_models(), later, cell_models()):
        if wanted and name not in wanted:
            continue
        model.eval()
        scripted = isinstance(model, torch.jit.ScriptModule)
        export(folder, name, model, args, axes, "script", axes is not None)
        if name in SCRIPT_FIXED:
            export(folder, name, model, args, axes, "script", False)
        if scripted:
            continue
        export(folder, name, model, args, axes, "dynamo", False)
        if name in open_sizes:
            export(folder, name, model, args, axes, "dynamo", True)
    folder.close()


main()
