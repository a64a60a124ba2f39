"""Tests onnxruntime's own operators (domain com.microsoft) against onnxruntime without its
optimizations: integers are within one unit, and almost all of them are equal. Networks written
by its optimizers are tested, too."""

import itertools
import math
import os
import pathlib
import sys
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
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
    def check(self, graph, units=1, judge=None, whole=True):
        """Compares with what onnxruntime computes for the graph, or for a `judge` with the same
        outputs. Integers vary, unless `whole` is false."""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        judge = judge or graph
        session = onnxruntime.InferenceSession(judge.model().SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        wanted = dict(zip(judge.expected, session.run(list(judge.expected), judge.feeds)))
        actual = graph.run(target="portable")
        total = differing = 0
        for name, want in wanted.items():
            got = actual[name]
            self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), name)
            if want.dtype == np.float32:
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5, err_msg=name)
                continue
            if whole:
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

    def floats(self, graph, *shapes, scale=1.0):
        """Names of inputs with random numbers."""
        return [graph.input((random.standard_normal(s) * scale).astype(np.float32))
                for s in shapes]

    def more(self, graph, *positions):
        """Gives the last node outputs at these positions, which are outputs of the graph."""
        node = graph.nodes[-1]
        for i in range(1, max(positions) + 1):
            node.output.append(f"{node.output[0]}_{i}" if i in positions else "")
            if i in positions:
                graph.expected[node.output[-1]] = None

    def test_gelu(self):
        graph = Extended()
        x, bias = self.floats(graph, (2, 5, 16), (16,))
        for op in ("Gelu", "FastGelu", "QuickGelu"):
            graph.add(op, x)
        graph.add("QuickGelu", x, alpha=1.0)
        graph.add("FastGelu", x, bias)
        graph.add("BiasGelu", x, bias)
        self.check(graph)

    def test_fused_layers(self):
        graph = Extended()
        x, w, b, z = self.floats(graph, (1, 3, 8, 8), (4, 3, 3, 3), (4,), (1, 4, 8, 8))
        for activation, numbers in [("Relu", []), ("Sigmoid", []), ("Tanh", []),
                                    ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5]),
                                    ("HardSigmoid", [0.3, 0.4])]:
            more = {"activation_params": numbers} if numbers else {}
            graph.add("FusedConv", x, w, b, activation=activation, pads=[1] * 4, **more)
        graph.add("FusedConv", x, w, b, z, activation="Relu", pads=[1] * 4)
        graph.add("FusedConv", x, w, strides=[2, 2], activation="Relu")
        a, c, d = self.floats(graph, (4, 6), (6, 5), (5,))
        graph.add("FusedGemm", a, c, d, activation="Relu", alpha=0.5, beta=2.0)
        at, ct = self.floats(graph, (6, 4), (5, 6))
        graph.add("FusedGemm", at, ct, d, activation="LeakyRelu", activation_alpha=0.3, transA=1,
                  transB=1)
        self.check(graph)

    def test_fused_products(self):
        graph = Extended()
        for a_first, b_first, a_last, b_last in itertools.product((0, 1), repeat=4):
            m, n, k, batch = 4, 5, 6, (2, 3)
            a = (k, m) if a_last else (m, k)
            b = (n, k) if b_last else (k, n)
            a = (a[0], *batch, a[1]) if a_first else (*batch, *a)
            b = (b[0], *batch, b[1]) if b_first else (*batch, *b)
            graph.add("FusedMatMul", *self.floats(graph, a, b), transA=a_last, transB=b_last,
                      transBatchA=a_first, transBatchB=b_first, alpha=0.25)
        graph.add("FusedMatMul", *self.floats(graph, (4, 6), (5, 6)), transB=1)
        graph.add("TransposeMatMul", *self.floats(graph, (4, 6), (5, 6)), transB=1)
        self.check(graph)

    def test_normalization(self):
        graph = Extended()
        x, skip, gamma, beta, bias = self.floats(graph, (2, 5, 16), (2, 5, 16), (16,), (16,),
                                                 (16,))
        for skipped in (skip, self.floats(graph, (5, 16))[0]):
            graph.add("SkipLayerNormalization", x, skipped, gamma, beta, bias, epsilon=1e-3)
            self.more(graph, 3)
            graph.add("SkipLayerNormalization", x, skipped, gamma)
            graph.add("SkipSimplifiedLayerNormalization", x, skipped, gamma, bias, epsilon=1e-3)
            self.more(graph, 3)
        graph.nodes.append(helper.make_node("SimplifiedLayerNormalization", [x, gamma], ["simple"],
                                            axis=-1, epsilon=1e-4, stash_type=1))
        graph.expected["simple"] = None
        self.check(graph)
        # onnxruntime has it in the default domain before opset 17, too.
        graph = Extended(opset=14)
        x, gamma, beta = self.floats(graph, (2, 5, 16), (16,), (16,))
        graph.nodes.append(helper.make_node("LayerNormalization", [x, gamma, beta], ["normal"],
                                            axis=-1, epsilon=1e-4))
        graph.expected["normal"] = None
        graph.add("Gelu", "normal")
        self.check(graph)

    def test_layers_of_gpus(self):
        """What onnxruntime has for GPUs alone, against the operators that it consists of."""
        graph = Extended(opset=22)
        x = random.standard_normal((2, 6, 5, 8)).astype(np.float32)
        skip = random.standard_normal(x.shape).astype(np.float32)
        bias, gamma, beta = random.standard_normal((3, 8)).astype(np.float32)
        a, b, s, g, h = map(graph.input, (x, bias, skip, gamma, beta))

        def normal(x, groups, axes):
            parts = x.reshape(2, 6, 5, groups, -1) if axes == (1, 2, 4) else x
            apart = parts - parts.mean(axes, keepdims=True)
            return (apart / np.sqrt((apart ** 2).mean(axes, keepdims=True) + 1e-5)).reshape(x.shape)

        def gelu(x):
            return x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))

        def f32(x):
            return x.astype(np.float32)

        graph.add("BiasAdd", a, b, s, expected=x + bias + skip)
        graph.add("BiasDropout", a, b, s, expected=x + bias + skip)
        graph.add("BiasDropout", a, b, expected=x + bias)
        half = x + bias
        graph.add("BiasSplitGelu", a, b, expected=f32(half[..., :4] * gelu(half[..., 4:])))
        whole = normal(x, 4, (1, 2, 4)) * gamma + beta
        graph.add("GroupNorm", a, g, h, groups=4, activation=0, expected=f32(whole))
        graph.add("GroupNorm", a, g, h, groups=4, activation=1,
                  expected=f32(whole / (1 + np.exp(-whole))))
        added = normal(x + skip + bias, 2, (1, 2, 4)) * gamma + beta
        graph.add("SkipGroupNorm", a, g, h, s, b, groups=2, activation=0, expected=f32(added))
        weights = random.standard_normal((3, 8, 3, 3)).astype(np.float32)
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        product = sum(padded[:, i:i + 6, j:j + 5] @ weights[:, :, i, j].T
                      for i, j in itertools.product(range(3), repeat=2))
        graph.add("NhwcConv", a, graph.constant(weights), pads=[1] * 4, expected=f32(product))
        steps = [graph.constant(np.int64(v)) for v in (2, 11, 3)]
        graph.add("Range", *steps, expected=np.arange(2, 11, 3))
        graph.check(rtol=2e-5, atol=2e-5, target="portable")

    def test_embed(self):
        graph = Extended()
        ids = graph.input(np.array([[3, 1, 4], [1, 5, 8]], np.int32))
        segments = graph.input(np.array([[0, 1, 1], [0, 0, 1]], np.int32))
        mask = graph.input(np.array([[1, 1, 0], [1, 1, 1]], np.int32))
        tables = self.floats(graph, (9, 24), (7, 24), (2, 24), (24,), (24,))
        graph.add("EmbedLayerNormalization", ids, segments, *tables, mask, epsilon=1e-3)
        self.more(graph, 1, 2)
        graph.add("EmbedLayerNormalization", ids, "", *tables[:2], "", *tables[3:])
        self.more(graph, 1)
        self.check(graph, whole=False)

    def test_moves(self):
        graph = Extended()
        (x,) = self.floats(graph, (2, 5, 4))
        graph.add("ExpandDims", x, graph.constant(np.int32(1)))
        graph.add("GatherND", x, graph.constant(np.array([[0, 1], [1, 4]])))
        graph.add("Trilu", x, graph.constant(np.int64(1)), upper=1)
        for metric in ("sqeuclidean", "euclidean"):
            graph.add("CDist", *self.floats(graph, (6, 7), (5, 7)), metric=metric)
        self.check(graph)

    def test_float_attention(self):
        """Attention on packed queries, keys and values: masks, biases, a past."""
        graph = Extended()
        batch, steps, heads, size = 2, 5, 2, 8
        x, w, b = self.floats(graph, (batch, steps, 16), (16, 48), (48,), scale=0.5)
        wide = graph.input(np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32))
        lengths = graph.input(np.array([5, 3], np.int32))
        cube = graph.input((random.random((batch, steps, steps)) < 0.7).astype(np.int32))
        (scores,) = self.floats(graph, (batch, heads, steps, steps))
        for mask in ("", wide, lengths, cube):
            graph.add("Attention", x, w, b, mask, num_heads=heads)
        graph.add("Attention", x, w, b, wide, "", scores, num_heads=heads, scale=0.3,
                  mask_filter_value=-50.0)
        graph.add("Attention", x, w, b, num_heads=heads, unidirectional=1)
        self.more(graph, 1)
        v, c = self.floats(graph, (16, 56), (56,), scale=0.5)
        graph.add("Attention", x, v, c, num_heads=heads, qkv_hidden_sizes=[16, 16, 24])
        past, one = self.floats(graph, (2, batch, heads, 4, size), (batch, 1, 16))
        more = graph.input(np.ones((batch, 5), np.int32))
        graph.add("Attention", one, w, b, more, past, num_heads=heads, unidirectional=1)
        self.more(graph, 1)
        self.check(graph)

    def test_multi_head_attention(self):
        graph = Extended()
        batch, steps, keys, heads, size = 2, 5, 7, 2, 8
        q, k, v, b = self.floats(graph, (batch, steps, 16), (batch, keys, 16), (batch, keys, 16),
                                 (48,))
        padding = graph.input(np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32))
        lengths = graph.input(np.array([7, 4], np.int32))
        (scores,) = self.floats(graph, (1, heads, steps, keys))
        graph.add("MultiHeadAttention", q, k, v, num_heads=heads)
        graph.add("MultiHeadAttention", q, k, v, b, padding, num_heads=heads)
        graph.add("MultiHeadAttention", q, k, v, b, lengths, scores, num_heads=heads, scale=0.2)
        past, held = self.floats(graph, (batch, heads, 3, size), (batch, heads, 3, size))
        graph.add("MultiHeadAttention", q, k, v, "", "", "", past, held, num_heads=heads)
        self.more(graph, 1, 2)
        own = self.floats(graph, (batch, steps, 16), (batch, steps, 16))
        graph.add("MultiHeadAttention", q, *own, num_heads=heads, unidirectional=1)
        self.check(graph)

    def test_packed_attention(self):
        """Queries, keys and values in one tensor, which onnxruntime takes on GPUs alone."""
        batch, steps, heads, size = 2, 5, 2, 8
        packed = random.standard_normal((batch, steps, heads, 3, size)).astype(np.float32)
        apart = [packed[:, :, :, i].reshape(batch, steps, -1) for i in range(3)]
        for inputs in ([packed], [apart[0], packed[:, :, :, 1:]]):
            ours, theirs = Extended(), Extended()
            for graph, arrays in ((ours, inputs), (theirs, apart)):
                graph.add("MultiHeadAttention", *[graph.input(a) for a in arrays],
                          num_heads=heads)
            self.check(ours, judge=theirs)

    def rotation(self, graph, length, width):
        angles = np.arange(length)[:, None] * 0.3 ** np.arange(width)
        return [graph.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]

    def test_rotary_embedding(self):
        graph = Extended()
        cos, sin = self.rotation(graph, 12, 4)
        positions = graph.input(np.array([[0, 1, 2], [5, 6, 7]]))
        start = graph.input(np.array([4]))
        x, y = self.floats(graph, (2, 3, 16), (2, 2, 3, 8))
        for given, interleaved in itertools.product((positions, start), (0, 1)):
            graph.add("RotaryEmbedding", x, given, cos, sin, interleaved=interleaved)
            graph.add("RotaryEmbedding", y, given, cos, sin, interleaved=interleaved)
        self.check(graph)

    def test_group_query_attention(self):
        """Caches with room for all keys; onnxruntime's grow, and end where ours do."""
        for steps, past, rotary, window in [(1, 6, 1, -1), (1, 6, 0, 3), (1, 6, 1, 4)]:
            heads, groups, size, batch = 4, 2, 16, 2
            length = past + steps
            ours, theirs = Extended(), Extended()
            q, k, v = (random.standard_normal((batch, steps, n * size)).astype(np.float32)
                       for n in (heads, groups, groups))
            caches = [random.standard_normal((batch, groups, past, size)).astype(np.float32)
                      for _ in range(2)]
            for graph, room in ((ours, steps), (theirs, 0)):
                inputs = [graph.input(a) for a in (q, k, v)]
                inputs += [graph.input(np.pad(c, ((0, 0), (0, 0), (0, room), (0, 0))))
                           for c in caches]
                inputs.append(graph.input(np.full(batch, length - 1, np.int32)))
                inputs.append(graph.constant(np.int32(length)))
                inputs += self.rotation(graph, 16, size // 2) if rotary else []
                graph.add("GroupQueryAttention", *inputs, num_heads=heads, kv_num_heads=groups,
                          do_rotary=rotary, local_window_size=window)
                self.more(graph, 1, 2)
            self.check(ours, judge=theirs)
            self.check(theirs)

    def transformer(self):
        """A small transformer as an exporter writes it: two layers on embeddings of words."""
        graph = Graph(opset=14)
        width, heads, steps = 32, 4, 6
        weights = lambda *shape: graph.constant(
            (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))
        number = lambda value: graph.constant(np.float32(value))
        ints = lambda *values: graph.constant(np.array(values))

        def norm(x):
            mean = graph.hidden("ReduceMean", x, axes=[-1])
            apart = graph.hidden("Sub", x, mean)
            square = graph.hidden("Pow", apart, number(2))
            variance = graph.hidden("ReduceMean", square, axes=[-1])
            root = graph.hidden("Sqrt", graph.hidden("Add", variance, number(1e-5)))
            scaled = graph.hidden("Mul", graph.hidden("Div", apart, root), weights(width))
            return graph.hidden("Add", scaled, weights(width))

        def dense(x, rows, columns):
            return graph.hidden("Add", graph.hidden("MatMul", x, weights(rows, columns)),
                                weights(columns))

        def split(x, order):
            by_head = graph.hidden("Reshape", x, ints(0, 0, heads, width // heads))
            return graph.hidden("Transpose", by_head, perm=order)

        ids = graph.input(np.array([[3, 1, 4, 1, 5, 9], [2, 6, 5, 3, 5, 8]]))
        x = graph.hidden("Gather", weights(12, width), ids)
        x = norm(graph.hidden("Add", x, weights(steps, width)))
        for _ in range(2):
            q = split(dense(x, width, width), [0, 2, 1, 3])
            k = split(dense(x, width, width), [0, 2, 3, 1])
            v = split(dense(x, width, width), [0, 2, 1, 3])
            scores = graph.hidden("Div", graph.hidden("MatMul", q, k),
                                  number(np.sqrt(width // heads)))
            mixed = graph.hidden("MatMul", graph.hidden("Softmax", scores, axis=-1), v)
            joined = graph.hidden("Reshape", graph.hidden("Transpose", mixed, perm=[0, 2, 1, 3]),
                                  ints(0, 0, width))
            x = norm(graph.hidden("Add", dense(joined, width, width), x))
            h = dense(x, width, 4 * width)
            e = graph.hidden("Erf", graph.hidden("Div", h, number(np.sqrt(2))))
            half = graph.hidden("Mul", h, graph.hidden("Add", e, number(1)))
            x = norm(graph.hidden("Add", dense(graph.hidden("Mul", half, number(0.5)), 4 * width,
                                               width), x))
        graph.add("Identity", x)
        return graph

    def check_written(self, graph, write):
        """Compares the graph with what nnc makes of the file that write(model, path) writes;
        returns the operators that are in it."""
        model = graph.model()
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        (want,) = session.run(None, graph.feeds)
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(folder) / "written.onnx"
            write(model, written)
            module = emitted.compile_model(written, written.parent / "out", target="portable")
            module.build()
            (got,) = module(graph.feeds).values()
            operators = {node.op_type for node in onnx.load(written).graph.node}
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=str(operators))
        return operators

    def test_optimized_networks(self):
        """Networks as onnxruntime's graph optimizer writes them."""
        levels = onnxruntime.GraphOptimizationLevel
        for level in (levels.ORT_ENABLE_BASIC, levels.ORT_ENABLE_EXTENDED):
            def write(model, path):
                options = onnxruntime.SessionOptions()
                options.graph_optimization_level = level
                options.optimized_model_filepath = str(path)
                onnxruntime.InferenceSession(model.SerializeToString(), options,
                                             providers=["CPUExecutionProvider"])
            operators = self.check_written(self.transformer(), write)
        self.assertIn("SkipLayerNormalization", operators)

    def test_optimized_transformers(self):
        """Networks as onnxruntime's optimizer of transformers writes them."""
        python = pathlib.Path(os.environ["NNC_CACHE"]) / "learned-venv" / "bin" / "python"
        if not python.exists():
            self.skipTest("scripts/setup --learned installs what the optimizer needs")

        def write(model, path):
            onnx.save(model, path.with_suffix(".plain.onnx"))
            emitted.run([python, "-m", "onnxruntime.transformers.optimizer",
                         f"--input={path.with_suffix('.plain.onnx')}", f"--output={path}",
                         "--opt_level=0", "--model_type=bert", "--num_heads=4",
                         "--hidden_size=32"], "the optimizer", cwd=path.parent)
        operators = self.check_written(self.transformer(), write)
        self.assertLessEqual({"Attention", "SkipLayerNormalization", "BiasGelu"}, operators)

    def test_lacking(self):
        """What nnc does not have, it tells of."""
        graph = Extended()
        self.add_attention(graph, np.array([5, 3], np.int32))
        with self.assertRaisesRegex(emitted.Failure, "QAttention .*mask") as caught:
            graph.run()
        self.assertEqual(caught.exception.code, emitted.LACKING)
        graph = Extended()
        x = graph.input(np.zeros((2, 1, 3), np.float32))
        w = [graph.constant(np.zeros(shape, np.uint8)) for shape in ((1, 3, 16), (1, 4, 12))]
        s, z = graph.constant(np.ones(1, np.float32)), graph.constant(np.zeros(1, np.uint8))
        graph.add("DynamicQuantizeLSTM", x, *w, "", "", "", "", "", s, z, s, z, hidden_size=4)
        with self.assertRaisesRegex(emitted.Failure, "DynamicQuantizeLSTM has weights of shapes"):
            graph.run()

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
