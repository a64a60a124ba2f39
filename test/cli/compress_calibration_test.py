"""Tests nnc compress --calibration, which chooses weights by their effect on the results of
layers."""

import math
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from compressed import CHANNELS, MATRICES, WITHOUT, CompressTestCase, node, normal
from nnc import model, value


class Calibration(CompressTestCase):
    def errors(self, said, x):
        """The relative errors of what conv1 and hidden compute, by onnxruntime."""
        found = {}
        for layer, output, weight in ("conv1", "a", "w1"), ("hidden", "g", "w4"):
            after = self.read()[weight]
            own = onnx.load(self.folder / "network.onnx")
            own.graph.output.append(value(output, None))
            changed = onnx.ModelProto()
            changed.CopyFrom(own)
            for tensor in changed.graph.initializer:
                if tensor.name == weight:
                    tensor.CopyFrom(numpy_helper.from_array(after, weight))
            before, behind = (np.concatenate([onnxruntime.InferenceSession(
                made.SerializeToString()).run([output], {"x": each})[0] for each in x])
                for made in (own, changed))
            found[weight] = np.linalg.norm(before - behind) / np.linalg.norm(before)
        return found

    def test_second_order(self):
        """Results of layers change less than by magnitudes, and by what the report says."""
        # Inputs that are related, as those of networks are.
        mix = np.random.default_rng(9).standard_normal((6, 3)).astype(np.float32)
        x = np.einsum("cd,sndhw->snchw", mix, np.random.default_rng(10).standard_normal(
            (20, 4, 3, 8, 8)).astype(np.float32)) + 0.1 * self.x[:1]
        np.savez(self.folder / "related.npz", x=x)
        for options in ["--sparsity=0.5"], ["--pattern=2:4"], ["--pattern=1:4"], [
                "--pattern=4:8", "--clusters=16"], ["--clusters=6"], [
                "--clusters=4", "--block=3", "--sparsity=0.6"]:
            with self.subTest(options):
                said = self.compress("network.onnx", *options, "--calibration=related.npz")
                self.assertEqual(said["method"], "second-order")
                wanted = self.errors(said, x)
                better = 1
                for layer in said["layers"]:
                    name, error = layer["name"], layer["output_error"]
                    self.assertEqual((layer["hessian"], layer["unobserved"]), ("dense", ""))
                    self.assertLessEqual(error, layer["magnitude_output_error"])
                    # A depthwise convolution has one channel, of which a pattern keeps all.
                    self.assertEqual(layer["magnitude_output_error"] == 0,
                                     name == "w2" and bool(said["pattern"]) and not said["clusters"])
                    better *= error / (layer["magnitude_output_error"] or 1) or 1
                    if name in wanted:
                        self.assertAlmostEqual(error, wanted[name], 4)
                    matrix = MATRICES[name](self.read()[name])
                    if said["pattern"]:
                        kept, group = map(int, said["pattern"].split(":"))
                        runs = matrix.reshape(-1, CHANNELS[name])
                        for start in range(0, runs.shape[1], group):
                            self.assertTrue(
                                ((runs[:, start:start + group] != 0).sum(1) <= kept).all())
                    if said["sparsity"]:
                        self.assertGreaterEqual(
                            (matrix == 0).sum(), math.floor(said["sparsity"] * matrix.size + 0.5))
                    step = said["block"] or len(matrix)
                    for start in range(0, len(matrix) if said["clusters"] else 0, step):
                        self.assertLessEqual(
                            len(np.unique(matrix[start:start + step])), said["clusters"])
                self.assertLess(better ** (1 / len(said["layers"])), 0.9)
                plain = self.compress("network.onnx", *options, "--calibration=related.npz",
                                      "--method=magnitude")
                self.assertEqual(plain["method"], "magnitude")
                plain_errors = self.errors(plain, x)
                for layer in said["layers"]:
                    if layer["name"] in plain_errors:
                        self.assertAlmostEqual(layer["magnitude_output_error"],
                                               plain_errors[layer["name"]], 4)
                self.assertEqual({layer["output_error"] for layer in plain["layers"]}, {None})

    def test_patches(self):
        """Each kind of convolution is observed as it computes: the report's error is that of
        its results."""
        kinds = {
            "strides": dict(strides=[2, 1], pads=[2, 1, 0, 1], dilations=[1, 2]),
            "same": dict(auto_pad="SAME_UPPER", strides=[2, 2]),
            "lower": dict(auto_pad="SAME_LOWER"), "valid": dict(auto_pad="VALID"),
            "grouped": dict(group=2, pads=[1] * 4)}
        x = np.random.default_rng(4).standard_normal((3, 2, 6, 9, 7)).astype(np.float32)
        np.savez(self.folder / "x.npz", x=x)
        for kind, attributes in kinds.items():
            for op in ("Conv", "ConvTranspose") if "auto_pad" not in attributes else ("Conv",):
                with self.subTest(kind, op=op):
                    group = attributes.get("group", 1)
                    shape = [8, 6 // group, 3, 3] if op == "Conv" else [6, 8 // group, 3, 3]
                    self.save("conv", model([node(op, ["x", "w"], ["y"], "c", **attributes)],
                                            [value("x", [2, 6, 9, 7])], [value("y", None)],
                                            [normal("w", *shape)]))
                    said = self.compress("conv.onnx", "--sparsity=0.5", "--calibration=x.npz")
                    before, after = (np.concatenate([self.run_model(n, {"x": each})[0]
                                                     for each in x])
                                     for n in ("conv.onnx", "small.onnx"))
                    error = np.linalg.norm(before - after) / np.linalg.norm(before)
                    self.assertAlmostEqual(said["layers"][0]["output_error"], error, 4)
                    self.assertEqual((self.read()["w"] == 0).mean(), 0.5)

    def test_products(self):
        """So is each kind of matrix product, also with several matrices."""
        cases = {
            "right": (node("MatMul", ["x", "w"], ["y"], "m"), [2, 5, 12], [12, 8]),
            "left": (node("MatMul", ["w", "x"], ["y"], "m"), [2, 12, 5], [8, 12]),
            "batch": (node("MatMul", ["x", "w"], ["y"], "m"), [2, 3, 5, 12], [3, 12, 8]),
            "one": (node("MatMul", ["x", "w"], ["y"], "m"), [1, 5, 12], [3, 12, 8]),
            "vector": (node("MatMul", ["x", "w"], ["y"], "m"), [2, 5, 12], [12]),
            "turned": (node("Gemm", ["x", "w"], ["y"], "m", transA=1), [12, 5], [12, 8]),
            "both": (node("Gemm", ["w", "x"], ["y"], "m", transA=1, transB=1), [5, 12], [12, 8])}
        for kind, (layer, shape, dims) in cases.items():
            with self.subTest(kind):
                x = np.random.default_rng(4).standard_normal((4, *shape)).astype(np.float32)
                np.savez(self.folder / "x.npz", x=x)
                self.save("product", model([layer], [value("x", shape)], [value("y", None)],
                                           [normal("w", *dims)]))
                said = self.compress("product.onnx", "--clusters=3", "--calibration=x.npz")
                before, after = (np.concatenate([self.run_model(n, {"x": each})[0].ravel()
                                                 for each in x])
                                 for n in ("product.onnx", "small.onnx"))
                error = np.linalg.norm(before - after) / np.linalg.norm(before)
                self.assertGreater(error, 0.01)
                self.assertAlmostEqual(said["layers"][0]["output_error"], error, 4)

    def test_unobserved(self):
        """Layers of which samples say nothing go by magnitude, and the report says why."""
        x = np.random.default_rng(6).standard_normal((5, 2, 7)).astype(np.float32)
        np.savez(self.folder / "x.npz", x=x[None])
        self.save("mixed", model(
            [node("LSTM", ["x", "w", "r"], ["l"], "lstm", hidden_size=6),
             node("MatMul", ["l", "v"], ["a"], "one"),
             node("Transpose", ["a"], ["t"], "turn", perm=[0, 1, 3, 2]),
             node("MatMul", ["v", "t"], ["b"], "two"),
             node("Relu", ["x"], ["p"], "relu"), node("Neg", ["p"], ["n"], "neg"),
             node("Relu", ["n"], ["dead"], "never"),
             node("MatMul", ["dead", "u"], ["d"], "silent")],
            [value("x", [5, 2, 7])], [value("b", None), value("d", None)],
            [normal("w", 1, 24, 7), normal("r", 1, 24, 6), normal("v", 6, 6), normal("u", 7, 9)]))
        said = self.compress("mixed.onnx", "--sparsity=0.5", "--calibration=x.npz")
        layers = {layer["name"]: layer for layer in said["layers"]}
        self.assertRegex(layers["r"]["unobserved"], "multiplies states")
        self.assertRegex(layers["v"]["unobserved"], "sum over different axes")
        self.assertEqual([layers[n]["output_error"] for n in "rv"], [None, None])
        self.assertEqual((layers["w"]["unobserved"], layers["w"]["hessian"]), ("", "dense"))
        self.assertGreater(layers["w"]["magnitude_output_error"], 0)
        # Nothing but zeros reaches the last layer: its results stay what they are.
        self.assertEqual(layers["u"]["output_error"], 0)
        for name, weight in self.read().items():
            self.assertEqual((weight == 0).mean().round(1), 0.5, name)
        self.nnc("compress", "mixed.onnx", "--sparsity=0.5", "--calibration=x.npz", *self.to,
                 env=WITHOUT, said=[r"^weights .* error +results +by magnitude",
                                    r"^r +lstm +multiplies states"])

    def test_bad_samples(self):
        """Samples that are missing, of another shape, or that no layer can be observed on."""
        self.refuse("--clusters=4", "--method=second-order", said=["second-order needs --calib"])
        (self.folder / "none").mkdir()
        self.refuse("--clusters=4", "--calibration=none", said=["none holds no .npz or .npy"])
        np.savez(self.folder / "other.npz", x=self.x[:, :, :5])
        self.refuse("--clusters=4", "--calibration=other.npz", said=["the model wants 4x6x8x8"])
        bad = self.x.copy()
        bad[1, 0, 0, 0, 0] = np.nan
        np.savez(self.folder / "bad.npz", x=bad)
        self.refuse("--clusters=4", "--calibration=bad.npz", said=["holds NaN at element"])
        # A layer makes the infinity itself.
        self.save("log", model(
            [node("Log", ["x"], ["a"], "log"), node("MatMul", ["a", "w"], ["y"], "m")],
            [value("x", [3, 3])], [value("y", [3, 3])], [normal("w", 3, 3)]))
        np.savez(self.folder / "zeros.npz", x=np.zeros((3, 3), np.float32))
        self.refuse("--clusters=4", "--calibration=zeros.npz", model="log.onnx",
                    said=["tensor 'a', which node 'm' \\(MatMul\\) reads, .*not finite in sample "
                          "zeros.npz.*--method=magnitude"])
        self.compress("log.onnx", "--clusters=4", "--calibration=zeros.npz", "--method=magnitude")


if __name__ == "__main__":
    sys.exit(unittest.main())
