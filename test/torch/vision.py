"""Networks of images, written as users of PyTorch write them: small ones, with random weights."""

import torch
import torch.nn.functional as F
from torch import nn

from inputs import floats
from modules import Module


def conv(inputs, outputs, size=3, stride=1, groups=1, act=nn.ReLU, **more):
    """A convolution, a batch normalization and an activation."""
    layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False,
                        **more), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride=1):
        super().__init__()
        self.layers = nn.Sequential(conv(inputs, width, 1), conv(width, width, 3, stride),
                                    conv(width, 4 * width, 1, act=None))
        self.skip = (conv(inputs, 4 * width, 1, stride, act=None)
                     if stride != 1 or inputs != 4 * width else nn.Identity())
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        out = self.layers(x)
        out += self.skip(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 7, 2), nn.MaxPool2d(3, 2, 1))
        self.layer1 = nn.Sequential(Bottleneck(16, 8), Bottleneck(32, 8))
        self.layer2 = Bottleneck(32, 16, 2)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(64, 10)

    def forward(self, x):
        x = self.avgpool(self.layer2(self.layer1(self.stem(x))))
        return self.fc(torch.flatten(x, 1))


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed, gate=nn.Hardsigmoid, act=nn.ReLU):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
        self.act, self.gate = act(), gate()

    def forward(self, x):
        scale = x.mean((2, 3), keepdim=True)
        return x * self.gate(self.expand(self.act(self.reduce(scale))))


class Inverted(nn.Module):
    """An inverted residual block, as MobileNets and EfficientNets have them."""

    def __init__(self, inputs, outputs, stride, act=nn.ReLU6, excite=None, size=3):
        super().__init__()
        width = inputs * 4
        self.layers = nn.Sequential(conv(inputs, width, 1, act=act),
                                    conv(width, width, size, stride, width, act),
                                    excite(width) if excite else nn.Identity(),
                                    conv(width, outputs, 1, act=None))
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def mobile(act, excite, size=3):
    return nn.Sequential(conv(3, 8, 3, 2, act=act), Inverted(8, 8, 1, act, excite, size),
                         Inverted(8, 16, 2, act, excite, size), conv(16, 32, 1, act=act),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2),
                         nn.Linear(32, 10))


class Fire(nn.Module):
    def __init__(self, inputs, squeezed, outputs):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.one, self.three = nn.Conv2d(squeezed, outputs, 1), nn.Conv2d(squeezed, outputs, 3,
                                                                          padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x), inplace=True)
        return torch.cat([F.relu(self.one(x)), F.relu(self.three(x))], 1)


class SqueezeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(inplace=True),
                                      nn.MaxPool2d(3, 2, ceil_mode=True), Fire(16, 4, 8),
                                      Fire(16, 4, 8), nn.Dropout(), nn.Conv2d(16, 10, 1),
                                      nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))

    def forward(self, x):
        return torch.flatten(self.features(x), 1).softmax(1)


class Dense(nn.Module):
    def __init__(self, inputs, growth, count):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.Sequential(nn.BatchNorm2d(inputs + i * growth), nn.ReLU(),
                          nn.Conv2d(inputs + i * growth, growth, 3, padding=1, bias=False))
            for i in range(count)])

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return torch.cat(features, 1)


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.five = conv(8, 8, 1), nn.Sequential(conv(8, 4, 1), conv(4, 8, 5))
        self.tall = nn.Sequential(
            nn.Conv2d(8, 6, (1, 7), padding=(0, 3)), nn.Conv2d(6, 6, (7, 1), padding=(3, 0)))
        self.pool = conv(8, 4, 1)

    def forward(self, x):
        pooled = F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
        return torch.cat([self.one(x), self.five(x), self.tall(x), self.pool(pooled),
                          F.max_pool2d(x, 3, 1, 1)], 1)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = conv(3, 8), conv(8, 16)
        self.pool, self.middle = nn.MaxPool2d(2), conv(16, 16)
        self.up, self.up2 = nn.ConvTranspose2d(16, 8, 2, 2), nn.Upsample(
            scale_factor=2, mode="bilinear", align_corners=True)
        self.last1, self.last2 = conv(24, 8), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.up(self.middle(self.pool(b)))
        c = F.pad(c, [0, b.shape[3] - c.shape[3], 0, b.shape[2] - c.shape[2]])
        d = self.up2(self.last1(torch.cat([b, c], 1)))
        return torch.sigmoid(self.last2(torch.cat([a, F.interpolate(d, a.shape[2:])], 1)))


