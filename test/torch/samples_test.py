#!/usr/bin/env python3
"""Small exported programs through nnc and a compiler, against numpy."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from archives import Program, Symbol
from samples import SAMPLES, numbers

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import BROKEN, DONE, LACKING, USAGE  # noqa: E402

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
SHAPES = {"sizes": ["--shape", "x=3x4"]}


def verify(name, folder):
    program = SAMPLES[name]()
    path = folder / f"{name}.pt2"
    program.save(path)
    data = folder / name
    data.mkdir()
    for port, array in {**program.inputs, **program.expected}.items():
        np.save(data / f"{port}.npy", np.array(array, order="C"))
    return subprocess.run([NNC, "verify", path, "--data", data, "--tolerance=1e-6",
                           *SHAPES.get(name, [])], capture_output=True, text=True)


class SamplesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_programs(self):
        for name in SAMPLES:
            with self.subTest(name):
                done = verify(name, self.folder)
                self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
                for port in SAMPLES[name]().expected:
                    self.assertIn(f"{port}: same", done.stdout)

    def test_sizes_that_vary(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        done = subprocess.run([NNC, "verify", path, "--shape", "x=1..8x4"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        self.assertIn("s77 is axis 0 of 'x'\n", done.stdout)
        self.assertIn("s77=1", done.stdout)

    def test_bounds_of_the_program(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        done = subprocess.run([NNC, "verify", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        for rows in (1, 8):
            self.assertIn(f"s77={rows}", done.stdout)

    def test_bounds_with_few_sizes(self):
        """Two sizes with the same three values, and masks of up to 300 x 300 elements."""
        program = Program()
        rows, columns = (Symbol(f"Symbol('{name}', positive=True, integer=True)", 3)
                         for name in ("s1", "s2"))
        x = program.input("x", numbers(3, 3), [rows, columns])
        for name in ("s1", "s2"):
            program.ranges[name] = {"min_val": 1, "max_val": 3}
        program.output(program.op("relu.default", {"self": x}, np.maximum(program.values[x], 0),
                                  shapes=[[rows, columns]]))
        self.verify_bounds(program, "s1=1s2=1", "s1=1s2=3", "s1=3s2=3")

        program = Program()
        length = Symbol("Symbol('s1', positive=True, integer=True)", 4)
        x = program.input("x", numbers(4, 4), [length, length])
        program.ranges["s1"] = {"min_val": 2, "max_val": 300}
        program.graph["sym_int_values"]["length"] = {
            "as_expr": {"expr_str": length.expression, "hint": {"as_int": 4}}}
        y = program.op("arange.default", {"end": {"as_sym_int": {"as_name": "length"}}},
                       np.arange(4), shapes=[[length]])
        column = program.op("unsqueeze.default", {"self": y, "dim": -1}, np.arange(4)[:, None],
                            shapes=[[length, 1]])
        mask = program.op("le.Tensor", {"self": y, "other": column},
                          np.arange(4) <= np.arange(4)[:, None], shapes=[[length, length]])
        program.output(program.op("mul.Tensor", {"self": x, "other": mask},
                                  np.tril(program.values[x]), shapes=[[length, length]]))
        self.verify_bounds(program, "s1=2", "s1=300")

    def test_multiples_of_a_size(self):
        """Rows that are twice a symbol vary by steps of 2."""
        program = Program()
        rows = Symbol("Mul(Integer(2), Symbol('s1', positive=True, integer=True))", 4)
        half = Symbol("Symbol('s1', positive=True, integer=True)", 2)
        x = program.input("x", numbers(4, 4), [rows, 4])
        program.ranges["s1"] = {"min_val": 2, "max_val": 20}
        program.ranges["2*s1"] = {"min_val": 4, "max_val": 40}
        program.output(program.op("slice.Tensor", {"self": x, "dim": 0, "start": 0, "end": 1000,
                                                   "step": 2},
                                  program.values[x][::2], shapes=[[half, 4]]))
        self.verify_bounds(program, "=4", "=40")

    def test_equal_constants(self):
        """Constants that are equal and whose lengths depend on the batch: the places of rows for
        two gathers, and the sides of a frame, which are stored in the code."""
        batch = Symbol("Symbol('s1', positive=True, integer=True)", 3)
        program = Program()
        x = program.input("x", numbers(3, 7), [batch, 7])
        i = program.input("i", np.array([[0, 6], [3, 3], [5, 1]]), [batch, 2])
        program.ranges["s1"] = {"min_val": 1, "max_val": 40}
        sine = program.op("sin.default", {"self": x}, np.sin(program.values[x]),
                          shapes=[[batch, 7]])
        found = [program.op("gather.default", {"self": table, "dim": 1, "index": i},
                            np.take_along_axis(program.values[table], program.values[i], 1),
                            shapes=[[batch, 2]]) for table in (x, sine)]
        program.output(program.op("add.Tensor", {"self": found[0], "other": found[1]},
                                  program.values[found[0]] + program.values[found[1]],
                                  shapes=[[batch, 2]]))
        self.verify_bounds(program, "s1=1", "s1=40")

        program = Program()
        x = program.input("x", numbers(3, 8, 6), [batch, 8, 6])
        program.ranges["s1"] = {"min_val": 1, "max_val": 4}
        program.graph["sym_int_values"]["batch"] = {
            "as_expr": {"expr_str": batch.expression, "hint": {"as_int": 3}}}
        ramp = np.tile(np.float32([1, 2] * 5), (3, 10, 1))
        row = program.weight("row", ramp[0, 0], "buffer")
        frame = program.op("expand.default", {"self": row, "size": {"as_sym_ints": [
            {"as_name": "batch"}, {"as_int": 10}, {"as_int": 10}]}}, ramp,
            shapes=[[batch, 10, 10]])
        part = program.op("slice.Tensor", {"self": frame, "dim": 1, "start": 1, "end": 9},
                          ramp[:, 1:9], shapes=[[batch, 8, 10]])
        inner = ramp[:, 1:9].copy()
        inner[:, :, 2:8] = program.values[x]
        part = program.op("slice_scatter.default",
                          {"self": part, "src": x, "dim": 2, "start": 2, "end": 8}, inner,
                          shapes=[[batch, 8, 10]])
        whole = ramp.copy()
        whole[:, 1:9] = inner
        program.output(program.op("slice_scatter.default", {
            "self": frame, "src": part, "dim": 1, "start": 1, "end": 9}, whole,
            shapes=[[batch, 10, 10]]))
        self.verify_bounds(program, "s1=1", "s1=4")

    def test_constants_equal_at_some_sizes(self):
        """A batch of up to 4, for whose samples it is 5, beside a tensor of 5 rows."""
        batch = Symbol("Symbol('s1', positive=True, integer=True)", 3)
        program = Program()
        x = program.input("x", numbers(3, 2), [batch, 2])
        y = program.input("y", numbers(5, 2))
        program.ranges["s1"] = {"min_val": 1, "max_val": 4}
        program.graph["sym_int_values"]["batch"] = {
            "as_expr": {"expr_str": batch.expression, "hint": {"as_int": 3}}}
        row = program.weight("row", np.float32([1, 2, 4, 8]), "buffer")
        joined = []
        for value, size, count in ((x, {"as_name": "batch"}, batch), (y, {"as_int": 5}, 5)):
            rows = np.tile(program.values[row], (len(program.values[value]), 1))
            rows = program.op("expand.default", {"self": row, "size": {
                "as_sym_ints": [size, {"as_int": 4}]}}, rows, shapes=[[count, 4]])
            joined.append(program.op("cat.default", {"tensors": [rows, value], "dim": 1},
                                     np.concatenate([program.values[rows],
                                                     program.values[value]], 1),
                                     shapes=[[count, 6]]))
        program.output(*joined)
        self.verify_bounds(program, "s1=1", "s1=4")

    def test_specialised_sizes(self):
        """A program with an open size that holds for one value of it alone."""
        rows = Symbol("Symbol('s1', positive=True, integer=True)", 3)
        program = Program()
        x = program.input("pair_0", numbers(3, 4), [rows, 4])
        program.ranges["s1"] = {"min_val": 1, "max_val": 8}
        program.guards = ["2 <= L['pair'][0].size()[0]", "(1 + L['pair'][0].size()[0] // 3) == 2",
                          "(2*L['pair'][0].size()[0]) == 6"]
        program.output(program.op("view.default", {"self": x, "size": [2, 6]},
                                  program.values[x].reshape(2, 6)))
        path = self.folder / "guarded.pt2"
        program.save(path)
        for options in ([], ["--shape=pair_0=1..8x4"], ["--shape=pair_0=6x4"]):
            done = subprocess.run([NNC, "compile", path, "-o", self.folder / "out", *options],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("holds only for sizes with (", done.stderr)
            self.assertIn("pair_0.size(0)", done.stderr)
            self.assertIn("--shape pair_0=3x4 gives the sizes of its example", done.stderr)
        done = subprocess.run([NNC, "verify", path, "--shape=pair_0=3x4"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        # A contradiction for the example, too, is an error of the program.
        program.guards = ["L['pair'][0].size()[0] == 5", "L['pair'][0].size()[0] = = 3"]
        program.save(path)
        done = subprocess.run([NNC, "check", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, BROKEN, done.stderr)

    def verify_bounds(self, program, *points):
        """Verifies a program at its bounds, and asks what it costs at the largest sizes."""
        path = self.folder / "bounded.pt2"
        program.save(path)
        done = subprocess.run([NNC, "verify", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        for point in points:
            self.assertIn(point, done.stdout.replace(" ", ""))
        done = subprocess.run([NNC, "check", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        self.assertIn("input 'x' has the largest sizes that the model allows", done.stderr)

    def test_options_of_other_formats(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        for option, message in ((f"--weights={path}", "holds its weights itself"),
                                ("--signature=main", "--signature=main says nothing")):
            done = subprocess.run([NNC, "check", path, option], capture_output=True, text=True)
            self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
            self.assertIn(message, done.stderr)

    def test_sizes_beyond_the_bounds(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        done = subprocess.run([NNC, "check", path, "--shape", "x=9x4"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
        self.assertIn("exported for 1 to 8", done.stderr)

    def test_operator_of_the_user(self):
        """Tensors, numbers and lists reach the function; a wrong name is told."""
        x = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)
        program = Program()
        gated = np.where(abs(x) > np.float32(0.5), x, 0).astype(np.float32) + np.float32(17)
        y = program.op("audio.gate.default", {"x": program.input("x", x), "level": 0.5, "axis": 1,
                                              "shifts": [3, 4]}, gated)
        program.output(program.op("relu.default", {"self": y}, np.maximum(gated, 0)))
        path = self.folder / "sound.pt2"
        program.save(path)
        np.save(self.folder / "x.npy", x)
        (self.folder / "gate.h").write_text("""
            #include <string.h>
            #include "nnc_custom.h"
            static void gate(const struct nnc_operator *op, const void *const *inputs,
                             void *const *outputs, void *scratch) {
              const float *x = (const float *)inputs[0];
              float *y = (float *)outputs[0], level = 0, sum = 0;
              int i, j;
              (void)scratch;
              for (i = 0; i < op->num_attributes; ++i) {
                const struct nnc_attribute *a = &op->attributes[i];
                if (!strcmp(a->name, "level"))
                  level = a->floats[0];
                for (j = 0; a->ints && j < a->count; ++j)
                  sum += (float)a->ints[j] * (strcmp(a->name, "axis") ? 1.0f : 10.0f);
              }
              for (i = 0; i < op->inputs[0].elements; ++i)
                y[i] = (x[i] > level || x[i] < -level ? x[i] : 0) + sum;
            }""")
        for name in "audio::gate.default", "audio::gate", "gate":
            done = subprocess.run([NNC, "run", path, f"--custom={name}:{self.folder / 'gate.h'}",
                                   f"--input={self.folder / 'x.npy'}",
                                   f"--output-dir={self.folder / 'out'}"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, DONE, done.stderr)
            made = next((self.folder / "out").glob("*.npy"))
            np.testing.assert_allclose(np.load(made), np.maximum(gated, 0), rtol=1e-6)
            made.unlink()
        for name, said in [("relu", "which nnc computes itself"), ("gait", "audio::gate")]:
            done = subprocess.run([NNC, "check", path, f"--custom={name}:{self.folder / 'gate.h'}"
                                   f":function=gate"], capture_output=True, text=True)
            self.assertIn(said, done.stderr)
            self.assertNotEqual(done.returncode, DONE)

    def test_random_numbers(self):
        """They are drawn when compiling, from the distribution that the operator names."""
        program = Program()
        shares = np.full((4, 2000), 0.3, np.float32)
        x = program.input("x", shares)
        weights = program.input("weights", np.tile(np.float32([0, 1, 3]), (2000, 1)))
        like = np.zeros((4, 2000), np.float32)
        program.output(*[program.op(name, arguments, expected) for name, arguments, expected in [
            ("randn_like.default", {"self": x}, like),
            ("rand.default", {"size": [4, 2000]}, like),
            ("uniform.default", {"self": x, "from": -1.0, "to": 3.0}, like),
            ("normal.Tensor_float", {"mean": x, "std": 2.0}, like),
            ("exponential.default", {"self": x, "lambd": 2.0}, like),
            ("bernoulli.default", {"self": x}, like),
            ("bernoulli.p", {"self": x, "p": 0.75}, like),
            ("randint.low", {"low": -2, "high": 3, "size": [8000]}, np.zeros(8000, np.int64)),
            ("randperm.default", {"n": 300}, np.zeros(300, np.int64)),
            ("multinomial.default", {"self": weights, "num_samples": 1},
             np.zeros((2000, 1), np.int64)),
            ("multinomial.default", {"self": weights, "num_samples": 3, "replacement": True},
             np.zeros((2000, 3), np.int64)),
            ("multinomial.default", {"self": weights, "num_samples": 2},
             np.zeros((2000, 2), np.int64))]])
        path = self.folder / "random.pt2"
        program.save(path)
        runs = [self.run_program(program, path) for _ in range(2)]
        for first, second in zip(*runs):
            np.testing.assert_array_equal(first, second)
        (normal, even, wide, moved, waits, rare, often, whole, order, one, many,
         distinct) = runs[0]
        for values, mean, deviation in [
                (normal, 0, 1), (even, 0.5, 12 ** -0.5), (wide, 1, 4 * 12 ** -0.5), (moved, 0.3, 2),
                (waits, 0.5, 0.5), (rare, 0.3, 0.21 ** 0.5), (often, 0.75, 0.1875 ** 0.5),
                (whole, 0, 2 ** 0.5), (one, 1.75, 0.1875 ** 0.5), (many, 1.75, 0.1875 ** 0.5)]:
            # Bounds of 5 standard errors of 2000 numbers or more.
            self.assertLess(abs(values.mean() - mean), 0.12 * deviation)
            self.assertLess(abs(values.std() - deviation), 0.12 * deviation)
        self.assertEqual(set(rare.flatten()) | set(often.flatten()), {0, 1})
        self.assertEqual(set(whole), set(range(-2, 3)))
        self.assertEqual(sorted(order), list(range(300)))
        self.assertNotEqual(list(order), list(range(300)))
        self.assertEqual(set(one.flatten()) | set(many.flatten()), {1, 2})
        np.testing.assert_array_equal(np.sort(distinct, 1), np.tile([1, 2], (2000, 1)))

    def run_program(self, program, path):
        for port, array in program.inputs.items():
            np.save(self.folder / f"{port}.npy", array)
        out = self.folder / "out"
        done = subprocess.run(
            [NNC, "run", path, f"--output-dir={out}",
             *[f"--input={port}={self.folder / port}.npy" for port in program.inputs]],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return [np.load(out / f"{port}.npy") for port in program.expected]

    def test_training_is_refused(self):
        for name, results in ("dropout.default", 1), ("native_dropout.default", 2):
            program = Program()
            x = program.input("x", numbers(4))
            made = program.op(name, {"input": x, "p": 0.5, "train": True},
                              *[numbers(4)] * results)
            program.output(made if results == 1 else made[0])
            path = self.folder / "training.pt2"
            program.save(path)
            done = subprocess.run([NNC, "check", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, LACKING, done.stderr)
            self.assertIn("after model.eval()", done.stderr)

    def test_operators_are_listed(self):
        done = subprocess.run([NNC, "ops", "--frontend=pytorch"], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE)
        for op in ("add.Tensor", "higher_order.cond", "view.default"):
            self.assertIn(op, done.stdout)


if __name__ == "__main__":
    unittest.main()
