"""Tests models that leave only the number of samples open: each command assumes one sample and
says so. For other open sizes, commands ask the user."""

import json
import re
import subprocess
import sys
import unittest

import numpy as np
from onnx import helper

import nnc
from nnc import BROKEN, LACKING, NNC, USAGE, model, network, network_input, value, weights


def relu(*inputs):
    """A network with one Relu for each of the inputs (name, shape)."""
    return model([helper.make_node("Relu", [name], [name + "_out"], name)
                  for name, _ in inputs], [value(*each) for each in inputs],
                 [value(name + "_out", None) for name, _ in inputs])


def open_network(name="batch"):
    made = network()
    for port in made.graph.input[0], made.graph.output[0]:
        port.type.tensor_type.shape.dim[0].dim_param = name
    return made


class OpenBatch(nnc.TestCase):
    def call(self, *arguments, code=nnc.DONE):
        """What nnc printed to stderr."""
        done = subprocess.run([NNC, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, timeout=300)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done.stderr

    def test_commands(self):
        """One line on stderr, with the option that changes it."""
        self.save("open", open_network())
        np.save(self.folder / "x.npy", network_input())
        np.savez(self.folder / "data.npz", x=network_input())
        on = "--target=portable"
        for command in (["check", "--no-build"], ["compile", on, "-o", "code"],
                        ["run", on, "--input=x.npy"], ["verify", on], ["explain", on],
                        ["bench", on, "--runs=1"], ["report", on, "-o", "page.html"],
                        ["tune", on, "--budget=1s", "--cache=none", "-o", "costs"],
                        ["quantize", "--calibration=data.npz", "-o", "quantized.onnx"],
                        ["compress", "--clusters=4", "--calibration=data.npz", "-o",
                         "small.onnx"]):
            with self.subTest(command[0]):
                said = self.call(command[0], "open.onnx", *command[1:])
                self.assertRegex(said, r"\A.*open.onnx: warning: leaves only the number of "
                                 r"samples open, of which 1 is taken; --shape x=8x3x8x8 takes 8"
                                 r".*\n\Z")
                said = self.call(command[0], "open.onnx", "--shape=x=1x3x8x8", *command[1:])
                self.assertEqual(said, "")
        manifest = json.loads((self.folder / "code/manifest.json").read_text())
        self.assertEqual(manifest["inputs"][0]["shape"], [1, 3, 8, 8])
        # A model of which nothing is run keeps its open batch, and no line is needed.
        self.assertEqual(self.call("compress", "open.onnx", "--clusters=4", "-o", "s.onnx"), "")

    def test_json(self):
        self.save("open", open_network())
        (problem,) = json.loads(self.nnc("check", "open.onnx", "--no-build", "--json"))["problems"]
        self.assertEqual((problem["severity"], problem["file"]), ("warning", "open.onnx"))
        self.assertIn("--shape x=8x3x8x8", problem["hint"])

    def test_which_are_batches(self):
        for inputs, arguments in (
                ([("x", [None, 3])], ["x=8x3"]),
                ([("x", ["N", 3]), ("y", ["N", 4, 5])], ["x=8x3"]),
                ([("x", [None, 3]), ("y", [None, 4])], ["x=8x3", "y=8x4"]),
                ([("x", ["n", 3]), ("y", [2, 4])], ["x=8x3"]),
                ([("x", ["batch", 3]), ("y", ["batch_size", 4]), ("z", ["batch", 5])],
                 ["x=8x3", "y=8x4"]),
                ([("x", ["n", 3]), ("y", [None, 3])], ["x=8x3", "y=8x3"]),
                ([("x", ["a", 3]), ("y", ["b"])], ["x=8x3", "y=8"]),
                ([("x", ["batch_size"])], ["x=8"]),
                ([("x", ["rows", 3]), ("y", ["rows"])], ["x=8x3"])):
            with self.subTest(inputs):
                self.save("open", relu(*inputs))
                said = self.call("check", "open.onnx", "--no-build")
                self.assertEqual(re.findall(r"--shape (\S+)", said), arguments)
        for inputs in ([("x", ["batch", "height"])], [("x", ["batch", 3]), ("y", ["length", 3])],
                       [("x", ["sequence", 512])], [("x", [None])], [("x", ["samples"])],
                       [("x", None)], [("x", [1, "length"])], [("x", ["a"]), ("y", ["b"])],
                       [("x", ["batch", 3]), ("y", ["n", "width"])],
                       [("x", ["n", 3]), ("y", ["2*n", 3])]):
            with self.subTest(inputs):
                self.save("open", relu(*inputs))
                said = self.call("check", "open.onnx", "--no-build", code=USAGE)
                self.assertIn("has open dimensions", said)

    def test_given(self):
        """What the user says of one input counts for the others."""
        self.save("open", relu(("x", ["n", 3]), ("y", ["n", 4])))
        self.assertEqual(self.call("check", "open.onnx", "--no-build", "--shape=x=2x3"), "")
        self.save("open", relu(("x", [None, 3]), ("y", [None, 4])))
        said = self.call("check", "open.onnx", "--no-build", "--shape=x=2x3", code=USAGE)
        self.assertIn("input 'y' has open dimensions", said)
        self.save("open", relu(("x", [None, 3]), ("y", [2, "length"])))
        said = self.call("check", "open.onnx", "--no-build", "--shape=y=2x4")
        self.assertIn("--shape x=8x3", said)

    def test_samples_that_do_not_fit(self):
        """A network that takes other numbers of samples alone is asked for."""
        made = model([helper.make_node("Reshape", ["x", "shape"], ["y"], "reshape")],
                     [value("x", ["batch", 3])], [value("y", [2, 6])],
                     [nnc.numpy_helper.from_array(np.int64([2, 6]), "shape")])
        self.save("open", made)
        said = self.call("check", "open.onnx", "--no-build", code=USAGE)
        self.assertIn("input 'x' has open dimensions: pass --shape x=?x3", said)

    def test_other_problems(self):
        """They are told as for one sample, and the batch is none of them."""
        made = open_network()
        made.graph.node[1].op_type = "Relux"
        self.save("open", made)
        said = self.call("check", "open.onnx", "--no-build", code=BROKEN)
        self.assertIn("Relux", said)
        self.assertNotIn("open dimensions", said)
        made.graph.node[1].domain = "other"
        made.opset_import.append(helper.make_opsetid("other", 1))
        self.save("open", made)
        said = self.call("check", "open.onnx", "--no-build", code=LACKING)
        self.assertIn("Relux", said)
        self.assertNotIn("open dimensions", said)

    def test_told_once(self):
        """Of other open sizes each command tells each problem once."""
        self.save("open", relu(("x", ["batch", "height"])))
        np.savez(self.folder / "data.npz", x=np.zeros((1, 4), np.float32))
        for command in (["quantize", "--calibration=data.npz", "-o", "q.onnx"],
                        ["compress", "--clusters=4", "--calibration=data.npz", "-o", "s.onnx"],
                        ["explain"], ["compile", "-o", "code"]):
            lines = self.call(command[0], "open.onnx", *command[1:], code=USAGE).splitlines()
            self.assertEqual(len(lines), len(set(lines)), lines)
            self.assertEqual(sum("open dimensions" in line for line in lines), 1, lines)


if __name__ == "__main__":
    sys.exit(unittest.main())
