"""Tests the descriptions of layers, which are the same in nnc explain, in nnc report and in the
emitted code."""

import json
import re
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import model, value, weights

node = helper.make_node


def image(nodes, out, *initializers, channels=4, size=12):
    """A model of an image x [1, channels, size, size]."""
    return model(nodes, [value("x", [1, channels, size, size])], [value("y", out)],
                 initializers)


def quantized():
    """A convolution with a ReLU6 that quantization implies, and a dense layer, in QDQ form."""
    random = np.random.default_rng(1)
    made = [numpy_helper.from_array(np.array(v, dtype), name) for name, v, dtype in
            [("s", 0.05, np.float32), ("z", 0, np.int8), ("s6", 6 / 255, np.float32),
             ("z6", -128, np.int8), ("low", 0, np.float32), ("high", 6, np.float32),
             ("sw", 0.01, np.float32), ("sy", 0.4, np.float32)]]
    made += [numpy_helper.from_array(random.integers(-90, 90, shape).astype(np.int8), name)
             for name, shape in (("w", (8, 1, 3, 3)), ("v", (8, 5)))]
    bias = random.integers(-900, 900, 8).astype(np.int32)
    made += [numpy_helper.from_array(bias, "b"),
             numpy_helper.from_array(np.float32(0.05 * 0.01), "sb"),
             numpy_helper.from_array(np.int32(0), "zb")]
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["xq"], "q"),
        node("DequantizeLinear", ["xq", "s", "z"], ["xd"], "d"),
        node("DequantizeLinear", ["w", "sw", "z"], ["wd"], "dw"),
        node("DequantizeLinear", ["b", "sb", "zb"], ["bd"], "db"),
        node("Conv", ["xd", "wd", "bd"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2],
             group=8),
        node("Clip", ["c", "low", "high"], ["r"], "relu6"),
        node("QuantizeLinear", ["r", "s6", "z6"], ["rq"], "qr"),
        node("DequantizeLinear", ["rq", "s6", "z6"], ["rd"], "dr"),
        node("GlobalMaxPool", ["rd"], ["p"], "pool"),
        node("Flatten", ["p"], ["f"], "flat"),
        node("DequantizeLinear", ["v", "sw", "z"], ["vd"], "dv"),
        node("MatMul", ["f", "vd"], ["m"], "dense"),
        node("QuantizeLinear", ["m", "sy", "z"], ["yq"], "qy"),
        node("DequantizeLinear", ["yq", "sy", "z"], ["y"], "dy")]
    return model(nodes, [value("x", [1, 8, 12, 12])], [value("y", [1, 5])], made)


def recurrent():
    """An LSTM of 6 units over 5 vectors of 4 elements."""
    return model(
        [node("LSTM", ["x", "w", "r", "b"], ["", "h", ""], "lstm", hidden_size=6),
         node("Squeeze", ["h", "axis"], ["y"], "squeeze")],
        [value("x", [5, 1, 4])], [value("y", [1, 6])],
        [weights("w", 1, 24, 4), weights("r", 1, 24, 6), weights("b", 1, 48),
         numpy_helper.from_array(np.array([0]), "axis")])


