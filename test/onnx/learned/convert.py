#!/usr/bin/env python3
"""Trains the estimators of estimators.py, makes ONNX models of them, and runs these by
onnxruntime. Runs where scikit-learn, LightGBM, XGBoost and their converters are installed,
apart from nnc.

    convert.py FOLDER [ESTIMATOR...]

writes ESTIMATOR.onnx, and beside it ESTIMATOR.npz with the names of the inputs, their values
in0, in1, ..., and what onnxruntime computes, out0, out1, ...; names of classes are there as
their numbers in a sorted list.
"""

import pathlib
import sys
import warnings
import zlib

import numpy as np
import onnxruntime

import estimators

warnings.filterwarnings("ignore")


def as_array(value):
    """An output as the emitted code has it: maps of scores are a matrix."""
    if isinstance(value, list):
        return np.array([[row[key] for key in row] for row in value], np.float32)
    if value.dtype.kind in "OU":
        return np.searchsorted(estimators.NAMES, value.astype(str)).astype(np.int64)
    return value


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted, failed = sys.argv[2:] or list(estimators.ESTIMATORS), 0
    for name in wanted:
        try:
            model, feeds = estimators.ESTIMATORS[name](
                np.random.default_rng(zlib.crc32(name.encode())))
            session = onnxruntime.InferenceSession(model.SerializeToString(),
                                                   providers=["CPUExecutionProvider"])
            outputs = [as_array(value) for value in session.run(None, feeds)]
        except Exception as error:  # of the converters or onnxruntime, which are not tested here
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}")
            failed += 1
            continue
        path = folder / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        np.savez(path.with_suffix(".npz"), names=list(feeds),
                 outputs=[output.name for output in session.get_outputs()],
                 **{f"in{i}": value for i, value in enumerate(feeds.values())},
                 **{f"out{i}": value for i, value in enumerate(outputs)})
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
