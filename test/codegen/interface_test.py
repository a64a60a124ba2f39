"""Tests the interface of a module: status codes, errors of the preprocessor and hooks. Its
header compiles with any C and C++."""

import itertools
import json
import re
import sys
import unittest

import numpy as np
import onnx

import modules
import nnc
from modules import HERE, STATUS, STRICT

HOST = ("gcc", "g++")
CLANG = ("clang-19", "clang++-19")


class Statuses(modules.TestCase):
    def other_network(self):
        """The same network with one other weight."""
        made = nnc.network()
        (tensor,) = (t for t in made.graph.initializer if t.name == "k")
        values = onnx.numpy_helper.to_array(tensor).copy()
        values[9, 3] += 1
        tensor.CopyFrom(onnx.numpy_helper.from_array(values, "k"))
        self.save("other", made)
        return self.compile("other", "--weights=file", model="other.onnx")

    def test_each(self):
        folder = self.compile("module", "--weights=file")
        self.assertEqual(modules.constants(folder / "network.h"),
                         {name: i for i, name in enumerate(STATUS)})
        own = folder / "network_weights.bin"
        whole = own.read_bytes()
        other = self.other_network() / "network_weights.bin"
        self.assertEqual(len(other.read_bytes()), len(whole))
        # Every word of the header and of the weights counts.
        flipped = {}
        for place in 0, 4, 8, 16, 64, len(whole) // 2, len(whole) - 1:
            wrong = bytearray(whole)
            wrong[place] ^= 1
            flipped[place] = self.folder / f"flipped{place}.bin"
            flipped[place].write_bytes(wrong)
        zeros = self.folder / "zeros.bin"
        zeros.write_bytes(bytes(len(whole)))
        longer = self.folder / "longer.bin"
        longer.write_bytes(whole + bytes(1))
        ok, wrong, damaged = map(STATUS.index, ("OK", "WRONG_WEIGHTS", "DAMAGED_WEIGHTS"))
        faults = [f"{STATUS.index(name)} {STATUS.index(name)}" for name in (
            "NULL_INPUT", "NULL_OUTPUT", "NULL_ARENA", "MISALIGNED_ARENA", "NULL_WEIGHTS",
            "MISALIGNED_WEIGHTS")]
        faults[2:4] = [fault.split()[0] for fault in faults[2:4]]
        want = ["0", *faults, f"{ok} {damaged} {wrong}",
                f"{ok} {ok}", f"{wrong} {wrong}", f"{wrong} {wrong}", f"{damaged} {ok}",
                *(f"{wrong} {wrong}" if place < 64 else f"{damaged} {ok}" for place in flipped)]
        for compiler in HOST, CLANG:
            program = self.build(folder, compiler, ["-fsanitize=undefined"],
                                 main=HERE / "statuses.c")
            said = self.call(program, own, own, other, zeros, longer, *flipped.values())
            self.assertEqual(said.splitlines(), want)

    def test_page_lists_them(self):
        text = (nnc.ROOT / "codegen/calling.md").read_text()
        self.assertEqual(re.findall(r"^\| `RESNET50_(\w+)` \| (\d+) \|", text, re.MULTILINE),
                         [(name, str(i)) for i, name in enumerate(
                             [*STATUS, "NULL_STATE", "NOT_PLACED", "WRONG_SIZE", "NO_GPU",
                              "NO_CODE", "EARLIER_ERROR", "NO_MEMORY", "CUDA_FAILED",
                              "NOT_ON_GPU", "MISALIGNED_PORT", "OTHER_GPU",
                              "WRONG_WEIGHT_BYTES", "NO_TILES"])])

    def test_no_weights(self):
        """A model without weights has none to pass or to check, and no header of them."""
        self.save("relu", nnc.model([onnx.helper.make_node("Relu", ["x"], ["y"])],
                                    [nnc.value("x", [4])], [nnc.value("y", [4])]))
        for form in "embed", "array", "file":
            folder = self.compile(form, f"--weights={form}", model="relu.onnx")
            self.assertEqual(json.loads((folder / "manifest.json").read_text())["weights"], "none")
            text = (folder / "network.h").read_text()
            self.assertNotIn("int network_check_weights", text)
            self.assertNotIn("void *weights", text)
            np.save(self.folder / "x.npy", np.float32([-1, 2, -3, 4]))
            self.nnc("run", folder, "--input=x.npy", said=["^y: 4 of f32, 0 to 4$"])


