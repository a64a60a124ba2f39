"""nnc compress --calibration -o OUT.mlir: modules by second order, for TFLite and ONNX models."""

import json
import re
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import nnc
import quantize_module_test as networks
from nnc import USAGE, model, value
from quantize_module_test import F32, QUICK, WITHOUT, flat


BATCH = 8


def blobs(text):
    """The bytes of all resources of a module's text, behind their alignment."""
    return [bytes.fromhex(digits)[4:] for digits in re.findall(r': "0x([0-9A-F]+)"', text)]


def quantized_network():
    """Three layers of integers, in NHWC: t0 [N, 8, 8, 4] to [N, 10]."""
    random, net = np.random.default_rng(5), flat.Net()
    conv = dict(padding="SAME", stride_h=1, stride_w=1, dilation_h=1, dilation_w=1)

    def weights(*shape, axis=0):
        array = np.clip(random.normal(size=shape) * 40, -127, 127).round().astype(np.int8)
        scales = random.uniform(0.005, 0.02, shape[axis]).astype(F32)
        return net.const(array, scales, np.zeros(shape[axis], int), axis=axis)
    image = lambda: net.tensor(np.int8, (BATCH, 8, 8, 12), 0.1, -3)
    x = net.input(np.zeros((BATCH, 8, 8, 4), np.int8), 0.02, 3)
    a = net.op("CONV_2D", [x, weights(12, 3, 3, 4), -1], [image()], activation="RELU", **conv)
    d = net.op("DEPTHWISE_CONV_2D", [a, weights(1, 3, 3, 12, axis=3), -1], [image()],
               activation="NONE", depth_multiplier=1, **conv)
    flat_d = net.op("RESHAPE", [d, net.const(np.array([BATCH, 768], np.int32))],
                    [net.tensor(np.int8, (BATCH, 768), 0.1, -3)])
    dense = net.const(np.clip(random.normal(size=(10, 768)) * 40, -127, 127).round()
                      .astype(np.int8), 0.02, 0)
    net.outputs = [net.op("FULLY_CONNECTED", [flat_d, dense, -1],
                          [net.tensor(np.int8, (BATCH, 10), 1.0, 0)])]
    return net


