"""Tests axes of size 0: the result is the neutral element of the operator or an empty tensor,
or the model is rejected with the name of the node. Neither the compiler nor the emitted code
may crash."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx

import emitted
from graphs import Graph

F = np.float32
random = np.random.default_rng(3)


def array(*shape, dtype=F):
    return random.standard_normal(shape).astype(dtype)


class Empty(unittest.TestCase):
    def check(self, graph):
        for target in emitted.in_turn(("native", "portable"), self.id()):
            graph.check(rtol=1e-6, atol=1e-6, target=target)

    def test_products(self):
        graph = Graph()
        for dtype in (np.float32, np.float64, np.int32, np.uint64):
            a, b = (graph.input(np.zeros(s, dtype)) for s in ((2, 0), (0, 3)))
            graph.add("MatMul", a, b)
            graph.add("MatMul", a, graph.hidden("Transpose", a, perm=[1, 0]))
        a, b = graph.input(array(2, 0)), graph.input(array(0, 3))
        bias = graph.input(array(3))
        graph.add("Gemm", a, b, bias)
        graph.add("Gemm", b, a, transA=1, transB=1)
        graph.add("Relu", graph.hidden("Add", graph.hidden("MatMul", a, b), bias))
        graph.add("MatMul", graph.input(array(4, 2, 0)), b)
        graph.add("MatMul", graph.input(array(0, 2, 5)), graph.input(array(5, 3)))
        graph.add("MatMul", graph.input(array(2, 5)), graph.input(array(5, 0)))
        graph.add("MatMul", a, graph.constant(array(0, 3)))
        self.check(graph)

    def test_convolutions(self):
        graph = Graph()
        none = graph.input(array(1, 0, 4, 4))
        bias = graph.constant(array(2))
        graph.add("Conv", none, graph.constant(array(2, 0, 3, 3)), bias, expected=np.tile(
            graph.constants[bias][:, None, None], (1, 1, 2, 2)))
        graph.add("ConvTranspose", none, graph.constant(array(0, 2, 3, 3)),
                  expected=np.zeros((1, 2, 6, 6), F))
        flat = graph.input(array(1, 3, 0, 4))
        graph.add("Conv", flat, graph.constant(array(2, 3, 2, 1)), pads=[1, 0, 1, 0],
                  expected=np.zeros((1, 2, 1, 4), F))
        graph.add("ConvTranspose", flat, graph.constant(array(3, 2, 3, 3)),
                  expected=np.zeros((1, 2, 2, 6), F))
        batch = graph.input(array(0, 3, 4, 4))
        conv = graph.hidden("Conv", batch, graph.constant(array(2, 3, 3, 3)))
        graph.add("Relu", conv, expected=np.zeros((0, 2, 2, 2), F))
        graph.add("Conv", graph.input(array(1, 3, 4, 4)), graph.constant(array(0, 3, 3, 3)),
                  expected=np.zeros((1, 0, 2, 2), F))
        self.check(graph)

    def test_pools(self):
        graph = Graph()
        for dtype in (np.float32, np.float64):
            for shape in ((1, 3, 0, 0), (1, 3, 0, 4), (1, 3, 4, 0), (2, 3, 0)):
                ends = (*shape[:2], *[1] * (len(shape) - 2))
                x = graph.input(np.zeros(shape, dtype))
                graph.add("GlobalAveragePool", x, expected=np.full(ends, np.nan, dtype))
                graph.add("GlobalMaxPool", x, expected=np.full(ends, -np.inf, dtype))
        flat = graph.input(array(1, 3, 0, 4))
        pads = {"kernel_shape": [2, 2], "pads": [1, 0, 1, 0]}
        graph.add("AveragePool", flat, expected=np.full((1, 3, 1, 3), np.nan, F), **pads)
        graph.add("AveragePool", flat, count_include_pad=1,
                  expected=np.zeros((1, 3, 1, 3), F), **pads)
        for shape in ((0, 3, 4, 4), (2, 0, 4, 4)):
            x = graph.input(array(*shape))
            for op in ("AveragePool", "MaxPool"):
                graph.add(op, x, kernel_shape=[2, 2],
                          expected=np.zeros((*shape[:2], 3, 3), F))
            graph.add("GlobalAveragePool", x, expected=np.zeros((*shape[:2], 1, 1), F))
        self.check(graph)

    def test_reductions(self):
        neutral = {"Sum": 0, "Prod": 1, "Max": "least", "Min": "greatest", "L1": 0, "L2": 0,
                   "SumSquare": 0, "Mean": np.nan, "LogSum": -np.inf, "LogSumExp": -np.inf}
        for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64, np.int8,
                      np.uint8):
            real = np.issubdtype(dtype, np.floating)
            least, greatest = (-np.inf, np.inf) if real else \
                (np.iinfo(dtype).min, np.iinfo(dtype).max)
            with self.subTest(dtype=dtype.__name__):
                graph = Graph()
                x = graph.input(np.zeros((2, 0, 3), dtype))
                for kind, value in neutral.items():
                    if not real and (kind in ("Mean", "LogSum", "LogSumExp") or
                                     dtype in (np.int8, np.uint8) and kind not in ("Max", "Min")):
                        continue
                    value = {"least": least, "greatest": greatest}.get(value, value)
                    for axes, shape in (([1], (2, 1, 3)), ([0, 1], (1, 1, 3)),
                                        ([0, 1, 2], (1, 1, 1))):
                        graph.add("Reduce" + kind, x, graph.constant(np.array(axes, np.int64)),
                                  expected=np.full(shape, value, dtype))
                    graph.add("Reduce" + kind, x, graph.constant(np.array([2], np.int64)),
                              expected=np.zeros((2, 0, 1), dtype))
                self.check(graph)

    def test_elementwise(self):
        graph = Graph()
        x, y = graph.input(array(2, 0, 3)), graph.input(array(2, 1, 3))
        number = graph.constant(F(2))
        for op in ("Add", "Mul", "Div", "Max", "Pow", "Less"):
            graph.add(op, x, y)
            graph.add(op, number, x)
        for op in ("Relu", "Exp", "Neg", "Identity"):
            graph.add(op, x)
        graph.add("Cast", x, to=onnx.TensorProto.INT64)
        graph.add("Where", graph.hidden("Less", x, y), x, number)
        graph.add("Sum", x, y, number)
        graph.add("Clip", x, number)
        self.check(graph)

    def test_normalizations(self):
        graph = Graph()
        x = graph.input(array(2, 3, 0))
        for axis in (0, 1, 2):
            graph.add("Softmax", x, axis=axis)
        two = [graph.constant(array(3)) for _ in range(4)]
        nothing = np.zeros((2, 3, 0), F)
        graph.add("BatchNormalization", x, *two)
        graph.add("InstanceNormalization", x, *two[:2], expected=nothing)
        graph.add("LayerNormalization", x, graph.constant(array(0)), expected=nothing)
        graph.add("LayerNormalization", graph.input(array(0, 3)), two[0],
                  expected=np.zeros((0, 3), F))
        graph.add("Softmax", graph.input(array(0, 4)), axis=1)
        self.check(graph)

    def test_attention(self):
        graph = Graph()
        q = graph.input(array(1, 2, 3, 4))
        k, v = graph.input(array(1, 2, 0, 4)), graph.input(array(1, 2, 0, 4))
        scores = graph.hidden("MatMul", q, graph.hidden("Transpose", k, perm=[0, 1, 3, 2]))
        graph.add("MatMul", graph.hidden("Softmax", scores, axis=-1), v,
                  expected=np.zeros((1, 2, 3, 4), F))
        self.check(graph)

    def test_moves(self):
        graph = Graph()
        ints = lambda *values: graph.constant(np.array(values, np.int64))
        x, y = graph.input(array(2, 0, 3)), graph.input(array(2, 4, 3))
        graph.add("Concat", x, y, x, axis=1)
        graph.add("Concat", x, x, axis=1)
        graph.add("Concat", y, graph.constant(array(2, 0, 3)), axis=1)
        graph.add("Transpose", x, perm=[2, 0, 1])
        graph.add("Reshape", x, ints(0, 0, 3))
        graph.add("Reshape", x, ints(3, 0), allowzero=1)
        graph.add("Flatten", x)
        graph.add("Gather", y, graph.constant(np.zeros(0, np.int64)), axis=1)
        graph.add("Gather", y, graph.input(np.zeros((0, 2), np.int64)), axis=1)
        graph.add("Gather", x, ints(1), axis=2)
        graph.add("Slice", y, ints(2), ints(2), ints(1))
        graph.add("Slice", x, ints(0), ints(1), ints(0))
        graph.add("Expand", x, ints(2, 0, 3))
        graph.add("Expand", graph.input(array(2, 1, 3)), ints(2, 0, 3))
        graph.add("Tile", y, ints(1, 0, 1))
        graph.add("Pad", x, ints(0, 1, 0, 0, 1, 0), graph.constant(F(2)))
        graph.add("Squeeze", graph.input(array(1, 0)), ints(0))
        graph.add("Unsqueeze", x, ints(0))
        graph.add("Shape", x)
        graph.add("Size", x)
        graph.add("DepthToSpace", graph.input(array(1, 4, 0, 2)), blocksize=2,
                  expected=np.zeros((1, 1, 0, 4), F))
        self.check(graph)

    def test_constant_result(self):
        graph = Graph()
        x = graph.input(array(2))
        empty = graph.constant(np.zeros((0, 2), F))
        graph.add("Identity", empty)
        graph.add("Concat", graph.hidden("Unsqueeze", x, graph.constant(np.array([0]))), empty,
                  axis=0)
        graph.add("ReduceSum", empty, graph.constant(np.array([0])))
        graph.add("MatMul", graph.constant(np.zeros((3, 0), F)), empty)
        # The size of a scalar, as exporters compute it.
        size = graph.hidden("ReduceProd", graph.hidden("Shape", graph.input(F(3))), keepdims=1)
        graph.add("Reshape", x, graph.hidden("Concat", size, graph.constant(np.array([2])), axis=0),
                  expected=graph.feeds[x].reshape(1, 2))
        self.check(graph)

    def test_refusals(self):
        """Where ONNX does not say what nothing gives."""
        def refuse(op, *arrays, **attributes):
            graph = Graph()
            name = graph.add(op, *map(graph.input, arrays), **attributes)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "graph.onnx"
                onnx.save(graph.model(), path)
                with self.assertRaises(emitted.Failure) as caught:
                    emitted.nnc("check", path, "--no-build")
            self.assertIn(caught.exception.code, (emitted.BROKEN, emitted.LACKING), op)
            self.assertIn(f"node '{name}'", str(caught.exception))

        refuse("ArgMax", array(2, 0), axis=1)
        refuse("Gather", array(2, 0), np.zeros(2, np.int64), axis=1)
        refuse("ReduceMean", np.zeros((2, 0), np.int32))
        refuse("Conv", array(1, 3, 0, 4), array(2, 3, 3, 1))
        refuse("GlobalAveragePool", np.zeros((1, 0), F))


if __name__ == "__main__":
    sys.exit(unittest.main())
