"""Tests nnc compile --print-pipeline: nnc-opt makes the same module of the same model with the
printed options."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import USAGE

TFLITE = nnc.ROOT / "examples/firmware/model/gesture.tflite"
TOOLS = nnc.NNC.parent


def sparse():
    """Dense layers with weights that are mostly 0 and otherwise have few different values."""
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


def images(batch=1):
    """Convolutions of large images, which need less memory in strips."""
    nodes = [helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[4, 4], strides=[4, 4]),
             helper.make_node("Conv", ["c", "w1"], ["y"])]
    return nnc.model(nodes, [nnc.value("x", [batch, 1, 64, 64])], [nnc.value("y", [batch, 2, 16, 16])],
                     [nnc.weights("w0", 16, 1, 3, 3), nnc.weights("w1", 2, 16, 1, 1)])


def found(limited=False):
    """A dense layer on the rows whose largest number is above 0. With `limited`, it reads at
    most the first four of them."""
    node = helper.make_node
    nodes = [node("ReduceMax", ["x"], ["m"], axes=[1], keepdims=0),
             node("Greater", ["m", "zero"], ["c"]), node("NonZero", ["c"], ["n"]),
             node("Squeeze", ["n", "first"], ["i"]), node("Gather", ["x", "i"], ["rows"])]
    if limited:
        nodes += [node("Shape", ["i"], ["count"]), node("Min", ["count", "four"], ["least"]),
                  node("Slice", ["rows", "first", "least", "first"], ["some"])]
    nodes += [node("MatMul", ["some" if limited else "rows", "w"], ["d"]),
              node("Relu", ["d"], ["y"])]
    constants = [("zero", np.float32(0)), ("first", np.int64([0])), ("four", np.int64([4]))]
    return nnc.model(nodes, [nnc.value("x", [12, 8])], [nnc.value("y", ["rows", 6])],
                     [*(numpy_helper.from_array(np.asarray(array), name)
                        for name, array in constants), nnc.weights("w", 8, 6)])


def own_operator():
    """An operator that nnc does not have, between two that it has."""
    node = helper.make_node
    return nnc.model([node("Relu", ["x"], ["a"]), node("Twice", ["a"], ["b"], domain="own"),
                      node("Sigmoid", ["b"], ["y"])],
                     [nnc.value("x", [2, 8])], [nnc.value("y", [2, 8])], domains=["own"])


# A function of the operator.
TWICE = """#include "nnc_custom.h"
static void twice(const struct nnc_operator *op, const void *const *inputs,
                  void *const *outputs, void *scratch) {
  const float *from = (const float *)inputs[0];
  float *to = (float *)outputs[0];
  int i;
  (void)scratch;
  for (i = 0; i < op->inputs[0].elements; ++i)
    to[i] = 2 * from[i];
}
"""

# A slow machine with small caches.
PROBE = """nnc-probe 1
chip other
isas avx2 sse4 portable
mhz 300
multiply_adds 2
cache 8192 8
cache 65536 4
memory_mb_s 100
"""


# Choices that no estimate would make.
TUNING = """nnc-tuning 1
nnc 0.2.0
chip other
isas avx2 sse4 portable
threads 1
max-error 5e-06
choice c0 : conv2d_f32_nchw8c_direct_avx2 1 6 2
choice c1 : conv2d_f32_nchw8c_direct_avx2 1 6 2
choice c2 : conv2d_f32_nchw8c_direct_avx2 1 6 2
choice c3 : conv2d_f32_nchw8c_direct_avx2 1 6 2
choice p : avg_pool2d_f32_nchw8c_global_avx2
choice y : matmul_portable
"""


def open_images():
    """The convolutions of images, for any number and size of images."""
    made = nnc.convolutions(batch="n")
    for dim, name in zip(made.graph.input[0].type.tensor_type.shape.dim[2:], "hw"):
        dim.dim_param = name
    return made


class Pipeline(nnc.TestCase):
    def check(self, model, *options, codegen=(), translates=False):
        """What the printed line makes is, file by file, what nnc compile writes. It starts from
        the module that --save-imported writes or, where that `translates`, from what
        nnc-translate prints."""
        said = self.nnc("compile", model, "-o", "whole", "--print-pipeline",
                        "--save-imported=saved.mlir", *options)
        line, = [text for text in said.splitlines() if text.startswith("nnc-opt ")]
        start = "cp saved.mlir in.mlir"
        if translates:
            shapes = [option for option in options if option.startswith("--shape")]
            start = f"nnc-translate --import --complete {model} {' '.join(shapes)} > in.mlir"
        commands = (f"{start} && {line} in.mlir -o out.mlir && "
                    f"nnc-codegen out.mlir {' '.join(codegen)} -o parts")
        shutil.rmtree(self.folder / "parts", ignore_errors=True)
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
                self.check(network, f"--target={target}", translates=True)
        for target in ("cortex-m4", "cortex-m55"):
            with self.subTest(target):
                self.check(network, f"--target={target}", codegen=["--weights=array"])

    def test_choices(self):
        network = self.save("net", nnc.convolutions())
        for option in ("--optimize=size", "--optimize=speed", "--layouts=plain", "--layouts=local",
                       "--layouts=fixed", "--max-error=0", "--io=arena"):
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
                       "--max-weights=8K", "--max-latency=1s"):
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

    def test_batch(self):
        network = self.save("net", nnc.convolutions(batch="n"))
        for options in (["--batch=1..8"], ["--batch=4", "--max-ram=300K"],
                        ["--batch=1..4", "--max-latency=1s"]):
            with self.subTest(options):
                self.assertIn("nnc-batch{", self.check(network, "--target=portable", *options))
        with self.subTest("one sample in strips, as no part of a batch fits"):
            line = self.check(self.save("images", images("n")), "--target=portable",
                              "--batch=1..4", "--max-ram=40K")
            self.assertIn("nnc-patch{", line)

    def test_sizes(self):
        for target in ("portable", "x86-64-v3"):
            with self.subTest(target):
                line = self.check(self.save("net", open_images()), f"--target={target}",
                                  "--shape=x=1..8x3x16..32:8x24")
                self.assertIn("nn.sample(builtin.module(", line)
        with self.subTest("threads"):
            self.check(self.save("net", nnc.convolutions(batch="n")), "--target=x86-64-v3",
                       "--shape=x=1..8x3x24x24", "--threads=2", codegen=["--with-threads=2"])
        with self.subTest("limits"):
            line = self.check(self.save("net", nnc.convolutions(batch="n")), "--target=x86-64-v3",
                              "--shape=x=1..4x3x24x24", "--max-ram=1M")
            # The limit, less what the scratch memory of other sizes may add.
            self.assertRegex(line, r"nnc-choose-routines\{[^}]* max-ram=\d{6,7} ")

    def test_sizes_that_data_decide(self):
        line = self.check(self.save("found", found()), "--target=portable")
        self.assertIn("nnc-generalize", line)
        with self.subTest("computed from another"):
            self.check(self.save("computed", found(limited=True)), "--target=portable")

    def test_several_shapes(self):
        network = self.save("net", open_images())
        for option in ("--layouts=global", "--optimize=size"):
            with self.subTest(option):
                line = self.check(network, "--target=x86-64-v3", "--shape=x=1x3x24x24",
                                  "--shape=x=4x3x16x16", "--shape=x=2x3x32x24", option)
                self.assertIn("nnc-join-shapes", line)

    def test_passes_of_each_shape(self):
        """Limits of memory ask for other passes at one shape than at another, in any order of
        these."""
        network = self.save("net", open_images())
        small, large = "--shape=x=1x3x24x24", "--shape=x=4x3x24x24"
        for shapes in (small, large), (large, small), (large, small, "--shape=x=4x3x24x23"):
            with self.subTest(shapes):
                line = self.check(network, "--target=x86-64-v3", *shapes, "--max-ram=600K")
                bounds = re.findall(r"nnc-choose-routines\{[^}]* max-ram=(\d+) ", line)
                self.assertEqual([bound == "614400" for bound in bounds],
                                 [shape != small for shape in shapes])
        with self.subTest("strips of one shape"):
            line = self.check(self.save("images", images("n")), "--target=portable",
                              "--shape=x=1x1x64x64", "--shape=x=2x1x64x64", "--max-ram=500K")
            self.assertEqual(line.count("nnc-patch{"), 1)
        with self.subTest("strips of all shapes"):
            line = self.check(self.save("images", images("n")), "--target=portable",
                              "--shape=x=2x1x64x64", "--shape=x=1x1x64x64", "--max-ram=80K")
            self.assertEqual(line.count("nnc-patch{"), 2)

    def test_files(self):
        """Measured figures and costs, and functions of the user's."""
        network = self.save("net", nnc.convolutions())
        (self.folder / "figures.txt").write_text(PROBE)
        (self.folder / "costs.txt").write_text(TUNING)
        with self.subTest("probe"):
            line = self.check(network, "--target=x86-64-v3", "--probe=figures.txt")
            self.assertIn("probe=figures.txt", line)
        with self.subTest("tuning"):
            line = self.check(network, "--target=x86-64-v3", "--tuning=costs.txt")
            self.assertEqual(line.count("tuning=costs.txt"), 2)
            self.assertIn("direct_avx2", (self.folder / "parts/net.cpp").read_text())
        with self.subTest("both"):
            self.check(network, "--target=x86-64-v3", "--tuning=costs.txt", "--probe=figures.txt")
        with self.subTest("a path that no pass option holds"):
            (self.folder / "my costs.txt").write_text(TUNING)
            self.nnc("compile", network, "-o", "out", "--print-pipeline", "--target=x86-64-v3",
                     "--tuning=my costs.txt", code=USAGE,
                     said=["cannot name --tuning=my costs.txt; rename the file"])
        with self.subTest("custom"):
            (self.folder / "twice.h").write_text(TWICE)
            self.check(self.save("own", own_operator()), "--target=portable",
                       "--custom=own::Twice:twice.h")

    def test_values(self):
        """Inputs that become constants, and other names, are in the saved module."""
        self.check(self.save("net", nnc.network()), "--target=portable", "--name=other")


if __name__ == "__main__":
    unittest.main()
