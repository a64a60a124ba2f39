"""Tests nnc compress of quantized models, whose weights are 8-bit integers."""

import json
import sys
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import nnc
from compressed import WITHOUT
from stored_sizes import expected_sizes
from nnc import LACKING, model, value

node = helper.make_node
store = numpy_helper.from_array


def integers(seed, dtype, zero_point, *shape):
    """Integers with a bell-shaped distribution around the zero point."""
    steps = np.random.default_rng(seed).normal(0, 35, shape).round()
    limits = np.iinfo(dtype)
    return (steps + zero_point).clip(limits.min, limits.max).astype(dtype)


def scale(seed, *shape):
    return np.random.default_rng(seed).uniform(0.002, 0.02, shape).astype(np.float32)


class Weight:
    """A weight: its integers, the values that they represent, and how they form a matrix."""

    def __init__(self, array, scales, zero_point, along, to_matrix):
        self.array, self.scales, self.zero_point = array, scales, zero_point
        self.to_matrix = to_matrix
        shape = [1] * array.ndim
        if scales.size > 1:
            shape[along] = -1
        self.factors = to_matrix(np.broadcast_to(scales.reshape(shape), array.shape))

    def steps(self, array):
        return self.to_matrix(array.astype(int) - self.zero_point)


def rows_of_conv(w):
    return w.transpose(0, 2, 3, 1).reshape(len(w), -1)


# Per channel and per tensor, signed and unsigned, with zero points and without.
QDQ = {
    "w1": Weight(integers(1, np.int8, 0, 8, 6, 3, 3), scale(1, 8), 0, 0, rows_of_conv),
    "w2": Weight(integers(2, np.uint8, 120, 8, 3, 2, 2), scale(2, 3), 120, 1,
                 lambda w: w.transpose(1, 2, 3, 0).reshape(3, 32)),
    "w3": Weight(integers(3, np.uint8, 131, 12, 33), scale(3), 131, 0, lambda w: w.T),
    "w4": Weight(integers(4, np.int8, -5, 10, 33), scale(4, 10), -5, 0, lambda w: w)}

QOPERATOR = {
    "w1": Weight(integers(5, np.int8, 0, 8, 6, 3, 3), scale(5, 8), 0, 0, rows_of_conv),
    "w2": Weight(integers(6, np.uint8, 126, 5, 8, 3, 3), np.ones(1), 126, 0, rows_of_conv),
    "w3": Weight(integers(7, np.int8, 2, 20, 14), scale(7, 14), 2, 1, lambda w: w.T),
    "w4": Weight(integers(8, np.uint8, 117, 14, 9), np.ones(1), 117, 1, lambda w: w.T)}


def constants(weights):
    """The integers, scales and zero points of the weights; those of w1 have no zero point,
    and the integers of w4 are not raw data."""
    made = []
    for name, w in weights.items():
        kind = helper.np_dtype_to_tensor_dtype(w.array.dtype)
        made.append(helper.make_tensor(name, kind, w.array.shape, w.array.flatten())
                    if name == "w4" else store(w.array, name))
        made.append(store(w.scales.astype(np.float32), name + "_scale"))
        zero_points = np.full(w.scales.shape, w.zero_point, w.array.dtype)
        made.append(store(zero_points, name + "_zero"))
    return made + [store(np.float32(0.05), "s"), store(np.uint8(128), "z")]


def dequantize(name, axis, has_zero=True):
    operands = [name, name + "_scale"] + [name + "_zero"] * has_zero
    return node("DequantizeLinear", operands, [name + "_real"], "read_" + name, axis=axis)


def round_trip(given, result):
    return [node("QuantizeLinear", [given, "s", "z"], [result + "_q"], "quantize_" + result),
            node("DequantizeLinear", [result + "_q", "s", "z"], [result], "dequantize_" + result)]


