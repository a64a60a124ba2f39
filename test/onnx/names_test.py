"""Names that a model may use and C++ not: what nnc emits for them builds without a
warning, as C++ and its header as C, and computes."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import emitted

NAMES = ["a.b", "a_b", "a b", "1", "_", "__", "a//b", "a*/b", "/*", "line\nend", "tail\\",
         "what??/", "'\"", "\r", "x\0y", "%d", "$x", "#if", "\u00fc", "\u65e5\u672c", "n" * 300,
         "NULL", "NAN", "arena", "data", "float", "in", "inputs", "int", "memcpy", "model",
         "model_run", "nnc", "out", "run", "struct"]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null", "-I."]


def make_model():
    """relu(x * w) for a pair of inputs and outputs of each name, on nodes of that name."""
    ports, nodes, weights = {"": [], "~out": []}, [], []
    for i, name in enumerate(NAMES):
        for end, made in ports.items():
            made.append(helper.make_tensor_value_info(name + end, TensorProto.FLOAT, [2, 3]))
        weights.append(numpy_helper.from_array(np.full((3, 3), i, np.float32), name + "~w"))
        nodes += [helper.make_node("MatMul", [name, name + "~w"], [name + "~m"], name + "~"),
                  helper.make_node("Relu", [name + "~m"], [name + "~out"], name)]
    graph = helper.make_graph(nodes, "names", ports[""], ports["~out"], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Names(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = pathlib.Path(holder.name) / "names.onnx"
        onnx.save(make_model(), self.path)
        self.module = emitted.compile_model(self.path, self.path.parent / "out",
                                            target="portable")

    def test_warnings(self):
        for compiler in ("clang++-19", "g++"):
            subprocess.run([compiler, "-std=c++17", *WARNINGS, "model.cpp"],
                           cwd=self.module.folder, check=True)
        subprocess.run(["gcc", "-std=c99", "-pedantic", *WARNINGS, "-x", "c", "model.h"],
                       cwd=self.module.folder, check=True)

    def test_results(self):
        self.module.build()
        x = np.ones((2, 3), np.float32)
        outputs = self.module({name: x for name in NAMES})
        for i, name in enumerate(NAMES):
            np.testing.assert_array_equal(outputs[name + "~out"], 3 * i * x, err_msg=name)

    def test_no_text(self):
        self.path.write_bytes(make_model().SerializeToString().replace(b"a//b", b"a\xff\xfeb"))
        with self.assertRaises(emitted.Failure) as caught:
            emitted.nnc("check", self.path, "--json")
        self.assertEqual(caught.exception.code, emitted.BROKEN)
        self.assertIn("not UTF-8", str(caught.exception))


if __name__ == "__main__":
    sys.exit(unittest.main())
