"""Tries scripts/bench --cuda on the stub of a GPU: what it builds, finds right or wrong, times and
writes."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/benchmark/cuda.py"
STUB = ROOT / "test/cuda/stub/nvcc"
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import cuda_build  # noqa: E402
import cuda_run  # noqa: E402


def bench(*arguments, **environment):
    done = subprocess.run([sys.executable, "-B", SCRIPT, *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout


def save_small(path):
    """A convolution with more than 4096 weights, a mean, and a product."""
    draw = np.random.default_rng(1)
    constants = {"w": draw.standard_normal((64, 16, 3, 3)) / 12, "b": draw.standard_normal(64),
                 "m": draw.standard_normal((64, 24)) / 8}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("GlobalAveragePool", ["r"], ["g"]),
             helper.make_node("Flatten", ["g"], ["f"]), helper.make_node("MatMul", ["f", "m"], ["y"])]
    graph = helper.make_graph(
        nodes, "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 24])],
        [numpy_helper.from_array(np.float32(array), name) for name, array in constants.items()])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        save_small(cls.folder / "small.onnx")
        cls.built = cls.folder / "built"
        code, said = bench("--build", cls.built, "--target=cuda-sm80", f"--compiler={STUB}",
                           f"{cls.folder / 'small.onnx'}:f16:2", f"{cls.folder / 'small.onnx'}:f32",
                           "no_such_network")
        assert code == 0, said

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_built(self, *options, folder=None, **environment):
        code, said = bench("--run", folder or self.built, *options, **environment)
        results = json.loads(((folder or self.built) / "results.json").read_text())
        return code, said, results

    def copy(self):
        folder = self.folder / self.id()
        shutil.copytree(self.built, folder)
        return folder

    def test_what_is_built(self):
        known = json.loads((self.built / "cases.json").read_text())
        self.assertEqual(known["cases"], ["small-f16-b2", "small-f32-b1"])
        self.assertEqual(list(known["left_out"]), ["no_such_network-f16-b1"])
        about = json.loads((self.built / "small-f16-b2/network.json").read_text())
        self.assertEqual(about["multiply_adds"], 2 * (64 * 144 * 36 + 64 * 24))
        self.assertEqual(about["peak_per_multiprocessor"], 1024)
        self.assertEqual([one["bytes"] for one in about["outputs"]], [2 * 24 * 4])

    def test_results(self):
        code, said, results = self.run_built("--seconds=100", NNC_TORCH_STUB="1")
        self.assertEqual(code, 0, said)
        halves, floats = results["networks"]
        for row in halves, floats:
            self.assertTrue(row["right"] and row["repeats"], said)
            self.assertGreaterEqual(row["nnc_replays"], 3 * 200)
            self.assertGreater(row["launches"], 1)
            self.assertGreater(row["share_of_peak"], 0)
            self.assertEqual(row["gpu_name"], "Stub of a GPU")
            self.assertTrue(row["layer_seconds"])
        self.assertGreater(halves["relative_error"], floats["relative_error"])
        self.assertEqual((halves["eager_ms"], halves["compile_ms"]), (1, 1))
        self.assertNotIn("compile_ms", floats)
        table = (self.built / "results.md").read_text()
        self.assertIn("| small, f16 | 2 |", table)
        self.assertNotIn("wrong", table)

    def test_wrong_results(self):
        folder = self.copy()
        about = json.loads((folder / "small-f16-b2/network.json").read_text())
        about["tolerance"] = 1e-9
        (folder / "small-f16-b2/network.json").write_text(json.dumps(about))
        code, said, results = self.run_built("--seconds=20", folder=folder)
        self.assertEqual(code, 1)
        self.assertEqual([row["right"] for row in results["networks"]], [False, True])
        self.assertIn("**wrong**", (folder / "results.md").read_text())
        self.assertIn("small-f16-b2               WRONG", said)

    def test_failing_kernels(self):
        code, said, results = self.run_built("--seconds=20", STUB_GPU_FAILURE="kernel",
                                             folder=self.copy())
        self.assertEqual(code, 1)
        self.assertIn("an illegal", said)
        self.assertTrue(all(not row["right"] for row in results["networks"]))

    def test_without_time(self):
        code, said, results = self.run_built("--seconds=0.1", folder=self.copy())
        self.assertEqual(code, 1)
        self.assertIn("no time left", said)
        self.assertEqual(len(results["networks"]), 2)

    def test_peer_without_the_network(self):
        folder = self.copy()
        path = folder / "small-f16-b2/network.json"
        path.write_text(path.read_text().replace('"network": "small"', '"network": "vit_b16"'))
        known = json.loads((folder / "cases.json").read_text())
        (folder / "cases.json").write_text(json.dumps({**known, "cases": known["cases"][:1]}))
        code, said, results = self.run_built("--seconds=60", folder=folder, NNC_TORCH_STUB="1")
        self.assertEqual(code, 0, said)
        self.assertIn("the stub has no such network",
                      results["networks"][0]["peer_problems"]["eager"])

    def test_sanitizer(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "compute-sanitizer").write_text(
            '#!/bin/sh\ncase $1 in *racecheck) echo "a hazard"; exit 9;; esac\n'
            'shift 2; exec "$@"\n')
        (tools / "compute-sanitizer").chmod(0o755)
        _, said, results = self.run_built("--seconds=100", folder=self.copy(),
                                          PATH=f"{tools}:{os.environ['PATH']}")
        found = {(row["key"], row["tool"]): row["status"] for row in results["sanitizers"]}
        self.assertEqual(found["small-f16-b2", "racecheck"], 9)
        self.assertEqual(found["small-f16-b2", "memcheck"], 0)
        self.assertIn("a hazard", said)


class Parts(unittest.TestCase):
    def test_pattern(self):
        values = cuda_build.pattern(100, 640, 0.5, np.random.default_rng(1))
        self.assertAlmostEqual(values.std(), 0.5, places=2)
        self.assertAlmostEqual(values.mean(), 0, places=3)
        self.assertTrue((values[:, :64] == values[:, 64:128]).all())
        self.assertEqual(len(np.unique(values[:64], axis=0)), 64)

    def test_cases(self):
        self.assertEqual(cuda_build.parse("resnet50:f16:64"), cuda_build.Case("resnet50", "f16", 64))
        self.assertEqual(cuda_build.parse("bert_base").key, "bert_base-f16-b1")

    def test_figures(self):
        found = cuda_run.figures("launches 53\ncopies 1\nrun 0.5\nrun 0.25\nlayer 3 0.125\n"
                                 "gpu_name An H200\ngpu_hz 1.98e+09\nwarning: 3 things\n")
        self.assertEqual(found, {"launches": 53, "copies": 1, "runs": [0.5, 0.25],
                                 "layers": [0.125], "gpu_name": "An H200", "gpu_hz": 1.98e9})


if __name__ == "__main__":
    unittest.main()
