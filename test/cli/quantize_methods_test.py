"""nnc quantize --equalize and --bias-correction of modules, for TFLite and ONNX models."""

import json
import unittest

import numpy as np
from onnx import helper, numpy_helper

import nnc
from nnc import model, value
from quantize_module_test import F32, QUICK, WITHOUT, flat

BATCH = 8


def layers(channels, first, second, biases, seed):
    """Filters of two convolutions and the biases of the first: [K, C, 3, 3]."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(8, channels, 3, 3)) / 5, random.normal(size=(4, 8, 3, 3)) / 9
    return ((a * first.reshape(8, 1, 1, 1)).astype(F32), (b * second.reshape(8, 1, 1)).astype(F32),
            (biases * first).astype(F32))


def onnx_network(a, b, biases, relu):
    node = helper.make_node
    nodes = [node("Conv", ["x", "a", *(["c"] if biases is not None else [])], ["v"], "first",
                  pads=[1] * 4),
             node("Relu" if relu else "Identity", ["v"], ["w"], "relu"),
             node("Conv", ["w", "b"], ["y"], "second", pads=[1] * 4)]
    if not relu:
        del nodes[1]
        nodes[1].input[0] = "v"
    constants = {"a": a, "b": b} | ({"c": biases} if biases is not None else {})
    return model(nodes, [value("x", [BATCH, a.shape[1], 8, 8])], [value("y", [BATCH, 4, 8, 8])],
                 [numpy_helper.from_array(array, name) for name, array in constants.items()])


def tflite_network(a, b, biases, relu):
    net = flat.Net()
    conv = dict(padding="SAME", stride_h=1, stride_w=1, dilation_h=1, dilation_w=1)
    filters = lambda w: net.const(np.ascontiguousarray(w.transpose(0, 2, 3, 1)))
    x = net.input(np.zeros((BATCH, 8, 8, a.shape[1]), F32))
    v = net.op("CONV_2D", [x, filters(a), -1 if biases is None else net.const(biases)],
               [net.tensor(F32, (BATCH, 8, 8, 8))], activation="RELU" if relu else "NONE", **conv)
    net.outputs = [net.op("CONV_2D", [v, filters(b), -1], [net.tensor(F32, (BATCH, 8, 8, 4))],
                          activation="NONE", **conv)]
    return net


class QuantizeMethods(nnc.TestCase):
    def make(self, *network, relu=True):
        self.save("m", onnx_network(*network, relu))
        flat.save({"m": tflite_network(*network, relu).model()}, self.folder)

    def samples(self, x):
        """x: [N, BATCH, C, 8, 8]."""
        self.x = {"m.onnx": x, "m.tflite": np.ascontiguousarray(x.transpose(0, 1, 3, 4, 2))}
        for name, array in self.x.items():
            np.savez(self.folder / f"{name}.npz", **{"x" if name == "m.onnx" else "t0": array})

    def quantize(self, name, *options, output="q.mlir"):
        return json.loads(self.nnc("quantize", name, f"--calibration={name}.npz", *options, "--json",
                                   "-o", output, env=WITHOUT))

    def output(self, given, name):
        np.save(self.folder / "x.npy", self.x[name][0])
        port = "x" if name == "m.onnx" else "t0"
        said = json.loads(self.nnc("run", given, f"--input={port}=x.npy", "--output-dir=out",
                                   "--json", QUICK))
        found = np.load(self.folder / said["outputs"][0]["file"])
        return found if name == "m.onnx" else found.transpose(0, 3, 1, 2)

    def test_equalize(self):
        """Channels whose weights differ much by their size get even ones, which is worth more than
        3 dB; an ONNX model is scaled as if it was written as ONNX."""
        random = np.random.default_rng(1)
        self.samples(random.normal(size=(3, BATCH, 3, 8, 8)).astype(F32))
        factors = 2.0 ** np.arange(-4, 4)
        for relu in True, False:
            self.make(*layers(3, factors, 1 / factors, random.normal(size=8), 1), relu=relu)
            for name in self.x:
                with self.subTest(name, relu=relu):
                    plain, equalized = (self.quantize(name, *options)
                                        for options in ([], ["--equalize"]))
                    self.assertEqual((plain["equalized"], equalized["equalized"]), (0, 1))
                    before, after = (report["outputs"][0]["sqnr_db"]
                                     for report in (plain, equalized))
                    self.assertGreater(after, before + 3)
                    own = self.quantize("m.onnx", "--equalize", output="q.onnx")
                    self.assertEqual(own["equalized"], 1)
                    self.assertAlmostEqual(own["outputs"][0]["sqnr_db"], after, delta=0.3)

    def test_never_worse(self):
        """Where equalization does not help it is left out."""
        random = np.random.default_rng(2)
        self.samples(random.normal(size=(3, BATCH, 3, 8, 8)).astype(F32))
        for small, bias in (1e-4, 5), (1e-2, -5), (1e3, 0):
            first, biases = np.ones(8), random.normal(size=8)
            first[2:4], biases[2:4] = small, (bias / small, -bias / small)
            self.make(*layers(3, first, np.ones(8), biases, 3))
            with self.subTest(small=small, bias=bias):
                before, after = (self.quantize("m.tflite", *options)["outputs"][0]["sqnr_db"]
                                 for options in ([], ["--equalize"]))
                self.assertGreater(after, before - 0.05)

    def test_bias_correction(self):
        """The mean error of each channel falls to less than half, where weights round coarsely,
        whether layers have a bias or not."""
        random = np.random.default_rng(5)
        self.samples((abs(random.normal(size=(2, BATCH, 4, 8, 8))) + 1).astype(F32))
        first = np.ones(8)
        first[0] = 40  # all others have a few steps left
        a, b, biases = layers(4, first, np.ones(8), random.normal(size=8), 5)
        for name, given in ("m.tflite", None), ("m.onnx", biases):
            with self.subTest(name):
                self.make(a, b, given)
                expected, errors = self.output(name, name), []
                for options in [], ["--bias-correction"]:
                    report = self.quantize(name, *options)
                    actual = self.output("q.mlir", name)
                    errors.append(abs((actual - expected).mean(axis=(0, 2, 3))).max())
                self.assertEqual(report["corrected"], 2)
                self.assertLess(errors[1], 0.5 * errors[0])

    def test_both(self):
        """Both methods work together, and with the search for layers that stay float."""
        random = np.random.default_rng(6)
        self.samples(random.normal(size=(2, BATCH, 3, 8, 8)).astype(F32))
        factors = 2.0 ** np.arange(-4, 4)
        self.make(*layers(3, factors, 1 / factors, random.normal(size=8), 7))
        report = self.quantize("m.tflite", "--equalize", "--bias-correction", "--max-drop=5%")
        self.assertLessEqual(report["drop"], 0.05)
        self.assertEqual((report["equalized"], report["corrected"]), (1, 2))
        # Layers that stay float have their own biases.
        for name, output in ("m.tflite", "q.mlir"), ("m.onnx", "q.mlir"), ("m.onnx", "q.onnx"):
            with self.subTest(name, output=output):
                report = self.quantize(name, "--bias-correction", "--max-drop=0", output=output)
                self.assertEqual((report["layers"], report["corrected"]), ([], 2))
                self.assertEqual(report["drop"], 0)
        said = self.nnc("quantize", "m.tflite", "--calibration=m.tflite.npz", "--equalize",
                        "--bias-correction", "-o", "q.mlir", env=WITHOUT)
        self.assertIn("1 pair of layers was equalized", said)
        self.assertIn("the biases of 2 layers were corrected", said)


if __name__ == "__main__":
    unittest.main()
