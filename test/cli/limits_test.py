"""Tests --limit, which is for models from unknown sources: exceeding a limit is reported with
exit code 6, and no files are left behind."""

import re
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import DONE, LIMIT, USAGE, model, network, value


def nested(depth):
    """Nested Ifs, each of which depends on an input."""
    node = helper.make_node
    out = [value("r", [3])]
    body = helper.make_graph([node("Neg", ["x"], ["r"])], "b", [], out)
    for _ in range(depth):
        other = helper.make_graph([node("Abs", ["x"], ["r"])], "o", [], out)
        body = helper.make_graph(
            [node("If", ["c"], ["r"], then_branch=body, else_branch=other)], "b", [], out)
    return model([*body.node], [value("x", [3]), value("c", [], TensorProto.BOOL)],
                 [value("r", [3])])


class Limits(nnc.TestCase):
    def refuse(self, name, limit, said):
        self.nnc("compile", f"{name}.onnx", f"--limit={limit}", "-o", "made", code=LIMIT,
                 said=[re.escape(said)])
        self.assertEqual(self.names(), sorted([f"{name}.onnx", "network.onnx"]))

    def accept(self, name, *limits):
        self.nnc("compile", f"{name}.onnx", *[f"--limit={limit}" for limit in limits],
                 "-o", "made")

    def test_the_model(self):
        self.save("small", network())
        size = (self.folder / "small.onnx").stat().st_size
        self.refuse("small", f"file={size - 1}", f"has {size} bytes, more than --limit file=")
        self.refuse("small", "nodes=4", "has 5 nodes; nnc handles up to 4; --limit nodes=N")
        self.refuse("small", "tensor=1023", "shape 1x4x8x8; nnc handles tensors of up to 1023 bytes")
        self.accept("small", f"file={size}", "nodes=6", "tensor=1K", "memory=4G", "time=500s")

    def test_calls_count(self):
        node = helper.make_node
        made = model([node("Twice", ["x"], ["m"], "first", domain="own"),
                      node("Twice", ["m"], ["y"], "second", domain="own")],
                     [value("x", [3])], [value("y", [3])], domains=["own"])
        made.functions.append(helper.make_function(
            "own", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["c"]), node("Neg", ["c"], ["b"])],
            [helper.make_opsetid("", 17)]))
        self.save("calls", made)
        self.refuse("calls", "nodes=5", "more than 5 nodes once its functions and loops are")
        self.accept("calls", "nodes=7")

    def test_depth(self):
        self.save("deep", nested(4))
        self.refuse("deep", "depth=3", "nested more than 3 deep; --limit depth=N allows more")
        self.accept("deep", "depth=4")

    def test_constants(self):
        shape = numpy_helper.from_array(np.array([1000, 300]), "s")
        self.save("made_up", model([helper.make_node("ConstantOfShape", ["s"], ["k"], "fill"),
                                    helper.make_node("Add", ["x", "k"], ["y"])],
                                   [value("x", [300])], [value("y", [1000, 300])], [shape]))
        self.refuse("made_up", "constant=1M", "nnc makes constants of up to 1 MiB; --limit "
                    "constant=BYTES allows more")
        self.accept("made_up", "constant=2M")

    def test_memory(self):
        """From none at all to enough: each amount ends in the limit's message or well."""
        rows = np.random.default_rng(1).standard_normal((4096, 1024)).astype(np.float32)
        node = helper.make_node
        self.save("wide", model([node("MatMul", ["x", "k"], ["m"]), node("Mul", ["m", "s"], ["y"])],
                                [value("x", [1, 4096])], [value("y", [1, 1024])],
                                [numpy_helper.from_array(rows, "k"), nnc.weights("s", 1024)]))
        ends = []
        for amount in (1, 8, 20, 30, 36, 40, 48, 56, 64, 72, 80, 96, 128, 4096):
            run = subprocess.run([nnc.NNC, "compile", "wide.onnx", f"--limit=memory={amount}M",
                                  "-o", "made"], cwd=self.folder, capture_output=True, text=True)
            ends.append(run.returncode)
            if run.returncode != DONE:
                self.assertEqual(run.returncode, LIMIT, (amount, run.stderr))
                self.assertIn(f"more memory than --limit memory={amount << 20} allows", run.stderr)
                self.assertEqual(self.names(), ["network.onnx", "wide.onnx"])
        self.assertEqual((ends[0], ends[-1]), (LIMIT, DONE))

    def test_time(self):
        """A program that the command waits for ends with it."""
        self.save("small", network())
        compiler = self.folder / "slow"
        compiler.write_text("#!/bin/sh\nsleep 60\n")
        compiler.chmod(0o755)
        said = self.nnc("verify", "small.onnx", f"--compiler={compiler}", "--limit=time=1s",
                        "--json", code=LIMIT)
        self.assertIn("not done after 1 s, as --limit time=1s says", said)

    def test_usage(self):
        self.save("small", network())
        self.nnc("check", "small.onnx", "--limit=node=4", "--limit=tensor=x", "--limit=time=-1",
                 "--limit=depth", code=USAGE, said=map(re.escape, ("'node=4' limits none of file, nodes,", "did you mean 'nodes'?",
                     "'tensor=x' is not of the form tensor=BYTES, such as 64M or 2G",
                     "'time=-1' is not of the form time=SECONDS",
                     "'depth' is not of the form depth=N")))


if __name__ == "__main__":
    sys.exit(unittest.main())
