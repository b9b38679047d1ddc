"""PyTorch modules with loops that stay loops: torch's scan and while_loop, which dynamo exports as Scan and Loop.

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


def loop_models():
    x, time = sequence(7, 2, 8, batch_first=True), {"x": BATCH_FIRST}
    yield "scan_gru_cell", Scanned(nn.GRUCell(8, 10), 10), (x,), time
    yield "scan_rnn_cell_reverse", Scanned(nn.RNNCell(8, 10), 10, reverse=True), (x,), time
    yield "scan_decay", Scanned(Decay(), 8), (x,), time
    yield "while_loop_of_layers", Repeated(8), (x[:, 0].contiguous(),), {"x": {0: "batch"}}
