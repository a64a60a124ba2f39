"""nnc quantize --max-drop and --mixed: which layers stay float, and what that costs."""

import json
import subprocess
import sys
import unittest

import numpy as np

from quantize_nets import NNC, Network, TestCase, decibels, ops, run, samples


class Drop(TestCase):
    def sensitive(self):
        """A network whose second layer has a weight that leaves the others no steps."""
        net = Network(1, 3, 8, 8, seed=2)
        a = net.add("Relu", net.conv("x", 3, 8))
        b = net.add("Relu", net.conv(a, 8, 8), name="weak")
        self.weak = net.nodes[-2].name
        w = net.constants[net.nodes[-2].input[1]]
        w[0, 0, 0, 0] = 400
        c = net.add("Relu", net.conv(b, 8, 8))
        w = net.constants[net.nodes[-2].input[1]]
        w[:, 0] = 0 # nothing needs the channel with that weight
        d = net.add("Flatten", c)
        return net.model(net.add("Gemm", d, net.weights(6, 512), net.weights(6), transB=1))

    def test_keeps_layers_float(self):
        model = self.sensitive()
        x = samples(model, 20)
        _, before = self.quantize(model, x)
        self.assertGreater(before["drop"], 0.1)
        # Of a machine with AVX2 alone, --mixed would leave all of so small a model float.
        for options in [], ["--mixed", "--target=aarch64-i8mm"]:
            quantized, report = self.quantize(model, x, "--max-drop=5%", *options)
            self.assertLessEqual(report["drop"], 0.05)
            kept = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
            self.assertIn(self.weak, kept)
            self.assertIn("kept for accuracy", kept[self.weak])
            # The last layer has nothing to do with that.
            self.assertEqual(report["layers"][-1]["op"], "Gemm")
            self.assertGreater(report["evaluated"], 1)
            self.assertEqual("time_estimate" in report, bool(options))
            expected, actual = *run(model, x), *run(quantized, x)
            same = (expected.argmax(-1) == actual.argmax(-1)).mean()
            self.assertGreaterEqual(same, 0.9)

    def explain(self, model, target):
        done = subprocess.run([NNC, "explain", model, f"--target={target}", "--json"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def convs(self):
        """Convolutions of 3 x 3, which floats have Winograd's method for, and of 1 x 1."""
        net = Network(1, 32, 14, 14, seed=3)
        a = net.add("Relu", net.conv("x", 32, 32))
        b = net.add("Relu", net.conv(a, 32, 32, 1))
        c = net.add("Relu", net.conv(b, 32, 32))
        return net.model(net.conv(c, 32, 64, 1))

    def test_times(self):
        """--mixed keeps those layers float that nnc compile would make floats on the target, and
        is never slower than the float and the quantized model, by the estimates of nnc explain."""
        model = self.convs()
        x = samples(model, 2)
        kept_somewhere = quantized_somewhere = mixed_somewhere = False
        for target in "portable", "x86-64-v3", "x86-64-v4", "aarch64", "aarch64-i8mm":
            with self.subTest(target=target):
                self.quantize(model, x, "--per-channel")
                (self.folder / "int8.onnx").rename(self.folder / "all.onnx")
                _, report = self.quantize(model, x, "--per-channel", "--mixed", "--max-drop=50%",
                                          f"--target={target}")
                estimates = report["time_estimate"]
                self.assertEqual(estimates["target"], target)
                explained = {name: self.explain(f"{name}.onnx", target)
                             for name in ("float", "all", "int8")}
                for name, key in [("float", "float_us"), ("all", "int8_us"), ("int8", "us")]:
                    self.assertAlmostEqual(1e6 * explained[name]["seconds"] / estimates[key], 1,
                                           delta=1e-6)
                self.assertLessEqual(estimates["us"],
                                     min(estimates["float_us"], estimates["int8_us"]))
                slower = {layer["model_name"] for layer in explained["all"]["layers"]
                          if "floats are estimated" in layer.get("float_because", "")}
                kept = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
                if report["layers"]:
                    self.assertEqual(set(kept), slower)
                    mixed_somewhere = mixed_somewhere or bool(kept)
                else:
                    self.assertLessEqual(slower, set(kept))
                    self.assertIn("all layers stay float", report["problems"][-1]["message"])
                for reason in kept.values():
                    self.assertIn(f"kept for speed: on target {target} ", reason)
                for layer in report["layers"]:
                    self.assertLessEqual(layer["int8_us"], layer["float_us"])
                kept_somewhere = kept_somewhere or not report["layers"]
                quantized_somewhere = quantized_somewhere or not kept
        self.assertTrue(kept_somewhere and quantized_somewhere and mixed_somewhere)

    def test_accuracy_costs_time(self):
        """Where one of two layers has to be float, it is the one that integers save less time
        in; without --mixed it is the one that adds more noise."""
        net = Network(1, 16, 16, 16, seed=6)
        small = net.add("MaxPool", "x", kernel_shape=[8, 8], strides=[8, 8])
        # One weight leaves the others few steps.
        convs = []
        for operand, largest in (small, 0.7), ("x", 120):
            net.conv(operand, 16, 16)
            net.constants[net.nodes[-1].input[1]][15, 0, 0, 0] = largest
            convs.append(net.nodes[-1].name)
        model = net.model(*convs)
        x = samples(model, 4)
        script = self.floats_metric()
        for options, first in [(["--mixed", "--target=aarch64-i8mm"], convs[0]), ([], convs[1])]:
            _, report = self.quantize(model, x, f"--metric={script}", "--max-drop=0", *options)
            reasons = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
            self.assertEqual([*reasons], [first])
            self.assertIn("kept for accuracy, number 1 ", reasons[first])
            self.assertEqual("for the time that integers save" in reasons[first], bool(options))

    def floats_metric(self):
        """A command that prints 10 where a model has float weights of 3 x 3, else 7."""
        script = self.folder / "metric.py"
        script.write_text(
            f"#!{sys.executable}\nimport onnx, sys\nm = onnx.load(sys.argv[1])\n"
            "print('some text')\n"
            "print(10 if any(t.dims[2:] == [3, 3] and t.data_type == 1\n"
            "                for t in m.graph.initializer) else 7)\n")
        script.chmod(0o755)
        return script

    def test_metric(self):
        """A command that counts float weights is one that --max-drop serves."""
        model = self.sensitive()
        x = samples(model, 4)
        script = self.folder / "metric.py"
        script.write_text(
            f"#!{sys.executable}\nimport onnx, sys\nm = onnx.load(sys.argv[1])\n"
            "print('some text')\n"
            "print(10 if any(t.dims[:2] == [8, 8] and t.data_type == 1\n"
            "                for t in m.graph.initializer) else 7)\n")
        script.chmod(0o755)
        _, report = self.quantize(model, x, f"--metric={script}")
        self.assertEqual((report["float_metric"], report["quantized_metric"]), (10, 7))
        self.assertAlmostEqual(report["drop"], 0.3)
        _, report = self.quantize(model, x, f"--metric={script}", "--max-drop=10%")
        self.assertEqual(report["quantized_metric"], 10)

    def test_many_samples(self):
        """Of many samples all count for the metric, and some for the noise of the layers."""
        net = Network(1, 3, 4, 4)
        model = net.model(net.conv(net.conv("x", 3, 4), 4, 2))
        x = samples(model, 70)
        # These are none of the samples on which the tensors in between are compared.
        x[1::3] *= 4
        quantized, report = self.quantize(model, x)
        expected, actual = *run(model, x), *run(quantized, x)
        error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
        self.assertAlmostEqual(report["drop"], error, delta=0.02 * error)
        last = report["layers"][-1]["sqnr_db"]
        self.assertAlmostEqual(last, decibels(expected[::3], actual[::3]), delta=0.3)
        self.assertGreater(abs(last - report["outputs"][0]["sqnr_db"]), 1)

    def test_regression(self):
        """An output that is no scores of classes: the relative error is the drop."""
        net = Network(1, 3, 8, 8)
        model = net.model(net.conv(net.conv("x", 3, 8), 8, 2))
        x = samples(model)
        quantized, report = self.quantize(model, x, "--max-drop=90%")
        expected, actual = *run(model, x), *run(quantized, x)
        error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
        self.assertEqual(report["metric"], "relative L2 error")
        self.assertAlmostEqual(report["drop"], error, delta=0.05 * error)
        # Nothing but the float model has none.
        quantized, report = self.quantize(model, x, "--max-drop=0")
        self.assertEqual(report["layers"], [])
        self.assertNotIn("QuantizeLinear", ops(quantized))
        np.testing.assert_array_equal(*run(model, x), *run(quantized, x))


if __name__ == "__main__":
    sys.exit(unittest.main())
