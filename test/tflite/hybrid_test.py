#!/usr/bin/env python3
"""Tests hybrid models, which have activations of floats and weights of 8 bits. The weights stay
integers in modules for which memory is small. Results are those of the real numbers that the
integers represent."""

import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np

import cells
import flat
import recurrent
import running
from integers import conv_sums, depthwise_sums

F32 = np.float32
HAS_BOARD = all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm")))


def hybrid(channels=False):
    """(net, result, elements of weights): convolutions with a scale for all filters or one
    for each, and a dense layer."""
    random = np.random.default_rng(7)
    net = flat.Net()
    x = random.normal(size=(1, 12, 10, 8)).astype(F32)
    t, y, count = net.input(x), x.astype(np.float64), 0

    def weights(shape, axis):
        nonlocal count
        count += int(np.prod(shape))
        w = random.integers(-127, 128, shape).astype(np.int8)
        scales = random.uniform(0.001, 0.01, shape[axis] if channels else 1).astype(F32)
        spread = np.ones(len(shape), int)
        spread[axis] = len(scales)
        return net.const(w, scales, 0, axis), w * scales.astype(np.float64).reshape(spread)

    for name, shape, axis, sums in (("CONV_2D", (24, 3, 3, 8), 0, conv_sums),
                                    ("DEPTHWISE_CONV_2D", (1, 3, 3, 24), 3, depthwise_sums),
                                    ("CONV_2D", (40, 1, 1, 24), 0, conv_sums),
                                    ("CONV_2D", (16, 3, 3, 40), 0, conv_sums)):
        w, real = weights(shape, axis)
        bias = random.normal(size=shape[axis]).astype(F32)
        y = np.maximum(sums(y, real, (1, 1), (1, 1), "SAME", np.float64) + bias, 0)
        t = net.op(name, [t, w, net.const(bias)], [net.tensor(F32, y.shape)], padding="SAME",
                   stride_h=1, stride_w=1, dilation_h=1, dilation_w=1, activation="RELU",
                   **({"depth_multiplier": 1} if name.startswith("D") else {}))
    w, real = weights((10, y.size), 0)
    y = y.reshape(1, -1) @ real.T
    net.outputs = [net.op("FULLY_CONNECTED", [t, w, -1], [net.tensor(F32, y.shape)])]
    return net, y, count


class HybridNet(recurrent.Streamed):
    """A net of floats that are multiples of 1 / 128, whose matrices are stored as integers."""

    def floats(self, *shape, size=1.0):
        return np.round(super().floats(*shape, size=min(size, 0.99)) * 128).astype(F32) / 128

    def const(self, values, *arguments, **more):
        values = np.asarray(values)
        if values.dtype != F32 or values.ndim != 2:
            return super().const(values, *arguments, **more)
        return super().const((values * 128).astype(np.int8), 1 / 128)


class HybridTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def check(self, path, *options):
        code, said = running.nnc("check", "--no-build", path, *options)
        self.assertEqual(code, running.DONE, said)
        return said

    def test_words(self):
        """The scale of weights is a part of a product: a layer is not called a scaling."""
        (path,) = flat.save({"words": hybrid(channels=True)[0].model()}, self.folder)
        code, said = running.nnc("explain", path, "--json", "--target=cortex-m4")
        self.assertEqual(code, running.DONE, said)
        words = [layer["description"] for layer in json.loads(said)["layers"]]
        more = "32-bit floats with weights of 8 bits"
        for layer in (f"3 x 3 convolution, padding 1, ReLU, {more}",
                      "3 x 3 depthwise convolution, padding 1, ReLU, 32-bit floats",
                      f"1 x 1 convolution, ReLU, {more}"):
            self.assertIn(layer, words)
        self.assertRegex("; ".join(words), "dense layer of 1920 inputs and 10 outputs, ")
        self.assertNotRegex("; ".join(words), "scaling|multiplication|for each 1920")

    def test_results(self):
        for channels in (False, True):
            net, want, _ = hybrid(channels)
            for options in (["--target=portable"], ["--target=native"],
                            ["--target=portable", "--weights-encoding=codebook"]):
                with self.subTest(channels=channels, options=options):
                    (y,) = running.run_net(net, self.folder, *options).values()
                    np.testing.assert_allclose(y, want, atol=1e-5 * np.abs(want).max())

    @unittest.skipUnless(HAS_BOARD, "needs a compiler and an emulator of Arm boards")
    def test_results_on_a_microcontroller(self):
        net, want, _ = hybrid(True)
        (y,) = running.run_net(net, self.folder, "--target=cortex-m4",
                               "--compiler=arm-none-eabi-g++ -O1").values()
        np.testing.assert_allclose(y, want, atol=1e-5 * np.abs(want).max())

    def test_bytes(self):
        """A byte for each weight, and for a layer a table of at most 256 floats; biases."""
        for channels in (False, True):
            net, _, count = hybrid(channels)
            (path,) = flat.save({"hybrid": net.model()}, self.folder)
            said = json.loads(self.check(path, "--target=cortex-m4", "--json"))
            self.assertLess(said["weight_bytes"], count + 3 * 1024 + 2048)
            self.assertEqual(said["byte_weights"], {"integer_layers": 4, "float_layers": 0})
            self.assertNotIn("quantized", said)
            text = self.check(path, "--target=cortex-m4")
            self.assertRegex(text, r"8-bit weights +stay integers in 4 layers of floats\n")
            self.assertNotIn("stays in floats", text)

    def test_recurrent_layers(self):
        net = HybridNet(9)
        recurrent.lstm_float(net, 2, 3, 5, 4)
        recurrent.svdf_float(net, 1, 6, 3, 2, 4)
        cells.lstm(net, 1, 4, 5, 6, 3, peepholes=True, projection=True)
        cells.rnn(net, 2, 3, 4, 5)
        cells.plain_lstm(net, 1, 3, 4)
        got = running.run_net(net, self.folder, "--target=portable")
        for tensor, (wants, error) in net.expected.items():
            want = next(iter(wants.values()))
            np.testing.assert_allclose(got[tensor], want, atol=error * np.abs(want).max())

    def save(self, net):
        (path,) = flat.save({"other": net.model()}, self.folder)
        return path

    def test_batched_products(self):
        """They keep bytes where the model has memory for what is decoded, else say why not."""
        random = np.random.default_rng(11)
        w = random.integers(-127, 128, (2, 32, 24)).astype(np.int8)
        for has_room in (True, False):
            net = flat.Net()
            x = random.normal(size=(2, 5, 32, 12)[:4 if has_room else 3]).astype(F32)
            t = net.input(x)
            if has_room:
                x = np.exp(x - x.max(-1, keepdims=True))
                x /= x.sum(-1, keepdims=True)
                t = net.op("SOFTMAX", [t], [net.tensor(F32, x.shape)], beta=1.0)
                x = x.max(-1)
                t = net.op("REDUCE_MAX", [t, net.const(np.array([3], np.int32))],
                           [net.tensor(F32, x.shape)], keep_dims=False)
            want = x.astype(np.float64) @ (w / 128)
            net.outputs = [net.op("BATCH_MATMUL", [t, net.const(w, 1 / 128)],
                                  [net.tensor(F32, want.shape)], adj_x=False, adj_y=False)]
            (y,) = running.run_net(net, self.folder, "--target=portable").values()
            np.testing.assert_allclose(y, want, atol=1e-5 * np.abs(want).max())
            text = self.check(self.save(net), "--target=cortex-m4")
            said = json.loads(self.check(self.save(net), "--target=cortex-m4", "--json"))
            if has_room:
                self.assertLess(said["weight_bytes"], w.size + 1024 + 512)
                self.assertRegex(text, r"8-bit weights +stay integers in 1 layer of floats\n")
            else:
                self.assertRegex(text, r"8-bit weights +become floats in 1 layer \(t\w+\), as "
                                       r"decoding them would take more RAM")
                (name,) = said["byte_weights"]["layers_without_room"]
                self.assertIn(f"({name})", text)

    def test_shared_weights(self):
        """A weight of two layers takes its bytes once, also where each has a constant of its own."""
        random = np.random.default_rng(21)
        for kind in "shared", "equal":
            for scales in [0.01], random.uniform(0.005, 0.02, 16):
                net = flat.Net()
                x = random.normal(size=(1, 8, 8, 16)).astype(F32)
                w = random.integers(-127, 128, (16, 3, 3, 16)).astype(np.int8)
                scales = np.asarray(scales, F32)
                real = w * scales.astype(np.float64).reshape(-1, 1, 1, 1)
                t, want = net.input(x), x.astype(np.float64)
                constants = [net.const(w, scales, 0, 0) for _ in range(1 + (kind == "equal"))]
                for i in range(2):
                    want = conv_sums(want, real, (1, 1), (1, 1), "SAME", np.float64)
                    t = net.op("CONV_2D", [t, constants[i % len(constants)], -1],
                               [net.tensor(F32, want.shape)], padding="SAME", stride_h=1,
                               stride_w=1, dilation_h=1, dilation_w=1, activation="NONE")
                net.outputs = [t]
                with self.subTest(kind, scales=len(scales)):
                    (y,) = running.run_net(net, self.folder, "--target=portable").values()
                    np.testing.assert_allclose(y, want, atol=1e-5 * np.abs(want).max())
                    for target, each in (("cortex-m4", 1), ("portable", 4)):
                        said = json.loads(self.check(self.save(net), f"--target={target}",
                                                     "--json"))
                        self.assertLess(said["weight_bytes"], w.size * each + 1024 + 512)

    def test_shared_matrix(self):
        random = np.random.default_rng(22)
        for rows in 1, 64:
            net = flat.Net()
            x = random.normal(size=(2, 64)).astype(F32)
            w = random.integers(-127, 128, (64, 64)).astype(np.int8)
            scales = random.uniform(0.005, 0.02, rows).astype(F32)
            t, matrix = net.input(x), net.const(w, scales, 0, 0)
            for _ in range(2):
                t = net.op("FULLY_CONNECTED", [t, matrix, -1], [net.tensor(F32, x.shape)])
            net.outputs = [t]
            real = (w * scales.astype(np.float64).reshape(-1, 1)).T
            (y,) = running.run_net(net, self.folder, "--target=portable").values()
            np.testing.assert_allclose(y, x @ real @ real,
                                       atol=1e-5 * np.abs(x @ real @ real).max())
            said = json.loads(self.check(self.save(net), "--target=cortex-m4", "--json"))
            self.assertLess(said["weight_bytes"], w.size + 1024)

    def test_half_constants(self):
        """check and compile tell what constants of 16-bit floats take."""
        net = flat.Net()
        half = net.const(np.random.default_rng(23).normal(size=(64, 64)).astype(np.float16))
        real = net.op("DEQUANTIZE", [half], [net.tensor(F32, (64, 64))])
        net.outputs = [net.op("FULLY_CONNECTED", [net.input(np.zeros((1, 64), F32)), real, -1],
                              [net.tensor(F32, (1, 64))])]
        path = self.save(net)
        line = r"1 constant of 8192 bytes in the model becomes 32-bit floats of 16384 bytes"
        self.assertRegex(self.check(path, "--target=cortex-m4"), rf"16-bit floats +{line}")
        code, said = running.nnc("compile", path, "-o", self.folder / "half")
        self.assertEqual(code, running.DONE, said)
        self.assertIn(f"16-bit floats: {line}", said)

    def test_quantize_floats(self):
        """QUANTIZE of floats is one layer, which rounds halves away from zero."""
        half = np.float32(0.5)
        below, above = np.nextafter(half, F32(0)), np.nextafter(half, F32(1))
        steps = [0, 120.5, 127, 200, 1e30, np.inf]
        for n in range(8):
            for edge in half, below, above:
                steps += [F32(n) + edge, np.nextafter(F32(n) + half, F32(0)),
                          np.nextafter(F32(n) + half, F32(99))]
        steps = np.array(steps, F32)
        for dtype in np.int8, np.uint8, np.int16:
            x = (np.concatenate([steps, -steps]) * F32(0.25)).reshape(1, -1)
            net = flat.Net()
            zero = 0 if dtype == np.int16 else 3
            net.outputs = [net.op("QUANTIZE", [net.input(x)],
                                  [net.tensor(dtype, x.shape, 0.25, zero)])]
            real = (x / F32(0.25)).astype(np.float64)
            limits = np.iinfo(dtype)
            want = np.clip(np.copysign(np.floor(np.abs(real) + 0.5), real) + zero, limits.min,
                           limits.max)
            for target in "portable", "native":
                (y,) = running.run_net(net, self.folder, f"--target={target}").values()
                np.testing.assert_array_equal(y, want)
            said = json.loads(self.check(self.save(net), "--target=cortex-m4", "--json"))
            self.assertEqual((said["layers"], said["arena_bytes"]), (1, 0))

    def test_other_constants(self):
        """What no convolution or dense layer multiplies by becomes floats, and is told."""
        random = np.random.default_rng(12)
        net = flat.Net()
        q = random.integers(-127, 128, (16, 40)).astype(np.int8)
        x = random.normal(size=q.shape).astype(F32)
        real = net.op("DEQUANTIZE", [net.const(q, 1 / 64)], [net.tensor(F32, q.shape)])
        net.outputs = [net.op("MUL", [net.input(x), real], [net.tensor(F32, q.shape)],
                              activation="NONE")]
        (y,) = running.run_net(net, self.folder, "--target=portable").values()
        np.testing.assert_allclose(y, x * (q / 64), rtol=1e-6)
        self.assertRegex(self.check(self.save(net), "--target=cortex-m4"),
                         r"8-bit weights +become floats in 1 constant, since")

    def test_encoding_hint(self):
        """check says what --weights-encoding saves, of weights that share 200 values."""
        random = np.random.default_rng(3)
        net = flat.Net()
        w = random.choice(random.normal(size=200), (64, 400))
        net.outputs = [net.op("FULLY_CONNECTED", [
            net.input(np.zeros((1, 400), F32)), net.const(w.astype(F32)), -1],
            [net.tensor(F32, (1, 64))])]
        (path,) = flat.save({"shared": net.model()}, self.folder)
        said = json.loads(self.check(path, "--target=cortex-m4", "--json"))
        hint = said["weights_encoding_hint"]
        self.assertEqual(hint["encoding"], "codebook")
        self.assertGreater(hint["saved_bytes"], said["weight_bytes"] / 2)
        stored = json.loads(self.check(path, "--target=cortex-m4", "--json",
                                       "--weights-encoding=codebook"))
        self.assertAlmostEqual(stored["weight_bytes"], hint["weight_bytes"], delta=64)
        self.assertNotIn("weights_encoding_hint", stored)
        more = stored["arena_bytes"] - said["arena_bytes"]
        self.assertEqual(hint["more_ram_bytes"], more)
        self.assertGreater(hint["more_seconds"], 0)
        self.assertRegex(self.check(path, "--target=cortex-m4"),
                         r"--weights-encoding=codebook would store the weights in about \d+ bytes, "
                         r"\d+ fewer, and takes .* of RAM and .* more of time")

    def test_encoding_hint_within_ram(self):
        """An encoding whose decoder needs more than --max-ram leaves is not suggested."""
        random = np.random.default_rng(4)
        net = flat.Net()
        w = random.choice(random.normal(size=100), (2, 64, 48)).astype(F32)
        net.outputs = [net.op("BATCH_MATMUL", [
            net.input(np.zeros((2, 3, 64), F32)), net.const(w)],
            [net.tensor(F32, (2, 3, 48))], adj_x=False, adj_y=False)]
        path = self.save(net)
        said = json.loads(self.check(path, "--target=cortex-m4", "--json"))
        more = said["weights_encoding_hint"]["more_ram_bytes"]
        self.assertGreater(more, w.nbytes - 64)
        for room, hints in ((more, True), (more - 1, False)):
            limit = said["ram_bytes"] + room
            tight = json.loads(self.check(path, "--target=cortex-m4", "--json",
                                          f"--max-ram={limit}"))
            self.assertEqual("weights_encoding_hint" in tight, hints)


if __name__ == "__main__":
    unittest.main(verbosity=2)
