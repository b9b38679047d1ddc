"""PyTorch networks for sound: spectrogram denoisers with grouped and dual-path layers, waveform ones, keyword spotters, recognisers.

Entries as in torch_layers.py. SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn
from torch.nn import functional as F

from torch_layers import BATCH_FIRST, sequence
from torch_networks import Network, Network2, Network3, rnn

IMAGE = {"x": {0: "batch", 2: "steps"}}  # [batch, channels, steps, bins]


class GroupedRnn(nn.Module):
    """GTCRN's: two layers on half of the features each."""

    def __init__(self, inputs, hidden, bidirectional=False):
        super().__init__()
        half = {"batch_first": True, "bidirectional": bidirectional}
        self.a, self.b = nn.GRU(inputs // 2, hidden // 2, **half), nn.GRU(inputs // 2, hidden // 2, **half)

    def forward(self, x):
        a, b = torch.chunk(x, 2, dim=-1)
        return torch.cat([self.a(a)[0], self.b(b)[0]], dim=-1)


class DualPath(nn.Module):
    """GTCRN's DPGRNN: along the bins, then along the steps, each with a dense layer, a norm over bins and channels, and a residual."""

    def __init__(self, width, channels):
        super().__init__()
        self.width, self.channels = width, channels
        self.intra, self.inter = GroupedRnn(channels, channels // 2, True), GroupedRnn(channels, channels)
        self.intra_fc, self.inter_fc = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.intra_norm, self.inter_norm = nn.LayerNorm((width, channels)), nn.LayerNorm((width, channels))

    def forward(self, x):  # [batch, channels, steps, width]
        x = x.permute(0, 2, 3, 1)
        b, t, w, c = x.shape
        y = self.intra_fc(self.intra(x.reshape(b * t, w, c))).view(b, -1, w, c)
        x = x + self.intra_norm(y)
        y = self.inter_fc(self.inter(x.permute(0, 2, 1, 3).reshape(b * w, t, c)))
        y = self.inter_norm(y.view(b, w, -1, c).permute(0, 2, 1, 3))
        return (x + y).permute(0, 3, 1, 2)


class TimeAttention(nn.Module):
    """GTCRN's temporal recurrent attention: the energy of each channel, a layer over time, a gate."""

    def __init__(self, channels):
        super().__init__()
        self.rnn, self.fc = nn.GRU(channels, channels * 2, batch_first=True), nn.Linear(channels * 2, channels)

    def forward(self, x):
        z = torch.mean(x.pow(2), dim=-1)
        z = torch.sigmoid(self.fc(self.rnn(z.transpose(1, 2))[0])).transpose(1, 2)
        return x * z[..., None]


class CausalConv(nn.Module):
    def __init__(self, inputs, outputs, dilation=1, groups=1, kernel=(3, 3), stride=(1, 1)):
        super().__init__()
        self.pad = (kernel[1] // 2, kernel[1] // 2, (kernel[0] - 1) * dilation, 0)
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, dilation=(dilation, 1), groups=groups)
        self.norm, self.act = nn.BatchNorm2d(outputs), nn.PReLU()

    def forward(self, x):
        return self.act(self.norm(self.conv(F.pad(x, self.pad))))


def shuffle(x):
    a, b = x.chunk(2, 1)
    return torch.stack([a, b], 2).flatten(1, 2)


def grouped_denoiser(m, x):  # [batch, 2, steps, 16]
    y = torch.cat([torch.sqrt(x[:, :1] ** 2 + x[:, 1:] ** 2 + 1e-12), x], 1)
    y = torch.stack([y[..., :-2], y[..., 1:-1], y[..., 2:]], 1).flatten(1, 2)
    y = F.pad(y, (1, 1))
    e = m["down"](y)
    z = m["attention"](m["wide"](e))
    z = m["dual"](shuffle(z))
    z = m["up"](torch.cat([z, e], 1))
    mask = torch.tanh(m["mask"](z))
    return torch.stack([x[:, 0] * mask[:, 0] - x[:, 1] * mask[:, 1], x[:, 1] * mask[:, 0] + x[:, 0] * mask[:, 1]], 1)


def bands(m, x):  # [batch, 1, steps, 24]: low bins stay, high ones are merged by a fixed matrix and split again
    low, high = x[..., :8], x[..., 8:]
    y = torch.cat([low, m["merge"](high)], -1)
    y = m["dual"](m["conv"](y))
    y = m["back"](y)
    return x * torch.sigmoid(torch.cat([y[..., :8], m["split"](y[..., 8:])], -1))


def conv_recurrent(m, x):  # CRN: encoder, layer, decoder along the bins with skips
    a = F.elu(m["e1"](F.pad(x, (0, 0, 1, 0))))
    b = F.elu(m["e2"](F.pad(a, (0, 0, 1, 0))))
    n, c, t, f = b.shape
    y = m["rnn"](b.permute(0, 2, 1, 3).reshape(n, t, c * f))[0]
    y = y.reshape(n, t, c, f).permute(0, 2, 1, 3)
    y = F.elu(m["d2"](torch.cat([y, b], 1))[:, :, :-1])
    return torch.sigmoid(m["d1"](torch.cat([y, a], 1))[:, :, :-1])


def sub_bands(m, x):  # FullSubNet: each bin with its neighbours is a row
    n, t, f = x.shape
    full = torch.relu(m["full_out"](m["full"](x)[0]))
    near = torch.stack([F.pad(x, (2, 2))[..., i:i + f] for i in range(5)], -1)
    y = torch.cat([near, full.unsqueeze(-1)], -1)
    y = m["sub"](y.permute(0, 2, 1, 3).reshape(n * f, t, 6))[0]
    return m["out"](y).reshape(n, f, t, 2).permute(0, 2, 1, 3)


def noise_bands(m, x):  # RNNoise: three layers with inputs joined
    a = torch.tanh(m["dense"](x))
    b = m["vad"](a)[0]
    c = m["noise"](torch.cat([a, b, x], -1))[0]
    d = m["denoise"](torch.cat([b, c, x], -1))[0]
    return torch.sigmoid(m["gains"](d)), torch.sigmoid(m["vad_out"](b))


def perceptual(m, x):  # PercepNet: convolutions, then layers whose outputs are joined
    y = torch.tanh(m["c2"](F.pad(torch.tanh(m["c1"](F.pad(m["fc"](x).transpose(1, 2), (4, 0)))), (2, 0)))).transpose(1, 2)
    a = m["g1"](y)[0]
    b = m["g2"](a)[0]
    return torch.sigmoid(m["out"](torch.cat([y, a, b], -1)))


def deep_filter(m, x):  # grouped linear layers as einsum, a GRU, coefficients by step
    n, t, f = x.shape
    y = torch.relu(torch.einsum("btgi,gih->btgh", x.view(n, t, 4, f // 4), m["in"].weight.view(4, f // 4, 4)).flatten(2))
    y, _ = m["rnn"](y)
    y = y + m["skip"](x)
    return torch.tanh(m["out"](y)).view(n, t, 5, 2), torch.sigmoid(m["lsnr"](y)) * 50 - 15


def dual_signal_step(m, x, h, c):  # DTLN's first half, one frame: [1, 1, 16], states of two layers in one tensor
    y, (ha, ca) = m["a"](x, (h[:1], c[:1]))
    y, (hb, cb) = m["b"](y, (h[1:], c[1:]))
    return torch.sigmoid(m["mask"](y)) * x, torch.cat([ha, hb]), torch.cat([ca, cb])


def waveform(m, x):  # Demucs: [batch, 1, samples], strided encoder, layer, transposed decoder
    a = F.relu(m["e1"](x))
    b = F.glu(m["e2"](a), 1)
    y = m["rnn"](b.transpose(1, 2))[0].transpose(1, 2) + b
    return m["d1"](F.relu(m["d2"](y)) + a)


def tcn_gru(m, x):
    y = x.transpose(1, 2)
    for i, d in enumerate((1, 2, 4)):
        z = m[f"conv{i}"](F.pad(y, (2 * d, 0)))
        y = y + m[f"mix{i}"](F.tanh(z) * F.sigmoid(z))
    return m["rnn"](y.transpose(1, 2))[0]


def chomped(m, x):  # a TCN that pads on both sides and cuts the end
    y = x.transpose(1, 2)
    for i, d in enumerate((1, 2)):
        y = F.relu(m[f"conv{i}"](y)[..., :-2 * d]) + y
    return m["rnn"](y.transpose(1, 2))[1][-1]


def separable(m, x):
    y = F.relu(m["norm"](m["point"](m["depth"](F.pad(x.transpose(1, 2), (4, 0))))))
    return m["rnn"](y.transpose(1, 2))[0]


def mask_net(m, x):  # Conv-TasNet's norms around a layer
    y = F.group_norm(x.transpose(1, 2), 1)
    y = F.prelu(m["in"](y), torch.tensor([0.25]))
    y = m["rnn"](y.transpose(1, 2))[0].transpose(1, 2)
    return torch.relu(m["out"](y)) * x.transpose(1, 2)


def keyword(m, x):  # [batch, steps, 8]: convolution, layer, attention pooling
    y = F.relu(m["conv"](x.unsqueeze(1))).permute(0, 2, 1, 3).flatten(2)
    y = m["rnn"](y)[0]
    a = torch.softmax(m["v"](torch.tanh(m["w"](y))), 1)
    return m["out"](torch.bmm(a.transpose(1, 2), y).squeeze(1)).softmax(-1)


def speech(m, x):  # DeepSpeech 2: strided convolutions with hardtanh, layers with sums of directions, lookahead
    y = F.hardtanh(m["conv"](x), 0, 20)
    n, c, t, f = y.shape
    y = y.permute(0, 2, 1, 3).reshape(n, t, c * f)
    y = m["rnn"](y)[0]
    y = y.view(n, t, 2, -1).sum(2)
    y = F.hardtanh(m["look"](F.pad(y.transpose(1, 2), (0, 2))), 0, 20).transpose(1, 2)
    return F.log_softmax(m["out"](y), -1)


def stacked_frames(m, x):  # a transducer's encoder: two frames become one step
    n, t, f = x.shape
    y = m["a"](x.reshape(n, t // 2, 2 * f))[0]
    return m["b"](m["norm"](y))[0]


def highway(m, x):  # Tacotron's CBHG
    y = m["project"](torch.cat([F.relu(m["c1"](x.transpose(1, 2))), F.relu(m["c3"](x.transpose(1, 2)))], 1)).transpose(1, 2) + x
    for name in ("h1", "h2"):
        h, t = m[name](y).chunk(2, -1)
        t = torch.sigmoid(t)
        y = F.relu(h) * t + y * (1 - t)
    return m["rnn"](y)[0]


def detector_step(m, x, state):  # Silero: a fixed transform, convolutions, one cell; [batch, 64], [2, batch, 10]
    s = m["stft"](F.pad(x.unsqueeze(1), (0, 16), mode="reflect"))
    y = torch.sqrt(s[:, :9] ** 2 + s[:, 9:] ** 2)
    y = F.relu(m["conv"](y)).mean(-1)
    h, c = m["cell"](y, (state[0], state[1]))
    return torch.sigmoid(m["out"](F.relu(h))), torch.stack([h, c])


def squeeze_excite(m, x):
    y = m["rnn"](x)[0]
    return y * torch.sigmoid(m["up"](F.relu(m["down"](y.mean(1, keepdim=True)))))


class ConvCell(nn.Module):
    """ConvLSTM's step, and a loop over it."""

    def __init__(self, loop):
        super().__init__()
        self.loop, self.conv = loop, nn.Conv2d(2 + 3, 12, 3, padding=1)

    def step(self, x, h, c):
        i, f, o, g = self.conv(torch.cat([x, h], 1)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    def forward(self, x, h=None, c=None):
        if not self.loop:
            return self.step(x, h, c)
        h = c = x.new_zeros(x.shape[0], 3, x.shape[3], x.shape[4])
        out = []
        for t in range(x.shape[1]):
            h, c = self.step(x[:, t], h, c)
            out.append(h)
        return torch.stack(out, 1)


class ConvGru(nn.Module):
    def __init__(self):
        super().__init__()
        self.zr, self.n = nn.Conv2d(5, 6, 3, padding=1), nn.Conv2d(5, 3, 3, padding=1)

    def forward(self, x, h):
        z, r = self.zr(torch.cat([x, h], 1)).sigmoid().chunk(2, 1)
        return (1 - z) * h + z * self.n(torch.cat([x, r * h], 1)).tanh()


def denoiser_models():
    x, time, lin = sequence(7, 2, 8, True), {"x": BATCH_FIRST}, nn.Linear
    spectrum = torch.randn(2, 2, 7, 16)
    yield "dual_path_grouped", nn.Sequential(DualPath(5, 8)), (torch.randn(2, 8, 7, 5),), IMAGE
    yield "time_attention", nn.Sequential(TimeAttention(4)), (torch.randn(2, 4, 7, 5),), IMAGE
    parts = {"down": CausalConv(9, 8, stride=(1, 2)), "wide": CausalConv(8, 8, 2, 4), "attention": TimeAttention(8), "dual": DualPath(8, 8),
             "up": nn.ConvTranspose2d(16, 4, (1, 4), (1, 2), (0, 1)), "mask": nn.Conv2d(4, 2, 1)}
    yield "gtcrn_like", Network(grouped_denoiser, **parts), (spectrum,), IMAGE
    parts = {"merge": lin(16, 4, bias=False), "split": lin(4, 16, bias=False), "conv": CausalConv(1, 8), "dual": DualPath(12, 8), "back": nn.Conv2d(8, 1, 1)}
    yield "bands_dual_path", Network(bands, **parts), (torch.rand(2, 1, 7, 24),), IMAGE
    parts = {"e1": nn.Conv2d(2, 4, (2, 4), (1, 2), (0, 1)), "e2": nn.Conv2d(4, 6, (2, 4), (1, 2), (0, 1)), "rnn": rnn(nn.LSTM, 24, 24),
             "d2": nn.ConvTranspose2d(12, 4, (2, 4), (1, 2), (0, 1)), "d1": nn.ConvTranspose2d(8, 2, (2, 4), (1, 2), (0, 1))}
    yield "crn", Network(conv_recurrent, **parts), (spectrum,), IMAGE
    parts = {"full": rnn(nn.LSTM), "full_out": lin(10, 8), "sub": rnn(nn.LSTM, 6, 6), "out": lin(6, 2)}
    yield "full_and_sub_bands", Network(sub_bands, **parts), (x,), time
    parts = {"dense": lin(8, 6), "vad": rnn(inputs=6), "noise": rnn(inputs=24), "denoise": rnn(inputs=28, hidden=12), "gains": lin(12, 8), "vad_out": lin(10, 1)}
    yield "rnnoise_like", Network(noise_bands, **parts), (x,), time
    parts = {"fc": lin(8, 8), "c1": nn.Conv1d(8, 8, 5), "c2": nn.Conv1d(8, 8, 3), "g1": rnn(), "g2": rnn(inputs=10), "out": lin(28, 8)}
    yield "percepnet_like", Network(perceptual, **parts), (x,), time
    parts = {"in": lin(4, 8, bias=False), "rnn": rnn(inputs=16, num_layers=2), "skip": lin(8, 10), "out": lin(10, 10), "lsnr": lin(10, 1)}
    yield "deep_filter_like", Network(deep_filter, **parts), (x,), time
    parts = {"a": rnn(nn.LSTM, 16), "b": rnn(nn.LSTM, 10), "mask": lin(10, 16)}
    yield "dtln_step", Network3(dual_signal_step, **parts), (torch.randn(1, 1, 16), torch.randn(2, 1, 10), torch.randn(2, 1, 10)), None
    parts = {"e1": nn.Conv1d(1, 4, 4, 4), "e2": nn.Conv1d(4, 16, 2, 2), "rnn": rnn(nn.LSTM, 8, 8), "d2": nn.ConvTranspose1d(8, 4, 2, 2), "d1": nn.ConvTranspose1d(4, 1, 4, 4)}
    yield "demucs_like", Network(waveform, **parts), (torch.randn(2, 1, 56),), {"x": {0: "batch", 2: "samples"}}
    blocks = {f"conv{i}": nn.Conv1d(8, 8, 3, dilation=d) for i, d in enumerate((1, 2, 4))}
    blocks.update({f"mix{i}": nn.Conv1d(8, 8, 1) for i in range(3)})
    yield "tcn_gru", Network(tcn_gru, rnn=rnn(), **blocks), (x,), time
    blocks = {f"conv{i}": nn.Conv1d(8, 8, 3, dilation=d, padding=2 * d) for i, d in enumerate((1, 2))}
    yield "tcn_chomped", Network(chomped, rnn=rnn(), **blocks), (x,), time
    parts = {"depth": nn.Conv1d(8, 8, 5, groups=8), "point": nn.Conv1d(8, 12, 1), "norm": nn.BatchNorm1d(12), "rnn": rnn(inputs=12)}
    yield "separable_conv", Network(separable, **parts), (x,), time
    yield "mask_network", Network(mask_net, **{"in": nn.Conv1d(8, 6, 1), "rnn": rnn(inputs=6), "out": nn.Conv1d(10, 8, 1)}), (x,), time
    parts = {"conv": nn.Conv2d(1, 4, (3, 3), (1, 2), (1, 1)), "rnn": rnn(inputs=16), "w": lin(10, 6), "v": lin(6, 1), "out": lin(10, 3)}
    yield "keyword_attention", Network(keyword, **parts), (x,), time
    parts = {"conv": nn.Conv2d(1, 4, (3, 3), (2, 2), (1, 1)), "rnn": rnn(inputs=32, bidirectional=True), "look": nn.Conv1d(10, 10, 3, groups=10), "out": lin(10, 5)}
    yield "deepspeech_like", Network(speech, **parts), (torch.randn(2, 1, 8, 16),), IMAGE
    yield "stacked_frames", Network(stacked_frames, a=rnn(nn.LSTM, 16), norm=nn.LayerNorm(10), b=rnn(nn.LSTM, 10)), (sequence(8, 2, 8, True),), time
    parts = {"c1": nn.Conv1d(8, 4, 1), "c3": nn.Conv1d(8, 4, 3, padding=1), "project": nn.Conv1d(8, 8, 3, padding=1), "h1": lin(8, 16), "h2": lin(8, 16)}
    yield "highway_bidirectional", Network(highway, rnn=rnn(bidirectional=True), **parts), (x,), time
    parts = {"stft": nn.Conv1d(1, 18, 16, 8, bias=False), "conv": nn.Conv1d(9, 8, 3, padding=1), "cell": nn.LSTMCell(8, 10), "out": lin(10, 1)}
    yield "detector_step", Network2(detector_step, **parts), (torch.randn(2, 64), torch.randn(2, 2, 10)), {"x": {0: "batch"}, "y": {1: "batch"}}
    yield "squeeze_excite", Network(squeeze_excite, rnn=rnn(), down=lin(10, 4), up=lin(4, 10)), (x,), time
    yield "conv_lstm_loop", ConvCell(loop=True), (torch.randn(2, 4, 2, 5, 5),), {"x": {0: "batch"}}
    maps = {n: {0: "batch"} for n in "xhc"}
    yield "conv_lstm_step", ConvCell(loop=False), (torch.randn(2, 2, 5, 5), torch.randn(2, 3, 5, 5), torch.randn(2, 3, 5, 5)), maps
    yield "conv_gru_step", ConvGru(), (torch.randn(2, 2, 5, 5), torch.randn(2, 3, 5, 5)), {n: {0: "batch"} for n in "xh"}
    yield "lstm_projected_bidirectional", nn.LSTM(6, 10, 2, proj_size=4, bidirectional=True), (sequence(7, 2, 6),), {"x": {0: "steps", 1: "batch"}}
