"""Tests If, Loop and Scan that depend on computed values, or that stay loops: emitted code
against onnxruntime, and models that nnc rejects."""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
import onnx.parser
import onnxruntime

import emitted

random = np.random.default_rng(38)
OPTIONS = ()


def parse(text, opset=21):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>' + text)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def lstm_of_tensorflow(units, steps, inputs=5, batch=2):
    """A Keras layer of LSTM cells in the form that tf2onnx writes if a mask prevents it from
    using ONNX's LSTM."""
    make = onnx.helper.make_node
    floats_, ints, bools = (onnx.TensorProto.FLOAT, onnx.TensorProto.INT32, onnx.TensorProto.BOOL)
    value = onnx.helper.make_tensor_value_info
    state = [batch, units]
    carried = [("i", ints, []), ("out", floats_, state), ("h", floats_, state),
               ("c", floats_, state), ("n", ints, []), ("w", floats_, [inputs, 4 * units]),
               ("u", floats_, [units, 4 * units]), ("bias", floats_, [4 * units])]
    nodes = [make("Add", ["i", "one"], ["i2"]), make("Gather", ["x_t", "i"], ["row"]),
             make("Gather", ["mask_t", "i"], ["on"]), make("Cast", ["on"], ["keep"], to=floats_),
             make("Not", ["on"], ["off"]), make("Cast", ["off"], ["drop"], to=floats_),
             make("MatMul", ["row", "w"], ["a"]), make("MatMul", ["h", "u"], ["b"]),
             make("Add", ["a", "b"], ["ab"]), make("Add", ["ab", "bias"], ["gates"]),
             make("Split", ["gates"], ["gi", "gf", "gc", "go"], axis=1),
             *(make("Sigmoid", [g], [f"s{g}"]) for g in ("gi", "gf", "go")),
             make("Tanh", ["gc"], ["tc"]), make("Mul", ["sgf", "c"], ["cf"]),
             make("Mul", ["sgi", "tc"], ["ci"]), make("Add", ["cf", "ci"], ["c1"]),
             make("Tanh", ["c1"], ["t1"]), make("Mul", ["sgo", "t1"], ["h1"])]
    for name, new in (("out", "h1"), ("h", "h1"), ("c", "c1")):
        nodes += [make("Mul", ["keep", new], [f"{name}_new"]),
                  make("Mul", [name, "drop"], [f"{name}_old"]),
                  make("Add", [f"{name}_new", f"{name}_old"], [f"{name}2"])]
    nodes += [make("Identity", ["out2"], ["row_out"]), make("Cast", ["n"], ["nf"], to=floats_),
              make("Cast", ["i2"], ["if"], to=floats_), make("Less", ["if", "nf"], ["more"])]
    kept = {"n", "w", "u", "bias"}
    body = onnx.helper.make_graph(
        nodes, "body",
        [value("run", onnx.TensorProto.INT64, []), value("on_before", bools, [])]
        + [value(*each) for each in carried],
        [value("more", bools, [])]
        + [value(name if name in kept else f"{name}2", *rest) for name, *rest in carried]
        + [value("row_out", floats_, state)],
        [onnx.numpy_helper.from_array(np.int32(1), "one")])
    outer = [make("Transpose", ["x"], ["x_t"], perm=[1, 0, 2]),
             make("Unsqueeze", ["mask", "last"], ["mask_1"]),
             make("Transpose", ["mask_1"], ["mask_t"], perm=[1, 0, 2]),
             make("Shape", ["x_t"], ["shape"]), make("Gather", ["shape", "zero"], ["n64"]),
             make("Cast", ["n64"], ["n0"], to=ints), make("Cast", ["n0"], ["n0f"], to=floats_),
             make("Less", ["none", "n0f"], ["any"]),
             make("Loop", ["", "any", "i0", "zeros", "zeros", "zeros", "n0", "w0", "u0", "bias0"],
                  ["i_", "o_", "h_", "c_", "n_", "w_", "u_", "b_", "rows"], body=body),
             make("Transpose", ["rows"], ["y"], perm=[1, 0, 2])]
    weights = {"last": np.array([-1]), "zero": np.int64(0), "none": np.float32(0),
               "i0": np.int32(0), "zeros": np.zeros(state, np.float32),
               "w0": floats(inputs, 4 * units), "u0": floats(units, 4 * units),
               "bias0": floats(4 * units)}
    graph = onnx.helper.make_graph(
        outer, "g", [value("x", floats_, [batch, steps, inputs]), value("mask", bools, [batch, steps])],
        [value("y", floats_, [batch, steps, units])],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 15)],
                                  ir_version=8)


