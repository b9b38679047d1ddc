"""Recurrent cells that PyTorch has no layer for, each as a loop over the steps (which exporters unroll) and as one step of a stream.

A cell has the sizes of its states and a forward(x, *states) -> (y, *states). Entries as in torch_layers.py.
SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn
from torch.nn import functional as F

from torch_layers import sequence

X, H = 6, 10


class Cell(nn.Module):
    sizes = (H,)

    def __init__(self):
        super().__init__()
        self.build()


def split(linear, count, *inputs):
    return linear(torch.cat(inputs, -1) if len(inputs) > 1 else inputs[0]).chunk(count, -1)


class NormLstm(Cell):
    """Layer normalization of the gates and of the cell state."""
    sizes = (H, H)

    def build(self):
        self.x, self.h = nn.Linear(X, 4 * H, bias=False), nn.Linear(H, 4 * H)
        self.nx, self.nh, self.nc = nn.LayerNorm(4 * H), nn.LayerNorm(4 * H), nn.LayerNorm(H)

    def forward(self, x, h, c):
        i, f, g, o = (self.nx(self.x(x)) + self.nh(self.h(h))).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * self.nc(c).tanh()
        return h, h, c


class Peephole(Cell):
    sizes = (H, H)

    def build(self):
        self.xh = nn.Linear(X + H, 4 * H)
        self.p = nn.Parameter(torch.randn(3, H) * 0.3)

    def forward(self, x, h, c):
        i, f, g, o = split(self.xh, 4, x, h)
        c2 = torch.sigmoid(f + self.p[0] * c) * c + torch.sigmoid(i + self.p[1] * c) * g.tanh()
        h = torch.sigmoid(o + self.p[2] * c2) * c2.tanh()
        return h, h, c2


class Coupled(Cell):
    """Input gate 1 - f."""
    sizes = (H, H)

    def build(self):
        self.xh = nn.Linear(X + H, 3 * H)

    def forward(self, x, h, c):
        f, g, o = split(self.xh, 3, x, h)
        f = f.sigmoid()
        c = f * c + (1 - f) * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, h, c


class Projected(Cell):
    sizes = (4, H)

    def build(self):
        self.xh, self.out = nn.Linear(X + 4, 4 * H), nn.Linear(H, 4, bias=False)

    def forward(self, x, h, c):
        i, f, g, o = split(self.xh, 4, x, h)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = self.out(o.sigmoid() * c.tanh())
        return h, h, c


class Mogrifier(Cell):
    sizes = (H, H)

    def build(self):
        self.cell = nn.LSTMCell(X, H)
        self.q, self.r = nn.Linear(H, X), nn.Linear(X, H)

    def forward(self, x, h, c):
        for _ in range(2):
            x = 2 * self.q(h).sigmoid() * x
            h = 2 * self.r(x).sigmoid() * h
        h, c = self.cell(x, (h, c))
        return h, h, c


class Multiplicative(Cell):
    sizes = (H, H)

    def build(self):
        self.mx, self.mh, self.xm = nn.Linear(X, H), nn.Linear(H, H), nn.Linear(X + H, 4 * H)

    def forward(self, x, h, c):
        i, f, o, g = split(self.xm, 4, x, self.mx(x) * self.mh(h))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, h, c


class Ordered(Cell):
    """ON-LSTM: gates that are cumulative sums of a softmax."""
    sizes = (H, H)

    def build(self):
        self.xh = nn.Linear(X + H, 6 * H)

    def forward(self, x, h, c):
        i, f, g, o, a, b = split(self.xh, 6, x, h)
        a, b = torch.cumsum(a.softmax(-1), -1), 1 - torch.cumsum(b.softmax(-1), -1)
        both = a * b
        c = (f.sigmoid() * both + a - both) * c + (i.sigmoid() * both + b - both) * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, h, c


class TimeAware(Cell):
    """T-LSTM: the last feature is the time since the last step."""
    sizes = (H, H)

    def build(self):
        self.cell, self.short = nn.LSTMCell(X, H), nn.Linear(H, H)

    def forward(self, x, h, c):
        part = self.short(c).tanh()
        c = c - part + part / torch.log(2.718281828 + x[:, -1:].abs())
        h, c = self.cell(x, (h, c))
        return h, h, c


class ReluGru(Cell):
    """Light GRU of speech toolkits: no reset gate, relu, batch normalization of the input part."""

    def build(self):
        self.x, self.h, self.norm = nn.Linear(X, 2 * H, bias=False), nn.Linear(H, 2 * H, bias=False), nn.BatchNorm1d(2 * H)

    def forward(self, x, h):
        z, n = (self.norm(self.x(x)) + self.h(h)).chunk(2, -1)
        z = z.sigmoid()
        h = z * h + (1 - z) * n.relu()
        return h, h


class MinimalGate(Cell):
    def build(self):
        self.f, self.n = nn.Linear(X + H, H), nn.Linear(X + H, H)

    def forward(self, x, h):
        f = self.f(torch.cat([x, h], 1)).sigmoid()
        h = (1 - f) * h + f * self.n(torch.cat([x, f * h], 1)).tanh()
        return h, h


class Decayed(Cell):
    """GRU-D: the state decays by a learned function of the time since the last step."""

    def build(self):
        self.cell, self.decay = nn.GRUCell(X, H), nn.Linear(1, H)

    def forward(self, x, h):
        h = self.cell(x, h * torch.exp(-F.relu(self.decay(x[:, -1:]))))
        return h, h


class Attentive(Cell):
    """AUGRU: an attention score scales the update gate."""

    def build(self):
        self.zr, self.n = nn.Linear(X + H, 2 * H), nn.Linear(X + H, H)

    def forward(self, x, h):
        z, r = split(self.zr, 2, x, h)
        z = z.sigmoid() * x[:, :1].sigmoid()
        n = self.n(torch.cat([x, r.sigmoid() * h], 1)).tanh()
        h = (1 - z) * h + z * n
        return h, h


class Independent(Cell):
    def build(self):
        self.x, self.u = nn.Linear(X, H), nn.Parameter(torch.rand(H))

    def forward(self, x, h):
        h = F.relu(self.x(x) + self.u * h)
        return h, h


class Simple(Cell):
    """SRU: all products before the loop, a highway around it."""
    sizes = (H,)

    def build(self):
        self.x, self.v, self.skip = nn.Linear(X, 3 * H), nn.Parameter(torch.randn(2, H)), nn.Linear(X, H, bias=False)

    def forward(self, x, c):
        u, f, r = self.x(x).chunk(3, -1)
        f, r = torch.sigmoid(f + self.v[0] * c), torch.sigmoid(r + self.v[1] * c)
        c = f * c + (1 - f) * u
        return r * c + (1 - r) * self.skip(x), c


class MinLstm(Cell):
    def build(self):
        self.x = nn.Linear(X, 3 * H)

    def forward(self, x, h):
        f, i, n = self.x(x).chunk(3, -1)
        f, i = f.sigmoid(), i.sigmoid()
        h = f / (f + i) * h + i / (f + i) * torch.where(n >= 0, n + 0.5, n.sigmoid())
        return h, h


class Leaky(Cell):
    """An echo state network."""

    def build(self):
        self.x, self.h = nn.Linear(X, H, bias=False), nn.Linear(H, H, bias=False)
        self.out = nn.Linear(X + H, 3)

    def forward(self, x, h):
        h = 0.7 * h + 0.3 * torch.tanh(self.x(x) + self.h(h))
        return self.out(torch.cat([x, h], 1)), h


class FastGated(Cell):
    """FastGRNN: one matrix for gate and candidate, low rank."""

    def build(self):
        self.w, self.u1, self.u2 = nn.Linear(X, H, bias=False), nn.Linear(H, 3, bias=False), nn.Linear(3, H, bias=False)
        self.bz, self.bh = nn.Parameter(torch.zeros(H)), nn.Parameter(torch.ones(H))
        self.zeta, self.nu = nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(-4.0))

    def forward(self, x, h):
        pre = self.w(x) + self.u2(self.u1(h))
        z = torch.sigmoid(pre + self.bz)
        h = z * h + (self.zeta.sigmoid() * (1 - z) + self.nu.sigmoid()) * torch.tanh(pre + self.bh)
        return h, h


class ClosedForm(Cell):
    """CfC: two heads mixed by a gate of time."""

    def build(self):
        self.base, self.heads = nn.Linear(X + H, 12), nn.Linear(12, 4 * H)

    def forward(self, x, h):
        y = 1.7159 * torch.tanh(0.666 * self.base(torch.cat([x, h], 1)))
        a, b, ta, tb = self.heads(y).chunk(4, -1)
        t = torch.sigmoid(ta.abs() * 1.0 + tb)
        h = a.tanh() * (1 - t) + t * b.tanh()
        return h, h


class Legendre(Cell):
    """LMU: a linear memory beside a nonlinear state."""
    sizes = (H, 5)

    def build(self):
        self.a, self.b = nn.Parameter(torch.randn(5, 5) * 0.2), nn.Parameter(torch.randn(1, 5))
        self.ex, self.eh, self.em = nn.Linear(X, 1, False), nn.Linear(H, 1, False), nn.Linear(5, 1, False)
        self.wx, self.wh, self.wm = nn.Linear(X, H, False), nn.Linear(H, H, False), nn.Linear(5, H, False)

    def forward(self, x, h, m):
        u = self.ex(x) + self.eh(h) + self.em(m)
        m = m @ self.a.T + u @ self.b
        h = torch.tanh(self.wx(x) + self.wh(h) + self.wm(m))
        return h, h, m


class Exponential(Cell):
    """xLSTM's sLSTM: exponential gates with a stabilizer and a normalizer."""
    sizes = (H, H, H, H)

    def build(self):
        self.xh = nn.Linear(X + H, 4 * H)

    def forward(self, x, h, c, n, m):
        i, f, z, o = split(self.xh, 4, x, h)
        f = F.logsigmoid(f)
        top = torch.maximum(f + m, i)
        i, f = torch.exp(i - top), torch.exp(f + m - top)
        c = f * c + i * z.tanh()
        n = f * n + i
        h = o.sigmoid() * c / n.clamp(min=1e-6)
        return h, h, c, n, top


