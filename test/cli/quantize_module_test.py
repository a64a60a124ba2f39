"""Tests quantization on nnc's own dialects, by nnc compile --calibrate and nnc quantize -o
OUT.mlir, for TFLite and ONNX models."""

import json
import os
import re
import sys
import unittest

import numpy as np
from onnx import helper, numpy_helper

import nnc
from nnc import BROKEN, LACKING, USAGE, model, value

sys.path.insert(0, str(nnc.ROOT / "test" / "tflite"))
import flat  # noqa: E402

F32 = np.float32
# Small models take longer to optimize than to run.
QUICK = "--compiler=c++ -O1"
# Without a compiler samples are evaluated, which takes less time for small models.
WITHOUT = {**os.environ, "CXX": "none"}
# The root mean square error of the outputs, relative to theirs, that these small networks with
# activations of 8 bits keep.
BOUND = 0.04


def kernels():
    """Weights of the same network for both formats: filters are [K, C, 3, 3]."""
    random = np.random.default_rng(3)
    normal = lambda *shape: random.normal(size=shape).astype(F32)
    return {"a": normal(16, 3, 3, 3) / 5, "a_bias": normal(16), "b": normal(16, 16, 3, 3) / 12,
            "b_bias": normal(16), "dense": normal(10, 16) / 4, "dense_bias": normal(10)}


def onnx_network():
    """Two convolutions, of which one has a batch norm, a sum, a mean and a dense layer:
    x [1, 3, 12, 12] to y [1, 10]."""
    node, w = helper.make_node, kernels()
    norm = {"scale": np.full(16, 1.5, F32), "shift": np.full(16, 0.25, F32),
            "mean": np.zeros(16, F32), "variance": np.ones(16, F32)}
    return model(
        [node("Conv", ["x", "a", "a_bias"], ["ca"], "conv_a", pads=[1] * 4),
         node("BatchNormalization", ["ca", *norm], ["na"], "norm_a"),
         node("Relu", ["na"], ["ra"], "relu_a"),
         node("Conv", ["ra", "b", "b_bias"], ["cb"], "conv_b", pads=[1] * 4),
         node("Add", ["ra", "cb"], ["s"], "sum"), node("Relu", ["s"], ["rs"], "relu_sum"),
         node("GlobalAveragePool", ["rs"], ["p"], "pool"), node("Flatten", ["p"], ["f"], "flat"),
         node("Gemm", ["f", "dense", "dense_bias"], ["y"], "dense_y", transB=1)],
        [value("x", [1, 3, 12, 12])], [value("y", [1, 10])],
        [numpy_helper.from_array(array, name) for name, array in {**w, **norm}.items()])


def tflite_network(batch=1):
    """The same network, whose batch norm is folded, in NHWC."""
    w, net = kernels(), flat.Net()
    conv = dict(padding="SAME", stride_h=1, stride_w=1, dilation_h=1, dilation_w=1)
    x = net.input(np.zeros((batch, 12, 12, 3), F32))
    filters = lambda name: net.const(np.ascontiguousarray(w[name].transpose(0, 2, 3, 1)))
    image = lambda: net.tensor(F32, (batch, 12, 12, 16))
    a = net.op("CONV_2D", [x, filters("a"), net.const(w["a_bias"])], [image()],
               activation="RELU", **conv)
    b = net.op("CONV_2D", [a, filters("b"), net.const(w["b_bias"])], [image()],
               activation="NONE", **conv)
    s = net.op("ADD", [a, b], [image()], activation="RELU")
    p = net.op("MEAN", [s, net.const(np.array([1, 2], np.int32))], [net.tensor(F32, (batch, 16))],
               keep_dims=False)
    net.outputs = [net.op("FULLY_CONNECTED", [p, net.const(w["dense"]), net.const(w["dense_bias"])],
                          [net.tensor(F32, (batch, 10))])]
    return net


