"""The generator of random graphs, what it reports, and how it shrinks them; without nnc."""

import collections
import sys
import unittest

import numpy as np

import random_graphs
import shrink

GRAPHS = [random_graphs.Net(seed).graph for seed in range(60)]


def has(graph, op):
    return any(node.op_type == op for node in graph.nodes)


class Generator(unittest.TestCase):
    def test_graphs(self):
        ops = collections.Counter(n.op_type for graph in GRAPHS for n in graph.nodes)
        self.assertGreater(len(ops), 60)
        self.assertGreater(sum(ops.values()) / len(GRAPHS), 8)
        for graph in GRAPHS:
            for name, value in graph.expected().items():
                if value.dtype.kind == "f":
                    self.assertTrue(np.isfinite(value).all(), name)

    def test_seeds(self):
        again = random_graphs.Net(7).graph
        self.assertEqual(again.model(), GRAPHS[7].model())
        self.assertNotEqual(again.model(), GRAPHS[8].model())


class Report(unittest.TestCase):
    def test_differences(self):
        for graph in GRAPHS:
            expected = graph.expected()
            self.assertIsNone(random_graphs.differences(graph, expected))
            for name, value in expected.items():
                if not value.size:
                    continue
                wrong = np.array(value)
                at = np.unravel_index(np.abs(wrong.astype(float)).argmax(), wrong.shape)
                wrong[at] = (wrong[at] + 1 + abs(wrong[at]) if wrong.dtype.kind == "f"
                             else wrong[at] ^ 1)
                problem = random_graphs.differences(graph, expected | {name: wrong})
                self.assertIn(name + "[", problem)
                other = np.asarray(value[None])
                self.assertIn(f"{name} is",
                              random_graphs.differences(graph, expected | {name: other}))

    def test_kinds(self):
        first = shrink.kind_of("t3[0, 1] is 2.5, expected 3.5; 1 of 4 differ")
        self.assertEqual(first, shrink.kind_of("t9[7] is 1, expected 0; 2 of 9 differ"))
        self.assertNotEqual(first, shrink.kind_of("nnc compile: exit code 1: fault"))
        self.assertIsNone(shrink.kind_of(None))


class Shrinking(unittest.TestCase):
    def test_one_operator(self):
        shrunk = 0
        for op in ("Softmax", "Concat", "MatMul", "Transpose", "Slice"):
            for graph in [g for g in GRAPHS if has(g, op)][:3]:
                small = shrink.shrink(graph, lambda g, op=op: has(g, op))
                self.assertTrue(has(small, op))
                self.assertEqual(len(small.nodes), 1)
                small.expected()
                shrunk += 1
        self.assertGreater(shrunk, 8)

    def test_two_operators(self):
        """What fails only together stays together."""
        graph = max((g for g in GRAPHS if has(g, "Add") and has(g, "Transpose")),
                    key=lambda g: len(g.nodes))
        small = shrink.shrink(graph, lambda g: has(g, "Add") and has(g, "Transpose"))
        self.assertLessEqual(len(small.nodes), 3)
        self.assertLess(len(small.nodes), len(graph.nodes))


if __name__ == "__main__":
    sys.exit(unittest.main())
