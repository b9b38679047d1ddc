"""PyTorch models of one kind of recurrent layer each: plain, stacked, bidirectional, with states, as cells, packed.

Each entry: (name, module, example inputs, dynamic axes by input or None). SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn

TIME_FIRST = {0: "steps", 1: "batch"}
BATCH_FIRST = {0: "batch", 1: "steps"}


def sequence(steps, batch, features, batch_first=False):
    return torch.randn(batch, steps, features) if batch_first else torch.randn(steps, batch, features)


class LastStep(nn.Module):
    """Batch first; a dense layer on the last step's output."""

    def __init__(self, kind, **options):
        super().__init__()
        self.rnn = kind(6, 10, batch_first=True, **options)
        self.dense = nn.Linear(20 if options.get("bidirectional") else 10, 3)

    def forward(self, x):
        return self.dense(self.rnn(x)[0][:, -1])


class FinalState(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 10, batch_first=True)
        self.dense = nn.Linear(10, 3)

    def forward(self, x):
        return self.dense(self.rnn(x)[1][0][-1])


class BothFinalStates(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 10, batch_first=True, bidirectional=True)
        self.dense = nn.Linear(20, 3)

    def forward(self, x):
        h = self.rnn(x)[1]
        return torch.sigmoid(self.dense(torch.cat([h[-2], h[-1]], dim=1)))


class LearnedStart(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 10, batch_first=True)
        self.h0 = nn.Parameter(torch.randn(1, 1, 10))

    def forward(self, x):
        return self.rnn(x, self.h0.expand(-1, x.shape[0], -1).contiguous())[0]


class ZeroStart(nn.Module):
    """The state made by hand from x's sizes, as many tutorials have it."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 10, 2, batch_first=True)
        self.dense = nn.Linear(10, 3)

    def forward(self, x):
        h0 = torch.zeros(2, x.size(0), 10)
        c0 = torch.zeros(2, x.size(0), 10)
        return self.dense(self.rnn(x, (h0, c0))[0])


class CellLoop(nn.Module):
    """A Python loop over the steps of a cell: exporters unroll it."""

    def __init__(self, kind, learned=False):
        super().__init__()
        self.cell = kind(6, 10)
        self.lstm = kind is nn.LSTMCell
        self.start = nn.ParameterList([torch.randn(1, 10), torch.randn(1, 10)]) if learned else None

    def forward(self, x):
        h = torch.zeros(x.shape[1], 10)
        c = torch.zeros(x.shape[1], 10)
        if self.start is not None:
            h, c = (start.expand(x.shape[1], -1) for start in self.start)
        out = []
        for t in range(x.shape[0]):
            if self.lstm:
                h, c = self.cell(x[t], (h, c))
            else:
                h = self.cell(x[t], h)
            out.append(h)
        return torch.stack(out)


class JointCell(nn.Module):
    """A cell of one matrix for x and h side by side, written by hand."""

    def __init__(self, gru):
        super().__init__()
        self.gates = nn.Linear(16, 20 if gru else 40)
        self.candidate = nn.Linear(16, 10) if gru else None

    def forward(self, x):
        h = torch.zeros(x.shape[1], 10)
        c = torch.zeros(x.shape[1], 10)
        out = []
        for t in range(x.shape[0]):
            gates = self.gates(torch.cat([x[t], h], 1))
            if self.candidate is None:
                i, f, g, o = gates.chunk(4, 1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
            else:
                z, r = gates.sigmoid().chunk(2, 1)
                h = (1 - z) * self.candidate(torch.cat([x[t], r * h], 1)).tanh() + z * h
            out.append(h)
        return torch.stack(out)


class StaysReversed(nn.Module):
    """reversed and not back: the last step's result comes first."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 10, batch_first=True)
        self.dense = nn.Linear(10, 3)

    def forward(self, x):
        return self.dense(self.rnn(x.flip(1))[0])


class Steps(nn.Module):
    """One step of a cell with its state as input and output."""

    def __init__(self, kind):
        super().__init__()
        self.cell = kind(6, 10)
        self.dense = nn.Linear(10, 3)
        self.lstm = kind is nn.LSTMCell

    def forward(self, x, h, c=None):
        if self.lstm:
            h, c = self.cell(x, (h, c))
            return self.dense(h), h, c
        h = self.cell(x, h)
        return self.dense(h), h


