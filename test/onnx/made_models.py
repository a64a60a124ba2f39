"""What tests share of models that a Python of its own makes, with inputs and the outputs that
are wanted: finding that Python, and comparing."""

import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def find_python(part):
    """The Python of the environment PART-venv, which `scripts/setup --PART` makes if need be;
    None where it cannot be made."""
    python = pathlib.Path(os.environ["NNC_CACHE"]) / f"{part}-venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([ROOT / "scripts" / "setup", f"--{part}"], stdout=sys.stderr)
    return python if python.exists() else None


def load(path):
    """The inputs and the outputs that are wanted, by their names, of an .npz file."""
    arrays = np.load(path)
    return ({name: arrays[f"in{i}"] for i, name in enumerate(arrays["names"])},
            {name: arrays[f"out{i}"] for i, name in enumerate(arrays["outputs"])})


def compare(got, want, share):
    """Why an output is not the one that is wanted, or None; floats may differ by a share of the
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
    """Why the first output that is not as wanted is not, or None."""
    for name, want in wanted.items():
        fault = compare(outputs[name], want, share)
        if fault:
            return f"output {name}: {fault}"
    return None
