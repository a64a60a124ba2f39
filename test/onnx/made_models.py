"""Helpers of tests of models that are created, with inputs and expected outputs, by a separate
Python: finding that Python, and comparing."""

import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def find_python(part):
    """The Python of the environment PART-venv. `scripts/setup --PART` creates it if necessary;
    None if that fails."""
    python = pathlib.Path(os.environ["NNC_CACHE"]) / f"{part}-venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([ROOT / "scripts" / "setup", f"--{part}"], stdout=sys.stderr)
    return python if python.exists() else None


def load(path):
    """The inputs and the expected outputs in an .npz file, by their names."""
    arrays = np.load(path)
    return ({name: arrays[f"in{i}"] for i, name in enumerate(arrays["names"])},
            {name: arrays[f"out{i}"] for i, name in enumerate(arrays["outputs"])})


def compare(got, want, share):
    """How an output differs from the expected one, or None. Floats may differ by a share of the
    largest one."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"is {got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    if want.dtype.kind != "f":
        count = np.count_nonzero(got != want)
        return f"{count} of {want.size} differ" if count else None
    if not np.array_equal(np.isnan(got), np.isnan(want)):
        return "other numbers are NaN"
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "other numbers are infinite"
    apart = np.abs(got.astype(np.float64) - want)[finite]
    largest = np.abs(want[finite]).max(initial=0)
    if apart.max(initial=0) <= share * largest:
        return None
    return f"differs by {apart.max():.3g}; the largest is {largest:.3g}"


def compare_all(outputs, wanted, share):
    """How the first wrong output differs from the expected one, or None."""
    for name, want in wanted.items():
        fault = compare(outputs[name], want, share)
        if fault:
            return f"output {name}: {fault}"
    return None
