#!/usr/bin/env python3
"""Tests that emitted code builds without a warning if parts of it are unused: results that
nothing reads, inputs that no layer reads, a pool of threads, an arena, sizes or a state; and
for each option that changes the arguments of the functions."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnx.parser

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
import nnc

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion",
          "-Werror"]
COMPILERS = ["g++", "clang++-19"]
# Options that change what the functions of a module take, and those that only some models take.
OPTIONS = [["--threads=off"], ["--threads=on", "--io=arena"],
           ["--threads=on", "--weights=file", "--pool=fast:64K", "--pool=wide:1M:slow"],
           ["--threads=off", "--io=arena", "--weights=array", "--pool=flash:1M:weights",
            "--pool=ram:64K"]]

MODELS = {
    # A Relu that is too short to share.
    "short": "g (float[8] x) => (float[8] y) { y = Relu(x) }",
    "copied": "g (float[8] x) => (float[8] y) { y = Identity(x) }",
    "constant": """g (float[8] x) => (float[3] y) {
        y = Constant<value = float[3] {1, 2, 3}>() }""",
    "unread_input": "g (float[8] x, float[8] z) => (float[8] y) { y = Sin(x) }",
    "moved": """g (float[2,8] x) => (float[8] y, float[8] z) {
        y0, z0 = Split<num_outputs=2, axis=0>(x)
        k = Constant<value_ints=[8]>()  y = Reshape(y0, k)  z = Reshape(z0, k) }""",
    "product": """g (float[4,8] x) => (float[4,8] y) {
        w = Constant<value = float[8,8] {%s}>()  y = MatMul(x, w) }""",
    # One result of an If, whose branches compute two that a third one needs, too.
    "branch": """g (bool c, float[8] x) => (float[8] y) {
        t = Exp(x)
        u = Sin(x)
        a, b = If (c) <
          then_branch = f () => (float[8] fa, float[8] fb) { fa = Sqrt(t)  fb = Neg(x) },
          else_branch = h () => (float[8] ha, float[8] hb) { ha = Cos(u)  hb = Tanh(x) }>
        y = Relu(b) }""",
    "dead_branch": """g (bool c, float[8] x) => (float[8] y) {
        a = If (c) <then_branch = f () => (float[8] fa) { fa = Sqrt(x) },
                    else_branch = h () => (float[8] ha) { ha = Cos(x) }>
        y = Relu(x) }""",
    # A carried value and a collected one that nobody reads, and one that the other needs.
    "loop": """g (int64 n, float[8] x) => (float[8] y) {
        k = Constant<value_int=70>()
        go = Constant<value = bool {1}>()
        m = Min(n, k)
        r = Exp(x)
        y, p, q, all, some = Loop (k, go, x, x, r) <body = b (int64 i, bool c, float[8] u,
                                                             float[8] v, float[8] w)
            => (bool d, float[8] u1, float[8] v1, float[8] w1, float[8] o, float[8] e) {
          d = Identity(c)  u1 = Add(u, w)  v1 = Sin(v)  w1 = Cos(w)  o = Mul(v, w)
          e = Sqrt(v1) }> }""",
    "while": """g (int64 n, float[8] x, float stop) => (float[8] y) {
        go = Constant<value = bool {1}>()
        y, p = Loop (n, go, x, x) <body = b (int64 i, bool c, float[8] u, float[8] v)
            => (bool d, float[8] u1, float[8] v1) {
          u1 = Sin(u)  v1 = Cos(v)  s = ReduceSum<keepdims=0>(u)  d = Less(s, stop) }> }""",
    "dead_loop": """g (int64 n, float[8] x) => (float[8] y) {
        p = Loop (n, , x) <body = b (int64 i, bool c, float[8] u) => (bool d, float[8] u1) {
          d = Identity(c)  u1 = Sin(u) }>
        y = Relu(x) }""",
    "scan": """g (float[8] h, float[70,8] x) => (float[8] y) {
        y, p, all = Scan<num_scan_inputs=1, body = b (float[8] s, float[8] t, float[8] v)
            => (float[8] s1, float[8] t1, float[8] o) {
          s1 = Add(s, v)  t1 = Tanh(t)  o = Mul(t, v) }> (h, h, x) }""",
    "nested": """g (bool c, int64 n, float[8] x) => (float[8] y) {
        a, b = If (c) <
          then_branch = f () => (float[8] fa, float[8] fb) {
            fa, dead = Loop (n, , x, x) <body = l (int64 i, bool e, float[8] u, float[8] v)
                => (bool e1, float[8] u1, float[8] v1) {
              e1 = Identity(e)  u1 = Sin(u)  v1 = Cos(v) }>
            fb = Sqrt(dead) },
          else_branch = h () => (float[8] ha, float[8] hb) { ha = Neg(x)  hb = Exp(x) }>
        y = Relu(a) }""",
}
# Models of which a size is open, and those whose outputs have a size that they find.
SIZED = {
    "sized": ("g (float[n,8] x) => (float[n,8] y) { y = Relu(x) }", ["--shape=x=1..9x8"]),
    "sized_constant": ("""g (float[n,8] x) => (float[3] y) {
        y = Constant<value = float[3] {1, 2, 3}>() }""", ["--shape=x=1..9x8"]),
    "sized_branch": (MODELS["branch"].replace("[8]", "[n]"), ["--shape=x=1..9"]),
    "found": ("""g (float[8] x) => (int64[1,k] y) { z = Relu(x)  y = NonZero(z) }""", []),
}


class Warnings(nnc.TestCase):
    built = 0  # the number of modules so far

    def build(self, name, text, *options):
        text = text.replace("%s", ",".join(map(str, np.linspace(-1, 1, 64).round(3))))
        made = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>{text}')
        onnx.save(made, self.folder / f"{name}.onnx")
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.nnc("compile", f"{name}.onnx", "-o", folder, "--name=mm", "--target=portable",
                 *options)
        # One compiler builds with the hooks and the other without, which change from module to
        # module.
        compilers = COMPILERS if self.built % 2 == 0 else COMPILERS[::-1]
        self.built += 1
        for compiler, more in zip(compilers, ([], ["-DNNC_HOOKS=1"])):
            done = subprocess.run([compiler, "-std=c++17", "-fsyntax-only", *STRICT, *more,
                                   folder / "mm.cpp"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{compiler}: {done.stderr}")
        return json.loads((folder / "manifest.json").read_text())

    def test_models(self):
        for name, text in MODELS.items():
            for options in OPTIONS:
                with self.subTest(name=name, options=options):
                    self.build(name, text, *options)

    def test_open_sizes(self):
        for name, (text, shapes) in SIZED.items():
            for options in OPTIONS[:2]:
                with self.subTest(name=name, options=options):
                    self.build(name, text, *shapes, *options)

    def test_dead_layers_are_dropped(self):
        """What only such results need is not computed."""
        layers = {name: self.build(name, text)["layers"] for name, text in MODELS.items()}
        count = {name: len(found) for name, found in layers.items()}
        self.assertEqual(count["branch"], 3)  # Neg and Tanh, with Relu behind
        self.assertEqual(count["dead_branch"], 1)
        self.assertEqual(count["dead_loop"], 1)
        names = [layer["name"] for layer in layers["loop"]]
        self.assertFalse([name for name in names if name in ("v1", "o", "e")], names)

    def test_tables_in_registers(self):
        """g++ 12 calls vectors uninitialized that its own header declares, where it optimizes."""
        made = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
            g (float[1,32,9,9] x) => (float[1,32,9,9] y) {
              s = Constant<value = float {0.02}>()  z = Constant<value = uint8 {128}>()
              o = Constant<value = int8 {0}>()
              w = DequantizeLinear(weights, s, o)
              q = QuantizeLinear(x, s, z)  d = DequantizeLinear(q, s, z)
              c = Conv<pads = [1, 1, 1, 1]>(d, w)
              p = QuantizeLinear(c, s, z)  e = DequantizeLinear(p, s, z)
              a = Sigmoid(e)  m = Mul(a, e)
              r = QuantizeLinear(m, s, z)  y = DequantizeLinear(r, s, z) }''')
        weights = np.random.default_rng(1).integers(-99, 100, (32, 32, 3, 3)).astype(np.int8)
        made.graph.initializer.append(onnx.numpy_helper.from_array(weights, "weights"))
        onnx.save(made, self.folder / "silu.onnx")
        self.nnc("compile", "silu.onnx", "-o", "silu", "--name=mm", "--target=x86-64-v4")
        self.assertIn("nnc::lookup(", (self.folder / "silu/mm.cpp").read_text())
        for compiler in COMPILERS:
            done = subprocess.run([compiler, "-std=c++17", "-O2", "-march=x86-64-v4",
                                   "-ffp-contract=off", *STRICT, "-c", "silu/mm.cpp", "-o",
                                   "mm.o"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{compiler}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