class Control(unittest.TestCase):
    def compile(self, model, folder, target="portable", options=()):
        path = pathlib.Path(folder) / "model.onnx"
        onnx.save(model, path)
        return emitted.compile_model(path, pathlib.Path(folder) / "out", target=target,
                                     options=options)

    def check(self, text, *feeds, contains=None, lacks=None, opset=21,
              targets=("portable", "native"), rtol=1e-5, options=()):
        """Each of the feeds gives what onnxruntime computes."""
        model = parse(text, opset) if isinstance(text, str) else text
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        for target in emitted.in_turn(targets, self.id()):
            with tempfile.TemporaryDirectory() as folder:
                module = self.compile(model, folder, target, options)
                source = (module.folder / "model.cpp").read_text()
                if contains:
                    self.assertIn(contains, source)
                if lacks:
                    self.assertNotIn(lacks, source)
                module.build("-O1", "clang++-19")
                for feed in feeds:
                    wanted = session.run(None, feed)
                    actual = module(feed)
                    for output, want in zip(session.get_outputs(), wanted):
                        got = actual[output.name]
                        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
                        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol,
                                                   err_msg=f"{output.name} on {target}")

    def refuse(self, text, message, opset=21):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(emitted.Failure, message):
                self.compile(parse(text, opset) if isinstance(text, str) else text, folder)

    def test_if(self):
        text = """g (bool c, float[2,8] x) => (float[2,8] y, float[2] s) {
            t = Relu(x)
            y, s = If (c) <
              then_branch = a () => (float[2,8] ya, float[2] sa) {
                ya = Mul(x, t)  k = Constant<value_ints=[1]>() sa = ReduceSum<keepdims=0>(ya, k) },
              else_branch = b () => (float[2,8] t1, float[2] sb) {
                t1 = Identity(t)
                w = Constant<value = float[8,8] {%s}>()
                m = MatMul(x, w)  k = Constant<value_ints=[1]>() sb = ReduceMax<keepdims=0>(m, k) }
            > }""" % ",".join(f"{v:.3f}" for v in floats(64))
        x = floats(2, 8)
        self.check(text, *({"c": np.array(c), "x": x} for c in (True, False)),
                   contains="if (*c)")

    def test_if_at_sizes(self):
        text = """g (bool c, float[n,8] x) => (float[n,8] y, float[n] s) {
            t = Relu(x)
            y, s = If (c) <
              then_branch = a () => (float[n,8] ya, float[n] sa) {
                ya = Mul(x, t)  k = Constant<value_ints=[1]>() sa = ReduceSum<keepdims=0>(ya, k) },
              else_branch = b () => (float[n,8] yb, float[n] sb) {
                w = Constant<value = float[8,8] {%s}>()
                yb = MatMul(x, w)  k = Constant<value_ints=[1]>() sb = ReduceMax<keepdims=0>(t, k) }
            > }""" % ",".join(f"{v:.3f}" for v in floats(64))
        self.check(text, *({"c": np.array(c), "x": floats(n, 8)}
                           for c in (True, False) for n in (1, 2, 5, 9)),
                   contains="if (*c)", options=["--shape=x=1..9x8"])

    def test_loop_at_sizes(self):
        """A loop whose number of runs is an input, and values of open dimensions."""
        text = """g (int64 runs, float[n,m] x) => (float[n,m] y, float[n] s) {
            k = Constant<value_ints=[1]>()
            s0 = ReduceSum<keepdims=0>(x, k)
            y, s = Loop (runs, , x, s0) <body = b (int64 i, bool c, float[n,m] a, float[n] t)
                => (bool c1, float[n,m] a1, float[n] t1) {
              c1 = Identity(c)  a0 = Add(a, x)  a1 = Tanh(a0)
              r = Constant<value_ints=[1]>()
              u = ReduceMax<keepdims=0>(a1, r)  t1 = Add(t, u) }> }"""
        self.check(text, *({"runs": np.array(runs), "x": floats(n, m)}
                           for runs in (0, 1, 5) for n, m in ((1, 1), (2, 7), (6, 12))),
                   contains="for (int64_t", options=["--shape=x=1..6x1..12"])

    def test_scan_at_sizes(self):
        """A Scan over an axis that is left open: the number of runs is a size."""
        text = """g (float[batch,4] h, float[time,batch,4] x) => (float[batch,4] last,
                                                                  float[time,batch,4] all) {
            last, all = Scan<num_scan_inputs=1, body = b (float[batch,4] s, float[batch,4] v)
                => (float[batch,4] s1, float[batch,4] o) {
              w = Constant<value = float[4,4] {%s}>()
              p = MatMul(s, w)  q = Add(p, v)  s1 = Tanh(q)  o = Mul(s1, v) }> (h, x) }
            """ % ",".join(f"{v:.3f}" for v in floats(16))
        self.check(text, *({"h": floats(batch, 4), "x": floats(time, batch, 4)}
                           for batch, time in ((1, 1), (3, 9), (2, 4), (1, 8))),
                   contains="for (int64_t",
                   options=["--shape=h=1..3x4", "--shape=x=1..9x1..3x4"])

    def test_loop_collects_what_it_runs(self):
        """The condition and the trip count say how much is collected."""
        text = """g (int64 runs, float[3] x, float most) => (float[3] last, float[n,3] all,
                                                             float[n] sums) {
            limit = Constant<value_int=7>()
            k = Min(runs, limit)
            go = Constant<value = bool {1}>()
            last, all, sums = Loop (%s, go, x) <body = b (int64 i, bool c, float[3] a)
                => (bool c1, float[3] a1, float[3] o, float t) {
              a1 = Add(a, x)  o = Mul(a1, x)
              t = ReduceSum<keepdims=0>(a1)  c1 = Less(t, most) }> }"""
        feeds = [{"runs": np.array(runs), "x": np.abs(floats(3)), "most": np.array(most, np.float32)}
                 for runs in (0, 1, 7, 30) for most in (-1, 2, 5, 1000)]
        self.check(text % "limit", *feeds, contains="for (int64_t")
        self.refuse(text % "k", "nothing limits how many there are")

    def test_collected_runs_are_computed_with(self):
        text = """g (float[5] x) => (float[n,4] y) {
            runs = Constant<value_int=40>()
            go = Constant<value = bool {1}>()
            w = Constant<value = float[5,4] {%s}>()
            last, all = Loop (runs, go, x) <body = b (int64 i, bool c, float[5] a)
                => (bool c1, float[5] a1, float[5] o) {
              h = Constant<value_float=0.8>()  a1 = Mul(a, h)  o = Add(a1, x)
              t = ReduceMax<keepdims=0>(a1)  e = Constant<value_float=0.1>()
              c1 = Greater(t, e) }>
            z = MatMul(all, w)  y = Relu(z) }""" % ",".join(f"{v:.3f}" for v in floats(20))
        self.check(text, *({"x": floats(5)} for _ in range(4)), {"x": -np.ones(5, np.float32)})

    def test_if_of_constants_is_a_choice(self):
        text = """g (bool c, float[4] x) => (float[4] y) {
            k = If (c) <then_branch = a () => (float ka) {ka = Constant<value_float=2.0>()},
                        else_branch = b () => (float kb) {kb = Constant<value_float=3.0>()}>
            y = Mul(x, k) }"""
        self.check(text, {"c": np.array(True), "x": floats(4)},
                   {"c": np.array(False), "x": floats(4)}, lacks="if (*c)")

    def test_counted_loop_with_captured_values(self):
        text = """g (float[6] x, float[6] v0) => (float[6] v, float[40,6] all) {
            n = Constant<value = int64 {40}>()
            v, all = Loop (n, , v0) <body = b (int64 i, bool c, float[6] u)
                => (bool cc, float[6] w, float[6] s) {
                cc = Identity(c)
                h = Constant<value_float=0.5>()
                f = Cast<to=1>(i)
                a = Mul(u, h)
                b1 = Add(a, x)
                w = Add(b1, f)
                s = Sub(w, u) }> }"""
        self.check(text, {"x": floats(6), "v0": floats(6)}, contains="< 40; ++")

    def test_count_of_the_network(self):
        text = """g (int64 n, float[6] x, float[6] v0) => (float[6] v) {
            v = Loop (n, , v0) <body = b (int64 i, bool c, float[6] u)
                => (bool cc, float[6] w) { cc = Identity(c)  h = Constant<value_float=0.5>()
                a = Mul(u, h) w = Add(a, x) }> }"""
        x = {"x": floats(6), "v0": floats(6)}
        self.check(text, *(dict(x, n=np.array(n)) for n in (0, 1, 2, 7)), contains="< *n")

    def test_condition_ends_the_loop(self):
        text = """g (bool go, float[6] x, float[6] v0) => (float[6] v, float[6] q) {
            n = Constant<value = int64 {50}>()
            v, q = Loop (n, go, v0, x) <body = b (int64 i, bool c, float[6] u, float[6] p)
                => (bool cc, float[6] w, float[6] q) {
                a = Add(u, x)
                w = Abs(a)
                q = Mul(p, w)
                k = Constant<value_ints=[0]>()
                s = ReduceSum<keepdims=0>(w, k)
                most = Constant<value_float=20.0>()
                cc = Less(s, most) }> }"""
        for scale in (1, 100):
            x = {"x": scale * floats(6), "v0": floats(6)}
            self.check(text, *(dict(x, go=np.array(go)) for go in (True, False)))

    def test_while_without_count(self):
        text = """g (float[6] x) => (float[6] v) {
            t = Constant<value = bool {1}>()
            v = Loop ( , t, x) <body = b (int64 i, bool c, float[6] u)
                => (bool cc, float[6] w) {
                two = Constant<value_float=2.0>()
                w = Mul(u, two)
                k = Constant<value_ints=[0]>()
                a = Abs(w)
                s = ReduceMax<keepdims=0>(a, k)
                most = Constant<value_float=100.0>()
                cc = Less(s, most) }> }"""
        self.check(text, {"x": floats(6)}, {"x": 1000 * floats(6)})

    def test_carried_values_change_places(self):
        text = """g (float[5] x, float[5] y, float[5] z) => (float[5] a, float[5] b, float[5] c) {
            n = Constant<value = int64 {41}>()
            a, b, c = Loop (n, , x, y, z) <body = g2 (int64 i, bool go, float[5] p, float[5] q, float[5] r)
                => (bool cc, float[5] q, float[5] r, float[5] p2) {
                cc = Identity(go)
                one = Constant<value_float=1.0>()
                p2 = Add(p, one) }> }"""
        self.check(text, {"x": floats(5), "y": floats(5), "z": floats(5)})

    def test_the_same_first_and_last_value(self):
        text = """g (float[5] x) => (float[5] a, float[5] b, float[5] x2) {
            n = Constant<value = int64 {40}>()
            x0 = Neg(x)
            a, b = Loop (n, , x0, x0) <body = g2 (int64 i, bool go, float[5] p, float[5] q)
                => (bool cc, float[5] s, float[5] s) {
                cc = Identity(go)
                h = Constant<value_float=0.25>()
                t = Mul(q, h)
                s = Sub(p, t) }>
            x2 = Add(x0, a) }"""
        self.check(text, {"x": floats(5)})

    def test_nested(self):
        text = """g (bool c, float[3,4] x) => (float[3,4] y, float[40,3,4] all) {
            n = Constant<value = int64 {40}>()
            m = Constant<value = int64 {35}>()
            k = Constant<value_float=0.9>()
            y, all = Loop (n, , x) <body = outer (int64 i, bool go, float[3,4] u)
                => (bool go2, float[3,4] w, float[3,4] w) {
                go2 = Identity(go)
                v = Mul(u, k)
                w = If (c) <
                  then_branch = a () => (float[3,4] r) {
                    r = Loop (m, , v) <body = inner (int64 j, bool g1, float[3,4] p)
                        => (bool g2, float[3,4] q) {
                        g2 = Identity(g1)
                        f = Cast<to=1>(j)
                        s = Sin(p)
                        t = Add(s, u)
                        one = Constant<value_float=1.0>()
                        f1 = Add(f, one)
                        q = Div(t, f1) }> },
                  else_branch = b () => (float[3,4] v1) { v1 = Identity(v) }> }> }"""
        x = floats(3, 4)
        self.check(text, {"c": np.array(True), "x": x}, {"c": np.array(False), "x": x})

    def test_convolutions_in_bodies(self):
        weights = ",".join(f"{v:.4f}" for v in 0.1 * floats(8 * 8 * 9))
        text = """g (bool c, float[1,8,14,14] x) => (float[1,8,14,14] y, float[1,8,14,14] z) {
            w = Constant<value = float[8,8,3,3] {%s}>()
            n = Constant<value = int64 {12}>()
            x1 = Conv<pads=[1,1,1,1]>(x, w)
            y = Loop (n, , x1) <body = b (int64 i, bool go, float[1,8,14,14] u)
                => (bool go2, float[1,8,14,14] r) {
                go2 = Identity(go)
                a = Conv<pads=[1,1,1,1]>(u, w)
                b1 = Relu(a)
                d = Conv<pads=[1,1,1,1]>(b1, w)
                r = Add(d, x1) }>
            z = If (c) <then_branch = t () => (float[1,8,14,14] p) { p = Conv<pads=[1,1,1,1]>(y, w) },
                        else_branch = e () => (float[1,8,14,14] q) { q1 = Sub(y, x1)  q = Conv<pads=[1,1,1,1]>(q1, w) }>
            }""" % weights
        x = floats(1, 8, 14, 14)
        self.check(text, {"c": np.array(True), "x": x}, {"c": np.array(False), "x": x})

    def test_scan(self):
        text = """g (float[3] s0, float[3,37] x, float[37,3] y) => (float[3] s, float[37,3] a, float[3,37] b) {
            s, a, b = Scan<num_scan_inputs=2, scan_input_axes=[1,0], scan_input_directions=[1,0],
                           scan_output_axes=[0,-1], scan_output_directions=[0,1],
                           body = step (float[3] p, float[3] u, float[3] v)
                              => (float[3] q, float[3] r, float[3] p1) {
                p1 = Identity(p)
                h = Constant<value_float=0.5>()
                t = Mul(p, h)
                t1 = Add(t, u)
                q = Tanh(t1)
                r = Mul(q, v) }> (s0, x, y) }"""
        self.check(text, {"s0": floats(3), "x": floats(3, 37), "y": floats(37, 3)},
                   contains="< 37; ++")

    def test_short_loops_are_unrolled(self):
        text = """g (float[4] x) => (float[4] y, float[3,4] all) {
            n = Constant<value = int64 {3}>()
            y, all = Loop (n, , x) <body = b (int64 i, bool go, float[4] u)
                => (bool go2, float[4] w, float[4] w) { go2 = Identity(go)  w = Sin(u) }> }"""
        self.check(text, {"x": floats(4)}, lacks="for (int64_t")

    def test_shapes_that_grow(self):
        text = """g (float[2] x) => (float[82] y) {
            n = Constant<value = int64 {40}>()
            y = Loop (n, , x) <body = b (int64 i, bool go, float[k] u)
                => (bool go2, float[m] w) { go2 = Identity(go)  w = Concat<axis=0>(u, x) }> }"""
        self.check(text, {"x": floats(2)})

    def test_lstm_of_tensorflow(self):
        """tf2onnx's loop over steps: no trip count, a condition of counters, weights that are
        carried though they stay, values masked where the sequence has ended."""
        units, steps = 6, 40
        model = lstm_of_tensorflow(units, steps)
        feeds = [{"x": floats(2, steps, 5), "mask": np.arange(steps) < np.array(ends)[:, None]}
                 for ends in ((steps, steps), (3, 17))]
        self.check(model, *feeds, contains=f"< {steps}; ++", lacks="copy_w")
        with tempfile.TemporaryDirectory() as folder:
            module = self.compile(model, folder)
            self.assertLess((module.folder / "model.cpp").stat().st_size, 60_000)

    def test_conditions_of_counters(self):
        """The runs are counted where counters, and constants, decide all of the condition."""
        text = """g (float[4] x) => (float[4] y, float[n,4] all) {
            i0 = Constant<value = int32 {3}>()
            f0 = Constant<value = float {0.0}>()
            true = Constant<value = bool {1}>()
            i, f, y, all = Loop (%s, true, i0, f0, x)
                <body = b (int64 run, bool go, int32 i, float f, float[4] u)
                => (bool go2, int32 i2, float f2, float[4] v, float[4] o) {
                two = Constant<value = int32 {2}>()
                i2 = Add(i, two)
                half = Constant<value = float {0.5}>()
                f2 = Add(f, half)
                a = Constant<value = int32 {%d}>()
                less = Less(i2, a)
                b1 = Constant<value = float {%f}>()
                below = LessOrEqual(f2, b1)
                both = And(less, below)
                go2 = %s
                f3 = Cast<to=1>(i)
                w = Add(u, f3)
                v = Sin(w)
                o = Add(v, f) }> }"""
        x = {"x": floats(4)}
        self.check(text % ("", 90, 1000, "Identity(both)"), x, contains="< 44; ++")
        self.check(text % ("", 5000, 20.5, "And(go, both)"), x, contains="< 42; ++")
        few = text.replace("i0 =", "n = Constant<value_int=35>() i0 =")
        self.check(few % ("n", 5000, 1000, "Identity(both)"), x, contains="< 35; ++")
        # A short loop is none, however its end is written.
        self.check(text % ("", 7, 1000, "Identity(both)"), x, lacks="for (int64_t")

    def test_data_end_a_loop_of_counters(self):
        """What the counters allow limits what is collected."""
        text = """g (float[4] x, float most) => (float[4] y, float[n,4] all) {
            i0 = Constant<value_int=0>()
            true = Constant<value = bool {1}>()
            i, y, all = Loop ( , true, i0, x) <body = b (int64 run, bool go, int64 i, float[4] u)
                => (bool go2, int64 i2, float[4] v, float[4] v) {
                one = Constant<value_int=1>()
                i2 = Add(i, one)
                a = Constant<value_int=9>()
                less = Less(i2, a)
                v = Add(u, x)
                t = ReduceSum<keepdims=0>(v)
                small = Less(t, most)
                go2 = And(small, less) }> }"""
        feeds = [{"x": np.abs(floats(4)), "most": np.array(most, np.float32)}
                 for most in (-1, 8, 1000)]
        self.check(text, *feeds, contains="for (int64_t")

    def test_kept_values_are_not_carried(self):
        """Values that each run gives on as they are, known and computed, shapes among them."""
        text = """g (float[3,4] x, float[4,4] m) => (float[3,4] y, float[4,4] m2, int64[2] s2) {
            n = Constant<value_int=40>()
            k = Sin(m)
            s = Constant<value_ints=[-1,4]>()
            y, m2, s2 = Loop (n, , x, k, s) <body = b (int64 i, bool go, float[3,4] u, float[4,4] w, int64[2] s)
                => (bool go2, float[3,4] v, float[4,4] w3, int64[2] s3) {
                go2 = Identity(go)
                w2 = Identity(w)
                w3 = Identity(w2)
                s3 = Identity(s)
                r = Reshape(u, s)
                p = MatMul(r, w)
                v = Tanh(p) }> }"""
        self.check(text, {"x": floats(3, 4), "m": floats(4, 4)}, contains="< 40; ++")

    def test_runs_append(self):
        """A tensor or a sequence to whose end each run appends is what the loop collects."""
        text = """g (float[2,3] x, float[2,1] first) => (float[2,81] y, float[2,40,3] z, float[2,3] v) {
            n = Constant<value_int=40>()
            s0 = SequenceEmpty()
            y, v, s = Loop (n, , first, x, s0)
                <body = b (int64 i, bool go, float[2,k] t, float[2,3] u, seq(float[2,3]) s)
                => (bool go2, float[2,m] t2, float[2,3] w, seq(float[2,3]) s2) {
                go2 = Identity(go)
                w = Sin(u)
                begin = Constant<value_ints=[0]>()
                end = Constant<value_ints=[1]>()
                part = Slice(w, begin, end, end)
                other = Neg(part)
                t2 = Concat<axis=-1>(t, part, other)
                s2 = SequenceInsert(s, w) }>
            z = ConcatFromSequence<axis=1, new_axis=1>(s) }"""
        self.check(text, {"x": floats(2, 3), "first": floats(2, 1)}, contains="< 40; ++")
        reads = text.replace("w = Sin(u)", "h = Shape<start=1>(t) c = Cast<to=1>(h) w = Div(u, c)")
        self.check(reads, {"x": floats(2, 3), "first": floats(2, 1)}, lacks="for (int64_t")

    def test_no_trips(self):
        text = """g (float[4] x) => (float[4] y, float[0,4] all) {
            n = Constant<value = int64 {0}>()
            y, all = Loop (n, , x) <body = b (int64 i, bool go, float[4] u)
                => (bool go2, float[4] w, float[4] w) { go2 = Identity(go)  w = Sin(u) }>  }"""
        self.check(text, {"x": floats(4)})

    def test_types(self):
        text = """g (int64[3] x, bool[3] b, double[3] d) => (int64[3] x2, bool[3] b2, double[3] d2, uint8[3] u2) {
            n = Constant<value = int64 {40}>()
            u = Cast<to=2>(x)
            x2, b2, d2, u2 = Loop (n, , x, b, d, u) <body = g2 (int64 i, bool go, int64[3] p, bool[3] q, double[3] r, uint8[3] s)
                => (bool go2, int64[3] p2, bool[3] q2, double[3] r2, uint8[3] s2) {
                go2 = Identity(go)
                p2 = Add(p, i)
                q2 = Not(q)
                r2 = Sqrt(r)
                s2 = Add(s, u) }> }"""
        self.check(text, {"x": np.array([1, -2, 3]), "b": np.array([True, False, True]),
                          "d": np.array([1.0, 2.0, 1e10])})

    def test_halves(self):
        """Values of 16 bits keep their type from run to run."""
        text = """g (float16[3] x, float16[40,3] y) => (float16[3] x2, float16[3] s, float16[40,3] all) {
            n = Constant<value = int64 {40}>()
            x2 = Loop (n, , x) <body = b (int64 i, bool go, float16[3] p)
                => (bool go2, float16[3] p2) { go2 = Identity(go)  p2 = Sin(p) }>
            s, all = Scan<num_scan_inputs=1, body = step (float16[3] p, float16[3] u)
                => (float16[3] q, float16[3] r) { t = Add(p, u)  q = Tanh(t)  r = CastLike(q, u) }>
                (x, y) }"""
        self.check(text, {"x": floats(3).astype(np.float16),
                          "y": floats(40, 3).astype(np.float16)}, rtol=3e-3)

    def test_sequences(self):
        text = """g (float[6,4] x, int64 at) => (float[6,4] y, float[3,2,4] z, float[2,4] p, float[2,4] q, int64 n, bool has) {
            two = Constant<value = int64 {2}>()
            last = Constant<value = int64 {-1}>()
            zero = Constant<value = int64 {0}>()
            s = SplitToSequence<axis=0>(x, two)
            e = SequenceAt(s, last)
            t = SequenceInsert(s, e, zero)
            u = SequenceErase(t, last)
            y = ConcatFromSequence<axis=0>(u)
            m = SequenceMap(u) <body = b (float[2,4] a) => (float[2,4] c) { c = Sin(a) }>
            z = ConcatFromSequence<axis=0, new_axis=1>(m)
            p = SequenceAt(m, at)
            r = Neg(p)
            pair = SequenceConstruct(p, r)
            q = SequenceAt(pair, last)
            n = SequenceLength(t)
            o = Optional(q)
            has = OptionalHasElement(o) }"""
        self.check(text, *({"x": floats(6, 4), "at": np.array(i)} for i in (0, 2)), opset=18)

    def test_sequence_carried_by_a_loop(self):
        text = """g (float[3] x) => (float[40,3] y) {
            n = Constant<value = int64 {40}>()
            s0 = SequenceEmpty()
            v, s = Loop (n, , x, s0) <body = b (int64 i, bool go, float[3] u, seq(float[3]) t)
                => (bool go2, float[3] w, seq(float[3]) t2) {
                go2 = Identity(go)  w = Sin(u)  t2 = SequenceInsert(t, w) }>
            y = ConcatFromSequence<axis=0, new_axis=1>(s) }"""
        self.check(text, {"x": floats(3)})

    def test_threads(self):
        """Layers of a body are shared among threads."""
        text = """g (float[64,96] x, float[96,96] w) => (float[64,96] y) {
            n = Constant<value = int64 {40}>()
            y = Loop (n, , x) <body = b (int64 i, bool go, float[64,96] u)
                => (bool go2, float[64,96] v) {
                go2 = Identity(go)  m = MatMul(u, w)  v = Tanh(m) }> }"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(parse(text), path)
            said = emitted.nnc("verify", path, "--threads=3")
        self.assertIn("y: same", said)

    def test_microcontroller(self):
        text = """g (bool c, float[3] s0, float[37,3] x) => (float[3] s, float[37,3] a, float[3] z) {
            s, a = Scan<num_scan_inputs=1, body = step (float[3] p, float[3] u)
                => (float[3] q, float[3] r) {
                t = Add(p, u)  q = Tanh(t)  r = Neg(q) }> (s0, x)
            z = If (c) <then_branch = f () => (float[3] k) { k = Exp(s) },
                        else_branch = h () => (float[3] l) { l = Abs(s) }> }"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(parse(text), path)
            for target in ("cortex-m4", "rv32imc"):
                said = emitted.nnc("verify", path, f"--target={target}")
                self.assertEqual(said.count(": same"), 3, said)

    def test_refused(self):
        head = "g (int64 n, float[4] x) => (float[4] y, float[k,4] all) {"
        body = """y, all = Loop (n, , x) <body = b (int64 i, bool go, float[4] u)
            => (bool go2, float[4] w, float[4] w) { go2 = Identity(go)  w = Sin(u) }> }"""
        self.refuse(head + body, "collects a value of every run")
        self.refuse("""g (int64 n, float[4] x) => (float[k] y) {
            y = Loop (n, , x) <body = b (int64 i, bool go, float[l] u)
                => (bool go2, float[m] w) { go2 = Identity(go)  w = Concat<axis=0>(u, x) }> }""",
                    "another type or shape in the next run")
        self.refuse("""g (float[4] x) => (float[4] y) {
            n = Constant<value = int64 {9000}>()
            y = Loop (n, , x) <body = b (int64 i, bool go)
                => (bool go2, float[4] w) { go2 = Identity(go)  w = Sin(x) }> }""",
                    "body of 2 inputs")
        self.refuse("""g (float[4] x) => (float[4] y) {
            n = Constant<value = int64 {9000}>()
            y = Loop (n, , x) <body = b (int64 i, bool go, float[4] u)
                => (bool go2) { go2 = Identity(go) }> }""", "body with 1 results")
        self.refuse("""g (bool c, float[4] x) => (float[k] y) {
            y = If (c) <then_branch = a () => (float[4] p) {p = Sin(x)},
                        else_branch = b () => (float[8] q) {q = Concat<axis=0>(x, x)}> }""",
                    "another type or shape depending on")

    def test_deep_nesting_is_refused(self):
        inner = "q{0} = Sin(x)"
        for depth in range(1, 12):
            inner = (f"q{depth} = If (c) <then_branch = a{depth} () => (float[4] q{depth - 1}) "
                     f"{{ {inner.format(0) if depth == 1 else inner} }}, "
                     f"else_branch = b{depth} () => (float[4] r{depth}) {{ r{depth} = Cos(x) }}>")
        self.refuse(f"g (bool c, float[4] x) => (float[4] q11) {{ {inner} }}", "nested more than")


if __name__ == "__main__":
    unittest.main()
