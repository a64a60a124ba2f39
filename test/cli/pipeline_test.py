"""nnc compile --print-pipeline: nnc-opt makes the same module of the same model."""

import os
import pathlib
import subprocess
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import USAGE

TFLITE = nnc.ROOT / "examples/firmware/model/gesture.tflite"
TOOLS = nnc.NNC.parent


def sparse():
    """Dense layers most of whose weights are 0, the others few values."""
    random = np.random.default_rng(3)
    matrices = [np.where(random.random((64, 64)) < 0.1, random.integers(1, 5, (64, 64)), 0)
                .astype(np.float32) for _ in range(2)]
    nodes = [helper.make_node("MatMul", ["x", "a"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("MatMul", ["r", "b"], ["y"])]
    return nnc.model(nodes, [nnc.value("x", [1, 64])], [nnc.value("y", [1, 64])],
                     [numpy_helper.from_array(matrix, name)
                      for matrix, name in zip(matrices, "ab")])


def window():
    """A convolution over a window of 16 frames of 8 numbers."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])]
    return nnc.model(nodes, [nnc.value("x", [1, 8, 16])], [nnc.value("y", [1, 4, 14])],
                     [nnc.weights("w", 4, 8, 3)])


def images():
    """Convolutions of large images, whose strips take less memory."""
    nodes = [helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[4, 4], strides=[4, 4]),
             helper.make_node("Conv", ["c", "w1"], ["y"])]
    return nnc.model(nodes, [nnc.value("x", [1, 1, 64, 64])], [nnc.value("y", [1, 2, 16, 16])],
                     [nnc.weights("w0", 16, 1, 3, 3), nnc.weights("w1", 2, 16, 1, 1)])


class Pipeline(nnc.TestCase):
    def check(self, model, *options, codegen=()):
        """What the printed line makes is, file by file, what nnc compile writes."""
        said = self.nnc("compile", model, "-o", "whole", "--print-pipeline", *options)
        line, = [text for text in said.splitlines() if text.startswith("nnc-opt ")]
        shapes = [option for option in options if option.startswith("--shape")]
        commands = (f"nnc-translate --import --complete {model} {' '.join(shapes)} > in.mlir && "
                    f"{line} in.mlir -o out.mlir && "
                    f"nnc-codegen out.mlir {' '.join(codegen)} -o parts")
        subprocess.run(["bash", "-ec", commands], cwd=self.folder, check=True,
                       env={**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"})
        whole, parts = ({path.name: path.read_bytes() for path in (self.folder / folder).iterdir()}
                        for folder in ("whole", "parts"))
        self.assertEqual(whole.keys(), parts.keys())
        for name in whole:
            # Build files and the manifest have options of the user's build.
            if pathlib.Path(name).suffix in {".cpp", ".h", ".c", ".S", ".bin"}:
                self.assertEqual(whole[name], parts[name], name)
        return line

    def test_targets(self):
        network = self.save("net", nnc.convolutions())
        for target in ("portable", "x86-64-v3", "x86-64-v4", "aarch64", "armv7"):
            with self.subTest(target):
                self.check(network, f"--target={target}")
        for target in ("cortex-m4", "cortex-m55"):
            with self.subTest(target):
                self.check(network, f"--target={target}", codegen=["--weights=array"])

    def test_choices(self):
        network = self.save("net", nnc.convolutions())
        for option in ("--optimize=size", "--optimize=speed", "--layouts=plain", "--layouts=local",
                       "--layouts=fixed", "--max-error=0", "--io=arena", "--weight-bits=24"):
            with self.subTest(option):
                self.check(network, "--target=x86-64-v3", option)
        with self.subTest("halves"):
            self.check(network, "--target=aarch64-fp16", "--precision=f16")
        with self.subTest("threads"):
            self.check(network, "--target=x86-64-v3", "--threads=2", codegen=["--with-threads=2"])

    def test_integers(self):
        for target in ("cortex-m4", "cortex-m0plus"):
            with self.subTest(target):
                self.check(TFLITE, f"--target={target}", codegen=["--weights=array"])
        with self.subTest("x86-64-v3"):
            self.check(TFLITE, "--target=x86-64-v3")

    def test_weights(self):
        network = self.save("net", sparse())
        for option in ("--weights-encoding=csr", "--weights-encoding=codebook",
                       "--weights-encoding=huffman", "--weights-encoding=dense",
                       "--max-weights=8K"):
            with self.subTest(option):
                self.check(network, "--target=portable", option)

    def test_memory(self):
        network = self.save("net", nnc.convolutions())
        with self.subTest("routines"):
            line = self.check(network, "--target=x86-64-v3", "--max-ram=200K")
            self.assertRegex(line, r"nnc-choose-routines\{[^}]* max-ram=\d{1,6} ")
        with self.subTest("strips"):
            line = self.check(self.save("images", images()), "--target=portable", "--max-ram=40K")
            self.assertIn("nnc-patch{", line)
        with self.subTest("memories"):
            line = self.check(network, "--target=portable", "--pool=fast:64K",
                              "--pool=large:4M:slow")
            self.assertIn("memories=fast:65536,large:4194304:slow", line)

    def test_stream(self):
        line = self.check(self.save("window", window()), "--target=portable", "--stream=x=2")
        self.assertIn("nnc-stream{", line)

    def test_what_has_no_passes(self):
        network = self.save("net", nnc.convolutions(batch="n"))
        self.nnc("compile", network, "-o", "out", "--print-pipeline", "--batch=2",
                 "--target=portable", code=USAGE,
                 said=["--print-pipeline: nnc-opt has no passes for --batch"])
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
