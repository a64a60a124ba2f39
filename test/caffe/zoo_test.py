#!/usr/bin/env python3
"""Compares networks like those of Caffe's model zoo with an independent model in numpy, and with
--opencv with OpenCV's dnn module, which reads the same files.

    zoo_test.py [--opencv PYTHON] [NAME...]     the networks with these names, or all

PYTHON is an interpreter with OpenCV 4; that of $NNC_CACHE/opencv-venv with --opencv alone. Without
it, the test is skipped.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import running
import zoo
from caffemodel import Net

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
# Layers that OpenCV 4 lacks, by the networks that have them.
NOT_IN_OPENCV = {"enet"}
OPENCV = """
import json, pathlib, sys
import cv2, numpy as np
text, weights, out = sys.argv[1:4]
net = cv2.dnn.readNetFromCaffe(text, weights)
for pair in sys.argv[5:]:
    name, file = pair.split("=", 1)
    net.setInput(np.load(file), name)
for name in sys.argv[4].split(","):
    np.save(f"{out}/{name}.npy", net.forward(name))
"""


def by_opencv(net, path, folder, python):
    """{output: array} by OpenCV."""
    given = []
    for name, array in net.feeds.items():
        np.save(folder / f"cv_{name}.npy", array)
        given.append(f"{name}={folder / f'cv_{name}.npy'}")
    subprocess.run([python, "-c", OPENCV, path, path.with_suffix(".caffemodel"), folder,
                    ",".join(net.outputs), *given], check=True, timeout=300)
    return {name: np.load(folder / f"{name}.npy") for name in net.outputs}


def sort_detections(rows):
    """The rows with detections, the best first: Caffe sorts them by their class, OpenCV does not."""
    rows = rows[rows[:, 0] >= 0]
    return rows[np.lexsort((-rows[:, 2], rows[:, 0]))]


def find_difference(found, wanted):
    """The largest difference, as a part of the largest number; infinite between shapes."""
    if found.shape[-1:] == (7,):  # Detections; OpenCV leaves out the rows that are not used.
        found, wanted = (sort_detections(rows.reshape(-1, 7)) for rows in (found, wanted))
    if found.shape != wanted.shape or not wanted.size:
        return np.inf
    return float(abs(found - wanted).max() / max(abs(wanted).max(), 1e-30))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opencv", nargs="?", const="", metavar="PYTHON")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    python = arguments.opencv
    if python == "":
        python = f"{os.environ['NNC_CACHE']}/opencv-venv/bin/python"
    if python and not pathlib.Path(python).exists():
        print(f"{python} is missing: scripts/setup --opencv makes it")
        return SKIPPED
    failed = 0
    for name in arguments.names or sorted(zoo.NETS):
        if python and name in NOT_IN_OPENCV:
            continue
        net = Net(seed=3)
        zoo.NETS[name](net)
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            path = net.save(folder)
            found = running.run(path, net.feeds, folder)
            wanted = by_opencv(net, path, folder, python) if python else net.values
            worst = max(find_difference(found[o], wanted[o]) for o in net.outputs)
        is_wrong = sorted(found) != net.outputs or not worst < running.TOLERANCE
        failed += is_wrong
        print(f"{'FAILED' if is_wrong else 'ok':6} {name}: {worst:.2e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
