"""PyTorch: the operator itself (torch.lstm and friends), without nn.Module around it; its LSTM runs on oneDNN.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import numpy as np

import torch as framework
from suite.cases import Case
from suite.rows import Row

from .gate_order import reorder, split_bias
from .prepared import Prepared, Unsupported

VERSION = framework.__version__
ORDER = {"lstm": "ifco", "gru_lbr": "rzh", "rnn_tanh": "h", "rnn_relu": "h"}


def load(case: Case, threads: int) -> Prepared:
    row = case.row
    if row.cell not in ORDER:
        raise Unsupported("PyTorch has no GRU with linear_before_reset = 0")
    framework.set_num_threads(threads)
    framework.set_grad_enabled(False)
    x = framework.from_numpy(case.x)
    weights = _flat_weights(case)
    zero = framework.zeros(row.layers * row.directions, row.batch, row.hidden)
    state = (zero, zero.clone()) if row.cell == "lstm" else zero
    operator = {"lstm": framework.lstm, "gru_lbr": framework.gru, "rnn_tanh": framework.rnn_tanh, "rnn_relu": framework.rnn_relu}[row.cell]
    bidirectional = row.directions == 2

    def run():
        return operator(x, state, weights, True, row.layers, 0.0, False, bidirectional, False)

    return Prepared(run, lambda: run()[0].numpy().copy(), lambda: x.view(x.shape))


def _flat_weights(case: Case) -> list[framework.Tensor]:
    flat = []
    for layer in case.layers:
        for direction in range(case.row.directions):
            bias = split_bias(case.row, layer, direction)
            for part in (layer.w[direction], layer.r[direction], *bias):
                flat.append(framework.from_numpy(reorder(case.row, np.asarray(part), ORDER[case.row.cell])))
    return flat
