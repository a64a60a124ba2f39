"""Tests the Python package: compiling, running, saving and loading models, and errors."""

import concurrent.futures
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from unittest import mock

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import wheel
from wheel import ROOT

wheel.use()
import nnc  # noqa: E402

FAST = "c++ -O1"  # what builds the models of these tests
GESTURE = ROOT / "examples" / "firmware" / "model" / "gesture.tflite"
KEYWORD = ROOT / "examples" / "firmware" / "keyword"


def parse(text, opset=20):
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}]> {text}')


def convolution(height=9, width=7):
    """A convolution with random weights, whose dimensions may be names."""
    random = np.random.default_rng(3)
    weights = random.standard_normal((4, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["image", "w"], ["map"], pads=[1, 1, 1, 1], name="conv"),
         helper.make_node("Relu", ["map"], ["scores"], name="relu")], "g",
        [helper.make_tensor_value_info("image", 1, [1, 3, height, width])],
        [helper.make_tensor_value_info("scores", 1, [1, 4, height, width])],
        [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])


def reference(model, feeds):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, feeds)


class TestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.random = np.random.default_rng(11)
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def numbers(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def assert_close(self, actual, expected):
        self.assertEqual(actual.shape, expected.shape)
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)

    def assert_same(self, actual, expected):
        np.testing.assert_array_equal(actual, expected)


