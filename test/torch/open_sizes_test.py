#!/usr/bin/env python3
"""Programs of open_sizes.py: one module for all sizes, at some of them against PyTorch.

    open_sizes_test.py [--folder DIR] [--keep] [--only REGEX]

Exports into DIR, or a folder that is removed, with PyTorch from $NNC_CACHE/exports-venv; where that
fails, the test is skipped. --keep takes programs from DIR that are there already.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "onnx"))
import emitted  # noqa: E402
import made_models  # noqa: E402

EXPORT = pathlib.Path(__file__).resolve().with_name("open_sizes.py")
SHARE = 1e-5  # of the largest number, by which an output may differ


def check(path):
    """What is wrong with a program: a list of lines."""
    options = [f"--shape={shape}" for shape in path.with_suffix(".txt").read_text().split()]
    with tempfile.TemporaryDirectory() as folder:
        try:
            module = emitted.compile_model(path, folder, options=options)
            module.build()
            return [fault for point in sorted(path.parent.glob(f"{path.stem}-*.npz"))
                    for fault in compare(module, np.load(point))]
        except emitted.Failure as failure:
            return [str(failure)]


def compare(module, arrays):
    names = [port["name"] for port in module.manifest["inputs"]]
    feeds = {name: arrays[f"in{i}"] for i, name in enumerate(names)}
    wanted = [arrays[f"out{i}"] for i in range(len(arrays.files) - len(names))]
    outputs = list(emitted.run_apart(module, feeds).values())
    where = ", ".join(f"{name} {feeds[name].shape}" for name in names)
    if len(outputs) != len(wanted):
        return [f"{where}: {len(outputs)} outputs instead of {len(wanted)}"]
    faults = [made_models.compare(got, want, SHARE) for got, want in zip(outputs, wanted)]
    return [f"{where}: output {i}: {fault}" for i, fault in enumerate(faults) if fault]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", default="", metavar="REGEX")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        if not options.keep:
            python = made_models.find_python("exports")
            if not python:
                print("skipped: PyTorch does not install; scripts/setup --exports says why")
                return made_models.SKIPPED
            subprocess.run([python, "-B", EXPORT, folder, "--only", options.only], check=True)
        programs = [p for p in sorted(folder.glob("*.pt2")) if re.search(options.only, p.stem)]
        wrong = 0
        for path in programs:
            faults = check(path)
            wrong += bool(faults)
            print(f"{path.stem}: {'agrees' if not faults else ''}", flush=True)
            for fault in faults:
                print("  " + " ".join(fault.split())[:400], flush=True)
        return 0 if programs and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
