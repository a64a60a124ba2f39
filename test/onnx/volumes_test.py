"""Tests convolutions and pooling over one to three spatial axes against onnxruntime."""

import sys
import unittest

import numpy as np
from onnx import TensorProto, helper

from compared import Compared, model, value

# Sizes of an input behind batch and channels, of a kernel, and attributes.
CONVOLUTIONS = [
    ((5, 7, 6), (3, 3, 3), dict(pads=[1] * 6)),
    ((5, 7, 6), (3, 2, 4), dict(strides=[2, 1, 3], pads=[2, 0, 1, 1, 1, 2])),
    ((9, 5, 6), (3, 1, 2), dict(dilations=[2, 1, 3], strides=[1, 2, 1])),
    ((4, 6, 5), (1, 3, 3), dict(pads=[0, 1, 1, 0, 1, 1])),
    ((6, 4, 5), (3, 1, 1), dict(strides=[2, 1, 1], pads=[1, 0, 0, 1, 0, 0])),
    ((3, 4, 7), (1, 1, 3), dict(dilations=[1, 1, 2], pads=[0, 0, 2, 0, 0, 1])),
    ((4, 5, 3), (1, 1, 1), {}),
    ((4, 5, 3), (1, 1, 1), dict(strides=[3, 2, 2])),
    ((2, 14, 14), (2, 7, 7), dict(strides=[2, 7, 7])),
    ((3, 4, 4), (3, 4, 4), {}),
    ((1, 4, 4), (3, 3, 3), dict(pads=[2, 1, 1, 2, 1, 1])),
    ((5, 6, 7), (3, 3, 3), dict(auto_pad="SAME_UPPER", strides=[2, 2, 2])),
    ((5, 6, 7), (2, 2, 2), dict(auto_pad="SAME_LOWER")),
]
# The same for transposed ones.
TRANSPOSED = [
    ((3, 4, 5), (2, 2, 2), dict(strides=[2, 2, 2])),
    ((3, 4, 5), (3, 3, 3), dict(strides=[2, 1, 2], pads=[1] * 6, output_padding=[1, 0, 1])),
    ((4, 3, 2), (4, 4, 4), dict(strides=[2, 2, 2], pads=[1] * 6)),
    ((4, 3, 2), (3, 2, 2), dict(dilations=[2, 1, 2], pads=[1, 0, 0, 2, 0, 1])),
    ((3, 2, 4), (2, 1, 3), dict(strides=[3, 2, 1])),  # parts that no tap reaches
    ((3, 3, 2), (2, 3, 2), dict(strides=[3, 1, 2], dilations=[3, 1, 1])),
    ((3, 4, 5), (3, 1, 1), dict(strides=[2, 1, 1])),
    ((3, 4, 5), (1, 1, 3), dict(strides=[1, 1, 2])),
    ((1, 2, 2), (5, 3, 3), dict(strides=[2, 2, 2], pads=[3, 1, 1, 1, 1, 1])),
]


