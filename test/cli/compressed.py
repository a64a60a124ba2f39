"""A network with each kind of layer, and the base of the tests that compress it."""

import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import nnc
from nnc import USAGE, model, value

# Without a compiler the small models are evaluated, which takes less time.
WITHOUT = {**os.environ, "CXX": "none"}
node = helper.make_node


def normal(name, *shape, seed=1):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def network():
    """A network with each kind of layer: x [4, 6, 8, 8] to y [4, 10]."""
    return model(
        [node("Conv", ["x", "w1"], ["a"], "conv1", pads=[1] * 4),
         node("Relu", ["a"], ["b"], "relu1"),
         node("Conv", ["b", "w2"], ["c"], "depthwise", group=9),
         node("ConvTranspose", ["c", "w3"], ["d"], "up", group=3, strides=[2, 2]),
         node("GlobalAveragePool", ["d"], ["e"], "pool"),
         node("Flatten", ["e"], ["f"], "flat"),
         node("MatMul", ["f", "w4"], ["g"], "hidden"),
         node("Tanh", ["g"], ["h"], "tanh"),
         node("Gemm", ["h", "w5"], ["y"], "head", transB=1)],
        [value("x", [4, 6, 8, 8])], [value("y", [4, 10])],
        [normal("w1", 9, 6, 3, 3), normal("w2", 9, 1, 3, 3), normal("w3", 9, 4, 2, 2),
         normal("w4", 12, 33), normal("w5", 10, 33)])


# The input channels that each weight of the network multiplies.
CHANNELS = {"w1": 6, "w2": 1, "w3": 3, "w4": 12, "w5": 33}

# Each weight of the network as a matrix: a row for each output channel, the input
# channels innermost.
MATRICES = {
    "w1": lambda w: w.transpose(0, 2, 3, 1).reshape(9, -1),
    "w2": lambda w: w.transpose(0, 2, 3, 1).reshape(9, -1),
    "w3": lambda w: w.reshape(3, 3, 4, 2, 2).transpose(0, 2, 3, 4, 1).reshape(12, -1),
    "w4": lambda w: w.T,
    "w5": lambda w: w}


class CompressTestCase(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.save("network", network())
        self.x = np.random.default_rng(0).standard_normal((8, 4, 6, 8, 8)).astype(np.float32)
        np.savez(self.folder / "data.npz", x=self.x)
        self.to = ["-o", "small.onnx"]

    def compress(self, *arguments, **how):
        return json.loads(self.nnc("compress", *arguments, *self.to, "--json",
                                   **{"env": WITHOUT, **how}))

    def refuse(self, *arguments, said, code=USAGE, model="network.onnx"):
        """Fails with all of these messages in one run, and writes nothing."""
        before = self.names()
        to = [] if "-o" in arguments else self.to
        self.nnc("compress", model, *to, *arguments, code=code, said=said, env=WITHOUT)
        self.assertEqual(self.names(), before)

    def read(self, name="small.onnx"):
        made = onnx.load(self.folder / name)
        return {t.name: numpy_helper.to_array(t) for t in made.graph.initializer}

    def run_model(self, name, feed):
        session = onnxruntime.InferenceSession(self.folder / name)
        return session.run(None, feed)

    def check_sizes(self, layer, wanted, huffman_bounds):
        name = layer["name"]
        for key, number in wanted.items():
            self.assertAlmostEqual(layer[key], number, 9, (name, key)) if isinstance(
                number, float) else self.assertEqual(layer[key], number, (name, key))
        coded = layer["huffman_bytes"]
        if huffman_bounds is None or huffman_bounds[0] >= layer["dense_bytes"]:
            self.assertIsNone(coded, name)
        elif coded is None:
            self.assertGreater(huffman_bounds[1], layer["dense_bytes"], name)
        else:
            self.assertTrue(huffman_bounds[0] < coded <= huffman_bounds[1], (name, coded))
        self.assertEqual(layer["huffman_gap_bits"] is None, coded is None)
        self.assertEqual(layer["least_bytes"], min(
            layer[form] for form in ("dense_bytes", "codebook_bytes", "csr_bytes",
                                     "huffman_bytes") if layer[form] is not None))
