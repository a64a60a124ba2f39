"""Tests names that are valid in a model but not in C++: the emitted code builds without a
warning, as C++ and its header as C, and computes. codegen/calling.md has the rule by which
names become C identifiers."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import emitted

NAMES = ["a.b", "a_b", "a b", "1", "_", "__", "a//b", "a*/b", "/*", "line\nend", "tail\\",
         "what??/", "'\"", "\r", "x\0y", "%d", "$x", "#if", "\u00fc", "\u65e5\u672c", "n" * 300,
         "NULL", "NAN", "arena", "data", "float", "in", "inputs", "int", "memcpy", "model",
         "model_run", "nnc", "out", "run", "struct",
         # Macros of the standard and the system's headers, as they are and mangled.
         "SIZE_MAX", "INT32_MAX", "M_PI", "M/PI", "EOF", "I", "errno", "linux", "unix", "stdin",
         "complex", "bool", "true", "and", "xor", "PRId64", "L_tmpnam", "B0", "si_pid", "assert",
         "offsetof", "alignas", "static_assert",
         # What nnc's runtime and the printed code have.
         "NNC_INLINE", "NNC_STATIC_INLINE", "NNC_LAYER_DONE", "nnc_layer_done", "nnc_pool",
         "nnc/pool", "launch", "epilogue", "routine", "place", "at", "accepts", "std", "pool", "scratch", "none", "w",
         "y", "v", "bias", "size_t", "uint8_t", "memset", "model_inputs", "model_outputs",
         "model_weights", "model_layers", "MODEL_ALIGN", "MODEL_H", "place_shape",
         # Long paths.
         "StatefulPartitionedCall/model/block3/conv2d/BiasAdd;StatefulPartitionedCall/model/a",
         "/model/layers.0/attention/Add_output_0", "e" * 40, "e" * 41]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null", "-I."]
# Headers that a program may include before the module's own; each compiler has its macros.
HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads
    time uchar wchar wctype arpa/inet dirent dlfcn endian fcntl getopt glob grp malloc netdb
    netinet/in poll pthread pwd regex sched semaphore strings sys/ioctl sys/mman sys/param
    sys/resource sys/select sys/socket sys/stat sys/sysmacros sys/time sys/types sys/wait termios
    unistd""".split()


