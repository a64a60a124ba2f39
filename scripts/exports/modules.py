"""Plain PyTorch modules with random weights. Each makes exporters write certain operators."""

import torch
import torch.nn.functional as F
from torch import nn

from flat import Flat
from inputs import Inputs, floats, ids, pixels


class Module:
    """A module and its inputs. `make` is called after the random seed has been set."""

    def __init__(self, make, **specs):
        self.make, self.inputs = make, Inputs(**specs)

    def build(self):
        return Flat(self.make())


class Function(nn.Module):
    """A function of its inputs, followed by parameters of these shapes."""

    def __init__(self, function, *shapes):
        super().__init__()
        self.function = function
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(s)) for s in shapes])

    def forward(self, *values):
        return self.function(*values, *self.weights)


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.layers(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU())
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.ReLU(),
                                  nn.ConvTranspose2d(16, 8, 2, 2))
        self.up = nn.Upsample(scale_factor=2, mode="bilinear")
        self.out = nn.Conv2d(19, 4, 3, padding=1)

    def forward(self, x):
        shallow = self.down(x)
        joined = torch.cat([shallow, self.deep(shallow)], 1)
        return self.out(torch.cat([self.up(joined), x], 1)).argmax(1), self.up(joined)


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, 4, 1), nn.ReLU(),
                                  nn.Conv2d(4, channels, 1), nn.Hardsigmoid())

    def forward(self, x):
        return x * self.gate(x)


class Experts(nn.Module):
    """A router that chooses two of four experts, all of which are computed."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 4)
        self.up, self.down = [nn.Parameter(torch.randn(4, *s)) for s in ((16, 24), (24, 16))]

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2)
        shares = torch.zeros_like(self.router(x)).scatter(-1, chosen, weights)
        hidden = F.gelu(torch.einsum("bld,edh->bleh", x, self.up))
        return torch.einsum("bleh,ehd,ble->bld", hidden, self.down, shares)


class Decoder(nn.Module):
    """Attention with a causal mask that the module computes."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        mask = torch.triu(torch.full((tokens.shape[1],) * 2, float("-inf")), 1)
        return x + self.attention(x, x, x, attn_mask=mask, need_weights=False)[0]


class Recurrence(nn.Module):
    """A cell that is called in a Python loop."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 8)

    def forward(self, x):
        state, states = torch.zeros(x.shape[0], 8), []
        for step in x.unbind(1):
            state = self.cell(step, state)
            states.append(state)
        return torch.stack(states, 1)


def rotate(x, table):
    """Rotary embedding."""
    angles = torch.arange(x.shape[1]).float()[:, None] * table.abs()
    even, odd = x[..., ::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def shift_windows(x):
    """The windows of a shifted image, as in Swin."""
    n, h, w, c = x.shape
    x = torch.roll(x, (-2, -2), (1, 2)).view(n, h // 4, 4, w // 4, 4, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)


def spectrum(x):
    window = torch.hann_window(64)
    return torch.stft(x, 64, 16, window=window, return_complex=True).abs()


def find_boxes(x, anchors):
    """The boxes, scores and classes that a detector's map of offsets describes."""
    n = x.shape[0]
    x = x.view(n, 3, 9, 8, 8).permute(0, 1, 3, 4, 2)
    y, z = torch.meshgrid(torch.arange(8.), torch.arange(8.), indexing="ij")
    centers = x[..., :2].sigmoid() + torch.stack([z, y], -1)
    sizes = x[..., 2:4].clamp(max=4).exp() * anchors[:, None, None].abs()
    scores, classes = x[..., 4:].softmax(-1).max(-1)
    return torch.cat([centers - sizes / 2, centers + sizes / 2], -1), scores, classes


IMAGES = dict(x=pixels(16))
VECTORS = dict(x=floats("batch", 24))
FRAMES = dict(x=floats("batch", "length", 16))
SOUND = dict(x=floats("batch", 4, 32))
VOLUME = dict(x=floats("batch", 2, 8, 8, 8))
TWO = dict(x=floats("batch", "length", 16), y=floats("batch", "length", 16))


def function(call, *shapes, **specs):
    return Module(lambda: Function(call, *shapes), **(specs or FRAMES))


def layers(*made, **specs):
    """A module that runs layers one after another. `made` are functions without arguments that
    create them."""
    return Module(lambda: nn.Sequential(*[make() for make in made]), **(specs or IMAGES))


def layer(make):
    return Module(make, **FRAMES)