class MatrixMemory(Cell):
    """xLSTM's mLSTM, one head."""
    sizes = ((4, 4), (4,))

    def build(self):
        self.qkv, self.gates = nn.Linear(X, 12), nn.Linear(X, 6)

    def forward(self, x, c, n):
        q, k, v = self.qkv(x).chunk(3, -1)
        i, f, o = self.gates(x).split([1, 1, 4], -1)
        i, f = torch.exp(i.clamp(max=2)), f.sigmoid()
        c = f.unsqueeze(-1) * c + i.unsqueeze(-1) * (v.unsqueeze(2) * k.unsqueeze(1))
        n = f * n + i * k
        y = torch.matmul(c, q.unsqueeze(2)).squeeze(2) / torch.clamp((n * q).sum(-1, keepdim=True).abs(), min=1.0)
        return o.sigmoid() * y, c, n


class Selective(Cell):
    """Mamba's scan: state per channel, B, C and step size from the input."""
    sizes = ((X, 4),)

    def build(self):
        self.a, self.d = nn.Parameter(torch.rand(X, 4).log()), nn.Parameter(torch.ones(X))
        self.bc, self.dt = nn.Linear(X, 8, bias=False), nn.Linear(X, X)

    def forward(self, x, h):
        b, c = self.bc(x).chunk(2, -1)
        dt = F.softplus(self.dt(x))
        h = torch.exp(dt.unsqueeze(-1) * -self.a.exp()) * h + (dt * x).unsqueeze(-1) * b.unsqueeze(1)
        return (h * c.unsqueeze(1)).sum(-1) + self.d * x, h


