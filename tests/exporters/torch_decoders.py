"""PyTorch networks of two layers that pass states or one step on: forecasters, sequence to sequence, lengths and masks, policies.

Entries as in torch_layers.py. SPDX-License-Identifier: Apache-2.0
"""
import torch
from torch import nn
from torch.nn import functional as F

from torch_layers import BATCH_FIRST, sequence
from torch_networks import Network, Network2, Network3, rnn


def one_step(m, x):  # the forecaster of every tutorial
    _, state = m["encoder"](x)
    y, _ = m["decoder"](x[:, -1:], state)
    return m["out"](y)


def autoregressive(m, x):
    _, h = m["encoder"](x)
    step, out = x[:, -1:], []
    for _ in range(4):
        y, h = m["decoder"](step, h)
        step = m["out"](y)
        out.append(step)
    return torch.cat(out, 1)


def by_cells(m, x):
    _, (h, c) = m["encoder"](x)
    h, c, step, out = h[-1], c[-1], x[:, -1], []
    for _ in range(4):
        h, c = m["decoder"](step, (h, c))
        step = m["out"](h)
        out.append(step)
    return torch.stack(out, 1)


def autoencoder(m, x):
    h = m["encoder"](x)[1][0][-1]
    return m["out"](m["decoder"](h.unsqueeze(1).repeat(1, x.shape[1], 1))[0])


def horizon(m, x):  # a fixed number of steps from the last state
    h = m["encoder"](x)[1][-1]
    return m["out"](m["decoder"](h.unsqueeze(1).expand(-1, 4, -1))[0])


def both_directions(m, x, y):
    h = m["encoder"](x)[1]
    return m["out"](m["decoder"](y, torch.tanh(m["bridge"](torch.cat([h[0], h[1]], -1))).unsqueeze(0))[0])


def layers_passed(m, x, y):
    _, state = m["encoder"](x)
    return m["out"](m["decoder"](y, state)[0])


def bahdanau(m, x, y):  # teacher forced, attention over the source at all steps of the target
    memory, h = m["encoder"](x)
    z = m["decoder"](y, h)[0]
    score = m["v"](torch.tanh(m["q"](z).unsqueeze(2) + m["k"](memory).unsqueeze(1))).squeeze(-1)
    return m["out"](torch.cat([z, score.softmax(-1) @ memory], -1))


def bahdanau_step(m, x, h, memory):  # ids [batch, 1], [1, batch, 10], [batch, 12, 10]
    score = m["v"](torch.tanh(m["q"](h[-1]).unsqueeze(1) + m["k"](memory)))
    context = (score.softmax(1) * memory).sum(1, keepdim=True)
    y, h = m["decoder"](torch.cat([m["table"](x), context], -1), h)
    return F.log_softmax(m["out"](y[:, 0]), -1), h


def split_window(m, x):  # past and future in one input, as temporal fusion transformers take them
    y, state = m["encoder"](x[:, :5])
    z, _ = m["decoder"](x[:, 5:], state)
    y = torch.cat([y, z], 1)
    return m["out"](F.layer_norm(y + F.glu(m["gate"](y), -1), (10,)))


def distribution(m, x, y):  # DeepAR: covariates, a table of series, location and scale
    z = m["rnn"](torch.cat([x, m["table"](y).unsqueeze(1).expand(-1, x.shape[1], -1)], -1))[0]
    return m["mean"](z), F.softplus(m["scale"](z)) + 1e-4


def mixture(m, x):
    pi, mu, sigma = m["out"](m["rnn"](x)[0]).chunk(3, -1)
    return pi.softmax(-1), mu, sigma.exp()


def decomposed(m, x):  # trend by a moving average, the rest by a layer
    trend = F.avg_pool1d(F.pad(x.transpose(1, 2), (2, 2), mode="replicate"), 5, 1).transpose(1, 2)
    return m["out"](m["rnn"](x - trend)[0]) + trend


def time_embedding(m, x):
    t = m["t"](x[..., :1])
    return m["rnn"](torch.cat([x, t[..., :1], torch.sin(t[..., 1:])], -1))[0]


def normalised(m, x):  # reversible instance normalization
    mean, scale = x.mean(1, keepdim=True), torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
    y = m["out"](m["rnn"]((x - mean) / scale)[0][:, -1:])
    return y * scale + mean


def patches(m, x):  # [batch, 12, 8] as 4 patches of 3 steps
    y = m["embed"](x.reshape(x.shape[0], 4, 24))
    return m["out"](m["rnn"](y)[1][-1])


def last_by_lengths(m, x, lengths):
    y = m["rnn"](x)[0]
    index = (lengths - 1).view(-1, 1, 1).expand(-1, 1, y.shape[2])
    return m["out"](y.gather(1, index).squeeze(1))


