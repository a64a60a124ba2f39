"""nnc compress -o OUT.mlir: pruned and shared weights of models of any format."""

import json
import unittest

import numpy as np

import nnc
import quantize_module_test as networks
from nnc import LACKING, USAGE
from quantize_module_test import QUICK, WITHOUT, flat


class CompressModule(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.save("float", networks.onnx_network())
        flat.save({"float": networks.tflite_network().model()}, self.folder)

    def nnc(self, *arguments, **how):
        return super().nnc(*arguments, **{"env": WITHOUT, **how})

    def weight_bytes(self, model, *options):
        said = self.nnc("compile", model, "--target=cortex-m4", "-o", "code", "--json", *options)
        return json.loads(said)["weight_bytes"]

    def output(self, model):
        image = np.random.default_rng(1).normal(size=(1, 12, 12, 3)).astype(np.float32)
        np.save(self.folder / "image.npy", image)
        said = json.loads(self.nnc("run", model, "--input=t0=image.npy", "--output-dir=out",
                                   "--json", QUICK))
        return np.load(self.folder / said["outputs"][0]["file"])

    def test_sizes(self):
        """Modules take fewer bytes, and the report counts them as for ONNX files."""
        for options in [["--sparsity=80%"], ["--clusters=16"], ["--clusters=16", "--block=8"],
                        ["--pattern=2:4"]]:
            reports = {}
            for model, output in [("float.tflite", "c.mlir"), ("float.onnx", "c.mlirbc"),
                                  ("float.onnx", "c.onnx")]:
                said = json.loads(self.nnc("compress", model, *options, "--json", "-o", output))
                self.assertEqual(len(said["layers"]), 3)
                self.assertEqual(said["left"], [])
                reports[output] = {key: round(value, 3) for key, value in said["totals"].items()}
            with self.subTest(options):
                self.assertEqual(reports["c.mlir"]["least_bytes"], reports["c.onnx"]["least_bytes"])
                self.assertEqual(reports["c.mlirbc"], reports["c.onnx"])
                self.assertLess(reports["c.mlir"]["least_bytes"],
                                0.85 * reports["c.mlir"]["dense_bytes"])

    def test_stored(self):
        """The compiler finds the values shared, and computes with them."""
        self.nnc("compress", "float.tflite", "--clusters=16", "-o", "c.mlir")
        dense = self.weight_bytes("float.tflite")
        least = self.weight_bytes("c.mlir", "--weights-encoding=codebook", "--max-weights=6000")
        self.assertLess(least, dense / 2)
        expected, found = self.output("float.tflite"), self.output("c.mlir")
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        self.assertLess(error, 0.2)
        self.assertGreater(error, 0)

    def test_exclude(self):
        said = json.loads(self.nnc("compress", "float.tflite", "--sparsity=0.5", "--exclude=t6",
                                   "--json", "-o", "c.mlir"))
        self.assertEqual([(left["node"], left["reason"]) for left in said["left"]],
                         [("t6", "excluded by the command line")])
        self.assertEqual(len(said["layers"]), 2)

    def test_refused(self):
        to = ["-o", "c.mlir"]
        self.nnc("compress", "float.tflite", "--clusters=4", "-o", "c.onnx", code=USAGE,
                 said=["of a TFLite model nnc compress writes a module"])
        self.nnc("compress", "float.tflite", "--clusters=4", "--exclude=none", *to, code=USAGE,
                 said=["has no node 'none'"])
        self.nnc("compress", "float.tflite", *to, code=USAGE, said=["there is nothing to do"])
        said = json.loads(self.nnc("compress", "float.tflite", "--clusters=4", "--json", *to))
        nodes = [f"--exclude={layer['nodes'][0]}" for layer in said["layers"]]
        self.nnc("compress", "float.tflite", "--clusters=4", *nodes, *to, code=LACKING,
                 said=["float.tflite: error: has no weights that can be compressed",
                       "excluded by the command line"])

    def test_quantized(self):
        """A module that was quantized before stays quantized."""
        np.savez(self.folder / "data.npz", t0=np.ones((1, 1, 12, 12, 3), np.float32))
        self.nnc("quantize", "float.tflite", "--calibration=data.npz", "-o", "q.mlir")
        said = json.loads(self.nnc("compress", "q.mlir", "--clusters=4", "--json", "-o", "c.mlir"))
        self.assertEqual(len(said["layers"]), 3)
        for layer in said["layers"]:
            self.assertEqual((layer["values"], layer["dense_bytes"]), (4, layer["elements"]))


if __name__ == "__main__":
    unittest.main()
