"""Tests the scale and zero point of quantized inputs and outputs in constants and functions of
the header, in manifest.json, and in the output of check, explain and report."""

import json
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import modules
import nnc
from modules import STRICT
from nnc import ROOT, value

# Prints q and the real number that it stands for, for each number on stdin; of an axis, for
# its index 1.
PROGRAM = """#include "ports.h"
#include <stdio.h>
int main(void) {{
  float real;
  while (scanf("%f", &real) == 1) {{
    {type} q = ports_{field}_quantize(real{index});
    printf("%d %.9g\\n", (int)q, (double)ports_{field}_dequantize(q{index}));
  }}
  printf("%.9g %d\\n", (double)PORTS_{FIELD}_SCALE{at}, (int)PORTS_{FIELD}_ZERO_POINT{at});
  return 0;
}}
"""
RANGES = {"int8_t": (-128, 127), "uint8_t": (0, 255), "int16_t": (-32768, 32767),
          "uint16_t": (0, 65535)}


def constant(name, values, dtype):
    return numpy_helper.from_array(np.array(values, dtype), name)


def qdq(scale=0.1, zero=3, dtype=np.int8, axis=None, before=()):
    """A model from x, integers with this scale, to y, u8 with scale 0.25 and zero point 7.
    `before` are nodes that compute `moved` from x."""
    types = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8,
             np.int16: TensorProto.INT16, np.uint16: TensorProto.UINT16}
    more = {} if axis is None else {"axis": axis}
    nodes = [*before,
             helper.make_node("DequantizeLinear", ["moved" if before else "x", "s", "z"], ["r"],
                              **more),
             helper.make_node("Relu", ["r"], ["a"]),
             helper.make_node("QuantizeLinear", ["a", "s2", "z2"], ["y"])]
    made = helper.make_model(helper.make_graph(
        nodes, "graph", [value("x", [1, 3, 4, 4], types[dtype])],
        [value("y", None, TensorProto.UINT8)],
        [constant("s", scale, np.float32), constant("z", zero, dtype),
         constant("s2", 0.25, np.float32), constant("z2", 7, np.uint8)]),
        opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return made


def numbers(scale, zero, low, high, seed=0):
    """Numbers halfway between integers, numbers that saturate, and others."""
    random = np.random.default_rng(seed)
    steps = np.concatenate([np.arange(-9, 10) / 2, [low - zero - 0.5, high - zero + 0.5,
                                                    low - zero - 99, high - zero + 99, 3e9, -3e9],
                            random.uniform(low - zero - 3, high - zero + 3, 200)])
    return (steps * scale).astype(np.float32)


def quantize(real, scale, zero, low, high, is_even):
    steps = real / np.float32(scale)
    whole = np.trunc(steps)
    away = whole + np.where(np.abs(steps - whole) >= 0.5, np.sign(steps), 0)
    nearest = np.rint(steps) if is_even else away
    return np.clip(nearest.astype(np.float64) + zero, low, high).astype(np.int64)


class Header(modules.TestCase):
    def compare(self, model, field, scale, zero, kind, is_even=True, index=""):
        """The functions of a port against numpy, built by C and C++ compilers."""
        self.nnc("compile", model, "-o", "code", "--name=ports", "--target=portable")
        at = "[1]" if index else ""
        (self.folder / "main.c").write_text(PROGRAM.format(
            type=kind, field=field, FIELD=field.upper(), index=index, at=at))
        low, high = RANGES[kind]
        real = numbers(scale, zero, low, high)
        wanted = quantize(real, scale, zero, low, high, is_even)
        floats = (wanted - zero).astype(np.float32) * np.float32(scale)
        text = "\n".join(f"{float(each):.9g}" for each in real) + "\ninf\n-inf\nnan\n"
        for compiler in (["gcc", "-std=c90"], ["gcc", "-std=c99"],
                         ["g++", "-x", "c++", "-std=c++98"], ["clang-19"]):
            self.call(*compiler, *STRICT, "-Wconversion", "-O1", "-fsanitize=undefined", "-Icode",
                      "main.c", "-o", "main")
            *lines, own = self.call("./main", input=text).splitlines()
            self.assertEqual([int(line.split()[0]) for line in lines],
                             [*wanted, high, low, low], compiler)
            np.testing.assert_array_equal(
                np.float32([line.split()[1] for line in lines[:-3]]), floats)
            self.assertEqual((np.float32(own.split()[0]), int(own.split()[1])),
                             (np.float32(scale), zero))

    def test_onnx(self):
        for dtype, zero, kind in ((np.int8, 3, "int8_t"), (np.uint8, 128, "uint8_t"),
                                  (np.int16, 0, "int16_t"), (np.uint16, 1000, "uint16_t")):
            with self.subTest(kind):
                path = self.save("model", qdq(0.1, zero, dtype))
                self.compare(path, "x", 0.1, zero, kind)
        self.compare(path, "y", 0.25, 7, "uint8_t")

    def test_moved(self):
        """Between the input and its DequantizeLinear elements may move."""
        move = helper.make_node("Transpose", ["x"], ["moved"], perm=[0, 2, 3, 1])
        self.compare(self.save("model", qdq(0.5, -2, before=[move])), "x", 0.5, -2, "int8_t")

    def test_axis(self):
        scales, zeros = [0.1, 0.2, 0.4], [0, 5, -5]
        path = self.save("model", qdq(scales, zeros, axis=1))
        self.compare(path, "x", 0.2, 5, "int8_t", index=", 1")
        (port,) = json.loads((self.folder / "code/manifest.json").read_text())["inputs"]
        self.assertEqual((port["axis"], port["zero_point"]), (1, zeros))
        np.testing.assert_array_equal(np.float32(port["scale"]), np.float32(scales))
        self.assertIn("#define PORTS_X_AXIS 1", (self.folder / "code/ports.h").read_text())

    def test_tflite(self):
        path = ROOT / "examples/firmware/model/gesture.tflite"
        said = json.loads(self.nnc("check", path, "--no-build", "--json"))
        for port in said["inputs"] + said["outputs"]:
            self.assertEqual(port["rounding"], "half_away")
            self.compare(path, port["field"], port["scale"], port["zero_point"], "int8_t",
                         is_even=False)

    def test_unlike(self):
        """What is read in two scales, or computed with as integers alone, has none."""
        node = helper.make_node
        graph = helper.make_graph(
            [node("DequantizeLinear", ["x", "s", "z"], ["a"]),
             node("DequantizeLinear", ["x", "s2", "z"], ["b"]), node("Add", ["a", "b"], ["y"]),
             node("Cast", ["w"], ["v"], to=TensorProto.FLOAT)], "graph",
            [value("x", [4], TensorProto.INT8), value("w", [4], TensorProto.INT8)],
            [value("y", [4]), value("v", [4])],
            [constant("s", 1, np.float32), constant("s2", 2, np.float32),
             constant("z", 0, np.int8)])
        path = self.save("model", helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
        self.nnc("compile", path, "-o", "code", "--name=ports")
        self.assertNotIn("_SCALE", (self.folder / "code/ports.h").read_text())

    def test_names_of_one_spelling(self):
        """Names that differ in their case alone keep it in their constants."""
        node = helper.make_node
        graph = helper.make_graph(
            [node("DequantizeLinear", ["x", "s", "z"], ["a"]),
             node("QuantizeLinear", ["a", "s2", "z"], ["X"])], "graph",
            [value("x", [4], TensorProto.INT8)], [value("X", [4], TensorProto.INT8)],
            [constant("s", 1, np.float32), constant("s2", 2, np.float32),
             constant("z", 0, np.int8)])
        path = self.save("model", helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
        self.nnc("compile", path, "-o", "code", "--name=ports")
        text = (self.folder / "code/ports.h").read_text()
        for line in "PORTS_x_SCALE 1.0f", "PORTS_X_SCALE 2.0f":
            self.assertIn(f"#define {line}\n", text)


class Told(nnc.TestCase):
    def test_commands(self):
        self.save("model", qdq())
        self.nnc("check", "model.onnx", "--no-build", said=[
            r"^  input +x: 1x3x4x4 of i8, scale 0.1, zero point 3$",
            r"^  output +y: 1x3x4x4 of u8, scale 0.25, zero point 7$"])
        x = {"name": "x", "field": "x", "dtype": "i8", "shape": [1, 3, 4, 4],
             "scale": float(np.float32(0.1)), "zero_point": 3, "rounding": "half_even"}
        y = {"name": "y", "field": "y", "dtype": "u8", "shape": [1, 3, 4, 4], "scale": 0.25,
             "zero_point": 7, "rounding": "half_even"}
        for command in ["check", "--no-build"], ["explain"]:
            said = json.loads(self.nnc(*command, "model.onnx", "--json"))
            self.assertEqual((said["inputs"], said["outputs"]), ([x], [y]))
        said = json.loads(self.nnc("report", "model.onnx", "-o", "page.html", "--json"))
        ports = {port["name"]: port for port in said["reports"][0]["ports"]}
        for wanted in x, y:
            self.assertLessEqual(
                {key: wanted[key] for key in ("scale", "zero_point", "rounding")}.items(),
                ports[wanted["name"]].items())
        self.nnc("compile", "model.onnx", "-o", "code")
        manifest = json.loads((self.folder / "code/manifest.json").read_text())
        self.assertEqual((manifest["inputs"], manifest["outputs"]), ([x], [y]))

    def test_integers_of_four_bits(self):
        """Helpers of both ports saturate to the range of the model's type."""
        for dtype, least, most in ((TensorProto.INT4, "(-8)", 7), (TensorProto.UINT4, "0", 15)):
            model = qdq()
            graph = model.graph
            for port in (*graph.input, *graph.output):
                port.type.tensor_type.elem_type = dtype
            for i in (1, 3):
                graph.initializer[i].CopyFrom(helper.make_tensor(
                    graph.initializer[i].name, dtype, [], [3]))
            (self.folder / "ports.onnx").write_bytes(model.SerializeToString())
            self.nnc("compile", "ports.onnx", "-o", "code4")
            header = (self.folder / "code4/ports.h").read_text()
            for port in "XY":
                self.assertIn(f"(float)({least} - PORTS_{port}_ZERO_POINT)", header)
                self.assertIn(f"(float)({most} - PORTS_{port}_ZERO_POINT)", header)
            name, storage = {TensorProto.INT4: ("i4", "i8"),
                             TensorProto.UINT4: ("u4", "u8")}[dtype]
            self.assertIn(f"of {name} */", header)
            told = [json.loads((self.folder / "code4/manifest.json").read_text())]
            for command in ["check", "--no-build"], ["explain"]:
                told.append(json.loads(self.nnc(*command, "ports.onnx", "--json")))
            self.nnc("check", "ports.onnx", "--no-build", said=[f"input .* of {name}, scale",
                                                               f"output .* of {name}, scale"])
            ports = [port for said in told for port in said["inputs"] + said["outputs"]]
            said = json.loads(self.nnc("report", "ports.onnx", "-o", "page.html", "--json"))
            ports += said["reports"][0]["ports"]
            self.assertEqual({(port["dtype"], port["storage"]) for port in ports},
                             {(name, storage)})
            zeros = np.zeros((1, 3, 4, 4), np.int8 if storage == "i8" else np.uint8)
            np.save(self.folder / "x.npy", zeros)
            self.nnc("run", "code4", "--input=x.npy", said=[f"^y: 1x3x4x4 of {name}"])

    def test_floats_of_eight_bits(self):
        """The types of floats that take a byte are told as well."""
        path = self.save("small", helper.make_model(
            helper.make_graph(
                [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E5M2)], "graph",
                [value("x", [4], TensorProto.FLOAT8E4M3FN)],
                [value("y", [4], TensorProto.FLOAT8E5M2)]),
            opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
        said = json.loads(self.nnc("check", path, "--no-build", "--json"))
        self.assertEqual([(port["dtype"], port["storage"])
                          for port in said["inputs"] + said["outputs"]],
                         [("f8e4m3fn", "u8"), ("f8e5m2", "u8")])

    def test_floats(self):
        """Ports that are not quantized have no such keys."""
        said = json.loads(self.nnc("check", "network.onnx", "--no-build", "--json"))
        self.assertEqual(said["inputs"], [{"name": "x", "field": "x", "dtype": "f32",
                                           "shape": [1, 3, 8, 8]}])


if __name__ == "__main__":
    sys.exit(unittest.main())
