#!/usr/bin/env python3
"""Networks of Keras and functions of TensorFlow, with random weights, as SavedModels and as
frozen graphs, against TensorFlow: floats within 1e-5 of the largest number.

    networks_test.py [--folder DIR] [--keep] [NETWORK...]

Saves the networks of networks.py into DIR, or a folder that is removed, with TensorFlow from
$NNC_CACHE/tensorflow-venv, which `scripts/setup --tensorflow` makes; where that fails, the test
is skipped. --keep takes networks from DIR that are there already.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test" / "tflite"))
import running  # noqa: E402

PYTHON = pathlib.Path(os.environ["NNC_CACHE"]) / "tensorflow-venv" / "bin" / "python"
COMPILER = os.environ.get("NNC_TEST_COMPILER", "clang++-19 -O1")
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
ERROR = 1e-5  # of the largest number


def find_python():
    """The Python that has TensorFlow. It is installed if necessary; None if that fails."""
    if not PYTHON.exists():
        subprocess.run([ROOT / "scripts" / "setup", "--tensorflow"], stdout=sys.stderr)
    return PYTHON if PYTHON.exists() else None


def match(got, wants):
    """The difference of the outputs from the expected ones, or None. A frozen graph has no names of
    the signature: each output has to be equal to one of those of its shape."""
    worst = None
    for array in got:
        apart = [np.abs(array.astype(np.float64) - want).max(initial=0)
                 / max(np.abs(want.astype(np.float64)).max(initial=0), 1e-30)
                 for want in wants if want.shape == array.shape]
        if not apart or not min(apart) <= ERROR:
            worst = f"an output of shape {array.shape} is {min(apart, default='not')} apart"
    if len(got) != len(wants):
        return f"has {len(got)} outputs instead of {len(wants)}"
    return worst


def check(path, folder):
    data = np.load(folder / f"{path.stem}.npz")
    feeds = [(key[3:], data[key]) for key in data.files if key.startswith("in_")]
    wants = [data[key] for key in data.files if key.startswith("out_")]
    with tempfile.TemporaryDirectory() as output:
        try:
            got = running.run(path, feeds, output, "--compiler", COMPILER)
        except RuntimeError as error:
            return str(error)[-1500:]
    return match(got, wants)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    python = find_python()
    if not python:
        print("skipped: there is no TensorFlow")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        if not arguments.keep:
            subprocess.run([python, "-B", ROOT / "test/tensorflow/networks.py", folder,
                            *arguments.networks], check=True)
        failed = 0
        paths = [path for path in sorted(folder.iterdir()) if path.suffix in ("", ".pb")
                 and (not arguments.networks or path.stem in arguments.networks)]
        for path in paths:
            why = check(path, folder)
            failed += bool(why)
            print(path.name, why or "agrees", flush=True)
        print(f"{len(paths)} networks, {failed} differ")
        return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
