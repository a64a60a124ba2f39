"""Compares 8-bit networks for x86-64-v4-amx, whose tiles are arrays here, with the same networks
for x86-64-v4-vnni: the results are equal bit for bit, and not all alike."""

import pathlib
import tempfile
import unittest

import emitted
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NEEDS = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16"}


class Network:
    """A model under construction, whose values between layers are stored as `activations`."""

    def __init__(self, activations):
        self.activations, self.random = activations, np.random.default_rng(7)
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def round(self, x, scale):
        """x, stored in 8 bits."""
        zero = np.array(3 if self.activations == np.uint8 else -5, self.activations)
        about = [self.constant(np.array(scale, np.float32)), self.constant(zero)]
        return self.add("DequantizeLinear", self.add("QuantizeLinear", x, *about), *about)

    def weight(self, *shape):
        integers = self.random.integers(-127, 128, shape).astype(np.int8)
        return self.add("DequantizeLinear", self.constant(integers),
                        self.constant(np.array(0.01, np.float32)),
                        self.constant(np.array(0, np.int8)))

    def conv(self, x, k, c, size, scale, stride=1, groups=1):
        pads = [size // 2] * 4
        y = self.add("Conv", x, self.weight(k, c // groups, size, size), strides=[stride] * 2,
                     pads=pads, group=groups)
        return self.round(y, scale)

    def save(self, path, inputs, outputs):
        graph = helper.make_graph(
            self.nodes, "network",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
             for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)


def make_images(path, activations):
    """A network of convolutions: a first one, of few channels, in groups, with strides."""
    net = Network(activations)
    x = net.round("x", 0.02)
    x = net.conv(x, 32, 3, 7, 0.05, stride=2)
    x = net.conv(x, 72, 32, 3, 0.2)
    y = net.conv(x, 72, 72, 1, 0.5)
    x = net.round(net.add("Add", x, y), 0.6)
    x = net.conv(x, 256, 72, 3, 1.5, stride=2)
    x = net.conv(x, 32, 256, 5, 8.0, groups=2)
    net.save(path, {"x": [2, 3, 45, 51]}, [x])
    return {"x": [2, 3, 45, 51]}


def make_rows(path, activations):
    """A network of products of rows, whose lengths are whole steps and not."""
    net = Network(activations)
    x = net.round("x", 0.02)
    for k, n, scale in (128, 200, 0.1), (200, 77, 0.5), (77, 30, 2.0):
        x = net.round(net.add("MatMul", x, net.weight(k, n)), scale)
    net.save(path, {"x": [3, 41, 128]}, [x])
    return {"x": [3, 41, 128]}


class Tiles(unittest.TestCase):
    def setUp(self):
        info = pathlib.Path("/proc/cpuinfo")
        if not info.exists() or not NEEDS <= set(info.read_text().split()):
            self.skipTest("the vectors of these targets are missing")

    def check(self, make, activations):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "network.onnx")
            shapes = make(path, activations)
            random = np.random.default_rng(1)
            inputs = {name: random.standard_normal(shape).astype(np.float32)
                      for name, shape in shapes.items()}
            results = []
            for target in "x86-64-v4-amx", "x86-64-v4-vnni":
                module = emitted.compile_model(path, pathlib.Path(folder, target), target=target)
                module.manifest["flags"] = [
                    *(flag for flag in module.manifest["flags"] if "-mamx" not in flag),
                    "-DNNC_PLAIN_TILES"]
                source = pathlib.Path(folder, target, "model.cpp").read_text()
                self.assertEqual("_amxint8" in source, target == "x86-64-v4-amx")
                module.build()
                results.append(module(inputs))
            for name, got in results[0].items():
                self.assertGreater(len(np.unique(got)), 20, f"{name} is nearly constant")
                np.testing.assert_array_equal(got, results[1][name], name)

    def test_images_of_unsigned_bytes(self):
        self.check(make_images, np.uint8)

    def test_images_of_signed_bytes(self):
        self.check(make_images, np.int8)

    def test_rows_of_unsigned_bytes(self):
        self.check(make_rows, np.uint8)

    def test_rows_of_signed_bytes(self):
        self.check(make_rows, np.int8)


if __name__ == "__main__":
    unittest.main()
