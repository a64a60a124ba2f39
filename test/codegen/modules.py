"""Emitted modules for the tests of how users build them: the network of test/cli, a C program
that runs it, and its expected results."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import nnc  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
STATUS = ["OK", "NULL_INPUT", "NULL_OUTPUT", "NULL_ARENA", "MISALIGNED_ARENA", "NULL_WEIGHTS",
          "MISALIGNED_WEIGHTS", "WRONG_WEIGHTS", "DAMAGED_WEIGHTS"]


def network_input():
    """The input that firmware_main.c also computes."""
    return (np.arange(3 * 8 * 8) % 17 / 16).astype(np.float32).reshape(1, 3, 8, 8)


class TestCase(nnc.TestCase):
    def compile(self, folder="module", *options, model="network.onnx"):
        self.nnc("compile", model, "-o", folder, "--name=network", "--target=portable",
                 *options)
        return self.folder / folder

    def call(self, *command, fails=None, **how):
        """What the command printed, or if it is to fail, its complaint, which `fails` is in."""
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              cwd=self.folder, timeout=300, **how)
        said = done.stdout + done.stderr
        if fails:
            self.assertNotEqual(done.returncode, 0, said)
            self.assertRegex(said, fails)
            return said
        self.assertEqual(done.returncode, 0, f"{command}: {said}")
        return said

    def needs(self, *tools):
        """Ends the test, and says so, where a tool (or a file with that path) is missing."""
        for tool in tools:
            if not shutil.which(tool) and not os.path.exists(tool):
                print(f"{self.id()}: not run, {tool} is missing", flush=True)
                self.skipTest(f"{tool} is missing")

    def build(self, folder, compiler=("gcc", "g++"), flags=(), link=(), weights=(),
              main=HERE / "firmware_main.c", **how):
        """A program of the module in `folder` and `main`; `weights` are flags for the weights
        alone."""
        cc, cxx = ([tool] if isinstance(tool, str) else tool for tool in compiler)
        folder, objects = pathlib.Path(folder), []
        for source in [*sorted(folder.glob("*.cpp")), *sorted(folder.glob("*_weights.[cS]")), main]:
            objects.append(self.folder / f"{folder.name}.{source.name}.o")
            language = [*cxx, "-std=c++17", "-fno-exceptions", "-fno-rtti", "-DNNC_PORTABLE_SIMD"
                        ] if source.suffix == ".cpp" else cc
            more = weights if "_weights." in source.name else ()
            self.call(*language, *(STRICT if source.suffix != ".S" else ()), "-O1", *flags, *more,
                      f"-I{folder}", "-c", source, "-o", objects[-1])
        program = self.folder / "program"
        said = self.call(*cxx, *flags, *objects, *link, "-o", program, **how)
        return said if how.get("fails") else program

    def check(self, *command):
        """Runs firmware_main.c's program, and compares what it prints with onnxruntime."""
        lines = self.call(*command).splitlines()
        self.assertEqual(lines[0], "status 0, weights 0")
        got = np.array([float(line) for line in lines[1:]])
        session = onnxruntime.InferenceSession(str(self.folder / "network.onnx"))
        (want,) = session.run(None, {"x": network_input()})
        self.assertEqual(got.shape, want.ravel().shape)
        np.testing.assert_allclose(got, want.ravel(), atol=1e-5 * np.abs(want).max())


def constants(header):
    """The statuses of a module's header, by name."""
    return {name: int(number) for name, number in
            re.findall(r"^  NETWORK_(\w+) = (\d+)", header.read_text(), re.MULTILINE)}
