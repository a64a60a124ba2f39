#!/usr/bin/env python3
"""Programs of PyTorch with sizes that they leave open, and what PyTorch computes at some sizes.

    open_sizes.py FOLDER [--only REGEX]

writes NAME.pt2, NAME.txt with the --shape options that nnc needs, and for each point at which
results are compared NAME-I.npz: the inputs in0, in1, ... in the order of the program, and the
outputs out0, out1, ....
"""

import argparse
import math
import pathlib
import re
import warnings

import numpy as np
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

BATCH = Dim("batch", min=1, max=4)
TOKENS = Dim("tokens", min=2, max=64)
PROGRAMS = {}


def program(points, dynamic, make, shapes=(), decomposed=False):
    """Adds a module: `make` gives its arguments at a point. The first point is exported."""
    def add(module):
        PROGRAMS[module.__name__] = (module, points, dynamic, make, shapes, decomposed)
        return module
    return add


def randn(*shape):
    return torch.randn(shape)


def sequence(*module, **how):
    """Adds a module of batch x tokens x 8."""
    return program([(2, 7), (1, 33), (4, 64), (3, 2)], ({0: BATCH, 1: TOKENS},),
                   lambda b, s: (randn(b, s, 8),), **how)


def image(dynamic=None, points=((2, 24, 16), (1, 33, 35), (4, 64, 47)), **how):
    """Adds a module of images, of any height and width from 16 to 64."""
    height, width = Dim("height", min=16, max=64), Dim("width", min=16, max=64)
    return program(points, dynamic or ({0: BATCH, 2: height, 3: width},),
                   lambda b, h, w: (randn(b, 3, h, w),), **how)


@program([(2, 7), (1, 33), (4, 64)], ({0: BATCH, 1: TOKENS}, {0: BATCH, 1: TOKENS}),
         lambda b, s: (torch.randint(0, 20, (b, s)), torch.arange(s).expand(b, s) < s - 1))
class Masks(nn.Module):
    """Token types from a buffer, positions, and a mask from indices, as networks of transformers
    have them."""

    def __init__(self):
        super().__init__()
        self.words, self.places, self.types = (nn.Embedding(n, 8) for n in (20, 64, 2))
        self.register_buffer("positions", torch.arange(64)[None])
        self.register_buffer("zeros", torch.zeros(1, 64, dtype=torch.long))
        self.mix = nn.Linear(8, 8)

    def forward(self, ids, mask):
        batch, length = ids.shape
        places = self.positions[:, :length]
        types = torch.gather(self.zeros.expand(1, -1), 1, places).expand(batch, length)
        x = self.words(ids) + self.places(places) + self.types(types)
        rows, columns = torch.arange(batch)[:, None, None], torch.arange(length)[None, None]
        seen = (torch.arange(length)[None, :, None] >= 0) & mask[rows, columns]
        return functional.scaled_dot_product_attention(self.mix(x), x, x, attn_mask=seen)


@sequence()
class Floats(nn.Module):
    """Floats that follow from a size, as scales of attention."""

    def forward(self, x):
        length = x.size(1)
        scores = x.transpose(1, 2) @ x * length ** -0.5
        mean = x.transpose(1, 2) @ torch.full((length,), 1 / length)
        return scores.softmax(-1), mean, (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)


@sequence()
class Buckets(nn.Module):
    """Biases of relative positions in buckets, which are alike at small sizes."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(32, 2)

    def forward(self, x):
        places = torch.arange(x.size(1))
        distance = places[None] - places[:, None]
        far = 8 + (torch.log(distance.abs().float() / 8) / math.log(16) * 8).long()
        near = torch.where(distance.abs() < 8, distance.abs(), far.clamp(max=15))
        bias = self.table(near + (distance > 0) * 16).permute(2, 0, 1)
        return ((x @ x.transpose(1, 2))[:, None] + bias).softmax(-1) @ x[:, None]


@sequence(decomposed=True)
class Attention(nn.Module):
    """Attention of so many heads that a decomposed program has large constants at large sizes."""

    def __init__(self):
        super().__init__()
        self.mix, self.dense = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.mix(x).view(batch, length, 3, 8, 1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.dense(y.transpose(1, 2).reshape(batch, length, width))


@image(decomposed=True)
class PermutedLinear(nn.Module):
    """A product of a permuted tensor, whose weights decomposed programs repeat."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(3, 5)

    def forward(self, x):
        return self.dense(x.permute(0, 2, 3, 1))


