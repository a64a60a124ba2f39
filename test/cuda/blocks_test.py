"""Networks whose layers run on blocks of a GPU's threads: convolutions and products on tensor
cores, in halves and in bytes, and what surrounds them."""

import json
import pathlib
import re
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import nnc  # noqa: E402
import toolkit  # noqa: E402
from nnc import model, value  # noqa: E402

node = helper.make_node


class Maker:
    """Makes networks with random weights."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, *shape, scale=1.0):
        data = self.random.standard_normal(shape) * scale
        return self.keep(np.float32(data))

    def keep(self, data):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(data), name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(node(kind, list(inputs), [name], name, **attributes))
        return name

    def conv(self, x, channels, filters, taps=3, **attributes):
        scale = (channels * taps * taps) ** -0.5
        w = self.constant(filters, channels, taps, taps, scale=scale)
        pads = attributes.pop("pads", [taps // 2] * 4)
        return self.add("Conv", x, w, self.constant(filters), pads=pads, **attributes)

    def dense(self, x, terms, columns):
        y = self.add("MatMul", x, self.constant(terms, columns, scale=terms ** -0.5))
        return self.add("Add", y, self.constant(columns))

    def model(self, inputs, outputs):
        return model(self.nodes, inputs, outputs, self.constants)


def residual():
    """A first layer of 3 channels, channels that are whole chunks of 16 bytes and channels that
    are not, strides, dilation, a sum with an earlier value, and a head."""
    m = Maker(1)
    first = m.add("Relu", m.conv("x", 3, 64, strides=[2, 2]))
    second = m.add("Relu", m.conv(first, 64, 64))
    joined = m.add("Relu", m.add("Add", m.conv(second, 64, 64), first))
    odd = m.add("HardSwish", m.conv(joined, 64, 37, taps=1, pads=[0, 0, 0, 0]))
    wide = m.conv(odd, 37, 72, dilations=[2, 2], pads=[2, 1, 0, 3])
    pooled = m.add("GlobalAveragePool", m.add("Relu", wide))
    y = m.dense(m.add("Flatten", pooled), 72, 10)
    return m.model([value("x", [3, 3, 51, 46])], [value(y, [3, 10])])


def products():
    """Products of many rows, of one row with a long sum, and of an odd number of terms."""
    m = Maker(2)
    tall = m.add("Relu", m.dense("x", 256, 384))
    odd = m.dense(tall, 384, 133)
    row = m.dense("v", 4096, 72)
    last = m.dense(m.dense("x", 256, 249), 249, 160)
    return m.model([value("x", [5, 60, 256]), value("v", [1, 4096])],
                   [value(odd, [5, 60, 133]), value(row, [1, 72]), value(last, [5, 60, 160])])


def grouped(m, x, channels, filters, groups):
    w = m.constant(filters, channels // groups, 3, 3, scale=(9 * channels / groups) ** -0.5)
    return m.add("Conv", x, w, m.constant(filters), pads=[1] * 4, group=groups)


def groups():
    """Depthwise and grouped convolutions between others, and a transposed one."""
    m = Maker(3)
    first = m.add("Relu", m.conv("x", 32, 64))
    deep = m.add("Relu", grouped(m, first, 64, 64, 64))
    half = grouped(m, m.conv(deep, 64, 96), 96, 48, 4)
    up = m.add("ConvTranspose", half, m.constant(48, 16, 2, 2, scale=0.1), strides=[2, 2])
    y = m.conv(up, 16, 8, taps=1, pads=[0, 0, 0, 0])
    return m.model([value("x", [2, 32, 20, 19])], [value(y, [2, 8, 40, 38])])


def bytes_of():
    """Convolutions of signed and of unsigned bytes, padded by their zero points, and a product."""
    m = Maker(4)

    def quantize(x, scale, zero, kind):
        return m.add("QuantizeLinear", x, m.keep(np.float32(scale)), m.keep(kind(zero)))

    def real(q, scale, zero, kind):
        return m.add("DequantizeLinear", q, m.keep(np.float32(scale)), m.keep(kind(zero)))

    def through(x, scale, zero, kind):
        return real(quantize(x, scale, zero, kind), scale, zero, kind)

    def weight(shape):
        return real(m.keep(np.int8(m.random.integers(-127, 128, shape))), 0.01, 0, np.int8)

    x = through("x", 0.03, 5, np.int8)
    first = m.add("Conv", x, weight((64, 48, 3, 3)), pads=[1] * 4)
    second = m.add("Conv", through(m.add("Relu", first), 0.1, 128, np.uint8),
                   weight((20, 64, 3, 3)), pads=[1, 0, 1, 2], strides=[2, 1])
    third = m.add("Conv", through(second, 1.0, -3, np.int8), weight((8, 20, 1, 1)))
    flat = m.add("Flatten", through(third, 3.0, 1, np.int8))
    y = through(m.add("MatMul", flat, weight((8 * 15 * 30, 12))), 100.0, 0, np.int8)
    return m.model([value("x", [1, 48, 30, 30])], [value(y, [1, 12])])


def transformer():
    """Layer norm, attention of three heads on 19 tokens with a mask, and two products around a
    gate; and a softmax and a sum of its own over long rows."""
    m = Maker(5)
    tokens, heads, size = 19, 3, 32
    width = heads * size

    def split(x, order):
        shape = m.keep(np.int64([2, tokens, heads, size]))
        return m.add("Transpose", m.add("Reshape", x, shape), perm=order)

    norm = m.add("LayerNormalization", "x", m.constant(width), m.constant(width), axis=-1)
    q = split(m.dense(norm, width, width), [0, 2, 1, 3])
    k = split(m.dense(norm, width, width), [0, 2, 3, 1])
    v = split(m.dense(norm, width, width), [0, 2, 1, 3])
    scores = m.add("Mul", m.add("MatMul", q, k), m.keep(np.float32(size ** -0.5)))
    weights = m.add("Softmax", m.add("Add", scores, "mask"), axis=-1)
    seen = m.add("Transpose", m.add("MatMul", weights, v), perm=[0, 2, 1, 3])
    joined = m.add("Reshape", seen, m.keep(np.int64([2, tokens, width])))
    after = m.add("Add", m.dense(joined, width, width), "x")
    wide = m.dense(after, width, 2 * width)
    wide = m.add("Mul", wide, m.add("Sigmoid", wide))
    y = m.add("Add", m.dense(wide, 2 * width, width), after)
    long = m.add("Softmax", m.add("Reshape", y, m.keep(np.int64([2, tokens * width]))), axis=-1)
    sums = m.add("ReduceSum", m.add("Mul", long, long), m.keep(np.int64([1])), keepdims=0)
    return model(m.nodes, [value("x", [2, tokens, width]), value("mask", [2, 1, 1, tokens])],
                 [value(y, [2, tokens, width]), value(sums, [2])], m.constants)


MODELS = {"residual": residual, "products": products, "groups": groups, "bytes": bytes_of,
          "transformer": transformer}


class Blocks(nnc.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = {name: make() for name, make in MODELS.items()}

    def setUp(self):
        super().setUp()
        for name, made in self.made.items():
            self.save(name, made)

    def routines(self, name, *options):
        said = json.loads(self.nnc("explain", f"{name}.onnx", "--json", *options))
        return {each["routine"] for layer in said["layers"]
                for each in layer["alternatives"] if each["chosen"]}

    def test_chosen(self):
        """The search takes tensor cores for convolutions and products."""
        for name, target, expected in (
                ("residual", "cuda-sm80", {"conv2d_f16_nhwc_whole_sm80"}),
                ("residual", "cuda-sm75", {"conv2d_f16_nhwc_whole_sm75"}),
                ("products", "cuda-sm90", {"matmul_f16_whole_sm80"}),
                ("bytes", "cuda-sm86", {"conv2d_i32_nhwc_whole_sm80"})):
            with self.subTest(name=name, target=target):
                options = [] if name == "bytes" else ["--precision=f16"]
                found = self.routines(name, f"--target={target}", *options)
                self.assertLessEqual(expected, found)
                if target == "cuda-sm75":
                    self.assertFalse([each for each in found if each.endswith("sm80")])

    def test_halves(self):
        for name in MODELS:
            for target in "cuda-sm75", "cuda-sm80":
                if name != "bytes":
                    with self.subTest(name=name, target=target):
                        self.nnc("verify", f"{name}.onnx", f"--target={target}", "--emulate",
                                 "--precision=f16")

    def test_other_precisions(self):
        """Networks in bf16, and with products of floats that are rounded to tf32."""
        for precision, names in (("bf16", [name for name in MODELS if name != "bytes"]),
                                 ("tf32", ["residual", "products"])):
            for name in names:
                with self.subTest(name=name, precision=precision):
                    options = f"{name}.onnx", "--target=cuda-sm86", f"--precision={precision}"
                    self.assertTrue([each for each in self.routines(name, *options[1:])
                                     if f"_{precision}_" in each])
                    self.nnc("verify", *options, "--emulate")

    def test_bfloat16_model(self):
        """A model of BFLOAT16 runs in the routines of bf16, with weights of two bytes each."""
        x, w = (helper.make_tensor_value_info(name, TensorProto.BFLOAT16, shape)
                for name, shape in (("x", [64, 1024]), ("y", [64, 1024])))
        bits = np.random.default_rng(3).standard_normal([1024, 1024]).astype(np.float32)
        weight = helper.make_tensor("w", TensorProto.BFLOAT16, [1024, 1024],
                                    (bits.view(np.uint32) >> 16).astype(np.uint16).tobytes(),
                                    raw=True)
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [w],
                                  [weight])
        self.save("bfloat", helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
        options = "--target=cuda-sm80", "--precision=bf16"
        self.assertTrue([each for each in self.routines("bfloat", *options)
                         if each.startswith("matmul_bf16_")])
        self.nnc("verify", "bfloat.onnx", *options, "--emulate")
        said = json.loads(self.nnc("compile", "bfloat.onnx", *options, "-o", "bfloat", "--json"))
        self.assertLess(said["weight_bytes"], 1024 * 1024 * 2 + 1024)

    def test_refused(self):
        """Precisions that a target lacks."""
        for target in "cuda-sm75", "x86-64-v4", "cortex-m55":
            for precision, others in ("bf16", ", x86-64-v4-amx"), ("tf32", ""):
                self.nnc("compile", "residual.onnx", "-o", "out", f"--target={target}",
                         f"--precision={precision}", code=nnc.USAGE,
                         said=[f"'{target}' has no arithmetic on {precision}.* for cuda-sm80, "
                               f"cuda-sm86, cuda-sm89, cuda-sm90{others}$"])
        self.nnc("compile", "residual.onnx", "-o", "out", "--target=cuda-sm75,cuda-sm90",
                 "--precision=bf16", code=nnc.USAGE,
                 said=["'cuda-sm75,cuda-sm90' has no arithmetic on bf16"])

    def test_sizes(self):
        """Kernels whose grids follow from a number of rows that the caller chooses."""
        m = Maker(6)
        y = m.add("Softmax", m.dense("x", 256, 320), axis=-1)
        self.save("rows", m.model([value("x", ["rows", 256])], [value(y, ["rows", 320])]))
        for options in [], ["--precision=f16"]:
            folder = f"code{len(options)}"
            self.nnc("compile", "rows.onnx", "--shape=x=1..700x256", "--target=cuda-sm80", "-o",
                     folder, *options)
            text = next((self.folder / folder).glob("*.cu")).read_text()
            self.assertRegex(text, r"Launches\s+(//\s+)?at\s+(//\s+)?most")
            for rows in 1, 3, 321, 700:
                x = np.random.default_rng(rows).standard_normal([rows, 256])
                np.save(self.folder / "x.npy", np.float32(x))
                results = []
                for source in [folder, "--emulate"], ["rows.onnx", f"--shape=x={rows}x256"]:
                    self.nnc("run", *source, "--input=x.npy", "--output-dir=result")
                    results.append(np.load(next((self.folder / "result").glob("*.npy"))))
                np.testing.assert_allclose(*results, rtol=2e-2 if options else 1e-4,
                                           atol=1e-3 if options else 1e-6)

    def test_state(self):
        """Queues of a stream lie at multiples of 16 bytes, whatever their lengths are."""
        m = Maker(7)
        turned = m.add("Conv", m.add("Transpose", "x", perm=[0, 2, 1]),
                       m.constant(64, 3, 4, scale=0.3))
        rows = m.add("Reshape", m.add("Transpose", turned, perm=[0, 2, 1]),
                     m.keep(np.int64([1, 8192])))
        y = m.dense(rows, 8192, 256)
        self.save("queues", m.model([value("x", [1, 131, 3])], [value(y, [1, 256])]))
        self.nnc("verify", "queues.onnx", "--target=cuda-sm80", "--emulate", "--stream=1:8")
        self.nnc("compile", "queues.onnx", "--target=cuda-sm80", "--stream=1:8", "-o", "code")
        text = next((self.folder / "code").glob("queues.h")).read_text()
        struct = text[text.index("struct queues_state {"):]
        sizes = [int(size) for size in re.findall(r"float \w+\[(\d+)\];", struct)]
        self.assertTrue(sizes)
        self.assertEqual([size % 4 for size in sizes], [0] * len(sizes))

    def test_found_length(self):
        """A length that the run finds is in the GPU's memory, which the CPU cannot read."""
        self.save("found", model([node("NonZero", ["x"], ["y"], "found")], [value("x", [3, 5])],
                                 [value("y", [2, "many"], TensorProto.INT64)]))
        for target, has in ("cuda-sm80", False), ("x86-64-v3", True):
            self.nnc("compile", "found.onnx", f"--target={target}", "-o", target)
            text = (self.folder / target / "found.h").read_text()
            self.assertEqual("found_y_dims" in text, has)

    def test_bytes(self):
        """The same bits as on a CPU."""
        x = np.random.default_rng(5).standard_normal([1, 48, 30, 30]) * 2
        np.save(self.folder / "x.npy", np.float32(x))
        results = []
        for options in [], ["--target=cuda-sm75", "--emulate"], ["--target=cuda-sm80", "--emulate"]:
            folder = f"result{len(results)}"
            self.nnc("run", "bytes.onnx", *options, "--input=x.npy", f"--output-dir={folder}")
            results.append(np.load(next((self.folder / folder).glob("*.npy"))))
        self.assertGreater(len(np.unique(results[0])), 5)
        for other in results[1:]:
            np.testing.assert_array_equal(results[0], other)

@unittest.skipUnless(toolkit.find("nvcc"), toolkit.WHY_SKIPPED)
class Nvcc(nnc.TestCase):
    def test_compiles(self):
        """Without a warning, for two architectures."""
        for name, make in MODELS.items():
            self.save(name, make())
            options = [] if name == "bytes" else ["--precision=f16"]
            self.nnc("compile", f"{name}.onnx", "--target=cuda-sm75,cuda-sm90", "-o", name,
                     "--name=network", *options)
            folder = self.folder / name
            manifest = json.loads((folder / "manifest.json").read_text())
            self.assertIn("nnc_emulation.h", manifest["files"])
            _, said = toolkit.compile_module(folder, manifest)
            self.assertEqual(said, "", name)


if __name__ == "__main__":
    unittest.main()
