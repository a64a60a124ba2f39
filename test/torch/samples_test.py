#!/usr/bin/env python3
"""Small exported programs through nnc and a compiler, against numpy."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from samples import SAMPLES

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import DONE, USAGE  # noqa: E402

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
SHAPES = {"sizes": ["--shape", "x=3x4"]}


def verify(name, folder):
    program = SAMPLES[name]()
    path = folder / f"{name}.pt2"
    program.save(path)
    data = folder / name
    data.mkdir()
    for port, array in {**program.inputs, **program.expected}.items():
        np.save(data / f"{port}.npy", np.array(array, order="C"))
    return subprocess.run([NNC, "verify", path, "--data", data, "--tolerance=1e-6",
                           *SHAPES.get(name, [])], capture_output=True, text=True)


class SamplesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_programs(self):
        for name in SAMPLES:
            with self.subTest(name):
                done = verify(name, self.folder)
                self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
                for port in SAMPLES[name]().expected:
                    self.assertIn(f"{port}: same", done.stdout)

    def test_sizes_that_vary(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        done = subprocess.run([NNC, "verify", path, "--shape", "x=1..8x4"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        self.assertIn("s77=1", done.stdout)

    def test_bounds_of_the_program(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        done = subprocess.run([NNC, "verify", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        for rows in (1, 8):
            self.assertIn(f"s77={rows}", done.stdout)

    def test_sizes_beyond_the_bounds(self):
        path = self.folder / "sizes.pt2"
        SAMPLES["sizes"]().save(path)
        done = subprocess.run([NNC, "check", path, "--shape", "x=9x4"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
        self.assertIn("exported for 1 to 8", done.stderr)

    def test_operators_are_listed(self):
        done = subprocess.run([NNC, "ops", "--frontend=pytorch"], capture_output=True, text=True)
        self.assertEqual(done.returncode, DONE)
        for op in ("add.Tensor", "higher_order.cond", "view.default"):
            self.assertIn(op, done.stdout)


if __name__ == "__main__":
    unittest.main()
