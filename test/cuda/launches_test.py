"""The number of launches of a run that nnc tells, and the number that an emulated stream makes."""

import ctypes
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import blocks_test  # noqa: E402
import modules_test  # noqa: E402
import nnc  # noqa: E402
from nnc import model, value  # noqa: E402
from modules_test import node  # noqa: E402

COUNTING = ["-x", "c++", "-std=c++17", "-O1", "-w", "-DNNC_EMULATE_CUDA=1",
            "-DNNC_COUNT_LAUNCHES=1", "-ffp-contract=off", "-fPIC", "-shared"]
ALIGN = 256
NUMBERS = itertools.count()


def aligned(size):
    """A buffer of bytes at an address that is aligned as an arena is, and that address."""
    memory = ctypes.create_string_buffer(size + ALIGN)
    return memory, (ctypes.addressof(memory) + ALIGN - 1) // ALIGN * ALIGN


def read_stderr(call):
    """Calls a function, and returns what it returns and what it prints to stderr."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            result = call()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return result, file.read().decode()


class Module:
    """A module of CUDA called `network`, built to count the launches of its emulated stream."""

    def __init__(self, folder):
        self.header = (folder / "network.h").read_text()
        self.manifest = json.loads((folder / "manifest.json").read_text())
        sources = [folder / "network.cu"]
        weights = folder / "network_weights.S"
        if weights.exists():
            object_file = folder / "weights.o"
            subprocess.run(["cc", "-c", weights, "-o", object_file], cwd=folder, check=True)
            sources += ["-x", "none", object_file]
        # A library of a new name, as the one before stays loaded.
        library = folder / f"network{next(NUMBERS)}.so"
        compiler = os.environ.get("CXX", "c++").split()
        subprocess.run([*compiler, *COUNTING, *sources, "-o", library], cwd=folder, check=True)
        self.code = ctypes.CDLL(str(library))

    def constant(self, name):
        found = re.search(rf"NETWORK_{name} \(\(size_t\)(\d+)\)", self.header)
        return int(found[1]) if found else 0

    def struct(self, name, values):
        """The C struct `network_<name>`, whose fields are pointers and sizes."""
        body = re.search(rf"struct network_{name} {{(.*?)}};", self.header, re.S)[1]
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        fields = re.findall(r"(\*?)(\w+);", body)
        made = type(name, (ctypes.Structure,), {"_fields_": [
            (field, ctypes.c_void_p if star else ctypes.c_int) for star, field in fields]})()
        for _, field in fields:
            setattr(made, field, values[field])
        return made

    def count(self, values):
        """Runs the module twice with these inputs and sizes in one arena, and returns the number of
        launches of each run."""
        kept = []

        def place(size):
            memory, at = aligned(max(size, 1))
            kept.append(memory)
            return at

        def allocate(port):
            return place(int(np.prod(port["shape"])) * 8)

        given = {port["field"]: allocate(port) for port in self.manifest["inputs"]}
        given["weights"] = place(self.constant("WEIGHT_BYTES"))
        for name, data in values.items():
            if isinstance(data, np.ndarray):
                ctypes.memmove(given[name], data.ctypes.data, data.nbytes)
            else:
                given[name] = data
        results = {port["field"]: allocate(port) for port in self.manifest["outputs"]}
        arena = place(self.constant("ARENA_BYTES"))
        ctypes.memset(arena, 0xa5, self.constant("ARENA_BYTES"))
        if self.constant("WEIGHT_BYTES"):
            self.code.network_load_weights(ctypes.c_void_p(given["weights"]), None, None)
        inputs, outputs = self.struct("inputs", given), self.struct("outputs", results)
        counts = []
        for _ in range(2):
            status, said = read_stderr(lambda: self.code.network_run(
                ctypes.byref(inputs), ctypes.byref(outputs), ctypes.c_void_p(arena), None))
            assert status == 0, said
            counts.append(int(re.search(r"launches: (\d+)", said)[1]))
        return counts


class Launches(nnc.TestCase):
    def build(self, made, *options):
        self.save("tried", made)
        self.nnc("compile", "tried.onnx", "--target=cuda-sm80", "-o", "code", "--name=network",
                 *options)
        built = Module(self.folder / "code")
        if not built.manifest.get("sizes"):
            said = json.loads(self.nnc("explain", "tried.onnx", "--target=cuda-sm80", "--json",
                                       *options))
            self.assertEqual(said["launches"], built.manifest["launches"])
        text = (self.folder / "code" / "network.cu").read_text()
        self.assertRegex(re.sub(r"\s*//\s*|\s+", " ", text.split("#if")[0]), r"A run is .*launch")
        return built

    def check(self, made, values, *options):
        """Checks the number of launches of a model whose runs all have the same number."""
        built = self.build(made, *options)
        least, most = (built.manifest["launches"][each] for each in ("least", "most"))
        self.assertEqual(least, most)
        self.assertEqual(built.count(values), [most, most])
        return built

    def test_constant(self):
        """Networks without decisions, with slices and without, and one with copies."""
        random = np.random.default_rng(3)
        for name, options in (("products", []), ("products", ["--precision=f16"]),
                              ("residual", ["--precision=f16"]),
                              ("transformer", ["--precision=f16"])):
            with self.subTest(name=name, options=options):
                made = blocks_test.MODELS[name]()
                values = {each.name: np.float32(random.standard_normal(
                    [dim.dim_value for dim in each.type.tensor_type.shape.dim]))
                          for each in made.graph.input}
                self.check(made, values, *options)
        self.check(modules_test.moves(),
                   {"x": np.float32(random.standard_normal([2, 3, 5, 7]))})

    def slices(self):
        """A product with few outputs of long sums, which has slices, and its input."""
        m = blocks_test.Maker(9)
        y = m.dense("x", 4096, 64)
        return (m.model([value("x", [16, 4096])], [value(y, [16, 64])]),
                {"x": np.float32(m.random.standard_normal([16, 4096]))})

    def fail_with(self, values, name, old, new):
        """Checks that a run fails if a text that a file of the module has once is another one."""
        path = self.folder / "code" / name
        text = path.read_text()
        self.assertEqual(text.count(old), 1, old)
        path.write_text(text.replace(old, new))
        with self.assertRaisesRegex(AssertionError, "counts more blocks than it says"):
            Module(self.folder / "code").count(values)
        path.write_text(text)

    def test_cleared_by_layer(self):
        """The conversion of the input sets the counters of the product behind it to zero."""
        made, values = self.slices()
        built = self.check(made, values, "--precision=f16")
        text = (self.folder / "code" / "network.cu").read_text()
        self.assertIn("set_counters", text)
        self.assertNotIn("clear_counters", text)
        self.assertEqual(text.count("launch_and_clear"), 1)
        self.assertEqual(built.manifest["launches"]["least"], len(built.manifest["layers"]))

    def test_not_cleared(self):
        """A run fails where its first layer sets no counters to zero, or too few of them."""
        made, values = self.slices()
        self.build(made, "--precision=f16")
        for name, old, new in (
                ("network.cu", "launch_and_clear<routine>", "launch<routine>"),
                ("network_runtime.h", "i < counters.count; i += K::threads", "i < 1; i += 1"),
                ("network_runtime.h", "counters.first + i, uint32_t(0)",
                 "counters.first + i, uint32_t(1)")):
            with self.subTest(new=new):
                self.fail_with(values, name, old, new)

    def test_cleared_by_units(self):
        """A portable first layer sets the counters to zero, too."""
        m = blocks_test.Maker(9)
        x = m.add("CumSum", "x", m.keep(np.int64(1)))
        y = m.dense(x, 4096, 64)
        made = m.model([value("x", [16, 4096])], [value(y, [16, 64])])
        values = {"x": np.float32(m.random.standard_normal([16, 4096]))}
        self.check(made, values)
        self.assertIn("launch_and_clear", (self.folder / "code" / "network.cu").read_text())
        self.fail_with(values, "network_runtime.h", "counters.first[i] = 0;",
                       "counters.first[i] = 1;")

    def test_cleared_by_memset(self):
        """A first layer that counts its own blocks needs a memset."""
        m = blocks_test.Maker(9)
        y = m.dense("x", 4096, 64)
        made = m.model([value("x", [16, 4096])], [value(y, [16, 64])])
        built = self.check(made, {"x": np.float32(m.random.standard_normal([16, 4096]))})
        text = (self.folder / "code" / "network.cu").read_text()
        self.assertIn("clear_counters", text)
        self.assertNotIn("launch_and_clear", text)
        self.assertEqual(built.manifest["launches"]["least"],
                         len(built.manifest["layers"]) + 1)

    def test_loop(self):
        """A loop whose trips the data decide has no largest number of launches."""
        built = self.build(modules_test.loop())
        least = built.manifest["launches"]["least"]
        self.assertNotIn("most", built.manifest["launches"])
        counts = [built.count({"x": np.float32([1, 2, 3, 4]), "count": np.int64([trips])})[0]
                  for trips in (0, 1, 5)]
        self.assertLessEqual(least, counts[0])
        self.assertEqual((counts[2] - counts[1]) % 4, 0)
        self.assertLess(counts[0], counts[1])
        self.assertLess(counts[1], counts[2])

    def test_sizes(self):
        """Sizes that vary: at most as many launches as told."""
        m = blocks_test.Maker(6)
        y = m.add("Softmax", m.dense("x", 256, 320), axis=-1)
        made = m.model([value("x", ["rows", 256])], [value(y, ["rows", 320])])
        built = self.build(made, "--shape=x=1..70x256")
        said = built.manifest["launches"]
        for rows in 1, 33, 70:
            x = np.float32(m.random.standard_normal([rows, 256]))
            for count in built.count({"x": x, "rows": rows}):
                self.assertLessEqual(said["least"], count)
                self.assertLessEqual(count, said["most"])

    def test_found(self):
        """A length that the run finds is read from the GPU."""
        built = self.build(model([node("NonZero", ["x"], ["y"], "found")],
                                 [value("x", [3, 5])], [value("y", [2, "n"], TensorProto.INT64)]))
        said = built.manifest["launches"]
        for x in np.zeros([3, 5], np.float32), np.ones([3, 5], np.float32):
            for count in built.count({"x": x}):
                self.assertLessEqual(said["least"], count)
                self.assertLessEqual(count, said["most"])


if __name__ == "__main__":
    unittest.main()
