"""nnc compress: its models, its report, and what it says of arguments that are wrong."""

import json
import math
import os
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import nnc
from compressed import CHANNELS, MATRICES, WITHOUT, CompressTestCase, network, node, normal
from nnc import LACKING, USAGE, model, value, weights
from stored_sizes import expected_sizes


class Compress(CompressTestCase):
    def test_numbers(self):
        """The report's numbers are those of the weights in the file, and the file runs."""
        before = self.read("network.onnx")
        for options, sparsity, clusters, block in [
                (["--sparsity=0.9", "--clusters=8"], 0.9, 8, 0),
                (["--sparsity=70%"], 0.7, 0, 0),
                (["--clusters=5"], 0, 5, 0),
                (["--clusters=4", "--block=2", "--sparsity=0.5"], 0.5, 4, 2),
                (["--clusters=256"], 0, 256, 0)]:
            with self.subTest(options):
                said = self.compress("network.onnx", *options)
                after = self.read()
                self.assertEqual([layer["name"] for layer in said["layers"]], [*MATRICES])
                for layer in said["layers"]:
                    name = layer["name"]
                    own, matrix = (MATRICES[name](w[name]) for w in (before, after))
                    self.assertEqual((layer["rows"], layer["columns"]), matrix.shape)
                    self.check_sizes(layer, *expected_sizes(matrix, block))
                    error = np.linalg.norm((matrix - own).astype(float)) / np.linalg.norm(
                        own.astype(float))
                    self.assertAlmostEqual(layer["relative_error"], error, 6)
                    dropped = math.floor(sparsity * matrix.size + 0.5)
                    self.assertEqual((matrix == 0).sum(), dropped)
                    limit = np.sort(abs(own), axis=None)[dropped] if dropped else 0
                    self.assertTrue((matrix[abs(own) < limit] == 0).all())
                    step = block or len(matrix)
                    for start in range(0, len(matrix) if clusters else 0, step):
                        self.assertLessEqual(len(np.unique(matrix[start:start + step])), clusters)
                for key, number in said["totals"].items():
                    if key != "sparsity":
                        self.assertEqual(number, sum(
                            layer["dense_bytes" if layer[key] is None else key]
                            for layer in said["layers"]))
                (y,) = self.run_model("small.onnx", {"x": self.x[0]})
                self.assertTrue(np.isfinite(y).all())

    def test_pattern(self):
        before = self.read("network.onnx")
        said = self.compress("network.onnx", "--pattern=2:4")
        self.assertEqual(said["pattern"], "2:4")
        for name, w in self.read().items():
            own, matrix = (MATRICES[name](each).reshape(-1, CHANNELS[name])
                           for each in (before[name], w))
            for start in range(0, matrix.shape[1], 4):
                group, full = matrix[:, start:start + 4], own[:, start:start + 4]
                kept = min(2, group.shape[1])
                self.assertTrue(((group != 0).sum(1) == kept).all())
                largest = np.sort(abs(full), axis=1)[:, -kept:]
                np.testing.assert_array_equal(np.sort(abs(group), axis=1)[:, -kept:], largest)

    def test_nearly_the_same(self):
        """With 256 values a network computes nearly the same; with all of its own exactly."""
        said = self.compress("network.onnx", "--clusters=256", "--calibration=data.npz")
        self.assertEqual((said["samples"], said["metric"]), (8, "agreement of argmax"))
        outputs = [np.concatenate([self.run_model(name, {"x": x})[0] for x in self.x])
                   for name in ("network.onnx", "small.onnx")]
        same = (outputs[0].argmax(1) == outputs[1].argmax(1)).mean()
        self.assertAlmostEqual(said["compressed_metric"], same, 6)
        self.assertAlmostEqual(said["drop"], 1 - same, 6)
        difference = outputs[0] - outputs[1]
        noise = -20 * math.log10(np.linalg.norm(difference) / np.linalg.norm(outputs[0]))
        self.assertAlmostEqual(said["outputs"][0]["sqnr_db"], noise, 2)
        self.assertGreater(noise, 25)

    def test_metadata(self):
        """A second run keeps what the first one says of weights that it leaves."""
        self.compress("network.onnx", "--clusters=4", "--sparsity=0.5")
        (self.folder / "small.onnx").rename(self.folder / "first.onnx")
        first = self.read("first.onnx")
        said = self.compress("first.onnx", "--pattern=1:4", "--exclude=hidden")
        self.assertEqual([(each["name"], each["reason"]) for each in said["left"]],
                         [("w4", "excluded by the command line")])
        np.testing.assert_array_equal(self.read()["w4"], first["w4"])
        (remark,) = onnx.load(self.folder / "small.onnx").metadata_props
        self.assertEqual(remark.key, "nnc.compression")
        remarks = json.loads(remark.value)
        self.assertEqual(set(remarks), set(MATRICES))
        self.assertEqual(remarks["w4"], {"clusters": 4, "block": 0, "sparsity": 0.5})
        self.assertEqual(remarks["w5"]["pattern"], "1:4")
        self.assertEqual(remarks["w5"]["clusters"], 0)
        self.nnc("verify", "small.onnx", "--random=1")

    def test_bad_metadata(self):
        """What an earlier run cannot have written is a warning, however it is made."""
        own = network()
        entry = own.metadata_props.add()
        entry.key = "nnc.compression"
        for text, why in [("[" * 100000, "nested more than 128 levels"),
                          ('{"a":' * 100000, "nested more than 128 levels"),
                          ('{"w5": ', "EOF"), ("[]", "are no object of JSON; "),
                          ('"' + "[" * 1000 + '"', "are no object of JSON; "),
                          ("[" * 128 + "]" * 128, "are no object of JSON; "),
                          (" " * (64 << 20) + "{}", "67108866 bytes, more than the")]:
            with self.subTest(text[:9], why=why):
                entry.value = text
                self.save("bad", own)
                said = self.compress("bad.onnx", "--clusters=4")
                (problem,) = said["problems"]
                self.assertEqual((problem["severity"], problem["file"]), ("warning", "bad.onnx"))
                self.assertRegex(problem["message"], f"nnc.compression.*{why}")
                (remark,) = onnx.load(self.folder / "small.onnx").metadata_props
                self.assertEqual(set(json.loads(remark.value)), set(MATRICES))
        # Brackets within a string are none.
        entry.value = json.dumps({"old": {"clusters": 4, "\"[{": "[" * 1000 + "\\"}})
        self.save("good", own)
        self.assertEqual(self.compress("good.onnx", "--clusters=4")["problems"], [])
        (remark,) = onnx.load(self.folder / "small.onnx").metadata_props
        self.assertEqual(set(json.loads(remark.value)), {*MATRICES, "old"})

    def test_drop(self):
        """The drop is at most what is allowed, with as much left as is needed."""
        self.save("regression", model(
            [node("MatMul", ["x", "w1"], ["a"], "one"), node("Relu", ["a"], ["b"], "relu"),
             node("MatMul", ["b", "w2"], ["c"], "two"), node("Relu", ["c"], ["d"], "relu2"),
             node("MatMul", ["d", "w3"], ["y"], "three")],
            [value("x", [2, 5, 20])], [value("y", [2, 5, 30])],
            [normal("w1", 20, 40), normal("w2", 40, 40, seed=2), normal("w3", 40, 30, seed=3)]))
        x = np.random.default_rng(3).standard_normal((6, 2, 5, 20)).astype(np.float32)
        np.savez(self.folder / "x.npz", x=x)

        def drop():
            own, small = (np.concatenate([self.run_model(name, {"x": each})[0] for each in x])
                          for name in ("regression.onnx", "small.onnx"))
            return np.linalg.norm(own - small) / np.linalg.norm(own)
        given = ["regression.onnx", "--calibration=x.npz"]
        seen = set()
        for allowed in 1, 0.4, 0.25, 0.1, 0.02, 0:
            for options in ["--clusters=4"], ["--sparsity=0.5", "--clusters=8"], ["--sparsity=0.4"]:
                with self.subTest(allowed=allowed, options=options):
                    said = self.compress(*given, *options, f"--max-drop={allowed}")
                    self.assertEqual(said["metric"], "relative L2 error")
                    self.assertLessEqual(said["drop"], allowed)
                    self.assertAlmostEqual(said["drop"], drop(), 5)
                    for layer in said["layers"]:
                        seen.add((layer["compressed"], layer["clusters"]))
                        if not layer["compressed"]:
                            self.assertEqual(layer["relative_error"], 0)
                    own = all(not layer["compressed"] for layer in said["layers"])
                    self.assertEqual(own, any("all weights stay" in problem["message"]
                                              for problem in said["problems"]))
                    self.assertTrue(own or allowed > 0)
        # The search has left weights alone, given them more values, and neither.
        self.assertLessEqual({(True, 4), (True, 256), (False, 0), (True, 0)}, seen)

    def test_metric(self):
        """A metric alone is enough for a search: here the number of zeros."""
        script = self.folder / "zeros.py"
        script.write_text("import onnx, sys\nfrom onnx import numpy_helper\n"
                          "tensors = onnx.load(sys.argv[1]).graph.initializer\n"
                          "print(1000 - sum((numpy_helper.to_array(t) == 0).sum() "
                          "for t in tensors))\n")
        said = self.compress("network.onnx", "--sparsity=0.5", "--max-drop=30%",
                             f"--metric={sys.executable} {script}")
        zeros = sum((w == 0).sum() for w in self.read().values())
        self.assertAlmostEqual(said["drop"], zeros / 1000)
        self.assertLessEqual(zeros, 300)
        self.assertGreater(zeros, 0)
        self.assertGreater(said["evaluated"], 1)

    def test_shared_and_left(self):
        """Weights that nodes share, that are read otherwise, and of other kinds."""
        hole = np.ones((3, 3), np.float32)
        hole[1, 2] = np.nan
        self.save("shared", model(
            [node("MatMul", ["x", "w"], ["a"], "one"), node("MatMul", ["a", "w"], ["b"], "two"),
             node("MatMul", ["b", "table"], ["c"], "three"),
             node("Add", ["c", "table"], ["d"], "add"),
             node("MatMul", ["d", "hole"], ["e"], "four"),
             node("MatMul", ["left", "e"], ["y"], "five")],
            [value("x", [3, 3])], [value("y", [5, 3])],
            [weights("w", 3, 3), weights("table", 3, 3), normal("left", 5, 3),
             numpy_helper.from_array(hole, "hole")]))
        said = self.compress("shared.onnx", "--clusters=2")
        self.assertEqual([(layer["name"], layer["nodes"]) for layer in said["layers"]],
                         [("w", ["one", "two"]), ("left", ["five"])])
        self.assertEqual([each["name"] for each in said["left"]], ["table", "hole"])
        self.assertIn("node 'add' (Add) reads it", said["left"][0]["reason"])
        (problem,) = said["problems"]
        self.assertRegex(problem["message"], "'hole' of node 'four' .*not finite")
        self.assertEqual(len(np.unique(self.read()["w"])), 2)

    def test_behind_views(self):
        """Weights that Transpose, Reshape and the like turn are those of the layer behind."""
        def floats(name, *shape):
            return normal(name, *shape, seed=len(name) + shape[0])

        def whole(name, *values):
            return numpy_helper.from_array(np.array(values, np.int64), name)
        self.save("views", model(
            [node("Transpose", ["t"], ["t1"], "turn"), node("Identity", ["t1"], ["t2"], "same"),
             node("MatMul", ["x", "t2"], ["a"], "one"),
             node("Reshape", ["r", "sizes"], ["r1"], "shape"),
             node("MatMul", ["a", "r1"], ["b"], "two"),
             node("Constant", [], ["u"], "u", value=floats("", 1, 5, 1, 6)),
             node("Squeeze", ["u", "axes"], ["u1"], "squeeze"),
             node("Gemm", ["b", "u1"], ["c"], "three"),
             node("Flatten", ["f"], ["f1"], "flat", axis=2),
             node("Unsqueeze", ["f1", "front"], ["f2"], "front"),
             node("Unsqueeze", ["c", "front"], ["c1"], "batch"),
             node("MatMul", ["c1", "f2"], ["d"], "four"),
             node("Transpose", ["k"], ["k1"], "kernel", perm=[2, 0, 1]),
             node("Conv", ["d", "k1"], ["y"], "five")],
            [value("x", [3, 8])], [value("y", None)],
            [floats("t", 12, 8), floats("r", 6, 10), whole("sizes", 0 + 12, -1),
             whole("axes", 0, -2), floats("f", 3, 2, 9), whole("front", 0),
             floats("k", 3, 2, 4)]))
        x = normal("x", 3, 8)
        said = self.compress("views.onnx", "--clusters=256")
        self.assertEqual([(layer["name"], layer["rows"], layer["columns"])
                          for layer in said["layers"]],
                         [("t", 12, 8), ("r", 5, 12), ("u", 6, 5), ("f", 9, 6), ("k", 4, 6)])
        self.assertEqual(said["left"], [])
        left = [each.op_type for each in onnx.load(self.folder / "small.onnx").graph.node]
        self.assertEqual(left, ["MatMul", "MatMul", "Constant", "Gemm", "Unsqueeze", "MatMul",
                                "Conv"])
        feed = {"x": numpy_helper.to_array(x)}
        # No weight changes: none has more than 256 values.
        np.testing.assert_array_equal(*(self.run_model(name, feed)[0]
                                        for name in ("views.onnx", "small.onnx")))
        self.compress("views.onnx", "--sparsity=0.5")
        self.assertEqual((self.read()["t"] == 0).mean(), 0.5)
        self.nnc("verify", "small.onnx", "--random=1")
        # Views stay where they are excluded.
        said = self.compress("views.onnx", "--clusters=4", "--exclude=turn", "--exclude=two")
        self.assertEqual({each["name"]: each["reason"] for each in said["left"]},
                         dict.fromkeys("tr", "excluded by the command line"))

    def test_left(self):
        """Weights that stay as they are for a reason that is not in their layer."""
        def body(operand, constants, name):
            return helper.make_graph(
                [node("Transpose", [constants[0].name if constants else operand], [name + "t"]),
                 node("MatMul", ["x", name + "t"], [name], name + "m")],
                name, [], [value(name, None)], constants)
        half = numpy_helper.from_array(np.ones((6, 6), np.float16), "half")
        nodes = {
            "mask": [node("Mul", ["w", "m"], ["p"], "mask"),
                     node("MatMul", ["x", "p"], ["y"], "layer")],
            "half": [node("Cast", ["half"], ["p"], "cast", to=TensorProto.FLOAT),
                     node("MatMul", ["x", "p"], ["y"], "layer")],
            "shared": [node("Transpose", ["w"], ["p"], "turn"), node("Relu", ["w"], ["q"], "relu"),
                       node("MatMul", ["x", "p"], ["a"], "layer"),
                       node("Add", ["a", "q"], ["y"], "add")],
            "einsum": [node("Einsum", ["x", "w"], ["y"], "layer", equation="ij,jk->ik")],
            "if": [node("ReduceMax", ["x"], ["a"], "max", keepdims=0),
                   node("Greater", ["a", "zero"], ["c"], "greater"),
                   node("If", ["c"], ["y"], "branches",
                        then_branch=body("w", [], "then"),
                        else_branch=body("", [normal("own", 6, 6)], "else"))]}
        wanted = {
            "mask": ("w", "layer", r"node 'mask' \(Mul\) computes from it"),
            "half": ("half", "layer", r"node 'cast' \(Cast\) computes from it"),
            "shared": ("w", "layer", r"node 'relu' \(Relu\) reads it, too, beside node 'turn'"),
            "einsum": ("w", "layer", "nnc compresses the weights of Conv, "),
            "if": ("w", "thenm", r"a body of node 'branches' \(If\) reads it")}
        for kind, (name, layer, reason) in wanted.items():
            with self.subTest(kind):
                constants = [normal("w", 6, 6), normal("m", 6, 6, seed=2), half,
                             numpy_helper.from_array(np.float32(0), "zero")]
                read = {operand for each in nodes[kind] for operand in each.input}
                read |= {"w"} if kind == "if" else set()
                constants = [each for each in constants if each.name in read]
                self.save("only", model(nodes[kind], [value("x", [6, 6])], [value("y", None)],
                                        constants))
                self.refuse("--clusters=4", model="only.onnx", code=LACKING,
                            said=["has no weights that can be compressed",
                                  f"'{name}' of \\w+ '{layer}' stays as it is: {reason}"])
                self.save("beside", model(
                    [*nodes[kind], node("MatMul", ["y", "v"], ["z"], "good")],
                    [value("x", [6, 6])], [value("z", None)], [*constants, normal("v", 6, 6)]))
                said = self.compress("beside.onnx", "--clusters=4")
                self.assertEqual([each["name"] for each in said["layers"]], ["v"])
                found = {each["name"]: each for each in said["left"]}
                self.assertEqual(sorted(found), ["own", name] if kind == "if" else [name])
                self.assertEqual(found[name]["node"], layer)
                self.assertRegex(found[name]["reason"], reason)

    def test_open_shapes(self):
        """What runs no sample needs no shapes; what runs some says how to give them."""
        own = network()
        own.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
        own.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "N"
        self.save("open", own)
        script = self.folder / "one.py"
        script.write_text("print(1)\n")
        for options in ["--clusters=4"], ["--pattern=2:4", f"--metric={sys.executable} {script}", "--max-drop=1%"]:
            said = self.compress("open.onnx", *options)
            self.assertEqual((said["problems"], len(said["layers"])), ([], 5))
        np.testing.assert_array_equal(
            *(self.run_model(name, {"x": self.x[0]})[0].shape
              for name in ("open.onnx", "small.onnx")))
        (self.folder / "small.onnx").unlink()
        own.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "H"
        self.save("open", own)
        self.refuse("--clusters=4", "--calibration=data.npz", model="open.onnx",
                    said=["'x' has open dimensions: pass --shape x=",
                          "nnc compress open.onnx --shape x=1x6x224x8$"])
        self.compress("open.onnx", "--clusters=4", "--calibration=data.npz", "--shape=x=4x6x8x8")
        # All else that is wrong with a model is found nevertheless.
        own.graph.node[1].op_type = "Relux"
        self.save("wrong", own)
        self.nnc("compress", "wrong.onnx", "--clusters=4", *self.to, code=nnc.BROKEN,
                 said=["no operator 'Relux'; did you mean 'Relu'"])

    def test_negative_zeros(self):
        """The zeros of a mask, of which some are negative, become the same zero."""
        w = numpy_helper.to_array(normal("w", 40, 30))
        masked = w * (abs(w) > 1)
        self.assertTrue(np.signbit(masked[masked == 0]).any())
        self.save("masked", model([node("MatMul", ["x", "w"], ["y"], "m")], [value("x", [3, 40])],
                                  [value("y", [3, 30])], [numpy_helper.from_array(masked, "w")]))
        x = np.random.default_rng(3).standard_normal((50, 3, 40)).astype(np.float32)
        np.savez(self.folder / "x.npz", x=x)
        for options in ["--sparsity=0.3"], ["--clusters=8"], ["--pattern=2:4"], [
                "--clusters=8", "--calibration=x.npz"], ["--sparsity=0.8", "--calibration=x.npz"]:
            with self.subTest(options):
                self.compress("masked.onnx", *options)
                after = self.read()["w"]
                self.assertTrue((after[masked == 0] == 0).all())
                self.assertFalse(np.signbit(after[after == 0]).any())

    def test_unchanged(self):
        """A run that changes nothing, or too much, says so."""
        self.compress("network.onnx", "--clusters=4", "--sparsity=0.5")
        (self.folder / "small.onnx").rename(self.folder / "first.onnx")
        said = self.compress("first.onnx", "--clusters=4", "--sparsity=0.5")
        self.assertRegex(said["problems"][0]["message"], "^all weights stay as they were: they have")
        said = self.compress("network.onnx", "--clusters=256", "--sparsity=99.5%")
        self.assertEqual([problem["message"] for problem in said["problems"]],
                         ["weights 'w2' of node 'depthwise' (Conv) all become zero; give a lower "
                          "--sparsity, or leave the node out with --exclude=depthwise"])

    def test_output(self):
        """Neither an input nor a file that looks like another format is written."""
        for output in "network.onnx", "./network.onnx", "../" + self.folder.name + "/network.onnx":
            self.refuse("--clusters=4", "-o", output, said=["network.onnx is a file that this command reads"])
        os.link(self.folder / "network.onnx", self.folder / "link.onnx")
        self.refuse("--clusters=4", "-o", "link.onnx", said=["link.onnx is a file that this command reads"])
        self.refuse("--clusters=4", "--calibration=data.npz", "-o", "data.npz",
                    said=["data.npz is a file that this command reads"])
        for output, kind in ("x.tflite", "TFLite"), ("x.onnxtxt", "ONNX as text"):
            self.refuse("--clusters=4", "-o", output, said=[f"binary ONNX, not as {kind}; give"])
        onnx.save(network(), self.folder / "apart.onnx", save_as_external_data=True,
                  location="apart.bin", size_threshold=0)
        self.refuse("--clusters=4", "-o", "apart.bin", model="apart.onnx",
                    said=["apart.bin is a file that this command reads"])

    def test_tflite(self):
        """TFLite models are told from damaged ones."""
        (self.folder / "good.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(99))
        self.refuse("--clusters=4", model="good.tflite", said=[
            "of a TFLite model nnc compress writes a module of its own"])
        self.nnc("compress", "good.tflite", "--clusters=4", "-o", "small.mlir",
                 code=nnc.BROKEN, said=["^good.tflite: error: "])
        self.nnc("quantize", "good.tflite", "--calibration=data.npz", "-o", "int8.onnx",
                 code=USAGE, said=["of a TFLite model nnc quantize writes a module of its own"])
        self.nnc("quantize", "good.tflite", "--calibration=data.npz", "-o", "int8.mlir",
                 code=nnc.BROKEN, said=["^good.tflite: error: "])
        for command in "compress", "quantize":
            self.nnc(command, "--help", said=["MODEL +The model: ONNX .*TFLite "])

    def test_folded(self):
        """Values stay shared behind a batch norm, which is folded before."""
        scale = np.linspace(0.5, 2, 4, dtype=np.float32)
        norm = {"s": scale, "b": scale - 1, "m": scale - 1, "v": scale ** 2}
        self.save("norm", model(
            [node("Conv", ["x", "w"], ["c"], "conv1"),
             node("BatchNormalization", ["c", *norm], ["y"], "norm1")],
            [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 8, 8])],
            [weights("w", 4, 3, 1, 1)] + [numpy_helper.from_array(a, n) for n, a in norm.items()]))
        said = self.compress("norm.onnx", "--clusters=12")
        self.assertEqual((said["folded"], said["layers"][0]["relative_error"]), (1, 0))
        x = np.random.default_rng(5).standard_normal((1, 3, 8, 8)).astype(np.float32)
        np.testing.assert_allclose(*(self.run_model(name, {"x": x})[0]
                                     for name in ("norm.onnx", "small.onnx")), 1e-5, 1e-5)

    def test_recurrent(self):
        x = np.random.default_rng(6).standard_normal((5, 2, 7)).astype(np.float32)
        np.savez(self.folder / "x.npz", x=x[None])
        self.save("lstm", model(
            [node("LSTM", ["x", "w", "r"], ["y"], "lstm", hidden_size=6)], [value("x", [5, 2, 7])],
            [value("y", [5, 1, 2, 6])], [normal("w", 1, 24, 7), normal("r", 1, 24, 6)]))
        said = self.compress("lstm.onnx", "--clusters=4", "--max-drop=20%", "--calibration=x.npz")
        self.assertEqual([layer["rows"] for layer in said["layers"]], [24, 24])
        self.assertLessEqual(said["drop"], 0.2)
        self.assertTrue(np.isfinite(self.run_model("small.onnx", {"x": x})[0]).all())

    def test_report(self):
        self.nnc("compress", "network.onnx", "--clusters=4", "--sparsity=0.5", *self.to,
                 "--calibration=data.npz", "--max-drop=100%", env=WITHOUT, said=[
                     r"^weights +op +elements +zeros +values +entropy +dense +codebook +CSR +Huff",
                     r"^w1 +Conv +486 +5\d.\d % +4 .*0\.\d+ +0\.\d+$", "^y +",
                     r"^small.onnx: 1437 weights of 5 layers",
                     "^agreement of argmax: ", "^1 model was evaluated$"])

    def test_arguments(self):
        """All that is wrong with the arguments, in one run."""
        (self.folder / "folder").mkdir()
        self.refuse(said=["nothing to do; give --sparsity, --pattern or --clusters"])
        self.refuse("--sparsity=0.5", "--pattern=2:4", "--block=3", "--max-drop=1%", "-o", "folder",
                    said=["--sparsity and --pattern both", "--block needs --clusters",
                          "--max-drop needs --calibration or --metric", "folder is a folder"])
        self.refuse("--sparsity=100%", said=["--sparsity: with all weights zero .*below 100%"])
        self.refuse("--clusters=257", "--pattern=4:2", "--sparsity=2", "--block=0",
                    said=["--clusters: .*257", "4:2 is no pattern", "2 is no share", "--block: "])
        self.refuse("--clusters=4", "--exclude=heat", "--exclude=conv2",
                    said=["has no node 'heat'; did you mean 'head'", "has no node 'conv2'"])
        self.refuse("--clusters=4", "--calibration=no.npz", said=["no.npz: there is no such file"])
        np.savez(self.folder / "wrong.npz", z=self.x)
        self.refuse("--clusters=4", "--calibration=wrong.npz", said=["no input 'z'", "no array for"])
        self.refuse("--clusters=4", "-o", "/dev/full", code=nnc.ENVIRONMENT, said=["No space left"])

    def test_models(self):
        """A model without weights, one of other floats, and one that is torn."""
        self.save("relu", model([node("Relu", ["x"], ["y"], "r")], [value("x", [3])],
                                [value("y", [3])]))
        self.refuse("--clusters=4", model="relu.onnx", code=LACKING,
                    said=["relu.onnx: error: has no weights that can be compressed"])
        half = numpy_helper.from_array(np.ones((3, 3), np.float16), "w")
        self.save("half", model(
            [node("MatMul", ["x", "w"], ["y"], "m")], [value("x", [3, 3], TensorProto.FLOAT16)],
            [value("y", [3, 3], TensorProto.FLOAT16)], [half]))
        self.refuse("--clusters=4", model="half.onnx", code=LACKING, said=["type FLOAT16, .*convert the model to 32-bit floats"])
        (self.folder / "torn.onnx").write_bytes((self.folder / "network.onnx").read_bytes()[:99])
        self.refuse("--clusters=4", model="torn.onnx", code=nnc.BROKEN, said=["^torn.onnx: error: "])


if __name__ == "__main__":
    sys.exit(unittest.main())