class CompressSecondOrder(nnc.TestCase):
    def setUp(self):
        super().setUp()
        flat.save({"float": networks.tflite_network(BATCH).model(),
                   "integers": quantized_network().model()}, self.folder)
        # Images that have little in them: weights can make up for each other.
        random = np.random.default_rng(7)
        patterns = random.normal(size=(6, 12, 12, 3))
        mix = lambda *count: np.tensordot(random.normal(size=(*count, 6)), patterns, 1).astype(F32)
        self.seen, self.unseen = mix(3, BATCH), mix(BATCH)
        np.savez(self.folder / "seen.npz", t0=self.seen)

    def nnc(self, *arguments, **how):
        return super().nnc(*arguments, **{"env": WITHOUT, **how})

    def compress(self, given, *options, output="c.mlir"):
        return json.loads(self.nnc("compress", given, *options, "--json", "-o", output))

    def output(self, model, images):
        np.save(self.folder / "images.npy", images)
        said = json.loads(self.nnc("run", model, "--input=t0=images.npy", "--output-dir=out",
                                   "--json", QUICK))
        return np.load(self.folder / said["outputs"][0]["file"]).astype(float)

    def errors(self, given, images, *options):
        """Of the outputs, by second order and by magnitude, relative to theirs."""
        own, errors = self.output(given, images), []
        for method in "second-order", "magnitude":
            self.compress(given, *options, f"--method={method}")
            errors.append(np.linalg.norm(self.output("c.mlir", images) - own)
                          / np.linalg.norm(own))
        return errors

    def test_unseen(self):
        """On samples that calibration has not seen, second order is off by less than 70 % of what
        magnitude is."""
        for options in ["--clusters=8"], ["--sparsity=60%"], ["--pattern=2:4"]:
            with self.subTest(options):
                found, magnitude = self.errors("float.tflite", self.unseen, *options,
                                               "--calibration=seen.npz")
                self.assertLess(found, 0.7 * magnitude)

    def test_report(self):
        """The report says what an ONNX model's does, and its errors are those of the results."""
        said = self.compress("float.tflite", "--sparsity=0.5", "--calibration=seen.npz")
        self.assertEqual((said["method"], said["samples"], said["evaluated"], said["left"]),
                         ("second-order", 3, 1, []))
        self.assertEqual([layer["hessian"] for layer in said["layers"]], ["dense"] * 3)
        for layer in said["layers"]:
            self.assertLess(layer["output_error"], layer["magnitude_output_error"])
        # The first layer reads what the model reads.
        kept = [layer["nodes"][0] for layer in said["layers"][1:]]
        first = self.compress("float.tflite", "--sparsity=0.5", "--calibration=seen.npz",
                              *[f"--exclude={name}" for name in kept])
        self.assertEqual(len(first["left"]), 2)
        self.assertEqual(first["layers"], said["layers"][:1])

    def test_same_weights(self):
        """An ONNX model gets the same weights, bit by bit, whether it is written as ONNX or as a
        module."""
        random = np.random.default_rng(2)
        normal = lambda name, *shape: numpy_helper.from_array(
            random.normal(size=shape).astype(F32), name)
        node = helper.make_node
        layers = {
            "network": None,
            "grouped": (node("Conv", ["x", "w"], ["y"], "c", group=2, strides=[2, 2],
                             pads=[1, 0, 1, 0]), [1, 6, 9, 8], [8, 3, 3, 3]),
            "dilated": (node("Conv", ["x", "w"], ["y"], "c", dilations=[2, 1],
                             auto_pad="SAME_LOWER"), [1, 6, 9, 8], [8, 6, 2, 4]),
            "transposed": (node("ConvTranspose", ["x", "w"], ["y"], "t", group=2, strides=[2, 3],
                                pads=[1, 0, 0, 1]), [1, 6, 5, 4], [6, 5, 3, 3]),
            "product": (node("MatMul", ["x", "w"], ["y"], "m"), [2, 7, 12], [12, 8]),
            "batch": (node("MatMul", ["x", "w"], ["y"], "m"), [2, 3, 5, 12], [3, 12, 8]),
            "left": (node("MatMul", ["w", "x"], ["y"], "m"), [12, 9], [8, 12]),
            "gemm": (node("Gemm", ["x", "w"], ["y"], "g", transA=1, transB=1), [12, 9], [8, 12])}
        for name, layer in layers.items():
            if layer is None:
                made, shape = networks.onnx_network(), [1, 3, 12, 12]
            else:
                op, shape, dims = layer
                made = model([op], [value("x", shape)], [value("y", None)], [normal("w", *dims)])
                made.graph.output[0].type.tensor_type.ClearField("shape")
            self.save("m", made)
            factors, patterns = random.normal(size=(5, 6)), random.normal(size=(6, *shape))
            np.savez(self.folder / "x.npz", x=np.tensordot(factors, patterns, 1).astype(F32))
            for options in ["--clusters=5"], ["--sparsity=0.6", "--clusters=9", "--block=4"]:
                with self.subTest(name, options=options):
                    options = [*options, "--calibration=x.npz"]
                    one = self.compress("m.onnx", *options, output="c.onnx")["layers"]
                    two = self.compress("m.onnx", *options)["layers"]
                    for a, b in zip(one, two, strict=True):
                        for layer in a, b:
                            layer["op"] = {"Gemm": "MatMul"}.get(layer["op"], layer["op"]).lower()
                            layer["op"] = layer["op"].replace("_", "")
                        self.assertEqual(a, b)
                        self.assertLess(a["output_error"], a["magnitude_output_error"] or 1)
                    stored = blobs((self.folder / "c.mlir").read_text())
                    for tensor in onnx.load(self.folder / "c.onnx").graph.initializer:
                        array = numpy_helper.to_array(tensor)
                        if tensor.name in [layer["name"] for layer in one]:
                            self.assertTrue({array.tobytes(), array.T.tobytes()} & set(stored))

    def test_integers(self):
        """A quantized TFLite model stays quantized, its integers in their range."""
        random = np.random.default_rng(3)
        patterns = random.normal(size=(8, 8, 8, 4)) * 20
        mix = lambda *count: np.clip(np.tensordot(random.normal(size=(*count, 8)), patterns, 1),
                                     -128, 127).round().astype(np.int8)
        np.savez(self.folder / "integers.npz", t0=mix(4, BATCH))
        said = self.compress("integers.tflite", "--clusters=16", "--calibration=integers.npz")
        self.assertEqual(said["totals"]["dense_bytes"], 12 * 36 + 12 * 9 + 7680)
        for layer in said["layers"]:
            self.assertLessEqual(layer["values"], 16)
            self.assertLess(layer["output_error"], layer["magnitude_output_error"])
        own = blobs(self.nnc("compile", "integers.tflite", "--save-imported=own.mlir", "-o", "code")
                    and (self.folder / "own.mlir").read_text())
        found = blobs((self.folder / "c.mlir").read_text())
        for size, values in (432, 16), (108, 16), (7680, 16):
            (before,) = [np.frombuffer(b, np.int8) for b in own if len(b) == size]
            (after,) = [np.frombuffer(b, np.int8) for b in found if len(b) == size]
            self.assertLessEqual(len(set(after)), values)
            self.assertLessEqual(max(after), max(before))
            self.assertGreaterEqual(min(after), min(before))
        found, magnitude = self.errors("integers.tflite", mix(BATCH), "--clusters=6",
                                       "--calibration=integers.npz")
        self.assertLess(found, 0.8 * magnitude)
        # Without samples they go by magnitude: the zero point is what is pruned.
        said = self.compress("integers.tflite", "--sparsity=75%")
        self.assertAlmostEqual(said["totals"]["sparsity"], 0.75, 2)

    def test_drop(self):
        """Layers keep more values, or their own, until the drop is allowed."""
        kept = []
        for allowed in 1, 0.05, 0:
            said = self.compress("float.tflite", "--clusters=2", "--calibration=seen.npz",
                                 f"--max-drop={allowed}")
            self.assertLessEqual(said["drop"], allowed)
            kept.append([layer["clusters"] for layer in said["layers"]])
        self.assertEqual(kept[0], [2] * 3)
        self.assertNotEqual(kept[2], kept[0])
        script = self.folder / "size.py"
        script.write_text("import sys, pathlib\nname = sys.argv[1]\n"
                          "print(1 if name.endswith('.tflite') else 0.5 if name.endswith('.mlir')"
                          " else 'none')\n")
        said = self.compress("float.tflite", "--clusters=3", f"--metric=python3 {script}")
        self.assertEqual((said["float_metric"], said["compressed_metric"], said["drop"]),
                         (1, 0.5, 0.5))

    def test_kinds(self):
        """Recurrent layers and bodies, and what is left as it is."""
        random = np.random.default_rng(4)
        normal = lambda name, *shape: numpy_helper.from_array(
            random.normal(size=shape).astype(F32), name)
        node = helper.make_node
        body = lambda name, weight: helper.make_graph(
            [node("MatMul", ["r", weight], [name], f"in_{name}")], name, [],
            [value(name, [6, 4])], [normal(weight, 5, 4)])
        made = model(
            [node("LSTM", ["x", "w", "r0"], ["h"], "lstm", hidden_size=5),
             node("Reshape", ["h", "shape"], ["r"], "reshape"),
             node("If", ["c"], ["y"], "if", then_branch=body("t", "wt"),
                  else_branch=body("e", "we")),
             node("Gather", ["table", "i"], ["z"], "gather")],
            [value("x", [6, 1, 7]), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("i", TensorProto.INT64, [2])],
            [value("y", [6, 4]), value("z", [2, 3])],
            [normal("w", 1, 20, 7), normal("r0", 1, 20, 5), normal("table", 9, 3),
             numpy_helper.from_array(np.array([6, 5]), "shape")])
        self.save("m", made)
        np.savez(self.folder / "x.npz", x=random.normal(size=(4, 6, 1, 7)).astype(F32),
                 c=np.array([True, False] * 2), i=np.zeros((4, 2), np.int64))
        said = self.compress("m.onnx", "--clusters=4", "--calibration=x.npz")
        why = {layer["name"]: layer["unobserved"] for layer in said["layers"]}
        self.assertEqual(list(why), ["w", "r0", "if/wt", "if/we"])
        self.assertEqual(why["w"], "")
        self.assertIn("multiplies states", why["r0"])
        self.assertIn("in a body", why["if/wt"])
        self.assertIn("in a body", why["if/we"])
        for layer in said["layers"]:
            self.assertLessEqual(layer["values"], 4)
        self.assertEqual([(left["name"], left["op"]) for left in said["left"]],
                         [("table", "gather")])
        said = self.compress("m.onnx", "--clusters=4", "--exclude=if/in_e")
        self.assertEqual([left["name"] for left in said["left"]], ["table", "if/we"])

    def test_refused(self):
        bad = self.seen.copy()
        bad[2, 0, 4:7, 4:7] = 3e38
        np.savez(self.folder / "bad.npz", t0=bad)
        options = ["--clusters=4", "-o", "c.mlir"]
        self.nnc("compress", "float.tflite", "--calibration=bad.npz", *options, code=USAGE,
                 said=["tensor 't.*', which node 't.*' .conv. reads, holds values that are not finite in "
                       "sample .*"])
        self.nnc("compress", "float.tflite", "--method=second-order", *options, code=USAGE,
                 said=["--method=second-order needs --calibration"])


if __name__ == "__main__":
    unittest.main()