def qdq_network():
    made = model(
        [*round_trip("x", "a"), dequantize("w1", 0, has_zero=False),
         node("Conv", ["a", "w1_real"], ["b"], "conv", pads=[1] * 4),
         *round_trip("b", "c"), dequantize("w2", 1),
         node("ConvTranspose", ["c", "w2_real"], ["d"], "up", strides=[2, 2]),
         node("GlobalAveragePool", ["d"], ["e"], "pool"),
         node("Concat", ["e"] * 4, ["e4"], "four", axis=1),
         node("Flatten", ["e4"], ["f"], "flat"),
         *round_trip("f", "g"), dequantize("w3", -1),
         node("MatMul", ["g", "w3_real"], ["h"], "hidden"),
         *round_trip("h", "i"), dequantize("w4", 0),
         node("Gemm", ["i", "w4_real"], ["y"], "head", transB=1)],
        [value("x", [2, 6, 8, 8])], [value("y", [2, 10])], constants(QDQ))
    unused = [t for t in made.graph.initializer if t.name == "w1_zero"]
    made.graph.initializer.remove(*unused)
    return made


def qoperator_network():
    return model(
        [node("QuantizeLinear", ["x", "s", "z"], ["a"], "quantize"),
         node("QLinearConv", ["a", "s", "z", "w1", "w1_scale", "w1_zero", "s", "z"], ["b"], "conv"),
         node("ConvInteger", ["b", "w2", "z", "w2_zero"], ["c"], "sums"),
         node("Cast", ["c"], ["d"], "cast", to=TensorProto.FLOAT),
         node("Mul", ["d", "small"], ["e"], "scale"),
         node("QuantizeLinear", ["e", "s", "z"], ["f"], "quantize2"),
         node("Flatten", ["f"], ["g"], "flat"),
         node("QLinearMatMul", ["g", "s", "z", "w3", "w3_scale", "w3_zero", "s", "z"], ["h"],
              "hidden"),
         node("MatMulInteger", ["h", "w4", "z", "w4_zero"], ["i"], "head"),
         node("Cast", ["i"], ["y"], "cast2", to=TensorProto.FLOAT)],
        [value("x", [2, 6, 6, 6])], [value("y", [2, 9])],
        constants(QOPERATOR) + [store(np.float32(1e-4), "small")])


def get_input(made, samples):
    shape = [d.dim_value for d in made.graph.input[0].type.tensor_type.shape.dim]
    return np.random.default_rng(3).standard_normal((samples, *shape)).astype(np.float32)


NETWORKS = {"qdq": (qdq_network, QDQ, ["w1", "w2", "w3", "w4"]),
            "qoperator": (qoperator_network, QOPERATOR, ["w1", "w2", "w3", "w4"])}


def arrays(made):
    return {t.name: numpy_helper.to_array(t) for t in made.graph.initializer}


