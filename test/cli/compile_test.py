"""Tests nnc compile: the folder that it writes, when it writes none, and that the code runs."""

import json
import shutil
import subprocess
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc
from nnc import BROKEN, LACKING, USAGE, model, network, network_input, value


class Folder(nnc.TestCase):
    def test_summary(self):
        self.nnc("compile", "network.onnx", "-o", "out", "--target=x86-64-v3",
                 said=["^out: .*layers, .*weights, .*arena, for x86-64-v3$"])
        said = json.loads(self.nnc("compile", "network.onnx", "-o", "out", "--json"))
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        self.assertEqual(said["arena_bytes"], manifest["arena_bytes"])
        self.assertEqual(sorted([*manifest["files"], "manifest.json"]), self.names("out"))

    def test_same_bytes(self):
        (self.folder / "elsewhere").mkdir()
        shutil.copy(self.folder / "network.onnx", self.folder / "elsewhere")
        for source, out in ("network.onnx", "a"), ("elsewhere/network.onnx", "deep/er/b"):
            self.nnc("compile", source, "-o", out, "--target=x86-64-v4")
        for name in self.names("a"):
            self.assertEqual((self.folder / "a" / name).read_bytes(),
                             (self.folder / "deep/er/b" / name).read_bytes(), name)

    def test_again(self):
        """What is the user's stays; what was nnc's and is not any more goes."""
        self.nnc("compile", "network.onnx", "-o", "out", "--weights=file")
        (self.folder / "out" / "notes.txt").write_text("mine")
        self.nnc("compile", "network.onnx", "-o", "out", "--name=other", "--weights=array")
        self.assertEqual((self.folder / "out" / "notes.txt").read_text(), "mine")
        self.assertIn("other.cpp", self.names("out"))
        self.assertNotIn("network.cpp", self.names("out"))

    def test_library(self):
        self.nnc("compile", "network.onnx", "-o", "out", "--library", "--compiler=c++ -O1")
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        self.assertEqual(manifest["library"], "libnetwork.so")
        self.assertEqual(sorted([*manifest["files"], "manifest.json", "libnetwork.so"]),
                         self.names("out"))
        library = self.folder / "out" / "libnetwork.so"
        subprocess.run([sys.executable, "-c",
                        f"import ctypes; ctypes.CDLL({str(library)!r}).network_run"], check=True)
        # The next output has none.
        self.nnc("compile", "network.onnx", "-o", "out")
        self.assertNotIn("libnetwork.so", self.names("out"))
        before = self.names()
        for options, said in ([["--library", "--target=cortex-m4"], "no operating system"],
                              [["--compiler=c++"], "--compiler builds a library"],
                              [["--library", "--compiler=no-such-compiler"], "no-such-compiler"]):
            self.nnc("compile", "network.onnx", "-o", "other", *options, code=USAGE, said=[said])
        self.assertEqual(self.names(), before)

    def test_metadata(self):
        """What the model says about itself, whatever bytes it has."""
        made = network()
        for key, text in (("labels", "cat\ndog"), ("größe", '"1"')):
            entry = made.metadata_props.add()
            entry.key, entry.value = key, text
        self.save("said", made)
        self.nnc("compile", "said.onnx", "-o", "out")
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        self.assertEqual(manifest["metadata"], {"labels": "cat\ndog", "größe": '"1"'})

    def test_not_over_files_of_others(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "notes.txt").write_text("mine")
        self.nnc("compile", "network.onnx", "-o", "mine", code=USAGE, said=["mine holds files"])
        self.nnc("compile", "network.onnx", "-o", "network.onnx", code=USAGE,
                 said=["network.onnx is a file"])
        self.assertEqual(self.names("mine"), ["notes.txt"])

    def test_failure_leaves_nothing(self):
        whole = network().SerializeToString()
        (self.folder / "broken.onnx").write_bytes(whole[:len(whole) // 2])
        self.save("lacking", model([helper.make_node("Magic", ["x"], ["y"], domain="com.example")],
                                   [value("x", [1, 3, 4])], [value("y", ["n", 3], 7)],
                                   domains=["com.example"]))
        before = self.names()
        for name, code in (("broken", BROKEN), ("lacking", LACKING), ("missing", USAGE)):
            self.nnc("compile", f"{name}.onnx", "-o", "out", code=code, said=[f"^{name}.onnx: "])
        self.assertEqual(self.names(), before)

    def test_failure_leaves_the_old_folder(self):
        self.nnc("compile", "network.onnx", "-o", "out")
        before = {name: (self.folder / "out" / name).read_bytes() for name in self.names("out")}
        (self.folder / "broken.onnx").write_bytes(b"not a model")
        self.nnc("compile", "broken.onnx", "-o", "out", code=BROKEN)
        after = {name: (self.folder / "out" / name).read_bytes() for name in self.names("out")}
        self.assertEqual(after, before)

    def test_depfile(self):
        """The files of options are in the rule, too."""
        np.save(self.folder / "axes.npy", np.array([1], np.int64))
        self.save("sums", nnc.model([helper.make_node("ReduceSum", ["x", "axes"], ["y"])],
                                    [nnc.value("x", [2, 3]),
                                     nnc.value("axes", [1], TensorProto.INT64)],
                                    [nnc.value("y", [2, 1])]))
        self.nnc("compile", "sums.onnx", "-o", "sums", "--value=axes=axes.npy",
                 "--depfile=sums.d")
        here = self.folder.resolve()
        rule, *empty = (self.folder / "sums.d").read_text().replace("\\\n", "").splitlines()
        files = [str(here / name) for name in ("sums.onnx", "axes.npy")]
        self.assertEqual(rule.split(), [f"{here}/sums/sums.cpp:", *files])
        self.assertEqual(empty, [f"{file}:" for file in files])
        self.nnc("compile", "network.onnx", "-o", "plain", "--depfile=nowhere/plain.d",
                 code=nnc.USAGE, said=["nowhere/plain.d"])

    def test_folder_that_cannot_be_written(self):
        self.nnc("compile", "network.onnx", "-o", "/proc/nowhere", code=USAGE, said=["/proc"])


class Code(nnc.TestCase):
    """The emitted code, built by its own CMakeLists.txt or by `nnc run`."""

    def run_folder(self, folder, *options):
        """The bytes of y.npy of `nnc run`."""
        np.save(self.folder / "x.npy", network_input())
        self.nnc("run", folder, "--input", "x=x.npy", "--output-dir", f"{folder}.out", *options)
        return (self.folder / f"{folder}.out" / "y.npy").read_bytes()

    def test_weights(self):
        """Wherever the weights lie, the outputs are the same."""
        outputs = set()
        for kind in "embed", "array", "file":
            self.nnc("compile", "network.onnx", "-o", kind, f"--weights={kind}")
            outputs.add(self.run_folder(kind))
        self.assertEqual(len(outputs), 1)

    def test_threads(self):
        """On two threads the outputs are those of one, to the bit."""
        self.nnc("compile", "network.onnx", "-o", "off")
        self.nnc("compile", "network.onnx", "-o", "on", "--threads=on")
        one = self.run_folder("off")
        self.assertEqual(self.run_folder("on", "--threads=1"), one)
        self.assertEqual(self.run_folder("on", "--threads=2"), one)
        # With memory for two, on more.
        self.nnc("compile", "network.onnx", "-o", "two", "--threads=2")
        self.assertEqual(self.run_folder("two", "--threads=5"), one)
        for wrong in "0", "some", "257", "0x2":
            self.nnc("compile", "network.onnx", "-o", "wrong", f"--threads={wrong}",
                     code=USAGE, said=[f"{wrong} is not on, off or a number"])
        self.nnc("run", "off", "--input=x.npy", "--threads=2", code=USAGE,
                 said=["off was compiled without threads"])

    def test_halves(self):
        """Half the weights, behind their header; inputs and outputs stay floats."""
        f16 = "--target=aarch64-fp16", "--precision=f16"
        self.save("wide", model([helper.make_node("Conv", ["x", "w"], ["y"])],
                                [value("x", [1, 64, 2, 2])], [value("y", [1, 64, 2, 2])],
                                [nnc.weights("w", 64, 64, 1, 1)]))
        for folder, options, size in (("floats", f16[:1], 4), ("halves", f16, 2),
                                      ("exact", (*f16, "--max-error=0"), 4)):
            said = self.nnc("compile", "wide.onnx", "-o", folder, "--json", *options)
            self.assertEqual(json.loads(said)["weight_bytes"], 64 + 64 * 64 * size)
            self.assertEqual((self.folder / folder / "wide.h").read_text().count("float *"), 2)
        self.nnc("explain", "wide.onnx", *f16, said=[
            r"^y_2  1x8x2x2x8 NCHW8c of f16  1 x 1 convolution, 16-bit floats$",
            r"^ +\* +conv2d_f16_nchw8c_", r"^ +conv2d_f32_nchw4c_",
            "^  x: plain to plain f16, ", "^  y: plain f16 to plain, "])
        for name in "wide", "network":
            self.nnc("verify", f"{name}.onnx", *f16, said=["^random 0: y: same: "])
        # Casts would take longer than halves save.
        self.nnc("explain", "network.onnx", *f16, said=[r"^ +\* +conv2d_f32_nchw4c_"])
        self.nnc("compile", "network.onnx", "-o", "out", "--target=aarch64", "--precision=f16",
                 code=USAGE, said=["'aarch64' has no arithmetic on halves.* for .*aarch64-fp16.*$"])

    def test_quantized(self):
        """Which layers of a quantized model work on integers, and why others do not."""
        def constant(name, array):
            return numpy_helper.from_array(np.asarray(array), name)

        node = helper.make_node
        parameters = ["s", "z"]
        self.save("quantized", model(
            [node("QuantizeLinear", ["x", *parameters], ["q"]),
             node("DequantizeLinear", ["q", *parameters], ["d"]),
             node("DequantizeLinear", ["w", *parameters], ["dw"]),
             node("Conv", ["d", "dw"], ["c"], "conv1"),
             node("QuantizeLinear", ["c", *parameters], ["cq"]),
             node("DequantizeLinear", ["cq", *parameters], ["cd"]),
             node("Softmax", ["cd"], ["p"], "softmax1", axis=1),
             node("Conv", ["p", "dw"], ["y"], "conv2")],
            [value("x", [1, 4, 5, 5])], [value("y", [1, 4, 5, 5])],
            [constant("s", np.float32(0.1)), constant("z", np.int8(0)),
             constant("w", np.arange(16, dtype=np.int8).reshape(4, 4, 1, 1))]))
        why = {"softmax1": "there is no integer form of softmax",
               "conv2": "its input is not quantized to 8 bits"}
        said = self.nnc("check", "quantized.onnx", "--target=portable", "--no-build", said=[
            r"^  quantized +all layers but \d work on integers$",
            *(rf"^    {name} \(\w+\) stays in floats: {reason}$" for name, reason in
              why.items())])
        self.assertNotIn("conv1 (", said)
        said = json.loads(self.nnc("check", "quantized.onnx", "--target=portable", "--no-build",
                                   "--json"))["quantized"]
        self.assertEqual(said["layers"], said["integer_layers"] + len(said["float_layers"]))
        floats = {layer["name"]: layer["why"] for layer in said["float_layers"]}
        self.assertLessEqual(why.items(), floats.items())
        # How many values differ, and more room for floats between integers.
        self.nnc("verify", "quantized.onnx",
                 said=[r"^random 0: y: same: .*; \d+ of 100 elements differ, "
                       r"root mean square [0-9.e-]+$"])
        said = json.loads(self.nnc("verify", "quantized.onnx", "--json"))
        self.assertEqual(said["tolerance"], 0.05)
        self.assertEqual(said["cases"][0]["outputs"][0]["elements"], 100)
        self.nnc("explain", "quantized.onnx", "--target=portable",
                 said=[f"^  stays in floats: {reason}$" for reason in why.values()])
        self.assertNotIn("quantized", json.loads(self.nnc("check", "network.onnx", "--json")))

    def test_names_of_float_layers(self):
        """check, explain and the manifest call a layer alike, also one named as an output."""
        node = helper.make_node
        parameters = ["s", "z"]
        self.save("named", model(
            [node("DequantizeLinear", ["x", *parameters], ["d"]),
             node("Softmax", ["d"], ["p"], "y", axis=1), node("Log", ["p"], ["l"], "x"),
             node("QuantizeLinear", ["l", *parameters], ["y"])],
            [value("x", [1, 4], TensorProto.INT8)], [value("y", [1, 4], TensorProto.INT8)],
            [numpy_helper.from_array(np.float32(0.1), "s"),
             numpy_helper.from_array(np.int8(0), "z")]))
        said = json.loads(self.nnc("check", "named.onnx", "--no-build", "--json"))["quantized"]
        told = {layer["name"]: layer["why"] for layer in said["float_layers"]}
        self.assertIn("y_2", told)
        explained = json.loads(self.nnc("explain", "named.onnx", "--json"))["layers"]
        self.nnc("compile", "named.onnx", "-o", "named")
        layers = json.loads((self.folder / "named/manifest.json").read_text())["layers"]
        self.assertEqual([layer["name"] for layer in explained],
                         [layer["name"] for layer in layers])
        self.assertLessEqual(set(told), {layer["name"] for layer in layers})
        reader = next(why for why in told.values() if why.startswith("it reads"))
        self.assertIn("that 'y_2' stores", reader)

    def test_names(self):
        """Names that C would not take, of the file and in the model."""
        name = "résumé 1.5-b; $(x)"
        self.save(name, model([helper.make_node("Relu", ["in put/0:0"], ["while"], "a b/*")],
                              [value("in put/0:0", [2, 3])], [value("while", [2, 3])]))
        self.nnc("compile", f"{name}.onnx", "-o", "o u't/é")
        folder = self.folder / "o u't/é"
        np.save(self.folder / "x.npy", np.float32([[-1, 0, 1], [2, -2, 3]]))
        self.nnc("run", folder, "--input", "in put/0:0=x.npy", "--output-dir", "out",
                 said=["^while: 2x3 of f32, 0 to 3$"])
        (written,) = (self.folder / "out").iterdir()
        np.testing.assert_array_equal(np.load(written), [[0, 0, 1], [2, 0, 3]])
        subprocess.run(["cmake", "-S", folder, "-B", self.folder / "cmake", "-G", "Ninja"],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", self.folder / "cmake"], check=True,
                       stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(unittest.main())
