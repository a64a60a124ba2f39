"""Tests nnc verify on quantized models: the reference, and the tolerances."""

import json
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import DIFFERS, model, value

random = np.random.default_rng(5)


def dense(scales, bias=None, outputs=None):
    """A dense layer of 8 bits in QDQ form, from x [64, 16] to the integers q or to floats."""
    node, constants = helper.make_node, [
        numpy_helper.from_array(np.float32(scale), name)
        for scale, name in zip(scales, ("sx", "sw", "sy"))]
    constants += [numpy_helper.from_array(np.int8(0), "zero"),
                  numpy_helper.from_array(random.integers(-3, 4, (16, 8)).astype(np.int8), "w"),
                  numpy_helper.from_array(random.uniform(-1, 1, 8).astype(np.float32)
                                          if bias is None else np.float32(bias), "b")]
    nodes = [node("QuantizeLinear", ["x", "sx", "zero"], ["xq"]),
             node("DequantizeLinear", ["xq", "sx", "zero"], ["xd"]),
             node("DequantizeLinear", ["w", "sw", "zero"], ["wd"]),
             node("Gemm", ["xd", "wd", "b"], ["a"], "dense"),
             node("QuantizeLinear", ["a", "sy", "zero"], ["q"]),
             node("DequantizeLinear", ["q", "sy", "zero"], ["y"])]
    outputs = outputs or [value("q", [64, 8], TensorProto.INT8)]
    return model(nodes, [value("x", [64, 16])], outputs, constants)


def chain(layers):
    """Products of 8 bits in QDQ form, from x [1, 16384] to floats. A change of their inputs by
    a unit changes the outputs of each by two units, and many sums lie halfway between two."""
    node, nodes, x = helper.make_node, [], "x"
    constants = [numpy_helper.from_array(np.float32(0.01), "sx"),
                 numpy_helper.from_array(np.int8(0), "zero")]

    def quantize():
        nodes.extend([node("QuantizeLinear", [x, "sx", "zero"], [f"{x}_q"]),
                      node("DequantizeLinear", [f"{x}_q", "sx", "zero"], [f"{x}_d"])])
        return f"{x}_d"

    for layer, k in enumerate([16384] + [64] * (layers - 1)):
        weights = random.choice([-1, 0, 0, 0, 0, 0, 0, 1], (k, 64)).astype(np.int8)
        constants += [numpy_helper.from_array(weights, f"w{layer}"),
                      numpy_helper.from_array(np.float32(0.5 if layer else 1 / 64), f"s{layer}")]
        nodes += [node("DequantizeLinear", [f"w{layer}", f"s{layer}", "zero"], [f"d{layer}"]),
                  node("MatMul", [quantize(), f"d{layer}"], [f"y{layer}"])]
        x = f"y{layer}"
    return model(nodes + [node("Identity", [quantize()], ["y"])], [value("x", [1, 16384])],
                 [value("y", [1, 64])], constants)


class Verify(nnc.TestCase):
    def verify(self, name, *arguments, code=0):
        said = json.loads(self.nnc("verify", f"{name}.onnx", "--json", *arguments, code=code))
        return said, [output for case in said["cases"] for output in case["outputs"]]

    def test_reference_is_the_models_arithmetic(self):
        """Half of all sums lie halfway between two units. Floats round those by their errors,
        and integer sums to even: were the reference made of integer sums, too, all would
        agree."""
        self.save("halves", dense((0.1, 0.1, 0.02), bias=np.arange(8) / 10))
        said, (q,) = self.verify("halves")
        self.assertTrue(q["within"])
        self.assertEqual(q["largest_error"], 1)
        self.assertGreater(q["differing"], 5)
        self.assertLess(q["rms_error"], 1)
        # No layer is wrong.
        self.assertIn("every layer agrees", said["cases"][0]["first_layer"])

    def test_sensitive_model(self):
        """Rounding amplifies differences until the outputs have nothing in common, but they have
        as little in common for inputs that differ by 1e-5: no layer is wrong."""
        self.save("chain", chain(32))
        said, (y,) = self.verify("chain")
        self.assertTrue(y["within"])
        self.assertGreater(y["largest_error"], 0.05 * y["largest_expected"])
        self.assertIn("every layer agrees", said["cases"][0]["first_layer"])
        self.assertIn("the model is that sensitive", said["cases"][0]["sensitivity"])
        self.verify("chain", "--tolerance=0.05", code=DIFFERS)

    def test_integers(self):
        """Of integers that floats are rounded to, single ones may be off by a few units, and
        all by one, but not all by three."""
        self.save("dense", dense((0.05, 0.031, 0.02)))
        x = random.uniform(-6, 6, (64, 16)).astype(np.float32)
        np.save(f"{self.folder}/x.npy", x)
        self.nnc("run", "dense.onnx", "--input=x=x.npy", "--output-dir=data")
        np.save(f"{self.folder}/data/x.npy", x)
        want = np.load(f"{self.folder}/data/q.npy").clip(-125, 124)
        self.assertGreater(int(want.max()) - int(want.min()), 200)
        moved = want.copy()
        moved[3, 4] += 3
        for expected, code in ((want + np.int8(1), 0), (moved, 0), (want + np.int8(3), DIFFERS)):
            np.save(f"{self.folder}/data/q.npy", expected)
            said, (q,) = self.verify("dense", "--data=data", code=code)
            self.assertEqual(q["within"], not code)

    def test_defined_integers(self):
        """Operators on integers have one result: no unit is tolerated."""
        constants = [numpy_helper.from_array(np.float32(s), n)
                     for s, n in ((0.05, "sx"), (0.03, "sw"), (0.02, "sy"))]
        constants += [numpy_helper.from_array(np.int8(0), "zero"), numpy_helper.from_array(
            random.integers(-3, 4, (16, 8)).astype(np.int8), "w")]
        self.save("defined", model(
            [helper.make_node("QLinearMatMul", ["x", "sx", "zero", "w", "sw", "zero", "sy", "zero"],
                              ["q"])], [value("x", [4, 16], TensorProto.INT8)],
            [value("q", [4, 8], TensorProto.INT8)], constants))
        x = random.integers(-100, 100, (4, 16)).astype(np.int8)
        np.save(f"{self.folder}/x.npy", x)
        self.nnc("run", "defined.onnx", "--input=x=x.npy", "--output-dir=data")
        np.save(f"{self.folder}/data/x.npy", x)
        self.verify("defined", "--data=data")
        want = np.load(f"{self.folder}/data/q.npy")
        want[1, 2] += 1 if want[1, 2] < 127 else -1
        np.save(f"{self.folder}/data/q.npy", want)
        self.verify("defined", "--data=data", code=DIFFERS)

    def test_floats_of_integers(self):
        """The root mean square error of dequantized results is bounded, too."""
        scales = 0.05, 0.031, 0.02
        self.save("floats", dense(scales, outputs=[value("y", [64, 8])]))
        x = random.uniform(-6, 6, (64, 16)).astype(np.float32)
        np.save(f"{self.folder}/x.npy", x)
        self.nnc("run", "floats.onnx", "--input=x=x.npy", "--output-dir=data")
        np.save(f"{self.folder}/data/x.npy", x)
        want = np.load(f"{self.folder}/data/y.npy")
        for units, code in ((1, 0), (4, DIFFERS)):
            np.save(f"{self.folder}/data/y.npy", want + np.float32(units * scales[2]))
            self.verify("floats", "--data=data", code=code)
        self.verify("floats", "--data=data", "--tolerance=0.25")


if __name__ == "__main__":
    sys.exit(unittest.main())
