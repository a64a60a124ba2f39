"""Corners of operators and graphs that ONNX's node tests leave out, against onnxruntime."""

import itertools
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import emitted


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=None, opset=17):
    tensors = [numpy_helper.from_array(np.asarray(array), name)
               for name, array in (initializers or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                             ir_version=8)


class Operators(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def compile(self, made):
        path = self.folder / "model.onnx"
        onnx.save(made, path)
        module = emitted.compile_model(path, self.folder / "out", target="portable")
        module.build()
        return module

    def compare(self, made, inputs, tolerance=1e-5):
        """Runs the model with nnc and onnxruntime; `tolerance` is absolute."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # it warns where ONNX infers other sizes
        session = onnxruntime.InferenceSession(made.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        expected = session.run(None, inputs)
        results = self.compile(made)(inputs)
        for port, wanted in zip(made.graph.output, expected):
            found = results[port.name]
            self.assertEqual((found.shape, found.dtype), (wanted.shape, wanted.dtype), port.name)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance,
                                       err_msg=port.name)

    def test_reverse_sequence(self):
        """Lengths that are known and lengths that are not, both orders of axes."""
        x = np.random.default_rng(6).normal(size=(4, 5, 3)).astype(np.float32)
        nodes, names = [], []
        for time, batch in ((0, 1), (1, 0)):
            for given in ("constant", "input"):
                names.append(f"y{len(names)}")
                nodes.append(helper.make_node("ReverseSequence", ["x", f"{given}{time}"],
                                              [names[-1]], time_axis=time, batch_axis=batch))
        lengths = {f"{given}{time}": np.array(values, np.int64)
                   for time, values in ((0, [4, 0, 1, 3, 2]), (1, [5, 1, 0, 4]))
                   for given in ("constant", "input")}
        constants = {name: array for name, array in lengths.items() if "constant" in name}
        inputs = {name: array for name, array in lengths.items() if "input" in name}
        made = model(nodes, [value("x", x.shape), *(value(name, array.shape, TensorProto.INT64)
                                                   for name, array in inputs.items())],
                     [value(name, x.shape) for name in names], constants)
        self.compare(made, {"x": x, **inputs}, 0)

    def pools(self):
        """Nodes that pool x [2, 3, 9, 14] in every way that has a size of its own. With SAME
        padding onnxruntime does not follow ONNX where windows are dilated, and refuses
        those that leave elements out."""
        modes = [dict(auto_pad="VALID"), dict(auto_pad="SAME_UPPER"),
                 dict(auto_pad="SAME_LOWER"), dict(pads=[1, 0, 1, 2]), {}]
        windows = [((3, 3), (2, 2)), ((2, 3), (3, 2)), ((3, 2), (1, 4)), ((1, 1), (2, 3))]
        for op, mode, (kernel, strides), dilated in itertools.product(
                ("MaxPool", "AveragePool"), modes, windows, (False, True)):
            same = mode.get("auto_pad", "").startswith("SAME")
            pads = mode.get("pads", [0])
            skips = any(stride > size for stride, size in zip(strides, kernel))
            if (same and (dilated or skips)) or max(pads) >= min(kernel):
                continue
            more = dict(dilations=[2, 2]) if dilated else {}
            for count in ((0, 1) if op == "AveragePool" else (None,)):
                if count is not None:
                    more["count_include_pad"] = count
                yield op, dict(kernel_shape=kernel, strides=strides, ceil_mode=1, **mode, **more)

    def test_pools_with_ceil_mode(self):
        """All in one model: what is compared is each output's shape and elements."""
        nodes = [helper.make_node(op, ["x"], [f"y{i}"], **attributes)
                 for i, (op, attributes) in enumerate(self.pools())]
        self.assertGreaterEqual(len(nodes), 60)
        made = model(nodes, [value("x", [2, 3, 9, 14])],
                     [value(f"y{i}", None) for i in range(len(nodes))], opset=19)
        x = np.random.default_rng(1).standard_normal((2, 3, 9, 14)).astype(np.float32)
        self.compare(made, {"x": x})

    def test_pools_of_one_axis(self):
        nodes = [helper.make_node(op, ["x"], [f"{op}{mode}"], kernel_shape=[3], strides=[2],
                                  auto_pad=mode, ceil_mode=1)
                 for op in ("MaxPool", "AveragePool") for mode in ("VALID", "SAME_LOWER")]
        made = model(nodes, [value("x", [1, 2, 10])],
                     [value(node.output[0], None) for node in nodes])
        x = np.random.default_rng(2).standard_normal((1, 2, 10)).astype(np.float32)
        self.compare(made, {"x": x})

    def test_scales_of_zero(self):
        """Pruned channels have a scale of zero: all they hold is zero. A negative scale
        counts as it is."""
        random = np.random.default_rng(3)
        integers = random.integers(-128, 128, (4, 3), dtype=np.int8)
        nodes = [
            helper.make_node("DequantizeLinear", ["w", "s", "z"], ["weights"], axis=1),
            helper.make_node("MatMul", ["x", "weights"], ["y"]),
            helper.make_node("DequantizeLinear", ["w", "zero"], ["nothing"]),
            helper.make_node("DequantizeLinear", ["q", "zero", "three"], ["nought"]),
            helper.make_node("QuantizeLinear", ["v", "s", "z"], ["by_channel"], axis=1),
            helper.make_node("QuantizeLinear", ["v", "zero", "three"], ["infinite"]),
            helper.make_node("QuantizeLinear", ["v", "minus", "three"], ["mirrored"]),
        ]
        constants = {"w": integers, "s": np.float32([0.1, 0, -0.25]), "z": np.int8([1, 2, 3]),
                     "zero": np.float32(0), "three": np.uint8(3), "minus": np.float32(-0.5)}
        outputs = [("y", TensorProto.FLOAT), ("nothing", TensorProto.FLOAT),
                   ("nought", TensorProto.FLOAT), ("by_channel", TensorProto.INT8),
                   ("infinite", TensorProto.UINT8), ("mirrored", TensorProto.UINT8)]
        made = model(nodes, [value("x", [2, 4]), value("v", [5, 3]),
                             value("q", [2, 2], TensorProto.UINT8)],
                     [value(name, None, dtype) for name, dtype in outputs], constants)
        v = random.standard_normal((5, 3)).astype(np.float32) * 20
        v[1] = 0  # zero by zero is no number
        self.compare(made, {"x": random.standard_normal((2, 4)).astype(np.float32), "v": v,
                            "q": random.integers(0, 256, (2, 2), dtype=np.uint8)})

    def test_doubled_concats(self):
        """More pieces than the planner of memory follows, in views and parts, too."""
        node = helper.make_node
        nodes = [node("Neg", ["x"], ["v0"])]
        nodes += [node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=0) for i in range(13)]
        nodes += [node("Reshape", ["v13", "flat"], ["r"]), node("Slice", ["r", "from", "to"], ["s"]),
                  node("Concat", ["s", "r", "s"], ["y"], axis=0), node("Exp", ["v12"], ["z"]),
                  node("Concat", ["v3", "v12", "v12", "v0"], ["w"], axis=0)]
        constants = {"flat": np.array([-1]), "from": np.array([5]), "to": np.array([9001])}
        outputs = [value(name, None) for name in ("y", "z", "w", "v11")]
        made = model(nodes, [value("x", [2, 3])], outputs, constants)
        x = np.random.default_rng(5).standard_normal((2, 3)).astype(np.float32)
        self.compare(made, {"x": x}, tolerance=1e-6)

    def test_unsorted_nodes(self):
        """Against the same nodes in order: onnxruntime sorts, too."""
        nodes = [helper.make_node("Add", ["a", "b"], ["y"]),
                 helper.make_node("Exp", ["a"], ["b"]),
                 helper.make_node("Neg", ["x"], ["a"])]
        x = np.random.default_rng(4).standard_normal((2, 3)).astype(np.float32)
        for order in itertools.permutations(nodes):
            made = model(order, [value("x", [2, 3])], [value("y", [2, 3])])
            results = self.compile(made)({"x": x})
            np.testing.assert_allclose(results["y"], np.exp(-x) - x, rtol=1e-6)
            (self.folder / "out" / "module.so").unlink()
            for path in (self.folder / "out").iterdir():
                path.unlink()
            (self.folder / "out").rmdir()


if __name__ == "__main__":
    sys.exit(unittest.main())
