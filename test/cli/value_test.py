"""Tests --value, which makes an input of the model a constant."""

import json
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import LACKING, USAGE, model, value

I64 = TensorProto.INT64


class Value(nnc.TestCase):
    def setUp(self):
        super().setUp()
        node = helper.make_node
        self.save("sum", model([node("ReduceSum", ["x", "axes"], ["y"], "total", keepdims=0)],
                               [value("x", [2, 3, 5]), value("axes", ["K"], I64)],
                               [helper.make_empty_tensor_value_info("y")]))
        self.x = np.random.default_rng(1).standard_normal((2, 3, 5)).astype(np.float32)
        np.save(f"{self.folder}/x.npy", self.x)

    def test_numbers_and_files(self):
        np.save(f"{self.folder}/axes.npy", np.array([0, -1]))
        for given in ("axes=0,-1", "axes= 0, 2", "axes=axes.npy"):
            self.nnc("run", "sum.onnx", "--value", given, "--input=x=x.npy", "--output-dir=out")
            np.testing.assert_allclose(np.load(f"{self.folder}/out/y.npy"),
                                       self.x.sum((0, 2)), rtol=1e-5)

    def test_every_command(self):
        self.nnc("compile", "sum.onnx", "--value=axes=1", "-o", "made")
        said = json.loads((self.folder / "made" / "manifest.json").read_text())
        self.assertEqual([port["name"] for port in said["inputs"]], ["x"])
        self.assertEqual(said["outputs"][0]["shape"], [2, 5])
        self.nnc("verify", "sum.onnx", "--value=axes=1")
        self.nnc("explain", "sum.onnx", "--value=axes=1")
        self.nnc("bench", "sum.onnx", "--value=axes=1", "--runs=1")
        self.nnc("check", "sum.onnx", "--value=axes=1", "--no-build", said=["x: 2x3x5 of f32"])

    def test_types(self):
        node, kinds = helper.make_node, TensorProto
        for name, dtype, text, want in [
                ("f32", kinds.FLOAT, "-1.5,1e3", [-1.5, 1000]),
                ("f64", kinds.DOUBLE, "0.1,inf", [0.1, np.inf]),
                ("f16", kinds.FLOAT16, "0.1,2", [np.float16(0.1), 2]),
                ("u8", kinds.UINT8, "0,255", [0, 255]), ("i8", kinds.INT8, "-128,127", [-128, 127]),
                ("i64", I64, "-9223372036854775808,7", [-2**63, 7]),
                ("u64", kinds.UINT64, "18446744073709551615,7", [2**64 - 1, 7]),
                ("bool", kinds.BOOL, "true,0", [True, False])]:
            with self.subTest(name):
                self.save(name, model([node("Where", ["c", "k", "x"], ["y"])],
                                      [value("c", [2], kinds.BOOL), value("k", [2], dtype),
                                       value("x", [2], dtype)], [value("y", [2], dtype)]))
                np.save(f"{self.folder}/c.npy", np.ones(2, bool))
                np.save(f"{self.folder}/k.npy",
                        np.zeros(2, helper.tensor_dtype_to_np_dtype(dtype)))
                self.nnc("run", f"{name}.onnx", f"--value=k={text}", "--input=c=c.npy",
                         "--input=x=k.npy", "--output-dir=out")
                got = np.load(f"{self.folder}/out/y.npy")
                np.testing.assert_array_equal(got, np.array(want, got.dtype))

    def test_initial_value_is_replaced(self):
        node = helper.make_node("Mul", ["x", "k"], ["y"])
        self.save("scale", model([node], [value("x", [2]), value("k", [])], [value("y", [2])],
                                 [numpy_helper.from_array(np.float32(2), "k")]))
        np.save(f"{self.folder}/two.npy", np.array([1, 2], np.float32))
        for options, factor in (([], 2), (["--value=k=5"], 5)):
            self.nnc("run", "scale.onnx", *options, "--input=x=two.npy", "--output-dir=out")
            np.testing.assert_array_equal(np.load(f"{self.folder}/out/y.npy"),
                                          [factor, 2 * factor])

    def save_rates(self, condition, made, other="Flatten", where="x"):
        """A branch for each value of an input, of which one fits the shapes of this network."""
        node = helper.make_node
        weights = {name: numpy_helper.from_array(np.ones(shape, np.float32), name)
                   for name, shape in (("w", [5, 4]), ("v", [7, 4]))}

        def branch(name, weight):
            return helper.make_graph([node("MatMul", [where, weight], [name + "_y"], name)], name,
                                     [], [value(name + "_y", [2, 3, 4])], [weights[weight]])
        self.save(made, model(
            [*condition, node("If", ["c"], ["y"], "rates", then_branch=branch("fast", "w"),
                              else_branch=branch("slow", "v"))],
            [value("x", [2, 3, 5]), value("rate", [], I64)], [value("y", [2, 3, 4])]))

    def test_branches_of_other_values(self):
        """A branch that only another value of an input takes need not fit: the message says how
        to leave it out, and that does."""
        node, constants = helper.make_node, {}
        number = lambda name, number: node("Constant", [], [name], value=numpy_helper.from_array(
            np.int64(number), name))
        cases = {
            "equal": ([number("k", 16000), node("Equal", ["rate", "k"], ["c"])], "16000"),
            "vector": ([number("k", 16000), number("shape", 1), node("Equal", ["rate", "k"], ["e"]),
                        node("Cast", ["e"], ["n"], to=I64), node("Cast", ["n"], ["c"],
                                                                 to=TensorProto.BOOL)], "16000"),
            "less": ([number("k", 16000), node("Less", ["rate", "k"], ["c"])], "15999"),
            "cast": ([node("Cast", ["rate"], ["c"], to=TensorProto.BOOL)], "1"),
            "either": ([number("k", 8000), number("l", 16000), node("Equal", ["rate", "k"], ["a"]),
                        node("Equal", ["rate", "l"], ["b"]), node("Not", ["a"], ["n"]),
                        node("And", ["n", "b"], ["c"])], "16000")}
        for name, (condition, wanted) in cases.items():
            with self.subTest(name):
                self.save_rates(condition, name)
                self.nnc("check", f"{name}.onnx", "--no-build", code=USAGE,
                         said=["node 'rates': If has a branch .* in else_branch "
                               f"\\(node 'rates/slow': MatMul .*; .*--value=rate={wanted}$"])
                self.nnc("check", f"{name}.onnx", "--no-build", f"--value=rate={wanted}")
        self.save_rates([number("k", 8), node("Equal", ["rate", "k"], ["e"]),
                         node("Not", ["e"], ["c"])], "not")
        said = self.nnc("check", "not.onnx", "--no-build", "--json", code=USAGE)
        (problem,) = json.loads(said)["problems"]
        self.assertRegex(problem["hint"], "^if the input 'rate' never chooses it, .*--value=rate=")

    def test_branches_of_other_shapes(self):
        """Both branches fit, but give other shapes."""
        node = helper.make_node
        branches = [helper.make_graph([node(op, ["x"], ["z"])], op, [], [
            helper.make_empty_tensor_value_info("z")]) for op in ("Flatten", "Relu")]
        self.save("shapes", model([node("If", ["c"], ["y"], "choice", then_branch=branches[0],
                                        else_branch=branches[1])],
                                  [value("x", [2, 3, 5]), value("c", [], TensorProto.BOOL)],
                                  [helper.make_empty_tensor_value_info("y")]))
        self.nnc("check", "shapes.onnx", "--no-build", code=LACKING,
                 said=["node 'choice': If gives a result of another .*--value=c=1"])
        self.nnc("check", "shapes.onnx", "--no-build", "--value=c=1", said=["y: 2x15 of f32"])
        self.nnc("check", "shapes.onnx", "--no-build", "--value=c=0", said=["y: 2x3x5 of f32"])

    def test_what_is_wrong(self):
        np.save(f"{self.folder}/floats.npy", np.zeros(1, np.float32))
        self.nnc("check", "sum.onnx", "--shape=axes=1", code=LACKING,
                 said=["total.*ReduceSum needs axes .* the input 'axes': pass --value=axes=\\.\\.\\."])
        for given, problem in [
                ("axis=1", "no input 'axis' to give a value to; its inputs are 'x', 'axes'; "
                           "did you mean 'axes'\\?"),
                ("axes=floats.npy", "takes i64 of shape 1, but floats.npy holds f32 of shape 1"),
                ("axes=1,b", "'b' is no number"), ("axes=1.5", "'1.5' is no number"),
                ("axes=9223372036854775808", "is no number of that type"),
                ("x=1,2", "takes f32 of shape 2x3x5, so that --value has to give 30 numbers, not 2"),
                ("axes=no.npy", "cannot read no.npy"), ("axes", "not of the form INPUT=1,2,3")]:
            with self.subTest(given):
                self.nnc("check", "sum.onnx", f"--value={given}", "--no-build", code=USAGE,
                         said=[problem])
        self.nnc("check", "sum.onnx", "--value=axes=1", "--value=axes=2", code=USAGE,
                 said=["two values for input 'axes'"])


if __name__ == "__main__":
    sys.exit(unittest.main())
