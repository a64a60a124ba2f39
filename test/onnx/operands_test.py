"""Tests expressions of more tensors than an elementwise routine has strides for."""

import sys
import unittest

import numpy as np

import emitted
from graphs import Graph

COUNTS = (8, 9, 10, 17, 40, 100)
random = np.random.default_rng(11)


def array(shape=(2, 3), dtype=np.float32):
    if np.issubdtype(dtype, np.integer):
        return random.integers(0, 50, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


class Operands(unittest.TestCase):
    def check(self, graph):
        for target in emitted.in_turn(("native", "portable"), self.id()):
            graph.check(rtol=1e-5, atol=1e-5, target=target)

    def test_variadic(self):
        for dtype in (np.float32, np.float64, np.int32, np.uint8):
            with self.subTest(dtype=dtype.__name__):
                graph = Graph()
                inputs = [graph.input(array(dtype=dtype)) for _ in range(max(COUNTS))]
                for count in COUNTS:
                    graph.add("Max", *inputs[:count])
                    graph.add("Min", *inputs[-count:])
                    graph.add("Concat", *inputs[:count], axis=1)
                    if np.issubdtype(dtype, np.floating):
                        graph.add("Sum", *inputs[:count])
                        graph.add("Mean", *inputs[:count])
                self.check(graph)

    def test_broadcast(self):
        graph = Graph()
        shapes = [(2, 3, 4), (3, 1), (4,), (1, 1, 1), (2, 1, 4), (), (1, 3, 4)]
        inputs = [graph.input(array(shapes[i % len(shapes)])) for i in range(20)]
        for count in (9, 13, 20):
            graph.add("Sum", *inputs[:count])
            graph.add("Max", *inputs[-count:])
        self.check(graph)

    def test_constants(self):
        """Constants that vary are operands; those of one value are not."""
        graph = Graph()
        names = []
        for i in range(24):
            names.append([graph.input(array()), graph.constant(array()),
                          graph.constant(np.full((2, 3), i, np.float32))][i % 3])
        graph.add("Sum", *names)
        self.check(graph)

    def test_tree(self):
        """Sums of pairs of products, most of which one result reads."""
        graph = Graph()
        level = [graph.hidden("Mul", graph.input(array()), graph.input(array()))
                 for _ in range(16)]
        shared = level[3]
        while len(level) > 1:
            level = [graph.hidden("Add", a, b) for a, b in zip(level[::2], level[1::2])]
        graph.add("Relu", level[0])
        graph.add("Sub", level[0], shared)
        self.check(graph)

    def test_select(self):
        """Three operands at once, of two types."""
        graph = Graph()
        value = graph.input(array())
        for _ in range(12):
            condition = graph.hidden("Less", graph.input(array()), graph.input(array()))
            value = graph.hidden("Where", condition, value, graph.input(array()))
        graph.add("Identity", value)
        self.check(graph)

    def test_epilogue(self):
        """What a convolution, a product and a pool add and multiply behind them."""
        graph = Graph()
        x = graph.input(array((1, 4, 6, 6)))
        anchors = [graph.hidden("Conv", x, graph.constant(array((4, 4, 3, 3))),
                                pads=[1, 1, 1, 1]),
                   graph.hidden("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])]
        for value in anchors:
            for i in range(12):
                shape = [(1, 4, 6, 6), (1, 4, 1, 1), ()][i % 3]
                value = graph.hidden("Add" if i % 2 else "Mul", value,
                                     graph.input(array(shape)))
            graph.add("Relu", value)
        value = graph.hidden("MatMul", graph.input(array((5, 6))), graph.input(array((6, 7))))
        for i in range(14):
            value = graph.hidden("Add", value, graph.input(array([(5, 7), (7,)][i % 2])))
        graph.add("Tanh", value)
        self.check(graph)

    def test_mixed_types(self):
        """Integers of several types beside floats, in one expression and behind a sum of
        products of integers."""
        types = [np.int8, np.uint8, np.int32, np.float32]
        for count in (9, 17, 100):
            graph = Graph()
            wide = [graph.hidden("Cast", graph.input(array(dtype=types[i % 4])), to=1)
                    for i in range(count)]
            total = graph.add("Sum", *wide)
            graph.add("Cast", graph.hidden("Round", graph.hidden("Mul", total, graph.constant(
                np.float32(0.25)))), to=6)
            self.check(graph)
        graph = Graph()
        value = graph.hidden("ConvInteger", graph.input(array((1, 2, 5, 5), np.uint8)),
                             graph.constant(array((3, 2, 3, 3), np.uint8)))
        for i in range(12):
            shape = [(1, 3, 3, 3), (1, 3, 1, 1)][i % 2]
            value = graph.hidden("Max" if i % 3 == 0 else "Add", value,
                                 graph.input(array(shape, np.int32)))
        graph.add("Cast", value, to=1)
        self.check(graph)


if __name__ == "__main__":
    sys.exit(unittest.main())
