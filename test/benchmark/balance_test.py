"""Tests scripts/benchmark/balance.py, which runs the shares of more threads than the machine
has, one after another."""

import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import balance  # noqa: E402

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"


class Balance(unittest.TestCase):
    def test_numbers(self):
        """Two layers on 4 threads: an even one, and one whose work one thread has alone."""
        layers = balance.parse("resident 5\nsimulated 0 1 8 2\nsimulated 1 0 4 4\n")
        self.assertEqual(balance.summarize(["a", "b"], layers, 4), {
            "threads": 4, "balance": 0.5, "speed_up": 13 / 7, "worst_layer": "b",
            "worst_layer_balance": 0.25})

    def test_network(self):
        random = np.random.default_rng(0)
        weights = random.standard_normal((32, 16, 3, 3)).astype(np.float32)
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4),
             helper.make_node("MaxPool", ["c"], ["y"], "pool", kernel_shape=[2, 2],
                              strides=[2, 2])], "graph",
            [value("x", TensorProto.FLOAT, [1, 16, 32, 32])],
            [value("y", TensorProto.FLOAT, [1, 32, 16, 16])],
            [numpy_helper.from_array(weights, "w")])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                        ir_version=8), path)
            rows = list(balance.measure(NNC, path, [2, 64], []))
        self.assertEqual([row["threads"] for row in rows], [2, 64])
        for row in rows:
            self.assertTrue(0 < row["balance"] <= 1 and row["worst_layer_balance"] <= 1, row)
            self.assertTrue(0 < row["speed_up"] <= row["threads"], row)


if __name__ == "__main__":
    sys.exit(unittest.main())
