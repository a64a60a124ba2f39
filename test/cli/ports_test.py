"""Tests the names of inputs and outputs on the command line and of files: the model's own names
have priority over their C names."""

import sys
import unittest

import numpy as np
from onnx import helper

import nnc
from nnc import USAGE, value

# C calls the first of these a_b, so the second something else.
NAMES = ["a:b", "a_b"]


def colliding():
    """Sums and differences of inputs whose C names collide. The C names of the outputs collide,
    too."""
    node = helper.make_node
    return nnc.model(
        [node("Sub", NAMES, ["y/z"]), node("Sub", ["a:b", "y/z"], ["t"]),
         node("Add", ["t", "y/z"], ["y_z"])],
        [value(name, [2, 3]) for name in NAMES], [value("y/z", [2, 3]), value("y_z", [2, 3])])


def repeated():
    """Outputs: one twice, one that is also an input, and one that is a weight."""
    node = helper.make_node
    return nnc.model(
        [node("Relu", ["x"], ["y"])], [value("x", [2, 3])],
        [value(name, shape) for name, shape in
         (("y", [2, 3]), ("y", [2, 3]), ("x", [2, 3]), ("y_2", [4]))], [nnc.weights("y_2", 4)])


class Ports(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.save("colliding", colliding())
        self.save("repeated", repeated())
        random = np.random.default_rng(3)
        self.arrays = [random.standard_normal((2, 3)).astype(np.float32) for _ in NAMES]
        for i, array in enumerate(self.arrays):
            np.save(self.folder / f"{i}.npy", array)

    def results(self, folder):
        return {p.stem: np.load(p) for p in (self.folder / folder).iterdir()}

    def test_model_names(self):
        for order in ((0, 1), (1, 0)):
            with self.subTest(order):
                inputs = [f"--input={NAMES[i]}={i}.npy" for i in order]
                self.nnc("run", "colliding.onnx", *inputs, "--output-dir", f"out{order[0]}",
                         said=["^y/z: 2x3 of f32", "^y_z: 2x3 of f32"])
                a, b = self.arrays
                results = self.results(f"out{order[0]}")
                np.testing.assert_array_equal(results["y_z"], a - (a - b) + (a - b))
                # No file can be called y/z: it is called as the field in C.
                np.testing.assert_array_equal(results["y_z_2"], a - b)

    def test_folder(self):
        self.nnc("compile", "colliding.onnx", "-o", "code")
        self.nnc("run", "code", "--input=a_b=1.npy", "--input=a:b=0.npy", "--output-dir=out")
        np.testing.assert_array_equal(self.results("out")["y_z_2"],
                                      self.arrays[0] - self.arrays[1])

    def test_unknown(self):
        self.nnc("run", "colliding.onnx", "--input=a/b=0.npy", code=USAGE,
                 said=["has no input 'a/b'; it has a:b, a_b"])

    def test_data(self):
        data = self.folder / "data"
        data.mkdir()
        a, b = self.arrays
        for name, array in {"a:b": a, "a_b": b, "y_z": a - (a - b) + (a - b),
                            "output_0": a - b}.items():
            np.save(data / f"{name}.npy", array)
        self.nnc("verify", "colliding.onnx", "--data=data", said=["y/z: same", "y_z: same"])
        np.save(data / "a_b.npy", b + 1)
        self.nnc("verify", "colliding.onnx", "--data=data", code=nnc.DIFFERS)

    def test_round_trip(self):
        """Files that run writes are what verify reads."""
        inputs = [f"--input={name}={i}.npy" for i, name in enumerate(NAMES)]
        self.nnc("run", "colliding.onnx", *inputs, "--output-dir=data")
        for i, name in enumerate(NAMES):
            np.save(self.folder / "data" / f"{name}.npy", self.arrays[i])
        self.nnc("verify", "colliding.onnx", "--data=data")

    def test_numbers_are_names(self):
        """A folder of .npy files goes by names, also where these are other inputs' numbers."""
        ports = ["input_1", "input_0"]
        self.save("numbers", nnc.model([helper.make_node("Sub", ports, ["y"])],
                                       [value(name, [2, 3]) for name in ports],
                                       [value("y", [2, 3])]))
        (self.folder / "data").mkdir()
        for name, array in {"input_1": self.arrays[1], "input_0": self.arrays[0],
                            "y": self.arrays[1] - self.arrays[0]}.items():
            np.save(self.folder / "data" / f"{name}.npy", array)
        self.nnc("verify", "numbers.onnx", "--data=data")

    def test_repeated_outputs(self):
        self.nnc("run", "repeated.onnx", "--input=x=0.npy", "--output-dir=out")
        x, results = self.arrays[0], self.results("out")
        self.assertEqual(len(results), 4)
        found = sorted(results.values(), key=lambda array: (array.shape, array.sum()))
        weights = np.random.default_rng(3).standard_normal(4).astype(np.float32)
        wanted = sorted([np.maximum(x, 0), np.maximum(x, 0), x, weights],
                        key=lambda array: (array.shape, array.sum()))
        for one, other in zip(found, wanted):
            np.testing.assert_array_equal(one, other)
        self.nnc("verify", "repeated.onnx", "--random=2")


if __name__ == "__main__":
    sys.exit(unittest.main())
