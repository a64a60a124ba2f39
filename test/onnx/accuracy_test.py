"""Tests what rewrites of arithmetic must preserve: the bits on which a floor or a comparison
depends, the digits of a small difference between large numbers, and infinities. Results are
compared with those of numpy: in float32 where bits matter, otherwise in float64 with a bound in
units of 2^-24."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper, parser

import emitted

TARGETS = ("native", "portable")
U = 2.0 ** -24  # the unit roundoff of float32
F32 = np.float32


def run(text, inputs, constants=None, opset=21, options=()):
    """The outputs by name, on each target. `text` is a graph that onnx.parser reads."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    model.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(array), name)
        for name, array in (constants or {}).items())
    onnx.checker.check_model(model)
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(model, path)
            module = emitted.compile_model(path, path.parent / "out", target=target,
                                           options=options)
            module.build()
            yield target, {name: array.copy() for name, array in module(inputs).items()}


class Steps(unittest.TestCase):
    """Where a difference in the last bit becomes a whole step, every op computes exactly what
    IEEE arithmetic on floats defines."""

    def check(self, text, inputs, constants, expected, opset=21):
        for target, found in run(text, inputs, constants, opset):
            for name, values in expected.items():
                with self.subTest(target=target, output=name):
                    np.testing.assert_array_equal(found[name], values)

    def setUp(self):
        # Multiples of the step, where quotients are near whole numbers.
        self.s = F32(0.014987469)
        self.x = self.around(np.arange(-60, 120) * np.float64(self.s))

    def around(self, values):
        """Floats near each of 180 values, and their neighbours."""
        x = F32(values)
        return np.stack([np.nextafter(x, F32(-np.inf)), x, np.nextafter(x, F32(np.inf))], 1)

    def test_division(self):
        """Each chain has an input of its own: equal values would be one that a floor reads."""
        x, s, t = self.x, self.s, F32(1)
        v = np.array([0.014987469, 0.1, 3], F32)
        q, p = x / s, x / v
        inputs = {f"x{name}": x for name in "abcdefhijkl"}
        ports = ", ".join(f"float[180,3] {name}" for name in inputs)
        self.check(f"""g ({ports}) => (float[180,3] a, float[180,3] b, float[180,3] c,
                     int32[180,3] d, bool[180,3] e, bool[180,3] f, float[180,3] h,
                     float[180,3] i, float[3,180] j, float[180,3] k, float[180,3] l) {{
              a0 = Div (xa, s)
              a1 = Relu (a0)
              a = Floor (a1)
              b0 = Div (xb, v)
              b = Ceil (b0)
              c0 = Div (xc, s)
              c1 = Max (c0, minus)
              c = Round (c1)
              d0 = Div (xd, s)
              d1 = Reshape (d0, line)
              d2 = Cast <to = 6> (d1)
              d = Reshape (d2, back)
              e0 = Div (xe, s)
              e = GreaterOrEqual (e0, t)
              f0 = Div (xf, v)
              f1 = Neg (f0)
              f = Less (f1, t)
              h0 = Div (xh, s)
              h = Mod <fmod = 1> (h0, t)
              i0 = Div (xi, s)
              i1 = Add (i0, t)
              i = Floor (i1)
              j0 = Div (xj, v)
              j1 = Transpose (j0)
              j = Floor (j1)
              k0 = Div (xk, s)
              k1 = Greater (k0, t)
              k = Where (k1, k0, t)
              l0 = Div (xl, s)
              l1 = MatMul (l0, unit)
              l = Floor (l1)
            }}""", inputs, {"s": s, "t": t, "v": v, "unit": np.eye(3, dtype=F32),
                            "minus": F32(-30), "line": np.array([540]),
                            "back": np.array([180, 3])},
                   {"a": np.floor(np.maximum(q, 0)), "b": np.ceil(p),
                    "c": np.rint(np.maximum(q, -30)), "d": q.astype(np.int32), "e": q >= 1,
                    "f": -p < 1, "h": np.fmod(q, t), "i": np.floor(q + t), "j": np.floor(p.T),
                    "k": np.where(q > 1, q, t), "l": np.floor(q)})

    def test_other_chains(self):
        s, a, b, six, half = self.s, F32(1 / 3), F32(200.1), F32(6), F32(0.5)
        k = np.arange(180.0)
        # Where what is rounded is near a whole number, or half of one.
        x = {"a": self.around(k / (np.float64(a) * b)),
             "b": self.around(((k + 0.5) / b - 0.5) / a),
             "c": self.around((k * s - 0.5) / a), "h": self.around(k)}
        # All floats near one, from which the limits of comparisons are.
        x["d"] = x["e"] = (F32(1.7).view(np.int32) + np.arange(-270, 270, dtype=np.int32)).view(
            F32).reshape(180, 3)
        gate = np.clip(x["d"] / six + half, F32(0), F32(1))
        swish = x["e"] * np.clip(x["e"] + F32(3), F32(0), six) / six
        limit, other = gate[90, 0], swish[90, 0]
        inputs = {f"x{name}": values for name, values in x.items()}
        ports = ", ".join(f"float[180,3] {name}" for name in inputs)
        self.check(f"""g ({ports}) => (float[180,3] a, float[180,3] b, float[180,3] c,
                     bool[180,3] d, bool[180,3] e, float[180,3] h) {{
              a0 = Mul (xa, third)
              a1 = Mul (a0, big)
              a2 = Relu (a1)
              a = Floor (a2)
              b0 = Mul (xb, third)
              b1 = Add (b0, half)
              b2 = Mul (b1, big)
              b3 = Abs (b2)
              b = Round (b3)
              c0 = Reshape (xc, planes)
              c1 = Conv (c0, one)
              c2 = Reshape (c1, shape)
              c3 = Mul (c2, third)
              c4 = Add (c3, half)
              c5 = Div (c4, s)
              c6 = Relu (c5)
              c = Floor (c6)
              d0 = Div (xd, six)
              d1 = Add (d0, half)
              d2 = Clip (d1, zero, ones)
              d = GreaterOrEqual (d2, limit)
              e0 = Add (xe, three)
              e1 = Clip (e0, zero, six)
              e2 = Mul (xe, e1)
              e3 = Div (e2, six)
              e = Greater (e3, other)
              h0 = Div (xh, s)
              h1 = Mul (h0, s)
              h2 = Relu (h1)
              h = Floor (h2)
            }}""", inputs, {"third": a, "big": b, "six": six, "half": half, "s": s,
                            "zero": F32(0), "ones": F32(1), "three": F32(3), "limit": limit,
                            "other": other, "one": np.ones((1, 1, 1, 1), F32),
                            "planes": np.array([1, 1, 180, 3]), "shape": np.array([180, 3])},
                   {"a": np.floor(np.maximum(x["a"] * a * b, 0)),
                    "b": np.rint(np.abs((x["b"] * a + half) * b)),
                    "c": np.floor(np.maximum((x["c"] * a + half) / s, 0)), "d": gate >= limit,
                    "e": swish > other, "h": np.floor(np.maximum(x["h"] / s * s, 0))})

    def test_division_that_is_seen(self):
        """A result of the model itself: its reader may round it."""
        x, s = self.x, self.s
        self.check("""g (float[180,3] x) => (float[180,3] a, float[180,3] b, float[180,3] c) {
              a = Div (x, s)
              b = Div (x, v)
              c = Div (x, four)
            }""", {"x": x}, {"s": s, "v": np.array([3, 5, 7], F32), "four": F32(4)},
                   {"a": x / s, "b": x / np.array([3, 5, 7], F32), "c": x / F32(4)})

    def test_quantization(self):
        ties = np.array([-2, 1.875, -1.9375], F32)
        scale = F32((F32(1.875) - F32(-2)) / F32(255))
        zero = np.uint8(np.clip(np.rint(F32(0) - F32(-2) / scale), 0, 255))
        quantized = np.clip(np.rint(ties / scale) + F32(zero), 0, 255).astype(np.uint8)
        s = F32(0.1)
        x = (np.arange(-300, 300, dtype=F32) * F32(0.05)).astype(F32)
        self.check("""g (float[3] t, float[600] x) => (uint8[3] y, float z, uint8 w, int8[600] q,
                     float[600] f) {
              y, z, w = DynamicQuantizeLinear (t)
              q = QuantizeLinear (x, s, zero)
              d = Div (x, s)
              r = Round (d)
              c = Clip (r, low, high)
              f = Mul (c, s)
            }""", {"t": ties, "x": x},
                   {"s": s, "zero": np.int8(0), "low": F32(-128), "high": F32(127)},
                   {"y": quantized, "z": scale, "w": zero,
                    "q": np.clip(np.rint(x / s), -128, 127).astype(np.int8),
                    "f": np.clip(np.rint(x / s), -128, 127) * s})


