"""Tests shapes given with --shape against the declarations of the model's inputs: exit codes
and messages of `nnc compile`."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np

import models
import outcome


def open_model():
    """A model with inputs of every kind: open dimensions, the same named dimension twice, no
    axes, no elements, and any shape."""
    shapes = {"image": ["n", 3, "h", 8], "label": ["n"], "scale": [], "past": [0, 3],
              "any": None}
    ports = [models.value(name, shape) for name, shape in shapes.items()]
    nodes = [models.node("Relu", [name], [name + "_out"], name) for name in shapes]
    outputs = [models.value(name + "_out", None) for name in shapes]
    return models.model(nodes, ports, outputs)


class Shapes(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.path = self.folder / "open.onnx"
        self.path.write_bytes(open_model().SerializeToString())

    def compile(self, *shapes):
        return outcome.run("compile", str(self.path), "--target=portable", "-o",
                           str(self.folder / "out"), *(f"--shape={s}" for s in shapes))

    def refuse(self, message, *shapes):
        code, said = self.compile(*shapes)
        self.assertEqual(code, outcome.USAGE, said)
        self.assertIn(message, said)
        self.assertFalse((self.folder / "out").exists())

    def test_bound(self):
        for more in ((), ("scale=scalar",), ("past=0x3",), ("past=5x3",), ("label=2",)):
            with self.subTest(more):
                code, said = self.compile("image=2x3x4x8", "any=3x0", *more)
                self.assertEqual(code, outcome.DONE, said)
        self.assertEqual(self.compile("image=2x3x4x8", "any=scalar")[0], outcome.DONE)

    def test_left_open(self):
        self.refuse("input 'image' has open dimensions: pass --shape image=?x3x?x8")
        self.refuse("input 'label' has open dimensions: pass --shape label=?")
        self.refuse("input 'any' has open dimensions and not even their number")

    def test_sizes_that_are_tried(self):
        """Where no size that is tried fits, the node that they do not fit is named, which is no
        error of the model."""
        for size, fits in ((32, True), (77, False)):
            made = models.model([models.node("MatMul", ["x", "w"], ["y"], "mul")],
                                [models.value("x", ["batch", "seq"])], [models.value("y", None)],
                                [models.constant("w", models.weights(size, 2))])
            self.path.write_bytes(made.SerializeToString())
            self.refuse("--shape x=1x" + ("32" if fits else "128"))
            said = self.compile()[1]
            self.assertEqual("warning: node 'mul': with --shape x=1x128: MatMul multiplies 1 x 128 "
                             "by 77 x 2; other sizes may fit" in said, not fits, said)

    def test_errors_of_any_size(self):
        """Sizes at which an early layer fails are not tried for errors behind it."""
        made = models.model(
            [models.node("Conv", ["x", "w"], ["c"], "conv"),
             models.node("Add", ["c", "b"], ["a"], "add"),
             models.node("Reshape", ["c", "s"], ["r"], "cut")],
            [models.value("x", ["batch", 3, "height", "width"])],
            [models.value("a", None), models.value("r", None)],
            [models.constant("w", models.weights(4, 3, 3, 3)),
             models.constant("b", models.weights(5, 1, 1)),
             models.constant("s", np.array([7, -1]))])
        self.path.write_bytes(made.SerializeToString())
        self.refuse("node 'add': with --shape x=1x3x224x224: Add has operands that do not")
        self.refuse("node 'cut': with --shape x=1x3x224x224: Reshape cannot give")

    def test_wrong_rank(self):
        self.refuse("which the given 2x3x4 does not fit", "image=2x3x4", "any=1")
        self.refuse("input 'scale' has shape () in the model, which the given 1 does not fit",
                    "image=2x3x4x8", "any=1", "scale=1")

    def test_wrong_size(self):
        self.refuse("which the given 2x4x4x8 does not fit", "image=2x4x4x8", "any=1")
        self.refuse("which the given 3 does not fit", "image=2x3x4x8", "any=1", "label=3")

    def test_wrong_name(self):
        self.refuse("has no input 'picture' to give a shape to; its inputs are 'image', 'label'",
                    "picture=2x3x4x8")
        self.refuse("has no input 'any_out'", "image=2x3x4x8", "any=1", "any_out=1")

    def test_no_shape(self):
        for text in ("image", "image=", "image=2x3x4x", "image=2x3x-4x8", "image=2,3,4,8",
                     "=2x3x4x8", "image=1x3x99999999999999999999x8"):
            with self.subTest(text):
                self.refuse("is not of the form INPUT=1x3x48x320", text)
        self.refuse("gives the same shapes twice", "image=2x3x4x8", "any=1", "image=2x3x4x8")

    def test_stale(self):
        """Declared shapes that are left from another size are a warning where --shape binds
        an open dimension, and errors else."""
        nodes = [models.node("Relu", ["x"], ["r"], "relu"), models.node("Neg", ["r"], ["y"])]
        for batch, code in (("n", outcome.DONE), (4, outcome.BROKEN)):
            made = models.model(nodes, [models.value("x", [batch, 3])],
                                [models.value("y", [1, 3])])
            made.graph.value_info.append(models.value("r", [1, 3]))
            self.path.write_bytes(made.SerializeToString())
            ended, said = self.compile("x=4x3")
            self.assertEqual(ended, code, said)
            if code == outcome.DONE:
                self.assertIn("warning: declares other shapes than follow from the given --shape "
                              "for 2 values, the first of them 'r' (declared 1x3, now 4x3)", said)
            else:
                self.assertIn("Relu gives 'r' the shape 4x3, but the model declares 1x3", said)

    def test_too_large(self):
        code, said = self.compile("image=2x3x99999999999x8", "any=1")
        self.assertEqual(code, outcome.LIMIT, said)
        self.assertIn("2x3x99999999999x8", said)


if __name__ == "__main__":
    sys.exit(unittest.main())
