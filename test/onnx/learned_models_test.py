#!/usr/bin/env python3
"""Estimators of scikit-learn, LightGBM and XGBoost as their converters write them, against
onnxruntime: labels and other integers equal, numbers within 1e-5 of the largest.

    learned_models_test.py [--folder DIR] [--keep] [ESTIMATOR...]

Trains and converts the estimators of learned/estimators.py into DIR, or a folder that is
removed, by $NNC_CACHE/learned-venv, which `scripts/setup --learned` makes; where that fails, the
test is skipped. --keep takes models from DIR that are there already.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import emitted

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONVERT = ROOT / "test" / "onnx" / "learned" / "convert.py"
PYTHON = pathlib.Path(os.environ["NNC_CACHE"]) / "learned-venv" / "bin" / "python"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE

# What nnc does not compile, and why.
SCAN = "skl2onnx writes distances as a Scan unless it is asked for CDist"
LACKING = {
    "k_neighbors_scan": SCAN,
    "kernel_pca": SCAN,
    "knn_imputer": "it selects rows whose number depends on the data, by NonZero",
    "nearest_neighbor_scan": SCAN,
}


def find_python():
    """The Python that has scikit-learn, made if need be; None where it cannot be made."""
    if not PYTHON.exists():
        subprocess.run([ROOT / "scripts" / "setup", "--learned"], stdout=sys.stderr)
    return PYTHON if PYTHON.exists() else None


def compare(got, want):
    """Why an output is not the one that is wanted, or None."""
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
    if apart.max(initial=0) <= 1e-5 * largest:
        return None
    return f"differs by {apart.max():.3g}; the largest is {largest:.3g}"


def check(path, folder):
    """What is wrong with one model, or None."""
    arrays = np.load(path.with_suffix(".npz"))
    feeds = {name: arrays[f"in{i}"] for i, name in enumerate(arrays["names"])}
    try:
        module = emitted.compile_model(path, folder, target="portable",
                                       shapes={n: a.shape for n, a in feeds.items()})
        module.build()
        got = module(feeds)
    except emitted.Failure as error:
        return str(error)[:600]
    for i, name in enumerate(arrays["outputs"]):
        fault = compare(got[name], arrays[f"out{i}"])
        if fault:
            return f"output {name}: {fault}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("names", nargs="*", metavar="ESTIMATOR")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        if not arguments.keep:
            python = find_python()
            if not python:
                print("skipped: scikit-learn does not install; scripts/setup --learned says why")
                return SKIPPED
            subprocess.run([python, "-B", CONVERT, folder, *arguments.names], check=True,
                           stderr=subprocess.DEVNULL)
        models = [m for m in sorted(folder.glob("*.onnx"))
                  if not arguments.names or m.stem in arguments.names]
        return run_all(models)


def run_all(models):
    failed = lacking = 0
    for path in models:
        with tempfile.TemporaryDirectory() as folder:
            fault = check(path, folder)
        if path.stem in LACKING:
            lacking += 1
            if not fault:
                print(f"FAILED {path.stem}: compiles and agrees, though {LACKING[path.stem]}")
                failed += 1
        elif fault:
            print(f"FAILED {path.stem}: {fault}", flush=True)
            failed += 1
    print(f"{len(models)} estimators: {len(models) - failed - lacking} agree, {failed} fail, "
          f"{lacking} need what nnc lacks")
    return 1 if failed or not models else 0


if __name__ == "__main__":
    sys.exit(main())