class Volumes(Compared):
    def convolve(self, op, cases, transposed=False, dtype=np.float32, tolerance=1e-4):
        """One model of all cases, with groups and channels that differ, and of what may follow a
        convolution."""
        random = np.random.default_rng(20)
        nodes, names, inputs, constants = [], [], {}, {}
        for i, (size, kernel, attributes) in enumerate(cases):
            groups, channels, filters = [(1, 3, 4), (2, 4, 6), (1, 1, 8), (4, 4, 4)][i % 4]
            inputs[f"x{i}"] = random.standard_normal((2 - i % 2, channels, *size)).astype(dtype)
            shape = ((channels, filters // groups) if transposed else
                     (filters, channels // groups))
            constants[f"w{i}"] = (random.standard_normal((*shape, *kernel)) * 0.3).astype(dtype)
            constants[f"b{i}"] = random.standard_normal(filters).astype(dtype)
            operands = [f"x{i}", f"w{i}", *([f"b{i}"] if i % 3 else [])]
            nodes += [helper.make_node(op, operands, [f"c{i}"], group=groups, **attributes),
                      helper.make_node("Relu", [f"c{i}"], [f"y{i}"])]
            names += [f"y{i}", *([f"c{i}"] if i % 5 == 0 else [])]
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        made = model(nodes, [value(n, a.shape, kind) for n, a in inputs.items()],
                     [value(n, None, kind) for n in names], constants)
        self.compare(made, inputs, tolerance)

    def test_convolutions(self):
        self.convolve("Conv", CONVOLUTIONS)

    def test_transposed_convolutions(self):
        self.convolve("ConvTranspose", TRANSPOSED, transposed=True)

    def test_weights_of_the_caller(self):
        """Weights that are inputs are divided at run time."""
        random = np.random.default_rng(21)
        inputs = {"x": random.standard_normal((1, 2, 4, 5, 6)).astype(np.float32),
                  "w": random.standard_normal((3, 2, 3, 3, 3)).astype(np.float32)}
        made = model([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 6),
                      helper.make_node("ConvTranspose", ["y", "w"], ["z"], strides=[2, 2, 2])],
                     [value(n, a.shape) for n, a in inputs.items()], [value("z", None)])
        self.compare(made, inputs, 1e-3)

    def test_network(self):
        """Batch norms, residual sums and pools between convolutions."""
        random = np.random.default_rng(22)

        def draw(*shape):
            return (random.standard_normal(shape) * 0.3).astype(np.float32)

        constants = {"w0": draw(8, 2, 3, 3, 3), "w1": draw(8, 8, 3, 3, 3), "w2": draw(8, 8, 3, 3, 3),
                     "w3": draw(8, 4, 2, 2, 2), "scale": draw(8), "bias": draw(8), "mean": draw(8),
                     "variance": np.abs(draw(8)) + 0.5}
        node = helper.make_node
        norm = ["scale", "bias", "mean", "variance"]
        nodes = [
            node("Conv", ["x", "w0"], ["a"], pads=[1] * 6, strides=[1, 2, 2]),
            node("BatchNormalization", ["a", *norm], ["b"]), node("Relu", ["b"], ["c"]),
            node("Conv", ["c", "w1"], ["d"], pads=[1] * 6),
            node("BatchNormalization", ["d", *norm], ["e"]), node("Relu", ["e"], ["f"]),
            node("Conv", ["f", "w2"], ["g"], pads=[1] * 6),
            node("BatchNormalization", ["g", *norm], ["h"]),
            node("Add", ["h", "c"], ["i"]), node("Relu", ["i"], ["j"]),
            node("MaxPool", ["j"], ["k"], kernel_shape=[2, 2, 2], strides=[2, 2, 2]),
            node("ConvTranspose", ["k", "w3"], ["l"], strides=[2, 2, 2]),
            node("Sigmoid", ["l"], ["y"])]
        made = model(nodes, [value("x", (1, 2, 6, 12, 10))], [value("y", None)], constants)
        self.compare(made, {"x": draw(1, 2, 6, 12, 10)})

    def test_integers(self):
        """QLinearConv and ConvInteger, whose padding is the zero point."""
        random = np.random.default_rng(23)
        x = random.integers(0, 256, (1, 3, 5, 6, 7), np.uint8)
        # onnxruntime's sums of two products saturate at 16 bits on machines that have AVX2
        # alone; with weights of 7 bits none can.
        constants = {
            "w": random.integers(-64, 64, (4, 3, 3, 3, 3), np.int8), "s": np.float32(0.02),
            "z": np.uint8(117), "ws": np.float32(0.003), "wz": np.int8(0),
            "ys": np.float32(0.05), "yz": np.uint8(99), "b": np.int32([300, -200, 0, 7])}
        nodes = [
            helper.make_node("QLinearConv", ["x", "s", "z", "w", "ws", "wz", "ys", "yz", "b"],
                             ["y"], pads=[1, 1, 0, 1, 0, 1], strides=[2, 1, 1]),
            helper.make_node("ConvInteger", ["x", "w", "z", "wz"], ["i"], pads=[1] * 6)]
        made = model(nodes, [value("x", x.shape, TensorProto.UINT8)],
                     [value("y", None, TensorProto.UINT8), value("i", None, TensorProto.INT32)],
                     constants)
        self.compare(made, {"x": x}, 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
