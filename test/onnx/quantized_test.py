"""Convolutions and matrix products of integers against the specification's arithmetic:
sums in exact integers, one f32 factor, halves rounded to even. Equal bit for bit."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import emitted
from graphs import Graph

random = np.random.default_rng(36)
TYPES = [np.uint8, np.int8]
TARGETS = ("native", "portable")
NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
BROKEN = 3


def extremes(shape, dtype):
    """Random integers, a quarter of which are the smallest or the largest of the type."""
    info = np.iinfo(dtype)
    values = random.integers(info.min, info.max + 1, shape)
    edge = random.random(shape)
    values = np.where(edge < 0.125, info.min, np.where(edge > 0.875, info.max, values))
    return values.astype(dtype)


def convolve(x, w, pads, strides, dilations, group):
    """The exact sums of a convolution over any number of spatial axes. x and w are centred."""
    spatial = x.ndim - 2
    pad = [(0, 0), (0, 0)] + [(pads[i], pads[spatial + i]) for i in range(spatial)]
    x = np.pad(x.astype(np.int64), pad)
    extent = [(w.shape[2 + i] - 1) * dilations[i] + 1 for i in range(spatial)]
    size = [(x.shape[2 + i] - extent[i]) // strides[i] + 1 for i in range(spatial)]
    y = np.zeros((x.shape[0], w.shape[0], *size), np.int64)
    filters, channels = w.shape[0] // group, w.shape[1]
    for k in range(w.shape[0]):
        first = k // filters * channels
        for tap in itertools.product(*map(range, w.shape[2:])):
            window = tuple(slice(t * d, t * d + (n - 1) * s + 1, s)
                           for t, d, n, s in zip(tap, dilations, size, strides))
            part = x[(slice(None), slice(first, first + channels)) + window]
            weights = w[(k, slice(None)) + tap].reshape((1, -1) + (1,) * spatial)
            y[:, k] += (part * weights.astype(np.int64)).sum(axis=1)
    return y


def requantize(sums, x_scale, w_scale, y_scale, y_zero):
    """The sums as integers of another scale. All scales are f32, and w_scale broadcasts."""
    factor = np.float32(np.float32(x_scale) * np.asarray(w_scale, np.float32))
    factor = np.float32(factor / np.float32(y_scale))
    info = np.iinfo(y_zero.dtype)
    real = np.round(sums.astype(np.float32) * factor) + np.float32(y_zero)
    return np.clip(real, info.min, info.max).astype(y_zero.dtype)


def scales(count=None):
    return np.float32(random.uniform(0.002, 0.05, count))


class Quantized(unittest.TestCase):
    def add_conv(self, graph, x_type, w_type, y_type, per_channel, zeros, *, shape, kernel,
                 filters, group=1, pads=None, strides=None, dilations=None, bias=True,
                 given=None):
        """`given` are scales to take instead of random ones: x_scale, w_scale or y_scale."""
        spatial = len(kernel)
        pads = pads or [0] * 2 * spatial
        strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
        x = extremes(shape, x_type)
        w = extremes((filters, shape[1] // group, *kernel), w_type)
        count = filters if per_channel else None
        x_zero = x_type(extremes((), x_type) if zeros else 0)
        w_zero = extremes(count or (), w_type) if zeros else np.zeros(count or (), w_type)
        y_zero = y_type(extremes((), y_type))
        x_scale, w_scale = scales(), scales(count)
        y_scale = np.float32(0.05 * np.sqrt(w[0].size) * random.uniform(0.3, 3))
        given = {"x_scale": x_scale, "w_scale": w_scale, "y_scale": y_scale, **(given or {})}
        x_scale, w_scale, y_scale = (np.asarray(given[name], np.float32)
                                     for name in ("x_scale", "w_scale", "y_scale"))
        channel = (-1,) + (1,) * spatial
        centred = w.astype(np.int64) - np.reshape(w_zero, channel + (1,))
        sums = convolve(x.astype(np.int64) - int(x_zero), centred, pads, strides, dilations,
                        group)
        operands = [graph.input(x), graph.constant(np.float32(x_scale)),
                    graph.constant(x_zero), graph.constant(w),
                    graph.constant(np.float32(w_scale)), graph.constant(w_zero),
                    graph.constant(y_scale), graph.constant(y_zero)]
        if bias:
            added = random.integers(-20000, 20000, filters).astype(np.int32)
            operands.append(graph.constant(added))
            sums = sums + added.reshape(channel)
        w_scale_of_sums = np.reshape(w_scale, channel if per_channel else ())
        expected = requantize(sums, x_scale, w_scale_of_sums, y_scale, y_zero)
        graph.add("QLinearConv", *operands, expected=expected, group=group, pads=pads,
                  strides=strides, dilations=dilations)

    def check(self, graph):
        for target in emitted.in_turn(TARGETS, self.id()):
            with self.subTest(target=target):
                graph.check(target=target)

    def test_dot_products(self):
        """Targets with routines of their own for products of bytes."""
        graph = Graph()
        for zeros, strides in ((False, [1, 1]), (True, [2, 1])):
            common = dict(x_type=np.uint8, w_type=np.int8, y_type=np.uint8, per_channel=True,
                          zeros=zeros, strides=strides)
            self.add_conv(graph, **common, shape=(1, 3, 11, 10), kernel=(3, 3), filters=13,
                          pads=[1, 0, 1, 2])
            self.add_conv(graph, **common, shape=(2, 21, 9, 10), kernel=(3, 3), filters=18,
                          pads=[1, 1, 1, 1])
            self.add_conv(graph, **common, shape=(1, 40, 9, 8), kernel=(1, 1), filters=9)
            self.add_conv(graph, **common, shape=(1, 9, 12, 13), kernel=(3, 3), filters=9,
                          group=9, pads=[1, 1, 1, 1])
            self.add_conv(graph, **common, shape=(1, 24, 9, 8), kernel=(3, 3), filters=16,
                          group=2)
        for target in ("aarch64-dotprod", "aarch64-i8mm"):
            with self.subTest(target=target):
                graph.check(target=target)

    def test_conv_types(self):
        """All types, symmetric and asymmetric, with a scale for each filter or one."""
        graph = Graph()
        for x_type, w_type, y_type, per_channel, zeros in itertools.product(
                TYPES, TYPES, TYPES, (False, True), (False, True)):
            self.add_conv(graph, x_type, w_type, y_type, per_channel, zeros,
                          shape=(1, 5, 7, 6), kernel=(3, 3), filters=4, pads=[1, 0, 1, 2])
        self.check(graph)

    # Scales that no quantized type holds: of pruned channels, negative, and too large a product.
    UNUSUAL = [{"w_scale": [0.01, 0, 0.02, 0]}, {"w_scale": [0, 0, 0, 0]},
               {"w_scale": [0.01, -0.02, 0, 0.03]},
               {"w_scale": [1e30, 1, 2, 0], "x_scale": 1e10, "y_scale": 1e12}]

    def test_with_unusual_scales_conv(self):
        graph = Graph()
        for given, bias, zeros in itertools.product(self.UNUSUAL, (True, False), (True, False)):
            for group, kernel in ((1, (3, 3)), (4, (3, 3)), (1, (1, 1))):
                self.add_conv(graph, np.uint8, np.int8, np.uint8, "w_scale" in given, zeros,
                              shape=(1, 4, 5, 6), kernel=kernel, filters=4, group=group,
                              bias=bias, given=given)
        self.check(graph)

    def test_with_unusual_scales_matmul(self):
        graph = Graph()
        for given, constant in itertools.product(self.UNUSUAL, (True, False)):
            a, b = extremes((3, 7), np.uint8), extremes((7, 4), np.int8)
            a_zero, b_zero, y_zero = np.uint8(9), np.int8(-4), np.uint8(77)
            given = {"x_scale": 0.01, "w_scale": 0.02, "y_scale": 0.4, **given}
            x_scale, w_scale, y_scale = (np.asarray(given[name], np.float32)
                                         for name in ("x_scale", "w_scale", "y_scale"))
            w_zero = np.full(w_scale.shape, b_zero)
            sums = np.matmul(a.astype(np.int64) - int(a_zero), b.astype(np.int64) - int(b_zero))
            right = graph.constant(b) if constant else graph.input(b)
            graph.add("QLinearMatMul", graph.input(a), graph.constant(x_scale),
                      graph.constant(a_zero), right, graph.constant(w_scale),
                      graph.constant(w_zero), graph.constant(y_scale), graph.constant(y_zero),
                      expected=requantize(sums, x_scale, w_scale, y_scale, y_zero))
        self.check(graph)

    def test_with_pruned_channels_keeps_its_routine(self):
        """A channel whose scale is 0 does not make a layer compute in wider integers."""
        layers = []
        for last in (0.01, 0):
            graph = Graph()
            self.add_conv(graph, np.uint8, np.int8, np.uint8, True, False, shape=(1, 8, 9, 9),
                          kernel=(3, 3), filters=8, given={"w_scale": [0.01] * 7 + [last]})
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "pruned.onnx"
                onnx.save(graph.model(), path)
                module = emitted.compile_model(path, path.parent / "out", target="x86-64-v3")
                layers.append([layer["routine"] for layer in module.manifest["layers"]])
        self.assertEqual(*layers)

    def test_with_a_scale_for_each_word_of_a_vocabulary(self):
        """The integers of a product with thousands of columns are not multiplied as floats."""
        random = np.random.default_rng(5)
        for columns in (40, 5000):
            codes = random.integers(-127, 128, (16, columns)).astype(np.int8)
            scales = random.uniform(0.01, 0.02, columns).astype(np.float32)
            x_scale, x_zero = np.float32(0.03), np.uint8(120)
            nodes = [
                helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
                helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
                helper.make_node("DequantizeLinear", ["wq", "ws"], ["wd"], axis=1),
                helper.make_node("MatMul", ["xd", "wd"], ["y"])]
            graph = helper.make_graph(
                nodes, "vocabulary",
                [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4, 16])],
                [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4, columns])],
                [numpy_helper.from_array(np.asarray(value), name) for name, value in
                 (("xs", x_scale), ("xz", x_zero), ("wq", codes), ("ws", scales))])
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "vocabulary.onnx"
                onnx.save(helper.make_model(
                    graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
                module = emitted.compile_model(path, path.parent / "out", target="x86-64-v3")
                products = [layer["routine"] for layer in module.manifest["layers"]
                            if layer["routine"].startswith("matmul")]
                self.assertEqual([name.split("_")[1] for name in products], ["i32"])

    def test_without_finite_scales(self):
        """The message says where such scales come from and what to do."""
        for scale, origin in ((np.inf, "attention mask of -inf"), (np.nan, "holds NaN")):
            for made in ("QLinearConv", "QLinearMatMul", "QuantizeLinear", "DequantizeLinear"):
                graph = Graph()
                if made == "QLinearConv":
                    self.add_conv(graph, np.uint8, np.int8, np.uint8, True, False,
                                  shape=(1, 2, 5, 5), kernel=(3, 3), filters=2,
                                  given={"w_scale": [0.1, scale]})
                elif made == "QLinearMatMul":
                    byte, zero = graph.input(extremes((3, 3), np.uint8)), np.uint8(0)
                    graph.add("QLinearMatMul", byte, graph.constant(np.float32(0.1)),
                              graph.constant(zero), byte, graph.constant(np.float32(scale)),
                              graph.constant(zero), graph.constant(np.float32(0.1)),
                              graph.constant(zero), expected=0)
                else:
                    dtype = np.float32 if made == "QuantizeLinear" else np.uint8
                    graph.add(made, graph.input(np.ones((2, 3), dtype)),
                              graph.constant(np.float32(scale)), graph.constant(np.uint8(0)),
                              expected=0)
                with self.subTest(made, scale=scale), tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "model.onnx"
                    onnx.save(graph.model(), path)
                    with self.assertRaises(emitted.Failure) as caught:
                        emitted.compile_model(path, path.parent / "out", target="portable")
                    self.assertEqual(caught.exception.code, BROKEN)
                    self.assertRegex(str(caught.exception), f"node 'y.*{made}.*{origin}")
                    self.assertIn("quantize", str(caught.exception).rsplit("; ")[-1])

    def test_conv_shapes(self):
        graph = Graph()
        for zeros in (False, True):
            common = dict(graph=graph, x_type=np.uint8, w_type=np.int8, y_type=np.uint8,
                          per_channel=True, zeros=zeros)
            self.add_conv(**common, shape=(2, 3, 9, 8), kernel=(1, 1), filters=7)
            self.add_conv(**common, shape=(1, 6, 9, 8), kernel=(3, 3), filters=6, group=6,
                          pads=[1, 1, 1, 1])
            self.add_conv(**common, shape=(1, 6, 9, 11), kernel=(3, 2), filters=9, group=3,
                          strides=[2, 3], bias=False)
            self.add_conv(**common, shape=(1, 2, 12, 13), kernel=(3, 3), filters=3,
                          dilations=[2, 3], pads=[2, 3, 2, 3])
            self.add_conv(**common, shape=(1, 4, 70), kernel=(5,), filters=3, pads=[2, 2],
                          strides=[2])
            self.add_conv(**common, shape=(1, 300, 3, 2), kernel=(3, 2), filters=2)
        self.check(graph)

    def test_matmul(self):
        graph = Graph()
        shapes = [((5, 7), (7, 3)), ((2, 5, 70), (70, 4)), ((2, 3, 4, 6), (2, 3, 6, 5)),
                  ((1, 65), (65, 130))]
        for (a_shape, b_shape), a_type, b_type, zeros, constant in itertools.product(
                shapes, TYPES, TYPES, (False, True), (False, True)):
            a, b = extremes(a_shape, a_type), extremes(b_shape, b_type)
            per_column = zeros and len(b_shape) == 2
            count = b_shape[-1] if per_column else None
            a_zero = a_type(extremes((), a_type) if zeros else 0)
            b_zero = extremes(count or (), b_type) if zeros else b_type(0)
            y_zero = a_type(extremes((), a_type))
            a_scale, b_scale, y_scale = scales(), scales(count), np.float32(0.7)
            sums = np.matmul(a.astype(np.int64) - int(a_zero), b.astype(np.int64) - b_zero)
            right = graph.constant(b) if constant else graph.input(b)
            graph.add("QLinearMatMul", graph.input(a), graph.constant(np.float32(a_scale)),
                      graph.constant(a_zero), right, graph.constant(np.float32(b_scale)),
                      graph.constant(b_zero), graph.constant(y_scale), graph.constant(y_zero),
                      expected=requantize(sums, a_scale, b_scale, y_scale, y_zero))
        self.check(graph)

    def test_rows(self):
        """Rows of the first operand with scales and zero points of their own."""
        graph = Graph()
        for known in (False, True):
            a, b = extremes((5, 9), np.uint8), extremes((9, 5), np.int8)
            a_zero, a_scale = extremes((5,), np.uint8), scales(5)
            b_zero, b_scale = extremes((5,), np.int8), scales(5)
            place = graph.constant if known else graph.input
            sums = np.matmul(a.astype(np.int64) - a_zero[:, None],
                             b.astype(np.int64) - b_zero)
            graph.add("MatMulInteger", graph.input(a), graph.constant(b), place(a_zero),
                      place(b_zero), expected=sums.astype(np.int32))
            y_zero = np.int8(-3)
            graph.add("QLinearMatMul", graph.input(a), place(a_scale), place(a_zero),
                      graph.constant(b), place(b_scale), place(b_zero),
                      graph.constant(np.float32(0.3)), graph.constant(y_zero),
                      expected=requantize(sums, a_scale[:, None], b_scale, 0.3, y_zero))
        self.check(graph)

    def test_batches(self):
        """Matrices of a batch with scales and zero points of their own."""
        graph = Graph(opset=21)
        for known in (False, True):
            a, b = extremes((2, 3, 7), np.uint8), extremes((2, 7, 4), np.int8)
            a_scale, b_scale = scales((2, 3, 1)), scales((2, 1, 4))
            a_zero, b_zero = extremes((2, 3, 1), np.uint8), extremes((2, 1, 4), np.int8)
            place = graph.constant if known else graph.input
            sums = np.matmul(a.astype(np.int64) - a_zero, b.astype(np.int64) - b_zero)
            y_zero = np.uint8(100)
            graph.add("QLinearMatMul", graph.input(a), place(a_scale), place(a_zero),
                      graph.constant(b), place(b_scale), place(b_zero),
                      graph.constant(np.float32(0.3)), graph.constant(y_zero),
                      expected=requantize(sums, a_scale, b_scale, 0.3, y_zero))
        self.check(graph)

    def test_empty(self):
        """Sums of no products are 0."""
        graph = Graph()
        def parameters(zero):
            return graph.constant(np.float32(0.1)), graph.constant(zero)
        graph.add("QLinearMatMul", graph.input(np.zeros((2, 0), np.uint8)),
                  *parameters(np.uint8(3)), graph.constant(np.zeros((0, 4), np.int8)),
                  *parameters(np.int8(-2)), *parameters(np.uint8(77)),
                  expected=np.full((2, 4), 77, np.uint8))
        graph.add("QLinearConv", graph.input(np.zeros((1, 0, 5, 5), np.uint8)),
                  *parameters(np.uint8(3)), graph.constant(np.zeros((2, 0, 3, 3), np.int8)),
                  *parameters(np.int8(0)), *parameters(np.int8(-5)),
                  graph.constant(np.asarray([0, 1000], np.int32)),
                  expected=np.broadcast_to(np.asarray([-5, 95], np.int8)[:, None, None],
                                           (1, 2, 3, 3)))
        graph.add("MatMulInteger", graph.input(np.zeros((2, 0), np.uint8)),
                  graph.constant(np.zeros((0, 4), np.int8)), expected=np.zeros((2, 4), np.int32))
        graph.add("QLinearMatMul", graph.input(np.zeros((0, 3), np.uint8)),
                  *parameters(np.uint8(3)), graph.constant(np.zeros((3, 4), np.int8)),
                  *parameters(np.int8(-2)), *parameters(np.uint8(77)),
                  expected=np.zeros((0, 4), np.uint8))
        self.check(graph)

    def test_unsound(self):
        """Scales and zero points that no specification allows are told of, with a code."""
        good = dict(x_scale=np.float32(0.1), x_zero=np.uint8(1), w_scale=scales(2),
                    w_zero=np.zeros(2, np.int8), y_scale=np.float32(1), y_zero=np.uint8(0))
        cases = [("x_scale", 0.0, BROKEN), ("x_scale", -1.0, BROKEN),
                 ("x_scale", np.nan, BROKEN), ("w_scale", [np.inf, 1], BROKEN),
                 ("y_scale", 0.0, BROKEN), ("w_scale", [1, 2, 3], BROKEN),
                 ("w_zero", [1, 2, 3], BROKEN), ("x_scale", [], BROKEN),
                 ("x_zero", [1, 2], BROKEN), ("y_scale", [1, 2], BROKEN),
                 ("x_scale", 1e-30, None), ("w_scale", [1e-38, 1e-38], None)]
        for name, value, code in cases:
            with self.subTest(name=name, value=value):
                given = dict(good)
                given[name] = np.asarray(value, good[name].dtype)
                if name == "w_scale" and code is None:  # the product underflows
                    given["x_scale"], code = np.float32(1e-30), BROKEN
                graph = Graph()
                operands = [graph.input(extremes((1, 1, 3, 3), np.uint8))]
                operands += [graph.constant(given[key]) for key in ("x_scale", "x_zero")]
                operands.append(graph.constant(extremes((2, 1, 2, 2), np.int8)))
                operands += [graph.constant(given[key])
                             for key in ("w_scale", "w_zero", "y_scale", "y_zero")]
                graph.add("QLinearConv", *operands)
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "unsound.onnx"
                    onnx.save(graph.model(), path)
                    done = subprocess.run([NNC, "compile", path, "-o", path.parent / "out"],
                                          capture_output=True, text=True)
                self.assertEqual(done.returncode, code or 0, done.stderr)
                if code:
                    self.assertRegex(done.stderr, "unsound.onnx: error: node '.*': QLinearConv")

    def test_integers(self):
        """ConvInteger and MatMulInteger, with zero points that are known or computed."""
        graph = Graph()
        for x_type, w_type, known in itertools.product(TYPES, TYPES, (False, True)):
            place = graph.constant if known else graph.input
            x, w = extremes((1, 3, 6, 7), x_type), extremes((4, 3, 3, 3), w_type)
            x_zero, w_zero = extremes((), x_type), extremes((), w_type)
            sums = convolve(x.astype(np.int64) - x_zero, w.astype(np.int64) - w_zero,
                            [1, 1, 1, 1], [1, 1], [1, 1], 1)
            graph.add("ConvInteger", graph.input(x), graph.constant(w), place(x_zero),
                      place(w_zero), pads=[1, 1, 1, 1], expected=sums.astype(np.int32))
            a, b = extremes((3, 40), x_type), extremes((40, 5), w_type)
            b_zero = extremes((5,), w_type)
            product = np.matmul(a.astype(np.int64) - x_zero, b.astype(np.int64) - b_zero)
            graph.add("MatMulInteger", graph.input(a), graph.constant(b), place(x_zero),
                      place(b_zero), expected=product.astype(np.int32))
            graph.add("MatMulInteger", graph.input(a), graph.input(b),
                      expected=np.matmul(a.astype(np.int32), b.astype(np.int32)))
        self.check(graph)

    def test_qdq(self):
        """Float layers between DequantizeLinear and QuantizeLinear: on a target without
        vector routines they are integer layers, within one unit of the float ones."""
        graph = Graph(opset=19)
        layers = 0

        def dequantize(name, scale, zero, **how):
            return graph.hidden("DequantizeLinear", name, graph.constant(np.float32(scale)),
                                graph.constant(zero), **how)

        def quantize(name, scale, zero):
            graph.add("QuantizeLinear", name, graph.constant(np.float32(scale)),
                      graph.constant(zero))

        for dtype, per_channel, activation in itertools.product(
                TYPES, (False, True), (None, "Relu", "Clip")):
            low = np.iinfo(dtype).min
            x_scale, w_scale = scales(), scales(6 if per_channel else None)
            x = dequantize(graph.input(extremes((1, 4, 7, 6), dtype)), x_scale,
                           dtype(extremes((), dtype)))
            w = dequantize(graph.constant(extremes((6, 4, 3, 3), np.int8)), w_scale,
                           np.zeros_like(w_scale, np.int8), **({"axis": 0} if per_channel else {}))
            bias = dequantize(graph.constant(random.integers(-9999, 9999, 6).astype(np.int32)),
                              np.float32(x_scale) * w_scale, np.zeros_like(w_scale, np.int32),
                              **({"axis": 0} if per_channel else {}))
            y = graph.hidden("Conv", x, w, bias, pads=[1, 1, 1, 1])
            if activation:
                bounds = [graph.constant(np.float32(b)) for b in (0, 51)]
                y = graph.hidden(activation, y, *(bounds if activation == "Clip" else []))
            zero = dtype(low) if activation else dtype(low // 2 + 60)
            quantize(y, 0.2, zero)
            layers += 1

            a = dequantize(graph.input(extremes((3, 33), dtype)), x_scale, dtype(7))
            b = dequantize(graph.constant(extremes((6, 33), np.int8)), w_scale,
                           np.zeros_like(w_scale, np.int8), **({"axis": 0} if per_channel else {}))
            c = graph.constant(random.uniform(-9, 9, 6).astype(np.float32))
            quantize(graph.hidden("Gemm", a, b, c, transB=1), 0.2, dtype(low // 2 + 60))
            layers += 1
        known = ReferenceEvaluator(graph.model()).run(None, graph.feeds)
        differing = total = 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "qdq.onnx"
            onnx.save(graph.model(), path)
            module = emitted.compile_model(path, path.parent / "out", target="portable")
            routines = [layer["routine"] for layer in module.manifest["layers"]]
            module.build()
            actual = module(graph.feeds)
        self.assertEqual(sum("_i32_" in routine for routine in routines), layers)
        for name, want in zip(graph.expected, known):
            apart = np.abs(actual[name].astype(int) - want.astype(int))
            self.assertLessEqual(apart.max(), 1, name)
            self.assertGreater(len(np.unique(want)), 3, name)
            differing, total = differing + (apart > 0).sum(), total + apart.size
        self.assertLessEqual(differing, 0.01 * total)

    def test_verify(self):
        """nnc verify knows the reference of quantized operators."""
        graph = Graph()
        self.add_conv(graph, np.uint8, np.int8, np.uint8, True, True, shape=(1, 3, 6, 6),
                      kernel=(3, 3), filters=4, pads=[1, 1, 1, 1])
        x = graph.hidden("QuantizeLinear", graph.input(np.ones((2, 9), np.float32)),
                         graph.constant(np.float32(0.02)), graph.constant(np.int8(3)))
        parts = [graph.hidden("DequantizeLinear", name, graph.constant(np.float32(0.02)),
                              graph.constant(np.int8(zero)))
                 for name, zero in ((x, 3), (graph.constant(extremes((9, 5), np.int8)), 0))]
        graph.add("QuantizeLinear", graph.hidden("MatMul", *parts),
                  graph.constant(np.float32(0.1)), graph.constant(np.int8(-4)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "verified.onnx"
            onnx.save(graph.model(), path)
            for target in TARGETS:
                done = subprocess.run([NNC, "verify", path, f"--target={target}"],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("same", done.stdout)

    def test_dynamic(self):
        """What dynamic quantization makes of a layer: its input's scale is computed."""
        graph = Graph()
        x = random.standard_normal((4, 33)).astype(np.float32)
        w, w_scale = extremes((33, 6), np.int8), scales(6)
        low, high = min(x.min(), 0), max(x.max(), 0)
        scale = np.float32((high - low) / np.float32(255))
        zero = np.uint8(np.clip(np.round(np.float32(0 - low) / scale), 0, 255))
        q = np.clip(np.round(x / scale) + np.float32(zero), 0, 255).astype(np.uint8)
        sums = np.matmul(q.astype(np.int32) - int(zero), w.astype(np.int32))
        graph.nodes.append(helper.make_node("DynamicQuantizeLinear", [graph.input(x)],
                                            ["q", "s", "z"], "quantize"))
        product = graph.add("MatMulInteger", "q", graph.constant(w), "z",
                            expected=sums.astype(np.int32))
        real = graph.hidden("Cast", product, to=1)
        factor = graph.hidden("Mul", "s", graph.constant(w_scale))
        graph.add("Mul", real, factor, expected=sums.astype(np.float32) * (scale * w_scale))
        self.check(graph)


if __name__ == "__main__":
    sys.exit(unittest.main())