class Diagonal(Cell):
    """LRU and S5: a complex diagonal state, as two real ones."""
    sizes = (H, H)

    def build(self):
        self.nu, self.theta = nn.Parameter(torch.rand(H)), nn.Parameter(torch.rand(H))
        self.br, self.bi, self.cr, self.ci = nn.Linear(X, H, False), nn.Linear(X, H, False), nn.Linear(H, 3, False), nn.Linear(H, 3, False)

    def forward(self, x, re, im):
        size = torch.exp(-torch.exp(self.nu))
        a, b = size * torch.cos(self.theta), size * torch.sin(self.theta)
        gamma = torch.sqrt(1 - size * size)
        re, im = a * re - b * im + gamma * self.br(x), a * im + b * re + gamma * self.bi(x)
        return F.gelu(self.cr(re) - self.ci(im)), re, im


class GatedLinear(Cell):
    """Griffin's RG-LRU."""

    def build(self):
        self.x, self.gates, self.a = nn.Linear(X, H), nn.Linear(X, 2 * H), nn.Parameter(torch.rand(H))

    def forward(self, x, h):
        r, i = self.gates(x).sigmoid().chunk(2, -1)
        log_a = -8.0 * r * F.softplus(self.a)
        a = log_a.exp()
        h = a * h + torch.sqrt(1 - torch.exp(2 * log_a)) * (i * self.x(x))
        return h, h


