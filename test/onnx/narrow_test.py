"""Tests models of float16 and bfloat16: inputs, outputs, weights, constants and casts. nnc
computes them in float32, so that a result is that of the float32 network with rounded weights
and inputs, rounded once."""

import pathlib
import sys
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import emitted

random = np.random.default_rng(16)
HALVES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
# Half a unit in the last place of each format, and for float32's own rounding a little more.
UNITS = {"float16": 0.51 * 2.0**-10, "bfloat16": 0.51 * 2.0**-7}


def data_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class Net:
    """A float network whose weights and inputs are exact in 16 bits."""

    def __init__(self, half, opset=18):
        self.half, self.opset = half, opset
        self.nodes, self.feeds, self.weights, self.outputs = [], {}, {}, []

    def rounded(self, array):
        return np.asarray(array, np.float32).astype(self.half).astype(np.float32)

    def input(self, *shape):
        name = f"x{len(self.feeds)}"
        self.feeds[name] = self.rounded(random.standard_normal(shape))
        return name

    def weight(self, array):
        name = f"w{len(self.weights)}"
        array = np.asarray(array)
        self.weights[name] = array if array.dtype.kind == "i" else self.rounded(array)
        return name

    def random(self, *shape):
        return self.weight(random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1))

    def add(self, op, *operands, **attributes):
        name = f"t{len(self.nodes)}_{op}"
        self.nodes.append(helper.make_node(op, operands, [name], name, **attributes))
        return name

    def output(self, name):
        self.outputs.append(name)

    def model(self, half=None, io=None, raw=True):
        """The model in float32, or of the type `half`; with inputs and outputs of type `io`.
        Without `raw` weights lie in ONNX's typed fields."""
        half, nodes = half or np.float32, list(self.nodes)
        io = io or half
        renamed = {}
        if io is not half:
            renamed = {name: name + "_cast" for name in [*self.feeds, *self.outputs]}
            nodes = [helper.make_node(
                node.op_type, [renamed.get(n, n) for n in node.input],
                [renamed.get(n, n) for n in node.output], node.name) for node in nodes]
            for new, old in zip(nodes, self.nodes):
                new.attribute.extend(old.attribute)
            before = [helper.make_node("Cast", [n], [renamed[n]], to=data_type(half))
                      for n in self.feeds]
            nodes = before + nodes + [helper.make_node("Cast", [renamed[n]], [n],
                                                       to=data_type(io)) for n in self.outputs]
        weights = []
        for name, array in self.weights.items():
            array = array if array.dtype.kind == "i" else array.astype(half)
            if raw or array.dtype.kind == "i":
                weights.append(numpy_helper.from_array(array, name))
            else:
                weights.append(helper.make_tensor(name, data_type(half), array.shape,
                                                  array.astype(np.float32).flatten()))
        graph = helper.make_graph(
            nodes, "net",
            [helper.make_tensor_value_info(name, data_type(io), array.shape)
             for name, array in self.feeds.items()],
            [helper.make_tensor_value_info(name, data_type(io), None)
             for name in self.outputs], weights)
        return helper.make_model(graph, ir_version=10,
                                 opset_imports=[helper.make_opsetid("", self.opset)])

    def expected(self):
        session = onnxruntime.InferenceSession(self.model().SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        return session.run(self.outputs, self.feeds)


def run(model, feeds, target, options=()):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "net.onnx"
        onnx.save(model, path)
        module = emitted.compile_model(path, path.parent / "out", target=target,
                                       options=options)
        header = (path.parent / "out" / "model.h").read_text()
        module.build()
        return module(feeds), header


class Networks(unittest.TestCase):
    """Tests whole networks in both types, entirely in 16 bits or surrounded by float32."""

    def check(self, make, opset=22):
        for name, half in HALVES.items():
            net = Net(half, opset)
            make(net)
            expected = net.expected()
            kinds = ((half, "native"), (half, "portable"), (np.float32, "native"))
            for io, target in emitted.in_turn(kinds, f"{self.id()} {name}"):
                with self.subTest(half=name, io=np.dtype(io).name, target=target):
                    feeds = {n: a.astype(io) for n, a in net.feeds.items()}
                    raw = target == "native"
                    actual, header = run(net.model(half, io, raw), feeds, target)
                    self.assertEqual("uint16_t *" in header, io is half)
                    for output, want in zip(net.outputs, expected):
                        got = actual[output]
                        self.assertEqual(got.dtype, np.dtype(io))
                        self.assertGreater(np.abs(want).max(), 0.01)
                        np.testing.assert_allclose(
                            got.astype(np.float32), want, rtol=UNITS[name],
                            atol=1e-5 * np.abs(want).max(), err_msg=output)

    def test_convolutions(self):
        def make(net):
            x = net.input(1, 3, 18, 17)
            y = net.add("Conv", x, net.random(16, 3, 3, 3), net.random(16), pads=[1] * 4,
                        strides=[2, 2])
            y = net.add("BatchNormalization", y, *(net.weight(np.abs(random.standard_normal(16)))
                                                   for _ in range(4)))
            y = net.add("HardSwish", y)
            d = net.add("Conv", y, net.random(16, 1, 3, 3), pads=[1] * 4, group=16)
            d = net.add("Clip", d, net.weight(-2.0), net.weight(2.0))
            y = net.add("Add", y, net.add("Conv", d, net.random(16, 16, 1, 1)))
            y = net.add("MaxPool", net.add("Relu", y), kernel_shape=[3, 3], strides=[2, 2])
            y = net.add("ConvTranspose", y, net.random(16, 8, 2, 2), strides=[2, 2])
            net.output(y)
            y = net.add("GlobalAveragePool", y)
            y = net.add("Gemm", net.add("Flatten", y), net.random(8, 10), net.random(10))
            net.output(net.add("Softmax", y))

        self.check(make)

    def test_transformer(self):
        def make(net):
            ids = net.weight(np.array([[3, 1, 4, 1, 5, 9]], np.int64))
            x = net.add("Add", net.add("Gather", net.random(12, 16), ids), net.input(1, 6, 16))
            x = net.add("LayerNormalization", x, net.random(16), net.random(16), axis=-1)

            def heads(w):
                y = net.add("Add", net.add("MatMul", x, w), net.random(16))
                y = net.add("Reshape", y, net.weight(np.array([0, 6, 2, 8], np.int64)))
                return net.add("Transpose", y, perm=[0, 2, 1, 3])

            q, k, v = (heads(net.random(16, 16)) for _ in range(3))
            scores = net.add("MatMul", q, net.add("Transpose", k, perm=[0, 1, 3, 2]))
            scores = net.add("Div", scores, net.weight(2.75))
            y = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
            y = net.add("Reshape", net.add("Transpose", y, perm=[0, 2, 1, 3]),
                        net.weight(np.array([0, 6, 16], np.int64)))
            y = net.add("Add", x, y)
            net.output(y)
            h = net.add("MatMul", y, net.random(16, 32))
            h = net.add("Mul", net.add("Mul", h, net.weight(0.5)), net.add(
                "Add", net.add("Erf", net.add("Div", h, net.weight(1.4140625))),
                net.weight(1.0)))
            net.output(net.add("ReduceMean", net.add("MatMul", h, net.random(32, 4)),
                               net.weight(np.array([1], np.int64))))

        self.check(make)

    def test_moves(self):
        """What only moves elements keeps them, and what only compares them."""
        def make(net):
            x, y = net.input(2, 3, 4), net.input(2, 3, 4)
            net.output(net.add("Transpose", x, perm=[2, 0, 1]))
            net.output(net.add("Concat", x, y, axis=1))
            net.output(net.add("Slice", x, *(net.weight(np.array([v], np.int64))
                                             for v in (1, 4, 2))))
            net.output(net.add("Max", x, y))
            net.output(net.add("Where", net.add("Less", x, y), y, x))
            net.output(net.add("Pad", x, net.weight(np.array([0, 1, 0, 0, 0, 2], np.int64)),
                               net.weight(0.5)))
            net.output(net.add("Identity", x))

        self.check(make)

    def test_against_onnxruntime(self):
        """onnxruntime's own float16, which rounds after each node."""
        net = Net(np.float16)
        x = net.add("Tanh", net.add("MatMul", net.input(5, 40), net.random(40, 24)))
        net.output(net.add("Softmax", net.add("MatMul", x, net.random(24, 7))))
        model = net.model(np.float16)
        feeds = {n: a.astype(np.float16) for n, a in net.feeds.items()}
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        want, = session.run(net.outputs, feeds)
        actual, _ = run(model, feeds, "native")
        got = actual[net.outputs[0]]
        self.assertEqual(got.dtype, want.dtype)
        np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=5e-3, atol=1e-4)


