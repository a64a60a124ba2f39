"""nnc quantize: the models that it writes, judged by onnxruntime, by numpy, and by nnc."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
# Models that run once are built as fast as can be; small ones are evaluated in less time.
QUICK = "--compiler=c++ -O1"


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


class Network:
    """A float model of named nodes, whose weights are random."""

    def __init__(self, *shape, opset=17, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.shape, self.opset = [], {}, list(shape), opset

    def constant(self, array):
        name = f"w{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def weights(self, *shape):
        fan = np.prod(shape[1:]) if len(shape) > 1 else 4
        values = self.random.standard_normal(shape) / np.sqrt(fan)
        return self.constant(values.astype(np.float32))

    def add(self, op, *inputs, name=None, **attributes):
        name = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def conv(self, x, inputs, outputs, kernel=3, group=1, bias=True):
        operands = [x, self.weights(outputs, inputs // group, kernel, kernel)]
        if bias:
            operands.append(self.weights(outputs))
        return self.add("Conv", *operands, group=group, pads=[kernel // 2] * 4)

    def model(self, *outputs):
        graph = helper.make_graph(
            self.nodes, "graph", [value("x", self.shape)],
            [helper.make_empty_tensor_value_info(name) for name in outputs],
            [numpy_helper.from_array(a, name) for name, a in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8)
        helper.set_model_props(model, {"labels": "a b"})
        model = onnx.shape_inference.infer_shapes(model) # of the outputs
        del model.graph.value_info[:]
        return model


def everything(opset=17):
    """Each kind of layer once or twice; the output is scores of 5 classes."""
    net = Network(1, 3, 12, 12, opset=opset)
    a = net.add("Relu", net.conv("x", 3, 8))
    b = net.add("Clip", net.conv(a, 8, 8, group=8, bias=False),
                net.constant(np.float32(0)), net.constant(np.float32(2)))
    c = net.add("Relu", net.add("Add", net.conv(b, 8, 8, 1), a))
    d = net.add("MaxPool", c, kernel_shape=[2, 2], strides=[2, 2])
    e = net.add("AveragePool", c, kernel_shape=[2, 2], strides=[2, 2])
    f = net.add("Concat", d, e, net.conv(d, 8, 4, 1), axis=1)
    g = net.add("ConvTranspose", f, net.weights(20, 6, 2, 2), net.weights(6), strides=[2, 2])
    h = net.add("Mul", net.conv(g, 6, 6), net.conv(g, 6, 6))
    i = net.add("Transpose", h, perm=[0, 2, 3, 1])
    j = net.add("MatMul", i, net.weights(6, 7))
    k = net.add("Relu", net.add("Add", j, net.weights(7)))
    l = net.add("Transpose", k, perm=[0, 3, 1, 2])
    m = net.add("Flatten", net.add("GlobalAveragePool", l))
    n = net.add("Gemm", m, net.weights(5, 7), net.weights(5), transB=1)
    return net.model(n)


def samples(model, count=6, seed=1):
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(seed)
    return random.standard_normal((count, *shape)).astype(np.float32)


def run(model, x, names=None, integers=False):
    """Results of onnxruntime, node by node as ONNX defines them; with `integers` by its
    integer kernels, whose sums saturate on machines that have AVX2 alone."""
    options = onnxruntime.SessionOptions()
    if not integers:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    results = [session.run(names, {"x": each}) for each in x]
    return [np.stack(each) for each in zip(*results)]


def observe(model, names, x):
    """The values of tensors of a model, by onnxruntime."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    known = {output.name for output in copy.graph.output}
    copy.graph.output.extend(helper.make_empty_tensor_value_info(name)
                             for name in names if name not in known)
    return dict(zip(names, run(copy, x, list(names))))


def decibels(expected, actual):
    noise = np.square(expected.astype(np.float64) - actual).sum()
    return 10 * np.log10(np.square(expected.astype(np.float64)).sum() / max(noise, 1e-300))


def constant(model, name):
    (found,) = [t for t in model.graph.initializer if t.name == name]
    return numpy_helper.to_array(found)


def ops(model):
    return [node.op_type for node in model.graph.node]


class TestCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def quantize(self, model, x, *options, native=False):
        """The quantized model and the report; the model is built if `native`."""
        onnx.save(model, self.folder / "float.onnx")
        np.savez(self.folder / "samples.npz", x=x)
        done = subprocess.run(
            [NNC, "quantize", "float.onnx", "--calibration=samples.npz", "-o", "int8.onnx",
             "--json", *([QUICK] if native else []), *options], cwd=self.folder,
            env=os.environ if native else {**os.environ, "CXX": "none"},
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        quantized = onnx.load(self.folder / "int8.onnx")
        onnx.checker.check_model(quantized, full_check=True)
        return quantized, json.loads(done.stdout)


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
    """The range of the input, against implementations in numpy: its values are known."""

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


class Unrounded(TestCase):
    def swish(self, opset=17):
        """Convolutions and a matrix product with activations that stay float between them, and
        one, a, whose result another layer reads, too."""
        net = Network(1, 8, 12, 12, opset=opset, seed=9)
        a = net.conv("x", 8, 16)
        b = net.add("Mul", a, net.add("Sigmoid", a))
        c = net.conv(b, 16, 16, 1)
        d = net.add("Mul", c, net.add("HardSigmoid", c))
        e = net.add("Relu", net.conv(d, 16, 16))
        f = net.add("Add", e, net.conv(a, 16, 16, 1))
        g = net.add("Transpose", f, perm=[0, 2, 3, 1])
        h = net.add("Add", net.add("MatMul", g, net.weights(16, 10)), net.weights(10))
        i = net.add("Mul", h, net.add("Tanh", h))
        j = net.add("MatMul", i, net.weights(10, 6))
        self.names = {"rounded": [a, e, f], "unrounded": [c, h, j]}
        return net.model(j)

    def test_rounds_once(self):
        """What only float nodes read, and the model's output, are not rounded: less is lost, and
        nnc computes the layers in integers all the same."""
        model = self.swish()
        x = samples(model, 4)
        (expected,) = run(model, x)
        plain, _ = self.quantize(model, x, "--per-channel")
        for options in [], ["--activations=u8", "--bias-correction"], ["--mixed", "--max-drop=90%",
                                                                      "--target=aarch64-i8mm"]:
            with self.subTest(options=options):
                quantized, report = self.quantize(model, x, "--per-channel", "--unrounded", *options)
                scales = {layer["output"]: layer["scale"] for layer in report["layers"]}
                for name in self.names["rounded"]:
                    self.assertIsNotNone(scales[name])
                for name in self.names["unrounded"]:
                    self.assertIsNone(scales[name])
                rounded = {node.input[0] for node in quantized.graph.node
                           if node.op_type == "QuantizeLinear"}
                self.assertLessEqual({*self.names["rounded"]}, rounded)
                self.assertFalse(rounded & {*self.names["unrounded"]})
                (once,), (twice,) = run(quantized, x), run(plain, x)
                self.assertGreater(decibels(expected, once), decibels(expected, twice) + 1)
                self.assertAlmostEqual(report["outputs"][0]["sqnr_db"], decibels(expected, once),
                                       delta=0.5)
                done = subprocess.run([NNC, "check", "int8.onnx", "--target=aarch64-i8mm", "--json",
                                       "--no-build"], cwd=self.folder, capture_output=True,
                                      text=True)
                self.assertEqual(done.returncode, 0, done.stdout)
                floats = json.loads(done.stdout)["quantized"]["float_layers"]
                self.assertFalse([l for l in floats if l["op"] in ("conv", "matmul", "dense")])
                verified = subprocess.run([NNC, "verify", "int8.onnx", "--random=2"],
                                          cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_text(self):
        model = self.swish()
        self.quantize(model, samples(model, 2))
        done = subprocess.run([NNC, "quantize", "float.onnx", "--calibration=samples.npz",
                               "--unrounded", "-o", "int8.onnx"], cwd=self.folder,
                              env={**os.environ, "CXX": "none"}, capture_output=True, text=True)
        self.assertRegex(done.stdout, r"conv3 +Conv .* not rounded ")


class Tables(TestCase):
    """Gather of a constant table: the table becomes 8 bits, and the rows are dequantized."""

    def indices(self, count=5):
        random = np.random.default_rng(4)
        return random.integers(-40, 40, (count, 2, 6)).astype(np.float32)

    def network(self, opset=17):
        net = Network(2, 6, opset=opset, seed=11)
        self.i = net.add("Cast", "x", to=TensorProto.INT64)
        # The elements of a row have ranges of their own.
        table = net.random.standard_normal((40, 64)) * np.geomspace(0.1, 10, 64)
        self.table = net.constant(table.astype(np.float32))
        return net

    def embeddings(self, opset=17):
        """Rows that float nodes read, that a matrix product reads, and that are an output; a
        table by its columns, and one of scalars."""
        net = self.network(opset)
        a = net.add("Gather", self.table, self.i, name="words")
        b = net.add("Gather", self.table, self.i, name="again", axis=-2)
        columns = net.constant(net.random.standard_normal((64, 40)).astype(np.float32))
        c = net.add("Gather", columns, self.i, name="columns", axis=1)
        scalars = net.constant(net.random.standard_normal(40).astype(np.float32))
        d = net.add("Gather", scalars, self.i, name="scalars")
        y = net.add("Relu", net.add("MatMul", b, net.weights(64, 8)))
        z = net.add("Tanh", net.add("MatMul", net.add("Tanh", a), net.weights(64, 8)))
        return net.model(y, z, a, c, d)

    def test_tables(self):
        x = self.indices()
        for opset, options in (10, []), (17, []), (17, ["--per-channel"]):
            with self.subTest(opset=opset, options=options):
                model = self.embeddings(opset)
                quantized, report = self.quantize(model, x, *options)
                gathers = [node for node in quantized.graph.node if node.op_type == "Gather"]
                self.assertEqual(len(gathers), 4)
                for node in gathers:
                    self.assertEqual(constant(quantized, node.input[0]).dtype, np.int8)
                # The two layers of one table share its integers, and no floats are left.
                self.assertEqual(gathers[0].input[0], gathers[1].input[0])
                self.assertFalse([t.name for t in quantized.graph.initializer
                                  if t.data_type == TensorProto.FLOAT and len(t.dims) > 1])
                rounded = {layer["name"]: layer["scale"] is not None for layer in report["layers"]}
                self.assertEqual([rounded[n] for n in ("words", "again", "columns", "scalars")],
                                 [False, True, False, False])
                expected, actual = run(model, x), run(quantized, x)
                for e, a in zip(expected, actual):
                    self.assertGreater(decibels(e, a), 18)
                # Each element is within half of a unit, which with --per-channel is its column's.
                table = constant(model, self.table)
                axis = 0 if options else None
                half = np.abs(table).max(axis=axis) / 127 / 2
                self.assertLessEqual((np.abs(actual[2] - expected[2]) / half).max(), 1.001)
                sizes = []
                for name in "float", "int8":
                    done = subprocess.run(
                        [NNC, "compile", f"{name}.onnx", "--json", "--target=x86-64-v3", "-o",
                         f"{name}{opset}{len(options)}"], cwd=self.folder, capture_output=True,
                        text=True)
                    self.assertEqual(done.returncode, 0, done.stdout)
                    sizes.append(json.loads(done.stdout)["weight_bytes"])
                self.assertLess(sizes[1], 0.35 * sizes[0])
                verified = subprocess.run([NNC, "verify", "int8.onnx", "--random=2"],
                                          cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_tables_that_stay(self):
        """Tables that others read as floats, of halves, and constant rows stay what they are."""
        net = self.network()
        a = net.add("Gather", self.table, self.i, name="tied")
        b = net.add("MatMul", a, net.add("Transpose", self.table, perm=[1, 0]))
        huge = net.constant(np.full((40, 2), np.inf, np.float32))
        halves = net.constant(net.random.standard_normal((40, 40)).astype(np.float16))
        c = net.add("Cast", net.add("Gather", halves, self.i, name="halves"), to=TensorProto.FLOAT)
        d = net.add("Gather", huge, self.i, name="huge")
        e = net.add("Gather", net.weights(40, 40), self.i, name="excluded")
        f = net.add("Gather", net.weights(40, 40), net.constant(np.int64([1, 2])), name="known")
        g = net.add("Gather", b, net.constant(np.int64([1])), name="rows", axis=2)
        h = net.add("Gather", net.weights(40, 40), self.i, name="table")
        model = net.model(b, c, d, e, f, g, h)
        quantized, report = self.quantize(model, self.indices(), "--exclude=excluded")
        self.assertEqual([l["name"] for l in report["layers"] if l["op"] == "Gather"], ["table"])
        reasons = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
        self.assertIn("excluded", reasons["excluded"])
        for node in quantized.graph.node:
            if node.op_type == "Gather" and node.name not in ("table", "rows"):
                self.assertNotEqual(constant(quantized, node.input[0]).dtype, np.int8)


class Drop(TestCase):
    def sensitive(self):
        """A network whose second layer has a weight that leaves the others no steps."""
        net = Network(1, 3, 8, 8, seed=2)
        a = net.add("Relu", net.conv("x", 3, 8))
        b = net.add("Relu", net.conv(a, 8, 8), name="weak")
        self.weak = net.nodes[-2].name
        w = net.constants[net.nodes[-2].input[1]]
        w[0, 0, 0, 0] = 400
        c = net.add("Relu", net.conv(b, 8, 8))
        w = net.constants[net.nodes[-2].input[1]]
        w[:, 0] = 0 # nothing needs the channel with that weight
        d = net.add("Flatten", c)
        return net.model(net.add("Gemm", d, net.weights(6, 512), net.weights(6), transB=1))

    def test_keeps_layers_float(self):
        model = self.sensitive()
        x = samples(model, 20)
        _, before = self.quantize(model, x)
        self.assertGreater(before["drop"], 0.1)
        for options in [], ["--mixed"]:
            quantized, report = self.quantize(model, x, "--max-drop=5%", *options)
            self.assertLessEqual(report["drop"], 0.05)
            kept = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
            self.assertIn(self.weak, kept)
            self.assertIn("kept for accuracy", kept[self.weak])
            # The last layer has nothing to do with that.
            self.assertEqual(report["layers"][-1]["op"], "Gemm")
            self.assertGreater(report["evaluated"], 1)
            self.assertEqual("time_estimate" in report, bool(options))
            expected, actual = *run(model, x), *run(quantized, x)
            same = (expected.argmax(-1) == actual.argmax(-1)).mean()
            self.assertGreaterEqual(same, 0.9)

    def explain(self, model, target):
        done = subprocess.run([NNC, "explain", model, f"--target={target}", "--json"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def convs(self):
        """Convolutions of 3 x 3, which floats have Winograd's method for, and of 1 x 1."""
        net = Network(1, 32, 14, 14, seed=3)
        a = net.add("Relu", net.conv("x", 32, 32))
        b = net.add("Relu", net.conv(a, 32, 32, 1))
        c = net.add("Relu", net.conv(b, 32, 32))
        return net.model(net.conv(c, 32, 64, 1))

    def test_times(self):
        """--mixed keeps those layers float that nnc compile would make floats on the target, and
        is never slower than the float and the quantized model, by the estimates of nnc explain."""
        model = self.convs()
        x = samples(model, 2)
        kept_somewhere = quantized_somewhere = mixed_somewhere = False
        for target in "portable", "x86-64-v3", "x86-64-v4", "aarch64", "aarch64-i8mm":
            with self.subTest(target=target):
                self.quantize(model, x, "--per-channel")
                (self.folder / "int8.onnx").rename(self.folder / "all.onnx")
                _, report = self.quantize(model, x, "--per-channel", "--mixed", "--max-drop=50%",
                                          f"--target={target}")
                estimates = report["time_estimate"]
                self.assertEqual(estimates["target"], target)
                explained = {name: self.explain(f"{name}.onnx", target)
                             for name in ("float", "all", "int8")}
                for name, key in [("float", "float_us"), ("all", "int8_us"), ("int8", "us")]:
                    self.assertAlmostEqual(1e6 * explained[name]["seconds"] / estimates[key], 1,
                                           delta=1e-6)
                self.assertLessEqual(estimates["us"],
                                     min(estimates["float_us"], estimates["int8_us"]))
                slower = {layer["model_name"] for layer in explained["all"]["layers"]
                          if "floats are estimated" in layer.get("float_because", "")}
                kept = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
                if report["layers"]:
                    self.assertEqual(set(kept), slower)
                    mixed_somewhere = mixed_somewhere or bool(kept)
                else:
                    self.assertLessEqual(slower, set(kept))
                    self.assertIn("all layers stay float", report["problems"][-1]["message"])
                for reason in kept.values():
                    self.assertIn(f"kept for speed: on target {target} ", reason)
                for layer in report["layers"]:
                    self.assertLessEqual(layer["int8_us"], layer["float_us"])
                kept_somewhere = kept_somewhere or not report["layers"]
                quantized_somewhere = quantized_somewhere or not kept
        self.assertTrue(kept_somewhere and quantized_somewhere and mixed_somewhere)

    def test_accuracy_costs_time(self):
        """Where one of two layers has to be float, it is the one that integers save less time
        in; without --mixed it is the one that adds more noise."""
        net = Network(1, 16, 16, 16, seed=6)
        small = net.add("MaxPool", "x", kernel_shape=[8, 8], strides=[8, 8])
        # One weight leaves the others few steps.
        convs = []
        for operand, largest in (small, 0.7), ("x", 120):
            net.conv(operand, 16, 16)
            net.constants[net.nodes[-1].input[1]][15, 0, 0, 0] = largest
            convs.append(net.nodes[-1].name)
        model = net.model(*convs)
        x = samples(model, 4)
        script = self.floats_metric()
        for options, first in [(["--mixed", "--target=aarch64-i8mm"], convs[0]), ([], convs[1])]:
            _, report = self.quantize(model, x, f"--metric={script}", "--max-drop=0", *options)
            reasons = {layer["name"]: layer["reason"] for layer in report["float_layers"]}
            self.assertEqual([*reasons], [first])
            self.assertIn("kept for accuracy, number 1 ", reasons[first])
            self.assertEqual("for the time that integers save" in reasons[first], bool(options))

    def floats_metric(self):
        """A command that prints 10 where a model has float weights of 3 x 3, else 7."""
        script = self.folder / "metric.py"
        script.write_text(
            f"#!{sys.executable}\nimport onnx, sys\nm = onnx.load(sys.argv[1])\n"
            "print('some text')\n"
            "print(10 if any(t.dims[2:] == [3, 3] and t.data_type == 1\n"
            "                for t in m.graph.initializer) else 7)\n")
        script.chmod(0o755)
        return script

    def test_metric(self):
        """A command that counts float weights is one that --max-drop serves."""
        model = self.sensitive()
        x = samples(model, 4)
        script = self.folder / "metric.py"
        script.write_text(
            f"#!{sys.executable}\nimport onnx, sys\nm = onnx.load(sys.argv[1])\n"
            "print('some text')\n"
            "print(10 if any(t.dims[:2] == [8, 8] and t.data_type == 1\n"
            "                for t in m.graph.initializer) else 7)\n")
        script.chmod(0o755)
        _, report = self.quantize(model, x, f"--metric={script}")
        self.assertEqual((report["float_metric"], report["quantized_metric"]), (10, 7))
        self.assertAlmostEqual(report["drop"], 0.3)
        _, report = self.quantize(model, x, f"--metric={script}", "--max-drop=10%")
        self.assertEqual(report["quantized_metric"], 10)

    def test_many_samples(self):
        """Of many samples all count for the metric, and some for the noise of the layers."""
        net = Network(1, 3, 4, 4)
        model = net.model(net.conv(net.conv("x", 3, 4), 4, 2))
        x = samples(model, 70)
        # These are none of the samples on which the tensors in between are compared.
        x[1::3] *= 4
        quantized, report = self.quantize(model, x)
        expected, actual = *run(model, x), *run(quantized, x)
        error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
        self.assertAlmostEqual(report["drop"], error, delta=0.02 * error)
        last = report["layers"][-1]["sqnr_db"]
        self.assertAlmostEqual(last, decibels(expected[::3], actual[::3]), delta=0.3)
        self.assertGreater(abs(last - report["outputs"][0]["sqnr_db"]), 1)

    def test_regression(self):
        """An output that is no scores of classes: the relative error is the drop."""
        net = Network(1, 3, 8, 8)
        model = net.model(net.conv(net.conv("x", 3, 8), 8, 2))
        x = samples(model)
        quantized, report = self.quantize(model, x, "--max-drop=90%")
        expected, actual = *run(model, x), *run(quantized, x)
        error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
        self.assertEqual(report["metric"], "relative L2 error")
        self.assertAlmostEqual(report["drop"], error, delta=0.05 * error)
        # Nothing but the float model has none.
        quantized, report = self.quantize(model, x, "--max-drop=0")
        self.assertEqual(report["layers"], [])
        self.assertNotIn("QuantizeLinear", ops(quantized))
        np.testing.assert_array_equal(*run(model, x), *run(quantized, x))


if __name__ == "__main__":
    sys.exit(unittest.main())
