#!/usr/bin/env python3
"""Tests the descriptions of layers of quantized TFLite models in nnc explain and in the emitted
code. Their activations are only bounds of integers, and their functions are tables."""

import json
import pathlib
import re
import sys
import tempfile
import unittest

import numpy as np

import flat
import integers as q
import running


class Description(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def describe(self, make, *options):
        """The descriptions of the layers of a net, and the emitted code."""
        net = q.Checked()
        make(net)
        (path,) = flat.save({"net": net.model()}, self.folder)
        code, said = running.nnc("explain", path, "--json", *options)
        self.assertEqual(code, 0, said)
        code, text = running.nnc("compile", path, "-o", self.folder / "out", *options)
        self.assertEqual(code, 0, text)
        self.code = (self.folder / "out" / "net.cpp").read_text()
        return [layer["description"] for layer in json.loads(said)["layers"]]

    def check(self, make, words):
        """The one layer that a net has is called so on each kind of machine."""
        for target in ("x86-64-v3", "aarch64", "cortex-m4"):
            self.assertIn(words, self.describe(make, f"--target={target}"), target)
            self.assertIn(words, re.sub(r"\n//  ", "", self.code))

    def test_activations(self):
        """The same bounds by another activation have its name, and none have no name."""
        for activation, words in (("NONE", ""), ("RELU", "ReLU, "), ("RELU6", "ReLU6, "),
                                  ("RELU_N1_TO_1", "clip from -1 to 1, ")):
            with self.subTest(activation):
                self.check(lambda net: q.conv(net, (1, 9, 8, 5), (1, 3, 3, 5), strides=(2, 2),
                                              kind="DEPTHWISE_CONV_2D", activation=activation),
                           f"3 x 3 depthwise convolution, stride 2, padding 1 x 0 before and 1 "
                           f"behind, {words}8 bits")

    def test_shared_code(self):
        """Layers of one arithmetic share code, whichever activation its bounds stand for."""
        def make(net):
            for activation in ("NONE", "RELU"):
                q.conv(net, (1, 6, 6, 4), (4, 1, 1, 4), activation=activation, out_zero=-128)
        said = self.describe(make, "--target=cortex-m4")
        self.assertIn("1 x 1 convolution, 8 bits", said)
        self.assertIn("1 x 1 convolution, ReLU, 8 bits", said)
        self.assertRegex(re.sub(r"\n *//  ", "", self.code), "Has the code of|Shares the code of")

    def test_roles(self):
        """Parameters and weights are called by their roles."""
        self.describe(lambda net: q.conv(net, (1, 9, 7, 3), (5, 3, 3, 3)), "--target=cortex-m4")
        self.assertRegex(self.code, r"const int8_t \*w,\s+const int32_t \*bias,\s+"
                                    r"const int32_t \*multiplier,\s+const int32_t \*shift")
        self.assertRegex(self.code, r"\n  \w+_multiplier = \d+,")
        self.assertRegex(self.code, r"\n  \w+_shift = \d+,")
        self.assertNotRegex(self.code, r"\bextra\d*\b")

    def test_tables(self):
        for name, words in (("LOGISTIC", "sigmoid, 8 bits"), ("TANH", "tanh, 8 bits"),
                            ("HARD_SWISH", "hard swish, 8 bits")):
            with self.subTest(name):
                def make(net):
                    x = net.input(net.integers(np.int8, 1, 30), 0.05, 3)
                    zero = {"LOGISTIC": -128, "TANH": 0, "HARD_SWISH": 5}[name]
                    scale = {"LOGISTIC": 1 / 256, "TANH": 1 / 128, "HARD_SWISH": 0.04}[name]
                    net.outputs.append(net.tensor(np.int8, (1, 30), scale, zero))
                    net.op(name, [x], net.outputs[-1:])
                self.check(make, words)


if __name__ == "__main__":
    sys.exit(unittest.main())
