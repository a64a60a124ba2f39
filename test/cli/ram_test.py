#!/usr/bin/env python3
"""Tests limits of memory: layers in strips (--max-ram), and inputs and outputs in the arena
(--io)."""

import ctypes
import json
import re
import subprocess
import unittest

import numpy as np
import onnxruntime
from onnx import helper

import nnc
from nnc import LIMIT, USAGE, model, value
from ports_test import repeated

BUILD = ["--compiler", "c++ -O1"]


def residual():
    """Three kinds of convolutions with a sum of two paths, two poolings and a dense layer."""
    node = helper.make_node
    sizes = {"w1": (8, 3, 3, 3), "w2": (8, 1, 3, 3), "w3": (8, 8, 1, 1), "w4": (6, 8, 3, 3),
             "k": (5, 6 * 5 * 4)}
    return model(
        [node("Conv", ["x", "w1"], ["c1"], pads=[1, 1, 1, 1]),
         node("Relu", ["c1"], ["r1"]),
         node("Conv", ["r1", "w2"], ["c2"], pads=[2, 0, 0, 2], group=8),
         node("Conv", ["c2", "w3"], ["c3"]),
         node("Add", ["r1", "c3"], ["a"]),
         node("HardSwish", ["a"], ["h"]),
         node("MaxPool", ["h"], ["m"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1]),
         node("Conv", ["m", "w4"], ["c4"], dilations=[2, 1], pads=[2, 1, 2, 1]),
         node("AveragePool", ["c4"], ["p"], kernel_shape=[4, 3], strides=[4, 4],
              pads=[1, 0, 1, 0]),
         node("Flatten", ["p"], ["f"]),
         node("Gemm", ["f", "k"], ["y"], transB=1)],
        [value("x", [1, 3, 37, 30])], [value("y", [1, 5])],
        [nnc.weights(name, *shape) for name, shape in sizes.items()])


def line():
    """A similar network with one axis: a convolution over time, whose result is an output."""
    node = helper.make_node
    return model(
        [node("Conv", ["x", "w1"], ["c1"], pads=[4, 4], kernel_shape=[9]),
         node("Tanh", ["c1"], ["t"]),
         node("Conv", ["t", "w2"], ["c2"], strides=[3], kernel_shape=[5]),
         node("Relu", ["c2"], ["y"])],
        [value("x", [1, 2, 300])], [value("y", [1, 4, 99])],
        [nnc.weights("w1", 16, 2, 9), nnc.weights("w2", 4, 16, 5)])


