#!/usr/bin/env python3
"""Estimators of scikit-learn, LightGBM and XGBoost as their converters write them, against
onnxruntime: labels and other integers equal, numbers within 1e-5 of the largest.

    learned_models_test.py [--folder DIR] [--keep] [ESTIMATOR...]

Trains and converts the estimators of learned/estimators.py into DIR, or a folder that is
removed, by $NNC_CACHE/learned-venv, which `scripts/setup --learned` makes; where that fails, the
test is skipped. --keep takes models from DIR that are there already.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import emitted
import made_models

CONVERT = made_models.ROOT / "test" / "onnx" / "learned" / "convert.py"

# What nnc does not compile, and why.
SCAN = "skl2onnx writes distances as a Scan unless it is asked for CDist"
LACKING = {
    "k_neighbors_scan": SCAN,
    "kernel_pca": SCAN,
    "knn_imputer": "it selects rows whose number depends on the data, by NonZero",
    "nearest_neighbor_scan": SCAN,
}


def check(path, folder):
    """What is wrong with one model, or None."""
    feeds, wanted = made_models.load(path.with_suffix(".npz"))
    try:
        module = emitted.compile_model(path, folder, target="portable",
                                       shapes={n: a.shape for n, a in feeds.items()})
        module.build()
        return made_models.compare_all(module(feeds), wanted, 1e-5)
    except emitted.Failure as error:
        return str(error)[:600]


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
            python = made_models.find_python("learned")
            if not python:
                print("skipped: scikit-learn does not install; scripts/setup --learned says why")
                return made_models.SKIPPED
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
