"""PyTorch networks around recurrent layers: front ends, readers of images, attention, encoders and decoders, ids and masks.

Entries as in torch_layers.py. SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn
from torch.nn import functional as F

from torch_layers import BATCH_FIRST, sequence


class Network(nn.Module):
    """Modules by name and a function of (modules, inputs...)."""

    def __init__(self, function, **modules):
        super().__init__()
        self.parts = nn.ModuleDict(modules)
        self.function = function

    def forward(self, x):
        return self.function(self.parts, x)


class Network2(Network):
    def forward(self, x, y):
        return self.function(self.parts, x, y)


class Network3(Network):
    def forward(self, x, y, z):
        return self.function(self.parts, x, y, z)


def rnn(kind=nn.GRU, inputs=8, hidden=10, **options):
    return kind(inputs, hidden, batch_first=True, **options)


def conv_front(m, x):
    return m["rnn"](torch.relu(m["conv"](x.transpose(1, 2))).transpose(1, 2))[0]


def causal_front(m, x):
    return m["rnn"](torch.relu(m["conv"](F.pad(x.transpose(1, 2), (2, 0)))).transpose(1, 2))[0]


def image_front(m, x):  # [batch, 1, steps, bins]
    y = m["cnn"](x)
    return m["out"](m["rnn"](y.permute(0, 2, 1, 3).flatten(2))[0])


def text_reader(m, x):  # [batch, 1, height, width]
    y = m["cnn"](x)
    y = y.squeeze(2).permute(2, 0, 1)
    return F.log_softmax(m["out"](m["rnn"](y)[0]), dim=2)


def reader_cnn():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16),
                         nn.ReLU(), nn.MaxPool2d((2, 1), (2, 1)), nn.Conv2d(16, 16, (4, 2), bias=False), nn.ReLU())


def dual_path(m, x):  # [batch, steps, bins, channels]
    b, t, f, c = x.shape
    y = m["intra"](x.reshape(b * t, f, c))[0].reshape(b, t, f, c) + x
    z = m["inter"](y.permute(0, 2, 1, 3).reshape(b * f, t, c))[0].reshape(b, f, t, c).permute(0, 2, 1, 3)
    return z + y


def self_attention(m, x):
    y = m["rnn"](x)[0]
    return m["attention"](y, y, y, need_weights=False)[0]


def attention_pool(m, x):
    y = m["rnn"](x)[0]
    return m["out"]((torch.softmax(m["score"](y), dim=1) * y).sum(dim=1))


def luong_step(m, x, h, memory):  # [batch, 1, 8], [1, batch, 10], [batch, 12, 10]
    y, h = m["rnn"](x, h)
    weights = torch.softmax(torch.bmm(y, memory.transpose(1, 2)), dim=-1)
    return m["out"](torch.cat([y, torch.bmm(weights, memory)], dim=-1)), h


def grouped(m, x):
    a, b = torch.chunk(x, 2, dim=-1)
    return torch.cat([m["a"](a)[0], m["b"](b)[0]], dim=-1)


def speaker(m, x):
    y = torch.relu(m["out"](m["rnn"](x)[1][-1]))
    return y / torch.norm(y, dim=1, keepdim=True)


def beat_front(m, x):  # [batch, steps, 272]
    b, t, f = x.shape
    y = torch.relu(m["conv"](x.reshape(b * t, 1, f)))
    y = F.max_pool1d(y, 2).reshape(b, t, -1)
    return m["out"](m["rnn"](m["dense"](y))[0])


def masked_ids(m, ids, mask):
    y = m["rnn"](m["table"](ids))[0]
    return y.masked_fill(mask.unsqueeze(-1), 0.0)


def positions(m, x):
    t = torch.cumsum(torch.ones_like(x[:, :, :1]), dim=1)
    return m["rnn"](x + torch.sin(t * 0.1) + torch.cos(t * 0.2))[0]


def speech_mask(m, x):
    y = m["rnn"](torch.log1p(x.abs()))[0]
    return x * torch.sigmoid(m["out"](y))


def mean_deviation(m, x):
    y = m["rnn"](x)[0]
    return torch.cat([y.mean(dim=1), y.std(dim=1)], dim=1)


def network_models():
    x = sequence(7, 2, 8, True)
    time = {"x": BATCH_FIRST}
    ids = torch.randint(0, 20, (2, 7))
    conv = lambda **options: nn.Conv1d(8, 8, 3, **options)  # noqa: E731
    yield "front_conv_same", Network(conv_front, conv=conv(padding=1), rnn=rnn()), (x,), time
    yield "front_conv_causal", Network(causal_front, conv=conv(), rnn=rnn()), (x,), time
    yield "front_conv_valid", Network(conv_front, conv=conv(), rnn=rnn()), (x,), time
    yield "front_conv_strided", Network(conv_front, conv=conv(stride=2, padding=1), rnn=rnn()), (sequence(8, 2, 8, True),), time
    pooled = nn.Sequential(conv(padding=1), nn.ReLU(), nn.MaxPool1d(2))
    yield "front_conv_pooled", Network(conv_front, conv=pooled, rnn=rnn()), (sequence(8, 2, 8, True),), time
    cnn = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d((1, 2)))
    yield "front_conv2d", Network(image_front, cnn=cnn, rnn=rnn(nn.LSTM, 32), out=nn.Linear(10, 3)), (torch.randn(2, 1, 7, 16),), {"x": {0: "batch", 2: "steps"}}
    reader = lambda kind: Network(text_reader, cnn=reader_cnn(), rnn=kind(16, 10, bidirectional=True), out=nn.Linear(20, 12))  # noqa: E731
    for kind in (nn.LSTM, nn.GRU):
        yield "reader_" + kind.__name__.lower(), reader(kind), (torch.randn(2, 1, 16, 40),), {"x": {0: "batch", 3: "width"}}
    yield "dual_path", Network(dual_path, intra=nn.GRU(4, 2, bidirectional=True, batch_first=True), inter=rnn(nn.GRU, 4, 4)), (torch.randn(2, 7, 5, 4),), {"x": BATCH_FIRST}
    yield "attention_self", Network(self_attention, rnn=rnn(), attention=nn.MultiheadAttention(10, 2, batch_first=True)), (x,), time
    yield "attention_pool", Network(attention_pool, rnn=rnn(bidirectional=True), score=nn.Linear(20, 1), out=nn.Linear(20, 3)), (x,), time
    decoder = Network3(luong_step, rnn=rnn(), out=nn.Linear(20, 5))
    yield "decoder_luong_step", decoder, (torch.randn(2, 1, 8), torch.randn(1, 2, 10), torch.randn(2, 12, 10)), {"x": {0: "batch"}, "y": {1: "batch"}, "z": {0: "batch"}}
    encdec = Network2(lambda m, a, b: m["out"](m["decoder"](b, m["encoder"](a)[1])[0]), encoder=rnn(), decoder=rnn(), out=nn.Linear(10, 5))
    yield "encoder_decoder", encdec, (x, sequence(4, 2, 8, True)), {"x": BATCH_FIRST, "y": {0: "batch", 1: "steps_out"}}
    yield "grouped_gru", Network(grouped, a=rnn(inputs=4), b=rnn(inputs=4)), (x,), time
    yield "speaker_encoder", Network(speaker, rnn=rnn(nn.LSTM, num_layers=3), out=nn.Linear(10, 6)), (x,), time
    yield "beat_tracker", Network(beat_front, conv=nn.Conv1d(1, 2, 10), dense=nn.Linear(262, 20), rnn=rnn(nn.LSTM, 20), out=nn.Linear(10, 3)), (torch.randn(2, 7, 272),), time
    table = lambda: nn.Embedding(20, 8)  # noqa: E731
    yield "ids_int64", Network(lambda m, i: m["rnn"](m["table"](i))[0], table=table(), rnn=rnn(nn.LSTM)), (ids,), time
    yield "ids_int32", Network(lambda m, i: m["rnn"](m["table"](i))[0], table=table(), rnn=rnn(nn.LSTM)), (ids.int(),), time
    yield "ids_uint8", Network(lambda m, i: m["rnn"](m["table"](i.long()))[0], table=nn.Embedding(256, 8), rnn=rnn(nn.LSTM)), (ids.to(torch.uint8),), time
    yield "ids_padding_classifier", Network(lambda m, i: m["out"](m["rnn"](m["table"](i))[1][0][-1]), table=nn.Embedding(20, 8, padding_idx=0), rnn=rnn(nn.LSTM), out=nn.Linear(10, 2)), (ids,), time
    yield "features_int8", Network(lambda m, i: m["rnn"](i.float() * 0.05)[0], rnn=rnn()), (torch.randint(-100, 100, (2, 7, 8)).to(torch.int8),), time
    yield "ids_and_bool_mask", Network2(masked_ids, table=table(), rnn=rnn()), (ids, torch.rand(2, 7) > 0.5), {"x": BATCH_FIRST, "y": BATCH_FIRST}
    yield "half_precision", Network(lambda m, i: m["rnn"](i)[0], rnn=rnn()).half(), (x.half(),), time
    yield "double_precision", Network(lambda m, i: m["out"](m["rnn"](i)[0]), rnn=rnn(nn.LSTM), out=nn.Linear(10, 3)).double(), (x.double(),), time
    yield "positions_sin_cos", Network(positions, rnn=rnn()), (x,), time
    yield "pool_mean", Network(lambda m, i: m["rnn"](i)[0].mean(dim=1), rnn=rnn()), (x,), time
    yield "pool_max", Network(lambda m, i: m["rnn"](i)[0].max(dim=1)[0], rnn=rnn()), (x,), time
    yield "pool_mean_deviation", Network(mean_deviation, rnn=rnn()), (x,), time
    yield "speech_mask", Network(speech_mask, rnn=rnn(num_layers=2), out=nn.Linear(10, 8)), (x,), time
    yield "ctc_log_softmax", Network(lambda m, i: F.log_softmax(m["out"](m["rnn"](i)[0]), dim=-1), rnn=rnn(bidirectional=True), out=nn.Linear(20, 9)), (x,), time
    yield "class_by_argmax", Network(lambda m, i: m["out"](m["rnn"](i)[0]).argmax(dim=-1), rnn=rnn(), out=nn.Linear(10, 5)), (x,), time
    yield "classes_by_topk", Network(lambda m, i: torch.topk(m["out"](m["rnn"](i)[0]), 3, dim=-1), rnn=rnn(), out=nn.Linear(10, 5)), (x,), time
    yield "running_sum", Network(lambda m, i: torch.cumsum(m["rnn"](i)[0], dim=1), rnn=rnn()), (x,), time
    context = Network2(lambda m, i, s: m["rnn"](torch.cat([i, s.unsqueeze(1).expand(-1, i.shape[1], -1)], dim=-1))[0], rnn=rnn(inputs=12))
    yield "speaker_context", context, (x, torch.randn(2, 4)), {"x": BATCH_FIRST, "y": {0: "batch"}}
    yield "two_inputs", Network2(lambda m, a, b: m["rnn"](torch.cat([a, b], dim=-1))[0], rnn=rnn(inputs=12)), (x, sequence(7, 2, 4, True)), {"x": BATCH_FIRST, "y": BATCH_FIRST}
    yield "gated_linear", Network(lambda m, i: F.glu(m["out"](m["rnn"](i)[0])), rnn=rnn(), out=nn.Linear(10, 12)), (x,), time
    yield "silu_gelu", Network(lambda m, i: F.gelu(m["out"](F.silu(m["rnn"](i)[0]))), rnn=rnn(), out=nn.Linear(10, 6)), (x,), time
    yield "batch_norm", Network(lambda m, i: m["rnn"](m["norm"](i.transpose(1, 2)).transpose(1, 2))[0], norm=nn.BatchNorm1d(8), rnn=rnn()), (x,), time
    yield "einsum_mix", Network(lambda m, i: torch.einsum("btf,gf->btg", m["rnn"](i)[0], m["out"].weight), rnn=rnn(), out=nn.Linear(10, 6)), (x,), time
    yield "flatten_steps", Network(lambda m, i: m["out"](m["rnn"](i)[0].flatten(1)), rnn=rnn(), out=nn.Linear(70, 3)), (x,), {"x": {0: "batch"}}
    blocks = nn.Sequential(*[nn.Conv1d(8, 8, 3, padding=d, dilation=d) for d in (1, 2, 4)])
    yield "dilated_stack", Network(conv_front, conv=blocks, rnn=rnn()), (sequence(12, 2, 8, True),), time