def make_model(names=NAMES, unrelated=()):
    """relu(x * w) for a pair of inputs and outputs of each name, on nodes of that name, and the
    negation of each input in `unrelated`."""
    ports, nodes, weights = {"": [], "~out": []}, [], []
    for i, name in enumerate(names):
        for end, made in ports.items():
            made.append(helper.make_tensor_value_info(name + end, TensorProto.FLOAT, [2, 3]))
        weights.append(numpy_helper.from_array(np.full((3, 3), i + 1, np.float32), name + "~w"))
        nodes += [helper.make_node("MatMul", [name, name + "~w"], [name + "~m"], name + "~"),
                  helper.make_node("Relu", [name + "~m"], [name + "~out"], name)]
    for name in unrelated:
        for end, made in ports.items():
            made.append(helper.make_tensor_value_info(name + end, TensorProto.FLOAT, [5]))
        nodes.append(helper.make_node("Neg", [name], [name + "~out"], name + "neg"))
    graph = helper.make_graph(nodes, "names", ports[""], ports["~out"], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def find_macros():
    """The names of the macros without parameters that any compiler defines after all HEADERS."""
    names = set()
    for compiler, language in (("gcc", "c"), ("g++", "c++"), ("clang-19", "c"),
                               ("clang++-19", "c++")):
        skipped = ("threads", "stdatomic", "stdnoreturn") if language == "c++" else ()
        text = "".join(f"#include <{h}.h>\n" for h in HEADERS if h not in skipped)
        said = subprocess.run([compiler, "-D_GNU_SOURCE", "-x", language, "-dM", "-E", "-"],
                              input=text, capture_output=True, text=True, check=True).stdout
        names |= set(re.findall(r"^#define ([A-Za-z]\w*)(?!\w|\()", said, re.MULTILINE))
    return sorted(names)


def fields(module):
    """The fields of the structs by the model's names of inputs and outputs."""
    return {port["name"]: port["field"]
            for port in module.manifest["inputs"] + module.manifest["outputs"]}


def identifiers(text):
    """The identifiers in C++ source outside of comments and text."""
    code = re.sub(r"//.*|/\*[\s\S]*?\*/|\"[^\"\n]*\"", " ", text)
    return set(re.findall(r"[A-Za-z_]\w*", code))


class TestCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.path = self.folder / "names.onnx"

    def compile(self, made, folder="out", options=()):
        onnx.save(made, self.path)
        return emitted.compile_model(self.path, self.folder / folder, target="portable",
                                     options=options)


class Names(TestCase):
    def setUp(self):
        super().setUp()
        self.module = self.compile(make_model())

    def test_warnings(self):
        for compiler in ("clang++-19", "g++"):
            subprocess.run([compiler, "-std=c++17", *WARNINGS, "model.cpp"],
                           cwd=self.module.folder, check=True)
        for compiler in ("clang-19", "gcc"):
            subprocess.run([compiler, "-std=c99", "-pedantic", *WARNINGS, "-x", "c", "model.h"],
                           cwd=self.module.folder, check=True)

    def test_behind_other_headers(self):
        """A program may include anything before the module's header."""
        for compiler, language, skipped in (
                ("gcc", "c", ()), ("clang-19", "c", ()),
                ("g++", "c++", ("threads", "stdatomic", "stdnoreturn")),
                ("clang++-19", "c++", ("threads", "stdatomic", "stdnoreturn"))):
            text = "".join(f"#include <{h}.h>\n" for h in HEADERS if h not in skipped)
            text += '#include "model.h"\n'
            subprocess.run([compiler, "-D_GNU_SOURCE", "-x", language, "-c", "-o", "/dev/null",
                            "-I.", "-"], input=text, text=True, cwd=self.module.folder, check=True)

    def test_results(self):
        for compiler in ("clang++-19", "g++"):
            self.module.build(compiler=compiler)
            rows = {name: np.full((2, 3), i % 7 - 1.0, np.float32)
                    for i, name in enumerate(NAMES)}
            outputs = self.module(rows)
            for i, name in enumerate(NAMES):
                np.testing.assert_array_equal(outputs[name + "~out"],
                                              np.maximum(rows[name] * 3 * (i + 1), 0),
                                              err_msg=name)

    def test_length(self):
        for path in self.module.folder.glob("model.*"):
            long = {i for i in identifiers(path.read_text()) if len(i) > 40}
            self.assertEqual(long, set(), path.name)

    def test_no_text(self):
        self.path.write_bytes(make_model().SerializeToString().replace(b"a//b", b"a\xff\xfeb"))
        with self.assertRaises(emitted.Failure) as caught:
            emitted.nnc("check", self.path, "--json")
        self.assertEqual(caught.exception.code, emitted.BROKEN)
        self.assertIn("not UTF-8", str(caught.exception))


class Rule(TestCase):
    def test_examples(self):
        """Those of codegen/calling.md, and one of each of its lines."""
        given = {"x.0": "x_0", "data": "data", "X": "X", "caf\u00e9 1": "cafe_1",
                 "StatefulPartitionedCall/model/block3/conv2d/BiasAdd;a/b":
                     "model_block3_conv2d_BiasAdd",
                 "serving_default_image:0": "image", "onnx::Conv_12": "Conv_12",
                 "/encoder/layers.7/Add_output_0": "encoder_layers_7_Add",
                 "/bert/encoder/layer.11/attention/self/query/MatMul":
                     "layer_11_attention_self_query_MatMul",
                 "/bert/encoder/layer.10/attention/self/query/MatMul":
                     "layer_10_attention_self_query_MatMul",
                 "SIZE_MAX": "size_max", "errno": "input_errno", "I": "input_I",
                 "arena": "input_arena", "int": "input_int", "12": "input_12",
                 "\u65e5\u672c": "input", "x/0": "x_0_2", "x-0": "x_0_3"}
        found = fields(self.compile(make_model(list(given))))
        self.assertEqual({name: found[name] for name in given}, given)
        self.assertEqual(found["int~out"], "int_out")

    def test_every_macro(self):
        macros = find_macros()
        lower = [name for name in macros if not re.match("[A-Z0-9_]{2}", name)]
        upper = [name for name in macros if name not in lower]
        self.assertIn("errno", lower)
        self.assertGreater(len(upper), 1000)
        rng = np.random.default_rng(1)
        chosen = lower + sorted(rng.choice(upper, 60, replace=False))
        module = self.compile(make_model(unrelated=chosen, names=["x"]))
        made = set(fields(module).values()) | {layer["name"] for layer in module.manifest["layers"]}
        self.assertEqual(made & set(macros), set())
        self.assertEqual(len(fields(module)), len(set(fields(module).values())))

    def test_unrelated_names(self):
        """What else a model has does not change a name, nor does the order of its inputs
        change one that is an identifier."""
        names = ["/a/b", "a_b", "core", "/a/very/long/path/to/some/layer/that/has/no/end/Add"]
        alone = fields(self.compile(make_model(names)))
        beside = fields(self.compile(make_model(names, unrelated=["d", "e/f", "conv"]), "beside"))
        for name, field in alone.items():
            self.assertEqual(beside[name], field)
        self.assertEqual((alone["a_b"], alone["/a/b"]), ("a_b", "a_b_2"))
        turned = fields(self.compile(make_model(names[::-1]), "turned"))
        for name in ("a_b", "/a/b", "core", names[-1]):
            self.assertEqual(turned[name], alone[name])
        onnx.save(make_model(names), self.path)
        emitted.nnc("compile", self.path, "--name=core", "-o", self.folder / "other")
        self.assertEqual(fields(emitted.Emitted(self.folder / "other")), alone)

    def test_deep_network(self):
        """30 layers with the names that TensorFlow's converters give stay readable."""
        nodes, weights, value = [], [], "x"
        for i in range(30):
            stem = "StatefulPartitionedCall/sequential_model/feature_extractor_stage" \
                   f"/inverted_residual_block_{i}/separable_convolution"
            name = ";".join(f"{stem}/{end}" for end in (
                "Relu6", "BiasAdd/ReadVariableOp/resource", "BiasAdd", "Conv2D"))
            self.assertGreater(len(name), 300)
            weights.append(numpy_helper.from_array(np.full((8, 8), i, np.float32), f"{name};w"))
            nodes += [helper.make_node("MatMul", [value, f"{name};w"], [f"{name};m"], name),
                      helper.make_node("Relu", [f"{name};m"], [f"{name};r"], f"{name};relu")]
            value = f"{name};r"
        graph = helper.make_graph(
            nodes, "deep", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 8])],
            [helper.make_tensor_value_info(value, TensorProto.FLOAT, [4, 8])], weights)
        module = self.compile(helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
        text = (module.folder / "model.cpp").read_text()
        self.assertLess(max(map(len, identifiers(text))), 41)
        self.assertLess(len(re.sub("//.*", "", text)), 20000)
        layers = module.manifest["layers"]
        for i in (0, 7, 29):
            (one,) = [layer for layer in layers if f"block_{i}/" in layer["location"]]
            self.assertEqual(one["name"], f"block_{i}_Relu6")
            self.assertIn(one["location"], text)
            self.assertGreater(len(one["location"]), 300)


class CommandLine(TestCase):
    def test_names_that_are_alike(self):
        """Inputs are found by the model's names, then by the struct's fields."""
        graph = helper.make_graph(
            [helper.make_node("Sub", ["a/b", "a_b"], ["y"])], "alike",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("a/b", "a_b")],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), self.path)
        np.save(self.folder / "big.npy", np.float32([5, 7]))
        np.save(self.folder / "small.npy", np.float32([1, 2]))
        for first, second in (("a/b", "a_b"), ("a_b_2", "a_b")):
            emitted.nnc("run", self.path, "--input", f"{first}={self.folder}/big.npy", "--input",
                        f"{second}={self.folder}/small.npy", "--output-dir", self.folder / "out")
            np.testing.assert_array_equal(np.load(self.folder / "out" / "y.npy"), [4, 5])
        emitted.nnc("verify", self.path)


if __name__ == "__main__":
    sys.exit(unittest.main())