class Attention(nn.Module):
    """Self-attention with one projection for queries, keys and values."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, attention=Attention):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(),
                                 nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 24, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, 24))
        self.places = nn.Parameter(torch.randn(1, 17, 24))
        self.blocks = nn.Sequential(Block(24, 3), Block(24, 3))
        self.norm, self.head = nn.LayerNorm(24, eps=1e-6), nn.Linear(24, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class WindowAttention(nn.Module):
    """Attention inside of shifted windows of 4 x 4 with relative positions, as in Swin."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(width, 3 * width)
        self.table = nn.Parameter(torch.randn(49, heads))
        places = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij"))
        places = places.flatten(1)
        apart = (places[:, :, None] - places[:, None]).permute(1, 2, 0) + 3
        self.register_buffer("index", apart[..., 0] * 7 + apart[..., 1])

    def forward(self, x):
        n, t, c = x.shape
        side = 8
        x = torch.roll(x.view(n, side, side, c), shifts=(-2, -2), dims=(1, 2))
        x = x.view(n, 2, 4, 2, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(x).view(-1, 16, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q * (c // self.heads) ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.table[self.index.view(-1)].view(16, 16, -1).permute(2, 0, 1)
        x = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, 2, 2, 4, 4, c)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(n, side, side, c)
        return torch.roll(x, shifts=(2, 2), dims=(1, 2)).reshape(n, t, c)


class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.depthwise = nn.Conv2d(3, 16, 4, 4), nn.Conv2d(16, 16, 7, padding=3,
                                                                      groups=16)
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 64), nn.Linear(64, 16)
        self.gamma = nn.Parameter(torch.randn(16))

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.gamma * self.down(F.gelu(self.up(y)))
        return (x + y.permute(0, 3, 1, 2)).mean([-2, -1])


class YoloHead(nn.Module):
    """A detection head: boxes by distributions over distances and an anchor grid."""

    def __init__(self):
        super().__init__()
        self.stem, self.boxes, self.classes = (conv(3, 16, 3, 4, act=nn.SiLU),
                                               nn.Conv2d(16, 4 * 8, 1), nn.Conv2d(16, 5, 1))
        self.register_buffer("bins", torch.arange(8, dtype=torch.float32))

    def forward(self, x):
        x = self.stem(x)
        n, _, h, w = x.shape
        distances = self.boxes(x).view(n, 4, 8, h * w).transpose(2, 1).softmax(1)
        distances = F.conv2d(distances, self.bins.view(1, 8, 1, 1)).view(n, 4, h * w)
        y, z = torch.meshgrid(torch.arange(h) + 0.5, torch.arange(w) + 0.5, indexing="ij")
        anchors = torch.stack((z, y), 0).view(2, -1)
        near, far = distances.chunk(2, 1)
        start, end = anchors - near, anchors + far
        boxes = torch.cat(((start + end) / 2, end - start), 1) * 4
        return torch.cat((boxes, self.classes(x).view(n, 5, -1).sigmoid()), 1)


class SsdHead(nn.Module):
    """Two maps of offsets and scores, decoded by prior boxes."""

    def __init__(self):
        super().__init__()
        self.body = nn.ModuleList([conv(3, 8, 3, 4), conv(8, 8, 3, 2)])
        self.offsets = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1) for _ in range(2)])
        self.scores = nn.ModuleList([nn.Conv2d(8, 6, 3, padding=1) for _ in range(2)])
        self.register_buffer("priors", torch.rand(2 * (64 + 16), 4))

    def forward(self, x):
        offsets, scores = [], []
        for body, offset, score in zip(self.body, self.offsets, self.scores):
            x = body(x)
            offsets.append(offset(x).permute(0, 2, 3, 1).contiguous().view(x.size(0), -1, 4))
            scores.append(score(x).permute(0, 2, 3, 1).contiguous().view(x.size(0), -1, 3))
        offsets, scores = torch.cat(offsets, 1), torch.cat(scores, 1)
        centers = self.priors[:, :2] + offsets[..., :2] * 0.1 * self.priors[:, 2:]
        sizes = self.priors[:, 2:] * torch.exp(offsets[..., 2:] * 0.2)
        best, label = scores.softmax(-1)[..., 1:].max(-1)
        return {"boxes": torch.cat([centers - sizes / 2, centers + sizes / 2], -1),
                "scores": best, "labels": label}


