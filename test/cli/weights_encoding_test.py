"""Tests --weights-encoding and --max-weights, which store the weights of a module in fewer
bytes."""

import json
import shutil
import unittest

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import LIMIT, USAGE, model, value

ROWS, COLUMNS = 333, 77


class Encoding(nnc.TestCase):
    def write(self, name, weights, rows=1):
        """A dense layer of these weights, and what it has to compute of `self.x`."""
        self.x = np.random.default_rng(5).standard_normal((rows, ROWS)).astype(np.float32)
        made = model([helper.make_node("Gemm", ["x", "w"], ["y"], "dense")],
                     [value("x", [rows, ROWS])], [value("y", [rows, COLUMNS])],
                     [numpy_helper.from_array(weights, "w")])
        self.save(name, made)
        np.save(self.folder / "x.npy", self.x)
        return onnxruntime.InferenceSession(made.SerializeToString()).run(None, {"x": self.x})[0]

    @staticmethod
    def weights(values):
        random = np.random.default_rng(values)
        table = random.standard_normal(values).astype(np.float32)
        return table[random.integers(0, values, (ROWS, COLUMNS))]

    def compile(self, name, *options):
        """Bytes of weights, and the layer's routine."""
        self.nnc("compile", f"{name}.onnx", "-o", "out", *options)
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        shutil.rmtree(self.folder / "out")
        return manifest["weight_bytes"], manifest["layers"][0]["routine"]

    def test_values_and_sizes(self):
        expected = self.write("net", self.weights(16))
        magnitudes = np.abs(self.x) @ np.abs(self.weights(16))
        for target in ("portable", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64", "cortex-m4"):
            with self.subTest(target):
                options = [f"--target={target}", "--weights-encoding=codebook"]
                encoded, routine = self.compile("net", *options)
                dense, other = self.compile("net", options[0], "--weights-encoding=dense")
                self.assertIn("_codebook16_", routine)
                self.assertNotIn("codebook", other)
                self.assertLess(encoded, 0.15 * dense)
                if target in ("portable", "aarch64", "cortex-m4"):
                    self.nnc("run", "net.onnx", "--input", "x=x.npy", "--output-dir", "got",
                             *options)
                    error = np.abs(np.load(self.folder / "got" / "y.npy") - expected)
                    bound = 4 * np.sqrt(ROWS) * np.finfo(np.float32).eps * magnitudes
                    self.assertTrue((error <= bound).all())

    def test_more_values(self):
        """Nothing is rounded: a layer of more values stays dense."""
        self.write("net", self.weights(17))
        self.assertNotIn("codebook", self.compile("net", "--weights-encoding=codebook")[1])

    def test_values_of_a_panel(self):
        """Each panel of columns has a table of its own."""
        weights = self.weights(8) + 10 * (np.arange(COLUMNS) // 8).astype(np.float32)
        expected = self.write("net", weights)
        options = ["--target=portable", "--weights-encoding=codebook"]
        self.assertIn("_codebook16_", self.compile("net", *options)[1])
        self.nnc("run", "net.onnx", "--input", "x=x.npy", "--output-dir", "got", *options)
        np.testing.assert_allclose(np.load(self.folder / "got" / "y.npy"), expected, rtol=1e-4,
                                   atol=1e-2)
        # Panels of 16 columns have 16 values here, those of 8 have 8.
        self.assertIn("nk16n_codebook16",
                      self.compile("net", "--target=x86-64-v4", options[1])[1])
        weights = self.weights(12) + 10 * (np.arange(COLUMNS) // 8).astype(np.float32)
        self.write("net", weights)
        self.assertIn("nk8n_codebook16",
                      self.compile("net", "--target=x86-64-v4", options[1])[1])

    def manifest(self, name, *options):
        """The manifest of a compiled model."""
        self.nnc("compile", f"{name}.onnx", "-o", "out", *options)
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        shutil.rmtree(self.folder / "out")
        return manifest

    def write_convolutions(self):
        """Convolutions of integers, pruned, with few values a filter or skewed ones."""
        random = np.random.default_rng(9)
        pruned = random.integers(-128, 128, (24, 12, 3, 3), np.int8)
        pruned[random.random(pruned.shape) < 0.9] = 0
        filters = random.integers(0, 16, (20, 24, 3, 3)) * 3 - 20
        filters += 5 * np.arange(20).reshape(-1, 1, 1, 1)
        skewed = np.clip(random.standard_normal((30, 20, 1, 1)) * 6, -128, 127)
        weights = {"pruned": pruned, "filters": filters.astype(np.int8),
                   "skewed": skewed.astype(np.int8)}
        nodes, x, zero = [], "x", "zero"
        constants = [numpy_helper.from_array(np.int8(0), zero),
                     numpy_helper.from_array(np.float32(0.05), "scale")]
        for name, values in weights.items():
            products = 70 * np.sqrt((np.float64(values) ** 2).sum(axis=(1, 2, 3)).mean())
            share = numpy_helper.from_array(np.float32(40 / products), f"{name}_scale")
            constants += [numpy_helper.from_array(values, name), share]
            nodes.append(helper.make_node(
                "QLinearConv", [x, "scale", zero, name, f"{name}_scale", zero, "scale", zero],
                [f"{name}_out"], f"{name}_conv", pads=[values.shape[2] // 2] * 4))
            x = f"{name}_out"
        made = model(nodes, [value("x", [1, 12, 9, 7], TensorProto.INT8)],
                     [value(x, [1, 30, 9, 7], TensorProto.INT8)], constants)
        self.save("convs", made)
        np.save(self.folder / "x.npy", random.integers(-128, 128, (1, 12, 9, 7), np.int8))
        return x

    def test_decoded(self):
        """Layers that cannot read a form have it decoded: same bits, fewer bytes."""
        out = self.write_convolutions()
        for target in "aarch64", "cortex-m4":
            expected = None
            for encoding, forms in [("dense", []), ("codebook", ["codes"]),
                                    ("csr", ["entries"]),
                                    ("huffman", ["huffman", "huffman_entries"])]:
                with self.subTest(target=target, encoding=encoding):
                    options = [f"--target={target}", f"--weights-encoding={encoding}"]
                    self.nnc("compile", "convs.onnx", "-o", "out", *options)
                    manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
                    shutil.rmtree(self.folder / "out")
                    used = [layer["routine"] for layer in manifest["layers"]]
                    decoders = [name for name in used if name.startswith("decode")]
                    # Where memory is small, some layers decode strips themselves.
                    strips = [name for name in used if name.startswith("stored_conv2d")]
                    self.assertEqual(bool(decoders + strips), bool(forms))
                    expected_decoders = {f"decode_{form}_portable" for form in forms}
                    if target == "aarch64":
                        self.assertEqual(strips, [])
                        self.assertEqual(set(decoders), expected_decoders)
                    self.assertLessEqual(set(decoders), expected_decoders)
                    if encoding == "dense":
                        dense = manifest["weight_bytes"]
                    else:
                        self.assertLess(manifest["weight_bytes"], 0.9 * dense)
                    self.nnc("run", "convs.onnx", "--input", "x=x.npy", "--output-dir", "got",
                             *options)
                    got = np.load(self.folder / "got" / f"{out}.npy")
                    self.assertGreater(len(np.unique(got)), 20)
                    expected = got if expected is None else expected
                    np.testing.assert_array_equal(got, expected)

    def test_threads(self):
        """Blocks of a large weight are decoded by several threads."""
        random = np.random.default_rng(3)
        weights = random.standard_normal(200).astype(np.float32)[
            np.minimum(random.geometric(0.2, (600, 300)), 199)]
        self.save("large", model(
            [helper.make_node("MatMul", ["x", "w"], ["y"], "dense")],
            [value("x", [40, 600])], [value("y", [40, 300])],
            [numpy_helper.from_array(weights, "w")]))
        x = random.standard_normal((40, 600)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        for encoding in "codebook", "csr", "huffman":
            results = []
            for options in [["--weights-encoding=dense"], [f"--weights-encoding={encoding}"],
                            [f"--weights-encoding={encoding}", "--threads=3"]]:
                self.nnc("run", "large.onnx", "--input", "x=x.npy", "--output-dir", "got",
                         "--target=portable", "--max-error=0", *options)
                results.append(np.load(self.folder / "got" / "y.npy"))
            # A layer that reads what is stored adds the products in another order.
            np.testing.assert_allclose(results[0], results[1], rtol=0, atol=1e-3)
            np.testing.assert_array_equal(results[1], results[2])

    def test_read_as_stored(self):
        """Dense layers of integers read what is stored: same bits, hardly more memory."""
        random = np.random.default_rng(5)
        nodes, x, zero = [], "x", "zero"
        constants = [numpy_helper.from_array(np.int8(0), zero),
                     numpy_helper.from_array(np.float32(0.05), "scale")]
        sizes = [152, 200, 64, 30]
        for i, (k, n) in enumerate(zip(sizes, sizes[1:])):
            values = random.integers(0, 13, (k, n)) * 9 - 50
            if i < 2:
                values[random.random((k, n)) < 0.9] = 0
            products = 70 * np.sqrt((np.float64(values) ** 2).sum(axis=0).mean())
            constants += [numpy_helper.from_array(values.astype(np.int8), f"w{i}"),
                          numpy_helper.from_array(np.float32(40 / products), f"s{i}")]
            nodes.append(helper.make_node(
                "QLinearMatMul", [x, "scale", zero, f"w{i}", f"s{i}", zero, "scale", zero],
                [f"y{i}"], f"dense{i}"))
            x = f"y{i}"
        self.save("dense", model(nodes, [value("x", [1, sizes[0]], TensorProto.INT8)],
                                 [value(x, [1, sizes[-1]], TensorProto.INT8)], constants))
        np.save(self.folder / "x.npy", random.integers(-128, 128, (1, sizes[0]), np.int8))
        for target in "aarch64", "cortex-m4", "cortex-m55":
            expected = None
            for encoding, part in [("dense", "matmul_i32"), ("codebook", "codes_portable|stored_matmul_i32_pairs"),
                                   ("csr", "stored_matmul_i32_entries"),
                                   ("huffman", "stored_matmul_i32_huffman")]:
                with self.subTest(target=target, encoding=encoding):
                    options = [f"--target={target}", f"--weights-encoding={encoding}"]
                    self.nnc("compile", "dense.onnx", "-o", "out", *options)
                    manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
                    shutil.rmtree(self.folder / "out")
                    used = [layer["routine"] for layer in manifest["layers"]]
                    self.assertRegex(" ".join(used), part)
                    self.nnc("run", "dense.onnx", "--input", "x=x.npy", "--output-dir", "got",
                             *options)
                    got = np.load(self.folder / "got" / f"{x}.npy")
                    self.assertGreater(len(np.unique(got)), 15)
                    expected = got if expected is None else expected
                    np.testing.assert_array_equal(got, expected)

    def write_wide_convolutions(self, floats):
        """Convolutions whose weights take more memory than all that they compute."""
        random = np.random.default_rng(11)
        nodes, x, zero = [], "x", "zero"
        constants = [numpy_helper.from_array(np.int8(3), zero),
                     numpy_helper.from_array(np.float32(0.05), "scale")]
        for i, (k, c, side) in enumerate([(61, 8, 3), (48, 61, 3), (40, 48, 1)]):
            values = random.integers(0, 16, (k, c, side, side)) * 9 - 70
            values[random.random(values.shape) < 0.6] = 0
            products = 70 * np.sqrt((np.float64(values) ** 2).sum(axis=(1, 2, 3)).mean())
            pads = [side // 2] * 4
            if floats:
                weights = (values * 40 / products / 10).astype(np.float32)
                constants.append(numpy_helper.from_array(weights, f"w{i}"))
                nodes.append(helper.make_node("Conv", [x, f"w{i}"], [f"y{i}"], pads=pads))
            else:
                constants += [numpy_helper.from_array(values.astype(np.int8), f"w{i}"),
                              numpy_helper.from_array(np.float32(40 / products), f"s{i}"),
                              numpy_helper.from_array(np.int8(0), f"z{i}")]
                nodes.append(helper.make_node(
                    "QLinearConv", [x, "scale", zero, f"w{i}", f"s{i}", f"z{i}", "scale", zero],
                    [f"y{i}"], pads=pads))
            x = f"y{i}"
        element = TensorProto.FLOAT if floats else TensorProto.INT8
        self.save("wide", model(nodes, [value("x", [1, 8, 5, 5], element)],
                                [value(x, [1, 40, 5, 5], element)], constants))
        samples = random.integers(-128, 128, (1, 8, 5, 5))
        np.save(self.folder / "x.npy", samples.astype(np.float32 if floats else np.int8))
        return x

    def test_strips(self):
        """Convolutions decode a strip of filters at a time: same bits, little memory."""
        for target, floats, routine in [("cortex-m4", False, "stored_conv2d_i32_nhwc_armdsp"),
                                        ("cortex-m0plus", False,
                                         "stored_conv2d_i32_nhwc_portable"),
                                        ("cortex-m55", False, "stored_conv2d_i32_nhwc_helium"),
                                        ("cortex-m4", True, "stored_conv2d_f32_nchw_fpu"),
                                        ("cortex-m0plus", True, "stored_conv2d_f32_portable")]:
            y = self.write_wide_convolutions(floats)
            largest = 48 * 61 * 9 * (4 if floats else 1)
            expected, arena = None, 0
            for encoding in "dense", "codebook", "csr", "huffman":
                with self.subTest(target=target, floats=floats, encoding=encoding):
                    options = [f"--target={target}", f"--weights-encoding={encoding}"]
                    self.nnc("compile", "wide.onnx", "-o", "out", *options)
                    manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
                    shutil.rmtree(self.folder / "out")
                    used = [layer["routine"] for layer in manifest["layers"]]
                    self.nnc("run", "wide.onnx", "--input", "x=x.npy", "--output-dir", "got",
                             *options)
                    got = np.load(self.folder / "got" / f"{y}.npy")
                    if encoding == "dense":
                        expected, arena = got, manifest["arena_bytes"]
                        self.assertGreater(len(np.unique(got)), 50)
                        continue
                    self.assertIn(routine, used)
                    self.assertLess(manifest["arena_bytes"], arena + largest / 3)
                    np.testing.assert_array_equal(got, expected)

    def test_pruned_floats(self):
        """Pruned weights of many values: entries of the values as they are, or N of each M."""
        random = np.random.default_rng(13)
        sparse = random.standard_normal((320, 77)).astype(np.float32)
        half = sparse.copy()
        sparse[random.random(sparse.shape) < 0.9] = 0
        groups = np.argsort(random.random((80, 4, 77)), axis=1) < 2
        half[~groups.reshape(320, 77)] = 0
        x = random.standard_normal((2, 320)).astype(np.float32)
        x[1, 5] = np.nan
        np.save(self.folder / "x.npy", x)
        for weights, form, share in [(sparse, "literal csr", 0.2), (half, "2:4", 0.55)]:
            self.save("dense", model([helper.make_node("MatMul", ["x", "w"], ["y"], "dense")],
                                     [value("x", [2, 320])], [value("y", [2, 77])],
                                     [numpy_helper.from_array(weights, "w")]))
            for target in "portable", "aarch64", "cortex-m4":
                with self.subTest(form=form, target=target):
                    options = [f"--target={target}", "--weights-encoding=csr"]
                    [stored] = json.loads(self.nnc("explain", "dense.onnx", "--json",
                                                   *options))["stored_weights"]
                    self.assertEqual(stored["form"], form)
                    self.assertFalse(stored["decoded"])
                    self.assertLess(stored["bytes"], share * weights.nbytes)
                    self.nnc("run", "dense.onnx", "--input", "x=x.npy", "--output-dir", "got",
                             *options)
                    got = np.load(self.folder / "got" / "y.npy")
                    bound = (4 * np.sqrt(320) * np.finfo(np.float32).eps
                             * (np.abs(x[0]) @ np.abs(weights)))
                    self.assertTrue((np.abs(got[0] - x[0] @ weights) <= bound).all())
                    self.assertTrue(np.isnan(got[1]).all())

    def test_limit(self):
        """As few weights as possible are decoded, and a limit that is too small is one."""
        self.write_convolutions()
        on = "--target=cortex-m4"
        sizes = {}
        for options in [[], ["--weights-encoding=huffman"], ["--weights-encoding=csr"]]:
            explained = json.loads(self.nnc("explain", "convs.onnx", on, "--json", *options))
            self.nnc("compile", "convs.onnx", on, "-o", "out", *options)
            manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
            shutil.rmtree(self.folder / "out")
            sizes[tuple(options)] = manifest["weight_bytes"]
            for weight in explained["stored_weights"]:
                self.assertLess(weight["bytes"], weight["dense_bytes"])
            found = len(explained["stored_weights"]) + len(explained["kept_weights"])
            self.assertEqual(found, 3 if options else 0)
        dense, least = sizes[()], min(sizes.values())
        decoded = []
        for limit in dense, dense - 1, (dense + least) // 2, least:
            said = self.nnc("explain", "convs.onnx", on, "--json", f"--max-weights={limit}")
            decoded.append(len(json.loads(said)["stored_weights"]))
            self.nnc("compile", "convs.onnx", on, "-o", "out", f"--max-weights={limit}")
            manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
            shutil.rmtree(self.folder / "out")
            self.assertLessEqual(manifest["weight_bytes"], limit)
        self.assertEqual(decoded[:2], [0, 1])
        self.assertEqual(decoded, sorted(decoded))
        self.nnc("compile", "convs.onnx", on, "-o", "out", "--max-weights=1K", code=LIMIT,
                 said=["at least", "more than the 1024 of --max-weights", "nnc compress"])
        self.assertFalse((self.folder / "out").exists())

    def test_limit_of_transformed_weights(self):
        """A limit that transformed weights exceed takes others, which can be stored smaller."""
        random = np.random.default_rng(6)
        weights = random.integers(0, 8, (64, 64, 3, 3)).astype(np.float32) - 3.5
        self.save("large", model(
            [helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4)],
            [value("x", ["n", 64, 40, 40])], [value("y", ["n", 64, 40, 40])],
            [numpy_helper.from_array(weights, "w")]))
        found, one = [], "--shape=x=1x64x40x40"
        for options in [[one], [one, "--max-weights=20K"], ["--max-weights=20K", "--batch=1"],
                        ["--max-weights=20K", "--shape=x=1..2x64x40x40"]]:
            self.nnc("compile", "large.onnx", "--target=x86-64-v3", "-o", "out", *options)
            manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
            shutil.rmtree(self.folder / "out")
            found.append((manifest["weight_bytes"],
                          " ".join(layer["routine"] for layer in manifest["layers"])))
        self.assertGreater(found[0][0], 4 * weights.size)
        self.assertIn("winograd", found[0][1])
        for size, routines in found[1:]:
            self.assertLess(size, 20 << 10)
            self.assertRegex(routines, "decode.*conv2d")
        front = json.loads(self.nnc("explain", "large.onnx", "--target=x86-64-v3", "--pareto",
                                    "--json", one))["weights_front"]
        self.assertEqual(front[0]["weight_bytes"], found[0][0])
        self.assertLessEqual(front[-1]["weight_bytes"], found[1][0])

    def test_limit_of_some_transformed_weights(self):
        """Within a limit, those layers have transformed weights that gain the most by them."""
        random = np.random.default_rng(7)
        channels = 64
        weights = [random.standard_normal((channels, channels, 3, 3)).astype(np.float32)
                   for _ in range(3)]
        nodes, x = [], "x"
        for i in range(3):
            nodes.append(helper.make_node("Conv", [x, f"w{i}"], [f"y{i}"], f"conv{i}",
                                          pads=[1] * 4))
            x = f"y{i}"
        self.save("three", model(nodes, [value("x", [1, channels, 40, 40])],
                                 [value(x, [1, channels, 40, 40])],
                                 [numpy_helper.from_array(each, f"w{i}")
                                  for i, each in enumerate(weights)]))
        on = "--target=x86-64-v3"
        counts, kinds, seconds = [], [], []
        sizes = [self.manifest("three", on)["weight_bytes"], 2500000, 1500000, 460000]
        for size in sizes:
            limit = f"--max-weights={size}"
            manifest = self.manifest("three", on, limit)
            self.assertLessEqual(manifest["weight_bytes"], size)
            routines = [layer["routine"] for layer in manifest["layers"]]
            explained = json.loads(self.nnc("explain", "three.onnx", on, "--json", limit))
            # What is explained is what is compiled.
            for layer in explained["layers"]:
                [chosen] = [each for each in layer["alternatives"] if each["chosen"]]
                self.assertIn(chosen["routine"], routines)
            counts.append(sum("winograd" in routine for routine in routines))
            kinds.append(len({routine for routine in routines if "conv2d" in routine}))
            seconds.append(explained["seconds"])
        self.assertEqual((counts[0], counts[-1]), (3, 0))
        # Equal layers have different routines where that fills the limit.
        self.assertEqual((kinds[0], max(kinds)), (1, 2))
        self.assertEqual(seconds, sorted(seconds))

    def test_memory_of_decoded_weights(self):
        """A weight that only whole decoding makes smaller is not decoded into too much memory."""
        random = np.random.default_rng(8)
        weights = random.integers(0, 8, (24, 20, 3, 3)).astype(np.float32) - 3.5
        self.save("up", model(
            [helper.make_node("ConvTranspose", ["x", "w"], ["y"], "up", pads=[1] * 4)],
            [value("x", [1, 24, 4, 4])], [value("y", [1, 20, 4, 4])],
            [numpy_helper.from_array(weights, "w")]))
        on = ["up.onnx", "--target=cortex-m4", "-o", "out", "--max-weights=4K"]
        self.nnc("compile", *on)
        shutil.rmtree(self.folder / "out")
        self.nnc("compile", *on, "--max-ram=10K", code=LIMIT, said=["has weights of", "at least"])
        self.assertFalse((self.folder / "out").exists())
        front = json.loads(self.nnc("explain", *on[:2], "--pareto", "--json"))["weights_front"]
        less = json.loads(self.nnc("explain", *on[:2], "--pareto", "--json",
                                   "--max-ram=10K"))["weights_front"]
        self.assertGreater(len(front), 1)
        self.assertLess(front[-1]["weight_bytes"], weights.nbytes / 4)
        # What is left are layouts of the weight as it is.
        for point in less:
            self.assertGreaterEqual(point["weight_bytes"], weights.nbytes)
            self.assertLessEqual(point["ram_bytes"], 10 << 10)

    def test_front(self):
        """Fewer bytes cost time, and each point is what the limit of its bytes gives."""
        self.write_convolutions()
        on = "--target=cortex-m4"
        front = json.loads(self.nnc("explain", "convs.onnx", on, "--pareto", "--json"))
        points = front["weights_front"]
        self.assertGreater(len(points), 2)
        for key, order in [("weight_bytes", -1), ("estimate_seconds", 1)]:
            values = [order * point[key] for point in points]
            self.assertEqual(values, sorted(set(values)))
        for point in points:
            self.nnc("compile", "convs.onnx", on, "-o", "out",
                     f"--max-weights={point['weight_bytes']}")
            manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
            shutil.rmtree(self.folder / "out")
            self.assertEqual(manifest["weight_bytes"], point["weight_bytes"])
            self.assertLess(manifest["arena_bytes"], point["ram_bytes"])
        said = self.nnc("explain", "convs.onnx", on, "--pareto")
        for point in points:
            self.assertIn(str(point["weight_bytes"]), said)

    def test_sizes(self):
        """Sizes that are chosen at run time, and two shapes in a module."""
        out = self.write_convolutions()
        for shapes in (["--shape=x=1x12x5..9x7"],
                       ["--shape=x=1x12x9x7", "--shape=x=1x12x6x7"]):
            made = onnx.load(self.folder / "convs.onnx")
            for port in [*made.graph.input, *made.graph.output]:
                port.type.tensor_type.shape.dim[2].dim_param = "rows"
            onnx.save(made, self.folder / "open.onnx")
            sizes = []
            for encoding in "dense", "huffman":
                options = [*shapes, f"--weights-encoding={encoding}"]
                self.nnc("compile", "open.onnx", "-o", "out", *options)
                manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
                shutil.rmtree(self.folder / "out")
                sizes.append(manifest["weight_bytes"])
            self.assertLess(sizes[1], 0.9 * sizes[0])
            said = self.nnc("verify", "open.onnx", *options)
            self.assertIn(f"{out}: same", said)

    def test_usage(self):
        self.write("net", self.weights(4))
        self.nnc("compile", "net.onnx", "-o", "out", "--weights-encoding=codebok", code=USAGE,
                 said=["--weights-encoding"])


if __name__ == "__main__":
    unittest.main()
