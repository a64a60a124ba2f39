"""Tests that scales and shifts behind layers are folded into weights in the same way in ONNX
files and in modules."""

import json
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import nnc
from compress_second_order_test import blobs
from nnc import model, value
from quantize_module_test import F32, WITHOUT

node = helper.make_node
random = np.random.default_rng(8)
# Fewer values than a table holds: compression leaves them as they are.
CONSTANTS = {
    "w": random.normal(size=(4, 3, 3, 3)), "up": random.normal(size=(3, 2, 2, 2)),
    "m": random.normal(size=(6, 4)), "b": random.normal(size=4), "one": [0.37],
    "c": random.normal(size=(1, 4, 1, 1)), "d": random.uniform(1, 3, (4, 1, 1)),
    "gamma": random.uniform(0.5, 2, 4), "beta": random.normal(size=4),
    "mean": random.normal(size=4), "variance": random.uniform(0.1, 3, 4),
    "row": random.normal(size=4), "image": random.normal(size=(1, 1, 6, 6))}
NORM = ["gamma", "beta", "mean", "variance"]


def conv(*more):
    return node("Conv", ["x", "w", *more], ["v0"], "layer", pads=[1] * 4)


def chain(layer, *ops):
    """A layer and the ops behind it. Each op is (op, constants...) and has its own name."""
    nodes = [layer]
    for i, (op, *constants) in enumerate(ops):
        nodes.append(node(op, [f"v{i}", *constants], [f"v{i + 1}"], f"{op}{i}"))
    nodes.append(node("Relu", [f"v{len(ops)}"], ["y"], "end"))
    return nodes


IMAGE, ROWS = [1, 3, 6, 6], [5, 6]
MATMUL = node("MatMul", ["x", "m"], ["v0"], "layer")
GEMM = node("Gemm", ["x", "m", "b"], ["v0"], "layer")
# The nodes, the shape of x, and how many nodes weights take up.
FOLDED = {
    "norm": (chain(conv(), ("BatchNormalization", *NORM)), IMAGE, 1),
    "norm behind a bias": (chain(conv("b"), ("BatchNormalization", *NORM)), IMAGE, 1),
    "norm, scale and shift": (chain(conv("b"), ("BatchNormalization", *NORM), ("Mul", "c"),
                                    ("Add", "d")), IMAGE, 3),
    "shift": (chain(conv(), ("Add", "c")), IMAGE, 1),
    "scale of all": (chain(conv("b"), ("Mul", "one")), IMAGE, 1),
    "difference": (chain(conv("b"), ("Sub", "c"), ("Mul", "d")), IMAGE, 2),
    "quotient": (chain(conv("b"), ("Div", "d")), IMAGE, 1),
    "transposed": (chain(node("ConvTranspose", ["x", "up"], ["v0"], "layer", strides=[2, 2]),
                         ("Mul", "one"), ("Add", "one")), IMAGE, 2),
    "gemm": (chain(GEMM, ("BatchNormalization", *NORM), ("Mul", "row")), ROWS, 2),
    "product": (chain(MATMUL, ("Mul", "row")), ROWS, 1),
    "product with shifts": (chain(MATMUL, ("Add", "row"), ("Mul", "b"), ("Add", "one")), ROWS, 2),
    # Numbers along other axes, sums that others read, and steps that see the last bit.
    "image": (chain(conv("b"), ("Mul", "image")), IMAGE, 0),
    "two readers": (chain(conv("b"), ("BatchNormalization", *NORM))[:-1]
                    + [node("Add", ["v0", "v1"], ["y"], "both")], IMAGE, 0),
    "step": (chain(MATMUL, ("Mul", "row"))[:-1] + [node("Floor", ["v1"], ["y"], "floor")],
             ROWS, 0),
}


class CompressFolds(nnc.TestCase):
    def nnc(self, *arguments, **how):
        return super().nnc(*arguments, **{"env": WITHOUT, **how})

    def test_folded(self):
        """Files and modules fold the same and get the same weights, and the model computes what
        it did."""
        for name, (nodes, shape, folded) in FOLDED.items():
            with self.subTest(name):
                read = {operand for each in nodes for operand in each.input}
                made = model(nodes, [value("x", shape)], [value("y", None)],
                             [numpy_helper.from_array(np.array(array, F32), key)
                              for key, array in CONSTANTS.items() if key in read])
                made.graph.output[0].type.tensor_type.ClearField("shape")
                self.save("m", made)
                said = json.loads(self.nnc("compress", "m.onnx", "--clusters=256", "--json",
                                           "-o", "c.onnx"))
                self.assertEqual(said["folded"], folded)
                self.nnc("compress", "m.onnx", "--clusters=256", "-o", "c.mlir")
                file = onnx.load(self.folder / "c.onnx")
                self.assertEqual(len(file.graph.node), len(nodes) - folded)
                arrays = {each.name: numpy_helper.to_array(each)
                          for each in file.graph.initializer}
                found = arrays[nodes[0].input[1]].ravel()
                stored = [np.frombuffer(blob, F32)
                          for blob in blobs((self.folder / "c.mlir").read_text())]
                (stored,) = [array for array in stored if array.size == found.size]
                # A module has its batch norms folded before what is behind them, and rounds twice.
                ulps = 0 if folded < 2 else 2
                np.testing.assert_array_less(abs(found - stored),
                                             (ulps + 0.5) * np.spacing(abs(found)))
                x = random.normal(size=shape).astype(F32)
                own, found = (onnxruntime.InferenceSession(self.folder / each)
                              .run(None, {"x": x})[0] for each in ("m.onnx", "c.onnx"))
                np.testing.assert_allclose(found, own, rtol=1e-5, atol=1e-5)

    def test_default_of_input(self):
        """What a caller may replace stays apart; models before IR version 4 list all constants."""
        nodes = chain(conv("b"), ("Mul", "c"))
        for version, folded in (8, 0), (3, 1):
            constants = {key: np.array(CONSTANTS[key], F32) for key in ("w", "b", "c")}
            # All constants are listed in IR version 3.
            listed = ["c"] if version > 3 else list(constants)
            made = model(nodes, [value("x", IMAGE)] + [value(key, constants[key].shape)
                                                       for key in listed],
                         [value("y", [1, 4, 6, 6])],
                         [numpy_helper.from_array(array, key)
                          for key, array in constants.items()])
            made.ir_version = version
            self.save("m", made)
            said = json.loads(self.nnc("compress", "m.onnx", "--clusters=256", "--json", "-o",
                                       "c.onnx"))
            self.assertEqual(said["folded"], folded)
            feeds = {"x": random.normal(size=IMAGE).astype(F32)}
            if not folded:
                feeds["c"] = random.normal(size=(1, 4, 1, 1)).astype(F32)
            own, found = (onnxruntime.InferenceSession(self.folder / each).run(None, feeds)[0]
                          for each in ("m.onnx", "c.onnx"))
            np.testing.assert_allclose(found, own, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
