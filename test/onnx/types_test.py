"""Tests every element type in elementwise operators: constants in each position, the ends of
each type, casts between all types, and float64 in the other operators."""

import math
import sys
import unittest

import numpy as np
from onnx import defs, helper

import emitted
from graphs import Graph

INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
FLOATS = [np.float32, np.float64]
ARITHMETIC = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "Pow", "BitwiseAnd",
              "BitwiseOr", "BitwiseXor", "PRelu"]
COMPARISONS = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]
random = np.random.default_rng(7)


def takes(op, dtype, opset=18):
    """Returns True if ONNX defines the operator for that type of its first operand."""
    schema = defs.get_schema(op, opset, "")
    name = helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    wanted = f"tensor({name.split('.')[1].lower()})"
    return wanted in schema.inputs[0].types


def values(dtype, shape=(3, 4)):
    """Numbers from the whole range of an integer type, or floats around zero."""
    if dtype is np.bool_:
        return random.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype) * 3
    info = np.iinfo(dtype)
    array = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    array.flat[:4] = [info.min, info.max, 1, 3]
    return array


def is_signed(dtype):
    return not np.issubdtype(dtype, np.unsignedinteger)


def ends(dtype):
    if np.issubdtype(dtype, np.floating):
        return [dtype(-1.5), dtype(2)]
    info = np.iinfo(dtype)
    return [dtype(info.max), dtype(info.min), dtype(3)]


class Constants(unittest.TestCase):
    def test_every_operator_with_constants(self):
        for dtype in [*INTEGERS, *FLOATS]:
            with self.subTest(dtype=dtype.__name__):
                graph, x = Graph(), None
                array = values(dtype)
                x = graph.input(array)
                for op in ARITHMETIC + COMPARISONS:
                    if not takes(op, dtype):
                        continue
                    for number in [*ends(dtype), array[0]]:
                        if op == "Pow":
                            # Powers of the ends say nothing, and overflow.
                            number = np.array(2, dtype)
                        if op in ("Div", "Mod"):
                            number = np.where(number == 0, dtype(7), number)
                            # The quotient of the least number by -1 is not one of the type.
                            if is_signed(dtype):
                                number = np.where(number == -1, dtype(-3), number)
                        how = {"fmod": 1} if op == "Mod" and dtype in FLOATS else {}
                        k = graph.constant(np.asarray(number, dtype))
                        expected = None
                        if op == "Div" and dtype in INTEGERS:
                            # ONNX cuts towards zero; the evaluator rounds down.
                            expected = cut(array, np.asarray(number, dtype))
                        graph.add(op, x, k, expected=expected, **how)
                        if op in ("Add", "Sub", "Mul", "Max", "Min", *COMPARISONS):
                            graph.add(op, k, x)
                graph.check(rtol=2e-6 if dtype is np.float32 else 1e-12)

    def test_clip(self):
        for dtype in INTEGERS + FLOATS:
            with self.subTest(dtype=dtype.__name__):
                graph = Graph()
                array = values(dtype)
                x = graph.input(array)
                low, high = sorted(array.flat[4:6])
                low, high = (graph.constant(np.array(v, dtype)) for v in (low, high))
                graph.add("Clip", x, low, high)
                graph.add("Clip", x, low)
                graph.add("Clip", x, "", high)
                for end in ends(dtype):
                    graph.add("Clip", x, "", graph.constant(np.array(end, dtype)))
                graph.check()

    def test_where(self):
        graph = Graph()
        condition = graph.input(values(np.bool_))
        for dtype in [*INTEGERS, *FLOATS, np.bool_]:
            x = graph.input(values(dtype))
            for number in [values(dtype).flat[1], *([] if dtype is np.bool_ else ends(dtype))]:
                k = graph.constant(np.array(number, dtype))
                graph.add("Where", condition, x, k)
                graph.add("Where", condition, k, x)
                graph.add("Where", condition, k, graph.constant(values(dtype)))
        graph.check()

    def test_logic(self):
        graph = Graph()
        a, b = graph.input(values(np.bool_)), graph.input(values(np.bool_))
        for op in ("And", "Or", "Xor"):
            for other in (b, graph.constant(np.array(True)), graph.constant(np.array(False)),
                          graph.constant(values(np.bool_))):
                graph.add(op, a, other)
        graph.add("Not", a)
        graph.add("Equal", a, b)
        graph.add("Where", a, b, graph.hidden("Not", b))
        graph.add("And", graph.hidden("Not", graph.hidden("Or", a, b)), b)
        graph.check()

    def test_unary(self):
        for dtype in INTEGERS + FLOATS:
            with self.subTest(dtype=dtype.__name__):
                graph = Graph()
                x = graph.input(values(dtype))
                for op in ("Abs", "Neg", "Relu", "Sign", "BitwiseNot", "Identity", "Floor",
                           "Ceil", "Round"):
                    if takes(op, dtype):
                        graph.add(op, x)
                if takes("IsNaN", dtype):
                    graph.add("IsNaN", x)
                    graph.add("IsInf", x)
                graph.check()

    def test_folded(self):
        """Operators on constants alone, which the compiler computes itself."""
        for dtype in INTEGERS + FLOATS:
            with self.subTest(dtype=dtype.__name__):
                graph = Graph()
                a, b = graph.constant(values(dtype)), graph.constant(values(dtype))
                x = graph.input(values(dtype))
                for op in ("Add", "Sub", "Mul", "Max", "Min"):
                    graph.add("Max", x, graph.hidden(op, a, b))
                for end in ends(dtype):
                    k = graph.constant(np.array(end, dtype))
                    graph.add("Min", graph.hidden("Add", a, k), x)
                graph.check(rtol=1e-6)