def last_by_rows(m, x, lengths):
    y = m["rnn"](x)[0]
    return m["out"](y[torch.arange(y.shape[0]), lengths - 1])


def packed(m, x, lengths):
    p = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    return nn.utils.rnn.pad_packed_sequence(m["rnn"](p)[0], batch_first=True, total_length=x.shape[1])[0]


def packed_final(m, x, lengths):
    p = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    h = m["rnn"](p)[1][0]
    return m["out"](torch.cat([h[-2], h[-1]], -1))


def masked_mean(m, x, mask):
    y = m["rnn"](x)[0] * mask.unsqueeze(-1)
    return m["out"](y.sum(1) / mask.sum(1, keepdim=True).clamp(min=1))


def mask_of_lengths(m, x, lengths):
    y = m["rnn"](x)[0]
    mask = torch.arange(x.shape[1]) < lengths[:, None]
    return y * mask.unsqueeze(-1)


def masked_attention(m, x, mask):
    y = m["rnn"](x)[0]
    score = m["score"](y).squeeze(-1).masked_fill(~mask, float("-inf"))
    return (score.softmax(1).unsqueeze(1) @ y).squeeze(1)


def policy_step(m, x, h, done):  # PPO's step: the state is cleared where an episode ended
    y, h = m["rnn"](torch.tanh(m["encode"](x)).unsqueeze(0), h * (1 - done).view(1, -1, 1))
    return torch.softmax(m["actor"](y[0]), -1), m["critic"](y[0]), h


def policy_cell(m, x, h, done):
    h = m["cell"](F.elu(m["encode"](x)), h * (1.0 - done))
    mean, log_std = m["actor"](h).chunk(2, -1)
    return torch.tanh(mean), log_std.clamp(-5, 2).exp(), h


def policy_loop(m, x, h, done):  # a rollout of 5 steps: [5, batch, 8], [batch, 10], [5, batch, 1]
    out = []
    for t in range(5):
        h = m["cell"](x[t], h * (1.0 - done[t]))
        out.append(h)
    return m["actor"](torch.stack(out)), h


def policy_where(m, x, h, done):
    h = torch.where(done > 0.5, torch.zeros_like(h), h)
    h = m["cell"](x, h)
    return m["actor"](h).argmax(-1), h


def world_model(m, x, h, action):  # Dreamer's recurrent state-space model, one step
    h = m["cell"](F.elu(m["inputs"](torch.cat([x, action], -1))), h)
    logits = m["prior"](F.elu(m["hidden"](h))).reshape(-1, 3, 4)
    return logits.softmax(-1).flatten(1), h


def pixels(m, x):  # [batch, steps, 1, 8, 8]
    b, t = x.shape[:2]
    y = m["cnn"](x.reshape(b * t, 1, 8, 8)).flatten(1).reshape(b, t, -1)
    return m["out"](m["rnn"](y)[0])


def siamese(m, x, y):
    a, b = m["rnn"](x)[1][-1], m["rnn"](y)[1][-1]
    return F.cosine_similarity(a, b, dim=1)


def tagger(m, x, chars):  # ids [batch, steps], characters [batch, steps, 6]
    b, t, c = chars.shape
    y = m["conv"](m["chars"](chars.reshape(b * t, c)).transpose(1, 2)).max(-1)[0].reshape(b, t, -1)
    return m["out"](m["rnn"](torch.cat([m["words"](x), y], -1))[0])


def tied(m, x):
    return m["back"](m["rnn"](m["table"](x))[0]) @ m["table"].weight.T


def documents(m, x):  # [batch, sentences, 5 words]
    b, s, w = x.shape
    y = m["words"](m["table"](x.reshape(b * s, w)))[0]
    y = (torch.softmax(m["score"](torch.tanh(y)), 1) * y).sum(1).reshape(b, s, -1)
    return m["out"](m["sentences"](y)[1][-1])


def transducer_step(m, x, h, frame):  # ids [batch, 1]
    y, h = m["rnn"](m["table"](x), h)
    return m["out"](torch.relu(m["a"](y) + m["b"](frame))).log_softmax(-1), h


def self_attention(m, x):
    y = m["rnn"](x)[0]
    return m["norm"](y + m["attention"](y, y, y, need_weights=False)[0])


def transformer(m, x):
    return m["layer"](m["rnn"](x)[0])


def window_step(m, x, h, kappa):  # Graves' handwriting window over 9 characters
    y, h = m["rnn"](x, h)
    a, b, k = m["window"](y[:, 0]).exp().chunk(3, -1)
    kappa = kappa + k
    u = torch.arange(9, dtype=torch.float32).view(1, 1, 9)
    phi = (a.unsqueeze(-1) * torch.exp(-b.unsqueeze(-1) * (kappa.unsqueeze(-1) - u) ** 2)).sum(1)
    return m["out"](torch.cat([y[:, 0], phi], -1)), h, kappa


