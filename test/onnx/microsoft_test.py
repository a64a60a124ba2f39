"""onnxruntime's own quantized operators (domain com.microsoft), against onnxruntime
without its optimizations: integers within one unit, and almost all of them equal."""

import itertools
import sys
import unittest

import ml_dtypes
import numpy as np
import onnxruntime
from onnx import helper

import emitted
from graphs import Graph

random = np.random.default_rng(17)
TYPES = [np.uint8, np.int8]


class Extended(Graph):
    """A graph of nodes of the domain com.microsoft."""

    def add(self, op, *operands, **attributes):
        return super().add(op, *operands, domain="com.microsoft", **attributes)

    def model(self):
        model = super().model()
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        return model

    def integers(self, shape, dtype):
        info = np.iinfo(dtype)
        return self.input(random.integers(info.min, info.max + 1, shape).astype(dtype))

    def parameters(self, dtype, scale=None, count=None, zero=None):
        """A scale and a zero point: the names of two constants."""
        scale = np.float32(random.uniform(0.01, 0.04, count) if scale is None else scale)
        info = np.iinfo(dtype)
        if zero is None:
            zero = random.integers(info.min // 2, info.max // 2 + 1, count)
        return self.constant(scale), self.constant(np.asarray(zero, dtype))

    def quantized(self, shape, dtype):
        return (self.integers(shape, dtype), *self.parameters(dtype))


class Microsoft(unittest.TestCase):
    def check(self, graph, units=1):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        session = onnxruntime.InferenceSession(graph.model().SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        wanted = dict(zip(graph.expected, session.run(list(graph.expected), graph.feeds)))
        actual = graph.run(target="portable")
        total = differing = 0
        for name, want in wanted.items():
            got = actual[name]
            self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), name)
            if want.dtype == np.float32:
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5, err_msg=name)
                continue
            self.assertGreater(len(np.unique(want)), 3, name)  # not all saturated
            apart = np.abs(got.astype(int) - want.astype(int))
            self.assertLessEqual(apart.max(), units, name)
            total, differing = total + apart.size, differing + (apart > 0).sum()
        self.assertLessEqual(differing, 0.01 * total)

    def test_elementwise(self):
        graph = Extended()
        for dtype in TYPES:
            for a, b in itertools.product([(2, 3, 5, 7)], [(2, 3, 5, 7), (3, 1, 1), (1,)]):
                graph.add("QLinearAdd", *graph.quantized(a, dtype), *graph.quantized(b, dtype),
                          *graph.parameters(dtype, 0.05))
                graph.add("QLinearMul", *graph.quantized(a, dtype), *graph.quantized(b, dtype),
                          *graph.parameters(dtype, 0.06))
            x = (3, 40)
            graph.add("QLinearLeakyRelu", *graph.quantized(x, dtype), *graph.parameters(dtype),
                      alpha=0.1)
            graph.add("QLinearSigmoid", *graph.quantized(x, dtype),
                      *graph.parameters(dtype, 1 / 256, zero=np.iinfo(dtype).min))
        self.check(graph)

    def test_pools(self):
        graph = Extended()
        for dtype in TYPES:
            x = (1, 4, 9, 11)
            graph.add("QLinearAveragePool", *graph.quantized(x, dtype),
                      *graph.parameters(dtype, 0.015), kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                      strides=[2, 2])
            graph.add("QLinearAveragePool", *graph.quantized(x, dtype),
                      *graph.parameters(dtype, 0.015), kernel_shape=[2, 3],
                      count_include_pad=1, pads=[0, 1, 0, 1])
            graph.add("QLinearGlobalAveragePool", *graph.quantized((2, 60, 2, 3), dtype),
                      *graph.parameters(dtype, 0.02))
        self.check(graph)

    def test_softmax_and_concat(self):
        graph = Extended()
        for dtype in TYPES:
            low = np.iinfo(dtype).min
            graph.add("QLinearSoftmax", *graph.quantized((3, 12), dtype),
                      *graph.parameters(dtype, 1 / 256, zero=low), axis=-1, opset=13)
            graph.add("QLinearSoftmax", *graph.quantized((2, 3, 5), dtype),
                      *graph.parameters(dtype, 1 / 256, zero=low), axis=1, opset=11)
            graph.add("QLinearConcat", *graph.parameters(dtype),
                      *graph.quantized((2, 3, 4), dtype), *graph.quantized((2, 5, 4), dtype),
                      *graph.quantized((2, 1, 4), dtype), axis=1)
        self.check(graph)

    def test_products(self):
        graph = Extended()
        for a_type, b_type, per_column in [(np.uint8, np.int8, False), (np.uint8, np.int8, True),
                                           (np.uint8, np.uint8, False)]:
            count = 6 if per_column else None
            # Larger weights: onnxruntime's sums of pairs saturate at 16 bits on AVX2.
            b = graph.constant(random.integers(0, 64, (20, 6)).astype(b_type))
            bt = graph.constant(random.integers(0, 64, (6, 20)).astype(b_type))
            bias = graph.constant(random.integers(-9000, 9000, 6).astype(np.int32))
            zero = np.zeros(count or (), b_type)
            graph.add("QGemm", *graph.quantized((4, 20), a_type), b,
                      *graph.parameters(b_type, count=count, zero=zero), bias,
                      *graph.parameters(a_type, 0.3))
            graph.add("QGemm", *graph.quantized((4, 20), a_type), bt,
                      *graph.parameters(b_type, count=count, zero=zero), bias, transB=1)
            real = graph.constant(random.standard_normal(6).astype(np.float32))
            x, x_scale, x_zero = graph.quantized((2, 4, 20), a_type)
            w_scale, w_zero = graph.parameters(b_type, count=count, zero=zero)
            graph.add("MatMulIntegerToFloat", x, b, x_scale, w_scale, x_zero, w_zero, real)
            graph.add("MatMulIntegerToFloat", x, b, x_scale, w_scale, x_zero, w_zero)
            y = graph.input(random.standard_normal((3, 20)).astype(np.float32))
            graph.add("DynamicQuantizeMatMul", y, b, w_scale, w_zero, real)
            graph.add("DynamicQuantizeMatMul", y, b, w_scale, w_zero)
        self.check(graph)

    def test_where(self):
        graph = Extended()
        for dtype in TYPES:
            which = graph.input(random.random((3, 40)) < 0.5)
            graph.add("QLinearWhere", which, *graph.quantized((3, 40), dtype),
                      *graph.quantized((1, 40), dtype), *graph.parameters(dtype))
        self.check(graph)

    def add_attention(self, graph, mask=None, **attributes):
        """Two heads of 8; weights of one scale, and small (see test_products)."""
        attributes.setdefault("num_heads", 2)
        weights = graph.constant(random.integers(-60, 60, (16, 48)).astype(np.int8))
        bias = graph.constant(random.standard_normal(48).astype(np.float32))
        graph.add("QAttention", graph.integers((2, 5, 16), np.uint8), weights, bias,
                  graph.constant(np.float32(0.02)), graph.constant(np.float32(0.01)),
                  graph.input(mask) if mask is not None else "",
                  graph.constant(np.uint8(120)), graph.constant(np.int8(0)), **attributes)

    def test_attention(self):
        graph = Extended()
        mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)
        self.add_attention(graph)
        self.add_attention(graph, mask)
        self.add_attention(graph, unidirectional=1)
        self.add_attention(graph, mask, mask_filter_value=-1.5)
        self.check(graph)

    def test_embedding(self):
        graph = Extended()
        ids = np.array([[3, 1, 4], [1, 5, 8]], np.int32)
        scales = [graph.constant(np.float32(s)) for s in (0.02, 0.03, 0.025, 0.01, 0.015)]
        for segments in (True, False):
            zeros = [graph.constant(np.uint8(z)) for z in (120, 110, 128, 60, 128)]
            tables = [graph.constant(random.integers(0, 256, shape).astype(np.uint8))
                      for shape in ((9, 24), (7, 24), (2, 24), (24,), (24,))]
            absent = [] if segments else [2]
            inputs = [graph.input(ids), graph.input(ids % 2) if segments else ""]
            tables, zeros = (["" if i in absent else v for i, v in enumerate(values)]
                             for values in (tables, zeros))
            given = ["" if i in absent else v for i, v in enumerate(scales)]
            graph.add("QEmbedLayerNormalization", *inputs, *tables, "", *given, *zeros,
                      epsilon=1e-3)
            graph.nodes[-1].output.append(f"lengths{len(graph.nodes)}")
        self.check(graph)

    def test_lacking(self):
        """What nnc does not have, it tells of."""
        graph = Extended()
        self.add_attention(graph, np.array([5, 3], np.int32))
        with self.assertRaisesRegex(emitted.Failure, "QAttention .*mask") as caught:
            graph.run()
        self.assertEqual(caught.exception.code, emitted.LACKING)
        graph = Extended()
        x = graph.input(np.zeros((2, 1, 3), np.float32))
        w = [graph.constant(np.zeros(shape, np.uint8)) for shape in ((1, 3, 16), (1, 4, 16))]
        s, z = graph.constant(np.ones(1, np.float32)), graph.constant(np.zeros(1, np.uint8))
        graph.add("DynamicQuantizeLSTM", x, *w, "", "", "", "", "", s, z, s, z, hidden_size=4)
        with self.assertRaisesRegex(emitted.Failure, "DynamicQuantizeLSTM.*not supported") as caught:
            graph.run()
        self.assertEqual(caught.exception.code, emitted.LACKING)

    def test_wide_and_narrow(self):
        """Quantized integers of 16 and of 4 bits, with blocks."""
        graph = Extended()
        for dtype in (np.int16, np.uint16):
            x = graph.input((random.standard_normal((3, 50)) * 90).astype(np.float32))
            graph.add("QuantizeLinear", x, *graph.parameters(dtype))
            graph.add("DequantizeLinear", *graph.quantized((3, 50), dtype))
        self.check(graph)
        for dtype in (ml_dtypes.int4, ml_dtypes.uint4):
            info = ml_dtypes.iinfo(dtype)
            q, z = (random.integers(int(info.min), int(info.max) + 1, shape).astype(dtype)
                    for shape in ((6, 8), (2, 8)))
            s = random.uniform(0.1, 1, (2, 8)).astype(np.float32)
            graph = Extended()
            graph.add("DequantizeLinear", graph.constant(q), graph.constant(s),
                      graph.constant(z), axis=0, block_size=3)
            graph.input(np.zeros(1, np.float32))
            actual = graph.run(target="portable")
            want = (q.astype(np.float32) - np.repeat(z.astype(np.float32), 3, 0)) * np.repeat(
                s, 3, 0)
            np.testing.assert_array_equal(actual["y0_DequantizeLinear"], want)

    def test_linear(self):
        graph = Extended()
        for dtype in TYPES:
            x = graph.input(random.standard_normal((3, 50)).astype(np.float32))
            graph.add("QuantizeLinear", x, *graph.parameters(dtype))
            graph.add("DequantizeLinear", *graph.quantized((3, 50), dtype))
            graph.add("DequantizeLinear", graph.integers((3, 50), dtype),
                      *graph.parameters(dtype, count=3), axis=0)
        self.check(graph)


if __name__ == "__main__":
    sys.exit(unittest.main())