class Commands(unittest.TestCase):
    """Tests `nnc verify` and `nnc run`, also on emulated targets."""

    def small(self, half):
        net = Net(half, 22)
        x = net.add("Conv", net.input(1, 3, 8, 8), net.random(8, 3, 3, 3), net.random(8))
        x = net.add("Conv", net.add("Relu", x), net.random(8, 8, 1, 1))
        net.output(net.add("GlobalAveragePool", x))
        return net

    def test_verify(self):
        for name, half in HALVES.items():
            with self.subTest(half=name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "net.onnx"
                onnx.save(self.small(half).model(half), path)
                for target in ("native", "portable"):
                    self.assertIn("same", emitted.nnc("verify", path, f"--target={target}"))

    def test_emulated(self):
        for (name, half), target, options, rtol in (
                (("float16", np.float16), "aarch64", [], 1e-3),
                (("bfloat16", ml_dtypes.bfloat16), "aarch64", [], 8e-3),
                (("float16", np.float16), "aarch64-fp16", ["--precision=f16"], 1e-2)):
            with self.subTest(half=name, target=target), tempfile.TemporaryDirectory() as folder:
                net = self.small(half)
                path = pathlib.Path(folder) / "net.onnx"
                onnx.save(net.model(half), path)
                feeds = {n: a.astype(half) for n, a in net.feeds.items()}
                got = emitted.run_in_emulator(path, path.parent / "run", feeds, target=target,
                                              options=options)[net.outputs[0]]
                want, = net.expected()
                np.testing.assert_allclose(got.view(half).astype(np.float32), want, rtol=rtol,
                                           atol=rtol * np.abs(want).max())

    def test_small_integers(self):
        """Inputs of 4 bits are given as bytes."""
        q = random.integers(-8, 8, (2, 5)).astype(np.int8)
        graph = helper.make_graph(
            [helper.make_node("DequantizeLinear", ["q", "s"], ["y"])], "net",
            [helper.make_tensor_value_info("q", TensorProto.INT4, q.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, q.shape)],
            [numpy_helper.from_array(np.float32(0.5), "s")])
        model = helper.make_model(graph, ir_version=10,
                                  opset_imports=[helper.make_opsetid("", 21)])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "net.onnx"
            onnx.save(model, path)
            got = emitted.run_in_emulator(path, path.parent / "run", {"q": q}, target="native")
            np.testing.assert_array_equal(got["y"], q * np.float32(0.5))


class Casts(unittest.TestCase):
    """Tests that casts round exactly as the model says, bit for bit."""

    def compare(self, nodes, feeds, constants=(), opset=23):
        names = [output for node in nodes for output in node.output]
        graph = helper.make_graph(
            nodes, "casts",
            [helper.make_tensor_value_info(n, data_type(a.dtype), a.shape)
             for n, a in feeds.items()],
            [helper.make_empty_tensor_value_info(name) for name in names], list(constants))
        model = helper.make_model(graph, ir_version=10,
                                  opset_imports=[helper.make_opsetid("", opset)])
        with np.errstate(all="ignore"):
            wanted = ReferenceEvaluator(model).run(names, feeds)
        for target in emitted.in_turn(("native", "portable"), self.id()):
            actual, _ = run(model, {n: emitted.as_stored(a) for n, a in feeds.items()}, target)
            for name, want in zip(names, wanted):
                want = emitted.as_stored(want)
                got = actual[name]
                self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), name)
                bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}.get(want.itemsize, np.uint8)
                with np.errstate(invalid="ignore"):  # signaling NaN
                    nan = np.isnan(want.astype(np.float64))
                    got_nan = np.isnan(got.astype(np.float64))
                np.testing.assert_array_equal(got_nan, nan, name)
                np.testing.assert_array_equal(got.view(bits)[~nan], want.view(bits)[~nan], name)

    def edges(self):
        """Ends of both formats, their denormal numbers, halves between two numbers."""
        values = [0.0, -0.0, 1.0, 65504, 65519.9, 65520, 1e6, np.inf, -np.inf, np.nan, 6e-8,
                  2.9e-8, 3.1e-8, 2.0**-14, 2.0**-24, 1 + 2.0**-11, 1 + 3 * 2.0**-11,
                  1 + 2.0**-8, 1 + 3 * 2.0**-8, 3.3895e38, 3.4e38, 1e-40, -1.7e-39, -2.5]
        more = random.standard_normal(41) * 10.0 ** random.integers(-9, 9, 41)
        return np.concatenate([values, more]).astype(np.float32)

    def cast(self, x, to, out):
        return helper.make_node("Cast", [x], [out], to=data_type(to))

    def test_rounding(self):
        """A cast to 16 bits and back rounds, also in the middle of an expression."""
        nodes = []
        for name, half in HALVES.items():
            nodes += [self.cast("x", half, name), self.cast(name, np.float32, name + "_back"),
                      helper.make_node("Add", [name + "_back", name + "_back"],
                                       [name + "_twice"]),
                      self.cast(name + "_twice", half, name + "_again")]
        self.compare(nodes, {"x": self.edges()})

    def test_all_types(self):
        numbers = np.array([0, 1, 2, 3, 100, 127, 5, 64])
        for name, half in HALVES.items():
            types = [np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64,
                     np.float32, np.float64, *HALVES.values()]
            feeds = {f"x{i}": numbers.astype(t) for i, t in enumerate(types)}
            nodes = [self.cast(x, half, x + "_to") for x in feeds]
            feeds["h"] = (numbers + np.array([0, 0, 0.5, 0.25, 0, 0, 0.75, 0])).astype(half)
            nodes += [self.cast("h", t, f"from{i}") for i, t in enumerate(types)]
            nodes.append(helper.make_node("CastLike", ["x7", "h"], ["like"]))
            with self.subTest(half=name):
                self.compare(nodes, feeds)

    def test_constants(self):
        """Constants of 16 bits: attributes, initializers, ConstantOfShape, Range."""
        for name, half in HALVES.items():
            array = random.standard_normal((3, 50)).astype(half)
            nodes = [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(array)),
                     helper.make_node("ConstantOfShape", ["s"], ["f"], value=(
                         numpy_helper.from_array(array[0, :1]))),
                     helper.make_node("Identity", ["w"], ["i"]),
                     helper.make_node("Neg", ["w"], ["n"])]
            with self.subTest(half=name):
                self.compare(nodes, {"unused": np.zeros(2, np.float32)}, [
                    numpy_helper.from_array(np.array([2, 3], np.int64), "s"),
                    numpy_helper.from_array(array, "w")])