@image()
class Residual(nn.Module):
    """Convolutions and pools whose strides do not divide the sizes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.main, self.short = nn.Conv2d(8, 8, 3, 2, 1), nn.Conv2d(8, 8, 1, 2)
        self.dense = nn.Linear(8, 5)

    def forward(self, x):
        x = self.stem(x)
        x = self.main(x) + self.short(x)
        return x, self.dense(functional.adaptive_avg_pool2d(x, 1).flatten(1))


@image()
class Clipped(nn.Module):
    """Boxes that are clipped to the image, and places as shares of its sizes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 4, 4)

    def forward(self, x):
        high, wide = x.shape[2:]
        boxes = 40 * self.conv(x).flatten(2).transpose(1, 2)
        shares = boxes[..., :2] / torch.tensor([wide - 1, high - 1]).float()
        boxes = torch.cat([boxes[..., 0::2].clamp(min=0, max=wide),
                           boxes[..., 1::2].clamp(min=0, max=high)], -1)
        return boxes, shares, torch.where(shares > 0.5, boxes[..., :2].long() % wide, -1)


@image()
class Skips(nn.Module):
    """A decoder that brings maps to the sizes of others by padding and by interpolation."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, 1, 1), nn.Conv2d(4, 4, 3, 1, 1)
        self.up = nn.ConvTranspose2d(4, 4, 2, 2)

    def forward(self, x):
        a = self.first(x)
        b = functional.max_pool2d(self.second(a), 2)
        up = self.up(b)
        high, wide = a.size(2) - up.size(2), a.size(3) - up.size(3)
        up = functional.pad(up, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
        return torch.cat([a, up, functional.interpolate(b, size=a.shape[2:], mode="bilinear"),
                          functional.interpolate(b, size=a.shape[2:])], 1)


@image(({0: BATCH, 2: 8 * Dim("rows", min=2, max=8), 3: 8 * Dim("columns", min=2, max=8)},),
       ((2, 16, 24), (1, 64, 40), (4, 64, 64)))
class Patches(nn.Module):
    """A vision transformer's embedding, with places interpolated to the number of patches."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 8, 8)
        self.places = nn.Parameter(randn(1, 8, 4, 4))

    def forward(self, x):
        x = self.patches(x)
        places = functional.interpolate(self.places, size=x.shape[-2:], mode="bicubic")
        return (x + places).flatten(2).transpose(1, 2)


ROWS, COLUMNS = (8 * Dim(name, min=2, max=8) for name in ("rows", "columns"))


@image(({0: BATCH, 2: ROWS, 3: COLUMNS},), ((2, 16, 24), (1, 64, 40), (4, 64, 64)))
class Anchors(nn.Module):
    """A detector's boxes, from distances to the centers of the cells of two maps."""

    def __init__(self):
        super().__init__()
        self.fine, self.coarse = nn.Conv2d(3, 4, 4, 4), nn.Conv2d(4, 4, 2, 2)

    def forward(self, x):
        fine = self.fine(x)
        centers, scales, distances = [], [], []
        for boxes, stride in ((fine, 4), (self.coarse(fine), 8)):
            high, wide = boxes.shape[2:]
            rows, columns = torch.meshgrid(torch.arange(high, dtype=torch.float32) + 0.5,
                                           torch.arange(wide, dtype=torch.float32) + 0.5,
                                           indexing="ij")
            centers.append(torch.stack((columns, rows), -1).view(-1, 2))
            scales.append(torch.full((high * wide, 1), float(stride)))
            distances.append(boxes.flatten(2))
        centers, scales = torch.cat(centers).t()[None], torch.cat(scales).t()
        low, more = torch.cat(distances, 2).chunk(2, 1)
        return torch.cat([centers - low, centers + more], 1) * scales


@image(({0: BATCH, 2: ROWS, 3: COLUMNS},), ((2, 16, 24), (1, 64, 40), (4, 64, 64)),
       decomposed=True)
class Columns(nn.Module):
    """Windows of an image as columns, which overlap in one tensor and not in the other."""

    def forward(self, x):
        return functional.unfold(x, 3, padding=1), functional.unfold(x, 2, stride=2)


@image(decomposed=True)
class Margins(nn.Module):
    """Pads that decomposed programs write as indices."""

    def forward(self, x):
        pads = [1, 2, 3, 0]
        return (functional.pad(x, pads, mode="reflect"), functional.pad(x, pads, mode="replicate"),
                functional.pad(x[..., 2:], pads, mode="circular"),
                functional.pad(x.mean(2), [3, 2], mode="reflect"))


@program([(2, 777), (1, 400), (4, 1600)], ({0: BATCH, 1: Dim("samples", min=400, max=1600)},),
         lambda b, s: (randn(b, s),))