def pyramid(m, x):  # listen, attend and spell: pairs of steps become one
    for name in ("a", "b"):
        x = m[name](x)[0]
        x = x.reshape(x.shape[0], x.shape[1] // 2, x.shape[2] * 2)
    return m["out"](x)


def decoder_models():
    x, y4 = sequence(7, 2, 8, True), sequence(4, 2, 8, True)
    time = {"x": BATCH_FIRST}
    two = {"x": BATCH_FIRST, "y": {0: "batch", 1: "steps_out"}}
    state = torch.randn(1, 2, 10)
    lin = nn.Linear
    for kind in (nn.LSTM, nn.GRU):
        name = kind.__name__.lower()
        yield f"forecast_one_step_{name}", Network(one_step, encoder=rnn(kind), decoder=rnn(kind), out=lin(10, 8)), (x,), time
        yield f"forecast_horizon_{name}", Network(horizon, encoder=rnn(), decoder=rnn(kind, 10), out=lin(10, 3)), (x,), time
        yield f"forecast_loop_{name}", Network(autoregressive, encoder=rnn(kind), decoder=rnn(kind), out=lin(10, 8)), (x,), time
        layers = {"encoder": rnn(kind, num_layers=2), "decoder": rnn(kind, num_layers=2), "out": lin(10, 8)}
        yield f"layers_passed_{name}", Network2(layers_passed, **layers), (x, y4), two
    yield "forecast_two_layers", Network(one_step, encoder=rnn(nn.LSTM, num_layers=2), decoder=rnn(nn.LSTM, num_layers=2), out=lin(10, 8)), (x,), time
    yield "forecast_cells", Network(by_cells, encoder=rnn(nn.LSTM), decoder=nn.LSTMCell(8, 10), out=lin(10, 8)), (x,), time
    yield "autoencoder_repeat", Network(autoencoder, encoder=rnn(nn.LSTM), decoder=rnn(nn.LSTM, 10), out=lin(10, 8)), (x,), time
    both = {"encoder": rnn(bidirectional=True), "bridge": lin(20, 10), "decoder": rnn(), "out": lin(10, 8)}
    yield "both_directions_passed", Network2(both_directions, **both), (x, y4), two
    attend = {"q": lin(10, 6), "k": lin(10, 6), "v": lin(6, 1)}
    yield "seq2seq_bahdanau", Network2(bahdanau, encoder=rnn(), decoder=rnn(), out=lin(20, 5), **attend), (x, y4), two
    step = Network3(bahdanau_step, table=nn.Embedding(20, 8), decoder=rnn(inputs=18), out=lin(10, 20), **attend)
    yield "seq2seq_bahdanau_step", step, (torch.randint(0, 20, (2, 1)), state, torch.randn(2, 12, 10)), {"x": {0: "batch"}, "y": {1: "batch"}, "z": {0: "batch"}}
    yield "split_window", Network(split_window, encoder=rnn(nn.LSTM), decoder=rnn(nn.LSTM), gate=lin(10, 20), out=lin(10, 3)), (x,), {"x": {0: "batch"}}
    deepar = Network2(distribution, rnn=rnn(nn.LSTM, 12, num_layers=2), table=nn.Embedding(9, 4), mean=lin(10, 1), scale=lin(10, 1))
    yield "deepar", deepar, (x, torch.randint(0, 9, (2,))), {"x": BATCH_FIRST, "y": {0: "batch"}}
    yield "mixture_density", Network(mixture, rnn=rnn(nn.LSTM), out=lin(10, 15)), (x,), time
    yield "trend_and_rest", Network(decomposed, rnn=rnn(), out=lin(10, 8)), (x,), time
    yield "time_embedding", Network(time_embedding, t=lin(1, 4), rnn=rnn(nn.LSTM, 12)), (x,), time
    yield "instance_normalised", Network(normalised, rnn=rnn(), out=lin(10, 8)), (x,), time
    yield "patches", Network(patches, embed=lin(24, 8), rnn=rnn(), out=lin(10, 3)), (sequence(12, 2, 8, True),), {"x": {0: "batch"}}
    lengths, by_row = torch.tensor([7, 4]), {"x": BATCH_FIRST, "y": {0: "batch"}}
    yield "last_by_gather", Network2(last_by_lengths, rnn=rnn(nn.LSTM), out=lin(10, 3)), (x, lengths), by_row
    yield "last_by_rows", Network2(last_by_rows, rnn=rnn(), out=lin(10, 3)), (x, lengths), by_row
    yield "packed_unsorted", Network2(packed, rnn=rnn(nn.LSTM, bidirectional=True)), (x, lengths.flip(0)), by_row
    yield "packed_final_state", Network2(packed_final, rnn=rnn(nn.LSTM, bidirectional=True), out=lin(20, 3)), (x, lengths.flip(0)), by_row
    mask, masks = torch.rand(2, 7) > 0.3, {"x": BATCH_FIRST, "y": BATCH_FIRST}
    yield "masked_mean", Network2(masked_mean, rnn=rnn(), out=lin(10, 3)), (x, mask.float()), masks
    yield "mask_of_lengths", Network2(mask_of_lengths, rnn=rnn()), (x, lengths), by_row
    yield "masked_attention", Network2(masked_attention, rnn=rnn(), score=lin(10, 1)), (x, mask), masks
    done = torch.tensor([0.0, 1.0])
    policy = Network3(policy_step, encode=lin(8, 8), rnn=nn.GRU(8, 10), actor=lin(10, 4), critic=lin(10, 1))
    yield "policy_step", policy, (torch.randn(2, 8), state, done), {"x": {0: "batch"}, "y": {1: "batch"}, "z": {0: "batch"}}
    rows = {"x": {0: "batch"}, "y": {0: "batch"}, "z": {0: "batch"}}
    args = (torch.randn(2, 8), state[0], done[:, None])
    yield "policy_cell", Network3(policy_cell, encode=lin(8, 8), cell=nn.GRUCell(8, 10), actor=lin(10, 6)), args, rows
    yield "policy_where", Network3(policy_where, cell=nn.GRUCell(8, 10), actor=lin(10, 6)), args, rows
    rollout = (torch.randn(5, 2, 8), state[0], (torch.rand(5, 2, 1) > 0.5).float())
    yield "policy_rollout", Network3(policy_loop, cell=nn.GRUCell(8, 10), actor=lin(10, 6)), rollout, {"x": {1: "batch"}, "y": {0: "batch"}, "z": {1: "batch"}}
    dreamer = Network3(world_model, inputs=lin(10, 8), cell=nn.GRUCell(8, 10), hidden=lin(10, 8), prior=lin(8, 12))
    yield "world_model_step", dreamer, (torch.randn(2, 8), state[0], torch.randn(2, 2)), rows
    cnn = nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ELU(), nn.Conv2d(4, 8, 3, 2, 1), nn.ELU())
    yield "pixels_policy", Network(pixels, cnn=cnn, rnn=rnn(inputs=32), out=lin(10, 4)), (torch.randn(2, 5, 1, 8, 8),), time
    yield "siamese", Network2(siamese, rnn=rnn()), (x, sequence(7, 2, 8, True)), masks
    ids = torch.randint(0, 20, (2, 7))
    words = {"words": nn.Embedding(20, 8), "chars": nn.Embedding(20, 4), "conv": nn.Conv1d(4, 5, 3, padding=1)}
    yield "tagger_of_characters", Network2(tagger, rnn=rnn(nn.LSTM, 13, bidirectional=True), out=lin(20, 5), **words), (ids, torch.randint(0, 20, (2, 7, 6))), masks
    yield "language_model_tied", Network(tied, table=nn.Embedding(20, 8), rnn=rnn(nn.LSTM, num_layers=2), back=lin(10, 8)), (ids,), time
    nested = {"table": nn.Embedding(20, 8), "words": rnn(bidirectional=True), "score": lin(20, 1), "sentences": rnn(inputs=20), "out": lin(10, 3)}
    yield "documents", Network(documents, **nested), (torch.randint(0, 20, (2, 3, 5)),), time
    transducer = Network3(transducer_step, table=nn.Embedding(20, 8), rnn=rnn(), a=lin(10, 6), b=lin(8, 6), out=lin(6, 20))
    yield "transducer_step", transducer, (ids[:, :1], state, torch.randn(2, 1, 8)), {"x": {0: "batch"}, "y": {1: "batch"}, "z": {0: "batch"}}
    yield "attention_residual", Network(self_attention, rnn=rnn(bidirectional=True), attention=nn.MultiheadAttention(20, 4, batch_first=True), norm=nn.LayerNorm(20)), (x,), time
    yield "transformer_behind", Network(transformer, rnn=rnn(), layer=nn.TransformerEncoderLayer(10, 2, 16, batch_first=True, dropout=0.0)), (x,), time
    handwriting = Network3(window_step, rnn=rnn(), window=lin(10, 9), out=lin(19, 5))
    yield "handwriting_step", handwriting, (torch.randn(2, 1, 8), state, torch.rand(2, 3)), {"x": {0: "batch"}, "y": {1: "batch"}, "z": {0: "batch"}}
    yield "pyramid", Network(pyramid, a=rnn(), b=rnn(inputs=20), out=lin(20, 5)), (sequence(8, 2, 8, True),), time