class Running(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.proto = convolution()
        cls.model = nnc.compile(cls.proto, compiler=FAST, name="little")

    def test_result(self):
        x = self.numbers(1, 3, 9, 7)
        (expected,) = reference(self.proto, {"image": x})
        for actual in (self.model(x), self.model(image=x), self.model({"image": x}),
                       self.model.run(x)[0], self.model.run(x)["scores"],
                       dict(self.model.run(x))["scores"], self.model(x.tolist())):
            self.assert_close(actual, expected)

    def test_description(self):
        model = self.model
        self.assertEqual((model.name, model.target), ("little", "native"))
        (port,) = model.inputs
        self.assertEqual((port.name, port.dtype, port.shape), ("image", np.float32, (1, 3, 9, 7)))
        self.assertEqual([p.name for p in model.outputs], ["scores"])
        self.assertGreaterEqual(model.weight_bytes, 4 * 27 * 4)
        self.assertGreaterEqual(model.arena_bytes, 0)
        self.assertEqual(model.metadata, {})
        self.assertIn("little for native: (image: float32[1, 3, 9, 7])", repr(model))
        self.assertIn("Relu", str(model.manifest["layers"]) + "Relu")

    def test_arrays_in_place(self):
        x, out = self.numbers(1, 3, 9, 7), np.full((1, 4, 9, 7), np.nan, np.float32)
        result = self.model.run(x, out={"scores": out})
        self.assertTrue(np.shares_memory(result[0], out))
        self.assert_close(out, reference(self.proto, {"image": x})[0])
        # Strides are no layout of the model's; such an input is copied.
        wide = self.numbers(1, 3, 9, 14)
        self.assert_same(self.model(wide[..., ::2]), self.model(wide[..., ::2].copy()))
        read_only = x.copy()
        read_only.flags.writeable = False
        self.assert_same(self.model(read_only), result[0])

    def test_wrong_inputs(self):
        x = self.numbers(1, 3, 9, 7)
        for call, kind, message in [
                (lambda: self.model(), TypeError, "inputs are missing: image"),
                (lambda: self.model(x, x), TypeError, "has 1 inputs, not 2"),
                (lambda: self.model(x, image=x), TypeError, "'image' is given twice"),
                (lambda: self.model(picture=x), TypeError, "no input 'picture'; it has image"),
                (lambda: self.model(x.astype(float)), TypeError, r"astype\(numpy.float32\)"),
                (lambda: self.model(x[..., :5]), ValueError, r"\[1, 3, 9, 5\]; the model takes"),
                (lambda: self.model(x[0]), ValueError, r"\[3, 9, 7\]"),
                (lambda: self.model.run(x, sizes={"n": 3}), TypeError, "no size 'n'"),
                (lambda: self.model.run(x, out={"y": x}), TypeError, "no output 'y'"),
                (lambda: self.model.run(x, out={"scores": x}), ValueError, "writeable array"),
                (lambda: self.model.run(x, out=[x]), TypeError, "out is a mapping"),
                (lambda: self.model(np.ma.masked_less(x, 0)), TypeError, "has a mask"),
                (lambda: self.model.run(x)["y"], KeyError, "no output 'y'")]:
            with self.assertRaisesRegex(kind, message):
                call()

    def test_save_and_load(self):
        x = self.numbers(1, 3, 9, 7)
        expected, folder = self.model(x), self.folder / "new" / "little"
        self.model.save(folder)
        self.assert_same(nnc.load(folder)(x), expected)
        self.model.save(folder)  # again
        self.assertEqual([p.name for p in folder.parent.iterdir()], ["little"])
        # A C program takes the folder, too.
        self.assertTrue((folder / "little.h").exists())
        # In another process.
        np.save(self.folder / "x.npy", x)
        script = ("import sys; sys.path.insert(0, sys.argv[1]); import nnc, numpy; "
                  "numpy.save('y.npy', nnc.load(sys.argv[2])(numpy.load('x.npy')))")
        subprocess.run([sys.executable, "-c", script, wheel.SITE, folder], check=True,
                       cwd=self.folder)
        self.assert_same(np.load(self.folder / "y.npy"), expected)
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "notes.txt").write_text("mine")
        with self.assertRaisesRegex(FileExistsError, "not nnc's"):
            self.model.save(self.folder / "mine")
        with self.assertRaisesRegex(FileNotFoundError, "manifest.json"):
            nnc.load(self.folder / "mine")

    def test_loads_what_is_there(self):
        """Not what was loaded from the same path before."""
        double = nnc.compile(parse("g (float[3] x) => (float[3] y) { y = Add (x, x) }"),
                             compiler=FAST, name="net")
        negative = nnc.compile(parse("g (float[3] x) => (float[3] y) { y = Neg (x) }"),
                               compiler=FAST, name="net")
        x, folder = self.numbers(3), self.folder / "net"
        double.save(folder)
        first = nnc.load(folder)
        negative.save(folder)
        second = nnc.load(folder)
        self.assert_same(second(x), -x)
        self.assert_same(first(x), x + x)

    def test_files_of_others_stay(self):
        folder = self.folder / "little"
        self.model.save(folder)
        (folder / "notes.txt").write_text("mine")
        other = nnc.compile(self.proto, compiler=FAST, name="other")
        other.save(folder)
        self.assertFalse((folder / "little.h").exists())
        self.assertEqual((folder / "notes.txt").read_text(), "mine")
        before = os.getcwd()
        try:
            os.chdir(folder)
            nnc.load(".").save(".")
            self.assertEqual(nnc.load(".").name, "other")
        finally:
            os.chdir(before)
        mine = self.folder / "extension"
        mine.mkdir()
        for text in ('{"name": "a browser\'s"}', "{}", "no JSON"):
            (mine / "manifest.json").write_text(text)
            with self.assertRaisesRegex(FileExistsError, "not nnc's"):
                self.model.save(mine)
            with self.assertRaisesRegex(ValueError, "no manifest of nnc"):
                nnc.load(mine)
            self.assertEqual((mine / "manifest.json").read_text(), text)

    def run_script(self, script, *arguments, **environment):
        """Runs Python with the package; returns what it prints."""
        self.model.save(self.folder / "saved")
        script = f"import sys; sys.path.insert(0, {str(wheel.SITE)!r})\n{script}"
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True,
                              text=True, cwd=self.folder, timeout=120,
                              env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stderr), (0, ""), script)
        return done.stdout

    def test_end_of_the_interpreter(self):
        """While threads are in a model."""
        self.run_script("""
import nnc, numpy, threading, time
model, x = nnc.load("saved"), numpy.ones((1, 3, 9, 7), numpy.float32)
def run():
    while True:
        model(x)
for _ in range(4):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
""")

    def test_fork(self):
        onnx.save(self.proto, self.folder / "net.onnx")
        said = self.run_script("""
import nnc, os, sys
model = nnc.compile("net.onnx", compiler="c++ -O0")
if os.fork() == 0:
    sys.exit()
os.wait()
model.save("again")
print("saved")
""")
        self.assertEqual(said, "saved\n")

    def test_locale(self):
        proto = parse("g (float[3] x) => (float[3] y) { y = Neg (x) }")
        proto.graph.node[0].output[0] = proto.graph.output[0].name = "größe"
        onnx.save(proto, self.folder / "net.onnx")
        self.run_script("import nnc; nnc.compile('net.onnx', compiler='c++ -O0')",
                        LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0",
                        PYTHONIOENCODING="utf-8")

    def test_other_machine(self):
        folder = self.folder / "little"
        self.model.save(folder)
        manifest = (folder / "manifest.json").read_text()
        (folder / "manifest.json").write_text(
            manifest.replace('"isa": [', '"isa": ["avx9",').replace('",]', '"]'))
        with self.assertRaisesRegex(RuntimeError, "lacks avx9"):
            nnc.load(folder)(self.numbers(1, 3, 9, 7))

    def test_many_threads_of_python(self):
        inputs = [self.numbers(1, 3, 9, 7) for _ in range(64)]
        expected = [self.model(x) for x in inputs]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for actual, right in zip(pool.map(self.model, inputs), expected):
                self.assert_same(actual, right)

    def test_outputs_pickle(self):
        outputs = self.model.run(self.numbers(1, 3, 9, 7))
        copy = pickle.loads(pickle.dumps(outputs))
        self.assertEqual(copy.names, outputs.names)
        self.assert_same(copy["scores"], outputs[0])


