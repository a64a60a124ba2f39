"""Tests the tables and pictures of scripts/bench, the processes of engines and their memory,
and the steps of the ablation."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import ablation  # noqa: E402
import bench  # noqa: E402
import engines  # noqa: E402
import picture  # noqa: E402

NNC = {"multiply_adds": 50e6, "peak_multiply_adds_per_second": 100e9}
ENGINES = ["nnc", "fast", "slow"]


def result(milliseconds, megabytes, **details):
    return bench.Result(milliseconds / 1e3, [milliseconds / 1e3], int(megabytes * 1e6), details)


ROWS = [("small", {"nnc": result(1, 4, **NNC),
                   "fast": result(1.25, 60, python_bytes=30_000_000),
                   "slow": result(4, 50, python_bytes=31_000_000)}),
        ("refused", {"fast": result(9, 70, python_bytes=30_000_000)})]


def network(folder):
    """Two convolutions that agree on their layout."""
    def weights(name, *shape):
        values = np.random.default_rng(len(name)).standard_normal(shape)
        return numpy_helper.from_array(values.astype(np.float32), name)

    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1] * 4),
         helper.make_node("Conv", ["a", "w2"], ["y"], pads=[1] * 4)], "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, 14, 14])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, 14, 14])],
        [weights("w1", 32, 32, 3, 3), weights("w2", 32, 32, 3, 3)])
    path = pathlib.Path(folder) / "network.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                ir_version=8), path)
    return engines.Model("network", path, {"x": [1, 32, 14, 14]}, {"x": "float32"}, ["y"])


class Tables(unittest.TestCase):
    def test_times(self):
        lines = list(bench.table(ROWS, ENGINES, 1, {}))
        self.assertEqual(lines[2], "| small | 1.00 | 1.25 | 4.00 | 1.25 × | 50 % |")
        self.assertEqual(lines[3], "| refused | – | 9.00 | – | – | – |")

    def test_gain(self):
        """Of each round, not of all: another's load lasts for some of them."""
        single = bench.Result(0.003, [0.002, 0.004, 0.008], 1,
                              {**NNC, "times": [0.004, 0.002, 0.008, 0.003, 0.005]})
        double = bench.Result(0.002, [0.001, 0.002, 0.008], 1,
                              {**NNC, "times": [0.001, 0.008, 0.002]}, copies=[1.8, 1.9, 2.0],
                              handovers=[3e-7, 1e-7, 1.5e-7])
        rows = [("small", {"nnc": double}), ("alone", {"nnc": result(1, 4, **NNC)})]
        lines = list(bench.table(rows, ["nnc"], 2, {"small": single}))
        self.assertTrue(lines[0].endswith("| nnc over 1 thread | in the fastest quarter of runs "
                                          "| cores near each other | 2 copies over 1 |"))
        self.assertTrue(lines[2].endswith("| 2.00 × | 2.00 × | 1.50 × | 1.90 × |"))
        self.assertTrue(lines[3].endswith("| – | – | – | – |"))
        self.assertIn("in 200 ns at most: in 2 of 3 turns of nnc's; in others in 300 ns",
                      lines[-1])

    def test_memory(self):
        lines = list(bench.memory_table(ROWS, ENGINES, 2))
        self.assertEqual(lines[0], "| network, 2 threads, MB resident at most | nnc | fast | slow |")
        self.assertEqual(lines[2], "| small | 4 | 60 | 50 |")
        self.assertEqual(lines[3], "| refused | – | 70 | – |")
        self.assertIn("31 MB", lines[4])

    def test_ablation(self):
        seconds = dict(zip(ablation.HEADS, (0.08, 0.02, 0.01, 0.008, 0.004)))
        lines = list(ablation.table([("small", seconds)], 1))
        self.assertEqual(lines[2], "| small | 80.00 (1.00 ×) | 20.00 (4.00 ×) | 10.00 (8.00 ×) "
                         "| 8.00 (10.00 ×) | 4.00 (20.00 ×) |")
        self.assertIn("global search: 1.25 ×", lines[3])
        self.assertEqual(list(ablation.HEADS), list(engines.STEPS))


class Picture(unittest.TestCase):
    def test_bars(self):
        drawn = xml.fromstring(picture.draw("a < b", {1: ROWS, 2: ROWS}, ENGINES))
        size = [float(drawn.get(side)) for side in ("width", "height")]
        place = "{http://www.w3.org/2000/svg}"
        said = [text.text for text in drawn.iter(place + "text")]
        for wanted in ("a < b", "small", "1.25 × (1.25 ms)", "4.00 × (4 ms)", "2 threads"):
            self.assertIn(wanted, said)
        self.assertNotIn("refused", said)
        for box in drawn.iter(place + "rect"):
            x, y, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
            self.assertGreaterEqual(min(x, y), 0)
            self.assertLessEqual(x + width, size[0])
            self.assertLessEqual(y + height, size[1])


class Engines(unittest.TestCase):
    def test_missing(self):
        absent = types.SimpleNamespace(module="no_such_module")
        said = io.StringIO()
        with (unittest.mock.patch.dict(bench.ENGINES, {"absent": absent}),
              contextlib.redirect_stderr(said)):
            found = bench.select(["nnc", "absent"])
        self.assertEqual(list(found), ["nnc"])
        self.assertEqual(said.getvalue(), "missing: absent\n")


class Processes(unittest.TestCase):
    def test_memory_is_of_the_process_itself(self):
        """A process that a large one started does not inherit its figure."""
        ballast = np.ones(100_000_000, np.uint8)
        size = int(subprocess.run(
            [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1])\n"
             "import engines; print(engines.peak_resident_bytes())", ROOT / "scripts/benchmark"],
            check=True, capture_output=True, text=True).stdout)
        self.assertLess(size, ballast.nbytes)
        self.assertGreater(size, 5_000_000)
        self.assertGreater(engines.peak_resident_bytes(), ballast.nbytes)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "takes two cores")
    def test_copies(self):
        """Of nnc on two threads there are also two processes of one."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            taken = bench.prepare(network(folder), {"nnc": engines.ENGINES["nnc"]}, folder)
            results = bench.measure(network(folder), taken, folder, threads=[1, 2], rounds=3,
                                    seconds=0.01)
        self.assertEqual(results[1]["nnc"].copies, [])
        self.assertEqual(len(results[2]["nnc"].copies), 3)
        self.assertGreater(min(results[2]["nnc"].copies), 0)

    def test_ablation(self):
        """Every step of the ablation compiles and runs, and has the adapts it is about."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model = network(folder)
            taken = bench.prepare(model, engines.STEPS, folder)
            results = bench.measure(model, taken, folder, threads=[1], rounds=1, seconds=0.01)[1]
        self.assertEqual(list(results), list(engines.STEPS))
        routines = {step: [layer["routine"] for layer in one.details["layers"]]
                    for step, one in results.items()}
        self.assertEqual(routines["plain"], ["conv2d_f32_portable"] * 2)
        adapts = {step: sum(name.startswith("adapt") for name in own)
                  for step, own in routines.items()}
        self.assertEqual(adapts["plain"], 0)
        self.assertEqual(adapts["local"], 4)
        self.assertEqual(adapts["fixed"], 2)
        self.assertEqual(adapts["global"], 2)
        for step in ("plain", "local", "fixed", "global"):
            self.assertFalse([name for name in routines[step] if "winograd" in name])
        for one in results.values():
            self.assertGreater(one.resident, 100_000)


if __name__ == "__main__":
    unittest.main()
