# SPDX-License-Identifier: Apache-2.0
"""The networks: raw 256-sample frames -> dense front layers -> GRU or LSTM -> dense. MatMul, Add, ReLU, Tanh only.

The first layer starts as four quarter-period phases of each mel band's windowed sweep, so ReLU and a sum give the
band's amplitude; the second feeds it to tanh at several gains some 15 dB apart, whose sum is close to a logarithm.
Both are trained from there. So a level-robust spectral front end needs no operator beyond a plain dense layer.
"""
import numpy as np
import torch
from torch import nn

from .augment import HOP
from .voices import RATE

BANDS, PHASES = 24, 4


def mel_edges():
    mel = np.linspace(2595 * np.log10(1 + 80 / 700), 2595 * np.log10(1 + 7600 / 700), BANDS + 1)
    return 700 * (10 ** (mel / 2595) - 1)


def band_filters():
    """[BANDS * PHASES][256]: a Hann-windowed sweep across each band; full scale in one band gives about 30."""
    edges, time = mel_edges(), np.arange(HOP) / RATE
    rows = []
    for low, high in zip(edges[:-1], edges[1:]):
        width = max(high - low - 125.0, 0.0)
        sweep = 2 * np.pi * ((low + high - width) / 2 * time + width / 2 * time ** 2 / (HOP / RATE))
        for phase in range(PHASES):
            rows.append(0.45 * np.hanning(HOP) * np.cos(sweep + phase * np.pi / 2))
    return torch.tensor(np.array(rows), dtype=torch.float32)


def compression(gains, step_db):
    """[BANDS * gains][BANDS * PHASES]: sums a band's phases and scales them for tanh at several levels."""
    weight = torch.zeros(BANDS * gains, BANDS * PHASES)
    for band in range(BANDS):
        for gain in range(gains):
            weight[band * gains + gain, band * PHASES:(band + 1) * PHASES] = 30.0 * 10 ** (-gain * step_db / 20)
    return weight


class FrontEnd(nn.Module):
    """x[T][B][256] -> features[T][B][BANDS * gains]; a negative offset puts the features' middle near zero"""

    def __init__(self, gains, step_db, offset):
        super().__init__()
        self.bands = nn.Linear(HOP, BANDS * PHASES)
        self.levels = nn.Linear(BANDS * PHASES, BANDS * gains)
        with torch.no_grad():
            self.bands.weight.copy_(band_filters())
            self.levels.weight.copy_(compression(gains, step_db))
            self.bands.bias.zero_()
            self.levels.bias.fill_(offset)

    def forward(self, x):
        return torch.tanh(self.levels(torch.relu(self.bands(x))))


class VoiceDetector(nn.Module):
    """frames[T][B][256] -> speech[T][B][1], a probability"""

    def __init__(self, hidden=48):
        super().__init__()
        self.front = FrontEnd(3, 20.0, 0.0)
        self.gru, self.head = nn.GRU(3 * BANDS, hidden), nn.Linear(hidden, 1)

    def logits(self, frames):
        return self.head(self.gru(self.front(frames))[0])

    def forward(self, frames):
        return torch.sigmoid(self.logits(frames))


class KeywordSpotter(nn.Module):
    """frames[T][B][256] -> scores[T][B][classes], summing to 1 over the classes"""

    def __init__(self, classes, hidden=64):
        super().__init__()
        self.front = FrontEnd(4, 14.0, -0.8)
        self.lstm, self.head = nn.LSTM(4 * BANDS, hidden, num_layers=2), nn.Linear(hidden, classes)
        with torch.no_grad():
            for bias in (self.lstm.bias_ih_l0, self.lstm.bias_ih_l1):
                bias[hidden:2 * hidden] += 1.0  # the forget gate starts open, to remember a whole word

    def logits(self, frames, state=None):
        hidden, state = self.lstm(self.front(frames), state)
        return self.head(hidden), state

    def forward(self, frames):
        return torch.softmax(self.logits(frames)[0], dim=-1)


def train(model, loss_of_batch, steps, peak_rate, report_every=50):
    """Adam with a short warm-up and a cosine decay. `loss_of_batch(step)` makes a batch and returns its loss."""
    optimiser = torch.optim.Adam(model.parameters(), lr=peak_rate)
    shape = lambda step: min(1.0, (step + 1) / 50) * (0.02 + 0.49 * (1 + np.cos(np.pi * step / steps)))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, shape)
    running = 0.0
    for step in range(steps):
        loss = loss_of_batch(step)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        running += float(loss.detach())
        if (step + 1) % report_every == 0:
            print(f"step {step + 1}/{steps}  loss {running / report_every:.4f}", flush=True)
            running = 0.0


def macs_per_step(model):
    """Multiply-accumulates of one step of one stream: every weight of every matrix is used once."""
    return sum(p.numel() for name, p in model.named_parameters() if "weight" in name)
