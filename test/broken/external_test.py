"""Tests which files, including links, a model may name as its external data."""

import os
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
import outcome

WEIGHTS = np.arange(64, dtype=np.float32).reshape(8, 8)


def external(name, location):
    """A tensor whose data are in the file `location`."""
    tensor = numpy_helper.from_array(WEIGHTS, name)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def in_initializer(location):
    return models.model([models.node("MatMul", ["x", "w"], ["y"])],
                        [models.value("x", [2, 8])], [models.value("y", [2, 8])],
                        [external("w", location)])


def in_attribute(location):
    """A model with such a tensor in a constant of a branch."""
    branches = [helper.make_graph(
        [models.node("Constant", [], ["w"], "w", value=external("w", location)),
         models.node(op, ["x", "w"], ["z"], op)], op, [], [models.value("z", [2, 8])])
        for op in ("MatMul", "Gemm")]
    return models.model(
        [models.node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])],
        [models.value("x", [2, 8]), models.value("c", [], TensorProto.BOOL)],
        [models.value("y", [2, 8])])


def in_function(location):
    opsets = [helper.make_opsetid("", 17)]
    body = [models.node("Constant", [], ["w"], "w", value=external("w", location)),
            models.node("MatMul", ["a", "w"], ["b"], "inner")]
    function = helper.make_function("local", "Block", ["a"], ["b"], body, opsets)
    return models.model([models.node("Block", ["x"], ["y"], domain="local")],
                        [models.value("x", [2, 8])], [models.value("y", [2, 8])],
                        domains=["local"], functions=[function])


def in_loop(tensor, op="MatMul", runs=3):
    """A model with such a tensor in a constant of the body of a loop with `runs` iterations.
    The import unrolls a loop of few iterations and keeps other loops. With 0, their number is
    unknown."""
    body = helper.make_graph(
        [models.node("Constant", [], ["w"], "w", value=tensor),
         models.node(op, ["h", "w"], ["z"], op), models.node("Identity", ["c"], ["c1"])],
        "body", [models.value("i", [], TensorProto.INT64), models.value("c", [], TensorProto.BOOL),
                 models.value("h", [2, 8])],
        [models.value("c1", [], TensorProto.BOOL), models.value("z", [2, 8])])
    limit = [] if runs == 0 else [numpy_helper.from_array(np.int64(runs), "n")]
    return models.model(
        [models.node("Loop", ["n", "", "x"], ["y"], "loop", body=body)],
        [models.value("x", [2, 8])] + ([] if limit else [
            models.value("n", [], TensorProto.INT64)]), [models.value("y", [2, 8])], limit)