def transformer():
    """A layer norm, products of three weights, attention of two heads, a GELU."""
    def split(name, source):
        return [node("MatMul", [source, f"w{name}"], [f"m{name}"], f"{name}_proj"),
                node("Reshape", [f"m{name}", "heads"], [f"r{name}"], f"{name}_heads"),
                node("Transpose", [f"r{name}"], [f"t{name}"], f"{name}_turn",
                     perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    opset = [helper.make_opsetid("", 20)]
    nodes = [
        node("LayerNormalization", ["x", "g", "c"], ["n"], "norm"),
        *split("q", "n"), *split("k", "n"), *split("v", "n"),
        node("MatMul", ["tq", "tk"], ["s"], "scores"),
        node("Mul", ["s", "half"], ["ss"], "scale"),
        node("Softmax", ["ss"], ["p"], "soft", axis=-1),
        node("MatMul", ["p", "tv"], ["a"], "mix"),
        node("Transpose", ["a"], ["at"], "turn_back", perm=[0, 2, 1, 3]),
        node("Reshape", ["at", "flat"], ["o"], "join"),
        node("MatMul", ["o", "wo"], ["d"], "out"),
        node("Add", ["x", "d"], ["e"], "residual"),
        node("MatMul", ["e", "wf"], ["f"], "up"),
        node("Gelu", ["f"], ["y"], "gelu")]
    made = [weights(f"w{name}", 16, 16) for name in "qkvo"] + [
        weights("wf", 16, 32), weights("g", 16), weights("c", 16),
        numpy_helper.from_array(np.array([1, 10, 2, 8]), "heads"),
        numpy_helper.from_array(np.array([1, 10, 16]), "flat"),
        numpy_helper.from_array(np.float32(8 ** -0.5), "half")]
    graph = helper.make_graph(nodes, "graph", [value("x", [1, 10, 16])],
                              [value("y", [1, 10, 32])], made)
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


class Description(nnc.TestCase):
    def explain(self, name, *options):
        """The descriptions of the layers, by the names of their nodes in the model."""
        said = json.loads(self.nnc("explain", f"{name}.onnx", "--json", *options))
        self.all = [layer["description"] for layer in said["layers"]]
        return {layer["model_name"]: layer["description"] for layer in said["layers"]}

    def check(self, made, expected, *options):
        """Layers are described so, and the report and the emitted code use these words."""
        self.save("net", made)
        target = [option for option in options if option.startswith("--target=")] or [
            "--target=x86-64-v3"]
        said = self.explain("net", *target)
        for layer, words in expected.items():
            self.assertEqual(said.get(layer), words, said)
        text = self.nnc("explain", "net.onnx", *target)
        for words in expected.values():
            self.assertIn(f"  {words}\n", text)
        (self.report,) = json.loads(self.nnc("report", "net.onnx", "--json", "--no-build",
                                             *target))["reports"]
        shown = [layer["what"] for layer in self.report["layers"]]
        for words in expected.values():
            self.assertIn(words, shown)
        self.nnc("compile", "net.onnx", "-o", "out", *target)
        self.code = (self.folder / "out" / "net.cpp").read_text()
        comments = re.sub(r"\n\s*//  ", "", self.code.replace("\n//   ", " "))
        for words in expected.values():
            self.assertIn(f": {words};", comments)
        self.assertNotRegex(self.code, r"\bextra\d*\b")
        return said

    def test_convolutions(self):
        self.check(image([node("Conv", ["x", "w", "b"], ["c"], "plain", pads=[1] * 4,
                               strides=[2, 2]),
                          node("Relu", ["c"], ["y"], "relu")], [1, 8, 6, 6],
                         weights("w", 8, 4, 3, 3), weights("b", 8)),
                   {"plain": "3 x 3 convolution, stride 2, padding 1, ReLU, 32-bit floats"})
        layer = next(l for l in self.report["layers"] if l["model_name"] == "plain")
        self.assertEqual(layer["window"], {"kernel": [3, 3], "strides": [2, 2],
                                           "dilations": [1, 1], "pads": [1] * 4, "groups": 1})
        self.assertEqual(layer["kind"], "convolution")

    def test_window(self):
        """Numbers that differ between axes are told for each."""
        self.check(image([node("Conv", ["x", "w"], ["y"], "odd", strides=[2, 1],
                               dilations=[1, 3], pads=[0, 1, 2, 3], group=2)], [1, 6, 7, 10],
                         weights("w", 6, 2, 1, 3)),
                   {"odd": "1 x 3 convolution, stride 2 x 1, padding 0 x 1 before and 2 x 3 "
                           "behind, dilation 1 x 3, 2 groups, 32-bit floats"})
        window = next(layer["window"] for layer in self.report["layers"] if "window" in layer)
        self.assertEqual((window["pads"], window["groups"]), ([0, 1, 2, 3], 2))

    def test_depthwise(self):
        low, high = (numpy_helper.from_array(np.float32(v), n) for n, v in (("lo", 0), ("hi", 6)))
        self.check(image([node("Conv", ["x", "w"], ["c"], "deep", pads=[1] * 4, group=4),
                          node("Clip", ["c", "lo", "hi"], ["y"], "clip")], [1, 4, 12, 12],
                         weights("w", 4, 1, 3, 3), low, high),
                   {"deep": "3 x 3 depthwise convolution, padding 1, ReLU6, 32-bit floats"},
                   "--target=cortex-m4")

    def test_line(self):
        self.save("net", model([node("Conv", ["x", "w"], ["y"], "line", strides=[2])],
                               [value("x", [1, 4, 20])], [value("y", [1, 6, 8])],
                               [weights("w", 6, 4, 5)]))
        self.assertEqual(self.explain("net")["line"], "convolution along 1 axis, kernel 5, "
                                                      "stride 2, 32-bit floats")

    def test_others(self):
        self.check(image([node("ConvTranspose", ["x", "w"], ["t"], "up", strides=[2, 2]),
                          node("MaxPool", ["t"], ["m"], "pool", kernel_shape=[2, 2],
                               strides=[2, 2]),
                          node("GlobalAveragePool", ["m"], ["a"], "mean"),
                          node("Flatten", ["a"], ["f"], "flat"),
                          node("Gemm", ["f", "k", "b"], ["g"], "dense", transB=1),
                          node("Tanh", ["g"], ["h"], "act"),
                          node("Softmax", ["h"], ["y"], "soft", axis=1)], [1, 7],
                         weights("w", 4, 3, 3, 3), weights("k", 7, 3), weights("b", 7)),
                   {"up": "3 x 3 transposed convolution, stride 2, 32-bit floats",
                    "pool": "2 x 2 max pooling, stride 2, 32-bit floats",
                    "dense": "dense layer of 3 inputs and 7 outputs, tanh, 32-bit floats",
                    "soft": "softmax, 32-bit floats"})

    def test_residual(self):
        """A sum with another value is told, a bias is not; parameters have names."""
        self.check(image([node("Conv", ["x", "w", "b"], ["c"], "first"),
                          node("Conv", ["c", "v", "d"], ["e"], "second"),
                          node("Add", ["e", "c"], ["a"], "sum"),
                          node("Sigmoid", ["c"], ["s"], "gate"),
                          node("Mul", ["a", "s"], ["y"], "gated")], [1, 4, 12, 12],
                         weights("w", 4, 4, 1, 1), weights("b", 4),
                         weights("v", 4, 4, 1, 1), weights("d", 4)),
                   {"first": "1 x 1 convolution, 32-bit floats"})
        second = next(l for l in self.report["layers"] if l["model_name"] == "second")
        self.assertRegex(second["what"], "^1 x 1 convolution, addition")
        self.assertEqual([w["role"] for w in second["weights"]], ["weights", "bias"])
        self.assertRegex(self.code, r"const float \*w,\s+const float \*bias\b")

    def test_transformer(self):
        self.check(transformer(), {
            "norm": "layer normalization, 32-bit floats",
            "up": "dense layer of 16 inputs and 32 outputs, GELU, 32-bit floats"})
        self.assertIn("attention with 2 heads, 32-bit floats", self.all)

    def test_recurrent(self):
        self.save("net", recurrent())
        self.explain("net")
        self.assertIn("LSTM of 6 units, 32-bit floats", self.all)

    def test_quantized(self):
        self.check(quantized(), {
            "conv": "3 x 3 depthwise convolution, stride 2, padding 1, ReLU6, 8 bits",
            "pool": "global max pooling, 8 bits",
            # The last layer quantizes, and gives the floats that the integers stand for.
            "dense": "dense layer of 8 inputs and 5 outputs, quantization, 8 bits to "
                     "32-bit floats"}, "--target=cortex-m4")

    def test_quantized_as_floats(self):
        """Where floats are faster, the activation and the quantization are told, too."""
        self.save("net", quantized())
        for target in ("x86-64-v3", "aarch64"):
            self.explain("net", f"--target={target}")
            self.assertIn("3 x 3 depthwise convolution, stride 2, padding 1, quantization, "
                          "ReLU6, 32-bit floats", self.all)
            # The floats hold the integers, which need no layer of their own.
            self.assertIn("global max pooling, 32-bit floats", self.all)

    def test_names(self):
        """A layer has one name in explain, the report, check and the code, one that no input
        or output has, in bodies of loops, too."""
        body = helper.make_graph(
            [node("Relu", ["h"], ["y"], "y"), node("Identity", ["go"], ["on"], "keep")], "body",
            [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL),
             value("h", [1, 4, 12, 12])],
            [value("on", [], TensorProto.BOOL), value("y", [1, 4, 12, 12])])
        self.save("net", image(
            [node("Conv", ["x", "w"], ["c"], "y"), node("Conv", ["c", "v"], ["d"], "x"),
             node("Loop", ["trips", "", "d"], ["y"], "loop", body=body)], [1, 4, 12, 12],
            weights("w", 4, 4, 1, 1), weights("v", 4, 4, 1, 1)))
        made = onnx.load(self.folder / "net.onnx")
        made.graph.input.append(value("trips", [], TensorProto.INT64))
        self.save("net", made)
        on = "--target=cortex-m4"
        explained = {layer["name"]: layer["description"] for layer in json.loads(
            self.nnc("explain", "net.onnx", "--json", on))["layers"]}
        (report,) = json.loads(self.nnc("report", "net.onnx", "--json", "--no-build",
                                        on))["reports"]
        reported = {layer["name"]: layer["what"] for layer in report["layers"]
                    if layer["alternatives"]}
        self.assertEqual(explained, reported)
        self.assertEqual(len(explained), 3)
        self.assertFalse({"x", "y"} & set(explained))

    def test_shapes(self):
        """Shapes are in the order of the layout that is named beside them."""
        self.save("net", quantized())
        on = "--target=cortex-m4"
        text = self.nnc("explain", "net.onnx", on)
        self.assertRegex(text, "  1x6x6x8 NHWC  3 x 3 depthwise")
        conv = next(layer for layer in json.loads(self.nnc("explain", "net.onnx", "--json", on))[
            "layers"] if layer["model_name"] == "conv")
        self.assertEqual((conv["layout"], conv["layout_shape"]), ("NHWC", [1, 6, 6, 8]))
        self.nnc("compile", "net.onnx", "-o", "out", on)
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        for layer in manifest["layers"]:
            self.assertEqual(sorted(layer["layout_shape"]), sorted(layer["shape"]))
        self.assertIn([1, 6, 6, 8], [layer["layout_shape"] for layer in manifest["layers"]
                                     if layer["layout"] == "NHWC"])

    def test_plurals(self):
        self.save("net", model(
            [node("Gather", ["table", "i"], ["g"], "embed"),
             node("Gemm", ["x", "k"], ["d"], "dense", transB=1),
             node("TopK", ["d", "one"], ["most", "y"], "top"),
             node("Gather", ["x", "i"], ["z"], "rows", axis=1)],
            [value("x", [2, 1]), value("i", [3], TensorProto.INT64)],
            [value("g", [3, 4]), value("y", [2, 1], TensorProto.INT64), value("z", [2, 3])],
            [weights("table", 9, 4), weights("k", 5, 1),
             numpy_helper.from_array(np.array([1]), "one")]))
        said = self.explain("net", "--target=cortex-m4")
        self.assertEqual(said["embed"], "embedding lookup, 32-bit floats")
        self.assertEqual(said["rows"], "gather by indices, 32-bit floats")
        self.assertEqual(said["dense"], "dense layer of 1 input and 5 outputs, 32-bit floats")
        self.assertIn("index of the largest element", " ".join(self.all))

    def loop(self, *trips, condition=False):
        """A loop whose body is a product of 16 x 16; the number of trips is `trips` or given."""
        body = helper.make_graph(
            [node("MatMul", ["h", "W"], ["m"], "product"),
             node("Tanh", ["m"], ["t"], "tanh"),
             node("ReduceMax", ["t"], ["most"], "most", keepdims=0),
             node("Less", ["most", "limit"], ["on"], "test")], "body",
            [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL),
             value("h", [1, 16])],
            [value("on", [], TensorProto.BOOL), value("t", [1, 16])],
            [weights("W", 16, 16), numpy_helper.from_array(np.float32(0.9), "limit")])
        if not condition:
            del body.node[2:]
            body.node.append(node("Identity", ["go"], ["on"], "keep"))
        inputs = [value("x", [1, 16])] + [value("n", [], TensorProto.INT64)] * (not trips)
        return model(
            [node("MatMul", ["x", "V"], ["v"], "first"),
             node("Loop", ["n", "true" if condition else "", "v"], ["y"], "loop", body=body)],
            inputs, [value("y", [1, 16])],
            [weights("V", 16, 16), numpy_helper.from_array(np.array(True), "true"),
             *(numpy_helper.from_array(np.array(each), "n") for each in trips)])

    def test_loops(self):
        """Multiply-adds and times of all known trips; of open ones, those of a trip."""
        for made, words, total, of_trip in (
                (self.loop(12), "3.33 k", 13 * 256, 0),
                (self.loop(), "256, and 256 a trip of loops whose trips the data decide", 512, 256),
                (self.loop(50, condition=True),
                 "256, and 256 a trip of loops whose trips the data decide", 512, 256)):
            self.save("loop", made)
            on = ["loop.onnx", "--target=cortex-m4"]
            self.nnc("check", *on, "--no-build", said=[rf"^  multiply-adds  {words}$"])
            said = json.loads(self.nnc("check", *on, "--no-build", "--json"))
            self.assertEqual((said["multiply_adds"], said["multiply_adds_of_trip"]),
                             (total, of_trip))
            seconds = [one["alternatives"][0]["seconds"] for one in json.loads(
                self.nnc("explain", *on, "--json"))["layers"]]
            trips = 12 if not of_trip else 1
            self.assertAlmostEqual(said["estimate_seconds"], seconds[0] + trips * sum(seconds[1:]),
                                   delta=1e-9)
            self.nnc("compile", *on, "-o", "out")
            code = (self.folder / "out" / "loop.cpp").read_text()
            self.assertIn("256 multiply-adds a trip" if of_trip else
                          "256 multiply-adds in each of 12 trips", code.replace("\n//  ", ""))

    def test_comments(self):
        """Multiply-adds as people write them; only layouts that occur are explained."""
        self.save("little", image([node("Conv", ["x", "w"], ["y"], "conv")], [1, 4, 12, 12],
                                 weights("w", 4, 4, 1, 1)))
        self.save("large", image([node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4)],
                                 [1, 64, 12, 12], weights("w", 64, 64, 3, 3), channels=64))
        self.nnc("compile", "little.onnx", "-o", "little", "--target=portable")
        code = (self.folder / "little" / "little.cpp").read_text()
        head = code[:code.index("#if")]
        self.assertIn("2304 multiply-adds", head)
        self.assertIn("Tensors are row-major", head)
        self.assertNotIn("NCHW", head)
        self.nnc("compile", "large.onnx", "-o", "large", "--target=x86-64-v3")
        code = (self.folder / "large" / "large.cpp").read_text()
        head = code[:code.index("#if")]
        self.assertIn("5.31 million multiply-adds", head)
        used = set(re.findall(r"\b[A-Z]{3,}(?:\d+[a-z])+(?:_\w+)?\b|\bNHWC\b",
                              code[code.index("#if"):].replace("NNC", "")))
        explained = set(re.findall(r"^//   (\S+?)(?::|$)", head, re.MULTILINE))
        self.assertTrue(explained)
        self.assertEqual(explained, explained & used)
        # Shapes are in the order of the layout: blocks of 8 of 64 channels come last.
        self.assertRegex(code, r"\[1\]\[8\]\[12\]\[12\]\[8\] NCHW8c")


if __name__ == "__main__":
    sys.exit(unittest.main())