class Packed(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = kind(6, 10, batch_first=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class Reversed(nn.Module):
    """A backward layer by flipping what goes in and what comes out."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 10, batch_first=True)

    def forward(self, x):
        return torch.flip(self.rnn(torch.flip(x, [1]))[0], [1])


class StackedByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.GRU(8, 8, batch_first=True) for _ in range(3)])
        self.norms = nn.ModuleList([nn.LayerNorm(8) for _ in range(3)])

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = x + layer(norm(x))[0]
        return x


class OneStateTensor(nn.Module):
    """A streaming step: the states of two layers in one tensor."""

    def __init__(self):
        super().__init__()
        self.a = nn.GRU(6, 10, batch_first=True)
        self.b = nn.GRU(10, 10, batch_first=True)

    def forward(self, x, states):
        y, h0 = self.a(x, states[0:1])
        y, h1 = self.b(y, states[1:2])
        return y, torch.cat([h0, h1], dim=0)


class ScriptedLoop(nn.Module):
    """Exported as ONNX's Loop."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 6)

    def forward(self, x):
        h = torch.zeros_like(x[0])
        out: list[torch.Tensor] = []
        for t in range(x.shape[0]):
            h = self.cell(x[t], h)
            out.append(h)
        return torch.stack(out)


class NormGru(nn.Module):
    """A GRU with layer normalisation inside, one step."""

    def __init__(self):
        super().__init__()
        self.x = nn.Linear(6, 30)
        self.h = nn.Linear(10, 30)
        self.nx, self.nh = nn.LayerNorm(30), nn.LayerNorm(30)

    def forward(self, x, h):
        xr, xz, xn = self.nx(self.x(x)).chunk(3, -1)
        hr, hz, hn = self.nh(self.h(h)).chunk(3, -1)
        r, z = torch.sigmoid(xr + hr), torch.sigmoid(xz + hz)
        return (1 - z) * torch.tanh(xn + r * hn) + z * h


class MinGru(nn.Module):
    def __init__(self):
        super().__init__()
        self.z, self.n = nn.Linear(6, 10), nn.Linear(6, 10)

    def forward(self, x, h):
        z = torch.sigmoid(self.z(x))
        return (1 - z) * h + z * self.n(x)


class Written(nn.Module):
    """Some features are overwritten before the layer: by zeros, or by others of their own."""

    def __init__(self, zeros):
        super().__init__()
        self.zeros, self.layer = zeros, nn.GRU(6, 10, batch_first=True)

    def forward(self, x):
        y = x.clone()
        if self.zeros:
            y[..., 2:4] = 0
        else:
            y[:, :, [4, 1]] = 2 * x[:, :, [0, 2]]
        return self.layer(y)[0]


def layer_models():
    seq, last = sequence(7, 2, 6), sequence(7, 2, 6, True)
    time_first, batch_first = {"x": TIME_FIRST}, {"x": BATCH_FIRST}
    state = torch.randn(1, 2, 10)
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        name = kind.__name__.lower()
        yield name, kind(6, 10), (seq,), time_first
        yield name + "_batch_first", kind(6, 10, batch_first=True), (last,), batch_first
        yield name + "_bidirectional", kind(6, 10, bidirectional=True), (seq,), time_first
        yield name + "_stacked_bidirectional", kind(6, 10, 2, bidirectional=True, batch_first=True), (last,), batch_first
        yield name + "_last_step", LastStep(kind), (last,), batch_first
    yield "lstm_unbatched", nn.LSTM(6, 10), (torch.randn(7, 6),), {"x": {0: "steps"}}
    yield "lstm_projected", nn.LSTM(6, 10, proj_size=4), (seq,), time_first
    yield "lstm_no_bias", nn.LSTM(6, 10, bias=False), (seq,), time_first
    yield "lstm_state", nn.LSTM(6, 10), (seq, (state, state.clone())), {"x": TIME_FIRST, "h": {1: "batch"}, "c": {1: "batch"}}
    yield "gru_state", nn.GRU(6, 10), (seq, state), {"x": TIME_FIRST, "h": {1: "batch"}}
    yield "gru_stacked3_dropout", nn.GRU(6, 10, 3, dropout=0.2), (seq,), time_first
    yield "rnn_relu", nn.RNN(6, 10, nonlinearity="relu"), (seq,), time_first
    yield "lstm_final_state", FinalState(), (last,), batch_first
    yield "gru_both_final_states", BothFinalStates(), (last,), batch_first
    yield "lstm_zero_start", ZeroStart(), (last,), batch_first
    yield "gru_learned_start", LearnedStart(), (last,), batch_first
    for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
        name = kind.__name__.lower()
        step = (torch.randn(2, 6),) + (torch.randn(2, 10),) * (2 if kind is nn.LSTMCell else 1)
        yield name + "_loop", CellLoop(kind), (seq,), {"x": {1: "batch"}}
        yield name + "_loop_learned_start", CellLoop(kind, learned=True), (seq,), {"x": {1: "batch"}}
        yield name + "_step", Steps(kind), step, {n: {0: "batch"} for n in ("x", "h", "c")[:len(step)]}
    yield "lstm_packed", Packed(nn.LSTM), (last, torch.tensor([7, 4])), {"x": BATCH_FIRST, "lengths": {0: "batch"}}
    yield "gru_packed", Packed(nn.GRU), (last, torch.tensor([7, 4])), {"x": BATCH_FIRST, "lengths": {0: "batch"}}
    yield "lstm_joint_matrix_loop", JointCell(gru=False), (seq,), {"x": {1: "batch"}}
    yield "gru_joint_matrix_loop", JointCell(gru=True), (seq,), {"x": {1: "batch"}}
    yield "gru_reversed_by_flip", Reversed(), (last,), batch_first
    yield "gru_stays_reversed", StaysReversed(), (last,), batch_first
    yield "gru_features_zeroed", Written(zeros=True), (last,), batch_first
    yield "gru_features_written", Written(zeros=False), (last,), batch_first
    yield "gru_residual_norm", StackedByHand(), (sequence(7, 2, 8, True),), batch_first
    yield "gru_two_states_in_one", OneStateTensor(), (sequence(1, 1, 6, True), torch.randn(2, 1, 10)), None
    yield "grucell_scripted_loop", torch.jit.script(ScriptedLoop()), (seq,), time_first
    yield "gru_layer_norm_step", NormGru(), (torch.randn(2, 6), torch.randn(2, 10)), {"x": {0: "batch"}, "h": {0: "batch"}}
    yield "mingru_step", MinGru(), (torch.randn(2, 6), torch.randn(2, 10)), {"x": {0: "batch"}, "h": {0: "batch"}}
