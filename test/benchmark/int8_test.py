"""Tests the networks and the table of scripts/bench --int8."""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import bench  # noqa: E402
import engines  # noqa: E402
import int8  # noqa: E402
import quantized  # noqa: E402


def result(milliseconds):
    return bench.Result(milliseconds / 1e3, [milliseconds / 1e3], 1, {})


class Tables(unittest.TestCase):
    def test_ratios(self):
        rows = [("small", {"nnc float32": result(3), "nnc": result(2), "fast": result(4),
                           "slow": result(9)}),
                ("alone", {"nnc float32": result(1), "nnc": result(2)}),
                ("refused", {"fast": result(9)})]
        lines = list(int8.table(rows, ["nnc float32", "nnc", "fast", "slow"], 2))
        self.assertEqual(lines[0], "| network in 8 bits, 2 threads, ms | nnc float32 | nnc | fast "
                         "| slow | best int8 peer / nnc | nnc float32 / nnc |")
        self.assertEqual(lines[2], "| small | 3.00 | 2.00 | 4.00 | 9.00 | 2.00 × | 1.50 × |")
        self.assertEqual(lines[3], "| alone | 1.00 | 2.00 | – | – | – | 0.50 × |")
        self.assertEqual(lines[4], "| refused | – | – | 9.00 | – | – | – |")
        self.assertIn("best int8 peer / nnc: 2.00 ×, least 2.00 ×", lines[5])
        self.assertIn("nnc float32 / nnc: 0.87 ×, least 0.50 ×", lines[6])


class Models(unittest.TestCase):
    def test_quantized(self):
        """Every convolution has integer weights, with a scale for each filter, and its
        output is quantized; what is made once is kept."""
        path = quantized.made("squeezenet1_1")
        before = path.stat().st_mtime_ns
        graph = onnx.load(path).graph
        constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        makers = {name: node for node in graph.node for name in node.output}
        convolutions = [node for node in graph.node if node.op_type == "Conv"]
        self.assertEqual(len(convolutions), 26)
        for node in convolutions:
            x, w = (makers[name] for name in node.input[:2])
            self.assertEqual((x.op_type, w.op_type), ("DequantizeLinear",) * 2)
            weights, scales = (constants[name] for name in w.input[:2])
            self.assertEqual(weights.dtype, np.int8)
            self.assertEqual(scales.shape, weights.shape[:1])
            self.assertEqual(constants[x.input[2]].dtype, np.uint8)
        self.assertEqual(quantized.made("squeezenet1_1").stat().st_mtime_ns, before)

    def test_float_twin(self):
        """One column is of the float network, the others are of the quantized one."""
        model = engines.Model("m", pathlib.Path("int8.onnx"), {}, {}, [],
                              pathlib.Path("float.onnx"))
        for name, path in (("nnc float32", "float.onnx"), ("nnc", "int8.onnx")):
            with (tempfile.TemporaryDirectory() as folder,
                  unittest.mock.patch.object(engines, "call", return_value="{}") as call):
                engines.INT8[name].prepare(model, pathlib.Path(folder))
            self.assertEqual(str(call.call_args_list[0].args[0][2]), path)


if __name__ == "__main__":
    unittest.main()
