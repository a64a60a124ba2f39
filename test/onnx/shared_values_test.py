"""Tests values that both an anchor and its own epilogue read, as in pre-activation networks and
PoolFormer, and other graphs in which branches of one value meet again."""

import sys
import unittest

import numpy as np

from graphs import Graph

random = np.random.default_rng(5)
IMAGE = (1, 8, 6, 6)


def array(shape=IMAGE):
    return random.standard_normal(shape).astype(np.float32)


def pool(graph, x):
    return graph.hidden("AveragePool", x, kernel_shape=[3, 3], pads=[1] * 4,
                        count_include_pad=0)


def conv(graph, x):
    return graph.hidden("Conv", x, graph.constant(array((8, 8, 3, 3))), pads=[1] * 4)


def depthwise(graph, x):
    return graph.hidden("Conv", x, graph.constant(array((8, 1, 3, 3))), pads=[1] * 4, group=8)


def product(graph, x):
    return graph.hidden("MatMul", x, graph.constant(array((6, 6))))


def softmax(graph, x):
    return graph.hidden("Softmax", x, axis=-1)


ANCHORS = [pool, conv, depthwise, product, softmax]


class SharedValues(unittest.TestCase):
    def each_anchor(self, build):
        """Compares build(graph, an elementwise value, an anchor) for each anchor."""
        for target in ("native", "portable"):
            graph = Graph()
            x, scale = graph.input(array()), graph.constant(array((1, 8, 1, 1)))
            for anchor in ANCHORS:
                before = graph.hidden("Mul", graph.hidden("Relu", x), scale)
                graph.add("Identity", build(graph, before, anchor))
            graph.check(rtol=1e-4, atol=1e-4, target=target)

    def test_anchor_minus_its_operand(self):
        self.each_anchor(lambda g, y, anchor: g.hidden("Sub", anchor(g, y), y))

    def test_operand_activated_again(self):
        self.each_anchor(lambda g, y, anchor: g.hidden(
            "Add", anchor(g, y), g.hidden("Tanh", g.hidden("Sigmoid", y))))

    def test_operand_read_three_times(self):
        self.each_anchor(lambda g, y, anchor: g.hidden(
            "Mul", g.hidden("Add", anchor(g, y), y), y))

    def test_two_anchors_of_one_value(self):
        self.each_anchor(lambda g, y, anchor: g.hidden(
            "Add", g.hidden("Sub", anchor(g, y), y), g.hidden("Sub", anchor(g, y), y)))

    def test_blocks_in_a_row(self):
        """Five pre-activation blocks: x + conv(relu(norm(x)))."""
        def blocks(graph, y, anchor):
            for _ in range(5):
                norm = graph.hidden("Mul", y, graph.constant(0.2 * array((1, 8, 1, 1))))
                inner = anchor(graph, graph.hidden("Relu", norm))
                y = graph.hidden("Add", graph.hidden("Mul", inner, graph.constant(
                    np.float32(0.1))), y)
            return y
        self.each_anchor(blocks)

    def test_value_is_an_output_too(self):
        def build(graph, y, anchor):
            graph.add("Identity", y)
            return graph.hidden("Sub", anchor(graph, y), y)
        self.each_anchor(build)


if __name__ == "__main__":
    sys.exit(unittest.main())
