"""Tests nnc quantize: results that stay unrounded, and constant tables whose rows are gathered."""

import json
import os
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto

from quantize_nets import NNC, Network, TestCase, constant, decibels, run, samples


class Unrounded(TestCase):
    def swish(self, opset=17):
        """Convolutions and a matrix product with activations that stay float between them, and
        one, a, whose result another layer reads, too."""
        net = Network(1, 8, 12, 12, opset=opset, seed=9)
        a = net.conv("x", 8, 16)
        b = net.add("Mul", a, net.add("Sigmoid", a))
        c = net.conv(b, 16, 16, 1)
        d = net.add("Mul", c, net.add("HardSigmoid", c))
        e = net.add("Relu", net.conv(d, 16, 16))
        f = net.add("Add", e, net.conv(a, 16, 16, 1))
        g = net.add("Transpose", f, perm=[0, 2, 3, 1])
        h = net.add("Add", net.add("MatMul", g, net.weights(16, 10)), net.weights(10))
        i = net.add("Mul", h, net.add("Tanh", h))
        j = net.add("MatMul", i, net.weights(10, 6))
        self.names = {"rounded": [a, e, f], "unrounded": [c, h, j]}
        return net.model(j)

    def test_rounds_once(self):
        """What only float nodes read, and the model's output, are not rounded: less is lost, and
        nnc computes the layers in integers all the same."""
        model = self.swish()
        x = samples(model, 4)
        (expected,) = run(model, x)
        plain, _ = self.quantize(model, x, "--per-channel")
        for options in [], ["--activations=u8", "--bias-correction"], ["--mixed", "--max-drop=90%",
                                                                      "--target=aarch64-i8mm"]:
            with self.subTest(options=options):
                quantized, report = self.quantize(model, x, "--per-channel", "--unrounded", *options)
                scales = {layer["output"]: layer["scale"] for layer in report["layers"]}
                for name in self.names["rounded"]:
                    self.assertIsNotNone(scales[name])
                for name in self.names["unrounded"]:
                    self.assertIsNone(scales[name])
                rounded = {node.input[0] for node in quantized.graph.node
                           if node.op_type == "QuantizeLinear"}
                self.assertLessEqual({*self.names["rounded"]}, rounded)
                self.assertFalse(rounded & {*self.names["unrounded"]})
                (once,), (twice,) = run(quantized, x), run(plain, x)
                self.assertGreater(decibels(expected, once), decibels(expected, twice) + 1)
                self.assertAlmostEqual(report["outputs"][0]["sqnr_db"], decibels(expected, once),
                                       delta=0.5)
                done = subprocess.run([NNC, "check", "int8.onnx", "--target=aarch64-i8mm", "--json",
                                       "--no-build"], cwd=self.folder, capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 0, done.stdout)
                floats = json.loads(done.stdout)["quantized"]["float_layers"]
                self.assertFalse([l for l in floats if l["op"] in ("conv", "matmul", "dense")])
                verified = subprocess.run([NNC, "verify", "int8.onnx", "--random=2"],
                                          cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_text(self):
        model = self.swish()
        self.quantize(model, samples(model, 2))
        done = subprocess.run([NNC, "quantize", "float.onnx", "--calibration=samples.npz",
                               "--unrounded", "-o", "int8.onnx"], cwd=self.folder,
                              env={**os.environ, "CXX": "none"}, capture_output=True, text=True)
        self.assertRegex(done.stdout, r"conv3 +Conv .* not rounded ")


class Tables(TestCase):
    """Tests Gather of a constant table: the table is quantized to 8 bits, and the rows are
    dequantized."""

    def indices(self, count=5):
        random = np.random.default_rng(4)
        return random.integers(-40, 40, (count, 2, 6)).astype(np.float32)

    def network(self, opset=17):
        net = Network(2, 6, opset=opset, seed=11)
        self.i = net.add("Cast", "x", to=TensorProto.INT64)
        # The elements of a row have ranges of their own.
        table = net.random.standard_normal((40, 64)) * np.geomspace(0.1, 10, 64)
        self.table = net.constant(table.astype(np.float32))
        return net

    def embeddings(self, opset=17):
        """Rows that float nodes read, that a matrix product reads, and that are an output; a
        table by its columns, and one of scalars."""
        net = self.network(opset)
        a = net.add("Gather", self.table, self.i, name="words")
        b = net.add("Gather", self.table, self.i, name="again", axis=-2)
        columns = net.constant(net.random.standard_normal((64, 40)).astype(np.float32))
        c = net.add("Gather", columns, self.i, name="columns", axis=1)
        scalars = net.constant(net.random.standard_normal(40).astype(np.float32))
        d = net.add("Gather", scalars, self.i, name="scalars")
        y = net.add("Relu", net.add("MatMul", b, net.weights(64, 8)))
        z = net.add("Tanh", net.add("MatMul", net.add("Tanh", a), net.weights(64, 8)))
        return net.model(y, z, a, c, d)

    def test_tables(self):
        x = self.indices()
        for opset, options in (10, []), (17, []), (17, ["--per-channel"]):
            with self.subTest(opset=opset, options=options):
                model = self.embeddings(opset)
                quantized, report = self.quantize(model, x, *options)
                gathers = [node for node in quantized.graph.node if node.op_type == "Gather"]
                self.assertEqual(len(gathers), 4)
                for node in gathers:
                    self.assertEqual(constant(quantized, node.input[0]).dtype, np.int8)
                # The two layers of one table share its integers, and no floats are left.
                self.assertEqual(gathers[0].input[0], gathers[1].input[0])
                self.assertFalse([t.name for t in quantized.graph.initializer
                                  if t.data_type == TensorProto.FLOAT and len(t.dims) > 1])
                rounded = {layer["name"]: layer["scale"] is not None for layer in report["layers"]}
                self.assertEqual([rounded[n] for n in ("words", "again", "columns", "scalars")],
                                 [False, True, False, False])
                expected, actual = run(model, x), run(quantized, x)
                for e, a in zip(expected, actual):
                    self.assertGreater(decibels(e, a), 18)
                # Each element is within half of a unit, which with --per-channel is its column's.
                table = constant(model, self.table)
                axis = 0 if options else None
                half = np.abs(table).max(axis=axis) / 127 / 2
                self.assertLessEqual((np.abs(actual[2] - expected[2]) / half).max(), 1.001)
                sizes = []
                for name in "float", "int8":
                    done = subprocess.run(
                        [NNC, "compile", f"{name}.onnx", "--json", "--target=x86-64-v3", "-o",
                         f"{name}{opset}{len(options)}"], cwd=self.folder, capture_output=True,
                        text=True)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    sizes.append(json.loads(done.stdout)["weight_bytes"])
                self.assertLess(sizes[1], 0.35 * sizes[0])
                verified = subprocess.run([NNC, "verify", "int8.onnx", "--random=2"],
                                          cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_tables_that_stay(self):
        """Tables that others read as floats, of halves, and constant rows stay what they are."""
        net = self.network()
        a = net.add("Gather", self.table, self.i, name="tied")
        b = net.add("MatMul", a, net.add("Transpose", self.table, perm=[1, 0]))
        huge = net.constant(np.full((40, 2), np.inf, np.float32))
        halves = net.constant(net.random.standard_normal((40, 40)).astype(np.float16))
        c = net.add("Cast", net.add("Gather", halves, self.i, name="halves"), to=TensorProto.FLOAT)
        d = net.add("Gather", huge, self.i, name="huge")
        e = net.add("Gather", net.weights(40, 40), self.i, name="excluded")
        f = net.add("Gather", net.weights(40, 40), net.constant(np.int64([1, 2])), name="known")
        g = net.add("Gather", b, net.constant(np.int64([1])), name="rows", axis=2)
        h = net.add("Gather", net.weights(40, 40), self.i, name="table")
        model = net.model(b, c, d, e, f, g, h)
        quantized, report = self.quantize(model, self.indices(), "--exclude=excluded")
        self.assertEqual([l["name"] for l in report["layers"] if l["op"] == "Gather"], ["table"])
        reasons = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
        self.assertIn("excluded", reasons["excluded"])
        for node in quantized.graph.node:
            if node.op_type == "Gather" and node.name not in ("table", "rows"):
                self.assertNotEqual(constant(quantized, node.input[0]).dtype, np.int8)


if __name__ == "__main__":
    sys.exit(unittest.main())
