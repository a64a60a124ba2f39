#!/usr/bin/env python3
"""Tests the C interface of a model that keeps values between runs: the caller owns a struct of
the state for each stream, and streams share nothing."""

import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

import flat
import running

HERE = pathlib.Path(__file__).resolve().parent
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-pedantic", "-Werror"]


def average():
    """y = -v with v = v / 2 + x. Each element of v has its own first value."""
    net = flat.Net()
    handle = {"shape": [], "type": "RESOURCE", "name": "handle"}
    net.tensors.append(handle)
    x = net.input(np.zeros(3, np.float32))
    first = np.float32([1, -2, 0.5])
    net.buffers.append({"data": list(first.tobytes())})
    inner = [handle, {"shape": [3], "type": "FLOAT32", "buffer": 1, "name": "first"}]
    options = {"options_type": "VarHandle", "options": {"container": "", "shared_name": "mean"}}
    net.subgraphs.append({
        "tensors": inner, "inputs": [], "outputs": [], "name": "prepare", "operators": [
            {"opcode": net.code("VAR_HANDLE"), "inputs": [], "outputs": [0], **options},
            {"opcode": net.code("ASSIGN_VARIABLE"), "inputs": [0, 1], "outputs": []}]})
    net.op("CALL_ONCE", [], [], init_subgraph=1)
    net.op("VAR_HANDLE", [], [0], container="", shared_name="mean")
    old, half, y, new = (net.tensor(np.float32, (3,)) for _ in range(4))
    net.op("READ_VARIABLE", [0], [old])
    net.op("MUL", [old, net.const(np.float32(0.5))], [half], activation="NONE")
    net.op("ADD", [half, x], [y], activation="NONE")
    net.op("ASSIGN_VARIABLE", [0, y], [])
    net.op("READ_VARIABLE", [0], [new])
    net.outputs = [net.op("NEG", [new], [net.tensor(np.float32, (3,))])]
    return net


def delay(first):
    """y = v, then v = x: the elements `first` in the first run, and then the input of the run
    before."""
    net = flat.Net()
    x = net.input(np.zeros_like(first))
    net.tensors[x]["name"] = "x"
    handle = {"shape": [], "type": "RESOURCE", "name": "handle"}
    net.tensors.append(handle)
    value = net.const(first)
    net.subgraphs.append({
        "tensors": [handle, net.tensors.pop(value)], "inputs": [], "outputs": [],
        "name": "prepare", "operators": [
            {"opcode": net.code("VAR_HANDLE"), "inputs": [], "outputs": [0],
             "options_type": "VarHandle", "options": {"container": "", "shared_name": "v"}},
            {"opcode": net.code("ASSIGN_VARIABLE"), "inputs": [0, 1], "outputs": []}]})
    net.op("CALL_ONCE", [], [], init_subgraph=1)
    net.op("VAR_HANDLE", [], [1], container="", shared_name="v")
    net.outputs = [net.op("READ_VARIABLE", [1], [net.tensor(first.dtype, first.shape)])]
    net.op("ASSIGN_VARIABLE", [1, x], [])
    return net


class StateTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.model,) = flat.save({"average": average().model()}, cls.folder)
        code, said = running.nnc("compile", cls.model, "--target=portable", "-o",
                                 cls.folder / "module", "--name=average")
        assert code == running.DONE, said

    def build(self, standard):
        module = self.folder / "module"
        program = self.folder / f"program-{standard}"
        objects = []
        for source, how in ((module / "average.cpp", ["g++", "-std=c++17"]),
                            *((path, ["gcc"]) for path in module.glob("*_weights.[cS]")),
                            (HERE / "state_main.c", ["gcc", f"-std={standard}"])):
            objects.append(self.folder / f"{source.name}.o")
            subprocess.run([*how, *(STRICT if source.suffix != ".S" else []), f"-I{module}",
                            "-fsanitize=undefined", "-c", source, "-o", objects[-1]], check=True)
        subprocess.run(["g++", "-fsanitize=undefined", *objects, "-o", program], check=True)
        return program

    def test_streams_are_apart(self):
        """Two streams that a C program runs in turn, and the first from its start again."""
        first = np.float32([1, -2, 0.5])
        want = []
        for stream in (0, 1, 0):
            value = first.copy()
            for run in range(5):
                value = value / 2 + np.float32([run + i + 10 * stream for i in range(3)])
                want.append((stream, run, *(-value)))
        for standard in ("c90", "c17"):
            done = subprocess.run([self.build(standard)], capture_output=True, text=True,
                                  check=True)
            lines = done.stdout.splitlines()
            self.assertEqual(lines[0], "9 0")  # no state: NULL_STATE; then OK
            got = sorted(tuple(map(float, line.split())) for line in lines[1:])
            np.testing.assert_allclose(got, sorted(want), rtol=1e-6)

    def test_runs_of_the_command_line(self):
        frames = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
        (y,) = running.run(self.model, [("t1", frames)], self.folder, "--target=portable")
        value, want = np.float32([1, -2, 0.5]), []
        for frame in frames:
            value = value / 2 + frame
            want.append(-value)
        np.testing.assert_allclose(y, want, rtol=1e-5)
        # One run has no axis of runs.
        (y,) = running.run(self.model, [("t1", frames[0])], self.folder, "--target=portable")
        np.testing.assert_allclose(y, want[0], rtol=1e-6)

    def test_first_values(self):
        """Values of a few elements are written into the compiler's program, those of more are
        resources; they differ, or are alike, or zeros."""
        random = np.random.default_rng(2)
        large, small = (1, 5, 8), (3,)
        firsts = {f"drawn_{np.dtype(dtype).name}": random.integers(0, 2, large).astype(dtype)
                  for dtype in (np.bool_, np.uint8, np.int16, np.int32, np.int64, np.float32)}
        for shape in large, small:
            firsts[f"drawn{len(shape)}"] = random.integers(-128, 128, shape).astype(np.int8)
            firsts[f"alike{len(shape)}"] = np.full(shape, -7, np.int8)
            firsts[f"zeros{len(shape)}"] = np.zeros(shape, np.int8)
        paths = flat.save({name: delay(first).model() for name, first in firsts.items()},
                          self.folder)
        for path, first in zip(paths, firsts.values()):
            x = random.integers(0, 2, (3, *first.shape)).astype(first.dtype)
            with self.subTest(path.stem):
                (y,) = running.run(path, [("x", x)], self.folder, "--target=portable")
                np.testing.assert_array_equal(y, np.concatenate([first[None], x[:-1]]))

    def test_first_values_are_no_table_where_they_are_alike(self):
        for name, first, holds in (("alike", np.full((1, 40), -128, np.int8), False),
                                   ("drawn", np.arange(40, dtype=np.int8)[None], True)):
            (path,) = flat.save({name: delay(first).model()}, self.folder)
            code, said = running.nnc("compile", path, "--target=portable", "-o",
                                     self.folder / f"code-{name}")
            self.assertEqual(code, running.DONE, said)
            text = (self.folder / f"code-{name}" / f"{name}.cpp").read_text()
            self.assertEqual("static const int8_t first_" in text, holds)

    def test_wrong_numbers_of_runs(self):
        np.save(self.folder / "none.npy", np.zeros((0, 3), np.float32))
        code, said = running.nnc("run", self.model, "--input", f"t1={self.folder / 'none.npy'}")
        self.assertEqual(code, running.USAGE, said)
        self.assertIn("data of 0 runs", said)

    def test_names(self):
        """A model whose own values are called like what the code of states is written with."""
        net = average()
        net.tensors[1]["name"], net.tensors[5]["name"] = "state", "inputs"
        (path,) = flat.save({"names": net.model()}, self.folder)
        x = np.float32([4, 5, 6])
        (y,) = running.run(path, [("state", x)], self.folder, "--target=portable")
        np.testing.assert_allclose(y, -(np.float32([1, -2, 0.5]) / 2 + x), rtol=1e-6)

    def test_reports(self):
        code, said = running.nnc("check", self.model, "--target=portable", "--max-ram=30")
        self.assertEqual(code, running.LIMIT, said)
        self.assertIn("12 of state", said)
        code, said = running.nnc("verify", self.model, "--target=portable", "--compiler",
                                 running.COMPILER)
        self.assertEqual(code, running.DONE, said)
        self.assertIn("of 12 elements differ", said)  # four runs of three elements


if __name__ == "__main__":
    unittest.main(verbosity=2)
