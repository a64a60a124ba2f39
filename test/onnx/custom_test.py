#!/usr/bin/env python3
"""Tests ONNX operators that C functions compute, which --custom names, on this machine and in
an emulated microcontroller, against numpy."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
HAS_BOARD = all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm")))
DONE, USAGE, LACKING = 0, 2, 4
COMPILER = os.environ.get("NNC_TEST_COMPILER", "c++ -O0")

# alpha * x + number of letters + sum of reals, where operand 1 is absent; and the operand's
# sizes plus the sum of integers.
TWIST = r"""
#include "nnc_custom.h"
#include <string.h>
static void twist(const struct nnc_operator *op, const void *const *inputs,
                   void *const *outputs, void *scratch) {
  const struct nnc_tensor_info *x = op->inputs;
  const float *from = inputs[0];
  float *to = outputs[0], alpha = 1, shift = 0;
  int64_t *sizes = outputs[1], sum = 0;
  int i, j;
  (void)scratch;
  if (op->options || op->scratch_bytes || inputs[1] || op->inputs[1].type != NNC_TYPE_NONE)
    return;
  for (i = 0; i < op->num_attributes; ++i) {
    const struct nnc_attribute *a = &op->attributes[i];
    if (!strcmp(a->name, "alpha"))
      alpha = a->floats[0];
    else if (a->text && strlen(a->text) == (size_t)a->count)
      shift += (float)a->count;
    for (j = 0; a->ints && j < a->count; ++j)
      sum += a->ints[j];
    for (j = 0; !strcmp(a->name, "reals") && j < a->count; ++j)
      shift += a->floats[j];
  }
  for (i = 0; i < x->elements; ++i)
    to[i] = alpha * from[i] + shift;
  for (i = 0; i < x->rank; ++i)
    sizes[i] = x->dims[i] + sum;
}
"""
MODE = 'lett"er??/\n'
INTS = [1, -2, 1 << 40, -(1 << 63), (1 << 62)]


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def network(domain="my.ops", op="Twist", infos=None, x_shape=(2, 3), **attributes):
    """A network whose outputs are y = op(relu(x)) * 2 and the second result s of the operator."""
    made = {"alpha": 0.5, "mode": MODE, "ints": INTS, "count": 7,
            "reals": [0.25, 1.5], **attributes}
    nodes = [helper.make_node("Relu", ["x"], ["r"], "relu"),
             helper.make_node(op, ["r", ""], ["a", "s"], "twist1", domain=domain, **made),
             helper.make_node("Mul", ["a", "two"], ["y"], "double")]
    if infos is None:
        infos = [value("a", x_shape)]
    graph = helper.make_graph(nodes, "g", [value("x", x_shape)],
                              [value("y", x_shape), value("s", [2], TensorProto.INT64)],
                              [numpy_helper.from_array(np.float32(2), "two")], value_info=infos)
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def nnc(*arguments):
    done = subprocess.run([NNC, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


class Custom(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "twist.h").write_text(TWIST)
        self.x = np.random.default_rng(5).normal(size=(2, 3)).astype(np.float32)

    def options(self, op="my.ops::Twist"):
        return [f"--custom={op}:{self.folder}/twist.h"]

    def check(self, model, *options, mode=MODE):
        onnx.save(model, self.folder / "net.onnx")
        np.save(self.folder / "x.npy", self.x)
        code, said = nnc("run", self.folder / "net.onnx", "--input",
                         f"x={self.folder / 'x.npy'}", "--output-dir", self.folder, *options)
        self.assertEqual(code, DONE, said)
        expected = 2 * (np.float32(0.5) * np.maximum(self.x, 0) + np.float32(len(mode) + 1.75))
        np.testing.assert_allclose(np.load(self.folder / "y.npy"), expected, rtol=1e-6)
        np.testing.assert_array_equal(np.load(self.folder / "s.npy"),
                                      np.array(self.x.shape) + sum(INTS) + 7)

    def expect(self, model, code, *expected, options=None):
        """What nnc says of the model, with which exit code."""
        onnx.save(model, self.folder / "net.onnx")
        status, said = nnc("check", "--no-build", self.folder / "net.onnx",
                           *(self.options() if options is None else options))
        self.assertEqual(status, code, said)
        for text in expected:
            self.assertIn(text, said)

    def test_host(self):
        host = ("--compiler", COMPILER)
        self.check(network(), *self.options(), *host)
        self.check(network(domain=""), *self.options("Twist"), *host)
        self.check(network(domain="other"), *self.options("Twist"), *host)
        # The exact name goes first.
        (self.folder / "wrong.h").write_text("nnc_function wrong;\n")
        self.expect(network(), USAGE, "'Twist', which the model does not use",
                    options=[*self.options(), f"--custom=Twist:{self.folder}/wrong.h"])

    def test_long_text(self):
        """C compilers refuse string literals of this length where they are strict."""
        mode = MODE * 600
        self.check(network(mode=mode), *self.options(), "--compiler",
                   f"{COMPILER} -pedantic -Werror=overlength-strings", mode=mode)

    @unittest.skipUnless(HAS_BOARD, "needs a compiler and an emulator of Arm boards")
    def test_board(self):
        self.check(network(), *self.options(), "--target=cortex-m4",
                   "--compiler=arm-none-eabi-g++ -O1")

    def test_verify(self):
        onnx.save(network(), self.folder / "net.onnx")
        code, said = nnc("verify", self.folder / "net.onnx", *self.options(), "--compiler",
                         COMPILER, "--random=2")
        self.assertEqual(code, DONE, said)

    def test_shapes(self):
        """The model states shapes of results, or names of sizes, or the user gives them."""
        self.check(network(infos=[value("a", ["n", "m"])], x_shape=("n", "m")),
                   "--shape=x=2x3", *self.options(), "--compiler", COMPILER)
        unknown = network(infos=[value("a", [2, None])])
        self.expect(unknown, DONE, options=[*self.options(), "--shape=a=2x3"])
        self.expect(unknown, USAGE, "'a'", "open dimensions: pass --shape a=2x?")
        self.expect(unknown, USAGE, "'a'", "of shape 2x?", "the given 3x3 does not fit",
                    options=[*self.options(), "--shape=a=3x3"])
        unranked = network(infos=[value("a", None)])
        self.expect(unranked, DONE, options=[*self.options(), "--shape=a=2x3"])
        self.expect(unranked, USAGE, "'a'", "pass --shape a=")
        self.expect(network(infos=[]), LACKING, "'a'", "add it to the graph's value_info")
        self.expect(network(), USAGE, "no input 'b'", options=[*self.options(), "--shape=b=1"])

    def test_refusals(self):
        tensor = numpy_helper.from_array(self.x, "t")
        self.expect(network(table=tensor, names=["a", "b"]), LACKING, "'table' of kind TENSOR",
                    "'names' of kind STRINGS")
        self.expect(network(), LACKING, "'my.ops.Twist' is not supported",
                    "'my.ops::No', which the model does not use",
                    "operators that need one are 'my.ops::Twist'",
                    options=self.options("my.ops::No"))
        self.expect(network(domain=""), 3, "ONNX has no operator 'Twist'", options=[])
        self.expect(network(), USAGE, "'Relu', which nnc computes itself",
                    options=[*self.options("Relu"),
                             f"--custom=Twist:{self.folder}/twist.h"])


if __name__ == "__main__":
    unittest.main()