class Preprocessor(modules.TestCase):
    def errors(self, *command):
        said = self.call(*command, fails="error")
        return re.findall(r"error: (.*)", said)

    def test_old_standard(self):
        """One error that says which standard."""
        folder = self.compile()
        for compiler, standard in itertools.product(("g++", "clang++-19"), ("11", "14")):
            (error,) = self.errors(compiler, f"-std=c++{standard}", "-fsyntax-only",
                                   folder / "network.cpp")
            self.assertIn("need C++17: compile this file with -std=c++17", error)

    def test_big_endian(self):
        folder = self.compile()
        for command in (["clang++-19", "--target=aarch64_be-none-elf"],
                        ["clang++-19", "--target=powerpc64-linux-gnu"]):
            (error,) = self.errors(*command, "-std=c++17", "-fsyntax-only",
                                   folder / "network.cpp")
            self.assertIn("little-endian", error)

    def test_header(self):
        """Any standard of C from C90 on, and of C++ from C++98 on, without a warning."""
        program = self.folder / "user.c"
        program.write_text(
            '#include "network.h"\n#include "network.h"\n'
            "int status = NETWORK_OK;\n"
            "int fine(int s) { return s == NETWORK_OK && NETWORK_ARENA_BYTES > 0; }\n"
            "int (*run)(const struct network_inputs *, const struct network_outputs *, void *) ="
            " network_run;\n")
        compilers = [(c, "c", standard) for c in ("gcc", "clang-19", "arm-none-eabi-gcc")
                     for standard in ("c90", "c99", "c11", "c17", "c2x")]
        compilers += [(c, "c++", standard) for c in ("g++", "clang++-19", "arm-none-eabi-g++")
                      for standard in ("c++98", "c++11", "c++14", "c++17", "c++20")]
        for options in ["--weights=embed"], ["--weights=file", "--threads=2"]:
            folder = self.compile("module", *options)
            for compiler, language, standard in compilers:
                if compiler.startswith("arm-none") and not modules.shutil.which(compiler):
                    print(f"{compiler} is missing")
                    continue
                for hooks in 0, 1:
                    self.call(compiler, "-x", language, f"-std={standard}", *STRICT,
                              "-pedantic-errors", f"-DNNC_HOOKS={hooks}", f"-I{folder}",
                              "-fsyntax-only", program)

    def test_header_of_each_kind(self):
        """What a network needs of its header is for C90 and C++98, too: quantized ports, state,
        sizes that vary or that data decide, memories, several functions."""
        node = onnx.helper.make_node
        line = nnc.model([node("Conv", ["x", "w"], ["y"], "conv")],
                         [nnc.value("x", ["many", 4, "time"])],
                         [nnc.value("y", ["many", 4, "after"])], [nnc.weights("w", 4, 4, 3)])
        find = nnc.model([node("NonZero", ["x"], ["found"], "find")],
                         [nnc.value("x", [3, 8])],
                         [nnc.value("found", [2, "count"], onnx.TensorProto.INT64)])
        integers = onnx.numpy_helper.from_array
        columns = nnc.model(
            [node("DequantizeLinear", ["x", "s", "z"], ["d"], "dequantize", axis=1),
             node("Relu", ["d"], ["y"], "relu")],
            [nnc.value("x", [2, 3], onnx.TensorProto.INT8)], [nnc.value("y", [2, 3])],
            [integers(np.float32([0.1, 0.2, 0.3]), "s"), integers(np.int8([1, 2, 3]), "z")])
        for name, made in ("line", line), ("find", find), ("columns", columns):
            self.save(name, made)
        gesture = nnc.ROOT / "examples/firmware/model/gesture.tflite"
        kinds = {
            "plain": ("network.onnx",),
            "quantized": (gesture,),
            "axis": ("columns.onnx",),
            "varies": ("line.onnx", "--shape=x=1x4x5..64"),
            "found": ("find.onnx",),
            "both": ("line.onnx", "--shape=x=1..2x4x6..64:2", "--threads=on"),
            "several": ("line.onnx", "--shape=x=1x4x8", "--shape=x=1x4x16"),
            "state": ("line.onnx", "--shape=x=1x4x9", "--stream=2"),
            "placed": ("network.onnx", "--io=arena"),
            "memories": ("network.onnx", "--pool=tight:2K", "--pool=wide:64K:slow"),
            "file": ("network.onnx", "--weights=file", "--threads=2"),
        }
        compilers = [(c, "c", s) for c in ("gcc", "clang-19") for s in ("c90", "c99", "c17")]
        compilers += [(c, "c++", s) for c in ("g++", "clang++-19") for s in ("c++98", "c++17")]
        inline = 0
        for kind, (model, *options) in kinds.items():
            folder = self.compile(kind, *options, model=model)
            inline += "NNC_STATIC_INLINE void network" in (folder / "network.h").read_text()
            program = self.folder / "user.c"
            program.write_text('#include "network.h"\n#include "network.h"\n'
                               "int fine(int s) { return s == NETWORK_OK; }\n")
            for compiler, language, standard in compilers:
                with self.subTest(kind, compiler=compiler, standard=standard):
                    self.call(compiler, "-x", language, f"-std={standard}", *STRICT,
                              "-pedantic-errors", f"-I{folder}", "-fsyntax-only", program)
        self.assertEqual(inline, 3, "networks whose dimensions a function tells")


class Hooks(modules.TestCase):
    def test_two_models(self):
        one = self.compile("one")
        self.nnc("compile", "network.onnx", "-o", "two", "--name=other", "--target=portable")
        two = self.folder / "two"
        (self.folder / "CMakeLists.txt").write_text("\n".join([
            "cmake_minimum_required(VERSION 3.16)", "project(program LANGUAGES C CXX)",
            f"add_executable(program {HERE / 'two_hooks.c'})",
            f"add_subdirectory({one} one)", f"add_subdirectory({two} two)",
            "target_link_libraries(program network other)"]))
        self.call("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DNNC_HOOKS=ON",
                  "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -Wmissing-prototypes")
        self.call("cmake", "--build", "build")
        layers = len(json.loads((one / "manifest.json").read_text())["layers"])
        self.assertEqual(self.call("build/program").splitlines(),
                         [f"{name} {layer} 1" for name in ("network", "other")
                          for layer in range(layers)])


if __name__ == "__main__":
    sys.exit(unittest.main())
