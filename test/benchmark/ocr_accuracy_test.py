"""Tests how scripts/benchmark/ocr_accuracy.py renders, reads and counts text."""

import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import ocr_accuracy  # noqa: E402


class Lines(unittest.TestCase):
    def test_lines(self):
        """The same lines each time, none of them twice, at the height of the network."""
        samples, test = ocr_accuracy.make_lines(3, 5)
        self.assertEqual((len(samples), len(test)), (3, 5))
        texts = [text for text, _ in samples + test]
        self.assertEqual(len(set(texts)), 8)
        for (text, x), (again, y) in zip(samples + test, sum(ocr_accuracy.make_lines(3, 5), [])):
            self.assertEqual(text, again)
            np.testing.assert_array_equal(x, y)
            self.assertEqual((x.shape, x.dtype), ((1, 3, 48, ocr_accuracy.WIDTH), np.float32))
            self.assertLessEqual(np.abs(x).max(), 1)
            self.assertGreater(x.std(), 0.05)

    def test_edit_distance(self):
        for a, b, expected in [("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("", "ab", 2),
                               ("kitten", "sitting", 3), ("ab c", "abc", 1), ("flaw", "lawn", 2)]:
            self.assertEqual(ocr_accuracy.edit_distance(a, b), expected)
            self.assertEqual(ocr_accuracy.edit_distance(b, a), expected)

    def test_read(self):
        """Blanks, which are class 0, are left out, and so are repetitions without one between."""
        scores = np.eye(4, dtype=np.float32)[[0, 1, 1, 0, 1, 2, 2, 3, 0]][None]
        self.assertEqual(ocr_accuracy.read(scores, ["", "a", "b", " "]), "aab ")

    def test_measure(self):
        wrong = np.eye(3, dtype=np.float32)[[1, 2, 2]][None]
        accuracy, texts = ocr_accuracy.measure(lambda _: wrong, [("ab", 0), ("aa", 0)],
                                               ["", "a", "b"])
        self.assertEqual((accuracy, texts), (0.75, ["ab", "ab"]))


class Modules(unittest.TestCase):
    def test_module(self):
        """A module that is called in this process computes what onnxruntime does."""
        weights = np.random.default_rng(0).standard_normal((5, 3, 48, 8)).astype(np.float32) / 30
        graph = helper.make_graph(
            [helper.make_node("Conv", ["x", "w"], ["y"], strides=[48, 8])], "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 48, "width"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5, 1, "steps"])],
            [numpy_helper.from_array(weights, "w")])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        samples, _ = ocr_accuracy.make_lines(2, 0)
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        with tempfile.TemporaryDirectory() as holder:
            folder = pathlib.Path(holder)
            onnx.save(model, folder / "net.onnx")
            module = ocr_accuracy.Module(NNC, folder / "net.onnx", folder, "-O1")
            for _, x in samples:
                np.testing.assert_allclose(module(x), session.run(None, {"x": x})[0], atol=1e-4)


if __name__ == "__main__":
    sys.exit(unittest.main())
