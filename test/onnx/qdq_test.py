"""Tests single operators between DequantizeLinear and QuantizeLinear, as quantizers write them.
On a target that keeps integers between layers, results are within one unit of the float
arithmetic. They are exact if an operator only moves elements."""

import itertools
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime

import emitted
from graphs import Graph

random = np.random.default_rng(77)
TYPES = [np.uint8, np.int8]


def compute(graph):
    """The results of onnxruntime without optimizations, in floats, by the name of the output."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(graph.model().SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return dict(zip(graph.expected, session.run(list(graph.expected), graph.feeds)))


class Qdq(unittest.TestCase):
    def setUp(self):
        self.graph = Graph(opset=19)

    def read(self, shape, dtype=np.uint8, scale=0.05, zero=None, known=False):
        """A dequantized input, or constant, of random integers."""
        info = np.iinfo(dtype)
        zero = info.min + 100 if zero is None else zero
        values = random.integers(info.min, info.max + 1, shape).astype(dtype)
        name = self.graph.constant(values) if known else self.graph.input(values)
        return self.graph.hidden("DequantizeLinear", name,
                                 self.graph.constant(np.float32(scale)),
                                 self.graph.constant(dtype(zero)))

    def write(self, name, dtype=np.uint8, scale=0.05, zero=None):
        zero = np.iinfo(dtype).min + 100 if zero is None else zero
        return self.graph.add("QuantizeLinear", name, self.graph.constant(np.float32(scale)),
                              self.graph.constant(dtype(zero)))

    def op(self, *arguments, **attributes):
        return self.graph.hidden(*arguments, **attributes)

    def ints(self, *values):
        return self.graph.constant(np.int64(values))

    def check(self, share=0.01, floats=0):
        """Compares with onnxruntime; `floats` layers store floats."""
        known = compute(self.graph)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "qdq.onnx"
            onnx.save(self.graph.model(), path)
            module = emitted.compile_model(path, path.parent / "out", target="portable")
            module.build()
            actual = module(self.graph.feeds)
            source = (path.parent / "out" / "model.cpp").read_text()
        total = differing = 0
        for name, want in known.items():
            self.assertEqual(actual[name].dtype, want.dtype, name)
            apart = np.abs(actual[name].astype(int) - want.astype(int))
            self.assertLessEqual(apart.max(initial=0), 1, name)
            total, differing = total + apart.size, differing + (apart > 0).sum()
        self.assertLessEqual(differing, share * total)
        layers = source.split("static void ")[1:]
        stored = [layer for layer in layers if " float *y" in layer.split(")")[0]]
        self.assertEqual(len(stored), floats, [text.split("(")[0] for text in stored])
        return module

    def test_elementwise(self):
        for dtype, to in itertools.product(TYPES, TYPES):
            a, b = self.read((2, 3, 5), dtype), self.read((2, 3, 5), dtype, 0.11, 7)
            row = self.read((5,), to, 0.02, 3)
            column = self.read((3, 1), to, 0.02, -3 if to == np.int8 else 3)
            for op in ("Add", "Sub", "Mul", "Max", "Min"):
                self.write(self.op(op, a, b), to, 0.1)
                self.write(self.op(op, row, a), to, 0.07)
                self.write(self.op(op, b, column), to, 0.07)
            self.write(self.op("Add", self.op("Mul", a, b), self.op("Relu", a)), to, 0.3)
            self.write(self.op("Add", a, self.graph.constant(np.float32(0.3))), to)
            self.write(self.op("Mul", a, self.graph.constant(
                random.uniform(-1, 1, (3, 1)).astype(np.float32))), to)
        # The row and the column are dequantized once, and not for each element of the others;
        # a product has two readers.
        self.check(floats=6)

    def test_unary(self):
        """Of few and of many elements: some are tables, some are arithmetic."""
        for dtype, count in itertools.product(TYPES, (40, 700)):
            x = self.read((count,), dtype, 0.04)
            for op, how in (("Relu", {}), ("Sigmoid", {}), ("Tanh", {}), ("HardSwish", {}),
                            ("LeakyRelu", {"alpha": 0.2}), ("Elu", {}), ("Exp", {}), ("Erf", {}),
                            ("Abs", {}), ("Neg", {}), ("Softplus", {}), ("HardSigmoid", {}),
                            ("Floor", {}), ("Softsign", {})):
                self.write(self.op(op, x, **how), dtype, 0.031)
            bounds = [self.graph.constant(np.float32(b)) for b in (-1, 3)]
            self.write(self.op("Clip", x, *bounds), dtype, 0.031)
            self.write(x, dtype, 0.031)  # other parameters alone
            self.write(x, dtype, 0.04)   # the same ones
            y = self.write(self.op("Sigmoid", x), dtype, 1 / 256, np.iinfo(dtype).min)
            y = self.op("DequantizeLinear", y, self.graph.constant(np.float32(1 / 256)),
                        self.graph.constant(dtype(np.iinfo(dtype).min)))
            self.write(self.op("Mul", x, y), dtype, 0.031)
        self.check()

    def test_moves(self):
        """Exact: nothing is computed."""
        for dtype, (scale, zero) in itertools.product(TYPES, ((0.05, None), (0.08, 3))):
            x = self.read((1, 4, 6, 5), dtype)
            y = self.read((1, 4, 6, 5), dtype)
            other = self.read((1, 4, 6, 5), dtype, 0.021, 9)
            moved = [
                self.op("Reshape", x, self.ints(4, -1)), self.op("Flatten", x),
                self.op("Squeeze", x, self.ints(0)), self.op("Unsqueeze", x, self.ints(1)),
                self.op("Transpose", x, perm=[0, 2, 3, 1]),
                self.op("Concat", x, y, axis=1), self.op("Concat", x, other, y, axis=2),
                self.op("Slice", x, self.ints(1, 4), self.ints(4, 0), self.ints(1, 2),
                        self.ints(2, -2)),
                self.op("Pad", x, self.ints(0, 0, 1, 2, 0, 1, 0, 1)),
                self.op("Pad", x, self.ints(0, 0, 1, 2, 0, 1, 0, 1),
                        self.graph.constant(np.float32(0.33))),
                self.op("Pad", x, self.ints(0, 0, 1, 2, 0, 1, 0, 1), mode="edge"),
                # Quantizers quantize the value, too.
                self.op("Pad", x, self.ints(0, 0, 1, 2, 0, 1, 0, 1),
                        self.read((), np.uint8, 1.0, 0, known=True)),
                self.op("Pad", x, self.ints(0, 0, 1, 2, 0, 1, 0, 1),
                        self.read((), np.int8, 0.05, 3, known=True)),
                self.op("Gather", x, self.ints(3, 0, -1), axis=1),
                self.op("Expand", self.read((1, 4, 1, 5), dtype), self.ints(2, 4, 3, 5)),
                self.op("Tile", x, self.ints(1, 1, 2, 1)),
                self.op("Resize", x, "", self.graph.constant(np.float32([1, 1, 2, 3])),
                        mode="nearest", coordinate_transformation_mode="asymmetric",
                        nearest_mode="floor"),
                self.op("DepthToSpace", x, blocksize=2),
                self.op("MaxPool", x, kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 1, 1]),
                self.op("MaxPool", x, kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1),
                self.op("MaxPool", x, kernel_shape=[2, 2], dilations=[2, 3]),
                self.op("GlobalMaxPool", x),
                self.op("ReduceMax", x, self.ints(1, 2)), self.op("ReduceMin", x, self.ints(3)),
            ]
            for name in moved:
                self.write(name, dtype, scale, zero)
        self.check(share=0)

    def test_means(self):
        """Of odd numbers of elements, or with other scales: none lies halfway between two
        integers, which floats round either way."""
        for dtype in TYPES:
            x = self.read((2, 3, 7, 9), dtype)
            pads = [1, 1, 1, 0]
            for how in (dict(kernel_shape=[3, 3]), dict(kernel_shape=[3, 5], strides=[2, 3]),
                        dict(kernel_shape=[3, 3], pads=pads, count_include_pad=1),
                        dict(kernel_shape=[3, 3], pads=pads, strides=[2, 2], ceil_mode=1,
                             count_include_pad=1),
                        dict(kernel_shape=[3, 3], pads=pads, strides=[2, 2]),
                        dict(kernel_shape=[90, 80], strides=[90, 80], ceil_mode=1),
                        dict(kernel_shape=[7, 80], strides=[1, 80], ceil_mode=1,
                             count_include_pad=1)):
                self.write(self.op("AveragePool", x, **how), dtype, 0.037)
            self.write(self.op("GlobalAveragePool", x), dtype, 0.01)
            for axes in ((2, 3), (3,), (1,), (0, 1), (-1, -2)):
                self.write(self.op("ReduceMean", x, self.ints(*axes), keepdims=0), dtype, 0.02)
            line = self.read((2, 3, 9), dtype)
            self.write(self.op("AveragePool", line, kernel_shape=[3]), dtype, 0.02)
            self.write(self.op("GlobalAveragePool", line), dtype, 0.01)
        self.check()

    def test_halves(self):
        """Averages of even numbers of elements may lie halfway between two integers: each
        becomes the nearest, or one of two."""
        x = self.read((1, 6, 8, 8))
        integers = self.graph.feeds["x0"].astype(np.int64) - 100
        wants = [integers.reshape(1, 6, 4, 2, 4, 2).sum(axis=(3, 5)) / 4,
                 integers.reshape(1, 6, 2, 4, 8).sum(axis=3) / 4]
        for how in (dict(kernel_shape=[2, 2], strides=[2, 2]),
                    dict(kernel_shape=[4, 1], strides=[4, 1])):
            self.write(self.op("AveragePool", x, **how))
        for target in ("native", "portable"):
            actual = self.graph.run(target=target)
            for name, want in zip(self.graph.expected, wants):
                self.assertGreater((want % 1 == 0.5).sum(), 5)
                apart = np.abs(actual[name].astype(int) - 100 - want)
                self.assertLessEqual(apart.max(), 0.5, name)

    def test_products(self):
        for dtype, weights in itertools.product(TYPES, (0, 3)):
            def weight(shape, zero=weights):
                return self.read(shape, np.int8, 0.02, zero, known=True)

            line, image = self.read((2, 4, 11), dtype), self.read((1, 4, 7, 6), dtype)
            self.write(self.op("Conv", line, weight((6, 4, 3)), pads=[1, 1]), dtype, 0.3)
            self.write(self.op("Conv", image, weight((6, 2, 3, 3)), group=2, strides=[2, 1]),
                       dtype, 0.3)
            y = self.op("Conv", image, weight((4, 4, 1, 1)),
                        self.graph.constant(random.uniform(-3, 3, 4).astype(np.float32)))
            self.write(self.op("HardSwish", y), dtype, 0.3)
            self.write(self.op("Add", self.op("Relu", y), image), dtype, 0.3)
            self.write(self.op("ConvTranspose", image, weight((4, 3, 3, 2)), strides=[2, 2],
                               pads=[1, 0, 0, 1], output_padding=[1, 0]), dtype, 0.3)
            self.write(self.op("ConvTranspose", image, weight((4, 3, 2, 2)), self.graph.constant(
                random.uniform(-3, 3, 3).astype(np.float32)), strides=[2, 2]), dtype, 0.3)
            self.write(self.op("ConvTranspose", image, weight((4, 2, 3, 3)), group=2), dtype, 0.3)
            self.write(self.op("ConvTranspose", line, weight((4, 2, 3)), strides=[2]), dtype, 0.3)
            rows, columns = self.read((2, 3, 8), dtype), self.read((2, 8, 5), dtype, 0.03, 9)
            self.write(self.op("MatMul", rows, columns), dtype, 0.3)
            self.write(self.op("MatMul", rows, self.op(
                "Transpose", self.read((2, 5, 8), dtype), perm=[0, 2, 1])), dtype, 0.3)
            self.write(self.op("MatMul", rows, weight((8, 5))), dtype, 0.3)
            flat = self.read((3, 8), dtype)
            c = self.graph.constant(random.uniform(-3, 3, 5).astype(np.float32))
            self.write(self.op("Gemm", flat, weight((8, 5)), c), dtype, 0.3)
            self.write(self.op("Gemm", flat, weight((5, 8)), c, transB=1, alpha=0.5, beta=2.0),
                       dtype, 0.3)
            self.write(self.op("Gemm", self.read((8, 3), dtype), weight((8, 5)), transA=1),
                       dtype, 0.3)
        # y has two readers.
        self.check(floats=4)

    def test_scales_of_transposed_convolutions(self):
        """Scales along the results are those of integers, and scales along what is summed are
        not, though there may be as many of both."""
        image = self.read((2, 4, 5, 6), np.int8)
        for axis, group in (0, 1), (1, 1), (0, 2), (1, 2):
            values = random.integers(-127, 128, (4, 4 // group, 2, 2)).astype(np.int8)
            scales = random.uniform(0.001, 0.05, values.shape[axis]).astype(np.float32)
            w = self.op("DequantizeLinear", self.graph.constant(values),
                        self.graph.constant(scales), axis=axis)
            self.write(self.op("ConvTranspose", image, w, strides=[2, 2], group=group), np.int8,
                       0.3)
        # The image is dequantized once for all three.
        self.check(floats=4)

    def test_coarse_biases(self):
        """Biases between multiples of scale(x) * scale(w), which is up to forty units of the
        result: they are not rounded to multiples."""
        for dtype, scale in itertools.product(TYPES, (0.013, 0.17)):
            def weight(shape):
                values = random.integers(-1, 2, shape).astype(np.int8)
                return self.op("DequantizeLinear", self.graph.constant(values),
                               self.graph.constant(np.float32(scale)),
                               self.graph.constant(np.int8(0)))

            def floats(*shape):
                return self.graph.constant(random.uniform(-4, 4, shape).astype(np.float32))

            def fewer(shape):
                return self.read(shape, dtype, 7.3 * scale, np.iinfo(dtype).min + 128)

            flat, image, line = fewer((5, 6)), fewer((2, 4, 5, 6)), fewer((2, 4, 7))
            to, how = dtype, dict(scale=0.037, zero=np.iinfo(dtype).min + 120)
            self.write(self.op("Gemm", flat, weight((6, 8)), floats(8)), to, **how)
            self.write(self.op("Gemm", flat, weight((8, 6)), floats(1, 8), transB=1), to, **how)
            self.write(self.op("Add", self.op("MatMul", flat, weight((6, 8))), floats(8)),
                       to, **how)
            self.write(self.op("Add", floats(8), self.op("MatMul", flat, weight((6, 8)))),
                       to, **how)
            self.write(self.op("Conv", image, weight((5, 4, 3, 3)), floats(5), pads=[1] * 4),
                       to, **how)
            self.write(self.op("Conv", image, weight((4, 1, 3, 3)), floats(4), group=4), to, **how)
            self.write(self.op("Relu", self.op("Conv", image, weight((8, 4, 1, 1)), floats(8))),
                       to, 0.037, np.iinfo(dtype).min)
            self.write(self.op("Clip", self.op("Conv", line, weight((8, 4, 3)), floats(8)),
                               self.graph.constant(np.float32(-1)),
                               self.graph.constant(np.float32(3))), to, **how)
            self.write(self.op("ConvTranspose", image, weight((4, 3, 2, 2)), floats(3),
                               strides=[2, 2]), to, **how)
            # A bias of 8 bits with a scale of its own.
            self.write(self.op("Gemm", flat, weight((6, 8)), self.read((8,), np.int8, 0.029, 3,
                                                                      known=True)), to, **how)
            # Huge beside its unit.
            self.write(self.op("Gemm", flat, weight((6, 8)), self.graph.constant(
                np.full(8, 3e10, np.float32))), to, **how)
        self.check()

    def test_mixed(self):
        """What other layers need as floats, or several times."""
        x = self.read((1, 6, 4))
        self.write(self.op("Softmax", x, axis=-1), np.uint8, 1 / 256, 0)
        self.write(self.op("Relu", x), np.int8)
        self.write(self.op("Add", x, self.op("ReduceMean", x, self.ints(1), keepdims=1)))
        self.graph.add("Transpose", x, perm=[0, 2, 1])
        self.write(self.op("Div", x, self.op("Add", self.op("Abs", x), self.graph.constant(
            np.float32(1.5)))), np.int8, 0.01)
        self.write(self.op("Where", self.graph.input(random.random((1, 6, 4)) > 0.5), x,
                           self.read((1, 6, 4), np.int8)))
        known = compute(self.graph)
        actual = self.graph.run(target="portable")
        for name, want in known.items():
            unit = 1e-6 if want.dtype == np.float32 else 1
            self.assertLessEqual(np.abs(actual[name].astype(float) - want).max(), unit, name)


if __name__ == "__main__":
    sys.exit(unittest.main())
