"""PyTorch modules with loops and branches that stay so: torch's scan, while_loop and cond, which dynamo exports as Scan, Loop and If.

Entries as in torch_layers.py. SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

from torch_layers import BATCH_FIRST, sequence


class Scanned(nn.Module):
    """A cell over the steps of [batch, steps, features], from zeros."""

    def __init__(self, cell, width, reverse=False):
        super().__init__()
        self.cell, self.width, self.reverse = cell, width, reverse

    def forward(self, x):
        def step(h, now):
            h = self.cell(now, h)
            return h, h.clone()
        return scan(step, x.new_zeros(x.shape[0], self.width), x.transpose(0, 1), reverse=self.reverse)[1].transpose(0, 1)


class Decay(nn.Module):
    def forward(self, x, h):
        return 0.9 * h + 0.1 * torch.tanh(x)


class Repeated(nn.Module):
    """A layer four times."""

    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, torch.tanh(self.layer(h))), (torch.tensor(0), x))[1]


class Chosen(nn.Module):
    """A layer, or the tensor as it is: by a number beside the sequence, or by its own mean."""

    def __init__(self, layer, own=False):
        super().__init__()
        self.layer, self.own, self.head = layer, own, nn.Linear(8, 3)

    def forward(self, x, gain=None):
        number = x.mean() if self.own else gain.sum()
        return self.head(torch.cond(number > 0.1, self.layer, lambda x: 0.5 * x, (x,)))


def loop_models():
    x, time = sequence(7, 2, 8, batch_first=True), {"x": BATCH_FIRST}
    yield "scan_gru_cell", Scanned(nn.GRUCell(8, 10), 10), (x,), time
    yield "scan_rnn_cell_reverse", Scanned(nn.RNNCell(8, 10), 10, reverse=True), (x,), time
    yield "scan_decay", Scanned(Decay(), 8), (x,), time
    yield "while_loop_of_layers", Repeated(8), (x[:, 0].contiguous(),), {"x": {0: "batch"}}
    for gain in (0.0, 1.0):
        yield f"cond_dense_{gain:g}", Chosen(nn.Linear(8, 8)), (x, torch.tensor([gain])), time
    yield "cond_own_mean", Chosen(nn.Linear(8, 8), own=True), (x[:1, 0].contiguous(),), {}
