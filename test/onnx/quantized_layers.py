"""Many random layers of integers against the specification's arithmetic in numpy, bit for bit.

    quantized_layers.py [--layers N] [--target T] [--seed S]

Convolutions and matrix products of all types of 8 bits, with zero points at the ends of these,
scales for each filter or one, and operands that are all of one end now and then, so that sums
of a few products exceed 16 bits. Models hold many layers; of each kind there are several with
weights of their own, for which nnc emits one function.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

import numpy as np
import onnx

import emitted
from graphs import Graph
from quantized_test import convolve

ALIKE = 10  # layers of a kind
KINDS = 20  # in a model
TYPES = [np.uint8, np.int8]


class Kind:
    """The properties that layers with one function share."""

    def __init__(self, random):
        self.random = random
        self.x_type, self.w_type, self.y_type = (TYPES[random.integers(2)] for _ in range(3))
        self.is_product = random.random() < 0.25
        self.is_raw = random.random() < 0.15  # ConvInteger, MatMulInteger
        self.per_channel = not self.is_raw and random.random() < 0.75
        self.x_zero = self.zero(self.x_type)
        self.y_zero = self.zero(self.y_type)
        # Mostly that of a symmetric quantization.
        middle = self.w_type(0 if self.w_type == np.int8 else 128)
        self.w_zero = middle if random.random() < 0.7 else self.zero(self.w_type)
        self.scales = None
        self.attributes = {}
        (self.shape_product if self.is_product else self.shape_conv)()

    def zero(self, dtype):
        info = np.iinfo(dtype)
        middle = self.random.integers(info.min, info.max + 1)
        return dtype(self.random.choice([info.min, info.max, 0, middle]))

    def shape_product(self):
        rows, inner, columns = (int(self.random.integers(1, most)) for most in (9, 130, 70))
        self.x_shape, self.w_shape = (rows, inner), (inner, columns)
        self.filters = columns

    def shape_conv(self):
        random = self.random
        form = random.choice(["dense", "pointwise", "depthwise", "grouped", "line"],
                             p=[0.4, 0.2, 0.2, 0.1, 0.1])
        spatial = 1 if form == "line" else 2
        kernel = [1] * spatial if form == "pointwise" else \
            [int(k) for k in random.choice([1, 2, 3, 3, 3, 5], spatial)]
        if form in ("dense", "depthwise") and random.random() < 0.5:
            kernel = [3, 3]
        channels = int(random.choice([1, 3, 4, 8, 16, 20, 24, 33]))
        self.filters, group = int(random.choice([1, 5, 8, 12, 16, 24, 31])), 1
        if form == "depthwise":
            self.filters = group = channels = int(random.choice([2, 8, 13, 16, 24]))
        elif form == "grouped":
            group = int(random.choice([2, 3]))
            channels, self.filters = (group * int(random.choice([3, 8, 16])) for _ in range(2))
        strides = [int(s) for s in random.choice([1, 1, 2], spatial)]
        dilations = [int(d) for d in random.choice([1, 1, 1, 2], spatial)]
        pads = [int(p) for p in random.integers(0, 3, 2 * spatial)]
        if random.random() < 0.4:
            strides, dilations, pads = [1] * spatial, [1] * spatial, [1] * 2 * spatial
        size = [int(random.integers((k - 1) * d + 1, (k - 1) * d + 10))
                for k, d in zip(kernel, dilations)]
        self.x_shape = (1, channels, *size)
        self.w_shape = (self.filters, channels // group, *kernel)
        self.attributes = dict(pads=pads, strides=strides, dilations=dilations, group=group)

    def integers(self, shape, dtype):
        info, random = np.iinfo(dtype), self.random
        edge = random.random(shape)
        # One end alone, both ends, many of either, few.
        share = random.choice([2, 1, 0.25, 0.02], p=[0.15, 0.15, 0.5, 0.2])
        if share == 2:
            edge, share = np.full(shape, 0.0 if random.random() < 0.5 else 2.0), 1
        values = random.integers(info.min, info.max + 1, shape)
        values = np.where(edge < share / 2, info.min,
                          np.where(edge > 1 - share / 2, info.max, values))
        return values.astype(dtype)

    def add(self, graph):
        x, w = self.integers(self.x_shape, self.x_type), self.integers(self.w_shape, self.w_type)
        centred = [a.astype(np.int64) - int(zero)
                   for a, zero in ((x, self.x_zero), (w, self.w_zero))]
        sums = np.matmul(*centred) if self.is_product else convolve(*centred, **self.attributes)
        op = "MatMul" if self.is_product else "Conv"
        if self.is_raw:
            assert np.abs(sums).max() < 2 ** 31
            return graph.add(op + "Integer", graph.input(x), graph.constant(w),
                             *map(graph.constant, (self.x_zero, self.w_zero)),
                             expected=sums.astype(np.int32), **self.attributes)
        channel = (-1,) + (1,) * (len(self.x_shape) - 2) if not self.is_product else (-1,)
        extra = []
        if not self.is_product:
            bias = self.random.integers(-20000, 20000, self.filters).astype(np.int32)
            sums = sums + bias.reshape(channel)
            extra = [graph.constant(bias)]
        if self.scales is None or self.per_channel:
            self.choose_scales(sums)
        x_scale, w_scale, y_scale = self.scales
        factor = np.float32(np.float32(x_scale * w_scale) / y_scale)
        factor = factor.reshape(channel) if self.per_channel else factor
        real = np.round(sums.astype(np.float32) * factor) + np.float32(self.y_zero)
        info = np.iinfo(self.y_type)
        w_zero = np.full(w_scale.shape, self.w_zero)
        operands = [graph.input(x), *map(graph.constant, (x_scale, self.x_zero, w, w_scale,
                                                          w_zero, y_scale, self.y_zero))]
        return graph.add("QLinear" + op, *operands, *extra, **self.attributes,
                         expected=np.clip(real, info.min, info.max).astype(self.y_type))

    def choose_scales(self, sums):
        """Such that results are of the whole range."""
        shape = (self.filters,) if self.per_channel else ()
        w_scale = np.asarray(self.random.uniform(0.002, 0.05, shape), np.float32)
        spread = max(float(np.abs(sums).mean()), 1.0)
        y_scale = np.float32(0.05 * 0.02 * spread / self.random.uniform(20, 200))
        self.scales = np.float32(self.random.uniform(0.01, 0.05)), w_scale, y_scale


def run(graph, target):
    """The outputs by name, and the routines of the layers."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = folder / "layers.onnx"
        onnx.save(graph.model(), path)
        module = emitted.compile_model(path, folder / "out", target=target)
        routines = [layer["routine"] for layer in module.manifest["layers"]]
        if emitted.is_native(target):
            module.build()
            return module(graph.feeds), routines
        return emitted.run_in_emulator(path, folder / "run", graph.feeds, target=target), routines


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=10_000)
    parser.add_argument("--target", default="native")
    parser.add_argument("--seed", type=int, default=36)
    arguments = parser.parse_args()
    random = np.random.default_rng(arguments.seed)
    routines, checked, wrong, ends = collections.Counter(), 0, [], 0
    while checked < arguments.layers:
        graph = Graph()
        for _ in range(KINDS):
            kind = Kind(random)
            for _ in range(ALIKE):
                kind.add(graph)
        actual, used = run(graph, arguments.target)
        routines.update(name for name in used if not name.startswith(("adapt", "elementwise")))
        for name, want in graph.expected.items():
            got = actual[name]
            checked += 1
            ends += len(np.unique(want)) < 4
            if got.dtype != want.dtype or not np.array_equal(got, want):
                wrong.append(f"{name}: {(got != want).sum()} of {want.size} differ")
                print(wrong[-1], flush=True)
    for name, count in routines.most_common():
        print(f"{count:6} {name}")
    print(f"{checked} layers on {arguments.target}, {ends} of them with fewer than four values; "
          f"{len(wrong)} differ")
    # A test of constants would tell little.
    return bool(wrong) or ends > 0.5 * checked


if __name__ == "__main__":
    sys.exit(main())