class TimeMix(Cell):
    """RWKV: numerator, denominator and largest exponent, and the last input."""
    sizes = (X, X, X, X)

    def build(self):
        self.mix, self.w, self.u = nn.Parameter(torch.rand(3, X)), nn.Parameter(-torch.rand(X)), nn.Parameter(torch.rand(X))
        self.k, self.v, self.r, self.o = (nn.Linear(X, X, bias=False) for _ in range(4))

    def forward(self, x, last, a, b, p):
        k, v, r = (f(x * m + last * (1 - m)) for f, m in zip((self.k, self.v, self.r), self.mix))
        top = torch.maximum(p, self.u + k)
        e1, e2 = torch.exp(p - top), torch.exp(self.u + k - top)
        y = (e1 * a + e2 * v) / (e1 * b + e2 + 1e-9)
        top = torch.maximum(p + self.w, k)
        e1, e2 = torch.exp(p + self.w - top), torch.exp(k - top)
        return self.o(r.sigmoid() * y), x, e1 * a + e2 * v, e1 * b + e2, top


class Biquad(Cell):
    """A digital filter with learned coefficients."""
    sizes = (2, 2)

    def build(self):
        self.b, self.a = nn.Parameter(torch.randn(3)), nn.Parameter(torch.randn(2) * 0.2)

    def forward(self, x, old, out):
        y = self.b[0] * x[:, :1] + self.b[1] * old[:, :1] + self.b[2] * old[:, 1:] - self.a[0] * out[:, :1] - self.a[1] * out[:, 1:]
        return y, torch.cat([x[:, :1], old[:, :1]], 1), torch.cat([y, out[:, :1]], 1)


CELLS = {"norm_lstm": NormLstm, "peephole": Peephole, "coupled": Coupled, "projected": Projected, "mogrifier": Mogrifier,
         "multiplicative": Multiplicative, "ordered": Ordered, "time_aware": TimeAware, "relu_gru": ReluGru, "minimal_gate": MinimalGate,
         "decayed": Decayed, "attentive": Attentive, "independent": Independent, "simple": Simple, "minlstm": MinLstm, "leaky": Leaky,
         "fast_gated": FastGated, "closed_form": ClosedForm, "legendre": Legendre, "slstm": Exponential, "mlstm": MatrixMemory,
         "selective": Selective, "diagonal": Diagonal, "gated_linear": GatedLinear, "time_mix": TimeMix, "biquad": Biquad}


def starts(cell, batch):
    return [torch.zeros(batch, *(size if isinstance(size, tuple) else (size,))) for size in cell.sizes]


class Loop(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, x):  # [batch, steps, features]
        states, out = starts(self.cell, x.shape[0]), []
        for t in range(x.shape[1]):
            y, *states = self.cell(x[:, t], *states)
            out.append(y)
        return torch.stack(out, 1)


def cell_models():
    x = sequence(5, 2, X, True)
    for name, kind in CELLS.items():
        yield f"cell_{name}_loop", Loop(kind()), (x,), {"x": {0: "batch"}}
        cell = kind()
        args = (x[:, 0],) + tuple(torch.rand_like(s) for s in starts(cell, 2))
        names = ("x", "h", "c", "n", "m")[:len(args)]
        yield f"cell_{name}_step", cell, args, {n: {0: "batch"} for n in names}
