#!/usr/bin/env python3
"""Tests the formats of networks and weights: V0, V1, today's; old and new shapes; phases; and what
nnc makes of layers of data, of losses and of a file of weights that is given, beside the network
or the model itself."""

import json
import pathlib
import tempfile
import unittest

import numpy as np

import formats
import reference
from caffemodel import caffemodel
from running import BROKEN, DONE, LACKING, NNC, USAGE, compare, nnc, run  # noqa: F401


def expected(image=formats.IMAGE):
    """The blobs fc and prob that the network of formats.py computes."""
    (w, b), (fc, fc_bias) = formats.WEIGHTS["conv"], formats.WEIGHTS["fc"]
    y = reference.convolution(image.astype(np.float64), {"pad": 1}, w, b)
    y = reference.pooling(np.maximum(y, 0), {"kernel_size": 3, "stride": 2}, 1)[0]
    y = reference.inner_product(y, {}, fc, fc_bias)
    return y, reference.softmax(y, {})


class Formats(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, text, weights=None, name="net"):
        path = self.folder / f"{name}.prototxt"
        path.write_text(text)
        if weights is not None:
            (self.folder / f"{name}.caffemodel").write_bytes(weights)
        return path

    def check(self, path, *options, image=formats.IMAGE):
        found = run(path, {"data": image}, self.folder, *options)
        self.assertEqual([*found], ["prob"])
        compare(self, "prob", found["prob"], expected(image)[1])

    def test_ages(self):
        weights = formats.WEIGHTS
        for name, data in [("dims", caffemodel(weights)), ("shape", caffemodel(weights, "legacy")),
                           ("input", caffemodel(weights, "double")),
                           ("v1", caffemodel(weights, "legacy", 1)),
                           ("v0", caffemodel(weights, "unpacked", 0)),
                           # Weights of another age than the text.
                           ("v0", caffemodel(weights, "shape", 2))]:
            with self.subTest(name):
                self.check(self.write(formats.TEXTS[name], data, name))

    def test_training(self):
        path = self.write(formats.TEXTS["training"], caffemodel(formats.WEIGHTS))
        found = run(path, {"data": formats.IMAGE}, self.folder)
        # Accuracy reads fc, and is left out.
        self.assertEqual([*found], ["prob"])
        compare(self, "prob", found["prob"], expected()[1])
        code, said = nnc("check", path)
        self.assertEqual(code, DONE, said)
        self.assertIn("reduced by 104, 117, 123 in their channels, then multiplied by 0.5", said)
        self.assertIn("cropped to 9 x 9", said)

    def test_whole_model(self):
        path = self.folder / "whole.caffemodel"
        path.write_bytes(formats.whole_model())
        self.check(path)

    def test_blobs_in_text(self):
        self.check(self.write(formats.blobs_in_text()))

    def test_given_weights(self):
        path = self.write(formats.TEXTS["dims"])
        other = self.folder / "other.caffemodel"
        other.write_bytes(caffemodel(formats.WEIGHTS))
        self.check(path, "--weights", other)
        # The file that is named goes before the one beside the network.
        self.write(formats.TEXTS["dims"], b"\xa2\x06\x00damaged")
        self.check(path, "--weights", other)

    def test_shape(self):
        path = self.write(formats.TEXTS["dims"], caffemodel(formats.WEIGHTS))
        image = np.concatenate([formats.IMAGE, formats.IMAGE * 0.5])
        self.check(path, "--shape", "data=2x3x9x9", image=image)
        code, said = nnc("check", path, "--shape", "data=1x3x12x12")
        self.assertEqual(code, BROKEN)
        self.assertIn("fc", said)
        self.assertIn("needs 5x144", said)

    def test_shared_weights(self):
        """A layer that the file lacks has the blobs of one that shares its parameters."""
        text = formats.DIMS + """
            layer { name: "a" type: "Convolution" bottom: "data" top: "a"
                    param { name: "w" } param { name: "b" }
                    convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
            layer { name: "b" type: "Convolution" bottom: "data" top: "b"
                    param { name: "w" } param { name: "b" }
                    convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
            layer { name: "s" type: "Eltwise" bottom: "a" bottom: "b" top: "s" }"""
        path = self.write(text, caffemodel({"a": formats.WEIGHTS["conv"]}))
        found = run(path, {"data": formats.IMAGE}, self.folder)
        wanted = 2 * reference.convolution(formats.IMAGE, {"pad": 1}, *formats.WEIGHTS["conv"])
        compare(self, "s", found["s"], wanted)

    def test_custom_layers(self):
        """A layer in Python and one of an own type with a blob, by functions in C."""
        text = formats.DIMS + """
            layer { name: "rows" type: "Python" bottom: "data" top: "rows"
                    python_param { module: "own.rows" layer: "Rows" param_str: "2" } }
            layer { name: "times" type: "Times" bottom: "rows" top: "times" }"""
        path = self.write(text, caffemodel({"times": [np.array([3, 5, 7], np.float32)]}))
        for name, body in [
                ("rows", """if (i < op->outputs[0].elements)
      y[i] = x[i] + (float)(op->attributes[0].text[0] - '0');"""),
                ("times", """y[i] = x[i] * ((const float *)inputs[1])
               [i / op->inputs[0].dims[3] / op->inputs[0].dims[2] % op->inputs[0].dims[1]];""")]:
            (self.folder / f"{name}.h").write_text(f"""#include "nnc_custom.h"
static void {name}(const struct nnc_operator *op, const void *const *inputs,
                   void *const *outputs, void *scratch) {{
  const float *x = inputs[0];
  float *y = outputs[0];
  int32_t i;
  (void)scratch;
  for (i = 0; i < op->inputs[0].elements; ++i)
    {body}
}}
""")
        rows, times = self.folder / "rows.h", self.folder / "times.h"
        given = [f"--custom=own.rows.Rows:{rows}", f"--custom=Times:{times}", "--shape",
                 "rows=1x3x4x9"]
        found = run(path, {"data": formats.IMAGE}, self.folder, *given)
        first = formats.IMAGE.reshape(-1)[:108].reshape(1, 3, 4, 9)
        wanted = (first + 2) * np.array([3, 5, 7]).reshape(3, 1, 1)
        compare(self, "times", found["times"], wanted)
        for options, code, part in [([], LACKING, "own.rows.Rows"),
                                    (given[1:], LACKING, "own.rows.Rows"),
                                    ([*given, "--shape", "row=1"], USAGE, "row"),
                                    ([*given, f"--custom=ReLU:{rows}"], USAGE, "leave it out")]:
            found, said = nnc("check", path, *options)
            self.assertEqual(found, code, said)
            self.assertIn(part, said)

    def test_mapped(self):
        """Code is the same whether blobs are aligned in the file or not."""
        emitted = []
        for shift in range(4):
            path = self.write(formats.TEXTS["dims"], caffemodel(
                formats.WEIGHTS, before=b"\x1a" + bytes([shift]) + b"x" * shift))
            out = self.folder / f"out{shift}"
            code, said = nnc("compile", path, "--target=x86-64-v3", "-o", out)
            self.assertEqual(code, DONE, said)
            emitted.append((out / "net_weights.bin").read_bytes()
                           if (out / "net_weights.bin").exists() else
                           [f.read_bytes() for f in sorted(out.glob("*weights*"))])
        self.assertEqual(emitted[1:], emitted[:-1])

    def test_explain(self):
        """A batch normalization, a scale and a ReLU become part of the convolution."""
        text = formats.DIMS + """
            layer { name: "c" type: "Convolution" bottom: "data" top: "c"
                    convolution_param { num_output: 4 kernel_size: 3 bias_term: false } }
            layer { name: "n" type: "BatchNorm" bottom: "c" top: "c" }
            layer { name: "s" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true } }
            layer { name: "r" type: "ReLU" bottom: "c" top: "c" }"""
        four = np.ones(4)
        path = self.write(text, caffemodel({"c": formats.WEIGHTS["conv"][:1],
                                            "n": [four, four, [1]], "s": [four, four]}))
        code, said = nnc("explain", path, "--json", "--target=x86-64-v3")
        self.assertEqual(code, DONE, said)
        layers = json.loads(said)["layers"]
        self.assertEqual(len([row for row in layers if "conv" in str(row)]), 1)
        self.assertEqual(len(layers), 1, layers)


if __name__ == "__main__":
    unittest.main()