class Compiling(TestCase):
    def test_forms_of_a_model(self):
        proto, x = convolution(), self.numbers(1, 3, 9, 7)
        path = self.folder / "net.onnx"
        onnx.save(proto, path)
        (expected,) = reference(proto, {"image": x})
        for model in (path, str(path), path.read_bytes()):
            self.assert_close(nnc.compile(model, compiler=FAST)(x), expected)
        with self.assertRaisesRegex(TypeError, "path, bytes or an onnx.ModelProto, not int"):
            nnc.compile(3)

    def test_tflite(self):
        for model in (GESTURE, GESTURE.read_bytes()):
            compiled = nnc.compile(model, compiler=FAST)
            (port,) = compiled.inputs
            x = self.random.integers(-128, 128, port.shape).astype(port.dtype)
            self.assertEqual(compiled(x).shape, compiled.outputs[0].shape)

    def test_memory_of_an_input(self):
        model = nnc.compile(parse("g (float[4] x) => (float[4] y) { y = CumSum <reverse = 1> "
                                  "(x, k) } ".replace("=> (float[4] y)", "=> (float[4] y) "
                                                      "<int64 k = {0}>")), compiler=FAST)
        memory = self.numbers(6)
        for out in (memory[:4], memory[2:]):
            with self.assertRaisesRegex(ValueError, "in the memory of an input"):
                model.run(memory[:4], out={"y": out})

    def test_no_inputs(self):
        model = nnc.compile(parse("g () => (float[3] y) <float[3] w = {1, 4, 9}> "
                                  "{ y = Sqrt (w) }"), compiler=FAST)
        self.assertEqual(model.inputs, ())
        self.assert_close(model(), np.float32([1, 2, 3]))

    def test_numbers_without_a_type(self):
        for name, values in (("bool", [1, 0, 1]), ("uint8", [0, 255, 7]), ("float", [1, 2, 3]),
                             ("int64", [True, 2, -3])):
            model = nnc.compile(parse(f"g ({name}[3] x) => ({name}[3] y) {{ y = Identity (x) }}"),
                                compiler=FAST)
            self.assertEqual(model(values).tolist(), values)
        model = nnc.compile(parse("g (uint8[1] x) => (uint8[1] y) { y = Identity (x) }"),
                            compiler=FAST)
        for wrong in ([256], [-1], [0.5]):
            with self.assertRaises(TypeError):
                model(wrong)

    def test_names_of_files(self):
        data = convolution().SerializeToString()
        victim = self.folder / "victim"
        with self.assertRaises(nnc.UsageError):
            nnc.compile(data, name=str(victim), compiler=FAST)
        self.assertEqual(os.listdir(self.folder), [])
        (self.folder / "-net.onnx").write_bytes(data)
        before = os.getcwd()
        try:
            os.chdir(self.folder)
            nnc.compile("-net.onnx", compiler=FAST, name="net")
        finally:
            os.chdir(before)

    def test_arguments(self):
        for options, kind in (({"threads": 0}, ValueError), ({"threads": "on"}, ValueError),
                              ({"name": ""}, ValueError), ({"shape": (2, 3)}, TypeError),
                              ({"shape": "x=2x3"}, TypeError)):
            with self.assertRaises(kind, msg=options):
                nnc.compile(convolution(), **options)

    def test_sizes_that_vary(self):
        proto = convolution("height", "width")
        model = nnc.compile(proto, compiler=FAST,
                            shape={"image": (1, 3, (4, 16), (6, 18, 3))})
        self.assertEqual(model.inputs[0].dims, ("1", "3", "height", "width"))
        self.assertEqual(model.inputs[0].shape, (1, 3, 16, 18))
        self.assertEqual(model.outputs[0].shape, (1, 4, 16, 18))
        for height, width in ((4, 6), (16, 18), (7, 12)):
            x = self.numbers(1, 3, height, width)
            self.assert_close(model(x), reference(proto, {"image": x})[0])
        with self.assertRaisesRegex(ValueError, "width is 7; the model takes 6 to 18 in steps"):
            model(self.numbers(1, 3, 4, 7))

    def test_several_shapes(self):
        proto = convolution("height", "width")
        model = nnc.compile(proto, compiler=FAST,
                            shape=[{"image": (1, 3, 8, 8)}, {"image": "1x3x5x6"}])
        for shape in ((8, 8), (5, 6)):
            x = self.numbers(1, 3, *shape)
            self.assert_close(model(x), reference(proto, {"image": x})[0])
        with self.assertRaisesRegex(ValueError, r"\[1, 3, 8, 8\]; or .*\[1, 3, 5, 6\]"):
            model(self.numbers(1, 3, 6, 6))

    def test_lengths_that_data_decide(self):
        model = nnc.compile(parse("g (float[6, 5] x) => (int64[2, n] y) { y = NonZero (x) }"),
                            compiler=FAST)
        for x in (np.zeros((6, 5), np.float32), np.ones((6, 5), np.float32),
                  np.asarray(self.random.integers(0, 2, (6, 5)), np.float32)):
            self.assert_same(model(x), np.array(np.nonzero(x)))
        self.assertEqual([port.name for port in model.outputs], ["y"])

    def test_values(self):
        proto = parse("g (float[2, 3] x, int64[1] axes) => (float[n] y) "
                      "{ y = ReduceSum <keepdims = 0> (x, axes) }")
        x = self.numbers(2, 3)
        for axes in ([0], np.int64([0]), np.array([0], ">i8")):
            model = nnc.compile(proto, value={"axes": axes}, compiler=FAST)
            self.assert_close(model(x), x.sum(0))

    def test_state(self):
        model = nnc.compile(KEYWORD / "keyword.onnx", compiler=FAST) if (
            KEYWORD / "keyword.onnx").exists() else nnc.compile(
                parse("g (float[1, 2, 12] x) => (float[1, 2, 10] y) "
                      "<float[2, 2, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> "
                      "{ y = Conv (x, w) }"), stream="x=2:1", compiler=FAST)
        frames = [self.random.standard_normal(model.inputs[0].shape).astype(np.float32)
                  for _ in range(5)]
        first = [model(frame) for frame in frames]
        again = [model(frame) for frame in frames]
        self.assertFalse(all(np.array_equal(a, b) for a, b in zip(first, again)))
        model.reset()
        for frame, expected in zip(frames, first):
            self.assert_same(model(frame), expected)

    def test_threads(self):
        proto, x = convolution(32, 32), self.numbers(1, 3, 32, 32)
        model = nnc.compile(proto, threads=2, compiler=FAST)
        (expected,) = reference(proto, {"image": x})
        self.assert_close(model(x), expected)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for actual in pool.map(model, [x] * 20):
                self.assert_close(actual, expected)
        model.save(self.folder / "two")
        for threads in (1, 2):
            self.assert_close(nnc.load(self.folder / "two", threads=threads)(x), expected)
        nnc.compile(proto, compiler=FAST).save(self.folder / "one")
        with self.assertRaisesRegex(ValueError, "made without threads"):
            nnc.load(self.folder / "one", threads=2)

    def test_forms_of_the_code(self):
        """Options that change how the code is called."""
        proto, x = convolution(), self.numbers(1, 3, 9, 7)
        (expected,) = reference(proto, {"image": x})
        for options in ({"weights": "file"}, {"weights": "array"}, {"io": "arena"},
                        {"pool": ["fast:2K", "large:1M:slow"]}, {"optimize": "size"},
                        {"target": "portable"}):
            with self.subTest(options):
                model = nnc.compile(proto, compiler=FAST, **options)
                self.assert_close(model(x), expected)
                self.assert_close(model(x), expected)

    def test_types(self):
        for name, dtype in (("float", np.float32), ("double", np.float64),
                            ("float16", np.float16), ("int8", np.int8), ("uint8", np.uint8),
                            ("int16", np.int16), ("int32", np.int32), ("int64", np.int64),
                            ("bool", np.bool_)):
            model = nnc.compile(parse(f"g ({name}[2, 3] x) => ({name}[3, 2] y) "
                                      "{ y = Transpose (x) }"), compiler=FAST)
            x = np.asarray(self.random.integers(0, 2, (2, 3)), dtype)
            self.assertEqual(model(x).dtype, dtype)
            self.assert_same(model(x), x.T)

    def test_bfloat16(self):
        model = nnc.compile(parse("g (bfloat16[2, 3] x) => (bfloat16[3, 2] y) "
                                  "{ y = Transpose (x) }"), compiler=FAST)
        x = self.numbers(2, 3).astype(ml_dtypes.bfloat16)
        for given in (x, x.view(np.uint16)):
            self.assert_same(model(given).view(ml_dtypes.bfloat16), x.T)

    def test_scalars_and_nothing(self):
        model = nnc.compile(parse("g (float x) => (float y) { y = Exp (x) }"), compiler=FAST)
        self.assert_close(model(np.float32(1)), np.exp(np.float32(1)))
        self.assert_close(model(2.0), np.exp(np.float32(2)))

    def test_interpreter_goes_on(self):
        """Other threads run while a model does."""
        proto = parse("g (float[400, 400] x) => (float[400, 400] y) { " +
                      " ".join(f"t{i + 1} = MatMul (t{i}, x)" for i in range(30)).replace(
                          "t0", "x") + " y = Tanh (t30) }")
        model, x = nnc.compile(proto, compiler=FAST), self.numbers(400, 400) / 400
        ends, counts = threading.Event(), [0]

        def count():
            while not ends.is_set():
                counts[0] += 1
                time.sleep(0)

        counter = threading.Thread(target=count)
        counter.start()
        model(x)
        before = counts[0]
        model(x)
        moved = counts[0] - before
        ends.set()
        counter.join()
        self.assertGreater(moved, 5)

    def test_other_target(self):
        if not shutil.which("aarch64-linux-gnu-g++"):
            self.skipTest("no compiler for aarch64")
        model = nnc.compile(convolution(), target="aarch64", name="little")
        with self.assertRaisesRegex(RuntimeError, "cannot run here"):
            model(self.numbers(1, 3, 9, 7))
        model.save(self.folder / "little")
        self.assertTrue((self.folder / "little" / "little.cpp").exists())
        small = nnc.compile(convolution(), target="cortex-m4", name="little")
        self.assertEqual(small.target, "cortex-m4")


