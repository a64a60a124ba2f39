"""Networks of sound, text, tables and noise, written as users of PyTorch write them: small ones,
with random weights."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from inputs import floats, ids
from vision import Block, conv, network


class Keywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 8, 80, 16), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(4),
            nn.Conv1d(8, 16, 3), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2))
        self.out = nn.Linear(16, 10)

    def forward(self, x):
        x = self.layers(x)
        x = F.avg_pool1d(x, x.shape[-1]).permute(0, 2, 1)
        return F.log_softmax(self.out(x), dim=2)


class Conformer(nn.Module):
    """Feed-forward, attention with a mask of lengths, and a gated convolution."""

    def __init__(self, width=16):
        super().__init__()
        self.first, self.last = [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 32), nn.SiLU(),
                                               nn.Linear(32, width)) for _ in range(2)]
        self.norm1, self.norm2, self.norm3 = [nn.LayerNorm(width) for _ in range(3)]
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.gate, self.depthwise = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(
            width, width, 7, padding=3, groups=width)
        self.norm, self.point = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)

    def forward(self, x, lengths):
        mask = torch.arange(x.shape[1])[None] >= lengths[:, None]
        x = x + 0.5 * self.first(x)
        y = self.norm1(x)
        x = x + self.attention(y, y, y, key_padding_mask=mask, need_weights=False)[0]
        y = F.glu(self.gate(self.norm2(x).transpose(1, 2)), dim=1)
        x = x + self.point(F.silu(self.norm(self.depthwise(y)))).transpose(1, 2)
        return self.norm3(x + 0.5 * self.last(x))


class Waves(nn.Module):
    """Convolutions of sound, of which the first has a group normalization, and positions by a
    grouped convolution with normalized weights, as in wav2vec 2.0."""

    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv1d(1, 16, 10, 5, bias=False), nn.GroupNorm(16, 16),
                                   nn.GELU(), nn.Conv1d(16, 16, 8, 4, bias=False), nn.GELU())
        self.places = weight_norm(nn.Conv1d(16, 16, 8, padding=4, groups=4), dim=2)
        self.block = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True)

    def forward(self, x):
        x = self.convs(x[:, None])
        x = x + F.gelu(self.places(x)[:, :, :-1])
        return self.block(x.transpose(1, 2))


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.ModuleList([nn.Conv1d(4, 8, 2, dilation=2 ** i) for i in range(3)])
        self.points = nn.ModuleList([nn.Conv1d(4, 4, 1) for _ in range(3)])

    def forward(self, x):
        skips = 0
        for i, (both, point) in enumerate(zip(self.filters, self.points)):
            a, b = both(F.pad(x, (2 ** i, 0))).chunk(2, dim=1)
            y = point(torch.tanh(a) * torch.sigmoid(b))
            skips = skips + y
            x = x + y
        return F.relu_(skips)


class Spectral(nn.Module):
    """Products in the frequency domain, and a mel-like filter bank of a spectrogram."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(33, 2))
        self.register_buffer("bank", torch.rand(33, 8))
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, x):
        lines = x.unfold(-1, 64, 32)
        spectrum = torch.fft.rfft(lines * self.window)
        power = torch.view_as_real(spectrum).pow(2).sum(-1)
        changed = torch.view_as_complex(torch.view_as_real(spectrum) * self.weight)
        return torch.log(power @ self.bank + 1e-3), torch.fft.irfft(changed, n=64)


class Recurrent(nn.Module):
    def __init__(self, make, directions=1):
        super().__init__()
        self.cells, self.out = make(), nn.Linear(8 * directions, 5)

    def forward(self, x):
        y, state = self.cells(x)
        return self.out(y), state