class Integers(Casts):
    """Tests integers of 2 and 4 bits, each of which has a byte in memory."""
    TYPES = [ml_dtypes.int2, ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.uint4]

    def all_values(self, dtype):
        info = ml_dtypes.iinfo(dtype)
        return np.arange(int(info.min), int(info.max) + 1).astype(dtype)

    test_rounding = test_constants = None

    def test_all_types(self):
        for dtype in self.TYPES:
            x = np.array([-9, -8, -3, -2, -1, 0, 1, 2, 3, 7, 8, 15, 16, 20.0], np.float32)
            feeds = {"x": x, "i": x.astype(np.int32), "n": self.all_values(dtype)}
            nodes = [self.cast("x", dtype, "a"), self.cast("i", dtype, "b"),
                     self.cast("n", np.float32, "c"), self.cast("n", np.int8, "d"),
                     self.cast("n", np.float16, "e"), self.cast("n", dtype, "f"),
                     helper.make_node("CastLike", ["x", "n"], ["g"]),
                     helper.make_node("Reshape", ["n", "shape"], ["h"]),
                     self.cast("k", np.float32, "l"), self.cast("odd", np.float32, "m")]
            constants = [numpy_helper.from_array(np.array([2, -1], np.int64), "shape"),
                         numpy_helper.from_array(self.all_values(dtype), "k"),
                         numpy_helper.from_array(self.all_values(dtype)[1:], "odd")]
            with self.subTest(dtype=dtype.__name__):
                self.compare(nodes, feeds, constants, opset=25)

    def quantization(self, dtype, opset):
        """Nodes of all forms, with constants and with inputs; blocks, the last of which
        sticks out."""
        shape, info = (3, 7, 4), ml_dtypes.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        q = random.integers(low, high + 1, shape).astype(dtype)
        x = (random.standard_normal(shape) * 3).astype(np.float32)
        feeds, constants, nodes = {"x": x, "q": q}, [numpy_helper.from_array(q, "k")], []
        for form, parameters, how in (("one", (), {}), ("axis", (7,), {"axis": 1}),
                                      ("last", (4,), {"axis": -1}),
                                      ("blocks", (3, 3, 4), {"axis": 1, "block_size": 3})):
            scale = random.uniform(0.1, 0.9, parameters).astype(np.float32)
            zero = random.integers(low, high + 1, parameters).astype(dtype)
            constants += [numpy_helper.from_array(np.asarray(scale), form + "s"),
                          numpy_helper.from_array(np.asarray(zero), form + "z")]
            feeds |= {form + "si": np.asarray(scale), form + "zi": np.asarray(zero)}
            for i, known in enumerate(("", "i")):
                operands = [form + "s" + known, form + "z" + known]
                nodes += [helper.make_node("DequantizeLinear", ["q", *operands],
                                           [f"{form}{i}dq"], **how),
                          helper.make_node("DequantizeLinear", ["k", *operands],
                                           [f"{form}{i}dk"], **how),
                          helper.make_node("QuantizeLinear", ["x", *operands],
                                           [f"{form}{i}q"], **how)]
            nodes.append(helper.make_node("DequantizeLinear", ["k", form + "s"],
                                          [form + "d0"], **how))
            nodes.append(helper.make_node("QuantizeLinear", ["x", form + "s"], [form + "q0"],
                                          output_dtype=data_type(dtype), **how))
        return nodes, feeds, constants

    def test_quantization(self):
        for dtype in [*self.TYPES, np.int8, np.uint8, np.int16, np.uint16]:
            with self.subTest(dtype=np.dtype(dtype).name):
                opset = 25 if np.dtype(dtype).name.endswith("int2") else 21
                self.compare(*self.quantization(dtype, opset), opset=opset)

    def test_half_scales(self):
        """Scales of float16 give float16 and take it."""
        q = random.integers(-8, 8, (4, 6)).astype(ml_dtypes.int4)
        x = random.standard_normal((4, 6)).astype(np.float16)
        nodes = [helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=0),
                 helper.make_node("DequantizeLinear", ["k", "s", "z"], ["e"], axis=0),
                 helper.make_node("QuantizeLinear", ["x", "s", "z"], ["f"], axis=0)]
        self.compare(nodes, {"q": q, "x": x}, [
            numpy_helper.from_array(q, "k"),
            numpy_helper.from_array(np.array([0.5, 0.25, 1, 2], np.float16), "s"),
            numpy_helper.from_array(np.array([1, -8, 7, 0], ml_dtypes.int4), "z")], opset=21)


