"""Tests small files that describe much work: each takes a release build of nnc at most ten
seconds, and ends with code or with the message of a limit."""

import pathlib
import resource
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

import models
import outcome
from models import constant, node, result, value
from outcome import DONE, LACKING, LIMIT, SECONDS


def doubled(op, times, **attributes):
    """op(v, v) applied `times` times: a value that contains 2^times copies of the first one."""
    nodes = [node(op, [f"v{i}", f"v{i}"], [f"v{i + 1}"], f"n{i}", **attributes)
             for i in range(times)]
    return models.model(nodes, [value("v0", [1, 2])], [result(f"v{times}", 2)])


def chained(ops, count, shape):
    """`count` nodes with the operators and attributes of `ops` in turn."""
    nodes = [node(ops[i % len(ops)][0], [f"v{i}"], [f"v{i + 1}"], f"n{i}",
                  **ops[i % len(ops)][1]) for i in range(count)]
    return models.model(nodes, [value("v0", shape)], [result(f"v{count}", len(shape))])


def joined(count, inputs):
    """A concat of `count` tensors: inputs or computed values."""
    names = [f"t{i}" for i in range(count)]
    if inputs:
        return models.model([node("Concat", names, ["y"], axis=0)],
                            [value(name, [1, 2]) for name in names], [result(rank=2)])
    nodes = [node("Neg", [f"x{i % 8}"], [name], name) for i, name in enumerate(names)]
    return models.model([*nodes, node("Concat", names, ["y"], axis=0)],
                        [value(f"x{i}", [1, 2]) for i in range(8)], [result(rank=2)])


def split_and_joined(times):
    """A tensor whose halves are swapped repeatedly."""
    nodes = []
    for i in range(times):
        nodes += [node("Split", [f"v{i}"], [f"a{i}", f"b{i}"], f"s{i}", axis=0),
                  node("Concat", [f"b{i}", f"a{i}", f"b{i}", f"a{i}"], [f"w{i}"], f"c{i}",
                       axis=0),
                  node("Slice", [f"w{i}", "starts", "ends"], [f"v{i + 1}"], f"l{i}")]
    return models.model(nodes, [value("v0", [8, 4])], [result(f"v{times}", 2)],
                        [constant("starts", np.array([3])), constant("ends", np.array([11]))])


def growing(times):
    """Values that each concatenate all values before, as in an endless DenseNet."""
    nodes = []
    for i in range(times):
        nodes += [node("Neg", [f"v{i}"], [f"n{i}"], f"n{i}"),
                  node("Slice", [f"n{i}", "zero", "one"], [f"s{i}"], f"s{i}"),
                  node("Concat", [f"v{i}", f"s{i}"], [f"v{i + 1}"], f"c{i}", axis=0)]
    return models.model(nodes, [value("v0", [1, 4])], [result(f"v{times}", 2)],
                        [constant("zero", np.array([0])), constant("one", np.array([1]))])


def alive_at_once(count):
    """Values that are all computed before the first one is read."""
    nodes = [node("Softmax", [f"x{i}"], [f"t{i}"], f"t{i}", axis=0) for i in range(count)]
    nodes += [node("Add", [f"u{i}", f"t{count - 1 - i}"], [f"u{i + 1}"], f"u{i}")
              for i in range(count)]
    return models.model(nodes, [value("u0", [3, 2]), *(value(f"x{i}", [3, 2])
                                                       for i in range(count))],
                        [result(f"u{count}", 2)])


def with_initializers(count):
    names = [f"w{i}" for i in range(count)]
    return models.model([node("Sum", ["x", *names], ["y"])], [value("x", [1, 20])],
                        [result(rank=2)],
                        [constant(name, np.full((1, 20), i, np.float32))
                         for i, name in enumerate(names)])


def with_outputs(count):
    return models.model([node("Neg", ["x"], [f"y{i}"], f"n{i}") for i in range(count)],
                        [value("x", [1, 2])], [result(f"y{i}", 2) for i in range(count)])


def with_unused(count):
    nodes = [node("Exp", ["x" if i == 0 else f"u{i - 1}"], [f"u{i}"], f"u{i}")
             for i in range(count)]
    return models.model([*nodes, node("Relu", ["x"], ["y"])])


def backwards(count):
    made = chained([("Neg", {}), ("Exp", {})], count, [1, 4])
    nodes = list(made.graph.node)[::-1]
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    return made


class Scale(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = pathlib.Path(holder.name) / "large.onnx"

    def check(self, made, *codes):
        self.path.write_bytes(made.SerializeToString())
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        with unittest.mock.patch.object(outcome, "SECONDS", 10 * SECONDS):  # others work, too
            code, said, fault = outcome.compile_model(self.path)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.assertIsNone(fault, said[:1000])
        self.assertIn(code, codes or (DONE,), said[:1000])
        # Assertions, and other work on the same cores, take as much again.
        self.assertLess(seconds, SECONDS * (10 if outcome.SANITIZED else 2))

    def test_doubled_concat(self):
        self.check(doubled("Concat", 25, axis=0))

    def test_doubled_concat_inner(self):
        self.check(doubled("Concat", 22, axis=1))

    def test_doubled_concat_beyond(self):
        self.check(doubled("Concat", 40, axis=0), LIMIT)

    def test_doubled_add(self):
        self.check(doubled("Add", 2000))

    def test_doubled_mul(self):
        self.check(doubled("Mul", 300))

    def test_split_and_joined(self):
        self.check(split_and_joined(400))

    def test_growing(self):
        self.check(growing(300))

    def test_joined_inputs(self):
        self.check(joined(20000, inputs=True))

    def test_joined_values(self):
        self.check(joined(3000, inputs=False))

    def test_chained_elementwise(self):
        self.check(chained([("Neg", {}), ("Exp", {}), ("Tanh", {})], 5000, [1, 64]))

    def test_chained_transposes(self):
        self.check(chained([("Transpose", {})], 3000, [3, 5]))

    def test_chained_moves(self):
        nodes = []
        for i in range(1500):
            nodes += [node("Transpose", [f"v{i}"], [f"t{i}"], f"t{i}", perm=[1, 0]),
                      node("Reshape", [f"t{i}", "shape"], [f"v{i + 1}"], f"r{i}")]
        made = models.model(nodes, [value("v0", [3, 5])], [result("v1500", 2)],
                            [constant("shape", np.array([3, 5]))])
        self.check(made)

    def test_alive_at_once(self):
        self.check(alive_at_once(2000), DONE, LACKING)

    def test_initializers(self):
        self.check(with_initializers(1000), DONE)

    def test_outputs(self):
        self.check(with_outputs(10000))

    def test_unused(self):
        self.check(with_unused(50000))

    def test_backwards(self):
        self.check(backwards(4000))


if __name__ == "__main__":
    sys.exit(unittest.main())
