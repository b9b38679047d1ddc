# SPDX-License-Identifier: Apache-2.0
"""torch's LSTMs with a projection (proj_size), which ONNX's LSTM does not have, as plain ones with dense layers behind them.

A cell makes m = o * tanh(c) and gives h = W_hr m, which the next step's gates read through R. R W_hr reads m itself: that is an LSTM
of hidden_size units whose state is m, with W_hr behind it for all steps at once. A start h0 becomes an m0 with W_hr m0 = h0.
"""
from __future__ import annotations

import copy
from typing import Any, Dict

import torch
from torch.nn.utils.rnn import PackedSequence

from ._errors import ModelError

_START_ERROR = 1e-4  # of W_hr m0 beside h0, each element, where h0 is of size 1


def replaced(module: Any) -> Any:
    """The module itself where nothing in it has a projection, else a copy."""
    if not any(_projects(part) for part in module.modules()):
        return module
    try:
        module = copy.deepcopy(module)
    except Exception as error:
        raise ModelError(f"torch does not copy the module, whose LSTMs with a projection are to be replaced: {error}") from error
    return _walk(module, "", {})


def _projects(part: Any) -> bool:
    return isinstance(part, torch.nn.LSTM) and part.proj_size > 0


def _walk(part: Any, name: str, made: Dict[Any, Any]) -> Any:
    if part not in made:  # what is used in two places stays one
        made[part] = _PlainLSTM(part, name) if _projects(part) else part
        for child, inner in part._modules.items():
            if inner is not None and made[part] is part:
                part._modules[child] = _walk(inner, f"{name}.{child}" if name else child, made)
    return made[part]


class _PlainLSTM(torch.nn.Module):  # type: ignore[misc]
    """Called as the nn.LSTM it is made from."""

    def __init__(self, lstm: Any, name: str) -> None:
        super().__init__()
        for fact in ("input_size", "hidden_size", "proj_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional"):
            setattr(self, fact, getattr(lstm, fact))
        self._ends = ["", "_reverse"] if lstm.bidirectional else [""]
        self.layers = torch.nn.ModuleList(self._layer(lstm, at) for at in range(lstm.num_layers))
        self._without_start = ""
        for at in range(lstm.num_layers):
            for d, end in enumerate(self._ends):
                weight = f"weight_hr_l{at}{end}"
                self._keep_projection(getattr(lstm, weight).detach(), at * len(self._ends) + d, f"{weight} of '{name}'")
        self.train(lstm.training)

    def _layer(self, lstm: Any, at: int) -> Any:
        weight = lstm.weight_ih_l0
        width = lstm.input_size if at == 0 else len(self._ends) * lstm.proj_size
        layer = torch.nn.LSTM(width, lstm.hidden_size, bias=lstm.bias, batch_first=lstm.batch_first, bidirectional=lstm.bidirectional,
                              device=weight.device, dtype=weight.dtype)
        with torch.no_grad():
            for end in self._ends:
                for part in ("weight_ih", "bias_ih", "bias_hh") if lstm.bias else ("weight_ih",):
                    getattr(layer, f"{part}_l0{end}").copy_(getattr(lstm, f"{part}_l{at}{end}"))
                product = getattr(lstm, f"weight_hh_l{at}{end}").double() @ getattr(lstm, f"weight_hr_l{at}{end}").double()
                getattr(layer, f"weight_hh_l0{end}").copy_(product)
        return layer

    def _keep_projection(self, weight: Any, index: int, name: str) -> None:
        inverse = torch.linalg.pinv(weight.double()).to(weight.dtype)
        near_one = weight.double() @ inverse.double()
        if (near_one - torch.eye(len(weight), dtype=near_one.dtype, device=near_one.device)).abs().max() > _START_ERROR:
            self._without_start = self._without_start or name
        self.register_buffer(f"project{index}", weight.clone())
        self.register_buffer(f"start{index}", inverse)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if hx is not None and self._without_start:
            raise ModelError(f"{self._without_start} has not full rank, so no start of the plain LSTM gives any h0: "
                             "call it without (h0, c0)")
        y, h, c = input, [], []
        for at, layer in enumerate(self.layers):
            own = range(at * len(self._ends), (at + 1) * len(self._ends))
            place = slice(own.start, own.stop)
            y, (m_last, c_last) = layer(y, None if hx is None else (self._rows("start", own, hx[0][place]), hx[1][place]))
            y = self._behind(y, own, at)
            h.append(self._rows("project", own, m_last))
            c.append(c_last)
        return y, (torch.cat(h), torch.cat(c))

    def _rows(self, matrix: str, own: range, rows: Any) -> Any:
        """Of each direction by its own matrix."""
        return torch.stack([torch.nn.functional.linear(rows[d], getattr(self, f"{matrix}{at}")) for d, at in enumerate(own)])

    def _behind(self, y: Any, own: range, at: int) -> Any:
        if isinstance(y, PackedSequence):
            return y._replace(data=self._behind(y.data, own, at))
        parts = [torch.nn.functional.linear(m, getattr(self, f"project{n}")) for m, n in zip(y.split(self.hidden_size, -1), own)]
        y = parts[0] if len(parts) == 1 else torch.cat(parts, -1)
        last = at + 1 == self.num_layers
        return y if last or not self.dropout else torch.nn.functional.dropout(y, self.dropout, self.training)

    def flatten_parameters(self) -> None:
        """What modules call before their LSTM."""
