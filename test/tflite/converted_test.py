#!/usr/bin/env python3
"""Networks that TensorFlow converts to TFLite, with random weights, against LiteRT's
reference kernels: integers of 8 bits bit for bit, floats within 1e-5 of the largest number.

    converted_test.py [--folder DIR] [--keep] [NETWORK...]

Converts the networks of converted/networks.py into DIR, or a folder that is removed, with
TensorFlow from $NNC_CACHE/tensorflow-venv, which `scripts/setup --tensorflow` makes; where
that fails, the test is skipped. --keep takes networks from DIR that are there already.
"""

import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import running

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONVERT = ROOT / "test" / "tflite" / "converted" / "convert.py"
PYTHON = pathlib.Path(os.environ["NNC_CACHE"]) / "tensorflow-venv" / "bin" / "python"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE

# Networks that run on a microcontroller as well, in an emulator.
SMALL = {"plain_cnn.int8", "mobilenet_v1.int8", "mobilenet_v3.int8", "u_net.int8",
         "keywords.int8", "unrolled_lstm.int8", "lstm.float", "simple_rnn.float"}
HAS_BOARD = shutil.which("arm-none-eabi-g++") and shutil.which("qemu-system-arm")
# LiteRT multiplies sums of dense layers of int16 by f64 numbers, TFLite Micro by multipliers
# of 16 bits: such networks end a few units apart.
UNITS = 1.5e-3  # of the largest number


def find_python():
    """The Python that has TensorFlow. It is installed if necessary; None if that fails."""
    if not PYTHON.exists():
        subprocess.run([ROOT / "scripts" / "setup", "--tensorflow"], stdout=sys.stderr)
    return PYTHON if PYTHON.exists() else None


def convert(python, folder, names):
    done = subprocess.run([python, "-B", CONVERT, folder, *names], capture_output=True, text=True,
                          errors="replace")
    if done.returncode:
        sys.exit(f"converting failed with exit code {done.returncode}:\n{done.stdout[-1000:]}\n"
                 f"{done.stderr[-3000:]}")


def compare(got, want, form):
    """How an output differs from the expected one, or None."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"is {got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    if not np.isfinite(want.astype(np.float64)).all():
        return "the kernels give no finite numbers"
    apart = np.abs(got.astype(np.float64) - want.astype(np.float64))
    share = UNITS if form == "int16" else 1e-5
    bound = share * np.abs(want).max(initial=0) if want.dtype.kind == "f" else 0
    if apart.max(initial=0) <= bound:
        return None
    return (f"{np.count_nonzero(apart > bound)} of {want.size} differ, by {apart.max():.3g}; "
            f"the largest is {np.abs(want).max():.3g}")


def check(path, options):
    """The faults of one converted model."""
    arrays = np.load(path.with_suffix(".npz"))
    given = [(name, arrays[f"in{i}"]) for i, name in enumerate(arrays["names"])]
    form = path.stem.rsplit(".", 1)[-1]
    with tempfile.TemporaryDirectory() as folder:
        try:
            gots = running.run(path, given, folder, "--tflite-rounding=litert", *options)
        except RuntimeError as error:
            return [str(error)[:1500]]
    faults = [compare(got, arrays[f"out{i}"], form) for i, got in enumerate(gots)]
    return [f"output {i}: {fault}" for i, fault in enumerate(faults) if fault]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NETWORK")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        if not arguments.keep:
            python = find_python()
            if not python:
                print("skipped: TensorFlow does not install; scripts/setup --tensorflow says why")
                return SKIPPED
            convert(python, folder, arguments.names)
        models = [m for m in sorted(folder.glob("*.tflite")) if not arguments.names or
                  m.name.split(".")[0] in arguments.names]
        return run_all(models)


def run_all(models):
    forms, failed = collections.Counter(), 0
    for path in models:
        targets = [("--target=native",)]
        if path.stem in SMALL and HAS_BOARD:
            targets.append(("--target=cortex-m4", "--compiler=arm-none-eabi-g++ -O1"))
        for options in targets:
            faults = check(path, options)
            forms[path.stem.rsplit(".", 1)[-1], options[0]] += not faults
            failed += bool(faults)
            for fault in faults:
                print(f"FAILED {path.stem} {options[0]}: {fault}", flush=True)
    print(f"{len({m.name.split('.')[0] for m in models})} networks in {len(models)} forms, "
          f"{failed} runs failed; equal:",
          ", ".join(f"{count} of {form} {target}" for (form, target), count in
                    sorted(forms.items())))
    return 1 if failed or not models else 0


if __name__ == "__main__":
    sys.exit(main())
