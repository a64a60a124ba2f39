"""The commands that run modules on a GPU: run, verify, bench, report and tune, on the stub of a
CUDA runtime in stub/, which runs on a CPU."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from onnx import helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import nnc  # noqa: E402
from modules_test import loop  # noqa: E402
from nnc import NO_GPU, OWN_FAULT, model, value, weights  # noqa: E402

node = helper.make_node
GESTURE = nnc.ROOT / "examples/firmware/model/gesture.tflite"
STUB = pathlib.Path(__file__).resolve().parent / "stub"
TARGET = ["--target=cuda-sm80", "--compiler", str(STUB / "nvcc")]


def products():
    """Two inputs, two outputs, and a product on tensor cores in halves."""
    return model([node("MatMul", ["x", "w"], ["p"], "product"),
                  node("Add", ["p", "b"], ["y"], "sum"),
                  node("Softmax", ["y"], ["z"], "softmax", axis=-1)],
                 [value("x", [40, 64]), value("b", [40, 96])],
                 [value("y", [40, 96]), value("z", [40, 96])], [weights("w", 64, 96)])


class Device(nnc.TestCase):
    def setUp(self):
        super().setUp()
        folder = self.folder / "driver"
        folder.mkdir()
        subprocess.run(["gcc", "-shared", "-fPIC", STUB / "driver.c", "-o",
                        folder / "libcuda.so.1"], check=True)
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}

    def on_gpu(self, *arguments, code=0, said="", **stub):
        """Runs nnc where the stub is the GPU; `stub` are variables that change it."""
        changed = {f"STUB_GPU_{name.upper()}": str(value) for name, value in stub.items()}
        done = subprocess.run([nnc.NNC, *arguments], cwd=self.folder, capture_output=True,
                              text=True, timeout=300, env=self.environment | changed)
        self.assertEqual(done.returncode, code, done.stderr[-3000:])
        if said:
            self.assertRegex(done.stderr, said)
        if code == 0 and "--json" in arguments:
            nnc.read_document(arguments, done.stdout)
        return done.stdout

    def test_run(self):
        """Outputs as on the CPU, with weights in the program and in a file."""
        np.save(self.folder / "x.npy", nnc.network_input())
        self.nnc("run", "network.onnx", "--input=x.npy", "--output-dir=cpu")
        expected = np.load(self.folder / "cpu" / "y.npy")
        for form in "embed", "file":
            self.nnc("compile", "network.onnx", TARGET[0], "-o", form, f"--weights={form}")
            self.on_gpu("run", form, *TARGET[1:], "--input=x.npy", "--output-dir=gpu")
            np.testing.assert_allclose(np.load(self.folder / "gpu" / "y.npy"), expected,
                                       rtol=1e-5, atol=1e-6)

    def test_verify(self):
        """Inputs in the arena, loops whose trips the CPU reads from the GPU, and state."""
        self.save("loop", loop())
        self.save("products", products())
        for name, *options in (["network.onnx"], ["network.onnx", "--io=arena"],
                               ["network.onnx", "--io=host"],
                               ["loop.onnx"], ["products.onnx", "--precision=f16"],
                               [GESTURE], [GESTURE, "--stream=1:8"]):
            with self.subTest(name=name, options=options):
                self.on_gpu("verify", name, *TARGET, *options)
        for target in "cuda-native", "cuda-sm75,cuda-sm80,cuda-sm90":
            said = json.loads(self.on_gpu("verify", "network.onnx", f"--target={target}",
                                          *TARGET[1:], "--json"))
            self.assertEqual(said["target"], target.replace("native", "sm80"))

    def test_first_layer(self):
        """verify names the layer that is wrong first: its outputs come from the GPU's memory."""
        said = json.loads(self.on_gpu("verify", "network.onnx", *TARGET, "--tolerance=0",
                                      "--json", code=nnc.DIFFERS))
        self.assertRegex(said["cases"][0]["first_layer"],
                         r"the first layer that differs from its reference is '\w+'")

    def test_bench(self):
        said = json.loads(self.on_gpu("bench", "network.onnx", *TARGET, "--seconds=0.01",
                                      "--keep=kept", "--json"))
        self.assertEqual(said["machine"], "Stub of a GPU")
        self.assertGreaterEqual(len(said["run_seconds"]), 200)
        gpu = said["gpu"]
        self.assertTrue(gpu["captured"])
        self.assertEqual(gpu["launches"], len(said["layers"]))
        self.assertEqual(gpu["architecture"], "sm_80")
        # The stub has fewer multiprocessors than the row for sm_80, at a clock of its own.
        self.assertEqual(round(gpu["peak_tensor_f16"]), round(66 * 1024 * 1.5e9))
        self.assertGreater(gpu["memory_bytes"], said["gpu"]["launches"])
        self.assertTrue(all(layer["seconds"] > 0 for layer in said["layers"]))
        kept = subprocess.run([self.folder / "kept" / "run", "--runs=7"], check=True,
                              capture_output=True, text=True, env=self.environment).stdout
        self.assertEqual(kept.count("run "), 7)
        self.assertIn("gpu_name Stub of a GPU\n", kept)
        text = self.on_gpu("bench", "network.onnx", *TARGET, "--runs=20")
        self.assertIn("the GPU has on paper", text)
        self.assertRegex(text, r"replays of a CUDA graph of \d+ launches")

    def test_bench_of_decisions(self):
        """A run in which the CPU takes decisions is not captured."""
        self.save("loop", loop())
        said = json.loads(self.on_gpu("bench", "loop.onnx", *TARGET, "--runs=5", "--json"))
        self.assertFalse(said["gpu"]["captured"])
        self.assertNotIn("launches", said["gpu"])
        self.assertEqual(len(said["run_seconds"]), 5)

    def test_events(self):
        """Layers are timed without a graph if events in graphs tell no times."""
        said = json.loads(self.on_gpu("bench", "network.onnx", *TARGET, "--runs=3", "--json",
                                      failure="times"))
        self.assertTrue(all(layer["seconds"] > 0 for layer in said["layers"]))

    def test_replays(self):
        """Replays whose outputs differ from those of the run before are no measurement."""
        self.on_gpu("bench", "network.onnx", *TARGET, "--runs=3", code=OWN_FAULT,
                    said="runs that were timed gave other outputs", failure="replay")

    def test_report(self):
        said = json.loads(self.on_gpu("report", "network.onnx", *TARGET, "--measure",
                                      "--seconds=0.01", "--json"))
        measured = said["reports"][0]["measured"]
        self.assertEqual(measured["machine"], "Stub of a GPU")
        self.assertGreater(measured["peak_multiply_adds_per_second"], 1e12)
        self.assertTrue(said["reports"][0]["accuracy"]["outputs"][0]["within"])

    def test_tune(self):
        """Measurements of layers decide; the file then serves nnc compile."""
        said = json.loads(self.on_gpu("tune", "network.onnx", *TARGET, "--budget=60s",
                                      "--cache=none", "-o", "own.tune", "--json"))
        self.assertEqual(said["chip"], "Stub of a GPU")
        self.assertGreater(said["measured"], 3)
        text = (self.folder / "own.tune").read_text()
        self.assertIn("chip Stub of a GPU\n", text)
        self.on_gpu("verify", "network.onnx", *TARGET, "--tuning=own.tune")
        self.nnc("tune", "network.onnx", *TARGET, "--on=env STUB_GPU_ARCHITECTURE=80",
                 "--budget=5s", "--cache=none", "-o", "other.tune")
        self.assertIn("chip env STUB", (self.folder / "other.tune").read_text())
        self.on_gpu("tune", "network.onnx", *TARGET, code=NO_GPU, architecture=75,
                    said="measuring for cuda-sm80 needs a GPU .* the GPU here is sm_75")

    def test_failures(self):
        """Each failure is told with what CUDA says, has its exit code, and leaves no file."""
        np.save(self.folder / "x.npy", nnc.network_input())
        self.nnc("compile", "network.onnx", TARGET[0], "-o", "code")
        for stub, code, said in (
                ({"failure": "count"}, NO_GPU, "has no GPU that can be used: CUDA says 'no CUDA-"),
                ({"failure": "driver"}, NO_GPU, "it knows CUDA 11.4, and this program needs 13.0"),
                ({"memory": 2000}, NO_GPU, "no memory for .* bytes more, and .* of 2000 bytes"),
                ({"failure": "kernel"}, OWN_FAULT, "GPU's work failed: CUDA says 'an illegal"),
                ({"architecture": 75}, NO_GPU, "the GPU here is sm_75, and the code is for sm_80")):
            with self.subTest(**stub):
                self.on_gpu("run", "code", *TARGET[1:], "--input=x.npy", "--output-dir=out",
                            code=code, said=said, **stub)
                self.assertFalse((self.folder / "out").exists())

    def test_other_gpu(self):
        """The kept program looks at the GPU that it finds."""
        self.on_gpu("bench", "network.onnx", *TARGET, "--runs=3", "--keep=kept")
        for architecture, code in (86, 0), (90, NO_GPU), (75, NO_GPU):
            done = subprocess.run([self.folder / "kept" / "run", "--runs=1"], text=True,
                                  capture_output=True,
                                  env={**self.environment, "STUB_GPU_ARCHITECTURE":
                                       str(architecture)})
            self.assertEqual(done.returncode, code, done.stderr)
            if code:
                self.assertIn(f"is sm_{architecture}, and the module has machine code for sm_80",
                              done.stderr)


if __name__ == "__main__":
    unittest.main()
