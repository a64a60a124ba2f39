"""Tests several shapes of an input in one module: it has a function for each shape, and one
copy of the weights."""

import ctypes
import json
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from onnx import helper

import nnc
from nnc import USAGE, model, value

SHAPES = ["--shape=x=1x3x8x8", "--shape=x=1x3x13x9"]


def network():
    """The network of nnc.network(), for images of any size."""
    made = nnc.network()
    for axis in (2, 3):
        made.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = f"d{axis}"
    return made


class Several(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.path = self.save("open", network())

    def image(self, *shape):
        return np.random.default_rng(3).standard_normal(shape).astype(np.float32)

    def expected(self, image):
        session = onnxruntime.InferenceSession(self.path, providers=["CPUExecutionProvider"])
        return session.run(None, {"x": image})[0]

    def test_verified(self):
        """The module on the portable target, this machine, another one and a microcontroller."""
        for target, compiler in (("portable", ["--compiler=c++ -O1"]), ("native", []),
                                 ("aarch64", []), ("cortex-m4", [])):
            text = self.nnc("verify", "open.onnx", *SHAPES, f"--target={target}", *compiler)
            self.assertRegex(text, r"(?m)^random 0: y: ")
            self.assertRegex(text, r"(?m)^random 0 of open_2: y: ")

    def test_weights_are_shared(self):
        """The second shape adds no weights where layers are packed alike, and a weight that differs
        stands once more."""
        for target in ("portable", "cortex-m4"):
            one = json.loads(self.nnc("compile", "open.onnx", SHAPES[0], "-o", "one",
                                      f"--target={target}", "--json"))
            two = json.loads(self.nnc("compile", "open.onnx", *SHAPES, "-o", "two",
                                      f"--target={target}", "--json"))
            self.assertEqual(one["weight_bytes"], two["weight_bytes"])
            self.assertEqual([other["name"] for other in two["others"]], ["open_2"])
        self.assertEqual(self.names("one"), self.names("two"))

    def test_c_program(self):
        """One header has both functions, which one program calls with arenas of their own."""
        self.nnc("compile", "open.onnx", *SHAPES, "-o", "code", "--target=portable")
        folder = self.folder / "code"
        (folder / "program.c").write_text("""#include "open.h"
static _Alignas(OPEN_ALIGN) char arena[OPEN_ARENA_BYTES], arena_2[OPEN_2_ARENA_BYTES];
int both(const float *small, const float *large, float *a, float *b) {
  struct open_inputs inputs = {.x = small};
  struct open_outputs outputs = {.y = a};
  struct open_2_inputs inputs_2 = {.x = large};
  struct open_2_outputs outputs_2 = {.y = b};
  if (open_check_weights() != OPEN_OK || open_2_check_weights() != OPEN_2_OK)
    return 100;
  int status = open_run(&inputs, &outputs, arena);
  return status ? status : open_2_run(&inputs_2, &outputs_2, arena_2);
}
""")
        warnings = ["-Wall", "-Wextra", "-Werror", "-fPIC", "-O1", "-I."]
        subprocess.run(["g++", "-std=c++17", *warnings, "-c", "open.cpp"], cwd=folder, check=True)
        subprocess.run(["gcc", "-shared", *warnings, "program.c", "open.o", "open_weights.S", "-o",
                        "both.so"], cwd=folder, check=True)
        images = [self.image(1, 3, 8, 8), self.image(1, 3, 13, 9)]
        results = [np.zeros((1, 10), np.float32) for _ in images]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*images, *results)]
        self.assertEqual(ctypes.CDLL(str(folder / "both.so")).both(*pointers), 0)
        for image, result in zip(images, results):
            np.testing.assert_allclose(result, self.expected(image), rtol=1e-4, atol=1e-5)

    def test_weights_in_a_file(self):
        self.nnc("verify", "open.onnx", *SHAPES, "--weights=file", "--compiler=c++ -O1")

    def test_run(self):
        """The function of the shape that the file has runs, of a model and of a folder."""
        self.nnc("compile", "open.onnx", *SHAPES, "-o", "code")
        for size in ((8, 8), (13, 9)):
            image = self.image(1, 3, *size)
            np.save(self.folder / "x.npy", image)
            for what in (["open.onnx", *SHAPES], ["code"]):
                self.nnc("run", *what, "--input=x.npy", "--output-dir=out", "--compiler=c++ -O1")
                np.testing.assert_allclose(np.load(self.folder / "out/y.npy"),
                                           self.expected(image), rtol=1e-4, atol=1e-5)
        np.save(self.folder / "x.npy", self.image(1, 3, 7, 7))
        self.nnc("run", "code", "--input=x.npy", code=USAGE, said=["1x3x8x8"])

    def test_two_inputs(self):
        """An input that is given one shape has it in each function."""
        self.save("two", model([helper.make_node("Add", ["a", "b"], ["y"])],
                               [value("a", ["n", 3]), value("b", ["m", 3])], [value("y", None)]))
        self.nnc("verify", "two.onnx", "--shape=a=2x3", "--shape=a=5x3", "--shape=b=1x3",
                 said=["random 0 of two_2: y"])

    def test_refused(self):
        for more, why in [(["--shape=x=1x3x8x8"], "the same shapes twice"),
                          (["--shape=x=1x3x8..9x8"], "no bounds with '..'"),
                          (["--shape=x=1x3x9x9", "--pool=flash:1M:weights"], "takes one shape")]:
            self.nnc("compile", "open.onnx", SHAPES[0], *more, "-o", "out", code=USAGE, said=[why])
        for command in ("check", "bench", "explain", "tune"):
            self.nnc(command, "open.onnx", *SHAPES, code=USAGE, said=["takes one shape"])


if __name__ == "__main__":
    sys.exit(unittest.main())