class Gpt(nn.Module):
    """A decoder whose embedding is its classifier, too."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.qkv, self.out, self.head = nn.Linear(16, 48), nn.Linear(16, 16), nn.Linear(
            16, 50, bias=False)
        self.norm = nn.LayerNorm(16)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, tokens):
        n, t = tokens.size()
        x = self.words(tokens) + self.places(torch.arange(0, t, dtype=torch.long))
        q, k, v = self.qkv(self.norm(x)).split(16, dim=2)
        q, k, v = [y.view(n, t, 4, 4).transpose(1, 2) for y in (q, k, v)]
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(n, t, 16)
        return self.head(x + self.out(y))


class Llama(nn.Module):
    """Rotary embeddings, grouped queries, RMS normalization and a gated product."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.q, self.k, self.v = [nn.Linear(32, n, bias=False) for n in (32, 16, 16)]
        self.norm1, self.norm2 = nn.RMSNorm(32, eps=1e-5), nn.RMSNorm(32)
        self.up, self.gate, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)

    def rotate(self, x):
        rates = 1.0 / 10000 ** (torch.arange(0, 8, 2).float() / 8)
        angles = torch.outer(torch.arange(x.shape[2]).float(), rates)
        cos, sin = [torch.cat((y, y), -1) for y in (angles.cos(), angles.sin())]
        half = torch.cat((-x[..., 4:], x[..., :4]), -1)
        return x * cos + half * sin

    def forward(self, tokens):
        x = self.words(tokens)
        n, t, _ = x.shape
        y = self.norm1(x)
        q, k, v = [p(y).view(n, t, -1, 8).transpose(1, 2) for p in (self.q, self.k, self.v)]
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True,
                                           enable_gqa=True)
        x = x + y.transpose(1, 2).reshape(n, t, 32)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Dlrm(nn.Module):
    """A recommender: bags of embeddings, dense features and the products of all pairs."""

    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(20, 8, mode=m) for m in ("sum", "mean", "max")])
        self.bottom = nn.Sequential(nn.Linear(5, 8), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(8 + 6, 4), nn.ReLU(), nn.Linear(4, 1), nn.Sigmoid())
        self.register_buffer("rows", torch.tril_indices(4, 4, offset=-1))

    def forward(self, dense, ids):
        x = self.bottom(dense)
        all_ = torch.stack([x] + [bag(ids[:, i]) for i, bag in enumerate(self.bags)], dim=1)
        products = torch.bmm(all_, all_.transpose(1, 2))[:, self.rows[0], self.rows[1]]
        return self.top(torch.cat([x, products], dim=1))


class WideDeep(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cross = nn.Embedding(30, 6), nn.Parameter(torch.randn(18, 18))
        self.deep = nn.Sequential(nn.Linear(18, 12), nn.ReLU(), nn.Dropout(0.5), nn.Linear(12, 1))

    def forward(self, ids):
        e = self.words(ids)
        pairs = 0.5 * (e.sum(1).square() - e.square().sum(1)).sum(-1, keepdim=True)
        flat = e.flatten(1)
        cross = torch.einsum("bi,ij->bj", flat, self.cross) * flat + flat
        return torch.sigmoid(pairs + self.deep(cross))


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.mean, self.spread = nn.Linear(20, 12), nn.Linear(12, 4), nn.Linear(12, 4)
        self.decode = nn.Sequential(nn.Linear(4, 12), nn.ELU(), nn.Linear(12, 20), nn.Sigmoid())

    def forward(self, x, noise):
        h = F.softplus(self.encode(x))
        mean, spread = self.mean(h), self.spread(h)
        loss = -0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())
        return {"image": self.decode(mean + noise * torch.exp(0.5 * spread)), "parts": (mean, loss)}


class Diffusion(nn.Module):
    """A block of a denoising network: an embedding of the time, groups, attention and resizing."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 8), nn.SiLU(), nn.Linear(8, 8))
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, 2, 1)
        self.norm, self.block = nn.GroupNorm(4, 8), Block(8, 2)
        self.up = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x, t):
        rates = torch.exp(-math.log(10000) * torch.arange(8, dtype=torch.float32) / 8)
        angles = t[:, None].float() * rates[None]
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        x = self.first(x) + time[:, :, None, None]
        x = self.second(F.silu(self.norm(x)))
        n, c, h, w = x.shape
        x = self.block(x.flatten(2).mT).mT.unflatten(2, (h, w))
        return self.up(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class Graph(nn.Module):
    """Messages along the edges of a graph, summed and maximized at their ends."""

    def __init__(self):
        super().__init__()
        self.lin, self.out = nn.Linear(6, 8), nn.Linear(16, 3)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        messages = self.lin(x)[source]
        total = torch.zeros(x.size(0), 8).index_add(0, target, messages)
        most = torch.zeros(x.size(0), 8).scatter_reduce(
            0, target[:, None].expand_as(messages), messages, "amax", include_self=False)
        return self.out(torch.cat([total, most], -1))


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(8, 4)
        self.weights = nn.Parameter(torch.randn(4, 8, 8))

    def forward(self, x):
        shares, chosen = torch.topk(self.router(x).softmax(-1), 2, dim=-1)
        shares = shares / shares.sum(-1, keepdim=True)
        picked = self.weights[chosen]
        return (shares[..., None] * torch.einsum("tkio,ti->tko", picked, x)).sum(1)


class Counted(nn.Module):
    """A module that keeps the mean of what it has seen, as a streaming filter does."""

    def __init__(self):
        super().__init__()
        self.register_buffer("history", torch.zeros(1, 4, 6))
        self.conv = nn.Conv1d(4, 3, 4)

    def forward(self, x):
        joined = torch.cat([self.history, x], -1)
        self.history.copy_(joined[:, :, -6:])
        return self.conv(joined)


class Operator(nn.Module):
    """A Fourier neural operator: products of the lowest frequencies, with complex weights."""

    def __init__(self, width=4, modes=5):
        super().__init__()
        self.modes, self.lift, self.out = modes, nn.Linear(2, width), nn.Linear(width, 1)
        self.weight = nn.Parameter(torch.randn(width, width, modes, dtype=torch.cfloat))
        self.point = nn.Conv1d(width, width, 1)

    def forward(self, x):
        x = self.lift(x).permute(0, 2, 1)
        lines = torch.fft.rfft(x)
        kept = torch.zeros_like(lines)
        kept[:, :, :self.modes] = torch.einsum(
            "bix,iox->box", lines[:, :, :self.modes], self.weight)
        x = torch.fft.irfft(kept, n=x.shape[-1]) + self.point(x)
        return self.out(F.gelu(x).permute(0, 2, 1))


class Blocks(nn.Module):
    """Blocks that change PyTorch's modes, and a function that is mapped over a batch."""

    def __init__(self):
        super().__init__()
        self.line, self.weight = nn.Linear(6, 6), nn.Parameter(torch.randn(6, 6))

    def forward(self, x):
        x = x.clone()
        with torch.enable_grad():
            angles = x.cos()
            x.mul_(2)
        with torch.no_grad():
            scores = torch.vmap(lambda row: (row @ self.weight * row).sum())(x)
        with torch.autocast("cpu", enabled=False):
            y = self.line(angles)
        columns = torch.vmap(lambda column: column - column.max(), 1)(x)
        return y + x, scores, columns