class External(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.folder = self.root / "model"
        self.folder.mkdir()
        self.path = self.folder / "model.onnx"
        self.save(in_initializer("w.bin"))

    def save(self, made, path=None):
        (path or self.path).write_bytes(made.SerializeToString())

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(WEIGHTS.tobytes())

    def check(self, code, message="", *options, path=None):
        path = path or self.path
        ended, said = outcome.run("check", str(path), "--target=portable", *options)
        self.assertIsNone(outcome.find_fault(path, ended, said), said)
        self.assertEqual(ended, code, said)
        self.assertIn(message, said)

    def test_everywhere(self):
        """Initializers, constants of subgraphs and of functions."""
        self.write(self.folder / "w.bin")
        for make in (in_initializer, in_attribute, in_function):
            with self.subTest(make.__name__):
                self.save(make("w.bin"))
                self.check(outcome.DONE)
                self.save(make("../w.bin"))
                self.check(outcome.BROKEN, "not a place inside the model's folder")
                self.save(make("missing.bin"))
                self.check(outcome.BROKEN, "cannot be read")

    def test_loops(self):
        """A constant in the body of a loop, however that is imported."""
        self.write(self.folder / "w.bin")
        (self.folder / "short.bin").write_bytes(b"12")
        short = numpy_helper.from_array(WEIGHTS, "w")
        short.raw_data = short.raw_data[:8]
        length = external("w", "w.bin")
        length.external_data.add(key="length", value="many")
        text = helper.make_tensor("w", TensorProto.STRING, [1], [b"text"])
        for runs in (3, 40, 5000, 0):
            for made, code, said in (
                    (external("w", "w.bin"), outcome.DONE, ""),
                    (external("w", "missing.bin"), outcome.BROKEN, "'missing.bin', which cannot"),
                    (external("w", "../w.bin"), outcome.BROKEN, "not a place inside"),
                    (external("w", "short.bin"), outcome.BROKEN, "only 2 bytes long"),
                    (length, outcome.BROKEN, "is 'many', not a number"),
                    (short, outcome.BROKEN, "8 bytes"),
                    (text, outcome.LACKING, "string")):
                with self.subTest(runs=runs, said=said):
                    op = "Add" if made is text else "MatMul"
                    self.save(in_loop(made, op, runs))
                    self.check(code, said, "--no-build")

    def test_links_inside(self):
        """Symbolic and hard links to files in the folder, and below it."""
        self.write(self.folder / "data" / "real.bin")
        links = {"symbolic": lambda: os.symlink("data/real.bin", self.folder / "w.bin"),
                 "hard": lambda: os.link(self.folder / "data" / "real.bin",
                                         self.folder / "w.bin")}
        for name, link in links.items():
            with self.subTest(name):
                link()
                self.check(outcome.DONE)
                (self.folder / "w.bin").unlink()

    def test_hub_cache(self):
        """Where model and data are links to files beside each other."""
        self.write(self.root / "blobs" / "def")
        self.save(in_initializer("model.onnx_data"), self.root / "blobs" / "abc")
        snapshot = self.root / "snapshots" / "x"
        snapshot.mkdir(parents=True)
        os.symlink("../../blobs/abc", snapshot / "model.onnx")
        os.symlink("../../blobs/def", snapshot / "model.onnx_data")
        self.check(outcome.DONE, path=snapshot / "model.onnx")
        # The same folder for the data alone is another one than the model's.
        (snapshot / "model.onnx").unlink()
        self.save(in_initializer("model.onnx_data"), snapshot / "model.onnx")
        self.check(outcome.BROKEN, "leads out of the model's folder",
                   path=snapshot / "model.onnx")
        self.check(outcome.DONE, "", f"--external-data={self.root / 'blobs'}",
                   path=snapshot / "model.onnx")

    def test_links_that_leave(self):
        self.write(self.root / "secret.bin")
        self.write(self.root / "model-2" / "secret.bin")
        for target in ("../secret.bin", str(self.root / "secret.bin"), "/etc/passwd",
                       "../model-2/secret.bin"):
            with self.subTest(target):
                os.symlink(target, self.folder / "w.bin")
                self.check(outcome.BROKEN, "leads out of the model's folder")
                (self.folder / "w.bin").unlink()
        # A folder may be a link, too.
        os.symlink("..", self.folder / "up")
        self.save(in_initializer("up/secret.bin"))
        self.check(outcome.BROKEN, "leads out of the model's folder")

    def test_places_that_leave(self):
        self.write(self.root / "secret.bin")
        for location in ("../secret.bin", str(self.root / "secret.bin"), "a/../../secret.bin",
                         ""):
            with self.subTest(location):
                self.save(in_initializer(location))
                self.check(outcome.BROKEN, "not a place inside the model's folder")
                self.check(outcome.BROKEN, "not a place inside the model's folder",
                           f"--external-data={self.root}")

    def test_named_folder(self):
        """--external-data is looked into where the model's own folder has no such file."""
        self.write(self.root / "weights" / "w.bin")
        option = f"--external-data={self.root / 'weights'}"
        self.check(outcome.BROKEN, "--external-data")
        self.check(outcome.DONE, "", option)
        os.symlink("/etc/passwd", self.root / "weights" / "link.bin")
        self.save(in_initializer("link.bin"))
        self.check(outcome.BROKEN, "leads out of the model's folder", option)
        ended, said = outcome.run("check", str(self.path), "--external-data=nowhere")
        self.assertEqual(ended, outcome.USAGE, said)

    def test_not_files(self):
        os.mkfifo(self.folder / "w.bin")
        self.check(outcome.BROKEN, "which is not a file")
        (self.folder / "w.bin").unlink()
        (self.folder / "w.bin").mkdir()
        self.check(outcome.BROKEN, "which is not a file")

    def test_both(self):
        self.write(self.folder / "w.bin")
        made = in_initializer("w.bin")
        made.graph.initializer[0].raw_data = WEIGHTS.tobytes()
        self.save(made)
        self.check(outcome.BROKEN, "holds data and names a file")


if __name__ == "__main__":
    sys.exit(unittest.main())
