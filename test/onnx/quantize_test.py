"""Tests the models that nnc quantize writes with onnxruntime, numpy and nnc."""

import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from quantize_nets import (
    NNC, QUICK, Network, TestCase, constant, decibels,
    everything, observe, ops, run, samples)


class Models(TestCase):
    def test_methods(self):
        """Each method makes a model that all tools run, near the float model."""
        model = everything()
        x = samples(model)
        (expected,) = run(model, x)
        for method, options in [("minmax", []), ("minmax", ["--per-channel"]),
                                ("percentile", ["--percentile=99.9", "--per-channel"]),
                                ("entropy", ["--activations=u8"]),
                                ("mse", ["--per-channel", "--equalize", "--bias-correction"])]:
            with self.subTest(method=method, options=options):
                quantized, report = self.quantize(model, x, f"--method={method}", *options,
                                                  native=method != "minmax")
                (actual,), (integers,) = run(quantized, x), run(quantized, x, integers=True)
                self.assertGreater(decibels(expected, actual), 20)
                self.assertGreater(decibels(expected, integers), 15)
                self.assertEqual(quantized.metadata_props[0].value, "a b")
                self.assertEqual([o.name for o in quantized.graph.output],
                                 [o.name for o in model.graph.output])
                self.assertEqual(report["method"], method)
                # What nnc says of the output is what onnxruntime finds, up to results
                # that the two round to neighbours.
                said = report["outputs"][0]
                self.assertAlmostEqual(said["sqnr_db"], decibels(expected, actual), delta=1.5)
                self.check_layers(report, model)

    def check_layers(self, report, model):
        """All layers are quantized but those that others have taken in."""
        wanted = {node.name for node in model.graph.node if node.op_type not in ("Relu", "Clip")}
        named = {layer["name"] for layer in report["layers"]}
        bias_adds = {n.name for n in model.graph.node if n.op_type == "Add"} - named
        self.assertEqual(named, wanted - bias_adds)
        self.assertEqual(len(bias_adds), 1, bias_adds)
        self.assertEqual(report["float_layers"], [])
        for layer in report["layers"]:
            self.assertGreater(layer["sqnr_db"], 15, layer)
            self.assertGreater(layer["high"], layer["low"])

    def test_nnc_runs_it(self):
        model = everything()
        x = samples(model)
        quantized, _ = self.quantize(model, x, "--per-channel")
        for command in (["verify", "int8.onnx", QUICK],
                        ["compile", "int8.onnx", "-o", "out"],
                        ["compile", "int8.onnx", "-o", "portable", "--target=portable"]):
            done = subprocess.run([NNC, *command], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        np.save(self.folder / "x.npy", x[0])
        subprocess.run([NNC, "run", "int8.onnx", "--input=x.npy", "--output-dir=out", QUICK],
                       cwd=self.folder, check=True, capture_output=True)
        (name,) = [o.name for o in quantized.graph.output]
        (expected,) = run(quantized, x[:1])
        actual = np.load(self.folder / "out" / f"{name}.npy")
        # Sums on either side of a half round apart, a few units at the end.
        unit = constant(quantized, f"{name}_scale")
        self.assertLessEqual(np.abs(actual - expected[0]).max(), 3.5 * unit)

    def test_reduced_range(self):
        """Weights have 7 bits, and what they represent stays the same but for rounding."""
        model = everything()
        x = samples(model)
        for options, most in [([], 127), (["--reduce-range"], 64)]:
            quantized, report = self.quantize(model, x, "--per-channel", *options)
            self.assertEqual(report["reduce_range"], most == 64)
            weights = [numpy_helper.to_array(t) for t in quantized.graph.initializer
                       if t.data_type == TensorProto.INT8 and len(t.dims) > 1]
            self.assertGreater(len(weights), 0)
            for weight in weights:
                self.assertEqual(np.abs(weight.astype(int)).max(), most)
            for layer in report["layers"]:
                self.assertGreater(layer["sqnr_db"], 15, layer)

    def test_form(self):
        """The form of the model: what is stored how, and which scales are shared."""
        model = everything()
        quantized, _ = self.quantize(model, samples(model), "--per-channel")
        makers = {output: node for node in quantized.graph.node for output in node.output}
        stored = {t.name: numpy_helper.to_array(t) for t in quantized.graph.initializer}
        for node in quantized.graph.node:
            if node.op_type in ("Conv", "ConvTranspose", "Gemm", "MatMul"):
                x, w = makers[node.input[0]], makers[node.input[1]]
                self.assertEqual((x.op_type, w.op_type), ("DequantizeLinear",) * 2)
                weights, scale = stored[w.input[0]], stored[w.input[1]]
                self.assertEqual(weights.dtype, np.int8)
                self.assertEqual(np.abs(weights).max(), 127)
                (axis,) = [a.i for a in w.attribute]
                self.assertEqual(scale.shape, (weights.shape[axis],))
                self.assertFalse(stored[w.input[2]].any())
                if len(node.input) > 2:
                    b = makers[node.input[2]]
                    self.assertEqual(stored[b.input[0]].dtype, np.int32)
                    np.testing.assert_allclose(stored[b.input[1]],
                                               scale * stored[x.input[1]], rtol=1e-6)
            if node.op_type in ("Relu", "Clip"):
                # No rounding in front of it.
                self.assertNotEqual(makers[node.input[0]].op_type, "DequantizeLinear")
            if node.op_type in ("MaxPool", "Transpose", "Flatten"):
                (reader,) = [n for n in quantized.graph.node if node.output[0] in n.input
                             or node.output[0] + "_QuantizeLinear_Input" in n.input]
                self.assertEqual(reader.op_type, "QuantizeLinear")
                self.assertEqual(list(reader.input[1:]), list(makers[node.input[0]].input[1:]))
        # No float weight is left.
        names = {i for node in quantized.graph.node for i in node.input}
        self.assertEqual(set(stored) - names, set())
        floats = [n for n, a in stored.items() if a.dtype == np.float32 and a.ndim > 1]
        self.assertEqual(floats, [])

    def test_opsets(self):
        for opset, options, becomes in [(11, [], 11), (11, ["--per-channel"], 13),
                                        (9, [], 13), (21, ["--per-channel"], 21)]:
            with self.subTest(opset=opset, options=options):
                net = Network(1, 3, 8, 8, opset=opset)
                a = net.add("Relu", net.conv("x", 3, 6))
                b = net.add("Flatten", net.add("GlobalAveragePool", a))
                model = net.model(net.add("Gemm", b, net.weights(4, 6), net.weights(4), transB=1))
                x = samples(model)
                quantized, report = self.quantize(model, x, *options)
                self.assertEqual(quantized.opset_import[0].version, becomes)
                self.assertEqual(report["opset"], becomes)
                self.assertEqual(quantized.metadata_props[0].value, "a b")
                self.assertGreater(decibels(*run(model, x), *run(quantized, x)), 25)

    def test_batch_norm(self):
        """Factors of channels go into the weights, also into those of Constant nodes."""
        net = Network(1, 3, 8, 8)
        c = net.conv("x", 3, 6, bias=False)
        norm = net.add("BatchNormalization", c, *(net.weights(6) for _ in range(3)),
                       net.weights(6))
        net.constants[net.nodes[-1].input[4]] = np.linspace(0.1, 4, 6, dtype=np.float32)
        m = net.add("Mul", net.conv(norm, 6, 4), net.weights(1, 4, 1, 1))
        y = net.add("Add", m, net.weights(4, 1, 1))
        model = net.model(y)
        for tensor in list(model.graph.initializer)[:2]:
            model.graph.initializer.remove(tensor)
            model.graph.node.insert(0, helper.make_node("Constant", [], [tensor.name],
                                                        value=tensor))
        x = samples(model)
        quantized, report = self.quantize(model, x, "--per-channel")
        self.assertEqual(report["folded"], 3)
        self.assertEqual({*ops(quantized)}, {"QuantizeLinear", "DequantizeLinear", "Conv"})
        self.assertGreater(decibels(*run(model, x), *run(quantized, x)), 25)

    def test_other_forms(self):
        """Transposed and shared weights, groups, products of activations, a constant on
        the left, and weights of zeros with a large bias."""
        net = Network(2, 4, 5, 2)
        a = net.conv("x", 4, 6, group=2)
        shared = net.weights(6, 6, 1, 1)
        b = net.add("Relu", net.add("Conv", a, shared, net.weights(6)))
        c = net.add("Conv", b, shared, net.weights(6))
        t = net.add("ConvTranspose", c, net.weights(6, 3, 2, 1), net.weights(6), group=2,
                    strides=[2, 1])
        t = net.add("Reshape", t, net.constant([2, 6, 20]))
        d = net.add("MatMul", net.add("Transpose", t, perm=[0, 2, 1]), t)
        e = net.add("MatMul", net.weights(5, 20), d)
        dead = net.weights(7, 20)
        net.constants[dead][3] = 0
        net.constants[dead][4] = 1e-30
        bias = net.weights(7)
        net.constants[bias][3:5] = 1e3
        f = net.add("Gemm", net.add("Reshape", e, net.constant([10, 20])), dead, bias, transB=1)
        model = net.model(f, d)
        x = samples(model)
        for options in [], ["--per-channel"]:
            quantized, report = self.quantize(model, x, *options)
            self.assertEqual(report["float_layers"], [])
            for expected, actual in zip(run(model, x), run(quantized, x)):
                self.assertGreater(decibels(expected, actual), 22)
            for tensor in quantized.graph.initializer:
                if tensor.name.endswith("_scale"):
                    scale = numpy_helper.to_array(tensor)
                    self.assertTrue((scale >= np.finfo(np.float32).tiny).all(), tensor.name)

    def test_outputs_and_subgraphs(self):
        """A value that is an output, is read by a subgraph and by float nodes."""
        net = Network(1, 3, 6, 6)
        a = net.conv("x", 3, 4)
        s = net.add("Sigmoid", a)
        flag = net.add("Greater", net.add("ReduceMax", s, keepdims=0), net.constant(np.float32(2)))
        branches = [helper.make_graph([helper.make_node(op, [a], [f"{a}_{op}"])], op, [],
                                      [helper.make_empty_tensor_value_info(f"{a}_{op}")])
                    for op in ("Neg", "Abs")]
        y = net.add("If", flag, then_branch=branches[0], else_branch=branches[1])
        model = net.model(a, s, y)
        x = samples(model)
        try:
            quantized, report = self.quantize(model, x)
        except AssertionError as error:
            self.skipTest(f"nnc imports no If: {error}")
        self.assertEqual([layer["name"] for layer in report["layers"]], [a])
        for expected, actual in zip(run(model, x), run(quantized, x)):
            self.assertGreater(decibels(expected, actual), 25)


class Ranges(TestCase):
    """Tests the range of the input, whose values are known, against implementations in numpy."""

    def setUp(self):
        super().setUp()
        net = Network(1, 2, 16, 16)
        self.model = net.model(net.conv("x", 2, 2))
        random = np.random.default_rng(3)
        self.two_sided = random.laplace(size=(4, 1, 2, 16, 16)).astype(np.float32)
        self.one_sided = np.maximum(random.standard_normal((4, 1, 2, 16, 16)), 0).astype(np.float32)
        self.one_sided[0, 0, 0, 0, 0] = 9

    def find(self, x, *options):
        quantized, _ = self.quantize(self.model, x, *options)
        scale, zero = constant(quantized, "x_scale"), constant(quantized, "x_zero_point")
        low = (-128 - float(zero)) * float(scale)
        return low, low + 255 * float(scale), float(scale)

    def check(self, x, low, high, *options):
        found = self.find(x, *options)
        scale = (high - low) / 255
        # The zero point rounds the ends by up to half a unit.
        self.assertAlmostEqual(found[2], scale, delta=1e-4 * scale)
        self.assertAlmostEqual(found[0], low, delta=0.51 * scale)

    def histogram(self, x):
        low, high = min(float(x.min()), 0), max(float(x.max()), 0)
        width = (high - low) / 2048
        bins = np.clip(((x.ravel().astype(np.float64) - low) / width).astype(int), 0, 2047)
        counts = np.bincount(bins, minlength=2048).astype(float)
        return low, high, width, counts

    def without_zeros(self, x, low, width, counts):
        counts = counts.copy()
        counts[min(int((0 - low) / width), 2047)] -= (x == 0).sum()
        return counts

    def test_minmax(self):
        for x in self.two_sided, self.one_sided, self.one_sided + 3, -self.one_sided - 1:
            self.check(x, min(float(x.min()), 0), max(float(x.max()), 0))

    def test_percentile(self):
        for x in self.two_sided, self.one_sided:
            for percentile in 99, 96:
                cut = (100 - percentile) / 2
                low = min(np.percentile(x, cut), 0)
                high = max(np.percentile(x, 100 - cut), 0)
                found = self.find(x, "--method=percentile", f"--percentile={percentile}")
                # A bin, and half a unit of the zero point.
                tolerance = (float(x.max()) - float(x.min())) / 2048 + found[2]
                self.assertAlmostEqual(found[0], low, delta=tolerance)
                self.assertAlmostEqual(found[1], high, delta=tolerance)
        self.assertLess(self.find(self.one_sided, "--method=percentile")[1], 9)

    def test_entropy(self):
        for x in self.two_sided, self.one_sided:
            low, high, width, counts = self.histogram(x)
            counts = self.without_zeros(x, low, width, counts)
            best = None
            for step in range(1024, 127, -1):
                limit = max(-low, high) * step / 1024
                ends = max(low, -limit), min(high, limit)
                first, last = (int(np.rint((end - low) / width)) for end in ends)
                inside = counts[first:last]
                p = inside.copy()
                p[0] += counts[:first].sum()
                p[-1] += counts[last:].sum()
                level = np.arange(last - first) * 255 // (last - first)
                sums = np.bincount(level, inside, 255)
                used = np.bincount(level, inside > 0, 255)
                q = np.where(inside > 0, (sums / np.maximum(used, 1))[level] / inside.sum(), 1e-9)
                p /= p.sum()
                divergence = (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()
                if best is None or divergence < best[0] - 1e-12:
                    best = divergence, ends
            self.check(x, *best[1], "--method=entropy")
            self.assertLess(best[1][1] - best[1][0], high - low)

    def test_mse(self):
        """No range of a fine grid has a mean squared error that is much less."""
        normal = np.random.default_rng(4).standard_normal((100, 1, 2, 16, 16)).astype(np.float32)
        for x in normal, self.two_sided, self.one_sided:
            def error(low, high):
                scale = np.float32((high - low) / 255)
                zero = np.rint(-128 - low / scale)
                q = np.clip(np.rint(x / scale) + zero, -128, 127)
                return np.square((q - zero) * scale - x.astype(np.float64)).mean()
            low, high, scale = self.find(x, "--method=mse")
            least = min(error(a, b) for a in np.linspace(0, float(min(x.min(), 0)), 40)
                        for b in np.linspace(0.1, float(x.max()), 40))
            self.assertLess(error(low, high), 1.1 * least)
            everything = error(min(float(x.min()), 0), float(x.max()))
            self.assertLessEqual(error(low, high), (0.95 if x is normal else 1) * everything)


class Corrections(TestCase):
    def test_equalization_is_exact(self):
        """Scaled by powers of two, the float model is the same to the bit: nothing but the
        integers changes, and they are better."""
        net = Network(1, 3, 8, 8)
        a = net.add("Relu", net.conv("x", 3, 8))
        b = net.add("Relu", net.conv(a, 8, 8, group=8))
        c = net.conv(b, 8, 6, 1)
        d = net.conv(c, 6, 4)
        model = net.model(d)
        names = [node.input[1] for node in model.graph.node if node.op_type == "Conv"]
        tensors = {t.name: t for t in model.graph.initializer}
        factors = 2.0 ** np.arange(-4, 4)
        for name, factor, shape in (names[0], factors, (8, 1, 1, 1)), (names[2], 1 / factors, (1, 8, 1, 1)):
            scaled = numpy_helper.to_array(tensors[name]) * factor.reshape(shape)
            tensors[name].CopyFrom(numpy_helper.from_array(scaled.astype(np.float32), name))
        x = samples(model)
        # With all nodes excluded but the last, the model shows the scaled floats.
        convs = [node.name for node in model.graph.node if node.op_type == "Conv"]
        options = [f"--exclude={name}" for name in convs[:-1]]
        partly, report = self.quantize(model, x, "--equalize", *options)
        self.assertEqual(report["equalized"], 3)
        float_c = partly.graph.node[[n.name for n in partly.graph.node].index(convs[2])].output[0]
        ours = observe(partly, [b, a], x)
        theirs = observe(model, [b, a], x)
        ratio = ours[a] / np.where(theirs[a] == 0, 1, theirs[a])
        for channel in range(8):
            seen = np.unique(ratio[:, :, channel][theirs[a][:, :, channel] != 0])
            self.assertLessEqual(len(seen), 1) # none where the channel is always 0
            self.assertFalse((np.log2(seen) % 1).any())
        self.assertGreater(len(np.unique(ratio)), 3)
        plain, _ = self.quantize(model, x)
        equalized, _ = self.quantize(model, x, "--equalize")
        (expected,) = run(model, x)
        before, after = (decibels(expected, *run(m, x)) for m in (plain, equalized))
        self.assertGreater(after, before + 3)

    def channels(self, kind, relu, small, bias):
        """Two layers with 8 channels between them, two of which have weights that are `small`
        times those of the others, and a bias of `bias`."""
        net = Network(*((1, 6) if kind == "gemm" else (1, 3, 8, 8)), seed=3)
        if kind == "gemm":
            a = net.add("Gemm", "x", net.weights(8, 6), net.weights(8), transB=1)
        else:
            a = net.conv("x", 3, 8)
        first = net.nodes[-1]
        net.constants[first.input[1]][2:4] *= np.float32(small)
        net.constants[first.input[2]][2:4] = bias, -bias
        if relu:
            a = net.add("Relu", a)
        if kind == "gemm":
            return net.model(net.add("Gemm", a, net.weights(5, 8), net.weights(5), transB=1))
        if kind == "depthwise":
            a = net.add("Relu", net.conv(a, 8, 8, group=8))
        return net.model(net.conv(a, 8, 4))

    def test_equalization_is_never_worse(self):
        """Small weights beside a large bias: the channel's values must not grow with them."""
        for kind, relu, small, bias in (
                ("conv", True, 1e-4, 5), ("conv", False, 1e-4, 5), ("conv", True, 1e-2, -5),
                ("depthwise", True, 1e-3, 3), ("gemm", True, 1e-4, 5), ("gemm", False, 1e-5, 20),
                ("conv", True, 1e-4, 0), ("conv", True, 1e3, 0), ("gemm", True, 1e-7, 1e-3)):
            with self.subTest(kind=kind, relu=relu, small=small, bias=bias):
                model = self.channels(kind, relu, small, bias)
                x = samples(model, 8)
                (expected,) = run(model, x)
                plain, _ = self.quantize(model, x)
                equalized, _ = self.quantize(model, x, "--equalize")
                before, after = (decibels(expected, *run(m, x)) for m in (plain, equalized))
                self.assertGreater(after, before - 0.05)

    def test_equalization_of_other_channels(self):
        """A channel that keeps its weights leaves the others what they gain."""
        for relu in (True, False):
            net = Network(1, 3, 8, 8, seed=4)
            a = net.conv("x", 3, 8)
            first = net.nodes[-1]
            b = net.conv(net.add("Relu", a) if relu else a, 8, 4, 1)
            factors = np.float32(2.0) ** np.arange(-4, 4, dtype=np.float32)
            net.constants[first.input[1]] *= factors.reshape(8, 1, 1, 1)
            net.constants[first.input[2]] *= factors
            net.constants[net.nodes[-1].input[1]] /= factors.reshape(8, 1, 1)
            net.constants[first.input[1]][5] *= np.float32(1e-4)
            net.constants[first.input[2]][5] = 2
            model = net.model(b)
            x = samples(model)
            (expected,) = run(model, x)
            plain, _ = self.quantize(model, x)
            equalized, report = self.quantize(model, x, "--equalize")
            self.assertEqual(report["equalized"], 1)
            before, after = (decibels(expected, *run(m, x)) for m in (plain, equalized))
            self.assertGreater(after, before + 3)

    def test_bias_correction(self):
        """The mean error of each channel falls, most of all where weights round coarsely."""
        net = Network(1, 4, 10, 10, seed=5)
        a = net.conv("x", 4, 8, bias=False)
        wide = net.nodes[-1].input[1]
        net.constants[wide][0] *= 40 # all others have a few steps left
        b = net.add("Relu", a)
        model = net.model(net.conv(b, 8, 8))
        x = np.abs(samples(model, 8)) + 1
        (expected,) = run(model, x)
        errors = []
        for options in [], ["--bias-correction"]:
            quantized, report = self.quantize(model, x, *options)
            (actual,) = run(quantized, x)
            errors.append(np.abs((actual - expected).mean(axis=(0, 1, 3, 4))).max())
        self.assertEqual(report["corrected"], 2)
        self.assertLess(errors[1], 0.5 * errors[0])


if __name__ == "__main__":
    sys.exit(unittest.main())
