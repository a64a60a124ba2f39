"""Targets without an operating system: run, verify and bench in an emulated board.

Outputs are compared with onnxruntime's: floats within 1e-4 of the largest, integers of
8 bits within one unit. Where the compiler or the emulator is missing, the tests are
skipped."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import DIFFERS, LACKING, LIMIT, OWN_FAULT, USAGE, model, value

COMPILER, EMULATOR = "arm-none-eabi-g++", "qemu-system-arm"
MISSING = [tool for tool in (COMPILER, EMULATOR) if not shutil.which(tool)]
TARGETS = ["cortex-m0plus", "cortex-m3", "cortex-m33", "cortex-m4", "cortex-m55",
           "cortex-m7", "cortex-m85"]
# Where its tools are there.
if shutil.which("riscv64-unknown-elf-g++") and shutil.which("qemu-system-riscv32"):
    TARGETS += ["rv32imc", "rv64imac"]
ALIGN = 8

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow",
            "-Wdouble-promotion", "-Wundef", "-Wcast-align", "-pedantic", "-Werror"]


def random(name, *shape):
    return np.random.default_rng(sum(map(ord, name))).standard_normal(shape).astype(np.float32)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def float_network():
    """Three kinds of convolutions, both kinds of pooling, a sum, a dense layer and a softmax."""
    node = helper.make_node
    shapes = {"w1": (6, 3, 3, 3), "b1": (6,), "w2": (6, 1, 3, 3), "b2": (6,),
              "w3": (10, 6, 1, 1), "b3": (10,), "w4": (10, 10, 3, 3), "k": (7, 10), "kb": (7,)}
    return model(
        [node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1] * 4, strides=[2, 2]),
         node("Relu", ["c1"], ["r1"], "relu1"),
         node("Conv", ["r1", "w2", "b2"], ["c2"], "depthwise", pads=[1] * 4, group=6),
         node("Relu", ["c2"], ["r2"], "relu2"),
         node("MaxPool", ["r2"], ["p2"], "pool", kernel_shape=[2, 2], strides=[1, 1]),
         node("Conv", ["p2", "w3", "b3"], ["c3"], "pointwise"),
         node("Conv", ["c3", "w4"], ["c4"], "conv4", pads=[1] * 4),
         node("Add", ["c3", "c4"], ["s"], "sum"),
         node("GlobalAveragePool", ["s"], ["g"], "average"),
         node("Flatten", ["g"], ["f"], "flatten"),
         node("Gemm", ["f", "k", "kb"], ["d"], "dense", transB=1),
         node("Softmax", ["d"], ["y"], "softmax")],
        [value("x", [1, 3, 13, 11])], [value("y", [1, 7])],
        [constant(name, 0.25 * random(name, *shape)) for name, shape in shapes.items()])


def short_network():
    """A convolution, pools and a dense layer: few plans of memory to search."""
    node = helper.make_node
    return model(
        [node("Conv", ["x", "w"], ["c"], "conv", pads=[1] * 4, strides=[2, 2]),
         node("Relu", ["c"], ["r"], "relu"),
         node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
         node("GlobalAveragePool", ["p"], ["g"], "average"),
         node("Flatten", ["g"], ["f"], "flatten"),
         node("Gemm", ["f", "k"], ["y"], "dense", transB=1)],
        [value("x", [1, 3, 13, 11])], [value("y", [1, 7])],
        [constant("w", random("w", 40, 3, 3, 3)), constant("k", random("k", 7, 40))])


def deep_network():
    """Convolutions that differ only in their sizes, with pooling between them, and a dense
    layer."""
    node = helper.make_node
    channels = [3, 8, 8, 12, 16, 20]
    nodes, weights, x = [], {}, "x"
    for i, (c, k) in enumerate(zip(channels, channels[1:])):
        weights[f"w{i}"], weights[f"b{i}"] = (k, c, 3, 3), (k,)
        nodes += [node("Conv", [x, f"w{i}", f"b{i}"], [f"c{i}"], f"conv{i}", pads=[1] * 4),
                  node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}")]
        x = f"r{i}"
        if i % 2:
            nodes.append(node("MaxPool", [x], [f"p{i}"], f"pool{i}", kernel_shape=[2, 2],
                              strides=[2, 2]))
            x = f"p{i}"
    weights["k"] = (20 * 3 * 2, 7)
    nodes += [node("Flatten", [x], ["f"], "flatten"), node("MatMul", ["f", "k"], ["y"], "dense")]
    return model(nodes, [value("x", [1, 3, 13, 11])], [value("y", [1, 7])],
                 [constant(name, random(name, *shape) / 8) for name, shape in weights.items()])


def quantized_network():
    """The same kinds of layers on 8-bit integers, between QuantizeLinear and DequantizeLinear.
    Inputs and outputs are integers."""
    nodes, constants = [], []

    def add(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def put(name, array):
        constants.append(constant(name, array))
        return name

    def weight(name, *shape):
        values = random(name, *shape)
        axes = tuple(range(1, len(shape)))
        scale = (np.abs(values).max(axis=axes) / 127).astype(np.float32)
        rounded = np.round(values / scale.reshape(-1, *[1] * len(axes))).astype(np.int8)
        return scale, add("DequantizeLinear", [put(name, rounded), put(name + "_s", scale),
                                               put(name + "_z", np.zeros(shape[0], np.int8))],
                          name + "_d", axis=0)

    def requantized(x, scale, zero=3):
        s, z = put(x + "_s", np.float32(scale)), put(x + "_z", np.int8(zero))
        return add("DequantizeLinear", [add("QuantizeLinear", [x, s, z], x + "_q"), s, z],
                   x + "_d")

    def biased(name, count, scale):
        bias = np.round(random(name, count) / scale).astype(np.int32)
        return add("DequantizeLinear", [put(name, bias), put(name + "_s", scale),
                                        put(name + "_z", np.zeros(count, np.int32))],
                   name + "_d", axis=0)

    def conv(op, x, x_scale, name, shape, **attributes):
        scale, w = weight(name, *shape)
        return add(op, [x, w, biased(name + "_b", shape[0], scale * np.float32(x_scale))],
                   name + "_out", **attributes)

    s, z = put("x_s", np.float32(0.02)), put("x_z", np.int8(-5))
    x = add("DequantizeLinear", ["x", s, z], "x_d")
    x = add("Relu", [conv("Conv", x, 0.02, "w1", (6, 3, 3, 3), pads=[1] * 4)], "r1")
    x = requantized(x, 0.09, -128)
    x = add("Relu", [conv("Conv", x, 0.09, "w2", (6, 1, 3, 3), pads=[1] * 4, group=6,
                          strides=[2, 2])], "r2")
    x = requantized(x, 0.3, -128)
    x = add("MaxPool", [x], "p2", kernel_shape=[2, 2], strides=[1, 1])
    x = requantized(x, 0.3, -128)
    a = requantized(conv("Conv", x, 0.3, "w3", (9, 6, 1, 1)), 0.9)
    b = requantized(conv("Conv", a, 0.9, "w4", (9, 9, 3, 3), pads=[1] * 4), 5)
    x = requantized(add("Add", [a, b], "sum"), 5)
    x = requantized(add("GlobalAveragePool", [x], "average"), 2)
    x = add("Flatten", [x], "flat")
    x = requantized(conv("Gemm", x, 2, "k", (7, 9), transB=1), 8)
    nodes.pop()  # the last DequantizeLinear
    return model(nodes, [value("x", [1, 3, 13, 11], TensorProto.INT8)],
                 [value(nodes[-1].output[0], [1, 7], TensorProto.INT8)], constants)


def various_network():
    """Functions of floats, moves, reductions, and 32-bit and 64-bit integers."""
    node = helper.make_node
    return model(
        [node("Sigmoid", ["x"], ["a"]), node("Exp", ["a"], ["b"]), node("Erf", ["b"], ["c"]),
         node("Pow", ["b", "p"], ["d"]), node("Add", ["c", "d"], ["e"]),
         node("Floor", ["e"], ["f"]), node("Sub", ["e", "f"], ["g"]),
         node("Transpose", ["g"], ["h"], perm=[0, 2, 3, 1]),
         node("Resize", ["g", "", "sizes"], ["i"], mode="linear"),
         node("AveragePool", ["i"], ["j"], kernel_shape=[3, 3]),
         node("ArgMax", ["h"], ["k"], axis=3), node("Mul", ["k", "k"], ["l"]),
         node("LayerNormalization", ["h", "scale"], ["m"]), node("MatMul", ["m", "w"], ["n"]),
         node("ReduceMax", ["j"], ["o"], axes=[1])],
        [value("x", [1, 3, 5, 7])],
        [value("l", None, TensorProto.INT64), value("n", None), value("o", None)],
        [constant("p", np.float32(1.7)), constant("sizes", np.float32([1, 1, 2, 2])),
         constant("scale", random("scale", 3)), constant("w", random("w", 3, 5))])


def shared_values_network():
    """Dense layers, of floats and of bytes, which read weights in each form as stored.

    Of each type one has sixteen values, and one is zero for the most part."""
    generator = np.random.default_rng(2)
    zero = numpy_helper.from_array(np.int8(0), "zero")
    constants, nodes, outputs = [zero, constant("scale", np.float32(0.05))], [], []
    for name, share in ("dense", 1), ("sparse", 0.1):
        places = generator.integers(0, 16, (40, 21))
        places[generator.random(places.shape) >= share] = 8
        constants += [constant(f"f_{name}", np.float32(0.25) * np.float32(places - 8)),
                      numpy_helper.from_array(np.int8((places - 8) * 9), f"i_{name}")]
        nodes += [helper.make_node("MatMul", ["x", f"f_{name}"], [f"y_{name}"]),
                  helper.make_node("QLinearMatMul", ["q", "scale", "zero", f"i_{name}", "scale",
                                                     "zero", "scale", "zero"], [f"z_{name}"])]
        outputs += [value(f"y_{name}", [1, 21]), value(f"z_{name}", [1, 21], TensorProto.INT8)]
    return model(nodes, [value("x", [1, 40]), value("q", [1, 40], TensorProto.INT8)], outputs,
                 constants)


def inputs():
    return {"plain": random("input", 1, 3, 13, 11), "deep": random("input", 1, 3, 13, 11),
            "quantized": np.random.default_rng(1).integers(-128, 128, (1, 3, 13, 11), np.int8)}


def expected(network, x):
    session = onnxruntime.InferenceSession(network.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


class Networks(nnc.TestCase):
    """The base of tests with two networks and their inputs."""

    def setUp(self):
        super().setUp()
        self.networks = {"plain": float_network(), "quantized": quantized_network()}
        for name, network in self.networks.items():
            self.save(name, network)
            np.save(self.folder / f"{name}.npy", inputs()[name])

    def check(self, name, folder):
        (file,) = (self.folder / folder).glob("*.npy")
        got, want = np.load(file), expected(self.networks[name], inputs()[name])
        self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
        self.assertGreater(len(np.unique(want)), 3, "the outputs tell nothing")
        if name == "quantized":
            self.assertLessEqual(np.abs(got.astype(int) - want.astype(int)).max(), 1)
        else:
            self.assertLessEqual(np.abs(got - want).max(), 1e-4 * np.abs(want).max())


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} missing")
class Bare(Networks):
    def test_run(self):
        for target in TARGETS:
            for name in self.networks:
                with self.subTest(target=target, network=name):
                    out = f"{name}-{target}"
                    said = json.loads(self.nnc("run", f"{name}.onnx", f"--target={target}",
                                               f"--input={name}.npy", "--output-dir", out,
                                               "--json"))
                    self.check(name, out)
                    memory = said["memory"]
                    self.assertTrue(500 < memory["text_bytes"] < 50_000, memory)
                    self.assertTrue(16 < memory["stack_bytes"] < 8192, memory)
                    self.assertTrue(all(bytes >= 0 for bytes in memory.values()), memory)

    def test_optimised_for_size(self):
        """Another level of the compiler, in text; code is smaller."""
        self.nnc("run", "plain.onnx", "--target=cortex-m4", "--input=plain.npy",
                 f"--compiler={COMPILER} -Os", "--output-dir=small",
                 said=["^flash: [0-9]+ bytes of code, [0-9]+ of constants, [0-9]+ of weights; "
                       "RAM: [0-9]+ of arena, [0-9]+ of stack$"])
        self.check("plain", "small")

    def test_optimize(self):
        """Code for few bytes, little time, or both: each is right, also in integers, and the
        first has fewer bytes, the second fewer instructions."""
        self.save("deep", deep_network())
        np.save(self.folder / "deep.npy", inputs()["deep"])
        self.networks["deep"] = deep_network()
        for name in "plain", "deep", "quantized":
            text, instructions = {}, {}
            for optimize in ("size", "speed") + ("balance",) * (name == "deep"):
                said = json.loads(self.nnc(
                    "run", f"{name}.onnx", "--target=cortex-m4", f"--input={name}.npy",
                    f"--output-dir={name}-{optimize}", f"--optimize={optimize}", "--json",
                    f"--compiler={COMPILER} -Os"))
                self.check(name, f"{name}-{optimize}")
                if name == "quantized":
                    continue
                text[optimize] = said["memory"]["text_bytes"] + said["memory"]["constant_bytes"]
                said = json.loads(self.nnc(
                    "bench", f"{name}.onnx", "--target=cortex-m4", f"--optimize={optimize}",
                    "--json", f"--compiler={COMPILER} -O2"))
                instructions[optimize] = said["median_instructions"]
            with self.subTest(name, text=text, instructions=instructions):
                if text:
                    self.assertLess(text["size"], text["speed"])
                    self.assertLess(instructions["speed"], instructions["size"])

    def test_level_of_build_files(self):
        """CMakeLists.txt optimises for size where --optimize=size does."""
        for optimize, level in ("size", "-Os"), ("speed", "-O3"):
            self.nnc("compile", "plain.onnx", "--target=cortex-m4", f"--optimize={optimize}",
                     "-o", optimize)
            self.assertIn(f"CXX>:{level}>",
                          (self.folder / optimize / "CMakeLists.txt").read_text())

    def test_weights(self):
        """A C array unless asked for another form; each runs."""
        self.nnc("compile", "plain.onnx", "--target=cortex-m4", "-o", "code")
        self.assertIn("plain_weights.c", self.names("code"))
        for weights in "embed", "file":
            self.nnc("run", "plain.onnx", "--target=cortex-m4", "--input=plain.npy",
                     f"--weights={weights}", f"--output-dir={weights}")
            self.check("plain", weights)
        self.nnc("run", "code", "--input=plain.npy", "--output-dir=again")
        self.check("plain", "again")

    def test_odd_paths(self):
        """Spaces and commas in the folder that the firmware finds its files in."""
        odd = self.folder / "a b,, c"
        odd.mkdir()
        self.nnc("run", "plain.onnx", "--target=cortex-m3", "--input=plain.npy",
                 "--output-dir=out", env=os.environ | {"TMPDIR": str(odd)})
        self.check("plain", "out")

    def test_verify(self):
        for target in {"cortex-m4", "cortex-m0plus", TARGETS[-1], TARGETS[-2]}:
            for name in self.networks:
                self.nnc("verify", f"{name}.onnx", f"--target={target}", "--random=2",
                         said=["^random 0: .*: same: ", "^random 1: .*: same: "])

    def test_various_operators(self):
        self.save("various", various_network())
        x = random("x", 1, 3, 5, 7)
        np.save(self.folder / "x.npy", x)
        session = onnxruntime.InferenceSession(various_network().SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        expected = dict(zip("lno", session.run(list("lno"), {"x": x})))
        for target in "cortex-m0plus", "cortex-m4", "cortex-m55":
            self.nnc("run", "various.onnx", f"--target={target}", "--input=x.npy",
                     f"--output-dir={target}")
            for name, want in expected.items():
                got = np.load(self.folder / target / f"{name}.npy")
                self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
                self.assertLessEqual(np.abs(got - want).max(), 1e-4 * np.abs(want).max(), name)

    def test_layer_that_differs(self):
        """The dumps of layers come back, too."""
        compiler = self.folder / "spoil"
        compiler.write_text('#!/bin/sh\nfor word; do case $word in */plain.cpp) '
                            'sed -i "s/nnc::relu(/nnc::abs(/" "$word";; esac; done\n'
                            f'exec {COMPILER} "$@"\n')
        compiler.chmod(0o755)
        said = json.loads(self.nnc("verify", "plain.onnx", "--target=cortex-m4", "--json",
                                   f"--compiler={compiler}", code=DIFFERS))
        self.assertRegex(said["cases"][0]["first_layer"],
                         "^the first layer that differs from its reference is 'conv1' ")

    def test_write_outside_of_the_arena(self):
        compiler = self.folder / "spoil"
        compiler.write_text('#!/bin/sh\nfor word; do case $word in */plain.cpp) '
                            'sed -i "s|^  return 0;|static_cast<char *>(arena)'
                            '[PLAIN_ARENA_BYTES] = 1; return 0;|" "$word";; esac; done\n'
                            f'exec {COMPILER} "$@"\n')
        compiler.chmod(0o755)
        self.nnc("run", "plain.onnx", "--target=cortex-m4", "--input=plain.npy",
                 f"--compiler={compiler}", code=OWN_FAULT,
                 said=["the module wrote outside of its arena, state, inputs or outputs"])

    def test_bench(self):
        said = json.loads(self.nnc("bench", "plain.onnx", "--target=cortex-m4", "--runs=2",
                                   "--json"))
        self.assertEqual(said["unit"], "instructions")
        self.assertEqual(len(said["run_instructions"]), 2)
        total = said["median_instructions"]
        # A multiply-add takes between one instruction and forty.
        self.assertTrue(said["multiply_adds"] < total < 40 * said["multiply_adds"] + 50_000, said)
        layers = {layer["name"]: layer["instructions"] for layer in said["layers"]}
        self.assertIn("conv1", layers)
        # The timer counts in steps of 40 instructions, for each layer.
        self.assertAlmostEqual(sum(layers.values()), total, delta=0.05 * total + 80 * len(layers))
        self.assertGreater(said["memory"]["stack_bytes"], 0)
        self.nnc("bench", "quantized.onnx", "--target=cortex-m7",
                 said=["^layer +routine +instructions +share", "^w1_out +conv2d_",
                       "^[0-9]+ instructions a run, [0-9.]+ for each multiply-add$", "^flash: "])
        self.nnc("bench", "quantized.onnx", f"--target={TARGETS[-1]}",
                 said=["^w1_out +conv2d_", "^[0-9]+ instructions a run"])

    def test_vectors_of_16_bytes(self):
        """A Cortex-M55 computes with Helium what a Cortex-M4 does with pairs."""
        benches = [json.loads(self.nnc("bench", "quantized.onnx", f"--target=cortex-{core}",
                                       "--json")) for core in ("m4", "m55")]
        counts = [bench["median_instructions"] for bench in benches]
        self.assertLess(counts[1], 0.4 * counts[0])
        slow = [layer["routine"] for layer in benches[1]["layers"]
                if layer["name"].startswith(("w", "k")) and "helium" not in layer["routine"]]
        self.assertFalse(slow)

    def test_long_runs(self):
        """The timer of 24 bits wraps several times: a product of 240 million
        multiply-adds takes as many instructions each as one of a 16th."""
        counts = []
        for rows in 16, 256:
            node = helper.make_node("Gemm", ["x", "k"], ["y"], "dense")
            self.save("dense", model([node], [value("x", [rows, 968])], [value("y", [rows, 968])],
                                     [constant("k", random("k", 968, 968))]))
            said = json.loads(self.nnc("bench", "dense.onnx", "--target=cortex-m7", "--json"))
            counts.append(said["median_instructions"] / said["multiply_adds"])
        self.assertAlmostEqual(counts[1] / counts[0], 1, delta=0.05)

    def test_limits(self):
        """Sizes that fit, and ones that are a byte too large, with what they consist of."""
        on = "--target=cortex-m4"
        self.save("short", short_network())
        said = json.loads(self.nnc("check", "short.onnx", on, "--json"))
        self.assertEqual(said["text_bytes"] + said["constant_bytes"], said["code_bytes"])
        self.assertEqual((said["input_bytes"], said["output_bytes"]), (4 * 3 * 13 * 11, 4 * 7))
        ram = (said["arena_bytes"] + said["input_bytes"] + said["output_bytes"] +
               said["stack_bytes"])
        flash = said["code_bytes"] + said["weight_bytes"]
        self.nnc("check", "short.onnx", on, f"--max-ram={ram}", f"--max-flash={flash}")
        self.nnc("check", "short.onnx", on, "--max-ram=64K", "--max-flash=1M")
        self.nnc("check", "short.onnx", on, "--max-ram=1K", code=LIMIT,
                 said=[f"needs {ram} bytes .* of arena, .*, {ram - 1024} more than the 1024 of "
                       "--max-ram"])
        text = self.nnc("check", "short.onnx", on, "--max-ram=1K", f"--max-flash={flash - 1}",
                        "--json", code=LIMIT)
        said = json.loads(text)
        self.assertEqual(said["exit_code"], LIMIT)
        self.assertEqual(len(said["problems"]), 2)
        self.assertGreater(said["arena_bytes"], 0)
        self.nnc("check", "short.onnx", on, "--max-ram=many", code=USAGE, said=["64K or 1M"])
        self.nnc("check", "short.onnx", on, "--no-build", "--max-flash=1M", code=USAGE,
                 said=["--max-flash needs the size of the code"])
        # Other targets have limits, too.
        self.nnc("check", "short.onnx", "--max-ram=1", code=LIMIT, said=["--max-ram"])

    def test_loop(self):
        """The time of a layer in a loop is that of all trips."""
        counts = []
        for trips in 50, 500:
            body = helper.make_graph(
                [helper.make_node("Identity", ["go"], ["goes"]),
                 helper.make_node("MatMul", ["s", "w"], ["t"])], "body",
                [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL),
                 value("s", [2, 16])], [value("goes", [], TensorProto.BOOL), value("t", [2, 16])])
            node = helper.make_node("Loop", ["n", "yes", "x"], ["y"], body=body)
            self.save("loop", model([node], [value("x", [2, 16])], [value("y", [2, 16])],
                                    [constant("w", random("w", 16, 16) / 4),
                                     numpy_helper.from_array(np.array(True), "yes"),
                                     numpy_helper.from_array(np.int64(trips), "n")]))
            said = json.loads(self.nnc("bench", "loop.onnx", "--target=cortex-m4", "--runs=1",
                                       "--json"))
            counts.append([layer["instructions"] for layer in said["layers"]])
        few, many = map(max, counts)
        self.assertEqual(*map(len, counts))
        self.assertAlmostEqual(many / few, 10, delta=1)

    def test_stack(self):
        """check tells no less stack than a run takes, with functions of libraries."""
        self.save("short", short_network())
        # Its products are written in assembly for Armv6-M.
        self.save("quantized", quantized_network())
        for target, compiler in (("cortex-m4", COMPILER), ("cortex-m0plus", COMPILER),
                                 ("rv32imc", "riscv64-unknown-elf-g++ --specs=picolibc.specs")):
            if target not in TARGETS:
                continue
            for name, level in (("short", "-O3"), ("short", "-Os"), ("quantized", "-O3")):
                with self.subTest(target=target, name=name, level=level):
                    on = [f"--target={target}", f"--compiler={compiler} {level}"]
                    text = self.nnc("check", f"{name}.onnx", *on)
                    if name == "short":
                        self.assertNotIn("without those of", text)
                    told = int(re.search("^ *stack +([0-9]+) bytes", text, re.MULTILINE)[1])
                    text = self.nnc("bench", f"{name}.onnx", *on, "--runs=1", "--json")
                    memory = json.loads(text)["memory"]
                    self.assertLessEqual(memory["stack_bytes"], told)
                    self.assertLessEqual(told, 1.3 * memory["stack_bytes"])

    def test_fit(self):
        """The sums of flash memory and RAM, what limits leave of them, and the flags."""
        on = "--target=cortex-m4"
        self.save("short", short_network())
        said = json.loads(self.nnc("check", "short.onnx", on, "--json"))
        stack, code, weights = (said[f"{part}_bytes"] for part in ("stack", "code", "weight"))
        ram = sum(said[f"{part}_bytes"] for part in ("arena", "input", "output")) + stack
        self.assertEqual((said["flash_bytes"], said["ram_bytes"]), (code + weights, ram))
        flash = code + weights
        limits = [f"--max-flash={flash + 100}", f"--max-ram={ram + 7}"]
        self.nnc("check", "short.onnx", on, *limits, said=[
            rf"^  flash +{flash} bytes: {said['text_bytes']} of code, {said['constant_bytes']} of "
            rf"constants, {weights} of weights; fits into the {flash + 100} of --max-flash, 100 "
            "are left$",
            rf"^  RAM +{ram} bytes: .* of arena, .* of inputs, .* of outputs, {stack} of stack; "
            rf"fits into the {ram + 7} of --max-ram, 7 are left$"])
        said = json.loads(self.nnc("check", "short.onnx", on, *limits, "--json"))
        self.assertEqual((said["flash_left_bytes"], said["ram_left_bytes"]), (100, 7))
        # The message, the table, the exit code and JSON tell the same sums.
        less = [f"--max-flash={flash - 3}", f"--max-ram={ram - 1}"]
        done = subprocess.run([nnc.NNC, "check", "short.onnx", on, *less], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, LIMIT, done.stderr)
        self.assertIn("too large, for cortex-m4", done.stdout)
        self.assertIn(f"--max-ram={ram - 1 - stack} asks for a plan that leaves room for it",
                      done.stderr)
        for name, total, over in ("RAM", ram, 1), ("flash", flash, 3):
            option = f"the {total - over} of --max-{name.lower()}"
            (parts,) = re.findall(rf"^  {name} +{total} bytes: (.*); does not fit, {over} too many "
                                  rf"for {option}$", done.stdout, re.MULTILINE)
            self.assertIn(f"needs {total} bytes ({parts}), {over} more than {option}", done.stderr)
        said = json.loads(self.nnc("check", "short.onnx", on, *less, "--json", code=LIMIT))
        self.assertEqual((said["flash_left_bytes"], said["ram_left_bytes"]), (-3, -1))
        (report,) = json.loads(self.nnc("report", "short.onnx", on, "--json"))["reports"]
        self.assertEqual((report["totals"]["flash_bytes"], report["totals"]["ram_bytes"]),
                         (flash, ram))
        # Where the stack is not known, the words say so.
        rest = ram - stack
        self.nnc("check", "short.onnx", on, "--no-build", f"--max-ram={rest + 5}", said=[
            rf"^  RAM +{rest} bytes: .*, 5 are left for the stack, which is not known$"])
        self.nnc("compile", "short.onnx", on, f"--max-ram={rest + 5}", "-o", "tight", said=[
            rf"^  RAM: {rest} bytes: .*, 5 are left for the stack, which is not known$"])
        # The code is measured as it will be built.
        small = json.loads(self.nnc("check", "short.onnx", on, "--optimize=size", "--json"))
        self.assertIn(" -Os", small["compiler"])
        self.assertLess(small["flash_bytes"], flash)
        limit = f"--max-flash={small['flash_bytes']}"
        self.nnc("check", "short.onnx", on, limit, "--optimize=size")
        self.nnc("check", "short.onnx", on, limit, code=LIMIT,
                 said=[r"bytes at -Os.*--optimize=size"])
        flags = "--compiler=arm-none-eabi-g++ -O2"
        other = json.loads(self.nnc("check", "short.onnx", on, flags, "--json"))
        self.assertIn(" -O2", other["compiler"])
        self.assertGreater(other["flash_bytes"], small["flash_bytes"])
        # Weights alone take more than this limit, however they are stored.
        self.nnc("check", "short.onnx", on, "--max-flash=4K", flags, code=LIMIT,
                 said=[f"needs {other['flash_bytes']} bytes"])

    def test_folder_remembers(self):
        """What --optimize was, so that the code of a folder is built as its CMakeLists.txt does."""
        on = "--target=cortex-m4"
        counts = {}
        for aim in "size", "speed":
            self.nnc("compile", "plain.onnx", on, f"--optimize={aim}", "-o", aim)
            manifest = json.loads((self.folder / aim / "manifest.json").read_text())
            self.assertEqual(manifest["optimize"], aim)
            whole, own = (json.loads(self.nnc("bench", *what, "--runs=1", "--json")) for what in (
                ["plain.onnx", on, f"--optimize={aim}"], [aim]))
            self.assertEqual(whole["memory"], own["memory"])
            self.assertEqual(whole["median_instructions"], own["median_instructions"])
            counts[aim] = own["memory"]["text_bytes"]
        self.assertLess(counts["size"], counts["speed"])

    def test_clock(self):
        """Instructions and estimates as times at a clock."""
        on = "--target=cortex-m4"
        said = json.loads(self.nnc("bench", "plain.onnx", on, "--runs=1", "--mhz=80", "--json"))
        self.assertEqual(said["mhz"], 80)
        self.assertAlmostEqual(said["least_seconds"], said["median_instructions"] / 80e6)
        for layer in said["layers"]:
            self.assertAlmostEqual(layer["least_seconds"], layer["instructions"] / 80e6)
        self.nnc("bench", "plain.onnx", on, "--runs=1", "--mhz=80",
                 said=["; at 80 MHz .* or more$"])
        for command in ["check", "--no-build"], ["explain"]:
            own, other = (json.loads(self.nnc(*command, "plain.onnx", on, *clock, "--json"))
                          for clock in ([], ["--mhz=84"]))
            self.assertEqual((own["mhz"], other["mhz"]), (168, 84))
            key = "seconds" if command == ["explain"] else "estimate_seconds"
            self.assertGreater(own[key], 0)
            self.assertAlmostEqual(other[key], 2 * own[key])
            self.nnc(*command, "plain.onnx", on, said=["at 168 MHz, the clock that is assumed for "
                                                       "cortex-m4"])
            self.nnc(*command, "plain.onnx", on, "--mhz=84", said=["at 84 MHz"])
            self.nnc(*command, "plain.onnx", on, "--mhz=80.5", said=["at 80.5 MHz"])
        costs = [one["seconds"] for layer in other["layers"] for one in layer["alternatives"]]
        halves = [one["seconds"] for layer in own["layers"] for one in layer["alternatives"]]
        np.testing.assert_allclose(costs, 2 * np.array(halves))
        self.nnc("bench", "plain.onnx", "--target=portable", "--runs=1", "--mhz=80", code=USAGE,
                 said=["--mhz is for targets without an operating system"])

    def test_alignment(self):
        """The arena and the weights have the row's alignment and no more."""
        sizes = {}
        # Both have the same routines.
        for target in "cortex-m3", "portable":
            self.nnc("compile", "plain.onnx", f"--target={target}", "-o", target)
            text = (self.folder / target / "plain.h").read_text()
            self.assertIn(f"#define PLAIN_ALIGN {ALIGN if target != 'portable' else 64} ", text)
            manifest = json.loads((self.folder / target / "manifest.json").read_text())
            sizes[target] = manifest["arena_bytes"], manifest["weight_bytes"]
            places = re.findall(r"^  \w+ = (\d+),", (self.folder / target / "plain.cpp").read_text(),
                                re.MULTILINE)
            self.assertGreater(len(places), 5)
            step = ALIGN if target != "portable" else 64
            self.assertFalse([place for place in places if int(place) % step])
        self.assertIn(f"aligned({ALIGN})", (self.folder / "cortex-m3/plain_weights.c").read_text())
        for small, large in zip(sizes["cortex-m3"], sizes["portable"]):
            self.assertLess(small, large)

    def test_builds_without_headers_of_cpp(self):
        compilers = [[COMPILER, "-nostdinc++"]]
        if shutil.which("clang++-19"):
            for folder in "/usr/lib/arm-none-eabi/include", "/usr/include/newlib":
                if os.path.exists(f"{folder}/math.h"):
                    compilers.append(["clang++-19", "--target=arm-none-eabi", "-nostdinc++",
                                      "-isystem", folder])
                    break
        self.save("various", various_network())
        self.save("shared", shared_values_network())
        levels = collections.deque(["-Os", "-O3"])  # one for each compiler, in turn
        for target in "cortex-m0plus", "cortex-m4", "cortex-m55":
            encodings = [("shared", [f"--weights-encoding={encoding}"])
                         for encoding in ("codebook", "csr", "huffman")]
            for name, options in [(name, []) for name in [*self.networks, "various"]] + encodings:
                code = self.folder / f"{name}-{target}"
                self.nnc("compile", f"{name}.onnx", f"--target={target}", *options, "-o", code)
                flags = json.loads((code / "manifest.json").read_text())["flags"]
                levels.rotate()
                for compiler, level in zip(compilers, levels):
                    done = subprocess.run(
                        [*compiler, "-std=c++17", level, *WARNINGS, *flags, "-c",
                         code / f"{name}.cpp", "-o", code / "object.o"],
                        capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, f"{compiler} {target}: {done.stderr}")

    def test_usage(self):
        on = "--target=cortex-m4"
        for command, said in [
                (["compile", "plain.onnx", "-o", "code", "--threads=on"], "no threads"),
                (["run", "plain.onnx", "--input=plain.npy", "--threads=2"], "no threads"),
                (["bench", "plain.onnx", "--pin"], "leave out --pin"),
                (["bench", "plain.onnx", "--keep=kept"], "leave out .*--keep"),
                (["run", "plain.onnx", "--input=plain.npy", "--compiler=no-such-compiler"],
                 "no program no-such-compiler")]:
            self.nnc(*command, on, code=USAGE, said=[f"^nnc: error: .*{said}"])
        for command in (["tune", "plain.onnx"], ["tune", "plain.onnx", "--on=ssh:there"],
                        ["target-probe"]):
            self.nnc(*command, on, code=LACKING, said=["cortex-m4 has no operating system"])

    def test_too_large_for_the_board(self):
        node = helper.make_node("Gemm", ["x", "k"], ["y"], "dense")
        self.save("large", model([node], [value("x", [1, 4096])], [value("y", [1, 2048])],
                                 [constant("k", random("k", 4096, 2048))]))
        self.nnc("verify", "large.onnx", "--target=cortex-m4", "--weights=embed", code=OWN_FAULT,
                 said=["will not fit in region .BULK'"])

    def test_targets(self):
        rows = {row["name"]: row for row in json.loads(self.nnc("targets", "--json"))}
        for target in TARGETS:
            self.assertEqual(rows[target]["caches"], [])
            self.assertTrue(rows[target]["board"])
            self.assertEqual(rows[target]["align"], ALIGN)
        self.assertEqual((rows["aarch64"]["board"], rows["aarch64"]["align"]), ("", 64))


if __name__ == "__main__":
    if MISSING:
        print(f"skipped: {' and '.join(MISSING)} missing")
    sys.exit(unittest.main())
