"""64-bit RISC-V under Linux: run, verify and bench in an emulator, with vectors and without.

Outputs are compared with onnxruntime's, as in bare_test.py, which makes the networks. The
tests are skipped where their tools are missing."""

import shutil
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime

from bare_test import Networks, random, various_network

TOOLS = ["riscv64-linux-gnu-g++", "clang++-19", "qemu-riscv64"]
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]
# Each target, and a compiler that spends little time on speed.
COMPILERS = {"rv64gc": "riscv64-linux-gnu-g++ -O1",
             "rv64gcv": "clang++-19 --target=riscv64-linux-gnu -O1",
             "rv64gcv-zvl256b": "clang++-19 --target=riscv64-linux-gnu -O1"}


def knows_vectors():
    """qemu 7.2 stops at some conversions of vectors."""
    version = subprocess.run(["qemu-riscv64", "--version"], capture_output=True, text=True)
    return int(version.stdout.split("version ")[1].split(".")[0]) >= 8


@unittest.skipIf(MISSING, f"{' and '.join(MISSING)} missing")
class RiscV(Networks):
    def setUp(self):
        super().setUp()
        self.targets = [t for t in COMPILERS if knows_vectors() or t == "rv64gc"]

    def on(self, target):
        return [f"--target={target}", f"--compiler={COMPILERS[target]}"]

    def test_run(self):
        for target in self.targets[:2]:
            for name in self.networks:
                with self.subTest(target=target, network=name):
                    out = f"{name}-{target}"
                    self.nnc("run", f"{name}.onnx", *self.on(target), f"--input={name}.npy",
                             "--output-dir", out)
                    self.check(name, out)

    def test_verify(self):
        for name in self.networks:
            self.nnc("verify", f"{name}.onnx", *self.on(self.targets[-1]), "--random=2",
                     said=["^random 0: .*: same: ", "^random 1: .*: same: "])

    def test_various_operators(self):
        self.save("various", various_network())
        x = random("x", 1, 3, 5, 7)
        np.save(self.folder / "x.npy", x)
        session = onnxruntime.InferenceSession(various_network().SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        self.nnc("run", "various.onnx", *self.on(self.targets[-1]), "--input=x.npy",
                 "--output-dir=out")
        for name, want in zip("lno", session.run(list("lno"), {"x": x})):
            got = np.load(self.folder / "out" / f"{name}.npy")
            self.assertEqual((got.shape, got.dtype), (want.shape, want.dtype))
            self.assertLessEqual(np.abs(got - want).max(), 1e-4 * np.abs(want).max(), name)

    def test_bench(self):
        """At the level of users, whose routines have vectors where the target has."""
        for target, routine in zip(self.targets[:2], ["conv2d_f32_\\w*fpu", "conv2d_f32_\\w*rvv<"]):
            self.nnc("bench", "plain.onnx", f"--target={target}", "--runs=1",
                     said=[f"^conv1 +{routine}", "on qemu-riscv64, built with "])


if __name__ == "__main__":
    sys.exit(unittest.main())
