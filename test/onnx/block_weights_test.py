"""Tests products with weights of 4 and 8 bits that stay compressed: MatMulNBits of
com.microsoft against onnxruntime, and dequantized constants against sums in float64."""

import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import emitted

random = np.random.default_rng(23)
EPSILON = np.finfo(np.float32).eps
TARGETS = ["native", "portable"]


def unpack(packed, bits, count):
    """The first `count` integers of each row of packed integers."""
    if bits == 8:
        return packed[:, :count]
    both = np.stack([packed & 15, packed >> 4], axis=-1)
    return both.reshape(len(packed), -1)[:, :count]


def bound(x, weights):
    """The bound of the error of sums in float32."""
    return 4 * np.sqrt(x.shape[-1]) * EPSILON * (
        np.abs(x).astype(np.float64) @ np.abs(weights)) + 1e-30


def make_model(parts):
    """A model of several graphs with one input and one output each: (nodes, x, y, constants),
    where x and y are shapes. The names of part i end in _i, except those of the first part."""
    nodes, inputs, outputs, constants = [], [], [], []
    for i, (own, x, y, tensors) in enumerate(parts):
        def rename(name):
            return f"{name}_{i}" if name and i else name

        for node in own:
            node = onnx.NodeProto.FromString(node.SerializeToString())
            node.input[:] = map(rename, node.input)
            node.output[:] = map(rename, node.output)
            node.name = rename(node.name)
            nodes.append(node)
        for one in tensors:
            one = onnx.TensorProto.FromString(one.SerializeToString())
            one.name = rename(one.name)
            constants.append(one)
        inputs.append(helper.make_tensor_value_info(rename("x"), TensorProto.FLOAT, x))
        outputs.append(helper.make_tensor_value_info(rename("y"), TensorProto.FLOAT, y))
    graph = helper.make_graph(nodes, "graph", inputs, outputs, constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


def tensor(name, array, kind=None):
    if kind is None:
        return onnx.numpy_helper.from_array(array, name)
    return helper.make_tensor(name, kind, array.shape, array.tobytes(), raw=True)


class Blocks:
    """A random MatMulNBits. `zeros`: none, "packed", "edges" or "float"."""

    def __init__(self, m, n, k, *, bits=4, block=32, zeros=None, bias=False, edges=False):
        self.shape, self.bits, self.block = (m, n, k), bits, block
        groups = -(-k // block)
        most = (1 << bits) - 1
        blob = random.integers(0, 256, (n, groups, block * bits // 8), np.uint8)
        if edges:  # 0 and the largest integer alone
            blob = random.choice(np.array([0, 15, 240, 255], np.uint8), blob.shape)
        self.scales = random.uniform(0.01, 0.1, n * groups).astype(np.float32)
        self.constants = [tensor("b", blob), tensor("s", self.scales)]
        self.inputs = ["x", "b", "s"]
        points = np.full((n, groups), 1 << (bits - 1))
        if zeros:
            row = -(-groups * bits // 8)
            packed = random.integers(0, 256, (n, row), np.uint8)
            if zeros == "edges":
                packed = random.choice(np.array([0, 15, 240, 255], np.uint8), (n, row))
            points = unpack(packed, bits, groups).astype(int)
            given = packed.reshape(-1)
            if zeros == "float":
                given = points.reshape(-1).astype(np.float32)
            self.constants.append(tensor("z", given))
            self.inputs.append("z")
        self.bias = random.normal(size=n).astype(np.float32) if bias else np.zeros(n)
        if bias:
            self.inputs += [""] * (5 - len(self.inputs)) + ["bias"]
            self.constants.append(tensor("bias", self.bias))
        q = unpack(blob.reshape(n, -1), bits, k).astype(int)
        spread = np.repeat(np.arange(groups), block)[:k]
        self.weights = ((q - points[:, spread]) * self.scales.reshape(n, groups)
                        [:, spread].astype(np.float64)).T
        self.x = random.normal(size=(m, k)).astype(np.float32)
        assert 0 <= points.min() and points.max() <= most

    def bytes(self):
        """What weights, scales, zero points and bias take, in panels of 32 columns; each
        begins at a multiple of 64."""
        _, n, k = self.shape
        groups, columns = -(-k // self.block), -(-n // 32) * 32
        return columns * (-(-k // 8) * self.bits + groups * 5) + 4 * n + 256

    def part(self, **more):
        m, n, k = self.shape
        node = helper.make_node("MatMulNBits", self.inputs, ["y"], "product",
                                domain="com.microsoft",
                                **dict(K=k, N=n, bits=self.bits, block_size=self.block) | more)
        return [node], (m, k), (m, n), self.constants


def run(model, xs, target):
    """The results, and the output of `nnc check`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "graph.onnx"
        onnx.save(model, path)
        module = emitted.compile_model(path, path.parent / "out", target=target)
        module.build()
        said = json.loads(emitted.nnc("check", path, f"--target={target}", "--json"))
        results = module({f"x_{i}" if i else "x": x for i, x in enumerate(xs)})
        return [results[f"y_{i}" if i else "y"] for i in range(len(xs))], said


class BlockWeights(unittest.TestCase):
    def check(self, *all_blocks, **how):
        xs = [blocks.x for blocks in all_blocks]
        # With an accuracy_level of 4 onnxruntime would round x to integers.
        plain = make_model([blocks.part() for blocks in all_blocks])
        session = onnxruntime.InferenceSession(plain.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        others = session.run(None, {f"x_{i}" if i else "x": x for i, x in enumerate(xs)})
        model = make_model([blocks.part(**how) for blocks in all_blocks])
        for target in emitted.in_turn(TARGETS, self.id()):
            results, said = run(model, xs, target)
            for blocks, got, other in zip(all_blocks, results, others):
                want = blocks.x.astype(np.float64) @ blocks.weights + blocks.bias
                limit = bound(blocks.x, blocks.weights) + 4 * EPSILON * np.abs(blocks.bias)
                # onnxruntime judges what the numbers mean; its sums may be less exact.
                np.testing.assert_allclose(other, want, rtol=1e-3,
                                           atol=1e-3 * np.abs(want).max())
                self.assertEqual(got.dtype, np.float32)
                self.assertTrue((np.abs(got - want) <= limit).all(),
                                (blocks.shape, blocks.bits, blocks.block, target,
                                 np.abs(got - want).max()))
            exact = sum(blocks.bytes() for blocks in all_blocks)
            self.assertLess(said["weight_bytes"], 1.01 * exact + 512)

    def test_rows(self):
        self.check(*(Blocks(m, 2 * m + 31, 64, zeros=["packed", None][m % 2])
                     for m in range(1, 10)))

    def test_odd_sizes(self):
        sizes = [(1, 1), (1, 16), (7, 33), (33, 100), (65, 130), (100, 300)]
        self.check(*(Blocks(2, n, k, bits=bits, block=16, zeros="packed")
                     for n, k in sizes for bits in (4, 8)))

    def test_blocks(self):
        self.check(*(Blocks(1, 40, 300, bits=bits, block=block,
                            zeros=None if block == 64 else "packed")
                     for block in (16, 32, 64, 128, 256) for bits in (4, 8)))

    def test_edges(self):
        self.check(*(Blocks(3, 45, 96, bits=bits, zeros=zeros, edges=True)
                     for zeros in ("edges", None) for bits in (4, 8)))

    def test_large(self):
        """As layers of networks are, whose weights take what their bits do."""
        self.check(*(Blocks(m, 256, 1024, bits=bits) for m in (1, 5) for bits in (4, 8)))

    def test_float_zero_points(self):
        blocks = Blocks(2, 20, 64, zeros="float")
        want = blocks.x.astype(np.float64) @ blocks.weights
        (got,), _ = run(make_model([blocks.part()]), [blocks.x], "native")
        self.assertTrue((np.abs(got - want) <= bound(blocks.x, blocks.weights)).all())

    def test_bias(self):
        self.check(Blocks(3, 45, 96, zeros="packed", bias=True), Blocks(1, 32, 64, bias=True),
                   accuracy_level=4)

    def dequantized(self, kind, dtype, low, high, *, form, m=3, n=40, k=64, block=0,
                    zeros=True, gemm=False, transposed=False):
        """DequantizeLinear of a constant, then MatMul or Gemm."""
        shape = (n, k) if transposed else (k, n)
        along = 1 if transposed else 0  # the axis that is summed over
        q = random.integers(low, high + 1, shape)
        parameters = list(shape)
        if form == "tensor":
            parameters = []
        elif form == "axis":
            parameters = [n]
        else:
            parameters[along] //= block
        scales = random.uniform(0.01, 0.1, parameters).astype(np.float32)
        points = random.integers(low, high + 1, parameters)

        def integers(name, values):
            values = np.asarray(values)
            if kind in (TensorProto.INT4, TensorProto.UINT4):
                return helper.make_tensor(name, kind, values.shape, values.reshape(-1))
            return tensor(name, values.astype(dtype))

        constants = [integers("q", q), tensor("s", scales)]
        inputs = ["q", "s"]
        if zeros:
            constants.append(integers("z", points))
            inputs.append("z")
        else:
            points = np.zeros_like(points)
        attributes = {}
        if form == "axis":
            attributes = {"axis": 1 - along}
        elif form == "blocks":
            attributes = {"axis": along, "block_size": block}

        def spread(values):
            if form == "axis":
                return values[:, None] if transposed else values[None, :]
            return np.repeat(values, block, along) if form == "blocks" else values

        w = (q - spread(points)) * spread(scales).astype(np.float64)
        w = w.T if transposed else w
        nodes = [helper.make_node("DequantizeLinear", inputs, ["w"], "weights", **attributes)]
        operand = "w"
        if transposed and not gemm:
            nodes.append(helper.make_node("Transpose", ["w"], ["t"], "turned", perm=[1, 0]))
            operand = "t"
        if gemm:
            constants.append(tensor("c", np.ones(n, np.float32)))
            nodes.append(helper.make_node("Gemm", ["x", "w", "c"], ["y"], "product",
                                          transB=int(transposed)))
        else:
            nodes.append(helper.make_node("MatMul", ["x", operand], ["y"], "product"))
        x = random.normal(size=(m, k)).astype(np.float32)
        bits = 4 if high - low < 16 else 8
        groups = k // block if form == "blocks" else 1
        return {"part": (nodes, (m, k), (m, n), constants), "x": x, "w": w,
                "want": x.astype(np.float64) @ w + (1 if gemm else 0),
                "bytes": -(-n // 32) * 32 * (k * bits // 8 + groups * 5) + 4 * n + 256,
                "what": (kind, form, transposed)}

    def check_dequantized(self, products):
        model = make_model([product["part"] for product in products])
        for target in emitted.in_turn(TARGETS, self.id()):
            results, said = run(model, [product["x"] for product in products], target)
            for product, got in zip(products, results):
                off = np.abs(got - product["want"])
                limit = bound(product["x"], product["w"]) + 4 * EPSILON
                self.assertTrue((off <= limit).all(), (product["what"], target, off.max()))
            self.assertLess(said["weight_bytes"],
                            512 + sum(product["bytes"] for product in products))

    def test_dequantized_bytes(self):
        kinds = [(TensorProto.INT8, np.int8, -128, 127), (TensorProto.UINT8, np.uint8, 0, 255)]
        forms = [("tensor", 0), ("axis", 0), ("blocks", 16)]
        self.check_dequantized([
            self.dequantized(*kind, form=form, block=block, transposed=transposed,
                             gemm=form == "axis", zeros=form != "tensor")
            for kind in kinds for form, block in forms for transposed in (False, True)])

    def test_dequantized_nibbles(self):
        kinds = [(TensorProto.INT4, None, -8, 7), (TensorProto.UINT4, None, 0, 15)]
        forms = [("tensor", 0), ("axis", 0), ("blocks", 32)]
        products = [self.dequantized(*kind, form=form, block=block, transposed=transposed,
                                     zeros=form != "axis")
                    for kind in kinds for form, block in forms for transposed in (False, True)]
        try:
            self.check_dequantized(products)
        except emitted.Failure as failure:
            if failure.code != emitted.LACKING or "of type int4" not in str(failure):
                raise
            self.skipTest("nnc does not read integers of 4 bits")

    def test_bytes_of_four_bits(self):
        """Integers of 8 bits that fit in 4 take 4."""
        self.check_dequantized([
            self.dequantized(TensorProto.INT8, np.int8, -8, 7, form="blocks", block=32)])

    def refuse(self, code, pattern, blocks, change=None, **how):
        model = make_model([blocks.part(**how)])
        if change:
            change(model)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "graph.onnx"
            onnx.save(model, path)
            with self.assertRaisesRegex(emitted.Failure, pattern) as caught:
                emitted.nnc("check", path)
            self.assertEqual(caught.exception.code, code)
            self.assertIn("product", str(caught.exception))

    def test_refuses(self):
        def replace(index, array):
            def change(model):
                name = model.graph.initializer[index].name
                model.graph.initializer[index].CopyFrom(tensor(name, array))
            return change

        def make_blocks():
            return Blocks(1, 8, 64, zeros="packed")

        def add_index(model):
            model.graph.node[0].input.append("g")
            model.graph.initializer.append(tensor("g", np.zeros(64, np.int32)))

        def keep(model):
            del model.graph.node[0].attribute[:]

        broken, lacking = emitted.BROKEN, emitted.LACKING
        self.refuse(lacking, "weights of 3 bits", make_blocks(), bits=3)
        self.refuse(broken, "block_size of 48", make_blocks(), block_size=48)
        self.refuse(broken, "block_size of 8,", make_blocks(), block_size=8)
        self.refuse(broken, "needs 256 bytes of weights, not 255", make_blocks(),
                    replace(0, np.zeros(255, np.uint8)))
        self.refuse(broken, "needs 16 scales, not 15", make_blocks(),
                    replace(1, np.ones(15, np.float32)))
        self.refuse(broken, "finite scales", make_blocks(),
                    replace(1, np.full(16, np.nan, np.float32)))
        self.refuse(broken, "needs 8 bytes of zero points, not 16", make_blocks(),
                    replace(2, np.ones(16, np.uint8)))
        self.refuse(lacking, "a zero point of 7.5", make_blocks(),
                    replace(2, np.full(16, 7.5, np.float32)))
        self.refuse(lacking, "g_idx", make_blocks(), add_index)
        self.refuse(broken, "rows of K = 32", make_blocks(), K=32)
        self.refuse(broken, "needs its attribute", make_blocks(), keep)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