class Frames(nn.Module):
    """Spectra, windows and every fifth element of a sound whose length no step divides."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, x):
        spectra = torch.stft(x, 64, 24, window=self.window, center=False, return_complex=True)
        return spectra.abs(), x.unfold(1, 40, 24).square().mean(-1), x.mean(0)[3::5]


@program([(2, 777), (1, 400), (4, 1600)], ({0: BATCH, 1: Dim("samples", min=400, max=1600)},),
         lambda b, s: (randn(b, s),))
class Speech(nn.Module):
    """The stack of convolutions with which networks of speech begin."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 8, 10, 5), nn.GroupNorm(8, 8), nn.GELU(), nn.Conv1d(8, 8, 3, 2),
            nn.GELU(), nn.Conv1d(8, 8, 3, 2), nn.GELU(), nn.Conv1d(8, 8, 2, 2))
        self.dense = nn.Linear(8, 6)

    def forward(self, x):
        return self.dense(self.layers(x[:, None]).transpose(1, 2))


@program([(2, 7), (1, 1), (4, 9), (3, 3)], ({0: BATCH, 1: Dim("chunk", min=1, max=9)}, {0: BATCH}),
         lambda b, s: (randn(b, s, 8), randn(b, 5, 8)))
class Stream(nn.Module):
    """A convolution of chunks that may be shorter than the cache in front of them."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(8, 8, 6)

    def forward(self, chunk, cache):
        x = torch.cat([cache, chunk], 1)
        return self.conv(x.transpose(1, 2)), x[:, -5:]


HALF = Dim("half", min=2, max=32)


@program([(3,), (17,), (32,)], ({0: HALF}, {0: HALF + 1}, {0: 8 * HALF}),
         lambda n: (randn(n, 8), randn(n + 1, 8), randn(8 * n, 8)))
class Derived(nn.Module):
    """Sizes of inputs that follow from that of another one."""

    def forward(self, x, y, z):
        return x + y[1:] - y[:-1] + z.view(-1, 8, 8).mean(1)


@sequence()
class Windows(nn.Module):
    """Attention to all tokens before and to the last four, which are the same ones where there are
    no more than four, as in Gemma 3."""

    def forward(self, x):
        at = torch.arange(x.shape[1])
        causal = at[None, None, None, :] <= at[None, None, :, None]
        close = causal & (at[None, None, None, :] > at[None, None, :, None] - 4)
        heads = x.unflatten(2, (2, 4)).transpose(1, 2)
        for mask in (close, causal):
            heads = functional.scaled_dot_product_attention(heads, heads, heads, attn_mask=mask)
        return heads


@program([(8, 20), (3, 7), (20, 60), (2, 2)],
         ({0: Dim("nodes", min=2, max=20)}, {1: Dim("edges", min=2, max=60)},
          {0: Dim("nodes", min=2, max=20)}),
         lambda n, e: (randn(n, 6), torch.randint(0, n, (2, e)), torch.randint(0, 3, (n,))))
class Graphs(nn.Module):
    """Convolution of graphs with the degrees of nodes, and means of three graphs, whose zeros are
    those of the degrees where there are three nodes."""

    def forward(self, x, edges, graph):
        nodes = x.shape[0]
        ends = torch.cat([edges[1], torch.arange(nodes)])
        degrees = torch.zeros(nodes).scatter_add_(0, ends, torch.ones(ends.shape[0]))
        scaled = x * degrees.rsqrt()[:, None]
        summed = torch.zeros_like(x).index_add_(0, edges[1], scaled[edges[0]]) + scaled
        counts = torch.zeros(3).index_add(0, graph, torch.ones(nodes)).clamp(min=1)
        return torch.zeros(3, 6).index_add(0, graph, summed) / counts[:, None]


@program([(7,), (1,), (64,)], ({0: Dim("batch", max=8192)},), lambda n: (randn(n, 8, 6, 6),))
class LargeBatch(nn.Module):
    """A layer whose routine needs most memory at a batch that is not the largest one."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 16, 3, 1, 1), nn.Conv2d(16, 16, 3, 1, 1)

    def forward(self, x):
        return self.second(self.first(x).relu()).relu().mean((2, 3))


@image(({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},), shapes=["x=1..4x3x16..64x16..64"])
class Unbounded(nn.Module):
    """Sizes without bounds, which --shape gives."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2, 1)

    def forward(self, x):
        return self.conv(x).relu()


def write(name, folder):
    module, points, dynamic, make, shapes, decomposed = PROGRAMS[name]
    torch.manual_seed(1)
    module = module().eval()
    with torch.no_grad():
        exported = torch.export.export(module, make(*points[0]), dynamic_shapes=dynamic)
        if decomposed:
            exported = exported.run_decompositions()
        torch.export.save(exported, folder / f"{name}.pt2")
        (folder / f"{name}.txt").write_text("\n".join(shapes))
        for i, point in enumerate(points):
            inputs = make(*point)
            outputs = module(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            arrays = {**{f"in{k}": x.numpy() for k, x in enumerate(inputs)},
                      **{f"out{k}": y.numpy() for k, y in enumerate(outputs)}}
            np.savez(folder / f"{name}-{i}.npz", **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name in PROGRAMS:
        if re.search(options.only, name):
            write(name, options.folder)


if __name__ == "__main__":
    main()
