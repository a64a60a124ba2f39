"""nnc quantize: its report, and what it says of data and arguments that are wrong."""

import json
import os
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import LACKING, USAGE, model, network, value, weights

QUICK = "--compiler=c++ -O1"
# Without a compiler the small models are evaluated, which takes less time.
WITHOUT = {**os.environ, "CXX": "none"}


def images(count=4):
    return np.random.default_rng(0).standard_normal((count, 3, 8, 8)).astype(np.float32)


def two_inputs():
    node = helper.make_node
    return model(
        [node("Conv", ["x", "w"], ["c"], "conv1"), node("Gather", ["c", "i"], ["g"], axis=1),
         node("Conv", ["g", "k"], ["y"], "conv2")],
        [value("x", [1, 3, 8, 8]), value("i", [2], TensorProto.INT64)],
        [value("y", [1, 2, 8, 8])], [weights("w", 4, 3, 1, 1), weights("k", 2, 2, 1, 1)])


class Quantize(nnc.TestCase):
    def setUp(self):
        super().setUp()
        np.savez(self.folder / "data.npz", x=images())
        self.to = ["-o", "int8.onnx"]

    def quantize(self, *arguments, **how):
        return self.nnc("quantize", *arguments, **{"env": WITHOUT, **how})

    def refuse(self, *arguments, said, code=USAGE, model="network.onnx"):
        """Fails with all of these messages in one run, and writes nothing."""
        before = self.names()
        to = [] if "-o" in arguments else self.to
        text = self.quantize(model, *to, *arguments, code=code, said=said)
        self.assertEqual(self.names(), before)
        return text

    def test_report(self):
        self.nnc("quantize", "network.onnx", "--calibration=data.npz", QUICK, *self.to, said=[
            r"^layer +op +low +high +scale +zero +SQNR \(dB\)$", "^conv1 +Conv +0 +", "^dense1 +Gemm",
            "^output +largest error", r"^y .* 4 of 4$",
            "^int8.onnx: 4 layers quantized, .* by minmax of 4 samples, activations s8, in ",
            "^agreement of argmax: 1 instead of 1, a drop of 0 %$"])
        onnx.checker.check_model(onnx.load(self.folder / "int8.onnx"), full_check=True)

    def test_json(self):
        said = json.loads(self.nnc("quantize", "network.onnx", "--calibration=data.npz", "--json",
                                   "--exclude=dense1", "--method=entropy", QUICK, *self.to))
        self.assertEqual((said["ok"], said["problems"], said["samples"]), (True, [], 4))
        self.assertEqual([layer["name"] for layer in said["layers"]],
                         ["conv1", "pool1", "flatten1"])
        for layer in said["layers"]:
            self.assertEqual({*layer}, {"name", "op", "output", "low", "high", "scale",
                                        "zero_point", "sqnr_db"})
        self.assertEqual(said["float_layers"], [{"name": "dense1", "op": "Gemm",
                                                 "reason": "excluded by the command line"}])
        self.assertEqual([o["name"] for o in said["outputs"]], ["y"])
        self.assertLess(said["bytes"], 10 * said["float_bytes"])

    def test_mixed(self):
        """The estimates are in the text and in JSON."""
        mixed = ["network.onnx", "--calibration=data.npz", "--mixed", "--max-drop=50%", *self.to,
                 "--target=x86-64-v3"]
        self.quantize(*mixed, said=[
            r"^on target x86-64-v3 it is estimated to take .* us, the float model .* us, with "
            r"all layers quantized .* us; \d+ layers stay float because integers are slower$"])
        said = json.loads(self.quantize(*mixed, "--json"))
        self.assertEqual({*said["time_estimate"]}, {"target", "float_us", "int8_us", "us"})
        for layer in said["layers"]:
            self.assertLessEqual({"float_us", "int8_us"}, {*layer})

    def test_ops(self):
        said = json.loads(self.quantize("network.onnx", "--calibration=data.npz", "--json",
                                   "--ops=Conv,MatMul", *self.to))
        self.assertEqual([layer["op"] for layer in said["layers"]], ["Conv"])
        self.refuse("--calibration=data.npz", "--ops=Conv,Gem",
                    said=["--ops: nnc quantizes no operator Gem; did you mean 'Gemm'"])
        self.refuse("--calibration=data.npz", "--ops=Concat", code=LACKING,
                    said=["network.onnx: error: .*has no layer that can be quantized"])

    def test_forms_of_data(self):
        """The same samples in all forms give the same model."""
        x = images(3)
        many = self.folder / "many"
        arrays = self.folder / "arrays"
        many.mkdir()
        arrays.mkdir()
        np.savez_compressed(many / "a.npz", x=x[:1])
        np.savez(many / "b.npz", x=x[1:])
        (many / "notes.txt").write_text("no samples")
        for i in range(3):
            np.save(arrays / f"{i}.npy", x[i:i + 1])
        np.savez(self.folder / "axis.npz", x=x[:, None])
        np.save(self.folder / "one.npy", x)
        written = set()
        for data in "many", "arrays", "axis.npz", "one.npy":
            said = json.loads(self.quantize("network.onnx", f"--calibration={data}",
                                       "--json", *self.to))
            self.assertEqual(said["samples"], 3)
            written.add((self.folder / "int8.onnx").read_bytes())
        self.assertEqual(len(written), 1)

    def test_several_inputs(self):
        self.save("two", two_inputs())
        np.savez(self.folder / "two.npz", x=images(5), i=np.tile(np.int64([0, 3]), (5, 1)))
        said = json.loads(self.quantize("two.onnx", "--calibration=two.npz", "--json",
                                   *self.to))
        self.assertEqual([layer["name"] for layer in said["layers"]], ["conv1", "conv2"])
        np.save(self.folder / "x.npy", images(1))
        self.refuse("--calibration=x.npy", model="two.onnx",
                    said=["x.npy holds one array, but the model has 2 inputs; write .npz files"])
        np.savez(self.folder / "uneven.npz", x=images(5), i=np.int64([[0, 3], [0, 1]]))
        self.refuse("--calibration=uneven.npz", model="two.onnx",
                    said=["uneven.npz holds 2 samples of input 'i', but 5 of those before it"])

    def test_wrong_data(self):
        """All that is wrong with all files, in one run."""
        bad = self.folder / "bad"
        bad.mkdir()
        np.savez(bad / "name.npz", X=images())
        np.savez(bad / "shape.npz", x=images()[:, :, :7])
        np.savez(bad / "type.npz", x=images().astype(np.float64))
        np.savez(bad / "none.npz", x=images()[:0])
        np.savez(bad / "more.npz", x=images(), z=images())
        holes = images()
        holes[1, 2, 3, 4] = np.nan
        np.savez(bad / "nan.npz", x=holes)
        holes[1, 2, 3, 4] = -np.inf
        np.savez(bad / "inf.npz", x=holes)
        whole = (self.folder / "data.npz").read_bytes()
        (bad / "short.npz").write_bytes(whole[:len(whole) // 2])
        flipped = bytearray(whole)
        flipped[500] ^= 1
        (bad / "flipped.npz").write_bytes(flipped)
        (bad / "text.npz").write_text("no archive")
        (bad / "empty.npy").write_bytes(b"")
        self.refuse("--calibration=bad", said=[
            "^nnc: error: bad/name.npz has an array 'X': the model has no input 'X'; it has x",
            "^nnc: error: bad/name.npz has no array for input 'x'; it needs 1x3x8x8 of f32",
            "^nnc: error: bad/shape.npz: array 'x' is 4x3x7x8 of f32; the model wants 1x3x8x8",
            "^nnc: error: bad/type.npz: array 'x' is 4x3x8x8 of f64; the model wants .* of f32",
            "^nnc: error: bad/none.npz: array 'x' is empty",
            "^nnc: error: bad/more.npz has an array 'z': the model has no input 'z'",
            "^nnc: error: bad/nan.npz: array 'x' holds NaN at element 348",
            "^nnc: error: bad/inf.npz: array 'x' holds an infinite value at element 348",
            "^nnc: error: bad/short.npz is damaged or truncated",
            "^nnc: error: bad/flipped.npz is damaged: the array x.npy has not the bytes",
            "^nnc: error: bad/text.npz is damaged or truncated",
            "^nnc: error: bad/empty.npy is not a .npy file"])

    def test_no_data(self):
        (self.folder / "empty").mkdir()
        self.refuse("--calibration=empty", said=["empty holds no .npz or .npy files"])
        self.refuse("--calibration=network.onnx",
                    said=["network.onnx is neither a folder nor a .npz or .npy file"])
        np.savez(self.folder / "nothing.npz")
        self.refuse("--calibration=nothing.npz", said=["has no array for input 'x'"])

    def test_arguments(self):
        """All that is wrong with the arguments, in one run."""
        self.quantize("network.onnx", code=USAGE,
                 said=["--output is required", "--calibration is required"])
        (self.folder / "folder").mkdir()
        self.refuse("--calibration=nowhere", "--percentile=99", "--mixed", "-o", "folder",
                    said=["--percentile needs --method=percentile",
                          "-o: folder is a folder; give a file",
                          "--calibration: nowhere: there is no such file"])
        for output, why in [("data.npz", "is a file that this command reads"), ("network.onnx", "is a file that this command reads"),
                            ("out.tflite", "written as binary ONNX, not as TFLite")]:
            self.refuse("--calibration=data.npz", "-o", output, said=[f"-o: .*{why}"])
        self.refuse("--calibration=data.npz", "-o", "no/where.onnx",
                    said=["-o: there is no folder no"])
        self.refuse("--calibration=data.npz", "--method=minimax", "--max-drop=lots",
                    "--activations=i8", "--percentile=9",
                    said=["--method: minimax .*did you mean 'minmax'", "lots is no share",
                          "--activations: i8", "--percentile: .*9"])
        self.refuse("--calibration=data.npz", "--exclude=convl", "--exclude=pool",
                    said=["--exclude: network.onnx has no node 'convl'; did you mean 'conv1'",
                          "--exclude: network.onnx has no node 'pool'"])
        self.refuse("--calibration=data.npz", "--target=aarch64",
                    said=["--target needs --mixed"])
        self.refuse("--calibration=data.npz", "--mixed", "--max-drop=1%", "--target=aarch46",
                    said=["--target: .*did you mean 'aarch64'"])
        self.refuse("--calibration=data.npz", "--compiler=no-such-compiler",
                    said=["there is no program no-such-compiler"])

    def test_full_disk(self):
        self.refuse("--calibration=data.npz", "-o", "/dev/full", code=nnc.ENVIRONMENT,
                    said=["cannot write /dev/full: No space left"])

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_unwritable(self):
        (self.folder / "locked").mkdir(mode=0o555)
        self.refuse("--calibration=data.npz", "-o", "locked/out.onnx",
                    said=["-o: cannot write to locked"])

    def test_models(self):
        """A quantized model, one without layers, and one that computes NaN."""
        self.quantize("network.onnx", "--calibration=data.npz", *self.to)
        self.refuse("--calibration=data.npz", "-o", "other.onnx", model="int8.onnx",
                    said=["int8.onnx is quantized already: its node '"])
        node = helper.make_node
        self.save("relu", model([node("Sigmoid", ["x"], ["y"], "s")], [value("x", [1, 3, 8, 8])],
                                [value("y", [1, 3, 8, 8])]))
        self.refuse("--calibration=data.npz", model="relu.onnx", code=LACKING,
                    said=["relu.onnx: error: has no layer that can be quantized"])
        self.save("roots", model(
            [node("Sqrt", ["x"], ["r"], "root"), node("Conv", ["r", "w"], ["y"], "conv1")],
            [value("x", [1, 3, 8, 8])], [value("y", [1, 4, 8, 8])], [weights("w", 4, 3, 1, 1)]))
        self.refuse("--calibration=data.npz", model="roots.onnx",
                    said=[r"tensor 'r' of node 'root' \(Sqrt\) holds NaN in sample data.npz\[0\]"])
        (self.folder / "torn.onnx").write_bytes((self.folder / "network.onnx").read_bytes()[:99])
        self.refuse("--calibration=data.npz", model="torn.onnx", code=nnc.BROKEN,
                    said=["^torn.onnx: error: "])

    def test_ranges_that_are_none(self):
        """Tensors of zeros and of infinite values stay float, with a warning."""
        node = helper.make_node
        low = numpy_helper.from_array(np.float32(-np.inf), "low")
        zero = numpy_helper.from_array(np.zeros((4, 3, 1, 1), np.float32), "nothing")
        self.save("odd", model(
            [node("Conv", ["x", "nothing"], ["z"], "dead"),
             node("Less", ["x", "limit"], ["less"], "less"),
             node("Where", ["less", "low", "x"], ["m"], "mask"),
             node("MaxPool", ["m"], ["p"], "pool", kernel_shape=[8, 8]),
             node("Conv", ["m", "w"], ["i"], "infinite"),
             node("Relu", ["i"], ["j"], "relu"),
             node("Conv", ["x", "v"], ["y"], "alive")],
            [value("x", [1, 3, 8, 8])],
            [value("y", [1, 2, 8, 8]), value("z", [1, 4, 8, 8]), value("p", [1, 3, 1, 1])],
            [numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w"),
             weights("v", 2, 3, 1, 1), zero, low,
             numpy_helper.from_array(np.float32(-1), "limit")]))
        said = json.loads(self.quantize("odd.onnx", "--calibration=data.npz", "--json",
                                   *self.to))
        self.assertEqual([layer["name"] for layer in said["layers"]], ["alive"])
        warnings = " ".join(problem["message"] for problem in said["problems"])
        self.assertRegex(warnings, r"tensor 'z' of node 'dead' \(Conv\) is 0 in all samples")
        reasons = {layer["name"]: layer["reason"] for layer in said["float_layers"]}
        self.assertIn("'z' has no range", reasons["dead"])

    def test_metric(self):
        def script(name, text):
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
            return f"--metric={path}"
        for metric, problem in [(script("words", "echo good"), "printed 'good' last, which is not"),
                                (script("fails", "echo why >&2; exit 3"), "fails failed: why"),
                                ("--metric=no-such-metric", "there is no program no-such-metric")]:
            self.refuse("--calibration=data.npz", metric, said=[problem])

    def test_external_data(self):
        """Weights beside the model become a part of the new one."""
        onnx.save(network(), self.folder / "apart.onnx", save_as_external_data=True,
                  location="apart.bin", size_threshold=0)
        self.quantize("apart.onnx", "--calibration=data.npz", *self.to)
        apart = onnx.load(self.folder / "int8.onnx", load_external_data=False)
        self.assertFalse([t.name for t in apart.graph.initializer if t.data_location])
        self.quantize("network.onnx", "--calibration=data.npz", "-o", "whole.onnx")
        self.assertEqual({t.name: numpy_helper.to_array(t).tobytes()
                          for t in apart.graph.initializer},
                         {t.name: numpy_helper.to_array(t).tobytes()
                          for t in onnx.load(self.folder / "whole.onnx").graph.initializer})

    def test_old_format(self):
        """In the format's version 3 weights are inputs as well; the text syntax; results
        that are integers."""
        old = network()
        old.ir_version = 3
        del old.opset_import[:]
        old.opset_import.extend([helper.make_opsetid("", 9)])
        old.graph.initializer.append(weights("o", 10))
        old.graph.node[-1].input.append("o") # was not optional
        old.graph.input.extend(value(t.name, t.dims) for t in old.graph.initializer)
        self.save("old", old)
        for options in [], ["--per-channel"]:
            said = json.loads(self.quantize("old.onnx", "--calibration=data.npz", "--json",
                                            *options, *self.to))
            self.assertEqual((len(said["layers"]), said["opset"]), (4, 13))
            written = onnx.load(self.folder / "int8.onnx")
            onnx.checker.check_model(written, full_check=True)
            self.assertNotIn("w", [i.name for i in written.graph.input])
        choice = network()
        choice.graph.node.append(helper.make_node("ArgMax", ["y"], ["best"], "best", axis=1))
        choice.graph.output[0].CopyFrom(value("best", [1, 1], TensorProto.INT64))
        (self.folder / "choice.onnxtxt").write_text(onnx.printer.to_text(choice))
        said = json.loads(self.quantize("choice.onnxtxt", "--calibration=data.npz", "--json",
                                        "--max-drop=0", *self.to))
        self.assertEqual((said["drop"], said["outputs"][0]["agreement"]), (0, 1))
        self.assertEqual(said["outputs"][0]["vectors"], 4)

    def test_open_dimensions(self):
        open_batch = network()
        open_batch.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        open_batch.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        self.save("open", open_batch)
        one = json.loads(self.quantize("open.onnx", "--json", "--calibration=data.npz", *self.to))
        self.assertIn("--shape x=8x3x8x8", one["problems"][0]["hint"])
        self.assertEqual(one["samples"], 4)
        open_batch.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
        self.save("higher", open_batch)
        self.refuse("--calibration=data.npz", model="higher.onnx", said=["--shape"])
        said = json.loads(self.quantize("open.onnx", "--shape=x=2x3x8x8", "--json",
                                   "--calibration=data.npz", *self.to))
        self.assertEqual(said["samples"], 2) # of two images each
        written = onnx.load(self.folder / "int8.onnx")
        self.assertEqual(written.graph.input[0].type.tensor_type.shape.dim[0].dim_param, "batch")

    def test_without_compiler(self):
        """The samples are evaluated where no program can be built."""
        said = json.loads(self.quantize("network.onnx", "--calibration=data.npz", "--json",
                                   "-o", "int8.onnx"))
        self.assertIn("evaluated slowly", said["problems"][0]["message"])
        self.assertGreater(said["outputs"][0]["sqnr_db"], 25)


if __name__ == "__main__":
    sys.exit(unittest.main())