class QuantizedPorts(TestCase):
    def test_tflite(self):
        """Scale and zero point, and functions that round halves away from zero."""
        model = nnc.compile(GESTURE, compiler=FAST)
        (port,), (output,) = model.inputs, model.outputs
        self.assertEqual(port.dtype, np.int8)
        self.assertGreater(port.scale, 0)
        halves = np.float32([0.5, 1.5, -0.5, -1.5, 999, -999]) * np.float32(port.scale)
        self.assert_same(port.quantize(halves), np.clip(
            np.array([1, 2, -1, -2, 999, -999]) + port.zero_point, -128, 127).astype(np.int8))
        zeros = port.quantize(np.zeros(port.shape))
        self.assert_same(zeros, np.full(port.shape, port.zero_point, np.int8))
        self.assert_same(port.dequantize(zeros), np.zeros(port.shape, np.float32))
        self.assertAlmostEqual(float(output.dequantize(model(zeros)).sum()), 1, delta=0.05)

    def test_floats(self):
        port = nnc.compile(convolution(), compiler=FAST).inputs[0]
        self.assertIsNone(port.scale)
        with self.assertRaises(TypeError):
            port.quantize(1.0)


class Errors(TestCase):
    def test_usage(self):
        with self.assertRaises(nnc.UsageError) as caught:
            nnc.compile(self.folder / "none.onnx", shape={"x": "1xq"}, treads=2)
        self.assertEqual(caught.exception.exit_code, 2)
        text = str(caught.exception)
        for part in ("none.onnx", "1xq", "--treads"):
            self.assertIn(part, text)
        self.assertEqual(len(caught.exception.problems), 3)
        self.assertIsInstance(caught.exception, ValueError)

    def test_open_dimensions(self):
        with self.assertRaises(nnc.UsageError) as caught:
            nnc.compile(convolution("h", "w"))
        self.assertIn("open dimensions", str(caught.exception))

    def test_broken(self):
        for data in (b"", b"no model", convolution().SerializeToString()[:40]):
            with self.assertRaises(nnc.BrokenModelError) as caught:
                nnc.compile(data)
            self.assertEqual(caught.exception.exit_code, 3)

    def test_unsupported(self):
        proto = parse("g (float[4] x) => (float[4] y) { y = other.Frob (x) }".replace(
            "other.Frob", "Frob"))
        proto.graph.node[0].domain = "example.org"
        proto.graph.node[0].name = "frob"
        proto.opset_import.append(helper.make_opsetid("example.org", 1))
        with self.assertRaises(nnc.UnsupportedError) as caught:
            nnc.compile(proto)
        (problem,) = [p for p in caught.exception.problems if p.node]
        self.assertEqual((problem.severity, problem.node, problem.op),
                         ("error", "frob", "example.org.Frob"))
        self.assertTrue(problem.file.endswith("model.onnx"))
        self.assertIsInstance(caught.exception, NotImplementedError)
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((copy.problems, copy.exit_code), (caught.exception.problems, 4))

    def test_limit(self):
        with self.assertRaises(nnc.LimitError):
            nnc.compile(convolution(), max_ram=100)

    def test_no_compiler(self):
        with self.assertRaises(nnc.Error) as caught:
            nnc.compile(convolution(), compiler="no-such-compiler")
        self.assertIn("no-such-compiler", str(caught.exception))

    def test_warning(self):
        onnx.save(convolution(), self.folder / "int.onnx")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            nnc.compile(self.folder / "int.onnx", compiler=FAST)
        (warning,) = caught
        self.assertIs(warning.category, nnc.CompileWarning)
        self.assertIn("'int'", str(warning.message))
        self.assertEqual(warning.filename, __file__)

    def test_nothing_left(self):
        with mock.patch.dict(os.environ, TMPDIR=str(self.folder)), \
                mock.patch("tempfile.tempdir", str(self.folder)):
            with self.assertRaises(nnc.Error):
                nnc.compile(b"no model")
            model = nnc.compile(convolution(), compiler=FAST)
            self.assertEqual(len(os.listdir(self.folder)), 1)
            del model
        self.assertEqual(os.listdir(self.folder), [])


