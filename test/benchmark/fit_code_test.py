"""Tests that the table of code sizes roughly agrees with what the compiler for a Cortex-M7
makes today."""

import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@unittest.skipIf(not shutil.which("arm-none-eabi-g++"), "arm-none-eabi-g++ missing")
class Code(unittest.TestCase):
    def test_table(self):
        names = ["conv2d_f32_nhwc_fpu", "matmul_i32_armdsp"]
        done = subprocess.run([sys.executable, ROOT / "scripts/benchmark/fit_code.py", "--check",
                               *names], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