class LargeMeans(unittest.TestCase):
    """Differences of large numbers keep their digits. Errors are at most a few times the sum of
    the rounding errors of the ops in the model."""

    def check(self, text, inputs, constants, expected, opset=21):
        """`expected` are pairs of values and what rounding each of them once costs."""
        for target, found in run(text, inputs, constants, opset):
            for name, (values, unit) in expected.items():
                with self.subTest(target=target, output=name):
                    error = np.max(np.abs(found[name] - values) / unit)
                    self.assertLessEqual(error, 6, f"{error:.3g} times the rounding error")

    def setUp(self):
        random = np.random.default_rng(5)
        self.mean = np.array([101325, 2020.5, 3e5, 1e4, -5e5, 77777.25, 1e3, 4e5], F32)
        self.deviation = np.array([9.7, 3.3, 7, 1.1, 0.9, 5.5, 0.13, 9], F32)
        self.x = (self.mean + self.deviation * random.standard_normal((64, 8))).astype(F32)
        self.w = random.standard_normal((8, 16)).astype(F32)
        # What a difference that is exact, divided, is off by.
        self.y = (np.float64(self.x) - self.mean) / np.float64(self.deviation)
        self.near = U * np.abs(self.y) + 1e-30
        self.constants = {"m": self.mean, "s": self.deviation, "w": self.w}

    def test_elementwise(self):
        random = np.random.default_rng(6)
        g, b = (random.standard_normal(8).astype(F32) for _ in range(2))
        variance = self.deviation ** 2
        d64 = np.sqrt(np.float64(variance) + 1e-5)
        normal = (np.float64(self.x) - self.mean) / d64
        bounded = np.clip(self.y, 0, 1)
        scaled = self.y * g
        affine = normal * g + b
        self.check("""g (float[64,8] x) => (float[64,8] a, float[64,8] b, float[64,8] c,
                     float[64,8] d, float[64,8] e, float[64,8] f, float[64,8] h, float[64,8] i) {
              a0 = Sub (x, m)
              a = Div (a0, s)
              b0 = Add (x, minus)
              b = Div (b0, s)
              c0 = Sub (x, m)
              c1 = Div (c0, s)
              c2 = Mul (c1, g)
              c = Add (c2, b_)
              d = BatchNormalization (x, g, b_, m, v)
              e0 = Sub (x, m)
              e1 = Div (e0, s)
              e = Clip (e1, zero, one)
              f0 = Mul (x, two)
              f1 = Sub (f0, twice)
              f = Div (f1, s2)
              h0 = MatMul (x, unit)
              h1 = Sub (h0, m)
              h = Div (h1, s)
              i0 = Relu (x)
              i1 = Transpose (i0)
              i2 = Sub (i1, column)
              i3 = Div (i2, deviations)
              i4 = Transpose (i3)
              i = Mul (i4, g)
            }""", {"x": self.x},
                   {"m": self.mean, "s": self.deviation, "minus": -self.mean, "g": g, "b_": b,
                    "v": variance, "zero": F32(0), "one": F32(1), "two": F32(2),
                    "twice": 2 * self.mean, "s2": 2 * self.deviation,
                    "unit": np.eye(8, dtype=F32), "column": self.mean[:, None],
                    "deviations": self.deviation[:, None]},
                   {"a": (self.y, self.near), "b": (self.y, self.near),
                    "c": (scaled + b, U * (np.abs(scaled) + np.abs(scaled + b))),
                    "d": (affine, U * (3 * np.abs(normal * g) + np.abs(affine))),
                    "e": (bounded, U * bounded + 1e-30),
                    "f": (self.y, self.near), "h": (self.y, self.near),
                    "i": (np.where(self.mean > 0, scaled, -self.mean / np.float64(self.deviation)
                                   * g),
                          U * np.abs(np.where(self.mean > 0, scaled, self.mean / self.deviation
                                              * g)) + 1e-30)})

    def test_before_products(self):
        product = self.y @ np.float64(self.w)
        unit = 8 * U * (np.abs(self.y) @ np.abs(np.float64(self.w)))
        variance = self.deviation ** 2
        image = np.float64(self.x.T.reshape(1, 8, 8, 8))
        column = np.float64(self.mean)[:, None, None], np.float64(self.deviation)[:, None, None]
        normal = (image - column[0]) / column[1]
        w = np.float64(self.w.T)
        planes = np.einsum("kc,nchw->nkhw", w, normal)
        plane_unit = 8 * U * np.einsum("kc,nchw->nkhw", np.abs(w), np.abs(normal))
        self.check("""g (float[64,8] x, float[1,8,8,8] i) => (float[64,16] a, float[64,16] b,
                     float[1,16,8,8] c, float[1,16,8,8] d) {
              a0 = Sub (x, m)
              a1 = Div (a0, s)
              a = MatMul (a1, w)
              b0 = BatchNormalization <epsilon = 0.0> (x, one, zero, m, v)
              b = Gemm (b0, w)
              c0 = Sub (i, mc)
              c1 = Div (c0, sc)
              c = Conv (c1, k)
              d0 = BatchNormalization <epsilon = 0.0> (i, one, zero, m, v)
              d = Conv (d0, k)
            }""", {"x": self.x, "i": F32(image)},
                   self.constants | {"one": np.ones(8, F32), "zero": np.zeros(8, F32),
                                     "v": variance, "mc": self.mean[:, None, None],
                                     "sc": self.deviation[:, None, None],
                                     "k": self.w.T.reshape(16, 8, 1, 1).copy()},
                   {"a": (product, unit), "b": (product, 2 * unit), "c": (planes, plane_unit),
                    "d": (planes, 2 * plane_unit)})

    def test_behind_products(self):
        """A product is off by as much as its terms are large, and no more afterwards."""
        random = np.random.default_rng(7)
        x = (10 + random.standard_normal((64, 8))).astype(F32)
        w = (100 * random.standard_normal((8, 16))).astype(F32)
        product = np.float64(x) @ np.float64(w)
        mean, deviation = F32(product.mean(0)), F32(product.std(0))
        y = (product - mean) / np.float64(deviation)
        unit = 8 * U * (np.abs(np.float64(x)) @ np.abs(np.float64(w))) / deviation
        self.check("""g (float[64,8] x) => (float[64,16] a, float[64,16] b) {
              a0 = MatMul (x, w)
              a1 = Sub (a0, m)
              a = Div (a1, s)
              b0 = Gemm (x, w)
              b = BatchNormalization <epsilon = 0.0> (b0, one, zero, m, v)
            }""", {"x": x},
                   {"w": w, "m": mean, "s": deviation, "v": deviation ** 2,
                    "one": np.ones(16, F32), "zero": np.zeros(16, F32)},
                   {"a": (y, unit), "b": (y, unit)})

    def test_own_statistics(self):
        """Mean and variance of the input itself. The mean is a float: off by U times itself,
        which is all that may be lost."""
        for ratio in (1e3, 1e4):
            random = np.random.default_rng(8)
            x = (ratio + random.standard_normal((2, 6, 10, 10))).astype(F32)
            x[:, 3:] *= F32(-0.5)
            x64 = np.float64(x)

            def normalize(values, axes, epsilon=1e-5):
                mean = values.mean(axes, keepdims=True)
                return (values - mean) / np.sqrt(values.var(axes, keepdims=True) + epsilon)

            g, b = np.arange(1, 7, dtype=F32), np.arange(6, dtype=F32)[::-1].copy()
            gc, bc = g[:, None, None], b[:, None, None]
            groups = normalize(x64.reshape(2, 2, 300), 2).reshape(x.shape)
            plane, batch = normalize(x64, (2, 3)), normalize(x64, (0, 2, 3), 0)
            expected = {"a": batch, "b": normalize(x64, (1, 2, 3), 0), "c": groups * gc + bc,
                        "d": plane * gc + bc, "e": normalize(x64, 3),
                        "f": normalize(x64, (0, 2, 3)) * gc + bc, "h": x64.var((2, 3))}
            for target, found in run(f"""g (float[2,6,10,10] x, float[6] mean, float[6] var) =>
                         (float[2,6,10,10] a, float[2,6,10,10] b, float[2,6,10,10] c,
                          float[2,6,10,10] d, float[2,6,10,10] e, float[2,6,10,10] f,
                          float[2,6] h) {{
                  a = MeanVarianceNormalization (x)
                  b = MeanVarianceNormalization <axes = [1, 2, -1]> (x)
                  c = GroupNormalization <num_groups = 2> (x, g, b_)
                  d = InstanceNormalization (x, g, b_)
                  e = LayerNormalization <axis = -1> (x, ten)
                  f = BatchNormalization (x, g, b_, mean, var)
                  h0 = Mul (x, x)
                  h1 = ReduceMean <keepdims = 0> (h0, planes)
                  h2 = ReduceMean <keepdims = 0> (x, planes)
                  h3 = Mul (h2, h2)
                  h = Sub (h1, h3)
                }}""", {"x": x, "mean": F32(x64.mean((0, 2, 3))), "var": F32(x64.var((0, 2, 3)))},
                                     {"g": g, "b_": b, "ten": np.ones(10, F32),
                                      "planes": np.array([2, 3])}):
                for name, values in expected.items():
                    with self.subTest(target=target, output=name, ratio=ratio):
                        bound = 6 * (4 * U * ratio + 8 * U * np.abs(values).max())
                        error = np.max(np.abs(found[name] - values))
                        self.assertLessEqual(error, bound * (1 if name in "abeh" else 6))


