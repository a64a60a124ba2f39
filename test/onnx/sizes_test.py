"""Tests modules with variable input sizes: one module at many sizes, each against onnxruntime."""

import itertools
import pathlib
import platform
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto

import emitted
from sized_net import Net, random

NAMES = ("batch", "height", "width", "length", "other")


def dense():
    net = Net(x=(TensorProto.FLOAT, ["batch", 13]))
    hidden = net.add("Relu", net.add("Gemm", "x", net.weight(13, 32), net.weight(32)))
    net.outputs = [net.add("Softmax", net.add("MatMul", hidden, net.weight(32, 5)))]
    return net, {"x": "1..8x13"}, [{"batch": size} for size in (1, 2, 5, 8)]


def image():
    """Strided convolutions, a residual connection and pooling. The result is an image."""
    net = Net(x=(TensorProto.FLOAT, ["batch", 3, "height", "width"]))
    a = net.add("Relu", net.add("Conv", "x", net.weight(16, 3, 3, 3), net.weight(16),
                                pads=[1] * 4, strides=[2, 2]))
    b = net.add("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2])
    c = net.add("Conv", b, net.weight(16, 1, 3, 3), group=16, pads=[1] * 4)
    d = net.add("Add", net.add("Conv", c, net.weight(24, 16, 1, 1)),
                net.add("Conv", b, net.weight(24, 16, 1, 1)))
    pooled = net.add("Flatten", net.add("GlobalAveragePool", d))
    up = net.add("Resize", d, "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest")
    net.outputs = [net.add("Gemm", pooled, net.weight(24, 10)), net.add("Sigmoid", up),
                   net.add("AveragePool", d, kernel_shape=[3, 3], pads=[1] * 4)]
    sizes = [(1, 16, 16), (4, 64, 96), (2, 24, 32), (3, 40, 16), (1, 64, 48)]
    return net, {"x": "1..4x3x16..64:8x16..96:16"}, [
        dict(zip(("batch", "height", "width"), point)) for point in sizes]


def add_heads(net, x, weights, heads, order):
    """x divided into heads, by a reshape whose shape nodes compute, as exporters write it."""
    product = net.add("MatMul", x, weights)
    shape = net.add("Shape", x)
    parts = [net.add("Gather", shape, net.constant(np.int64([i])), axis=0) for i in (0, 1)]
    wanted = net.add("Concat", *parts, net.constant(np.int64([heads, -1])), axis=0)
    return net.add("Transpose", net.add("Reshape", product, wanted), perm=order)


def attention(query, memory, net, width, heads):
    q = add_heads(net, query, net.weight(width, width), heads, [0, 2, 1, 3])
    k = add_heads(net, memory, net.weight(width, width), heads, [0, 2, 3, 1])
    v = add_heads(net, memory, net.weight(width, width), heads, [0, 2, 1, 3])
    scores = net.add("Mul", net.add("MatMul", q, k), net.constant(np.float32(0.35)))
    mixed = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
    joined = net.add("Reshape", net.add("Transpose", mixed, perm=[0, 2, 1, 3]),
                     net.add("Shape", query))
    return net.add("Add", net.add("MatMul", joined, net.weight(width, width)), query)


def text():
    """Attention and embeddings with positions, which are a constant of each size."""
    net = Net(ids=(TensorProto.INT64, ["batch", "length"]))
    words = net.add("Gather", net.weight(50, 32), "ids")
    length = net.add("Gather", net.add("Shape", "ids"), net.constant(np.int64(1)))
    places = net.add("Range", net.constant(np.int64(0)), length,
                     net.constant(np.int64(1)))
    x = net.add("Add", words, net.add("Gather", net.weight(40, 32), places))
    x = net.add("LayerNormalization", x, net.weight(32), net.weight(32))
    y = attention(x, x, net, 32, 4)
    first = net.add("Gather", y, net.constant(np.int64(0)), axis=1)
    last = net.add("Gather", y, net.constant(np.int64(-1)), axis=1)
    net.outputs = [y, first, last, net.add("ReduceMean", y,
                                           net.constant(np.int64([1])), keepdims=0)]
    sizes = [(1, 1), (4, 40), (2, 7), (1, 39), (3, 16)]
    return net, {"ids": "1..4x1..40"}, [dict(zip(("batch", "length"), s)) for s in sizes]


def cross():
    """Two inputs of different lengths with the same batch."""
    net = Net(x=(TensorProto.FLOAT, ["batch", "length", 16]),
              memory=(TensorProto.FLOAT, ["batch", "other", 16]))
    net.outputs = [attention("x", "memory", net, 16, 2),
                   net.add("Concat", "x", "memory", axis=1)]
    sizes = [(1, 1, 1), (3, 12, 30), (2, 5, 6), (1, 12, 1)]
    return net, {"x": "1..3x1..12x16", "memory": "1..3x1..30x16"}, [
        dict(zip(("batch", "length", "other"), s)) for s in sizes]


def masked():
    """Two inputs, one of which determines the sizes of both."""
    net = Net(x=(TensorProto.FLOAT, ["batch", "length", 8]),
              mask=(TensorProto.FLOAT, ["batch", "length"]))
    axis = net.constant(np.int64([1]))
    kept = net.add("Mul", "x", net.add("Unsqueeze", "mask", net.constant(np.int64([2]))))
    net.outputs = [net.add("ReduceSum", kept, axis, keepdims=0),
                   net.add("ReduceSum", "mask", axis)]
    sizes = [(1, 1), (4, 40), (2, 7)]
    return net, {"mask": "1..4x1..40"}, [dict(zip(("batch", "length"), s)) for s in sizes]


def count(net, start, end):
    return net.add("Range", start, end, net.constant(np.int64(1)))


def measure(net, x, axis):
    """A dimension of x as a scalar."""
    return net.add("Gather", net.add("Shape", x), net.constant(np.int64(axis)))


def causal():
    """Scores with a mask, before and after a product with another one. The mask is a constant
    of each length: a corner of the largest one."""
    net = Net(x=(TensorProto.FLOAT, ["batch", "length", 8]))
    length = measure(net, "x", 1)
    places = count(net, net.constant(np.int64(0)), length)
    rows = net.add("Unsqueeze", places, net.constant(np.int64([1])))
    hidden = net.add("Less", rows, places)
    near = net.add("Less", net.add("Abs", net.add("Sub", rows, places)),
                   net.constant(np.int64(3)))
    y = "x"
    for _ in range(2):
        scores = net.add("MatMul", net.add("MatMul", y, net.weight(8, 8)),
                         net.add("Transpose", y, perm=[0, 2, 1]))
        scores = net.add("Where", hidden, net.constant(np.float32(-1e9)), scores)
        scores = net.add("Mul", scores, net.add("Cast", near, to=TensorProto.FLOAT))
        y = net.add("MatMul", net.add("Softmax", scores, axis=-1), y)
    net.outputs = [y]
    sizes = [(1, 1), (3, 20), (2, 7), (1, 19), (3, 2)]
    return net, {"x": "1..3x1..20x8"}, [dict(zip(("batch", "length"), s)) for s in sizes]


def relative():
    """Tables that are read around their middle or up to their end."""
    net = Net(x=(TensorProto.FLOAT, ["length", 4]))
    zero, length = net.constant(np.int64(0)), measure(net, "x", 0)
    around = count(net, net.add("Sub", net.constant(np.int64(1)), length), length)
    middle = net.add("Gather", net.weight(15, 4), net.add("Abs", around))
    end = net.add("Gather", net.weight(9, 4), net.add(
        "Max", count(net, net.add("Neg", length), zero), net.constant(np.int64(-5))))
    table = net.add("Gather", net.weight(31, 4), net.add("Add", around, net.constant(
        np.int64(15))))
    net.outputs = [net.add("MatMul", "x", net.add("Transpose", middle, perm=[1, 0])),
                   net.add("Add", "x", end), net.add("Mul", net.add("Cos", table), table)]
    return net, {"x": "1..15x4"}, [{"length": size} for size in (1, 2, 3, 9, 14, 15)]


def cached():
    """A token after those of a cache. Its position is a number, not a shape."""
    net = Net(x=(TensorProto.FLOAT, ["batch", 1, 8]), past=(TensorProto.FLOAT,
                                                          ["batch", "length", 8]))
    length = measure(net, "past", 1)
    place = count(net, length, net.add("Add", length, net.constant(np.int64(1))))
    x = net.add("Add", "x", net.add("Gather", net.weight(40, 8), place))
    angle = net.add("Mul", net.add("Unsqueeze", net.add("Cast", place, to=TensorProto.FLOAT),
                                   net.constant(np.int64([1]))), net.weight(1, 8))
    x = net.add("Mul", x, net.add("Cos", angle))
    present = net.add("Concat", "past", x, axis=1)
    scores = net.add("MatMul", x, net.add("Transpose", present, perm=[0, 2, 1]))
    mixed = net.add("MatMul", net.add("Softmax", scores, axis=-1), present)
    net.outputs = [mixed, present]
    sizes = [(1, 1), (3, 30), (2, 7), (1, 29), (3, 1)]
    return net, {"x": "1..3x1x8", "past": "1..3x1..30x8"}, [
        dict(zip(("batch", "length"), s)) for s in sizes]


def best_rows():
    """The row with the largest first element of each matrix. Its index counts the rows of all
    matrices before."""
    net = Net(x=(TensorProto.FLOAT, ["batch", "length", 4]))
    best = net.add("ArgMax", net.add("Gather", "x", net.constant(np.int64(0)), axis=2), axis=1,
                   keepdims=0)
    rows = count(net, net.constant(np.int64(0)), measure(net, "x", 0))
    axis = net.constant(np.int64([1]))
    places = net.add("Concat", net.add("Unsqueeze", rows, axis),
                     net.add("Unsqueeze", best, axis), axis=1)
    net.outputs = [net.add("GatherND", "x", places)]
    sizes = [(1, 1), (4, 12), (2, 7), (3, 1), (1, 11)]
    return net, {"x": "1..4x1..12x4"}, [dict(zip(("batch", "length"), s)) for s in sizes]


def moves():
    """Concats, slices, splits, pads and transposes of variable dimensions."""
    net = Net(x=(TensorProto.FLOAT, ["length", "batch", 6]))
    ints = lambda *values: net.constant(np.int64(values))
    turned = net.add("Transpose", "x", perm=[1, 2, 0])
    cut = net.add("Slice", "x", ints(1), ints(1000), ints(0))
    left, right = net.add("Split", "x", results=2, axis=2, num_outputs=2)
    padded = net.add("Pad", "x", ints(1, 0, 2, 2, 1, 0))
    net.outputs = [
        turned, cut, padded, net.add("Concat", "x", cut, axis=0),
        net.add("Concat", right, left, axis=2), net.add("Concat", turned, turned, axis=1),
        net.add("Reshape", turned, ints(0, -1)), net.add("Flatten", "x"),
        net.add("ReduceMax", "x", ints(0)), net.add("Softmax", "x", axis=0),
        net.add("Where", net.add("Greater", "x", net.constant(np.float32(0))), "x",
                net.weight(6)),
        net.add("Expand", net.weight(1, 6), net.add("Shape", "x")),
        net.add("Tile", "x", ints(1, 2, 1)), net.add("CumSum", "x", ints(0))]
    sizes = [(2, 1), (20, 5), (7, 2), (19, 4)]
    return net, {"x": "2..20x1..5x6"}, [dict(zip(("length", "batch"), s)) for s in sizes]


def quantized():
    """A quantized convolution and a dense layer, as quantizers write them."""
    net = Net(x=(TensorProto.FLOAT, ["batch", 4, 8, 8]))

    def quantize(value, scale, dtype=np.uint8):
        parameters = [net.constant(np.float32(scale)), net.constant(np.asarray(
            128 if dtype == np.uint8 else 0, dtype))]
        return net.add("DequantizeLinear",
                       net.add("QuantizeLinear", value, *parameters), *parameters)

    def weight(*shape):
        scale, zero = net.constant(np.float32(0.01)), net.constant(np.int8(0))
        values = random.integers(-127, 128, shape).astype(np.int8)
        return net.add("DequantizeLinear", net.constant(values), scale, zero)

    x = quantize("x", 0.03)
    y = quantize(net.add("Relu", net.add("Conv", x, weight(8, 4, 3, 3), pads=[1] * 4)), 0.06)
    y = quantize(net.add("Gemm", net.add("Flatten", y), weight(512, 10)), 0.3)
    net.outputs = [y]
    return net, {"x": "1..6x4x8x8"}, [{"batch": size} for size in (1, 2, 3, 6)]


def recurrent():
    net = Net(x=(TensorProto.FLOAT, ["length", "batch", 5]))
    net.outputs = net.add("LSTM", "x", net.weight(2, 28, 5), net.weight(2, 28, 7),
                          net.weight(2, 56), results=3, hidden_size=7,
                          direction="bidirectional")
    sizes = [(1, 1), (10, 3), (4, 2), (9, 1)]
    return net, {"x": "1..10x1..3x5"}, [dict(zip(("length", "batch"), s)) for s in sizes]


class Sizes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def save(self, net):
        path = self.folder / "net.onnx"
        onnx.save(net.model(), path)
        return path

    def feed(self, net, sizes):
        feeds = {}
        for name, (dtype, dims) in net.inputs.items():
            shape = [sizes.get(dim, dim) for dim in dims]
            feeds[name] = (random.integers(0, 50, shape) if dtype == TensorProto.INT64 else
                           random.normal(0, 1, shape).astype(np.float32))
        return feeds

    def check(self, made, *, atol=1e-5, targets=("native", "portable"), options=(), named=True):
        net, shapes, points = made
        path = self.save(net)
        if not named:
            model = onnx.load(path)
            for port in model.graph.input:
                for dim in port.type.tensor_type.shape.dim:
                    dim.ClearField("dim_param")
            onnx.save(model, path)
        # As the model defines it: fused, onnxruntime's sums of integers of 8 bits saturate on
        # machines that have AVX2 alone.
        exact = onnxruntime.SessionOptions()
        exact.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, exact)
        for target in emitted.in_turn(targets, self.id()):
            module = emitted.compile_model(
                path, self.folder / target, target=target, options=[
                    *options, *[f"--shape={name}={dims}" for name, dims in shapes.items()]])
            module.build()
            for sizes in points:
                with self.subTest(target=target, **sizes):
                    feeds = self.feed(net, sizes)
                    wanted = session.run(None, feeds)
                    actual = module(feeds, **sizes)
                    for name, want in zip(net.outputs, wanted):
                        self.assertEqual(actual[name].shape, want.shape, name)
                        np.testing.assert_allclose(actual[name], want, rtol=0, err_msg=name,
                                                   atol=atol * max(1, np.abs(want).max()))
        return module

    def test_dense(self):
        self.check(dense())

    def test_image(self):
        self.check(image())

    def test_image_of_any_size(self):
        """Sizes that strides do not divide."""
        sizes = [(1, 16, 16), (4, 65, 96), (2, 25, 33), (3, 43, 18), (1, 64, 47)]
        self.check((image()[0], {"x": "1..4x3x16..65x16..96"}, [
            dict(zip(("batch", "height", "width"), point)) for point in sizes]))

    def test_text(self):
        self.check(text())

    def test_two_inputs(self):
        self.check(cross())

    def test_sizes_of_another_input(self):
        self.check(masked())

    def test_sizes_without_names(self):
        """Keys, values and a mask of one length, and queries of another one."""
        dims = {"q": [1, "q_dim1", 16], "k": [1, "k_dim1", 16], "v": [1, "k_dim1", 16],
                "mask": [1, "k_dim1"], "bias": ["bias_dim0", 16]}
        net = Net(**{name: (TensorProto.FLOAT, shape) for name, shape in dims.items()})
        scores = net.add("MatMul", "q", net.add("Transpose", "k", perm=[0, 2, 1]))
        scores = net.add("Add", scores, net.add("Unsqueeze", "mask", net.constant(np.int64([1]))))
        net.outputs = [net.add("MatMul", net.add("Softmax", scores, axis=-1), "v"),
                       net.add("Neg", "bias")]
        shapes = {"q": "1x2..12x16", "k": "1x2..12x16", "v": "1x2..12x16", "mask": "1x2..12",
                  "bias": "2..12x16"}
        points = [(2, 2, 12), (12, 12, 3), (5, 9, 2), (7, 11, 5)]
        names = ("q_dim1", "k_dim1", "bias_dim0")
        self.check((net, shapes, [dict(zip(names, p)) for p in points]), named=False)

    def test_moves(self):
        self.check(moves())

    def test_corners_of_constants(self):
        self.check(causal())

    def test_middles_and_ends_of_constants(self):
        self.check(relative())

    def test_place_behind_a_cache(self):
        self.check(cached())

    def test_rows_of_matrices(self):
        self.check(best_rows())

    def test_quantized(self):
        # One unit of the output, where a product is halfway between two.
        # With AVX2 alone, floats are faster than integers: the layers have them in their place.
        here = ["x86-64-v3"] if platform.machine() == "x86_64" else []
        self.check(quantized(), atol=0.3, targets=["native", "portable", *here])

    def test_recurrent(self):
        self.check(recurrent())

    def test_one_size_of_several(self):
        net, _, points = image()
        fixed = [dict(sizes, batch=2, width=48) for sizes in points]
        self.check((net, {"x": "2x3x16..64:8x48"}, fixed))

    def test_statuses(self):
        net, shapes, _ = image()
        module = self.check((net, shapes, []), targets=["portable"])
        good = {"batch": 2, "height": 24, "width": 32}
        feeds = self.feed(net, good)
        module(feeds, **good)
        for name, size in (("batch", 0), ("batch", 5), ("batch", -1), ("height", 8),
                           ("height", 72), ("height", 20), ("width", 24)):
            with self.subTest(**{name: size}):
                with self.assertRaisesRegex(emitted.Failure, "returned 11"):
                    module.call(feeds, {**good, name: size})

    def test_commands(self):
        net, shapes, _ = cross()
        path = self.save(net)
        bounds = [f"--shape={name}={dims}" for name, dims in shapes.items()]
        for target in ("native", "cortex-m4"):
            emitted.nnc("verify", path, f"--target={target}", *bounds)
        files = []
        for name, array in self.feed(net, {"batch": 2, "length": 3, "other": 7}).items():
            np.save(self.folder / f"{name}.npy", array)
            files.append(f"--input={name}={self.folder / name}.npy")
        emitted.nnc("run", path, *bounds, *files, f"--output-dir={self.folder}")
        self.assertEqual(np.load(self.folder / f"{net.outputs[1]}.npy").shape, (2, 10, 16))
        np.save(self.folder / "x.npy", np.zeros((2, 13, 16), np.float32))
        with self.assertRaisesRegex(emitted.Failure, "length = 13.*1 to 12"):
            emitted.nnc("run", path, *bounds, *files)

    def test_joined_inputs(self):
        net = Net(x=(TensorProto.FLOAT, ["a", 3]), y=(TensorProto.FLOAT, ["b", 3]),
                  z=(TensorProto.FLOAT, ["c", 3]))
        net.outputs = [net.add("Neg", net.add("Concat", "x", "y", "z", axis=0))]
        points = [(1, 1, 1), (5, 2, 9), (6, 7, 1), (2, 7, 9)]
        self.check((net, {"x": "1..6x3", "y": "1..7x3", "z": "1..9x3"},
                    [dict(zip("abc", p)) for p in points]))

    def test_edges(self):
        """What a network does only at some sizes of the bounds is found, beside any batch."""
        def number(*values):
            return net.constant(np.array(values))

        def cut(axis, begin, end):
            return net.add("Slice", "x", number(begin), number(end), number(axis))

        def smallest(most):
            size = net.add("Shape", "x", start=1, end=2)
            return net.add("Min", size, number(most))

        makes = {
            "output": lambda: cut(1, 0, 5),
            "from the end": lambda: net.add("Neg", cut(1, -5, 100)),
            "within": lambda: net.add("ReduceSum", cut(1, 0, 5), number(1), keepdims=1),
            "count": lambda: net.add("TopK", "x", smallest(5), axis=1, results=2)[0],
            "value": lambda: net.add("Mul", "x", net.add("Cast", smallest(8),
                                                         to=TensorProto.FLOAT)),
            "shape": lambda: net.add("Expand", net.add("ReduceSum", "x", number(1), keepdims=1),
                                     net.add("Concat", number(1), smallest(7), axis=0))}
        for name, make in makes.items():
            for bounds in ("1..2x2..20", "1..3x2..20", "1..6x2..20", "1..8x1..20", "1..3x4..64"):
                net = Net(x=(TensorProto.FLOAT, ["batch", "length"]))
                net.outputs = [make()]
                with self.subTest(name=name, bounds=bounds):
                    with self.assertRaisesRegex(emitted.Failure, "varies with the sizes") as caught:
                        emitted.nnc("compile", self.save(net), "-o", self.folder / "out",
                                    f"--shape=x={bounds}")
                    self.assertEqual(caught.exception.code, emitted.LACKING)
                    most = bounds.replace("1..", "").replace("2..", "").replace("4..", "")
                    self.assertIn(f"; 'batch' is axis 0 of 'x', 'length' is axis 1 of 'x'; --shape "
                                  f"x={most} compiles the model for the largest sizes alone",
                                  str(caught.exception))
        # Beyond the switch all sizes are alike, also where the slice takes all.
        net = Net(x=(TensorProto.FLOAT, ["batch", "length"]))
        net.outputs = [cut(1, 0, 5)]
        self.check((net, {"x": "1..3x5..20"},
                    [{"batch": b, "length": n} for b, n in ((1, 5), (3, 20), (2, 6))]))

    def test_refusals(self):
        path = self.save(image()[0])
        for words, why, code in (
                (["--shape=x=1x3x16..64:7x16"], "not of the form", emitted.USAGE),
                (["--shape=x=0..4x3x16x16"], "not of the form", emitted.USAGE),
                (["--shape=x=4..1x3x16x16"], "not of the form", emitted.USAGE),
                (["--shape=x=1..4:0x3x16x16"], "not of the form", emitted.USAGE),
                (["--shape=x=1..4x3..5x16x16"], "does not fit", emitted.USAGE),
                (["--shape=x=1x3x1..64:8x16"], "not of the form", emitted.USAGE)):
            with self.subTest(words=words):
                with self.assertRaisesRegex(emitted.Failure, why) as caught:
                    emitted.nnc("compile", path, "-o", self.folder / "out", *words)
                self.assertEqual(caught.exception.code, code)
                self.assertFalse((self.folder / "out").exists())
        with self.assertRaisesRegex(emitted.Failure, "takes one size"):
            emitted.nnc("bench", path, "--shape=x=1..4x3x16x16")


if __name__ == "__main__":
    unittest.main()
