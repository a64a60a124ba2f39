"""--weights-encoding: layers whose weights share a few values, stored as places in tables."""

import json
import shutil
import unittest

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

import nnc
from nnc import USAGE, model, value

ROWS, COLUMNS = 333, 77


class Encoding(nnc.TestCase):
    def write(self, name, weights, rows=1):
        """A dense layer of these weights, and what it has to compute of `self.x`."""
        self.x = np.random.default_rng(5).standard_normal((rows, ROWS)).astype(np.float32)
        made = model([helper.make_node("Gemm", ["x", "w"], ["y"], "dense")],
                     [value("x", [rows, ROWS])], [value("y", [rows, COLUMNS])],
                     [numpy_helper.from_array(weights, "w")])
        self.save(name, made)
        np.save(self.folder / "x.npy", self.x)
        return onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": self.x})[0]

    @staticmethod
    def weights(values):
        random = np.random.default_rng(values)
        table = random.standard_normal(values).astype(np.float32)
        return table[random.integers(0, values, (ROWS, COLUMNS))]

    def compile(self, name, *options):
        """Bytes of weights, and the layer's routine."""
        self.nnc("compile", f"{name}.onnx", "-o", "out", *options)
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        shutil.rmtree(self.folder / "out")
        return manifest["weight_bytes"], manifest["layers"][0]["routine"]

    def test_values_and_sizes(self):
        expected = self.write("net", self.weights(16))
        magnitudes = np.abs(self.x) @ np.abs(self.weights(16))
        for target in ("portable", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64", "cortex-m4"):
            with self.subTest(target):
                options = [f"--target={target}", "--weights-encoding=codebook"]
                encoded, routine = self.compile("net", *options)
                dense, other = self.compile("net", options[0], "--weights-encoding=dense")
                self.assertIn("_codebook16_", routine)
                self.assertNotIn("codebook", other)
                self.assertLess(encoded, 0.15 * dense)
                if target in ("portable", "aarch64", "cortex-m4"):
                    self.nnc("run", "net.onnx", "--input", "x=x.npy", "--output-dir", "got",
                             *options)
                    error = np.abs(np.load(self.folder / "got" / "y.npy") - expected)
                    bound = 4 * np.sqrt(ROWS) * np.finfo(np.float32).eps * magnitudes
                    self.assertTrue((error <= bound).all())

    def test_more_values(self):
        """Nothing is rounded: a layer of more values stays dense."""
        self.write("net", self.weights(17))
        self.assertNotIn("codebook", self.compile("net", "--weights-encoding=codebook")[1])

    def test_values_of_a_panel(self):
        """Each panel of columns has a table of its own."""
        weights = self.weights(8) + 10 * (np.arange(COLUMNS) // 8).astype(np.float32)
        expected = self.write("net", weights)
        options = ["--target=portable", "--weights-encoding=codebook"]
        self.assertIn("_codebook16_", self.compile("net", *options)[1])
        self.nnc("run", "net.onnx", "--input", "x=x.npy", "--output-dir", "got", *options)
        np.testing.assert_allclose(np.load(self.folder / "got" / "y.npy"), expected, rtol=1e-4,
                                   atol=1e-2)
        # Panels of 16 columns have 16 values here, those of 8 have 8.
        self.assertIn("nk16n_codebook16",
                      self.compile("net", "--target=x86-64-v4", options[1])[1])
        weights = self.weights(12) + 10 * (np.arange(COLUMNS) // 8).astype(np.float32)
        self.write("net", weights)
        self.assertIn("nk8n_codebook16",
                      self.compile("net", "--target=x86-64-v4", options[1])[1])

    def test_usage(self):
        self.write("net", self.weights(4))
        self.nnc("compile", "net.onnx", "-o", "out", "--weights-encoding=codebok", code=USAGE,
                 said=["--weights-encoding"])


if __name__ == "__main__":
    unittest.main()
