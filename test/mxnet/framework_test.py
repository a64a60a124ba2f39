#!/usr/bin/env python3
"""Networks that MXNet 1.9 itself saved, with random parameters, against MXNet: floats within 1e-5
of the largest number, quantized ones within some steps.

    framework_test.py [--folder DIR] [--keep] [NETWORK...]

Saves the networks of framework/ into DIR, or a folder that is removed, with MXNet, GluonCV and
GluonNLP from $NNC_CACHE/mxnet-venv, which `scripts/setup --mxnet` makes; where that fails, the
test is skipped. --keep takes networks from DIR that are there already.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import running

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = pathlib.Path(os.environ["NNC_CACHE"]) / "mxnet-venv" / "bin" / "python"
COMPILER = os.environ.get("NNC_TEST_COMPILER", "clang++-19 -O1")
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def find_python():
    """The Python that has MXNet. It is installed if necessary; None if that fails."""
    if not PYTHON.exists():
        subprocess.run([ROOT / "scripts" / "setup", "--mxnet"], stdout=sys.stderr)
    return PYTHON if PYTHON.exists() else None


def check(path, data):
    """What is wrong with nnc's outputs for a symbol, or None."""
    options = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for key in data.files:
            if key.startswith("in_"):
                np.save(folder / f"{key}.npy", data[key])
                shape = "x".join(map(str, data[key].shape))
                options += ["--shape", f"{key[3:]}={shape}",
                            "--input", f"{key[3:]}={folder / key}.npy"]
        code, said = running.nnc("run", path, *options, "--output-dir", folder, "--json",
                                 "--compiler", COMPILER, timeout=1800)
        if code:
            return f"exit code {code}: {said[-1500:]}"
        got = [np.load(port["file"]) for port in json.loads(said)["outputs"]]
    wants = [data[key] for key in data.files if key.startswith("out_")]
    if len(got) != len(wants):
        return f"has {len(got)} outputs instead of {len(wants)}"
    problems = [f"output {i} {why}" for i, (a, b) in enumerate(zip(got, wants))
                if (why := running.difference(a, b, float(data["error"])))]
    return "; ".join(problems) or None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    python = find_python()
    if not python:
        print("skipped: there is no MXNet; scripts/setup --mxnet says why")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        if not arguments.keep:
            subprocess.run([python, "-B", ROOT / "test/mxnet/framework/networks.py", folder,
                            *arguments.networks], check=True, stdout=sys.stderr)
        failed, checked = 0, 0
        for path in sorted(folder.glob("*-symbol.json")):
            name = path.name.removesuffix("-symbol.json")
            if arguments.networks and name not in arguments.networks:
                continue
            why = check(path, np.load(folder / f"{name}.npz"))
            checked += 1
            failed += bool(why)
            print(name, why or "agrees", flush=True)
        print(f"{checked} networks, {failed} differ")
        return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