class Transformed(nn.Module):
    """A spatial transformer."""

    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(3, 4, 7), nn.MaxPool2d(2, 2), nn.ReLU(True),
                                    nn.Flatten(), nn.Linear(4 * 13 * 13, 6), nn.Tanh())

    def forward(self, x):
        grid = F.affine_grid(self.locate(x).view(-1, 2, 3), x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


class Pyramid(nn.Module):
    """Pooled context of several sizes, as in PSPNet, and dilated convolutions, as in DeepLab."""

    def __init__(self):
        super().__init__()
        self.body = conv(3, 8, 3, 2)
        self.context = nn.ModuleList([nn.Sequential(nn.AdaptiveAvgPool2d(size), nn.Conv2d(8, 4, 1))
                                      for size in (1, 3, 5)])
        self.dilated = nn.Conv2d(8, 4, 3, padding=4, dilation=4)
        self.out = nn.Conv2d(24, 5, 1)

    def forward(self, x):
        y = self.body(x)
        parts = [F.interpolate(c(y), y.shape[2:], mode="bilinear") for c in self.context]
        y = self.out(torch.cat([y, self.dilated(y), *parts], 1))
        return F.interpolate(y, x.shape[2:], mode="bicubic").argmax(1), y


IMAGES = dict(x=floats(2, 3, 32, 32))


def network(make, **specs):
    return Module(make, **(specs or IMAGES))


VISION = {
    "resnet": network(ResNet), "squeezenet": network(SqueezeNet), "unet": network(UNet),
    "mobilenet_v2": network(lambda: mobile(nn.ReLU6, None)),
    "mobilenet_v3": network(lambda: mobile(
        nn.Hardswish, lambda width: SqueezeExcite(width, 8), 5)),
    "efficientnet": network(lambda: mobile(
        nn.SiLU, lambda width: SqueezeExcite(width, 4, nn.Sigmoid, nn.SiLU))),
    "densenet": network(lambda: nn.Sequential(
        conv(3, 8), Dense(8, 4, 3), nn.Conv2d(20, 10, 1), nn.AvgPool2d(2, stride=2),
        Dense(10, 4, 2), nn.BatchNorm2d(18))),
    "inception": network(lambda: nn.Sequential(conv(3, 8), Inception())),
    "vit": network(ViT), "convnext": network(ConvNext), "pyramid": network(Pyramid),
    "swin": network(lambda: Block(24, 3, WindowAttention), x=floats(2, 64, 24)),
    "yolo_head": network(YoloHead), "ssd_head": network(SsdHead),
    "spatial_transformer": network(Transformed),
    "vgg": network(lambda: nn.Sequential(
        nn.Conv2d(3, 8, 3, padding="same"), nn.ReLU(), nn.Conv2d(8, 8, 3, padding="valid"),
        nn.LeakyReLU(0.1), nn.AvgPool2d(3, 2, 1), nn.Flatten(), nn.Linear(8 * 225, 16), nn.PReLU(),
        nn.Linear(16, 10), nn.LogSoftmax(dim=1))),
    "super_resolution": network(lambda: nn.Sequential(
        nn.Conv2d(3, 8, 5, padding=2), nn.Tanh(), nn.Conv2d(8, 12, 3, padding=1),
        nn.PixelShuffle(2))),
    "volumes": network(lambda: nn.Sequential(
        nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2),
        nn.ConvTranspose3d(4, 2, 2, 2), nn.AvgPool3d(2)), x=floats(1, 2, 6, 8, 10)),
}