class CompressQuantized(nnc.TestCase):
    def compress(self, given, *arguments, **how):
        return json.loads(self.nnc("compress", given, *arguments, "-o", "small.onnx", "--json",
                                   **{"env": WITHOUT, **how}))

    def read(self):
        return onnx.load(self.folder / "small.onnx")

    def run_model(self, name, x):
        return onnxruntime.InferenceSession(self.folder / name).run(None, {"x": x})[0]

    def check_pruned(self, steps, own, factors, count):
        """The least numbers are zero, and the others as before."""
        self.assertEqual((steps == 0).sum(), max(count, (own == 0).sum()))
        kept = steps != 0
        np.testing.assert_array_equal(steps[kept], own[kept])
        magnitudes = abs(own * factors)
        if kept.any() and not kept.all():
            self.assertLessEqual(magnitudes[~kept].max(), magnitudes[kept].min())

    def check_rest(self, before, after, weights):
        """Only weights and the remark on them differ."""
        after.ClearField("metadata_props")
        for made in before, after:
            for tensor in made.graph.initializer:
                if tensor.name in weights:
                    tensor.ClearField("raw_data")
                    tensor.ClearField("int32_data")
        self.assertEqual(before.SerializeToString(), after.SerializeToString())

    def test_second_order(self):
        """Results change less than by magnitudes, and by what the report says; integers stay
        in their range."""
        results = {"qdq": {"w1": "b", "w4": "y"}, "qoperator": {"w2": "c", "w4": "i"}}
        for network, (make, weights, names) in NETWORKS.items():
            before = make()
            self.save(network, before)
            x = get_input(before, 6)
            np.savez(self.folder / "x.npz", x=x)
            for options in ["--sparsity=0.5"], ["--clusters=9"], ["--pattern=2:4", "--clusters=16"]:
                with self.subTest(network, options=options):
                    said = self.compress(f"{network}.onnx", *options, "--calibration=x.npz")
                    after = arrays(self.read())
                    for layer in said["layers"]:
                        name, error = layer["name"], layer["output_error"]
                        self.assertLessEqual(error, layer["magnitude_output_error"], name)
                        weight = weights[name]
                        full, matrix = weight.steps(weight.array), weight.steps(after[name])
                        self.assertTrue((matrix[full == 0] == 0).all())
                        self.assertGreaterEqual(matrix.min(), full.min())
                        self.assertLessEqual(matrix.max(), full.max())
                        if said["clusters"]:
                            self.assertLessEqual(len(np.unique(matrix)), said["clusters"])
                        if name not in results[network]:
                            continue
                        # The same by onnxruntime, with this layer's weights alone changed.
                        found = []
                        for array in weight.array, after[name]:
                            made = onnx.ModelProto()
                            made.CopyFrom(before)
                            output = results[network][name]
                            if output != made.graph.output[0].name:
                                made.graph.output.append(
                                    onnx.ValueInfoProto(name=output))
                            for tensor in made.graph.initializer:
                                if tensor.name == name:
                                    tensor.CopyFrom(store(array, name))
                            session = onnxruntime.InferenceSession(made.SerializeToString())
                            found.append(np.concatenate([session.run(
                                [output], {"x": each})[0].astype(float) for each in x]))
                        wanted = np.linalg.norm(found[0] - found[1]) / np.linalg.norm(found[0])
                        self.assertAlmostEqual(error, wanted, 3)

    def test_numbers(self):
        """The report's numbers are those of the integers in the file, and the file runs."""
        for network, (make, weights, names) in NETWORKS.items():
            before = self.save(network, make())
            for options, sparsity, clusters, block in [
                    (["--sparsity=0.7"], 0.7, 0, 0), (["--clusters=16"], 0, 16, 0),
                    (["--sparsity=0.5", "--clusters=5"], 0.5, 5, 0),
                    (["--clusters=4", "--block=2"], 0, 4, 2), (["--clusters=256"], 0, 256, 0)]:
                with self.subTest(network, options=options):
                    said = self.compress(before.name, *options)
                    made = self.read()
                    after = arrays(made)
                    self.assertEqual([layer["name"] for layer in said["layers"]], names)
                    for layer in said["layers"]:
                        weight = weights[layer["name"]]
                        own, integer = weight.array, after[layer["name"]]
                        self.assertEqual((own.dtype, own.shape), (integer.dtype, integer.shape))
                        matrix, full = weight.steps(integer), weight.steps(own)
                        self.assertEqual((layer["rows"], layer["columns"]), matrix.shape)
                        self.assertTrue((matrix[full == 0] == 0).all())
                        for key, number in expected_sizes(matrix, block, 1)[0].items():
                            self.assertAlmostEqual(layer[key], number, 9, key) if isinstance(
                                number, float) else self.assertEqual(layer[key], number, key)
                        error = np.linalg.norm((matrix - full) * weight.factors) / np.linalg.norm(
                            full * weight.factors)
                        self.assertAlmostEqual(layer["relative_error"], error, 6)
                        if not clusters:
                            self.check_pruned(matrix, full, weight.factors,
                                              int(np.floor(sparsity * matrix.size + 0.5)))
                        step = block or len(matrix)
                        raw = weight.to_matrix(integer)
                        for start in range(0, len(raw) if clusters else 0, step):
                            self.assertLessEqual(len(np.unique(raw[start:start + step])), clusters)
                    dense = sum(w.array.size for w in weights.values())
                    self.assertEqual(said["totals"]["dense_bytes"], dense)
                    self.check_rest(onnx.load(before), made, names)
                    y = self.run_model("small.onnx", get_input(made, 1)[0])
                    self.assertTrue(np.isfinite(y).all())
                    self.assertGreater(y.std(), 0)

    def test_best(self):
        """Nothing is lost where 256 integers are allowed, and little with 16."""
        self.save("qdq", qdq_network())
        errors = {count: [layer["relative_error"] for layer in self.compress(
            "qdq.onnx", f"--clusters={count}")["layers"]] for count in (4, 16, 64, 256)}
        self.assertEqual(errors[256], [0] * 4)
        for more, fewer in zip((16, 64), (4, 16)):
            self.assertTrue(all(a < b for a, b in zip(errors[more], errors[fewer])))
        # 16 equal steps over the six standard deviations of a bell lose 6 / 16 / sqrt(12).
        self.assertLess(max(errors[16]), 0.11)

    def test_pattern(self):
        self.save("qdq", qdq_network())
        self.compress("qdq.onnx", "--pattern=2:4")
        after = arrays(self.read())
        for name, weight in QDQ.items():
            matrix, own = weight.steps(after[name]), weight.steps(weight.array)
            # Groups are of neighbouring input channels at a place of the kernel.
            channels = {"w1": 6, "w2": 8, "w3": 12, "w4": 33}[name]
            matrix, own, all_factors = (each.reshape(-1, channels)
                                        for each in (matrix, own, weight.factors))
            for start in range(0, channels, 4):
                group, full = matrix[:, start:start + 4], own[:, start:start + 4]
                factors = all_factors[:, start:start + 4]
                self.assertLessEqual((group != 0).sum(1).max(), 2)
                largest = np.sort(abs(full * factors), axis=1)[:, -2:]
                np.testing.assert_array_equal(np.sort(abs(group * factors), axis=1)[:, -2:],
                                              largest)
                self.assertTrue(((group == full) | (group == 0)).all())

    def test_again(self):
        """A second run with the same options changes nothing."""
        for network, (make, _, names) in NETWORKS.items():
            self.save(network, make())
            for options in (["--clusters=16", "--sparsity=0.6"], ["--pattern=1:4"],
                            ["--clusters=4", "--block=2"]):
                with self.subTest(network, options=options):
                    self.compress(f"{network}.onnx", *options)
                    first = (self.folder / "small.onnx").read_bytes()
                    (self.folder / "small.onnx").rename(self.folder / "first.onnx")
                    said = self.compress("first.onnx", *options)
                    self.assertEqual((self.folder / "small.onnx").read_bytes(), first)
                    self.assertEqual([layer["relative_error"] for layer in said["layers"]], [0] * 4)
                    (remark,) = self.read().metadata_props
                    self.assertEqual(remark.key, "nnc.compression")
                    self.assertEqual(sorted(json.loads(remark.value)), names)
            self.nnc("verify", "small.onnx", "--random=1")

    def test_drop(self):
        """The drop from the quantized model is at most what is allowed."""
        seen = set()
        for network, (make, weights, _) in NETWORKS.items():
            made = make()
            self.save(network, made)
            x = get_input(made, 4)
            np.savez(self.folder / "x.npz", x=x)
            for allowed in 1, 0.1, 0.02, 0:
                with self.subTest(network, allowed=allowed):
                    said = self.compress(f"{network}.onnx", "--clusters=4", "--calibration=x.npz",
                                         f"--max-drop={allowed}")
                    self.assertLessEqual(said["drop"], allowed)
                    own, small = (np.concatenate([self.run_model(f"{name}.onnx", each)
                                                  for each in x]) for name in (network, "small"))
                    if said["metric"] == "relative L2 error":
                        drop = np.linalg.norm(own - small) / np.linalg.norm(own)
                        # Integers between layers may round otherwise.
                        self.assertAlmostEqual(said["drop"], drop, delta=0.02)
                    after = arrays(self.read())
                    for layer in said["layers"]:
                        seen.add((layer["compressed"], layer["clusters"]))
                        array = after[layer["name"]]
                        if layer["clusters"] in (0, 256):
                            np.testing.assert_array_equal(array, weights[layer["name"]].array)
                        else:
                            self.assertLessEqual(len(np.unique(array)), 4)
        self.assertIn((True, 4), seen)
        self.assertIn((True, 256), seen)

    def test_shared(self):
        """Two layers that read the same integers share what they become."""
        w = integers(1, np.int8, 0, 6, 6)
        self.save("shared", model(
            [node("DequantizeLinear", ["w", "w_scale"], ["w_real"], "read"),
             node("MatMul", ["x", "w_real"], ["a"], "one"),
             node("DequantizeLinear", ["w", "w_scale"], ["w_again"], "read_again"),
             node("MatMul", ["a", "w_real"], ["b"], "two"),
             node("MatMul", ["b", "w_again"], ["y"], "three")],
            [value("x", [3, 6])], [value("y", [3, 6])],
            [store(w, "w"), store(np.float32(0.01), "w_scale")]))
        (layer,) = self.compress("shared.onnx", "--clusters=3")["layers"]
        self.assertEqual((layer["name"], layer["nodes"]), ("w", ["one", "two", "three"]))
        self.assertEqual(len(np.unique(arrays(self.read())["w"])), 3)

    def test_left(self):
        """Weights that stay as they are, and why."""
        w = integers(1, np.int8, 0, 4, 4)
        one, two = store(np.float32(0.5), "one"), store(np.float32(0.25), "two")
        each = store(scale(1, 4), "each")
        zeros = store(np.array([1, 2, 3, 4], np.int8), "zeros")

        def read(*operands, **attributes):
            return node("DequantizeLinear", list(operands), ["r"], "read", **attributes)
        product = node("MatMul", ["x", "r"], ["y"], "product")
        for nodes, more, reason in [
                ([node("QuantizeLinear", ["w", "one"], ["q"], "make"), read("q", "one"), product],
                 [store(np.ones((4, 4), np.float32), "w"), one],
                 "node 'make' .QuantizeLinear. makes integers of it"),
                ([read("w", "each", "zeros"), product], [store(w, "w"), each, zeros],
                 "zero points that differ between channels"),
                ([read("w", "one"), product], [store(w.astype(np.int32), "w"), one], "type INT32"),
                ([read("w", "one"), product, node("Add", ["r", "r"], ["z"], "add")],
                 [store(w, "w"), one], "node 'add' .Add. reads it, too"),
                ([read("w", "one"), node("DequantizeLinear", ["w", "two"], ["t"], "other"),
                  node("MatMul", ["x", "r"], ["p"], "first"),
                  node("MatMul", ["p", "t"], ["y"], "second")], [store(w, "w"), one, two],
                 "nodes 'read' and 'other' read it with different scales"),
                ([read("w", "blocks", axis=0, block_size=2), product],
                 [store(w, "w"), store(scale(2, 2, 4), "blocks")], "scales for blocks"),
                ([node("Mul", ["one", "two"], ["s"], "scale"), read("w", "s"), product],
                 [store(w, "w"), one, two], "scales that are not finite constants")]:
            with self.subTest(reason):
                made = model(nodes, [value("x", [3, 4])], [value("y", [3, 4])], more)
                made.opset_import[0].version, made.ir_version = 21, 10
                self.save("left", made)
                self.nnc("compress", "left.onnx", "--clusters=4", "-o", "small.onnx", code=LACKING,
                         said=["has no weights that can be compressed", f"'w' of .*{reason}"])
        made = model([read("w", "one"), product], [value("x", [3, 4])], [value("y", [3, 4])],
                     [store(w, "w"), one])
        self.save("left", made)
        for name in "read", "product":
            self.nnc("compress", "left.onnx", "--clusters=4", f"--exclude={name}", "-o",
                     "small.onnx", code=LACKING, said=["excluded by the command line"])


if __name__ == "__main__":
    sys.exit(unittest.main())