MODULES = {
    "mlp": layers(lambda: nn.Linear(24, 32), nn.ReLU, lambda: nn.LayerNorm(32), nn.Tanh,
                  lambda: nn.Linear(32, 5), lambda: nn.LogSoftmax(-1), **VECTORS),
    "activations": function(lambda x: torch.cat([
        F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.mish(x), F.elu(x), F.selu(x),
        F.celu(x, 0.7), F.hardswish(x), F.hardtanh(x), F.softplus(x, 2), F.softsign(x),
        F.leaky_relu(x, 0.2), F.relu6(x), F.logsigmoid(x), F.tanhshrink(x), F.hardshrink(x),
        F.softshrink(x)], -1)),
    "arithmetic": function(lambda x, y: (
        torch.atan2(x, y), torch.fmod(x, 0.7), torch.remainder(x, 0.7), torch.floor_divide(x, y),
        x.abs().pow(y), torch.logaddexp(x, y), torch.lerp(x, y, 0.3), torch.hypot(x, y),
        x.sign() * x.abs().rsqrt(), torch.expm1(x), torch.log1p(x.abs()), x.frac(), x.trunc(),
        torch.where(x > y, x, y), torch.maximum(x, y), torch.isnan(x / y), x.round(decimals=1),
        torch.nan_to_num(x / 0)), **TWO),
    "attention": Module(lambda: nn.MultiheadAttention(16, 4, batch_first=True), **TWO,
                        z=floats("batch", "length", 16)),
    "attention_scaled": function(lambda x, y: F.scaled_dot_product_attention(
        x.unflatten(-1, (4, 4)).transpose(1, 2), y.unflatten(-1, (4, 4)).transpose(1, 2),
        y.unflatten(-1, (4, 4)).transpose(1, 2), is_causal=True), **TWO),
    "bilinear_form": function(F.bilinear, (7, 16, 16), (7,), **TWO),
    "boxes": function(find_boxes, (3, 2), x=floats("batch", 27, 8, 8)),
    "bucketize": function(lambda x: torch.bucketize(x, torch.linspace(-2, 2, 9))),
    "circular": layers(lambda: nn.Conv2d(3, 8, 3, padding=1, padding_mode="circular"),
                       lambda: nn.ReflectionPad2d(2), lambda: nn.ReplicationPad2d(1)),
    "conv1d": layers(lambda: nn.Conv1d(4, 8, 5, 2, 2), nn.GELU,
                     lambda: nn.Conv1d(8, 8, 3, padding=2, dilation=2, groups=4),
                     lambda: nn.MaxPool1d(3, 2), lambda: nn.ConvTranspose1d(8, 4, 4, 2, 1),
                     **SOUND),
    "conv3d": layers(lambda: nn.Conv3d(2, 8, 3, padding=1), lambda: nn.BatchNorm3d(8), nn.ReLU,
                     lambda: nn.MaxPool3d(2), lambda: nn.AdaptiveAvgPool3d(1), nn.Flatten,
                     **VOLUME),
    "cosine": function(lambda x, y: (F.cosine_similarity(x, y, -1), F.normalize(x, dim=1),
                                     F.pairwise_distance(x, y)), **TWO),
    "distances": function(torch.cdist, **TWO),
    "cumulative": function(lambda x: (x.cumsum(1), x.flip(1), torch.diff(x, dim=-1))),
    "decoder": Module(Decoder, x=ids("batch", "length", high=50, low=0)),
    "depth_to_space": layers(lambda: nn.Conv2d(3, 16, 3, padding=1), lambda: nn.PixelShuffle(2),
                             lambda: nn.PixelUnshuffle(4)),
    "einsum": function(lambda x, w: (torch.einsum("blc,cde->bled", x, w),
                                     torch.einsum("blc,bmc->blm", x, x)), (16, 5, 6)),
    "embeddings": Module(lambda: nn.Sequential(nn.Embedding(99, 16, padding_idx=0),
                                               nn.Linear(16, 8), nn.Softmax(-1)), x=ids()),
    "experts": Module(Experts, **FRAMES),
    "gather": function(lambda x, i: (
        x.gather(1, i % x.shape[1]), x.gather(-1, i % 16), x[:, :, torch.tensor([3, 1, 1])],
        x[torch.arange(x.shape[0]), 1], torch.index_select(x, 2, torch.tensor([0, 15]))),
        x=floats("batch", "length", 16), i=ids("batch", "length", 16, high=90, low=0)),
    "grid_sample": function(lambda x, theta: F.grid_sample(
        x, F.affine_grid(theta[None].expand(x.shape[0], 2, 3), list(x.shape),
                         align_corners=False), align_corners=False), (2, 3), **IMAGES),
    "gru": layer(lambda: nn.GRU(16, 8, 2, batch_first=True, bidirectional=True)),
    "im2col": function(lambda x: (F.unfold(x, 3, padding=1, stride=2), F.fold(
        F.unfold(x, 4, stride=4), (16, 16), 4, stride=4)), **IMAGES),
    "index_put": function(lambda x: (
        torch.zeros_like(x).index_copy(1, torch.tensor([1, 0]), x[:, :2]),
        x.index_fill(2, torch.tensor([0, 3]), 5.0), x.masked_fill(x > 0.5, -1.0),
        x.index_add(2, torch.tensor([1, 1]),
                                                            x[..., :2]))),
    "local_response": layers(lambda: nn.LocalResponseNorm(2), lambda: nn.Conv2d(3, 8, 1),
                             lambda: nn.PReLU(8), lambda: nn.MaxPool2d(4)),
    "lstm": layer(lambda: nn.LSTM(16, 8, 2, batch_first=True)),
    "masked_mean": function(lambda x, m: (x * m[..., None]).sum(1) / m.sum(1, keepdim=True)
                            .clamp(min=1), x=floats("batch", "length", 16),
                            m=ids("batch", "length", high=2, low=0)),
    "norms": layers(lambda: nn.Conv2d(3, 8, 3), lambda: nn.InstanceNorm2d(8, affine=True),
                    lambda: nn.GroupNorm(2, 8), lambda: nn.BatchNorm2d(8, affine=False)),
    "norm_rms": layers(lambda: nn.RMSNorm(16), lambda: nn.Linear(16, 8), **FRAMES),
    "one_hot": function(lambda i: (F.one_hot(i % 7, 7), (i % 7 == 3).any(1), i.bitwise_and(5),
                                   i // 3, i % 4 - 2, i.argmax(1), i.float().std(1),
                                   torch.triu(torch.ones(5, 5)) * i[:, :1, None]),
                        x=ids("batch", "length", low=0)),
    "pools": function(lambda x: (
        F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, 3, 2, ceil_mode=True),
        F.adaptive_avg_pool2d(x, (4, 8)), F.lp_pool2d(x.abs(), 2, 2),
        F.max_pool2d(x, 2, return_indices=True)[1], F.avg_pool2d(x, 2, ceil_mode=True)),
        **IMAGES),
    "reductions": function(lambda x: (
        x.sum(1), x.mean((1, 2)), x.amax(-1), x.amin(1), x.logsumexp(-1), x.var(1), x.std(-1),
        x.norm(dim=-1), x.prod(-1), x.argmin(1), x.softmax(1), (x > 0).all(-1),
        torch.var_mean(x, 2)[1], x.norm(1, -1))),
    "resize": function(lambda x: (
        F.interpolate(x, scale_factor=2), F.interpolate(x, (20, 24), mode="bilinear"),
        F.interpolate(x, (20, 24), mode="bilinear", align_corners=True),
        F.interpolate(x, (24, 20), mode="bicubic"),
        F.interpolate(x, (8, 8), mode="area")), **IMAGES),
    "resize_antialiased": function(lambda x: F.interpolate(
        x, (9, 7), mode="bilinear", antialias=True), **IMAGES),
    "resnet": layers(lambda: nn.Conv2d(3, 8, 7, 2, 3), lambda: nn.BatchNorm2d(8), nn.ReLU,
                     lambda: Residual(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                                      nn.Conv2d(8, 8, 3, padding=1)),
                     lambda: Squeeze(8), lambda: nn.AdaptiveAvgPool2d(1), nn.Flatten,
                     lambda: nn.Linear(8, 10)),
    "rnn": layer(lambda: nn.RNN(16, 8, nonlinearity="relu")),
    "rnn_loop": Module(Recurrence, x=floats("batch", 5, 6)),
    "rotary": function(rotate, (8,)),
    "separable": layers(lambda: nn.Conv2d(3, 3, 3, padding=1, groups=3), nn.Hardswish,
                        lambda: nn.Conv2d(3, 12, 1), nn.ReLU6,
                        lambda: nn.Conv2d(12, 24, 3, 2, 1, groups=12)),
    "sort": function(lambda x: (*x.sort(-1, descending=True), *x.topk(3, 1, largest=False),
                                x.argsort(1))),
    "spectral": layers(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(24, 16)), nn.GLU,
                       lambda: nn.utils.spectral_norm(nn.Linear(8, 8)).eval(), **VECTORS),
    "spectrum": function(spectrum, x=floats("batch", 256)),
    "transformer": Module(lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True), 2,
        enable_nested_tensor=False), **FRAMES),
    "transformer_pair": Module(lambda: nn.Transformer(16, 4, 1, 1, 32, batch_first=True),
                               x=floats("batch", "length", 16), y=floats("batch", "target", 16)),
    "transposed": layers(lambda: nn.ConvTranspose2d(3, 8, 3, 2, 1, output_padding=1), nn.ReLU,
                         lambda: nn.ConvTranspose2d(8, 4, 4, 2, 1, groups=2)),
    "u_net": Module(UNet, **IMAGES),
    "views": function(lambda x: (
        x.repeat(1, 2, 1), x.repeat_interleave(3, 1), x.expand(2, *x.shape), x.unfold(2, 4, 2),
        x.movedim(0, 2), torch.stack([x, x], 1), *x.chunk(4, -1), x.diagonal(0, 1, 2),
        torch.tril(x), x[:, ::2, 1:-1:3], x.narrow(1, 0, 1), x.swapaxes(0, 1).flatten(1))),
    "windows": function(shift_windows, x=floats("batch", 8, 16, 6)),
}
