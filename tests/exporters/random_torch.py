"""Random PyTorch networks, exported by TorchScript's exporter or, one in ten, by dynamo's, and run by the Python package beside PyTorch.

SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import io
import random
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional

from random_networks import IDS, compared_with, main, series

DYNAMO_EVERY = 10
ACTIVATIONS = (nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.SiLU(), nn.ELU(), nn.Hardtanh(), nn.Softplus(), nn.LeakyReLU(0.2), nn.Hardswish(), nn.Mish(),
               nn.Softsign(), nn.LogSigmoid(), nn.Hardsigmoid(), nn.CELU(), nn.SELU(), nn.ReLU6(), nn.Tanhshrink(), nn.Softshrink(), nn.Hardshrink(),
               nn.Softmax(-1), nn.LogSoftmax(-1))


class Network(nn.Module):
    """Modules drawn one after the other, and how each is called."""

    def __init__(self, seed):
        super().__init__()
        self.random = r = random.Random(seed)
        torch.manual_seed(seed)
        self.time = r.choice([0, 1, 1])  # the axis of the steps; the other one is the batch
        self.features = self.width = r.choice([1, 2, 3, 6])
        self.table = nn.Embedding(IDS, r.choice([3, 5, 8])) if r.random() < 0.2 else None
        if self.table:
            self.width = self.table.embedding_dim
        self.parts, self.calls, self.has_layer, self.has_loop = nn.ModuleList(), [], False, False
        for _ in range(r.randint(1, 4)):
            self.draw()
        if not self.has_layer:
            self.add_layer()
        self.last = r.choice([None, lambda x: x.select(self.time, -1), lambda x: x.mean(self.time), lambda x: x.amax(self.time)])
        self.head = nn.Linear(self.width, r.choice([1, 3])) if r.random() < 0.7 else None
        self.gives_both = r.random() < 0.2
        for weight in self.parameters():
            nn.init.normal_(weight, 0, 0.4)
        for part in self.modules():
            if isinstance(part, nn.BatchNorm1d):
                part.running_mean.normal_(0, 0.4)
                part.running_var.uniform_(0.3, 1.5)
        self.eval()

    def add(self, call, part=None, width=None):
        """`call` of the module and x."""
        self.parts.append(nn.Identity() if part is None else part)
        self.calls.append(call)
        self.width = width or self.width

    def plain(self, part, width=None):
        self.add(lambda m, x: m(x), part, width)

    def over_channels(self, part, width=None, front=0):
        """A module that takes [batch, channels, steps]."""
        there, back = ((0, 2, 1), (0, 2, 1)) if self.time == 1 else ((1, 2, 0), (2, 0, 1))
        self.add(lambda m, x: m(functional.pad(x.permute(there), (front, 0))).permute(back), part, width)

    def recurrent(self, hidden, layers=1, directions=1):
        r = self.random
        kind, options = r.choice([nn.LSTM, nn.GRU, nn.RNN]), {}
        if kind is nn.RNN and r.random() < 0.4:
            options["nonlinearity"] = "relu"
        return kind(self.width, hidden, layers, bias=r.random() < 0.8, batch_first=self.time == 1, bidirectional=directions == 2, **options)

    def add_layer(self):
        r = self.random
        hidden, directions = r.choice([1, 3, 5, 8, 12, 16]), r.choice([1, 1, 2])
        self.has_layer = True
        self.add(lambda m, x: m(x)[0], self.recurrent(hidden, r.choice([1, 1, 2]), directions), hidden * directions)

    def add_states(self):
        """The second layer starts from the first one's states."""
        kind = self.random.choice([nn.LSTM, nn.GRU])
        pair = nn.ModuleList(kind(self.width, 5, batch_first=self.time == 1) for _ in range(2))
        self.add(lambda m, x: m[1](x, m[0](x)[1])[0], pair, 5)

    def add_loop(self):
        """A cell that a Python loop calls."""
        cell = self.random.choice([nn.LSTMCell, nn.GRUCell, nn.RNNCell])(self.width, 4)
        self.has_loop = True

        def run(m, x):
            state, out = None, []
            for step in x.unbind(self.time):
                state = m(step, state)
                out.append(state[0] if isinstance(state, tuple) else state)
            return torch.stack(out, self.time)
        self.add(run, cell, 4)

    def shifted(self, x, first):
        return torch.cat([first(x.narrow(self.time, 0, 1)), x.narrow(self.time, 0, x.shape[self.time] - 1)], self.time)

    def draw(self):
        r, width = self.random, self.width
        out, taps, far = r.choice([2, 4, 8]), r.choice([1, 3, 5]), r.choice([1, 2])
        draws = [
            self.add_layer, self.add_layer, self.add_states, self.add_loop,
            lambda: self.plain(nn.Sequential(nn.Linear(width, out, bias=r.random() < 0.8), r.choice(ACTIVATIONS)), out),
            lambda: self.over_channels(nn.Conv1d(width, out, taps, padding=far * (taps - 1) // 2, dilation=far), out),
            lambda: self.over_channels(nn.Conv1d(width, out, taps, dilation=far), out, front=far * (taps - 1)),
            lambda: self.over_channels(nn.BatchNorm1d(width)),
            lambda: self.over_channels(r.choice([nn.MaxPool1d, nn.AvgPool1d])(3, 1, 1)),
            lambda: self.plain(nn.LayerNorm(width, elementwise_affine=r.random() < 0.7)),
            lambda: self.plain(r.choice([nn.PReLU(), nn.Dropout(0.3), *ACTIVATIONS])),
            lambda: self.plain(nn.GLU(-1), width // 2) if width % 2 == 0 else None,
            lambda: self.add(lambda m, x: x + torch.tanh(m(x)), nn.Linear(width, width)),
            lambda: self.add(lambda m, x: torch.cat([x, m(x)[0]], -1), nn.GRU(width, 4, batch_first=self.time == 1), width + 4),
            lambda: self.add(lambda m, x: torch.einsum("abi,oi->abo", x, m.weight), nn.Linear(width, width, bias=False)),
            lambda: self.add(lambda m, x: x * torch.softmax(m(x).mean(-1, keepdim=True), self.time), nn.Linear(width, 4)),
            lambda: self.add(lambda m, x: torch.flip(x, [self.time])),
            lambda: self.add(lambda m, x: self.shifted(x, torch.zeros_like)),
            lambda: self.add(lambda m, x: x - self.shifted(x, lambda first: first)),
            lambda: self.add(lambda m, x: x * x[..., :1] * 2 + 1),
            lambda: self.add(lambda m, x: torch.stack([x, x * 2], -1).sum(-1)),
        ]
        r.choice(draws)()

    def forward(self, x):
        x = self.table(x) if self.table else x
        for call, part in zip(self.calls, self.parts):
            x = call(part, x)
        y = x if self.last is None else self.last(x)
        y = self.head(y) if self.head else y
        return (y, x * 2) if self.gives_both else y


def export(network, x, path, axes):
    if network.dynamo:
        shapes = ({axis: torch.export.Dim.DYNAMIC for axis in axes},) if axes else None
        try:
            torch.onnx.export(network, (x,), str(path), dynamo=True, input_names=["x"], dynamic_shapes=shapes, verbose=False)
        except torch.onnx.OnnxExporterError:  # it takes some layers for these sizes alone
            torch.onnx.export(network, (x,), str(path), dynamo=True, input_names=["x"], verbose=False)
    else:
        torch.onnx.export(network, (x,), str(path), dynamo=False, input_names=["x"], dynamic_axes={"x": axes} if axes else None,
                          opset_version=network.random.choice([13, 15, 17]))


def run_seed(seed, folder):
    """What came of its file, and a line about it."""
    network = Network(seed)
    r, batch = network.random, 1 - network.time
    network.dynamo = seed % DYNAMO_EVERY == 0
    shape = [0, 0] if network.table else [0, 0, network.features]
    shape[network.time], shape[batch] = r.choice([5, 6, 8]), r.choice([1, 2, 3])
    x = torch.from_numpy(series(seed, shape, np.int64))
    axes = {batch: "batch", network.time: "steps"} if not network.has_loop and r.random() < 0.7 else {}

    def run(values):
        with torch.no_grad():
            results = network(torch.from_numpy(values))
        return [each.numpy() for each in (results if isinstance(results, tuple) else (results,))]
    path = folder / "network.onnx"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            export(network, x, path, axes)
    except Exception as error:  # noqa: BLE001: what the exporter does not take
        return [("not exported", str(error).split("\n")[0][:80])]
    dims = onnx.load(path, load_external_data=False).graph.input[0].type.tensor_type.shape.dim
    sizes = {dim.dim_param: x.shape[axis] for axis, dim in enumerate(dims) if dim.dim_param}
    name = " ".join(type(part).__name__ for part in network.parts)
    return [compared_with(run, path, x.numpy(), run(x.numpy()), name, shape[batch], sizes)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sys.exit(main(run_seed, __doc__))