class SmallFloats(Casts):
    """Tests floats of 4 to 8 bits, each of which has its code in a byte in memory."""
    TYPES = emitted.SMALL_FLOATS
    ROUNDED = [t for t in TYPES if t is not ml_dtypes.float8_e8m0fnu]
    # Operators other than Cast and QuantizeLinear lack the floats of 6 bits.
    MOVED = [t for t in TYPES if not np.dtype(t).name.startswith("float6")]
    FLOAT8 = [t for t in ROUNDED if np.dtype(t).name.startswith("float8")]
    OPSET = 28

    test_all_types = None

    def codes(self, dtype):
        """All numbers of the type."""
        bits = int("".join(c for c in np.dtype(dtype).name.split("_")[0] if c.isdigit()))
        return np.arange(2**bits).astype(np.uint8).view(dtype)

    def edges(self, dtype=None):
        """The type's numbers, the middles between them, and the floats next to these."""
        if dtype is None:
            return super().edges()
        known = self.codes(dtype).astype(np.float64)
        known = np.sort(known[np.isfinite(known)])
        middles = (known[1:] + known[:-1]) / 2
        beyond = known[-1] + np.array([0.5, 1, 1.5, 2]) * (known[-1] - known[-2])
        x = np.concatenate([known, middles, beyond, -beyond]).astype(np.float32)
        x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)),
                            np.nextafter(x, np.float32(-np.inf)), super().edges()])
        # Zero with the sign of NaN stands for it where a type has none.
        return x[~np.isnan(x)] if dtype not in self.FLOAT8 else x

    def test_rounding(self):
        """Every number to float32 and every place where rounding turns, with saturation and
        without it."""
        for dtype in self.ROUNDED:
            x = self.edges(dtype)
            nodes = [self.cast("c", np.float32, "all"), self.cast("x", dtype, "codes"),
                     self.cast("codes", np.float32, "back")]
            nodes += [helper.make_node("Cast", [x], ["no_saturation_" + x], saturate=0,
                                       to=data_type(dtype)) for x in ("x", "d")]
            with self.subTest(dtype=np.dtype(dtype).name):
                self.compare(nodes, {"x": x, "c": self.codes(dtype), "d": x.astype(np.float64)},
                             opset=self.OPSET)

    def test_powers_of_two(self):
        dtype = ml_dtypes.float8_e8m0fnu
        random_bits = random.integers(0, 2**31, 4000).astype(np.uint32)
        x = np.concatenate([random_bits, np.arange(0, 2**31, 2**22, dtype=np.uint32),
                            [0, 1, 0x3fffff, 0x400000, 0x400001, 0x7f7fffff]])
        feeds = {"x": x.astype(np.uint32).view(np.float32), "c": self.codes(dtype)}
        nodes = [self.cast("c", np.float32, "all")]
        nodes += [helper.make_node("Cast", ["x"], [f"{mode}{saturate}"], to=data_type(dtype),
                                   round_mode=mode, saturate=saturate)
                  for mode in ("up", "down", "nearest") for saturate in (0, 1)]
        self.compare(nodes, feeds, opset=self.OPSET)

    @staticmethod
    def can_cast(source, target):
        try:
            np.ones(1, source).astype(target)
        except TypeError:
            return False
        return True

    def test_types(self):
        """Casts from and to the other types, and among small floats."""
        numbers = np.array([1, 2, 3, 4, 6, 3, 1])
        types = [np.bool_, np.uint8, np.int8, np.int32, np.int64, np.float16, ml_dtypes.bfloat16,
                 np.float64, ml_dtypes.int4, *self.TYPES]
        for dtype in self.TYPES:
            feeds = {f"x{i}": numbers.astype(t) for i, t in enumerate(types)}
            feeds["c"] = numbers.astype(dtype)
            # ml_dtypes has no casts between some of the types.
            nodes = [self.cast(x, dtype, x + "_to") for x, a in feeds.items()
                     if self.can_cast(a.dtype, dtype)]
            nodes += [self.cast("c", t, f"from{i}") for i, t in enumerate(types)
                      if self.can_cast(dtype, t)]
            self.assertGreater(len(nodes), 15)
            if dtype in self.MOVED:
                nodes.append(helper.make_node("CastLike", ["x3", "c"], ["like"]))
            with self.subTest(dtype=np.dtype(dtype).name):
                self.compare(nodes, feeds, opset=self.OPSET)

    def test_constants(self):
        """Weights in raw data and in typed fields, and what moves elements."""
        for dtype in self.TYPES:
            k = self.codes(dtype)[:15]  # an odd number of nibbles
            typed = onnx.TensorProto()
            typed.name, typed.data_type = "typed", data_type(dtype)
            typed.dims.append(k.size)
            codes = [int(c) for c in k.view(np.uint8)]
            if data_type(dtype) == TensorProto.FLOAT4E2M1:
                codes = [low | high << 4 for low, high in zip(codes[::2], codes[1::2] + [0])]
            typed.int32_data.extend(codes)
            nodes = [self.cast("typed", np.float32, "a"), self.cast("k", np.float32, "b"),
                     self.cast("x", np.float16, "c")]
            if dtype in self.MOVED:
                nodes += [helper.make_node("Reshape", ["k", "shape"], ["d"]),
                          helper.make_node("Transpose", ["x"], ["e"], perm=[1, 0]),
                          helper.make_node("Identity", ["k"], ["f"]),
                          helper.make_node("Constant", [], ["g"],
                                           value=numpy_helper.from_array(k))]
            constants = [numpy_helper.from_array(k, "k"), typed,
                         numpy_helper.from_array(np.array([3, -1], np.int64), "shape")]
            with self.subTest(dtype=np.dtype(dtype).name):
                self.compare(nodes, {"x": k.reshape(3, 5)}, constants, opset=self.OPSET)

    def test_quantization(self):
        shape = (3, 7, 4)
        x = (random.standard_normal(shape) * 8).astype(np.float32)
        x[0, 0] = -0.0
        for dtype in [*self.FLOAT8, ml_dtypes.float4_e2m1fn]:
            q = random.choice(self.codes(dtype), shape)
            feeds, constants, nodes = {"x": x, "q": q}, [numpy_helper.from_array(q, "k")], []
            for form, parameters, how in (
                    ("one", (), {}), ("axis", (7,), {"axis": 1}), ("last", (4,), {"axis": -1}),
                    ("blocks", (3, 3, 4), {"axis": 1, "block_size": 3})):
                scale = np.asarray(random.uniform(0.1, 0.9, parameters), np.float32)
                zero = np.asarray(np.zeros(parameters, np.uint8).view(dtype))
                constants += [numpy_helper.from_array(scale, form + "s"),
                              numpy_helper.from_array(zero, form + "z")]
                feeds[form + "i"] = scale
                nodes += [helper.make_node("DequantizeLinear", ["q", form + "s"], [form + "a"],
                                           **how),
                          helper.make_node("DequantizeLinear", ["k", form + "s", form + "z"],
                                           [form + "b"], **how),
                          helper.make_node("DequantizeLinear", ["k", form + "i"], [form + "c"],
                                           **how),
                          helper.make_node("QuantizeLinear", ["x", form + "s", form + "z"],
                                           [form + "d"], **how)]
                nodes += [helper.make_node("QuantizeLinear", ["x", form + "i"],
                                           [f"{form}e{saturate}"], saturate=saturate,
                                           output_dtype=data_type(dtype), **how)
                          for saturate in (0, 1)]
            with self.subTest(dtype=np.dtype(dtype).name):
                self.compare(nodes, feeds, constants, opset=23)


