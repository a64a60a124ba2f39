"""Tests operands that decide the shape of a result and are inputs of the network. If the model
declares that shape, they are read at run time or follow from it; otherwise the model is
rejected. No value of theirs makes emitted code read outside of its memory."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import onnx

import emitted
from graphs import Graph

random = np.random.default_rng(38)
FLAGS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
HOSTILE = [-2**63, 2**63 - 1, -2**31, 2**31, -1, 0, 1, 1000]

# Calls a module on inputs that standard input holds, each in memory of just its size.
MAIN = """
#include "model.h"
#include <cstdio>
#include <cstdlib>
struct memory {
  void *bytes;
  template <class T> operator T *() const { return static_cast<T *>(bytes); }
};
static memory room(size_t bytes) { return {malloc(bytes ? bytes : 1)}; }
static memory take(size_t bytes) {
  memory result = room(bytes);
  if (fread(result.bytes, 1, bytes, stdin) != bytes)
    exit(9);
  return result;
}
int main() {
  model_inputs in = {INPUTS};
  model_outputs out = {OUTPUTS};
  return model_run(&in, &out, aligned_alloc(64, (MODEL_ARENA_BYTES + 127) / 64 * 64));
}
"""


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def integers(*values):
    return np.array(values, np.int64)


def scalar(value, dtype=np.int64):
    return np.array(value, dtype)


class Promised(unittest.TestCase):
    def check(self, graph):
        for target in emitted.in_turn(("native", "portable"), self.id()):
            graph.check(rtol=1e-5, atol=1e-5, target=target)

    def graph(self, opset=21):
        return Graph(opset, declares=True)

    def test_shapes(self):
        g = self.graph()
        x = g.input(floats(2, 1, 6))
        g.add("Reshape", x, g.input(integers(3, -1)))
        g.add("Reshape", x, g.input(integers(0, 6, 1)))
        g.add("Expand", x, g.input(integers(4, 1)))
        g.add("Expand", x, g.input(integers(3, 1, 2, 5, 6)))
        g.add("Tile", x, g.input(integers(1, 3, 2)))
        g.add("Squeeze", x, g.input(integers(-2)))
        g.add("Unsqueeze", x, g.input(integers(0, -1)))
        g.add("ConstantOfShape", g.input(integers(2, 3)))
        g.add("HannWindow", g.input(scalar(9)))
        self.check(g)

    def test_counts(self):
        g = self.graph()
        x = g.input(floats(3, 8))
        k = g.input(integers(3))
        top = g.add("TopK", x, k, axis=1)
        g.nodes[-1].output.append("places")
        g.expected["places"] = None
        g.add("OneHot", g.input(integers(0, 2, -1, 7)), g.input(scalar(4.0, np.float32)),
              g.constant(np.array([2, 5], np.float32)), axis=0)
        self.assertTrue(top)
        self.check(g)

    def test_reductions(self):
        for opset in (13, 18):
            g = self.graph(opset)
            x, same = g.input(floats(2, 3, 1, 5)), g.input(floats(3, 3, 3))
            ops = ["ReduceSum"] if opset < 18 else [
                "ReduceSum", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax",
                "ReduceMean", "ReduceProd", "ReduceSumSquare"]
            for op in ops:
                g.add(op, x, g.input(integers(1, -1)))
                g.add(op, x, g.input(integers(-2, 0)), keepdims=0)
                g.add(op, x, g.input(integers(2)))
                for axis in (0, 1, 2, -1):  # which of the three it is, only the value says
                    g.add(op, same, g.input(integers(axis)), keepdims=0)
            g.add("ReduceSum", same, g.input(integers(-3, 2)), keepdims=0)
            g.add("ReduceSum", same, g.input(integers(0, 1)), keepdims=0)
            self.check(g)

    def test_slices(self):
        for _ in range(3):
            g = self.graph()
            x = g.input(floats(7, 5, 6))
            for _ in range(8):
                axes = random.permutation(3)[:random.integers(1, 4)]
                starts, ends, steps = [], [], []
                for axis in axes:
                    size = (7, 5, 6)[axis]
                    step = int(random.choice([-3, -2, -1, 1, 2, 3]))
                    first, last = sorted(random.integers(0, size, 2))
                    start, end = (last, first - 1) if step < 0 else (first, last + 1)
                    starts.append(start - (size if random.random() < 0.5 else 0))
                    ends.append(end if end >= 0 else -size - 1)
                    steps.append(step)
                lists = [np.array(v, np.int64) for v in
                         (starts, ends, axes - 3 * random.integers(0, 2, len(axes)), steps)]
                fixed = random.random(4) < 0.3
                fixed[1] = False
                g.add("Slice", x, *[g.constant(v) if f else g.input(v)
                                    for v, f in zip(lists, fixed)])
            g.add("Slice", x, g.constant(integers(1)), g.input(integers(1000)))
            g.add("Slice", x, g.input(integers(1000)), g.input(integers(-1000)),
                  g.input(integers(0)), g.input(integers(-2)))
            self.check(g)

    def test_pads(self):
        for mode in ("constant", "edge", "reflect", "wrap"):
            g = self.graph()
            x = g.input(floats(4, 5, 3))
            most = [3, 4, 2]
            for _ in range(4):
                pads = [int(random.integers(0, m + 1)) for m in most + most]
                g.add("Pad", x, g.input(np.array(pads, np.int64)), mode=mode)
            g.add("Pad", x, g.input(integers(1, 2, 2, 1)), "", g.input(integers(-1, 0)),
                  mode=mode)
            g.add("Pad", x, g.input(integers(1, 2)), "", g.constant(integers(1)), mode=mode)
            self.check(g)

    def test_negative_pads(self):
        g = self.graph()
        x = g.input(floats(4, 5, 3))
        g.add("Pad", x, g.input(integers(-2, 9, 1, 0, -1, 2)), g.input(scalar(2.5, np.float32)),
              expected=np.pad(g.feeds[x][2:, :-1], [(0, 0), (9, 0), (1, 2)], constant_values=2.5))
        self.check(g)

    def test_ranges(self):
        g = self.graph()
        for dtype, start, limit, delta in [(np.int64, -3, 20, 4), (np.int32, 9, -9, -5),
                                           (np.int16, 1, 2, 7), (np.float32, 0.5, 3.1, 0.25),
                                           (np.float64, 2, -1, -0.5)]:
            g.add("Range", *[g.input(scalar(v, dtype)) for v in (start, limit, delta)])
        self.check(g)

    def test_axes_and_diagonals(self):
        g = self.graph()
        x = g.input(floats(3, 4, 5))
        for axis in (0, 1, 2, -1, -3):
            g.add("CumSum", x, g.input(scalar(axis, np.int32)), exclusive=1, reverse=axis % 2)
        for k in (-7, -1, 0, 2, 9):
            g.add("Trilu", x, g.input(scalar(k)), upper=k % 2)
        self.check(g)

    def test_split(self):
        g = self.graph()
        x = g.input(floats(2, 9))
        first = g.add("Split", x, g.input(integers(2, 3, 4)), axis=1)
        g.nodes[-1].output.extend(["b", "c"])
        g.expected |= {"b": None, "c": None}
        self.assertTrue(first)
        self.check(g)

    def test_hostile_values(self):
        g = self.graph()
        x = g.input(floats(4, 5))
        lists = [integers(1, 0), integers(3, 4), integers(0, 1), integers(1, 2)]
        g.add("Slice", x, *[g.input(v) for v in lists])
        for mode in ("constant", "edge", "reflect", "wrap"):
            g.add("Pad", x, g.input(integers(1, 1, 0, 1)), mode=mode)
        g.add("Pad", x, g.input(integers(1, 1, 0, 1)), "", g.input(integers(1, 0)))
        g.add("Range", *[g.input(scalar(v)) for v in (0, 5, 1)])
        g.add("CumSum", x, g.input(scalar(1)))
        g.add("Trilu", x, g.input(scalar(1)))
        g.add("ReduceSum", g.input(floats(3, 3)), g.input(integers(1)), keepdims=0)
        self.check(g)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            onnx.save(g.model(), path / "graph.onnx")
            module = emitted.compile_model(path / "graph.onnx", path / "out", target="portable")
            ports = [", ".join("%s(%d)" % (
                take, emitted.dtype_of(port).itemsize *
                int(np.prod(port["shape"], dtype=int))) for port in module.manifest[kind])
                     for kind, take in (("inputs", "take"), ("outputs", "room"))]
            (module.folder / "main.cpp").write_text(
                MAIN.replace("{INPUTS}", "{%s}" % ports[0]).replace("{OUTPUTS}",
                                                                    "{%s}" % ports[1]))
            sources = [file for file in module.manifest["files"] if file.endswith((".cpp", ".S"))]
            emitted.run(["clang++-19", "-std=c++17", *FLAGS, "main.cpp", *sources, "-o", "main"],
                        "building with sanitizers", cwd=module.folder)
            for _ in range(25):
                feeds = [random.choice(HOSTILE, array.shape).astype(np.int64)
                         if array.dtype == np.int64 else array for array in g.feeds.values()]
                (path / "in").write_bytes(b"".join(a.tobytes() for a in feeds))
                emitted.run(["sh", "-c", f"ASAN_OPTIONS=detect_leaks=0 ./main < {path}/in"], "running with sanitizers",
                            cwd=module.folder)

    def test_refused(self):
        def refuse(g, message):
            with self.assertRaisesRegex(emitted.Failure, message):
                g.run()
        for declares, rank, message in [(False, 2, "Squeeze needs axes"), (True, 6, "CumSum needs")]:
            g = Graph(21, declares=declares)
            x = g.input(floats(*[1, 2, 1, 2, 1, 2][:rank]))
            if declares:
                g.add("CumSum", x, g.input(scalar(0)), expected=g.feeds[x])
            else:
                g.add("Squeeze", x, g.input(integers(0)))
            refuse(g, message)
        g = self.graph()  # no such promise can be kept
        g.add("Reshape", g.input(floats(2, 3)), g.input(integers(6)),
              expected=np.zeros(5, np.float32))
        refuse(g, "Reshape needs shapes")


if __name__ == "__main__":
    sys.exit(unittest.main())
