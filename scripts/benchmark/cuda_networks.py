"""The networks of scripts/bench --cuda in plain PyTorch, with random weights and the shapes of the
published ones."""

import torch
from torch import nn
from torch.nn import functional


def conv(channels, filters, taps=1, stride=1, groups=1, act=nn.ReLU):
    layers = [nn.Conv2d(channels, filters, taps, stride, taps // 2, groups=groups, bias=False),
              nn.BatchNorm2d(filters)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.body = nn.Sequential(conv(channels, width), conv(width, width, 3, stride),
                                  conv(width, 4 * width, act=None))
        self.short = (conv(channels, 4 * width, 1, stride, act=None)
                      if stride > 1 or channels != 4 * width else nn.Identity())

    def forward(self, x):
        return functional.relu(self.body(x) + self.short(x))


def head(channels):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]


def resnet50():
    layers, channels = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(channels, width, stride if i == 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, *head(channels))


class Gate(nn.Module):
    """Squeeze and excitation."""

    def __init__(self, channels, inner):
        super().__init__()
        self.body = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, inner, 1), nn.SiLU(),
                                  nn.Conv2d(inner, channels, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.body(x)


class Inverted(nn.Module):
    def __init__(self, channels, filters, expand, taps, stride, act, gated):
        super().__init__()
        inner = channels * expand
        self.body = nn.Sequential(
            *([conv(channels, inner, act=act)] if expand > 1 else []),
            conv(inner, inner, taps, stride, inner, act),
            *([Gate(inner, channels // 4)] if gated else []), conv(inner, filters, act=None))
        self.is_residual = stride == 1 and channels == filters

    def forward(self, x):
        return x + self.body(x) if self.is_residual else self.body(x)


def inverted(rows, first, last, act, gated):
    layers, channels = [conv(3, first, 3, 2, act=act)], first
    for expand, filters, count, stride, taps in rows:
        for i in range(count):
            layers.append(Inverted(channels, filters, expand, taps, stride if i == 0 else 1, act,
                                   gated))
            channels = filters
    return nn.Sequential(*layers, conv(channels, last, act=act), *head(last))


def mobilenet_v2():
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3),
            (6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3)]
    return inverted(rows, 32, 1280, nn.ReLU6, False)


def efficientnet_b0():
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
    return inverted(rows, 32, 1280, nn.SiLU, True)


class Fire(nn.Module):
    def __init__(self, channels, squeeze, expand):
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeeze, 1)
        self.one, self.three = (nn.Conv2d(squeeze, expand, 1),
                                nn.Conv2d(squeeze, expand, 3, padding=1))

    def forward(self, x):
        x = functional.relu(self.squeeze(x))
        return torch.cat([functional.relu(self.one(x)), functional.relu(self.three(x))], 1)


def squeezenet1_1():
    pool = [nn.MaxPool2d(3, 2, ceil_mode=True)]
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, 2), nn.ReLU(), *pool, Fire(64, 16, 64), Fire(128, 16, 64), *pool,
        Fire(128, 32, 128), Fire(256, 32, 128), *pool, Fire(256, 48, 192), Fire(384, 48, 192),
        Fire(384, 64, 256), Fire(512, 64, 256), nn.Conv2d(512, 1000, 1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten())


class Block(nn.Module):
    """A layer of a transformer; ViT normalizes before its halves, and BERT after them."""

    def __init__(self, width, heads, before):
        super().__init__()
        self.heads, self.before = heads, before
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)

    def attend(self, x, mask):
        n, tokens, width = x.shape
        q, k, v = self.qkv(x).view(n, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(n, tokens, width))

    def feed(self, x):
        return self.down(functional.gelu(self.up(x)))

    def forward(self, x, mask=None):
        if self.before:
            x = x + self.attend(self.first(x), mask)
            return x + self.feed(self.second(x))
        x = self.first(x + self.attend(x, mask))
        return self.second(x + self.feed(x))


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, 768))
        self.places = nn.Parameter(torch.randn(1, 197, 768))
        self.blocks = nn.ModuleList(Block(768, 12, True) for _ in range(12))
        self.norm, self.head = nn.LayerNorm(768, 1e-6), nn.Linear(768, 1000)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.kinds = nn.Embedding(30522, 768), nn.Embedding(2, 768)
        self.places = nn.Parameter(torch.randn(1, 128, 768))
        self.norm = nn.LayerNorm(768, 1e-12)
        self.blocks = nn.ModuleList(Block(768, 12, False) for _ in range(12))
        self.pool, self.head = nn.Linear(768, 768), nn.Linear(768, 2)

    def forward(self, ids, mask, kinds):
        x = self.norm(self.words(ids) + self.places + self.kinds(kinds))
        mask = (1 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for block in self.blocks:
            x = block(x, mask)
        return self.head(torch.tanh(self.pool(x[:, 0])))


NETWORKS = {"bert_base": Bert, "efficientnet_b0": efficientnet_b0, "mobilenet_v2": mobilenet_v2,
            "resnet50": resnet50, "squeezenet1_1": squeezenet1_1, "vit_b16": Vit}


def make(name, batch, device, dtype):
    """The network for inference, and its inputs. Images are in NHWC."""
    torch.manual_seed(1)
    network = NETWORKS[name]().eval().to(device, dtype)
    if name == "bert_base":
        ids = torch.randint(0, 30522, (batch, 128), device=device)
        return network, (ids, torch.ones_like(ids), torch.zeros_like(ids))
    images = torch.randn(batch, 3, 224, 224, device=device, dtype=dtype)
    return (network.to(memory_format=torch.channels_last),
            (images.contiguous(memory_format=torch.channels_last),))