class Ram(nnc.TestCase):
    def check(self, name, *options, code=0):
        target = [] if any("target" in option for option in options) else ["--target=portable"]
        return json.loads(self.nnc("check", f"{name}.onnx", "--no-build", "--json", *target,
                                   *options, code=code))

    @staticmethod
    def count(found):
        return sum(found[f"{kind}_bytes"] for kind in ("arena", "input", "output", "state"))

    def compare(self, name, made, *options):
        """Results of both, and what check says of the model."""
        random = np.random.default_rng(7)
        shape = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
        x = random.standard_normal(shape).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        (want,) = onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": x})
        self.nnc("run", f"{name}.onnx", "--input=x.npy", "--output-dir=out",
                 "--target=portable", *BUILD, *options)
        got = np.load(self.folder / "out" / "y.npy")
        np.testing.assert_allclose(got, want, atol=2e-5 * np.abs(want).max())

    def test_strips(self):
        for name, made in (("residual", residual()), ("line", line())):
            self.save(name, made)
            whole = self.check(name, "--io=arena")
            cut = 0
            for part in (0.8, 0.6):
                limit = int(self.count(whole) * part)
                options = ["--io=arena", f"--max-ram={limit}"]
                with self.subTest(name, part=part):
                    found = self.check(name, *options)
                    self.assertLessEqual(self.count(found), limit)
                    self.assertGreater(found["layers"], whole["layers"])
                    self.assertGreaterEqual(found["multiply_adds"], whole["multiply_adds"])
                    self.compare(name, made, *options)
                    cut += 1
            self.assertEqual(cut, 2)

    def test_no_strips_where_there_is_room(self):
        self.save("residual", residual())
        whole = self.check("residual")
        room = self.count(whole)
        limit = {"max_ram_bytes": room, "ram_left_bytes": room - whole["ram_bytes"]}
        self.assertEqual(self.check("residual", f"--max-ram={room}"), whole | limit)

    def test_too_little_memory(self):
        self.save("residual", residual())
        for command in ("compile", "-o", "module"), ("check", "--no-build"):
            self.nnc(*command, "residual.onnx", "--max-ram=30K", "--target=portable", code=LIMIT,
                     said=[r"needs \d+ bytes.* with layers computed in strips.* more than the 30720"])
        self.assertFalse((self.folder / "module").exists())
        self.nnc("check", "residual.onnx", "--max-ram=4K", "--no-build", code=LIMIT,
                 said=[r"more than the 4096 of --max-ram"])
        self.nnc("run", "residual.onnx", "--max-ram=4Q", code=USAGE, said=["no number of bytes"])

    def least(self, name, limit, *options):
        """The memory that a model needs, as the message for a limit that is too low says."""
        done = subprocess.run([nnc.NNC, "compile", f"{name}.onnx", "-o", "module", *options,
                               f"--max-ram={limit}"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, LIMIT, done.stderr)
        self.assertFalse((self.folder / "module").exists())
        found = re.search(rf"{name}\.onnx.*needs (\d+) bytes of RAM(?: with layers computed in "
                          rf"strips, (\d+) more than the {limit} of|, which layers computed in "
                          rf"strips cannot bring down to the {limit} of) --max-ram", done.stderr)
        if found[2]:
            self.assertEqual(int(found[1]) - int(found[2]), limit)
        self.assertEqual("; --io=arena lets values take the place of inputs" in done.stderr,
                         "--io=arena" not in options)
        return int(found[1])

    def test_least_memory(self):
        """The memory that a message names does not depend on the limit, and is enough."""
        for name, made, target, more in (
                ("residual", residual(), "portable", []),
                ("residual", residual(), "x86-64-v4", ["--io=arena"]),
                ("line", line(), "portable", ["--io=arena"]), ("line", line(), "x86-64-v4", []),
                ("network", nnc.network(), "cortex-m4", [])):
            self.save(name, made)
            options = [f"--target={target}", *more]
            with self.subTest(name=name, options=options):
                least = self.least(name, 1, *options)
                self.assertEqual(self.least(name, least - 1, *options), least)
                found = self.check(name, *options, f"--max-ram={least}")
                self.assertEqual(self.count(found), least)
                whole = self.count(self.check(name, *options))
                self.assertLessEqual(least, whole)
                limit = (least + whole) // 2
                found = self.count(self.check(name, *options, f"--max-ram={limit}"))
                self.assertLessEqual(least, found)
                self.assertLessEqual(found, limit)

    def test_least_memory_of_one_sample(self):
        """A batch that may be one sample needs no more than the model without --batch."""
        made = nnc.network()
        made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
        made.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
        self.save("open", made)
        options = ["--target=cortex-m4"]
        least = self.least("open", 1, *options)
        for batch in "1", "1..4":
            self.assertEqual(self.least("open", 1, *options, f"--batch={batch}"), least)
        found = self.check("open", *options, "--batch=1", f"--max-ram={least}")
        self.assertEqual(self.count(found), least)
        self.nnc("compile", "open.onnx", "-o", "module", *options, "--batch=2", "--max-ram=1",
                 code=LIMIT, said=["smaller batch, or more; --io=arena lets values take"])

    def test_stack_of_strips(self):
        """What check says of layers in strips counts the stack that they have."""
        self.save("line", line())
        options = ["--target=cortex-m4"]
        least = self.least("line", 1, *options)
        done = subprocess.run([nnc.NNC, "check", "line.onnx", *options, "--max-ram=1"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, LIMIT, done.stderr)
        self.assertIn("; --io=arena lets values take the place of inputs", done.stderr)
        told = int(re.search(r"; (\d+) with layers computed in strips", done.stderr)[1])
        whole = json.loads(self.nnc("check", "line.onnx", *options, "--json"))
        done = subprocess.run([nnc.NNC, "check", "line.onnx", *options, "--json",
                               f"--max-ram={least}"],
                              cwd=self.folder, capture_output=True, text=True)
        found = json.loads(done.stdout)
        self.assertEqual(self.count(found), least)
        self.assertEqual(found["ram_bytes"], told)
        self.assertEqual(told - least, found["stack_bytes"])
        self.assertNotEqual(found["stack_bytes"], whole["stack_bytes"])
        # There is room for the plan and not for its stack.
        self.assertEqual(done.returncode, LIMIT)
        self.assertIn("it is the stack that does not fit", done.stdout)

    def test_routines_with_less_memory(self):
        """Slower routines that need less memory are chosen where the limit asks for them."""
        self.save("convolutions", nnc.convolutions())
        hosts = [target for target in nnc.host_targets() if target.startswith("x86-64-v")]
        for target in {"x86-64-v4", "aarch64", *hosts[-1:]}:
            with self.subTest(target=target):
                options = [f"--target={target}"]
                whole = self.count(self.check("convolutions", *options))
                least = self.least("convolutions", 1, *options)
                direct = self.least("convolutions", 1, *options, "--max-error=0")
                self.assertLessEqual(least, direct)
                self.assertLess(least, whole)
                for limit in least, (least + whole) // 2, whole - 1:
                    found = self.check("convolutions", *options, f"--max-ram={limit}")
                    self.assertLessEqual(self.count(found), limit)
                if target in hosts:
                    self.nnc("verify", "convolutions.onnx", *options, f"--max-ram={least}")

    def test_arena_holds_inputs_and_outputs(self):
        self.save("residual", residual())
        apart, inside = self.check("residual"), self.check("residual", "--io=arena")
        self.assertEqual([inside["input_bytes"], inside["output_bytes"]], [0, 0])
        self.assertLess(self.count(inside), self.count(apart))
        self.compare("residual", residual(), "--io=arena")
        self.nnc("bench", "network.onnx", "--io=arena", "--runs=2", "--target=portable", *BUILD)

    def test_outputs_that_are_not_computed(self):
        """An output twice, an input as an output, and a weight as an output."""
        made = repeated()
        self.save("repeated", made)
        x = np.random.default_rng(3).standard_normal((2, 3)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        self.nnc("run", "repeated.onnx", "--input=x.npy", "--output-dir=out", "--io=arena", *BUILD)
        results = {p.stem: np.load(p) for p in (self.folder / "out").iterdir()}
        self.assertEqual(len(results), 4)
        weight = np.frombuffer(made.graph.initializer[0].raw_data, np.float32)
        for name, array in results.items():
            if array.shape == (4,):
                np.testing.assert_array_equal(array, weight, name)
            else:
                self.assertTrue(np.array_equal(array, x) or
                                np.array_equal(array, np.maximum(x, 0)), name)

    def test_c_interface(self):
        self.nnc("compile", "network.onnx", "-o", "module", "--io=arena", "--target=portable",
                 "--weights=array", "--name=net")
        module = self.folder / "module"
        strict = ["-fPIC", "-O1", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
        subprocess.run(["gcc", "-c", "-std=c99", *strict, module / "net_weights.c",
                        "-o", self.folder / "weights.o"], check=True)
        subprocess.run(["g++", "-shared", "-std=c++17", *strict, module / "net.cpp",
                        self.folder / "weights.o", "-o", self.folder / "net.so"], check=True)
        library = ctypes.CDLL(str(self.folder / "net.so"))
        sizes = json.loads((module / "manifest.json").read_text())
        arena = np.zeros(sizes["arena_bytes"] + 64, np.uint8)
        arena = arena[-arena.ctypes.data % 64:]
        place = ctypes.c_void_p(arena.ctypes.data)
        inputs, outputs = ctypes.c_void_p(), ctypes.c_void_p()
        library.net_place(ctypes.byref(inputs), ctypes.byref(outputs), place)

        def port(pointer, shape):
            kind = ctypes.POINTER(ctypes.c_float)
            return np.ctypeslib.as_array(ctypes.cast(pointer, kind), shape)

        session = onnxruntime.InferenceSession(nnc.network().SerializeToString())
        for seed in range(2):
            x = nnc.network_input(seed)
            port(inputs, x.shape)[...] = x
            self.assertEqual(library.net_run(ctypes.byref(inputs), ctypes.byref(outputs), place), 0)
            (want,) = session.run(None, {"x": x})
            np.testing.assert_allclose(port(outputs, (1, 10)), want, atol=1e-5)
        elsewhere = ctypes.c_void_p(inputs.value + 4)
        status = library.net_run(ctypes.byref(elsewhere), ctypes.byref(outputs), place)
        self.assertEqual(status, 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