def cut(a, b):
    """a / b rounded towards zero."""
    quotient = a // b
    return quotient + ((quotient < 0) & (quotient * b != a)).astype(a.dtype)


class Casts(unittest.TestCase):
    TYPES = [np.bool_, *INTEGERS, *FLOATS]

    def numbers(self, dtype):
        """Numbers that every type holds, but for what floats have behind the point."""
        array = np.array([0, 1, 2, 100, 127, 0, 3, 5])
        if dtype in FLOATS:
            array = array + np.array([0, 0, 0.5, 0.25, 0, -0.0, 0.75, 0])
        return array.astype(dtype)

    def check(self, prepare, **how):
        graph = Graph()
        for source in self.TYPES:
            x = prepare(graph, graph.input(self.numbers(source)), source)
            for target in self.TYPES:
                graph.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
        graph.check(**how)

    def test_alone(self):
        self.check(lambda graph, x, _: x)
        self.check(lambda graph, x, _: x, target="portable")

    def test_one_by_one(self):
        """What one cast needs must not come from what its neighbours include."""
        for source, target in ((np.float32, np.bool_), (np.float64, np.bool_),
                               (np.float32, np.uint8), (np.float32, np.float64),
                               (np.int64, np.float32), (np.bool_, np.float32)):
            with self.subTest(source=source.__name__, target=target.__name__):
                graph = Graph()
                x = graph.input(self.numbers(source))
                graph.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
                graph.check()

    def test_behind_operators(self):
        self.check(lambda graph, x, dtype: x if dtype is np.bool_ else
                   graph.hidden("Max", x, graph.constant(np.array(1, dtype))))

    def test_behind_convolution(self):
        graph = Graph()
        array = np.abs(values(np.float32, (1, 3, 5, 5)))
        w = graph.constant(np.abs(values(np.float32, (4, 3, 3, 3))))
        conv = graph.hidden("Relu", graph.hidden("Conv", graph.input(array), w))
        k = graph.constant(np.float32(60))
        # Far from where rounding turns the one into the other.
        for op in COMPARISONS[1:]:
            graph.add(op, conv, k)
        above = graph.hidden("Greater", conv, k)
        graph.add("Where", above, conv, k)
        graph.add("And", above, graph.hidden("Less", conv, graph.constant(np.float32(90))))
        graph.add("Cast", conv, to=helper.np_dtype_to_tensor_dtype(np.dtype(bool)))
        graph.add("Cast", graph.hidden("Mul", conv, graph.constant(np.float32(1.5))),
                  to=helper.np_dtype_to_tensor_dtype(np.dtype(np.float64)))
        graph.add("Not", graph.hidden("IsNaN", conv))
        for target in ("native", "portable"):
            graph.check(rtol=1e-5, target=target)

    def test_nan_is_true(self):
        graph = Graph()
        for dtype in FLOATS:
            x = graph.input(np.array([0, -0.0, np.nan, np.inf, 1e-30], dtype))
            graph.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(bool)),
                      expected=[False, False, True, True, True])
        graph.check()


class Reductions(unittest.TestCase):
    def test_integers(self):
        # The evaluator has no logarithms of integers.
        graph, logs = Graph(), Graph()
        axes = graph.constant(np.array([1], np.int64))
        logs.constant(np.array([1], np.int64))
        for dtype in (np.int32, np.int64, np.uint32, np.uint64):
            array = np.array([[1, 2, 3, 9], [5, 5, 7, 2]], dtype)
            x = graph.input(array)
            logs.input(array)
            for kind in ("Sum", "Mean", "Max", "Min", "Prod", "L1"):
                graph.add("Reduce" + kind, x, axes)
            # What these give is cut towards zero.
            real = array.astype(np.float64)
            for kind, value in (("SumSquare", (real**2).sum(1)),
                                ("L2", np.sqrt((real**2).sum(1))),
                                ("LogSum", np.log(real.sum(1))),
                                ("LogSumExp", np.log(np.exp(real).sum(1)))):
                logs.add("Reduce" + kind, x, axes, keepdims=0, expected=value.astype(dtype))
            logs.add("ReduceLogSum", x, noop_with_empty_axes=1,
                     expected=np.log(real).astype(dtype))
        graph.check()
        logs.check()


