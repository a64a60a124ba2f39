"""Tests features of operators and graphs that ONNX's node tests do not cover, against
onnxruntime."""

import itertools
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import emitted
from compared import Compared, model, value


class Operators(Compared):
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

    def recurrent(self, op, gates, states, **options):
        """A model of one recurrent layer with random weights, and its inputs."""
        random = np.random.default_rng(options.pop("seed", 11))
        steps, batch, size, units = options.pop("sizes", (5, 3, 4, 6))
        directions = 2 if options.get("direction") == "bidirectional" else 1
        batch_first = options.get("layout") == 1
        lengths = options.pop("lengths", None)
        peepholes = options.pop("peepholes", False)

        def draw(*shape):
            return (random.standard_normal(shape) * 0.5).astype(np.float32)

        state = (batch, directions, units) if batch_first else (directions, batch, units)
        constants = {"w": draw(directions, gates * units, size),
                     "r": draw(directions, gates * units, units),
                     "b": draw(directions, 2 * gates * units)}
        inputs = {"x": draw(*((batch, steps, size) if batch_first else (steps, batch, size))),
                  **{f"s{i}": draw(*state) for i in range(states)}}
        names = ["x", "w", "r", "b", "", *(f"s{i}" for i in range(states))]
        if lengths is not None:
            names[4] = "lengths"
            inputs["lengths"] = np.array(lengths, np.int32)
        if peepholes:
            names.append("p")
            constants["p"] = draw(directions, 3 * units)
        outputs = ["y", *(f"y{i}" for i in range(states))]
        node = helper.make_node(op, names, outputs, hidden_size=units, **options)
        kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32}
        made = model([node], [value(n, a.shape, kinds[a.dtype]) for n, a in inputs.items()],
                     [value(n, None) for n in outputs], constants)
        return made, inputs

    def test_recurrent_layers(self):
        """Every cell in every direction, with lengths, clipping and other activations."""
        cells = {"RNN": (1, 1), "GRU": (3, 1), "LSTM": (4, 2)}
        for op, (gates, states) in cells.items():
            count = {"RNN": 1, "GRU": 2, "LSTM": 3}[op]
            cases = [dict(direction=d) for d in ("forward", "reverse", "bidirectional")]
            cases += [dict(direction="bidirectional", lengths=[5, 2, 4]),
                      dict(direction="reverse", clip=0.3), dict(sizes=(1, 1, 3, 7)),
                      dict(activations=["LeakyRelu", "HardSigmoid", "Softsign"][:count],
                           activation_alpha=[0.1, 0.3][:count],
                           **(dict(activation_beta=[0.4]) if count > 1 else {}))]
            if op == "GRU":
                cases += [dict(linear_before_reset=1, direction="bidirectional"),
                          dict(linear_before_reset=1, lengths=[1, 5, 3])]
            if op == "LSTM":
                cases += [dict(peepholes=True, direction="bidirectional"),
                          dict(peepholes=True, input_forget=1)]
            for case in cases:
                with self.subTest(op, **case):
                    self.compare(*self.recurrent(op, gates, states, **case))

    def test_einsum(self):
        """Equations of one to three operands against numpy, which onnxruntime follows in part."""
        random = np.random.default_rng(12)
        sizes = dict(zip("abcdefij", (2, 3, 4, 5, 3, 2, 4, 3)))
        equations = ["ab->ba", "ab->", "aab->b", "aab->ab", "abc->ac", "ab,bc->ac", "ab,cb->ac",
                     "ab,ab->ab", "ab,ab->a", "ab,ab->", "ab,c->abc", "abc,abd->acd",
                     "abcd,aecd->abe", "...ab,...bc->...ac", "a...b->b...a", "ab,bc", "ba",
                     "ab,bc,cd->ad", "a,ab,abc->abc", "abij,cj->abci", "ab,ac,ad->bcd",
                     "...a,...a->...", "aa,ab->b", "abc,cb->", "ab, b c -> c a"]
        nodes, inputs, outputs, expected = [], {}, [], {}
        for i, equation in enumerate(equations):
            terms = equation.replace(" ", "").split("->")[0].split(",")
            names = []
            for j, term in enumerate(terms):
                dots = (3, 2) if "..." in term else ()
                shape = []
                while term:
                    if term.startswith("..."):
                        shape += dots
                        term = term[3:]
                    else:
                        shape.append(sizes[term[0]])
                        term = term[1:]
                names.append(f"x{i}_{j}")
                inputs[names[-1]] = random.standard_normal(shape).astype(np.float32)
            outputs.append(f"y{i}")
            nodes.append(helper.make_node("Einsum", names, [outputs[-1]], equation=equation))
            expected[outputs[-1]] = np.einsum(equation, *(inputs[n] for n in names))
        made = model(nodes, [value(n, a.shape) for n, a in inputs.items()],
                     [value(n, None) for n in outputs])
        results = self.compile(made)(inputs)
        for name, wanted in expected.items():
            self.assertEqual(results[name].shape, wanted.shape, name)
            np.testing.assert_allclose(results[name], wanted, atol=1e-4, err_msg=name)

    def test_bad_equations_and_layers(self):
        """Each is refused with what is wrong about it."""
        def einsum(equation, *shapes):
            names = [f"x{i}" for i in range(len(shapes))]
            return model([helper.make_node("Einsum", names, ["y"], equation=equation)],
                         [value(n, s) for n, s in zip(names, shapes)], [value("y", None)])

        def gru(steps, batch, lengths, **options):
            draw = np.random.default_rng(16).standard_normal
            node = helper.make_node("GRU", ["x", "w", "r", "", "l"], ["y"], **options)
            return model([node], [value("x", [steps, batch, 3]),
                                  value("l", [lengths], TensorProto.INT32)], [value("y", None)],
                         {"w": draw((1, 12, 3)).astype(np.float32),
                          "r": draw((1, 12, 4)).astype(np.float32)})

        cases = [
            (einsum("a...b...->ab", (2, 3, 4)), "at most one '...'"),
            (einsum("a1->a", (2, 3)), "which is not letters"),
            (einsum("ab->a", (2, 3, 4)), "an operand of 3 axes for 'ab'"),
            (einsum("a...b->ab", (2,)), "an operand of 1 axes"),
            (einsum("ab,bc->ad", (2, 3), (3, 4)), "a label that no operand has"),
            (einsum("a,a", (3,), (4,)), "axes of 3 and 4 elements with one label"),
            (einsum("aa->a", (2, 3)), "the diagonal of axes of 2 and 3"),
            (gru(5, 2, 2, hidden_size=7), "a hidden size of 7"),
            (gru(5, 2, 7), "lengths of shape 7 for 2 sequences"),
            (gru(5, 2, 2, layout=3), "the layout 3"),
            (gru(5, 2, 2, activations=["Tanh", "Foo"]), "the activation 'Foo'"),
            (gru(5, 2, 2, direction="up"), "the direction 'up'")]
        for made, expected in cases:
            with self.subTest(expected):
                with self.assertRaisesRegex(emitted.Failure, expected):
                    self.compile(made)

    def test_places_of_windows(self):
        """Col2Im with strides, dilations and pads, and MaxUnpool with a larger result."""
        random = np.random.default_rng(18)
        nodes, inputs, constants, names = [], {}, {}, []
        for image, block, attributes in [
                ((5, 7), (2, 3), dict(strides=[2, 1])), ((6, 5), (3, 2), dict(dilations=[2, 3])),
                ((4, 4), (3, 3), dict(pads=[1, 0, 2, 1])), ((9,), (4,), dict(strides=[3]))]:
            at, axes = len(nodes), len(image)
            strides, pads = attributes.get("strides", [1] * axes), attributes.get("pads", [0] * 4)
            dilations = attributes.get("dilations", [1] * axes)
            windows = [(image[i] + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1)
                       // strides[i] + 1 for i in range(axes)]
            shape = (2, 3 * int(np.prod(block)), int(np.prod(windows)))
            inputs[f"x{at}"] = random.standard_normal(shape).astype(np.float32)
            constants[f"i{at}"] = np.array(image, np.int64)
            constants[f"b{at}"] = np.array(block, np.int64)
            names.append(f"y{at}")
            nodes.append(helper.make_node("Col2Im", [f"x{at}", f"i{at}", f"b{at}"], [names[-1]],
                                          **attributes))
        pooled = random.standard_normal((1, 2, 3, 4)).astype(np.float32)
        places = random.permutation(1 * 2 * 6 * 8)[:pooled.size].reshape(pooled.shape)
        inputs["u"] = pooled
        constants |= {"p": places.astype(np.int64)}
        names.append("z")
        nodes.append(helper.make_node("MaxUnpool", ["u", "p"], ["z"], kernel_shape=[2, 2],
                                      strides=[2, 2]))
        made = model(nodes, [value(n, a.shape) for n, a in inputs.items()],
                     [value(n, None) for n in names], constants, opset=18)
        self.compare(made, inputs)

    def test_known_conditions(self):
        """Results whose sizes are known, since what says them is."""
        x = np.random.default_rng(19).standard_normal((4, 3)).astype(np.float32)
        nodes = [helper.make_node("Compress", ["x", "rows"], ["a"], axis=0),
                 helper.make_node("Compress", ["x", "all"], ["b"]),
                 helper.make_node("NonZero", ["mask"], ["c"]),
                 helper.make_node("EyeLike", ["x"], ["d"], k=-1),
                 helper.make_node("EyeLike", ["x"], ["e"], dtype=TensorProto.INT64, k=1)]
        constants = {"rows": np.array([True, False, True]), "all": np.array([False, True] * 5),
                     "mask": np.array([[0, 2, 0], [-1, 0, 5]], np.int32)}
        made = model(nodes, [value("x", x.shape)],
                     [value("a", None), value("b", None), value("c", None, TensorProto.INT64),
                      value("d", None), value("e", None, TensorProto.INT64)], constants)
        self.compare(made, {"x": x}, 0)

    def test_top_k_and_scans(self):
        """Ties, both orders, sizes from 0 to all, every axis and element type."""
        random = np.random.default_rng(13)
        x = random.integers(-4, 5, (4, 17, 3)).astype(np.float32)
        ints = random.integers(-9, 10, (4, 17, 3))
        nodes, names, constants = [], [], {}

        def add(op, operands, outputs, **attributes):
            nodes.append(helper.make_node(op, operands, outputs, **attributes))
            names.extend(outputs)

        for axis in (0, 1, -1):
            for count in sorted({1, 2, x.shape[axis] // 2, x.shape[axis]}):
                for largest in (0, 1):
                    constants[f"k{count}"] = np.array([count], np.int64)
                    at = len(names)
                    add("TopK", ["x" if largest else "i", f"k{count}"], [f"v{at}", f"p{at}"],
                        axis=axis, largest=largest)
            constants[f"a{axis}"] = np.array(axis, np.int64)
            for exclusive, reverse in itertools.product((0, 1), repeat=2):
                for source in ("x", "i"):
                    add("CumSum", [source, f"a{axis}"], [f"c{len(names)}"], exclusive=exclusive,
                        reverse=reverse)
        made = model(nodes, [value("x", x.shape), value("i", x.shape, TensorProto.INT64)],
                     [value(name, None) for name in names], constants)
        for port in made.graph.output:
            port.type.tensor_type.elem_type = 0
        made = onnx.shape_inference.infer_shapes(made)
        self.compare(made, {"x": x, "i": ints}, 1e-4)

    def test_scatter(self):
        """Indices from the end, the same place twice, every reduction, and places that are known."""
        random = np.random.default_rng(14)
        x = random.standard_normal((5, 4, 3)).astype(np.float32)
        u = random.standard_normal((6, 3)).astype(np.float32)
        places = np.array([[0, 1], [-1, -2], [2, 0], [0, 1], [3, 3], [0, 1]], np.int64)
        rows = random.integers(-5, 5, (3, 4, 2))
        updates = random.standard_normal(rows.shape).astype(np.float32)
        nodes, names = [], []
        for reduction in ("none", "add", "mul", "max", "min"):
            given = ["p", "known"] if reduction != "none" else ["single"]
            for indices in given:
                names.append(f"y{len(names)}")
                nodes.append(helper.make_node("ScatterND", ["x", indices, "u"], [names[-1]],
                                              reduction=reduction))
            if reduction != "none":
                names.append(f"y{len(names)}")
                nodes.append(helper.make_node("ScatterElements", ["x", "rows", "updates"],
                                              [names[-1]], axis=0, reduction=reduction))
        single = np.array([[0, 1], [4, 2], [2, 0], [1, 1], [3, 3], [-5, 0]], np.int64)
        made = model(nodes, [value("x", x.shape), value("u", u.shape),
                             value("p", places.shape, TensorProto.INT64),
                             value("rows", rows.shape, TensorProto.INT64),
                             value("updates", updates.shape)],
                     [value(name, x.shape) for name in names],
                     {"known": places, "single": single}, opset=18)
        self.compare(made, {"x": x, "u": u, "p": places, "rows": rows, "updates": updates})

    def test_grid_sample(self):
        """Places in and far outside of images of odd sizes, also of one element."""
        random = np.random.default_rng(15)
        nodes, names, inputs = [], [], {}
        for size, (h, w) in enumerate(((5, 7), (1, 4))):
            inputs[f"x{size}"] = random.standard_normal((2, 3, h, w)).astype(np.float32)
            inputs[f"g{size}"] = random.uniform(-2.5, 2.5, (2, 4, 5, 2)).astype(np.float32)
            for mode, padding, align in itertools.product(
                    ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (0, 1)):
                if h == 1 and align and padding == "reflection":
                    continue  # reflects at two edges that are one
                names.append(f"y{len(names)}")
                nodes.append(helper.make_node("GridSample", [f"x{size}", f"g{size}"], [names[-1]],
                                              mode=mode, padding_mode=padding, align_corners=align))
        made = model(nodes, [value(n, a.shape) for n, a in inputs.items()],
                     [value(n, None) for n in names])
        self.compare(made, inputs, 1e-4)

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

    def test_pools_with_large_windows(self):
        """A window that is larger than the padded input by less than a stride has one place, and
        one that is larger by less than two has none."""
        nodes = []
        for op in ("MaxPool", "AveragePool"):
            for more in (dict(pads=[1] * 4, strides=[2, 3]), dict(strides=[5, 4], ceil_mode=1),
                         dict(strides=[2, 3]), dict(strides=[2, 7], ceil_mode=1)):
                nodes.append(helper.make_node(op, ["x"], [f"y{len(nodes)}"], kernel_shape=[5, 6],
                                              **more))
        nodes.append(helper.make_node("AveragePool", ["x"], ["y8"], kernel_shape=[5, 6],
                                      strides=[5, 7], ceil_mode=1, count_include_pad=1))
        made = model(nodes, [value("x", [1, 2, 2, 3])],
                     [value(node.output[0], None) for node in nodes], opset=19)
        x = np.random.default_rng(4).standard_normal((1, 2, 2, 3)).astype(np.float32)
        self.compare(made, {"x": x})

    def test_standardized_weights(self):
        """PyTorch standardizes weights by a batch norm in training mode."""
        random = np.random.default_rng(5)
        weights = random.normal(1, 2, (6, 3, 2, 2)).astype(np.float32)
        ones, zeros = np.ones(6, np.float32), np.zeros(6, np.float32)
        nodes = [helper.make_node("Reshape", ["w", "flat"], ["flattened"]),
                 helper.make_node("BatchNormalization", ["flattened", "one", "zero", "zero", "one"],
                                  ["n", "mean", "variance"], training_mode=1, epsilon=1e-6),
                 helper.make_node("Reshape", ["n", "whole"], ["normal"]),
                 helper.make_node("Conv", ["x", "normal"], ["y"])]
        made = model(nodes, [value("x", [1, 3, 5, 5])], [value("y", None)],
                     {"w": weights, "one": ones, "zero": zeros, "flat": np.int64([1, 6, -1]),
                      "whole": np.int64([6, 3, 2, 2])})
        x = random.standard_normal((1, 3, 5, 5)).astype(np.float32)
        self.compare(made, {"x": x}, 1e-4)

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


if __name__ == "__main__":
    sys.exit(unittest.main())