class QuantizeModule(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.save("float", onnx_network())
        flat.save({"float": tflite_network().model()}, self.folder)
        random = np.random.default_rng(0)
        images = random.normal(size=(6, 1, 3, 12, 12)).astype(F32)
        self.images = {"float.onnx": images,
                       "float.tflite": np.ascontiguousarray(images.transpose(0, 1, 3, 4, 2))}
        self.inputs = {"float.onnx": "x", "float.tflite": "t0"}
        for name, array in self.images.items():
            np.savez(self.folder / f"{name}.npz", **{self.inputs[name]: array})

    def nnc(self, *arguments, **how):
        return super().nnc(*arguments, **{"env": WITHOUT, **how})

    def outputs(self, model, image, *options):
        """The output of a model for one image."""
        np.save(self.folder / "image.npy", image)
        name = "x" if image.shape[1] == 3 else "t0"
        said = json.loads(self.nnc("run", model, f"--input={name}=image.npy", "--output-dir=out",
                                   "--json", QUICK, *options))
        return np.load(self.folder / said["outputs"][0]["file"])

    def compare(self, name, model, *options):
        """The error of a model on a sample, relative to what the float model computes."""
        image = self.images[name][0]
        expected = self.outputs(name, image)
        found = self.outputs(model, image, *options)
        return np.sqrt(np.sum((found - expected) ** 2) / np.sum(expected ** 2))

    def integer_layers(self, folder):
        manifest = json.loads((self.folder / folder / "manifest.json").read_text())
        return [layer["routine"] for layer in manifest["layers"]
                if re.search("_(i32|u8|i8|s8)_", layer["routine"])]

    def test_calibrate(self):
        """Both formats become integer layers, near the float results."""
        for name in self.images:
            with self.subTest(name):
                i8 = ["--precision=i8", f"--calibrate={name}.npz"]
                self.nnc("compile", name, *i8, "--target=cortex-m4", "-o", f"{name}.code")
                routines = self.integer_layers(f"{name}.code")
                self.assertGreaterEqual(len(routines), 3, routines)
                error = self.compare(name, name, *i8)
                self.assertLess(error, BOUND)
                self.assertGreater(error, 0)

    def test_module_files(self):
        """nnc quantize writes modules that every command takes as models; text and bytecode
        compute the same."""
        for name, files in [("float.tflite", ["q.mlir", "q.mlirbc"]), ("float.onnx", ["o.mlir"])]:
            results = []
            for file in files:
                said = json.loads(self.nnc("quantize", name, f"--calibration={name}.npz", "-o",
                                           file, "--per-channel", "--json"))
                self.assertGreaterEqual(len(said["layers"]), 4)
                self.assertEqual(said["samples"], 6)
                self.nnc("explain", file, "--target=cortex-m4")
                results.append(self.outputs(file, self.images[name][0]))
                expected = self.outputs(name, self.images[name][0])
                error = np.linalg.norm(results[-1] - expected) / np.linalg.norm(expected)
                self.assertLess(error, BOUND)
            for other in results[1:]:
                np.testing.assert_array_equal(results[0], other)
        self.nnc("verify", "q.mlir", QUICK)

    def test_agrees_with_onnx(self):
        """A module is quantized as well as the ONNX file that nnc quantize writes."""
        for options in [[], ["--per-channel", "--method=mse"], ["--activations=u8"]]:
            decibels = []
            for file in ["q.onnx", "q.mlir"]:
                said = json.loads(self.nnc("quantize", "float.onnx", "--json", "-o", file,
                                           "--calibration=float.onnx.npz", *options))
                decibels.append(said["outputs"][0]["sqnr_db"])
            with self.subTest(options=options, decibels=decibels):
                self.assertGreater(decibels[1], min(decibels[0] - 2, 40))

    def test_pipeline(self):
        """nnc-opt makes the same program by the ranges that --print-pipeline spells."""
        for name in self.images:
            said = self.nnc("compile", name, "--precision=i8", f"--calibrate={name}.npz",
                            "--target=x86-64-v3", "-o", "code", "--print-pipeline", "--name=net")
            (passes,) = re.findall(r"--pass-pipeline='(.*)'", said)
            self.assertIn("nnc-calibrate{ranges=", passes)
            self.run_passes(name, passes, "other")
            for file in ["net.cpp", "net.weights"]:
                if (self.folder / "code" / file).exists():
                    self.assertEqual((self.folder / "code" / file).read_bytes(),
                                     (self.folder / "other" / file).read_bytes(), file)

    def test_exclude(self):
        """Layers that the user names stay float, and the report says why."""
        said = json.loads(self.nnc("quantize", "float.tflite", "--calibration=float.tflite.npz",
                                   "-o", "q.mlir", "--exclude=t6", "--json"))
        self.assertIn("excluded by the command line", [f["reason"] for f in said["float_layers"]])
        self.nnc("quantize", "float.tflite", "--calibration=float.tflite.npz", "-o", "q.mlir",
                 "--exclude=t55", code=USAGE, said=["--exclude: float.tflite has no node 't55'"])

    def test_wrong_samples(self):
        i8 = ["compile", "float.tflite", "-o", "code", "--precision=i8"]
        self.nnc(*i8, code=USAGE, said=["--precision=i8 needs samples .*--calibrate=DIR"])
        self.nnc("compile", "float.tflite", "-o", "code", "--calibrate=float.tflite.npz",
                 code=USAGE, said=["--calibrate finds the ranges for --precision=i8"])
        (self.folder / "empty").mkdir()
        np.savez(self.folder / "shape.npz", t0=np.zeros((1, 3, 12, 12), F32))
        np.savez(self.folder / "name.npz", other=np.zeros((1, 12, 12, 3), F32))
        np.savez(self.folder / "none.npz", t0=np.zeros((0, 12, 12, 3), F32))
        np.savez(self.folder / "nan.npz", t0=np.full((1, 12, 12, 3), np.nan, F32))
        whole = (self.folder / "float.tflite.npz").read_bytes()
        (self.folder / "cut.npz").write_bytes(whole[:len(whole) // 2])
        (self.folder / "text.txt").write_text("1 2 3")
        for samples, why in [("empty", "empty holds no .npz or .npy files"),
                             ("nowhere", "there is no such file or folder"),
                             ("shape.npz", "array 't0' is 1x3x12x12 of f32; the model wants "),
                             ("name.npz", "has an array 'other'"), ("none.npz", "is empty"),
                             ("nan.npz", "holds NaN"), ("cut.npz", "cut.npz"),
                             ("text.txt", "neither a folder nor a .npz or .npy file")]:
            self.nnc(*i8, f"--calibrate={samples}", code=USAGE, said=[why])
        self.assertFalse((self.folder / "code").exists())

    def test_wrong_models(self):
        to = ["--calibration=float.tflite.npz", "-o", "q.mlir"]
        self.nnc("quantize", "float.tflite", "--calibration=float.tflite.npz", "-o", "q.onnx",
                 code=USAGE, said=["of a TFLite model nnc quantize writes a module"])
        self.nnc("quantize", "float.tflite", *to, "--ops=Conv", code=USAGE,
                 said=["--ops is for ONNX models"])
        self.nnc("quantize", "float.tflite", *to)
        self.nnc("compile", "q.mlir", "--precision=i8", "--calibrate=float.tflite.npz", "-o",
                 "code", code=USAGE, said=["q.mlir is quantized already"])
        x, y = value("x", [1, 4]), value("y", [1, 4])
        self.save("sigmoid", model([helper.make_node("Sigmoid", ["x"], ["y"], "s")], [x], [y]))
        np.savez(self.folder / "four.npz", x=np.ones((2, 1, 4), F32))
        self.nnc("compile", "sigmoid.onnx", "--precision=i8", "--calibrate=four.npz", "-o", "code",
                 code=LACKING, said=["sigmoid.onnx: error: has no layer that can be quantized"])

    def test_wrong_modules(self):
        """Files of modules that are damaged, or are no models."""
        to = ["--calibration=float.tflite.npz", "-o"]
        for file in ["q.mlir", "q.mlirbc"]:
            self.nnc("quantize", "float.tflite", *to, file)
            whole = (self.folder / file).read_bytes()
            for share in (0.1, 0.5, 0.9):
                (self.folder / file).write_bytes(whole[:int(share * len(whole))])
                self.nnc("explain", file, code=BROKEN, said=[f"{file}: error: is no sound module"])
            (self.folder / file).write_bytes(whole)
        text = (self.folder / "q.mlir").read_text()
        broken = [(text.replace("@main", "@other"), BROKEN, "has no function 'main'"),
                  (re.sub(r"nn\.conv ", "nn.convolve ", text), BROKEN, "is no sound module"),
                  (re.sub("0x[0-9A-F]{40,}", "0x04000000", text), BROKEN, "")]
        for content, code, why in broken:
            (self.folder / "bad.mlir").write_text(content)
            self.nnc("explain", "bad.mlir", code=code, said=[f"bad.mlir.*{why}"])
        self.nnc("compile", "q.mlir", "--shape=t0=1x8x8x3", "-o", "code", code=USAGE, said=["t0"])


if __name__ == "__main__":
    unittest.main()