class Pads(unittest.TestCase):
    def test_numbers_that_no_float_holds(self):
        graph = Graph()
        pads = graph.constant(np.array([1, 0, 0, 2], np.int64))
        for dtype, number in ((np.int32, 2**24 + 1), (np.int64, 2**62 + 1), (np.int64, -7),
                              (np.uint8, 255), (np.float64, 0.1), (np.float64, np.nan),
                              (np.float32, 0.1), (np.int32, -2**31)):
            graph.add("Pad", graph.input(values(dtype)), pads, graph.constant(dtype(number)))
        graph.check()


class Shrink(unittest.TestCase):
    def test_every_type(self):
        for dtype in INTEGERS + FLOATS:
            with self.subTest(dtype=dtype.__name__):
                array = np.array([0, 1, 2, 3, 100, 120], dtype)
                if is_signed(dtype):
                    array = np.concatenate([array, -array])
                graph = Graph()
                x = graph.input(array)
                for lambd, bias in [(2.0, 1.0), (0.5, 0.0), (1.5, 0.5)]:
                    graph.add("Shrink", x, lambd=lambd, bias=bias)
                graph.add("Shrink", x)
                graph.check(rtol=1e-6)


class Doubles(unittest.TestCase):
    """Tests float64 in operators that have rewrites and kernels for float32."""

    def check(self, graph, **how):
        for target in emitted.in_turn(("native", "portable"), self.id()):
            graph.check(rtol=1e-11, atol=1e-12, target=target, **how)

    def test_functions(self):
        graph = Graph(20)
        x = graph.input(values(np.float64))
        positive = graph.input(np.abs(values(np.float64)) + 1)
        fraction = graph.input(random.uniform(-0.9, 0.9, (3, 4)))
        for op in ("Atan", "Asinh", "Ceil", "Cos", "Cosh", "Elu", "Exp", "Floor",
                   "HardSigmoid", "LeakyRelu", "Mish", "Neg", "Reciprocal", "Relu",
                   "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign",
                   "Tan", "Tanh", "ThresholdedRelu", "Abs"):
            graph.add(op, x)
        # The evaluator rounds erf and constants of function bodies to float32.
        graph.add("HardSwish", x, expected=graph.feeds[x] *
                  np.clip(graph.feeds[x] / 6 + 0.5, 0, 1))
        erf = np.vectorize(math.erf)
        graph.add("Erf", x, expected=erf(graph.feeds[x]))
        graph.add("Gelu", x, expected=graph.feeds[x] / 2 *
                  (1 + erf(graph.feeds[x] / math.sqrt(2))))
        array = graph.feeds[x]
        inner = math.sqrt(2 / math.pi) * (array + 0.044715 * array**3)
        graph.add("Gelu", x, approximate="tanh", expected=array / 2 * (1 + np.tanh(inner)))
        for op in ("Acosh", "Log", "Sqrt"):
            graph.add(op, positive)
        for op in ("Acos", "Asin", "Atanh"):
            graph.add(op, fraction)
        graph.add("Pow", positive, x)
        graph.add("PRelu", x, fraction)
        self.check(graph)

    def test_windows(self):
        graph = Graph()
        x = graph.input(values(np.float64, (2, 4, 9, 8)))
        for groups, c in ((1, 4), (2, 2), (4, 1)):
            w = graph.constant(values(np.float64, (8, c, 3, 2)))
            b = graph.constant(values(np.float64, 8))
            graph.add("Conv", x, w, b, group=groups, strides=[2, 1], pads=[1, 0, 1, 1])
        pointwise = graph.constant(values(np.float64, (6, 4, 1, 1)))
        graph.add("Relu", graph.hidden("Conv", x, pointwise))
        depthwise = graph.hidden("Conv", x, graph.constant(values(np.float64, (4, 1, 3, 3))),
                                 group=4, pads=[1, 1, 1, 1])
        graph.add("Conv", graph.hidden("Relu", depthwise), pointwise)
        up = graph.constant(values(np.float64, (4, 3, 2, 2)))
        graph.add("ConvTranspose", x, up, strides=[2, 2])
        graph.add("ConvTranspose", x, up, strides=[1, 1])
        for op in ("AveragePool", "MaxPool"):
            graph.add(op, x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        graph.add("AveragePool", x, kernel_shape=[3, 2], pads=[1, 0, 1, 0],
                  count_include_pad=1)
        graph.add("AveragePool", graph.hidden("Conv", x, pointwise), kernel_shape=[2, 2],
                  strides=[2, 2])
        graph.add("GlobalAveragePool", x)
        graph.add("GlobalMaxPool", x)
        self.check(graph)

    def test_rows(self):
        graph = Graph()
        line = graph.input(values(np.float64, (2, 4, 9)))
        w = graph.constant(values(np.float64, (6, 4, 3)))
        graph.add("Conv", line, w, pads=[1, 1])
        graph.add("AveragePool", line, kernel_shape=[3])
        graph.add("GlobalAveragePool", line)
        self.check(graph)

    def test_reductions(self):
        graph = Graph()
        x = graph.input(np.abs(values(np.float64, (2, 3, 4, 5))) + 0.5)
        for kind in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum",
                     "LogSumExp"):
            for axes in ([2, 3], [1], [0, 3], [3]):
                axes = graph.constant(np.array(axes, np.int64))
                graph.add("Reduce" + kind, x, axes)
                graph.add("Reduce" + kind, x, axes, keepdims=0)
        graph.add("ArgMax", x, axis=2)
        self.check(graph)

    def test_products(self):
        graph = Graph()
        a, b = graph.input(values(np.float64, (3, 5, 7))), graph.input(values(np.float64, (7, 6)))
        graph.add("MatMul", a, b)
        graph.add("MatMul", a, graph.constant(values(np.float64, (3, 7, 4))))
        graph.add("Gemm", graph.input(values(np.float64, (4, 7))), b,
                  graph.constant(values(np.float64, 6)), alpha=0.5, beta=2.0)
        self.check(graph)

    def test_normalizations(self):
        graph = Graph()
        x = graph.input(values(np.float64, (2, 4, 5, 6)))
        c = [graph.constant(np.abs(values(np.float64, 4)) + 0.5) for _ in range(4)]
        last = graph.constant(values(np.float64, 6)), graph.constant(values(np.float64, 6))
        # Powers of two: shapes hold real numbers as float32.
        epsilon = 2.0**-10
        graph.add("BatchNormalization", x, *c, epsilon=epsilon)
        graph.add("InstanceNormalization", x, c[0], c[1], epsilon=epsilon)
        graph.add("LayerNormalization", x, *last, epsilon=epsilon)
        graph.add("BatchNormalization",
                  graph.hidden("Conv", x, graph.constant(values(np.float64, (4, 4, 1, 1)))), *c,
                  epsilon=epsilon)
        for axis in (1, 3):
            graph.add("Softmax", x, axis=axis)
            graph.add("LogSoftmax", x, axis=axis)
        graph.add("LpNormalization", x, axis=1)
        self.check(graph)

    def test_written_out(self):
        """Expressions that are composed to one operator of float32."""
        graph = Graph()
        x = graph.input(values(np.float64, (2, 3, 4)))
        axes = graph.constant(np.array([2], np.int64))
        exp = graph.hidden("Exp", x)
        graph.add("Div", exp, graph.hidden("ReduceSum", exp, axes))
        centred = graph.hidden("Sub", x, graph.hidden("ReduceMean", x, axes))
        variance = graph.hidden("ReduceMean", graph.hidden("Mul", centred, centred), axes)
        shifted = graph.hidden("Add", variance, graph.constant(np.float64(2.0**-10)))
        graph.add("Div", centred, graph.hidden("Sqrt", shifted))
        graph.add("Mul", x, graph.hidden("Sigmoid", x))
        q, k, v = (graph.input(values(np.float64, (1, 2, 5, 4))) for _ in range(3))
        scores = graph.hidden("MatMul", q, graph.hidden("Transpose", k, perm=[0, 1, 3, 2]))
        graph.add("MatMul", graph.hidden("Softmax", scores, axis=-1), v)
        # No float32.
        scaled = graph.hidden("Mul", scores, graph.constant(np.float64(1 / 3)))
        graph.add("MatMul", graph.hidden("Softmax", scaled, axis=-1), v)
        self.check(graph)

    def test_moves(self):
        graph = Graph()
        x = graph.input(values(np.float64, (1, 2, 4, 6)))
        graph.add("Transpose", x, perm=[0, 2, 3, 1])
        graph.add("Concat", x, x, axis=1)
        graph.add("Pad", x, graph.constant(np.array([0, 0, 1, 2, 0, 0, 0, 1], np.int64)),
                  graph.constant(np.float64(0.1)))
        graph.add("Resize", x, "", graph.constant(np.array([1, 1, 2, 2], np.float32)),
                  mode="linear")
        graph.add("Resize", x, "", graph.constant(np.array([1, 1, 2, 2], np.float32)))
        graph.add("Gather", x, graph.constant(np.array([1, 0], np.int64)), axis=2)
        self.check(graph)


if __name__ == "__main__":
    sys.exit(unittest.main())