class Routed(nn.Module):
    """A mixture in which each expert computes its rows alone."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(8, 2)
        self.experts = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])

    def forward(self, x):
        chosen = self.router(x).argmax(-1)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            y[chosen == i] = expert(x[chosen == i])
        return y


FRAMES = dict(x=floats(2, 7, 6))
SEQUENCES = {
    "keywords": network(Keywords, x=floats(2, 1, 800)),
    "conformer": network(Conformer, x=floats(2, 9, 16), lengths=ids(2, low=4, high=9)),
    "waves": network(Waves, x=floats(2, 300)),
    "wavenet": network(WaveNet, x=floats(1, 4, 20)),
    "spectral": network(Spectral, x=floats(2, 256)),
    "lstm": network(lambda: Recurrent(lambda: nn.LSTM(6, 8, 2, batch_first=True)), **FRAMES),
    "lstm_two_ways": network(lambda: Recurrent(lambda: nn.LSTM(6, 8, bidirectional=True), 2),
                             **FRAMES),
    "gru": network(lambda: Recurrent(lambda: nn.GRU(6, 8, 2, bidirectional=True), 2), **FRAMES),
    "rnn": network(lambda: Recurrent(lambda: nn.RNN(6, 8, nonlinearity="relu")), **FRAMES),
    "rnn_tanh": network(lambda: Recurrent(lambda: nn.RNN(6, 8, bias=False)), **FRAMES),
    "gpt": network(Gpt, tokens=ids(2, 7, high=50, low=0)),
    "llama": network(Llama, tokens=ids(2, 7, high=50, low=0)),
    "dlrm": network(Dlrm, dense=floats(4, 5), ids=ids(4, 3, 6, high=20, low=0)),
    "wide_deep": network(WideDeep, ids=ids(4, 3, high=30, low=0)),
    "vae": network(Vae, x=floats(3, 20), noise=floats(3, 4)),
    "gan": network(lambda: nn.Sequential(
        nn.Linear(10, 4 * 16), nn.Unflatten(1, (4, 4, 4)), nn.BatchNorm2d(4), nn.ReLU(True),
        nn.ConvTranspose2d(4, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
        nn.ConvTranspose2d(8, 3, 3, 2, 1, 1), nn.Tanh()), x=floats(2, 10)),
    "critic": network(lambda: nn.Sequential(
        nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True), nn.InstanceNorm2d(8, affine=True),
        nn.utils.parametrizations.spectral_norm(nn.Conv2d(8, 1, 4)).eval(), nn.Flatten())),
    "diffusion": network(Diffusion, x=floats(2, 3, 8, 8), t=ids(2, high=100, low=1)),
    "graph": network(Graph, x=floats(9, 6), edges=ids(2, 20, high=9, low=0)),
    "blocks": network(Blocks, x=floats(3, 6)),
    "operator": network(Operator, x=floats(2, 16, 2)),
    "routed": network(Routed, x=floats(7, 8)),
    "mixture": network(Mixture, x=floats(5, 8)),
    "encoder": network(lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 4, 32), 2, enable_nested_tensor=False),
        x=floats(7, 2, 16)),
    "stream": network(Counted, x=floats(1, 4, 5)),
    "style": network(lambda: nn.Sequential(
        nn.ReflectionPad2d(4), nn.Conv2d(3, 8, 9), nn.InstanceNorm2d(8), conv(8, 8, 3, 2),
        nn.Upsample(scale_factor=2), nn.ReplicationPad2d(1), nn.Conv2d(8, 3, 3))),
}
