"""--max-drop, --metric and --mixed of nnc quantize for models of any format, and nnc compile
--max-drop: one search decides which layers become integers."""

import json
import os
import re
import sys
import unittest

import numpy as np
from onnx import helper, numpy_helper

import nnc
from nnc import USAGE, model, value

sys.path.insert(0, str(nnc.ROOT / "test" / "tflite"))
import flat  # noqa: E402

F32 = np.float32
# Without a compiler samples are evaluated, which takes less time for small models.
WITHOUT = {**os.environ, "CXX": "none"}


def kernels():
    """Weights of three convolutions, [K, C, 3, 3], and a dense layer. The first channel that
    the second convolution reads is zero. Its large weights there have no effect, except that
    they leave few steps for the other weights of their filters, even with a scale for each
    channel."""
    random = np.random.default_rng(4)
    normal = lambda *shape: random.normal(size=shape).astype(F32)
    w = {"a": normal(8, 3, 3, 3) / 5, "weak": normal(8, 8, 3, 3) / 8, "c": normal(8, 8, 3, 3) / 8,
         "dense": normal(6, 128) / 11}
    w["a"][0] = 0
    w["weak"][:, 0] = 400
    return w


def onnx_network():
    """x [1, 3, 4, 4] to y [1, 6]."""
    node, w = helper.make_node, kernels()
    nodes, last = [], "x"
    for name in "a", "weak", "c":
        nodes += [node("Conv", [last, name], [f"{name}_c"], f"conv_{name}", pads=[1] * 4),
                  node("Relu", [f"{name}_c"], [f"{name}_r"], f"relu_{name}")]
        last = f"{name}_r"
    nodes += [node("Flatten", [last], ["f"], "flat"),
              node("Gemm", ["f", "dense"], ["y"], "dense_y", transB=1)]
    return model(nodes, [value("x", [1, 3, 4, 4])], [value("y", [1, 6])],
                 [numpy_helper.from_array(array, name) for name, array in w.items()])


def tflite_network():
    """The same layers in NHWC: t0 to t11, with the layers t3, t6, t9 and t11."""
    w, net = kernels(), flat.Net()
    last = net.input(np.zeros((1, 4, 4, 3), F32))
    for name in "a", "weak", "c":
        filters = net.const(np.ascontiguousarray(w[name].transpose(0, 2, 3, 1)))
        bias = net.const(np.zeros(8, F32))
        last = net.op("CONV_2D", [last, filters, bias], [net.tensor(F32, (1, 4, 4, 8))],
                      activation="RELU", padding="SAME", stride_h=1, stride_w=1, dilation_h=1,
                      dilation_w=1)
    flatten = net.op("RESHAPE", [last, net.const(np.array([1, 128], np.int32))],
                     [net.tensor(F32, (1, 128))], new_shape=[1, 128])
    net.outputs = [net.op("FULLY_CONNECTED", [flatten, net.const(w["dense"])],
                          [net.tensor(F32, (1, 6))])]
    return net


