#!/usr/bin/env python3
"""Tests batches (--batch, --max-latency, --max-ram), which run each part of a network on a part
of the samples."""

import json
import re
import subprocess
import unittest

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import LACKING, LIMIT, USAGE, model, value, weights

BUILD = ["--target=portable", "--compiler=c++ -O1"]
node = helper.make_node


def image_network(odd=(13, 11)):
    """Convolutions with large activations, and dense layers with large weights."""
    height, width = odd
    features = 5 * ((height - 1) // 2) * ((width - 1) // 2)
    return model(
        [node("Conv", ["x", "w1"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], ["r1"]),
         node("Conv", ["r1", "w2"], ["c2"], pads=[1, 1, 1, 1]), node("Add", ["c2", "r1"], ["a"]),
         node("MaxPool", ["a"], ["p"], kernel_shape=[3, 3], strides=[2, 2]),
         node("Conv", ["p", "w3"], ["c3"]), node("Flatten", ["c3"], ["f"]),
         node("Gemm", ["f", "w4"], ["g"], transB=1), node("Relu", ["g"], ["r2"]),
         node("Gemm", ["r2", "w5"], ["o"], transB=1), node("Softmax", ["o"], ["y"], axis=1)],
        [value("x", ["n", 3, height, width])], [value("y", ["n", 10])],
        [weights("w1", 7, 3, 3, 3), weights("w2", 7, 7, 3, 3), weights("w3", 5, 7, 1, 1),
         weights("w4", 301, features), weights("w5", 10, 301)])


def two_ports():
    """Two inputs, the second of which is read late, and two outputs, the first of which is
    computed early. Rows of a sample are merged with the batch."""
    return model(
        [node("Conv", ["x", "w1"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], ["early"]),
         node("GlobalAveragePool", ["early"], ["p"]), node("Flatten", ["p"], ["f"]),
         node("Concat", ["f", "extra"], ["j"], axis=1),
         node("Gemm", ["j", "w2"], ["g"], transB=1), node("Reshape", ["g", "rows"], ["r"]),
         node("MatMul", ["r", "w3"], ["m"]), node("Reshape", ["m", "back"], ["late"])],
        [value("x", ["n", 2, 9, 7]), value("extra", ["n", 3])],
        [value("early", ["n", 4, 9, 7]), value("late", ["n", 3, 5])],
        [weights("w1", 4, 2, 3, 3), weights("w2", 24, 7), weights("w3", 8, 5),
         numpy_helper.from_array(np.int64([-1, 8]), "rows"),
         numpy_helper.from_array(np.int64([-1, 3, 5]), "back")])


def quantized():
    """A convolution and a dense layer between quantized values."""
    def scale(name, number):
        return numpy_helper.from_array(np.float32(number), name)

    def bytes_of(name, *shape):
        random = np.random.default_rng(len(name))
        return numpy_helper.from_array(random.integers(-128, 128, shape).astype(np.int8), name)

    def quantize(x, number):
        return [node("QuantizeLinear", [x, f"s{number}", "zero"], [f"{x}_q"]),
                node("DequantizeLinear", [f"{x}_q", f"s{number}", "zero"], [f"{x}_d"])]
    return model(
        [*quantize("x", 0), node("DequantizeLinear", ["w1", "sw", "zero"], ["w1_d"]),
         node("Conv", ["x_d", "w1_d"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
         *quantize("r", 1), node("Flatten", ["r_d"], ["f"]),
         node("DequantizeLinear", ["w2", "sw", "zero"], ["w2_d"]),
         node("Gemm", ["f", "w2_d"], ["g"], transB=1), *quantize("g", 2),
         node("Identity", ["g_d"], ["y"])],
        [value("x", ["n", 3, 7, 5])], [value("y", ["n", 9])],
        [bytes_of("w1", 6, 3, 3, 3), bytes_of("w2", 9, 6 * 7 * 5), scale("s0", 0.03),
         scale("s1", 0.05), scale("s2", 0.3), scale("sw", 0.004),
         numpy_helper.from_array(np.int8(0), "zero")])


class Batch(nnc.TestCase):
    def plan(self, name, *options):
        said = json.loads(self.nnc("explain", f"{name}.onnx", "--target=portable", "--json",
                                   *options))
        return said["batch"]

    def compare(self, name, made, count, *options, exact=False):
        """Outputs of a batch against as many runs of one sample each, and against onnxruntime."""
        self.save(name, made)
        random = np.random.default_rng(count)
        feeds = {}
        for port in made.graph.input:
            shape = [d.dim_value for d in port.type.tensor_type.shape.dim]
            feeds[port.name] = random.standard_normal([count, *shape[1:]]).astype(np.float32)
        outputs = [port.name for port in made.graph.output]
        inputs = []
        for port, array in feeds.items():
            np.save(self.folder / f"{port}.npy", array)
            inputs.append(f"--input={port}={port}.npy")
        self.nnc("run", f"{name}.onnx", *inputs, "--output-dir=all", *BUILD, f"--batch={count}",
                 *options)
        got = {port: np.load(self.folder / "all" / f"{port}.npy") for port in outputs}
        session = onnxruntime.InferenceSession(made.SerializeToString())
        for port, want in zip(outputs, session.run(None, feeds)):
            step = 0.3 if exact else 0  # of the last QuantizeLinear
            np.testing.assert_allclose(got[port], want,
                                       atol=step + 2e-5 * np.abs(want).max())
        for i in {0, count - 1}:
            for port, array in feeds.items():
                np.save(self.folder / f"{port}.npy", array[i:i + 1])
            shapes = [f"--shape={port}=" + "x".join(map(str, array[:1].shape))
                      for port, array in feeds.items()]
            self.nnc("run", f"{name}.onnx", *inputs, "--output-dir=one", *BUILD, *shapes)
            for port in outputs:
                one = np.load(self.folder / "one" / f"{port}.npy")
                if exact:
                    np.testing.assert_array_equal(got[port][i:i + 1], one)
                else:
                    np.testing.assert_allclose(got[port][i:i + 1], one, rtol=1e-5,
                                               atol=1e-5 * np.abs(one).max())

    def limits(self, name, count):
        """Limits of memory between what small and large parts of the network take."""
        most = self.plan(name, f"--batch={count}")["ram_bytes"]
        least, limits = most, []
        for percent in range(95, 20, -5):
            limit = most * percent // 100
            code = self.nnc_code("explain", f"{name}.onnx", "--target=portable",
                                 f"--batch={count}", f"--max-ram={limit}")
            if code != 0:
                self.assertEqual(code, LIMIT)
                break
            least = limit
            limits.append(limit)
        self.assertLess(least, most)
        return limits

    def nnc_code(self, *arguments):
        """The exit code of a command that may fail."""
        return subprocess.run([str(nnc.NNC), *arguments], cwd=self.folder,
                                  capture_output=True).returncode

    def test_equal_to_single_runs(self):
        for name, made, count in (("image", image_network(), 1), ("image", image_network(), 6),
                                  ("ports", two_ports(), 5)):
            with self.subTest(name=name, count=count):
                self.compare(name, made, count)

    def test_equal_within_memory(self):
        """The plan has several parts where memory is short, and results stay the same."""
        made, count = image_network(), 12
        self.save("image", made)
        limit = self.limits("image", count)[-1]
        plan = self.plan("image", f"--batch={count}", f"--max-ram={limit}")
        self.assertLessEqual(plan["ram_bytes"], limit)
        self.assertEqual(plan["count"], count)
        sizes = [part["size"] for part in plan["parts"]]
        self.assertLess(sizes[0], count)
        for small, large in zip(sizes, [*sizes[1:], count]):
            self.assertEqual(large % small, 0)
        self.compare("image", made, count, f"--max-ram={limit}")

    def test_integers_are_equal(self):
        made = quantized()
        self.save("bytes", made)
        limit = self.limits("bytes", 4)[-1]
        self.compare("bytes", made, 4, exact=True)
        self.compare("bytes", made, 4, f"--max-ram={limit}", exact=True)

    def test_verified_on_targets(self):
        """Nine tenths of the memory of the fastest plan are enough for another one."""
        self.save("image", image_network())
        for target, options in (*((target, []) for target in nnc.host_targets()),
                                ("native", ["--threads=2"]), ("cortex-m4", []),
                                ("portable", ["--io=arena", "--compiler=c++ -O1"])):
            with self.subTest(target=target, options=options):
                shared = [f"--target={target}", "--batch=6", *(o for o in options if "io" in o)]
                most = json.loads(self.nnc("explain", "image.onnx", "--json", *shared))["batch"]
                limit = most["ram_bytes"] * 9 // 10
                self.nnc("verify", "image.onnx", *shared[:2], f"--max-ram={limit}", *options)

    def ram(self, name, limit, *options):
        """The memory of the plan that keeps to a limit, or None and the least that there is."""
        done = subprocess.run([nnc.NNC, "explain", f"{name}.onnx", "--json", *options,
                               *([f"--max-ram={limit}"] if limit else [])],
                              cwd=self.folder, capture_output=True, text=True)
        said = nnc.read_document(["explain"] if not done.returncode else [], done.stdout)
        if done.returncode == 0:
            # One sample whose layers are in strips fits, and has no plan of parts.
            return said["batch"]["ram_bytes"] if "batch" in said else limit, None
        self.assertEqual(done.returncode, LIMIT, done.stderr)
        least = re.search(r"needs (\d+) bytes of RAM (or more with --batch|with layers computed in "
                          r"strips)", done.stdout)
        return None, int(least[1])

    def test_least_memory(self):
        """The memory that a message names is enough, one byte less is not, and no plan takes
        less, whatever the limit."""
        for name, made, batch, targets in (
                ("image", image_network(), "6", [*nnc.host_targets(), "cortex-m4"]),
                ("image", image_network(), "1..6", ["native"]),
                ("ports", two_ports(), "5", ["portable"]),
                ("bytes", quantized(), "4", ["native", "cortex-m4"])):
            self.save(name, made)
            for target in targets:
                with self.subTest(name=name, batch=batch, target=target):
                    options = [f"--target={target}", f"--batch={batch}"]
                    most, _ = self.ram(name, None, *options)
                    _, least = self.ram(name, 1, *options)
                    self.assertLessEqual(least, most)
                    self.assertEqual(self.ram(name, least, *options), (least, None))
                    self.assertEqual(self.ram(name, least - 1, *options), (None, least))
                    for limit in (least + (most - least) // 4, least + (most - least) // 2):
                        found, _ = self.ram(name, limit, *options)
                        self.assertIsNotNone(found, limit)
                        self.assertLessEqual(least, found)
                        self.assertLessEqual(found, limit)

    def test_least_memory_of_routines(self):
        """Slower routines that need less memory are chosen where the limit asks for them."""
        self.save("convolutions", nnc.convolutions("n"))
        for target in "x86-64-v4", "x86-64-v3":
            with self.subTest(target=target):
                options = [f"--target={target}", "--batch=6"]
                most, _ = self.ram("convolutions", None, *options)
                _, least = self.ram("convolutions", 1, *options)
                _, direct = self.ram("convolutions", 1, *options, "--max-error=0")
                self.assertLess(least, most / 2)
                self.assertLessEqual(least, direct)
                self.assertEqual(self.ram("convolutions", least, *options), (least, None))
                self.assertEqual(self.ram("convolutions", least - 1, *options), (None, least))

    def test_range(self):
        """A range gives the batch with the least time for a sample within the limits."""
        self.save("image", image_network())
        free = self.plan("image", "--batch=1..16")
        one = self.plan("image", "--batch=1")
        self.assertLessEqual(free["seconds"] / free["count"], one["seconds"])
        self.assertEqual(one["count"], 1)
        ram = (one["ram_bytes"] + free["ram_bytes"]) // 2
        tight = self.plan("image", "--batch=1..16", f"--max-ram={ram}")
        self.assertLessEqual(tight["ram_bytes"], ram)
        self.assertLessEqual(tight["seconds"] / tight["count"], one["seconds"])
        self.assertLessEqual(tight["seconds"] / tight["count"],
                             tight["fixed"]["seconds"] / tight["fixed"]["count"])
        latency = 2.5 * one["seconds"]
        quick = self.plan("image", "--batch=1..16", f"--max-latency={1e6 * latency}us")
        self.assertLessEqual(quick["seconds"], latency)
        text = self.nnc("explain", "image.onnx", "--batch=1..16", "--target=portable")
        self.assertIn("samples/s", text)
        self.assertIn("samples at a time", text)

    def test_limits(self):
        self.save("image", image_network())
        for options, expected in ((["--max-ram=4K"], r"needs \d+ bytes of RAM or more with --batch"),
                                  (["--max-latency=1us"], r"more than the 0.001 ms of --max-latency")):
            self.nnc("compile", "image.onnx", "-o", "code", "--batch=2..8", *options, code=LIMIT,
                     said=[expected])
        self.nnc("compile", "image.onnx", "-o", "code", "--batch=6", "--pool=dtcm:1K", code=LIMIT,
                 said=[r"needs \d+ bytes in the memory 'dtcm'.* --pool gives it 1024 with --batch"])

    def test_refused(self):
        """Models that mix samples or have no open batch, and options that do not go together."""
        def refuse(expected, *options, made=None, code=LACKING):
            if made:
                self.save("refused", made)
            self.nnc("compile", "refused.onnx", "-o", "code", *options, code=code,
                     said=[re.escape(expected)])

        def single(op, **attributes):
            return model([node(op, ["x"], ["y"], "mixes", **attributes)],
                         [value("x", ["n", 6])], [value("y", None)])
        refuse("nn.softmax may mix", "--batch=4", made=single("Softmax", axis=0))
        refuse("nn.reduce may mix", "--batch=4", made=single("ReduceMean", axes=[0], keepdims=1))
        refuse("may mix", "--batch=4", made=single("Transpose", perm=[1, 0]))
        refuse("may mix", "--batch=4",
               made=model([node("CumSum", ["x", "a"], ["y"])], [value("x", ["n", 6])],
                     [value("y", ["n", 6])],
                     [numpy_helper.from_array(np.int64(0), "a")]))
        refuse("may mix", "--batch=4",
               made=model([node("Add", ["x", "t"], ["y"])], [value("x", ["n", 6])],
                          [value("y", None)], [weights("t", 4, 6)]))
        refuse("leaves open", "--batch=4",
               made=model([node("Relu", ["x"], ["y"])], [value("x", [1, 6])], [value("y", [1, 6])]))
        refuse("leaves open", "--batch=4",
               made=model([node("Mul", ["x", "s"], ["y"])],
                          [value("x", ["n", 6]), value("s", [])], [value("y", ["n", 6])]))
        refuse("does not depend on the inputs", "--batch=4",
               made=model([node("Relu", ["x"], ["y"]), node("Identity", ["t"], ["z"])],
                          [value("x", ["n", 6])], [value("y", ["n", 6]), value("z", [4, 6])],
                          [weights("t", 4, 6)]))
        refuse("as long as data say, and so takes no --batch", "--batch=4",
               made=model([node("NonZero", ["x"], ["y"])], [value("x", ["n", 6])],
                          [value("y", [2, "found"], TensorProto.INT64)]))
        self.save("refused", single("Relu"))
        refuse("no bounds", "--batch=4", "--shape=x=1..4x6", code=USAGE)
        refuse("one --shape", "--batch=4", "--shape=x=1x6", "--shape=x=2x6", code=USAGE)
        refuse("is no number of samples", "--batch=0", code=USAGE)
        refuse("is no number of samples", "--batch=8..4", code=USAGE)
        refuse("is no time", "--batch=4", "--max-latency=5", code=USAGE)


if __name__ == "__main__":
    unittest.main()