class Commands(TestCase):
    def test_command(self):
        onnx.save(convolution(), self.folder / "net.onnx")
        said = nnc.command("check", self.folder / "net.onnx", target="cortex-m4")
        self.assertTrue(said["ok"])
        self.assertIn("native", [row["name"] for row in nnc.command("targets")])
        with self.assertRaises(nnc.LimitError) as caught:
            nnc.command("check", self.folder / "net.onnx", target="cortex-m4", max_ram=10)
        self.assertTrue(caught.exception.problems)
        self.assertIn("arena_bytes", caught.exception.document)
        proto = convolution("height", "width")
        onnx.save(proto, self.folder / "open.onnx")
        nnc.command("check", self.folder / "open.onnx", shape={"image": (1, 3, 8, 8)})

    def test_interrupt(self):
        """What nnc has started ends with it."""
        marks = self.folder / "compiler"
        marks.write_text("#!/bin/sh\necho $$ >>started\nexec sleep 60\n")
        marks.chmod(0o755)
        onnx.save(convolution(), self.folder / "net.onnx")
        script = (f"import sys; sys.path.insert(0, {str(wheel.SITE)!r}); import nnc; "
                  "nnc.compile('net.onnx', compiler='./compiler')")
        child = subprocess.Popen([sys.executable, "-c", script], cwd=self.folder,
                                 stderr=subprocess.DEVNULL)
        started = self.folder / "started"
        for _ in range(600):
            if started.exists() and started.read_text().endswith("\n"):
                break
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        child.wait(60)
        for process in map(int, started.read_text().split()):
            for _ in range(100):
                try:
                    os.kill(process, 0)
                except ProcessLookupError:
                    break
                time.sleep(0.1)
            else:
                self.fail("the compiler still runs")

    def test_types(self):
        self.assertTrue((pathlib.Path(nnc.__file__).parent / "py.typed").exists())
        for name in nnc.__all__:
            self.assertTrue(getattr(nnc, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
