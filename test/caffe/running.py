"""Compiles and runs networks of Caffe by nnc, and compares the results."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import BROKEN, DONE, LACKING, LIMIT, USAGE  # noqa: E402, F401

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
# Tests need no speed: optimizing takes most of the time.
COMPILER = os.environ.get("NNC_TEST_COMPILER", "c++ -O0")
# The largest error, as a part of the largest number of the result.
TOLERANCE = 1e-5


def nnc(*arguments, timeout=600):
    """(exit code, what was printed) of a call of nnc."""
    done = subprocess.run([NNC, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def run(path, feeds, folder, *options):
    """{output: array} of the network at `path` on {input: array}."""
    given = []
    for name, array in feeds.items():
        file = folder / f"in_{len(given)}.npy"
        np.save(file, array.astype(np.float32))
        given += ["--input", f"{name}={file}"]
    done = subprocess.run([NNC, "run", path, *given, "--output-dir", folder / "out", "--json",
                           "--compiler", COMPILER, *options], capture_output=True, text=True,
                          timeout=600)
    if done.returncode:
        raise RuntimeError(f"nnc run: exit code {done.returncode}: {done.stderr or done.stdout}")
    return {port["name"]: np.load(port["file"]) for port in json.loads(done.stdout)["outputs"]}


def compare(test, name, found, wanted, tolerance=TOLERANCE):
    """Fails unless both arrays have one shape and differ by little."""
    test.assertEqual(found.shape, wanted.shape, name)
    largest = max(abs(wanted).max(initial=0), 1e-30)
    error = abs(found - wanted).max(initial=0) / largest
    test.assertLess(error, tolerance, f"{name} is off by {error:.2e} of its largest number")


def check(test, net, folder, *options, tolerance=TOLERANCE):
    """Runs a net of caffemodel.py, and compares all outputs with what they should be."""
    found = run(net.save(folder), net.feeds, folder, *options)
    test.assertEqual(sorted(found), net.outputs)
    for name in net.outputs:
        with test.subTest(name):
            compare(test, name, found[name], net.values[name], tolerance)