class Precision(Casts):
    """Tests that QuantizeLinear divides in the type of x and the scale, or in the type that it
    names."""

    test_rounding = test_all_types = test_constants = None

    def test_precision(self):
        x = (random.standard_normal(400) * 20).astype(np.float32)
        s = np.array(0.3, np.float32)
        feeds = {"x": x, "h": x.astype(np.float16), "s": s, "t": s.astype(np.float16)}
        nodes = [helper.make_node("QuantizeLinear", ["h", "t"], ["a"]),
                 helper.make_node("QuantizeLinear", ["h", "s"], ["b"]),
                 helper.make_node("QuantizeLinear", ["x", "k"], ["c"],
                                  precision=TensorProto.FLOAT16),
                 helper.make_node("QuantizeLinear", ["x", "s"], ["d"],
                                  precision=TensorProto.DOUBLE,
                                  output_dtype=TensorProto.FLOAT8E5M2)]
        self.compare(nodes, feeds, [numpy_helper.from_array(s, "k")])


class Bits(Casts):
    """Tests BitCast among all types of the same size."""

    test_rounding = test_all_types = test_constants = None

    def test_sizes(self):
        sizes = {1: [np.int8, np.uint8, *SmallFloats.FLOAT8, ml_dtypes.float8_e8m0fnu],
                 2: [np.int16, np.uint16, np.float16, ml_dtypes.bfloat16],
                 4: [np.int32, np.uint32, np.float32], 8: [np.int64, np.uint64, np.float64]}
        for size, types in sizes.items():
            raw = random.integers(0, 256, 1024 * size).astype(np.uint8)
            if size == 2:
                # Loading a signaling NaN of 16 bits makes it a quiet one.
                raw = np.arange(1 << 16).astype(np.uint16)
                size_of = raw & 0x7fff
                signals = (size_of > 0x7c00) & (size_of < 0x7e00)
                signals |= (size_of > 0x7f80) & (size_of < 0x7fc0)
                raw = raw[~signals].view(np.uint8)
            feeds = {f"x{i}": raw.view(t) for i, t in enumerate(types)}
            nodes = [helper.make_node("BitCast", [x], [f"{x}_{i}"], to=data_type(t))
                     for x in feeds for i, t in enumerate(types)]
            with self.subTest(size=size):
                self.compare(nodes, feeds, opset=SmallFloats.OPSET)

    def test_bool(self):
        feeds = {"x": np.array([True, False]), "y": np.array([0, 1], np.int8)}
        nodes = [helper.make_node("BitCast", ["x"], ["a"], to=TensorProto.UINT8),
                 helper.make_node("BitCast", ["y"], ["b"], to=TensorProto.BOOL)]
        self.compare(nodes, feeds, opset=SmallFloats.OPSET)


if __name__ == "__main__":
    sys.exit(unittest.main())