class Weights(unittest.TestCase):
    """By default no weight is rounded, so that the bound of a sum of products holds for every
    input, even for one that is zero where the weights are large."""

    def test_large_rows(self):
        random = np.random.default_rng(11)
        w = (0.02 * random.standard_normal((4096, 2048))).astype(F32)
        w[7] *= F32(1e6)
        w[:, 5] *= F32(1e-6)
        x = random.standard_normal((1, 4096)).astype(F32)
        x[0, 7] = 0
        exact = np.float64(x) @ np.float64(w)
        unit = U * (np.abs(np.float64(x)) @ np.abs(np.float64(w)))
        for target, found in run("""g (float[1,4096] x) => (float[1,2048] y) {
              y = MatMul (x, w)
            }""", {"x": x}, {"w": w}):
            with self.subTest(target=target):
                self.assertLess(np.max(np.abs(found["y"] - exact) / unit), 8)


class Infinities(unittest.TestCase):
    """Results are infinite where IEEE arithmetic and the definitions of the operators require
    it, and NaN only where these do."""

    def check(self, text, inputs, expected, constants=None, rtol=1e-5):
        for target, found in run(text, inputs, constants):
            for name, values in expected.items():
                with self.subTest(target=target, output=name):
                    np.testing.assert_allclose(found[name], values, rtol=rtol, atol=1e-6)

    def setUp(self):
        inf, nan = np.inf, np.nan
        row = np.linspace(-3, 3, 19)
        rows = [row, row - inf, np.where(row > 0, row, -inf), np.where(row > 2.9, inf, row),
                np.full(19, inf), np.where(row < -2.9, -inf, 1000), np.where(row == 0, nan, row),
                np.where(row > 2.9, inf, -inf)]
        self.x = np.array(rows, F32)

    def test_log_sum_exp(self):
        def expected(x, axes, keep=True):
            x = np.float64(x)
            with np.errstate(all="ignore"):
                return np.logaddexp.reduce(x, axes, keepdims=keep) if axes is not None else \
                    np.logaddexp.reduce(x.reshape(-1), 0).reshape(1, 1)
        for dtype, name in ((F32, "float"), (np.float64, "double")):
            x = self.x.astype(dtype)
            self.check(f"""g ({name}[8,19] x) => ({name}[8,1] a, {name}[19] b, {name}[1,1] c) {{
                  a = ReduceLogSumExp (x, last)
                  b = ReduceLogSumExp <keepdims = 0> (x, first)
                  c = ReduceLogSumExp (x)
                }}""", {"x": x},
                       {"a": expected(x, 1), "b": expected(x[:], 0, False), "c": expected(x, None)},
                       {"last": np.array([1]), "first": np.array([0])})

    def test_softmax(self):
        x = np.float64(self.x)
        with np.errstate(all="ignore"):
            shifted = [x - x.max(axis, keepdims=True) for axis in (1, 0)]
            sums = [np.exp(s).sum(axis, keepdims=True) for s, axis in zip(shifted, (1, 0))]
            soft = [np.exp(s) / total for s, total in zip(shifted, sums)]
            logs = [s - np.log(total) for s, total in zip(shifted, sums)]
        self.check("""g (float[8,19] x) => (float[8,19] a, float[8,19] b, float[8,19] c,
                     float[8,19] d) {
              a = Softmax <axis = 1> (x)
              b = Softmax <axis = 0> (x)
              c = LogSoftmax <axis = 1> (x)
              d = LogSoftmax <axis = 0> (x)
            }""", {"x": self.x}, {"a": soft[0], "b": soft[1], "c": logs[0], "d": logs[1]})

    def test_reductions(self):
        x = np.float64(self.x)
        with np.errstate(all="ignore"):
            expected = {"a": x.max(1), "b": x.min(1), "c": x.sum(1), "d": x.mean(1),
                        "e": np.abs(x).sum(1), "f": np.sqrt((x * x).sum(1)), "g": (x * x).sum(1),
                        "h": np.log(np.abs(x).sum(1)), "i": x.max(0), "j": x.min(0),
                        "k": x.mean(0)}
        ports = ", ".join(f"float[{8 if name < 'i' else 19}] {name}" for name in expected)
        self.check(f"""g (float[8,19] x) => ({ports}) {{
              a = ReduceMax <keepdims = 0> (x, last)
              b = ReduceMin <keepdims = 0> (x, last)
              c = ReduceSum <keepdims = 0> (x, last)
              d = ReduceMean <keepdims = 0> (x, last)
              e = ReduceL1 <keepdims = 0> (x, last)
              f = ReduceL2 <keepdims = 0> (x, last)
              g = ReduceSumSquare <keepdims = 0> (x, last)
              h0 = Abs (x)
              h = ReduceLogSum <keepdims = 0> (h0, last)
              i = ReduceMax <keepdims = 0> (x, first)
              j = ReduceMin <keepdims = 0> (x, first)
              k = ReduceMean <keepdims = 0> (x, first)
            }}""", {"x": self.x}, expected, {"last": np.array([1]), "first": np.array([0])})

    def test_planes(self):
        """Means and maxima of planes are pools, whose padding is no number."""
        inf = np.inf
        x = np.zeros((1, 4, 5, 5), F32)
        x[0, 0], x[0, 1, 2, 2], x[0, 2, 0, 0] = -inf, inf, -inf
        with np.errstate(all="ignore"):
            self.check("""g (float[1,4,5,5] x) => (float[1,4,1,1] a, float[1,4,1,1] b) {
                  a = ReduceMax (x, axes)
                  b = GlobalAveragePool (x)
                }""", {"x": x}, {"a": x.max((2, 3), keepdims=True),
                                 "b": x.mean((2, 3), keepdims=True)},
                       {"axes": np.array([2, 3])})

    def test_attention(self):
        """Masks of -inf: some keys, all keys of the first blocks, all keys of a query."""
        random = np.random.default_rng(10)
        q, k, v = (random.standard_normal((1, 2, 150, 8)).astype(F32) for _ in range(3))
        mask = np.where(random.random((1, 1, 150, 150)) < 0.5, -np.inf, 0).astype(F32)
        mask[0, 0, 3, :140] = -np.inf
        mask[0, 0, 4, 10:] = -np.inf
        mask[0, 0, 5] = -np.inf
        mask[0, 0, 6] = np.finfo(F32).min
        mask[0, 0, 3, 149] = mask[0, 0, 4, 0] = 0
        scores = np.float64(q) @ np.float64(k).swapaxes(2, 3) / np.sqrt(8) + mask
        scores[:, :, 6] = 0  # what is added to the lowest float vanishes
        with np.errstate(all="ignore"):
            weights = np.exp(scores - scores.max(3, keepdims=True))
            expected = weights / weights.sum(3, keepdims=True) @ np.float64(v)
        self.check("""g (float[1,2,150,8] q, float[1,2,150,8] k, float[1,2,150,8] v,
                     float[1,1,150,150] mask) => (float[1,2,150,8] y) {
              t = Transpose <perm = [0, 1, 3, 2]> (k)
              s = MatMul (q, t)
              d = Div (s, root)
              m = Add (d, mask)
              w = Softmax <axis = 3> (m)
              y = MatMul (w, v)
            }""", {"q": q, "k": k, "v": v, "mask": mask}, {"y": expected},
                   {"root": F32(np.sqrt(8))}, rtol=1e-4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
