#!/usr/bin/env python3
"""Tests custom operators of TFLite models, which C functions compute that --custom names, on
this machine, in an emulated microcontroller and on an emulated GPU, against numpy."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

import flat
import running
from running import COMPILER, DONE, USAGE

HAS_BOARD = all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm")))
F32 = np.float32

# Row i times the byte i of the options, and the sums of the rows; an optional second operand
# is added to the rows. It sums in scratch memory, which has to be large enough.
SCALE_ROWS = r"""
#include "nnc_custom.h"
#include "helper.h"
static void scale_rows(const struct nnc_operator *op, const void *const *inputs,
                       void *const *outputs, void *scratch) {
  const struct nnc_tensor_info *x = &op->inputs[0];
  const float *from = inputs[0], *bias = inputs[1]; /* C converts void * */
  float *scaled = outputs[0], *sums = outputs[1], *work = scratch;
  int32_t rows = x->dims[0], columns = x->dims[1], i, j;
  if (op->num_inputs != 2 || op->num_outputs != 2 || x->type != NNC_TYPE_F32 || x->rank != 2 ||
      x->elements != rows * columns || x->num_scales != 0 ||
      op->scratch_bytes != (size_t)rows * sizeof(float) ||
      op->options_bytes != (size_t)rows || op->outputs[1].rank != 1 ||
      (bias == NULL) != (op->inputs[1].type == NNC_TYPE_NONE))
    return;
  for (i = 0; i < rows; ++i) {
    work[i] = 0;
    for (j = 0; j < columns; ++j) {
      float v = times(from[i * columns + j], op->options[i]) + (bias ? bias[j] : 0);
      scaled[i * columns + j] = v;
      work[i] += v;
    }
  }
  for (i = 0; i < rows; ++i)
    sums[i] = work[i];
}
"""
HELPER = "static float times(float x, int factor) { return x * (float)factor; }\n"

# The integers of a quantized tensor one unit up, in the result's scale and zero point.
REQUANTIZE = r"""
#ifndef REQUANTIZE_H
#define REQUANTIZE_H
#include "nnc_custom.h"
#include <math.h>
static void requantize(const struct nnc_operator *op, const void *const *inputs,
                       void *const *outputs, void *scratch) {
  const struct nnc_tensor_info *x = &op->inputs[0], *y = &op->outputs[0];
  const int8_t *from = (const int8_t *)inputs[0];
  int8_t *to = (int8_t *)outputs[0];
  int32_t i;
  (void)scratch;
  for (i = 0; i < x->elements; ++i) {
    float real = (float)(from[i] - x->zero_points[0]) * x->scales[0];
    float v = floorf(real / y->scales[0] + 0.5f) + (float)y->zero_points[0];
    to[i] = (int8_t)(v < -128 ? -128 : v > 127 ? 127 : v);
  }
}
#endif
"""


def scaled_rows(with_bias):
    """x + x through SCALE_ROWS; its results are an output and, plus 1, another."""
    rng = np.random.default_rng(3)
    x, bias = rng.normal(size=(3, 5)).astype(F32), rng.normal(size=5).astype(F32)
    factors = np.array([2, 255, 3], np.uint8)
    net = flat.Net()
    given = net.input(x)
    twice = net.op("ADD", [given, given], [net.tensor(F32, [3, 5])], activation="NONE")
    scaled, sums = net.tensor(F32, [3, 5]), net.tensor(F32, [3])
    second = net.const(bias) if with_bias else -1
    net.custom("My>ScaleRows", [twice, second], [scaled, sums], factors.tobytes())
    more = net.op("ADD", [sums, net.const(F32(1))], [net.tensor(F32, [3])], activation="NONE")
    net.outputs = [scaled, more]
    rows = F32(2) * x * factors[:, None].astype(F32) + (bias if with_bias else F32(0))
    total = np.zeros(3, F32)
    for column in rows.T:
        total += column
    return net, {scaled: rows, more: total + F32(1)}


def requantized(layers=1):
    """An ADD of bytes, a custom operator of bytes, an ADD again: its scales are its own."""
    rng = np.random.default_rng(4)
    x = rng.integers(-128, 128, (2, 7), np.int8)
    net = flat.Net()
    value, scale, zero, expected = net.input(x, 0.1, 3), 0.1, 3, x
    for i in range(layers):
        result = net.tensor(np.int8, (2, 7), 0.1 + 0.05 * (i + 1), -4)
        net.custom("Requantize", [value], [result])
        real = (expected.astype(np.int32) - zero).astype(F32) * F32(scale)
        scale, zero, value = 0.1 + 0.05 * (i + 1), -4, result
        expected = np.clip(np.floor(real / F32(scale) + F32(0.5)) + zero, -128,
                           127).astype(np.int8)
    net.outputs = [value]
    return net, {value: expected}


class Custom(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        for name, text in (("scale_rows", SCALE_ROWS), ("helper", HELPER),
                           ("requantize", REQUANTIZE)):
            (self.folder / f"{name}.h").write_text(text)
        self.rows = f"--custom=My>ScaleRows:{self.folder}/scale_rows.h:scratch=12"
        self.bytes = f"--custom=Requantize:{self.folder}/requantize.h"

    def save(self, net, name="net"):
        return flat.save({name: net.model()}, self.folder)[0]

    def check(self, made, *options):
        net, expected = made
        actual = running.run_net(net, self.folder, *options)
        for tensor, values in expected.items():
            self.assertTrue(np.any(values))
            np.testing.assert_allclose(actual[tensor], values, rtol=1e-6, atol=0)

    def test_host(self):
        self.check(scaled_rows(False), self.rows)
        self.check(requantized(3), self.bytes)

    @unittest.skipUnless(HAS_BOARD, "needs a compiler and an emulator of Arm boards")
    def test_board(self):
        bare = ("--target=cortex-m4", "--compiler=arm-none-eabi-g++ -O1")
        self.check(scaled_rows(True), self.rows, *bare)
        self.check(requantized(2), self.bytes, *bare)
        path = self.save(scaled_rows(False)[0])
        for command in (("verify",), ("check",)):
            code, said = running.nnc(*command, path, self.rows, *bare)
            self.assertEqual(code, DONE, said)

    def test_gpu(self):
        """A kernel calls a function that its header marks; others are refused."""
        gpu = "--target=cuda-sm80"
        self.refuse(requantized(3)[0], "calls the C function 'requantize', which a GPU cannot run",
                    "NNC_CUSTOM_FUNCTION", options=[self.bytes, gpu], code=running.LACKING)
        header = self.folder / "requantize.h"
        header.write_text(REQUANTIZE.replace("static", "NNC_CUSTOM_FUNCTION static"))
        self.check(requantized(3), self.bytes, gpu, "--emulate")
        code, said = running.nnc("verify", self.save(requantized(3)[0]), self.bytes, gpu,
                                 "--emulate")
        self.assertEqual(code, DONE, said)

    def test_verify_and_bench(self):
        path = self.save(scaled_rows(True)[0])
        for command in (("verify", "--random=2"), ("bench", "--runs=1")):
            code, said = running.nnc(*command, path, self.rows, "--compiler", COMPILER)
            self.assertEqual(code, DONE, said)

    def test_folder(self):
        """The folder is whole: a C compiler and a C++ compiler build it with all warnings."""
        path, lib = self.save(scaled_rows(True)[0]), self.folder / "lib"
        code, said = running.nnc("compile", path, self.rows, "--weights=array", "-o", lib)
        self.assertEqual(code, DONE, said)
        files = {file.name for file in lib.iterdir()}
        self.assertLessEqual({"net_custom.c", "nnc_custom.h", "scale_rows.h", "helper.h"}, files)
        manifest = json.loads((lib / "manifest.json").read_text())
        self.assertLessEqual({"net_custom.c", "scale_rows.h", "helper.h"},
                             set(manifest["files"]))
        self.assertIn("net_custom.c", (lib / "CMakeLists.txt").read_text())
        warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror",
                    "-I", lib, "-c", "-o", "/dev/null"]
        for standard in ("gnu90", "c99", "c17"):
            subprocess.run(["cc", f"-std={standard}", *warnings, lib / "net_custom.c"],
                           check=True)
        subprocess.run(["c++", "-std=c++17", *warnings, lib / "net.cpp"], check=True)

    def refuse(self, net, *expected, options, code=USAGE, command="compile"):
        path = self.save(net)
        more = ["-o", self.folder / "no"] if command == "compile" else []
        status, said = running.nnc(command, path, *options, *more)
        self.assertEqual(status, code, said)
        for text in expected:
            self.assertIn(text, said)
        self.assertFalse((self.folder / "no").exists())

    def test_wrong_options(self):
        net, at = scaled_rows(False)[0], self.folder
        (at / "sub").mkdir()
        (at / "sub" / "scale_rows.h").write_text(SCALE_ROWS)
        (at / "other.h").write_text("int other(void);\n")
        (at / "not-c.h").write_text("")
        self.refuse(net, "is not of the form OPERATOR:FILE.h", "there is no such file",
                    "two functions for operator 'B'", "is no number of bytes",
                    "'1x' is no name of a C function", "'not-c'", "have the same name",
                    "other.h does not declare 'missing'", options=[
                        "--custom=A", f"--custom=B:{at}/none.h", f"--custom=B:{at}/other.h",
                        f"--custom=C:{at}/other.h:scratch=1x", f"--custom=D:{at}/not-c.h",
                        f"--custom=E:{at}/other.h:function=1x", self.rows,
                        f"--custom=F:{at}/sub/scale_rows.h",
                        f"--custom=G:{at}/other.h:function=missing"])
        self.refuse(net, "'No'", "does not use", "operators that need one are 'My>ScaleRows'",
                    "custom operator 'My>ScaleRows' is not supported",
                    options=[f"--custom=No:{at}/other.h"], code=running.LACKING)
        self.refuse(net, "'ADD'", "nnc computes itself",
                    options=[f"--custom=ADD:{at}/other.h", self.rows])
        (at / "math.h").write_text(SCALE_ROWS)
        self.refuse(net, "has the name of a header of the C library",
                    options=[f"--custom=My>ScaleRows:{at}/math.h:function=scale_rows"])
        (at / "net.h").write_text(SCALE_ROWS)
        self.refuse(net, "has the name of a file that nnc writes",
                    options=[f"--custom=My>ScaleRows:{at}/net.h:function=scale_rows"])

    def test_wrong_function(self):
        """What the compiler says of the user's file is passed on."""
        net, file = scaled_rows(False)[0], self.folder / "bad.h"
        option = [f"--custom=My>ScaleRows:{file}"]
        for text, message, command in (
                ("void bad(int x);", "incompatible", "check"), ("/* bad */", "bad", "check"),
                ("nnc_function bad;", "undefined reference to `bad'", "verify")):
            file.write_text(text + "\n")
            self.refuse(net, message, options=[*option, "--compiler", COMPILER],
                        command=command)

    def test_results(self):
        """The model has to state what the function writes."""
        for shape, text in (([0, 3], "of shape 0x3"), ([3, 5], "has a result")):
            net = flat.Net()
            kind = F32 if 0 in shape else np.dtype("bool")
            result = net.tensor(kind, shape)
            if 0 not in shape:
                net.tensors[-1]["type"] = "INT4"
            net.custom("Requantize", [net.input(np.ones((3, 5), F32))], [result])
            net.outputs = [result]
            self.refuse(net, text, options=[self.bytes], code=running.LACKING)

    def test_same_operands(self):
        """Two operators that read the same are not merged: only the user knows whether they
        compute the same."""
        x = np.arange(-5, 5, dtype=np.int8)
        net = flat.Net()
        given = net.input(x, 0.5, 0)
        results = [net.tensor(np.int8, [10], 0.5, 1) for _ in range(2)]
        for result in results:
            net.custom("Requantize", [given], [result])
        net.outputs = results
        path = self.save(net)
        code, said = running.nnc("check", path, self.bytes, "--no-build", "--json")
        self.assertEqual(code, DONE, said)
        self.assertEqual(json.loads(said)["layers"], 2)
        self.check((net, dict.fromkeys(results, x + 1)), self.bytes)


if __name__ == "__main__":
    unittest.main()