class QuantizeMixed(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.save("float", onnx_network())
        flat.save({"float": tflite_network().model()}, self.folder)
        images = np.random.default_rng(0).normal(size=(12, 1, 3, 4, 4)).astype(F32)
        np.savez(self.folder / "float.onnx.npz", x=images)
        np.savez(self.folder / "float.tflite.npz",
                 t0=np.ascontiguousarray(images.transpose(0, 1, 3, 4, 2)))
        self.weak = {"float.onnx": "conv_weak", "float.tflite": "t6"}

    def nnc(self, *arguments, **how):
        return super().nnc(*arguments, **{"env": WITHOUT, **how})

    def quantize(self, name, output, *options):
        return json.loads(self.nnc("quantize", name, f"--calibration={name}.npz", "-o", output,
                                   "--per-channel", "--json", *options))

    def kept(self, report):
        return {layer["name"]: layer["reason"] for layer in report["float_layers"]
                if layer["reason"].startswith("kept for")}

    def test_one_layer_stays_float(self):
        """The only layer that ruins the results stays float, with times and without, in models of
        each format, on targets with vectors and without."""
        for name, weak in self.weak.items():
            outputs = ["q.mlir"] if name == "float.tflite" else ["q.mlir", "q.onnx"]
            for output in outputs:
                whole = self.quantize(name, output)
                self.assertGreater(whole["drop"], 0.2)
                for options in [[], *(["--mixed", f"--target={target}"]
                                      for target in ("cortex-m4", "aarch64-i8mm"))]:
                    with self.subTest(name, output=output, options=options):
                        report = self.quantize(name, output, "--max-drop=5%", *options)
                        self.assertLessEqual(report["drop"], 0.05)
                        kept = self.kept(report)
                        self.assertEqual({*kept}, {weak})
                        self.assertIn("kept for accuracy, number 1 by sensitivity", kept[weak])
                        self.assertEqual("for the time that integers save" in kept[weak],
                                         bool(options))
                        self.assertGreater(report["evaluated"], 1)
                        names = {layer["name"] for layer in report["layers"]}
                        self.assertEqual(names | {weak},
                                         {layer["name"] for layer in whole["layers"]})

    def test_noise_of_layers(self):
        """Reports of modules tell the noise of each layer, as those of ONNX files do."""
        decibels = [{layer["name"]: layer["sqnr_db"]
                     for layer in self.quantize("float.onnx", output)["layers"]}
                    for output in ("q.onnx", "q.mlir")]
        self.assertEqual({*decibels[0]}, {*decibels[1]})
        for name, one in decibels[0].items():
            self.assertAlmostEqual(one, decibels[1][name], delta=3)
        self.assertGreater(decibels[1]["conv_a"], 30)
        self.assertLess(decibels[1]["conv_weak"], 10)

    def test_times(self):
        """The result is estimated to be no slower than the float model, nor than the one with all
        layers quantized where that is allowed, and nnc explain estimates the same."""
        for target in "portable", "x86-64-v3", "aarch64", "cortex-m7":
            for options in ["--max-drop=100%"], []:
                report = self.quantize("float.tflite", "q.mlir", "--mixed", f"--target={target}",
                                       *options)
                times = report["time_estimate"]
                with self.subTest(target, options=options, times=times):
                    self.assertEqual(times["target"], target)
                    self.assertLessEqual(times["us"], min(times["float_us"], times["int8_us"]))
                    said = json.loads(self.nnc("explain", "q.mlir", f"--target={target}", "--json"))
                    self.assertAlmostEqual(1e6 * said["seconds"] / times["us"], 1, delta=1e-6)
                    for reason in self.kept(report).values():
                        self.assertIn(f"kept for speed: on target {target} ", reason)
                    for layer in report["layers"]:
                        self.assertLessEqual({"float_us", "int8_us"}, {*layer})

    def test_all_stay_float(self):
        """Where no drop is allowed at all nothing is quantized."""
        for options in [], ["--mixed", "--target=cortex-m4"]:
            net = self.quantize("float.tflite", "q.mlir", "--max-drop=0", *options,
                                self.metric("print(-open(path).read().count('qnn.quantize'))"))
            self.assertEqual((net["layers"], net["quantized_metric"]), ([], 0))
            self.assertIn("all layers stay float", net["problems"][-1]["message"])
            self.assertNotIn("qnn.", (self.folder / "q.mlir").read_text())

    def metric(self, text, name="metric"):
        script = self.folder / f"{name}.py"
        script.write_text(f"#!{sys.executable}\nimport sys\npath = sys.argv[1]\n"
                          f"if path.endswith('.tflite'):\n    print(0)\n    sys.exit()\n{text}\n")
        script.chmod(0o755)
        return f"--metric={script}"

    def test_metric(self):
        """A command judges modules, which it is given as a file of the kind that is written."""
        for output in "q.mlir", "q.mlirbc":
            report = self.quantize("float.tflite", output, self.metric(f"""
assert path.endswith('/edited.{output.split('.')[1]}'), path
print('some text')
print(7)"""))
            self.assertEqual((report["float_metric"], report["quantized_metric"]), (0, 7))
        for text, why in [("print('good')", "printed 'good' last, which is not"),
                          ("sys.exit('why')", "failed: why")]:
            self.nnc("quantize", "float.tflite", "--calibration=float.tflite.npz", "-o", "q.mlir",
                     "--mixed", "--max-drop=1%", self.metric(text), code=USAGE, said=[why])

    def routines(self, folder):
        manifest = json.loads((self.folder / folder / "manifest.json").read_text())
        return [layer["routine"] for layer in manifest["layers"]
                if re.search("^(conv|depthwise|gemm|matmul|dense)", layer["routine"])]

    def test_compile(self):
        """nnc compile --max-drop searches for the target that it compiles for; nnc-opt makes the
        same program, and nnc run the results that stay near those of floats."""
        for name, weak in self.weak.items():
            i8 = ["--precision=i8", f"--calibrate={name}.npz"]
            said = self.nnc("compile", name, *i8, "--max-drop=5%", "--target=cortex-m4", "-o",
                            "code", "--print-pipeline", "--name=net")
            self.assertRegex(said, r"  8-bit integers: \d of \d layers, agreement of argmax: ")
            (passes,) = re.findall(r"--pass-pipeline='(.*)'", said)
            self.assertIn(f"exclude={weak}", passes)
            self.run_passes(name, passes, "other")
            self.assertEqual((self.folder / "code" / "net.cpp").read_bytes(),
                             (self.folder / "other" / "net.cpp").read_bytes())
            self.nnc("compile", name, *i8, "--target=cortex-m4", "-o", "all")
            mixed, whole = self.routines("code"), self.routines("all")
            isInteger = lambda routine: bool(re.search("_(i32|u8|i8|s8)_", routine))
            self.assertTrue(all(map(isInteger, whole)), whole)
            self.assertEqual(sum(not isInteger(routine) for routine in mixed), 1, mixed)

    def test_wrong_options(self):
        to = ["compile", "float.tflite", "-o", "code"]
        self.nnc(*to, "--max-drop=1%", code=USAGE,
                 said=["--max-drop limits what the 8-bit integers of --precision=i8 cost"])
        self.nnc(*to, "--max-drop=1%", "--precision=i8", code=USAGE,
                 said=["--precision=i8 needs samples of the inputs"])
        self.nnc(*to, "--max-drop=much", "--precision=i8", "--calibrate=float.tflite.npz",
                 code=USAGE, said=["much is no share from 0% to 100%"])
        self.nnc(*to, "--max-drop=1%", "--precision=i8", "--calibrate=nowhere", code=USAGE,
                 said=["there is no such file or folder"])
        self.assertFalse((self.folder / "code").exists())
        to = ["quantize", "float.tflite", "--calibration=float.tflite.npz", "-o", "q.mlir"]
        self.nnc(*to, "--target=cortex-m4", code=USAGE, said=["--target needs --mixed"])
        self.nnc(*to, "--mixed", "--target=cortex-m99", code=USAGE, said=["cortex-m99"])


if __name__ == "__main__":
    unittest.main()
