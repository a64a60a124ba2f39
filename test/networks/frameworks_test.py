#!/usr/bin/env python3
"""One network from four frameworks gives the same plan and the same numbers: ResNet-18 and
MobileNet v2 with the same weights, from ONNX, PyTorch (.pt2), TensorFlow (SavedModel) and TFLite.

    frameworks_test.py [--folder DIR] [--keep]

frameworks/ writes them into DIR, or a folder that is removed, with the environments that
`scripts/setup --exports --tensorflow` makes; where that fails, the test is skipped. --keep takes
models from DIR that are there already.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().with_name("frameworks")
NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
CACHE = pathlib.Path(os.environ["NNC_CACHE"])
TARGETS = ["x86-64-v3", "x86-64-v4", "aarch64"]
NETWORKS = ["resnet18", "mobilenet_v2"]
# The layers whose routines have to be the same. Images in other orders of axes are turned, and
# TFLite means over two axes, where others pool.
FAMILIES = ("conv2d", "expanded", "separable", "matmul", "max_pool2d")
COST = 0.01  # by which the estimated times of two plans may differ
ERROR = 1e-5  # of the largest number
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def make(folder):
    """Writes the models; returns False if a framework does not install."""
    for option, script in (("exports", "by_torch.py"), ("tensorflow", "by_tensorflow.py")):
        python = CACHE / f"{option}-venv" / "bin" / "python"
        if not python.exists():
            subprocess.run([ROOT / "scripts" / "setup", f"--{option}"], stdout=sys.stderr)
        if not python.exists():
            return False
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([python, HERE / script, folder], check=True, stdout=subprocess.DEVNULL,
                       env=environment)
    return True


def find_plan(model, target):
    """The number of layers with each routine, its parameters and shape; and the estimate."""
    said = json.loads(subprocess.run([NNC, "explain", model, "--json", f"--target={target}"],
                                     check=True, capture_output=True).stdout)
    plan, seconds = collections.Counter(), 0
    for layer in said["layers"]:
        for each in layer["alternatives"]:
            if not each["chosen"]:
                continue
            seconds += each["seconds"]
            if each["routine"].startswith(FAMILIES):
                plan[each["routine"], *each["params"], layer["shape"]] += 1
    return plan, seconds


def run(model, image, folder):
    np.save(folder / "image.npy", image)
    out = folder / "out"
    subprocess.run([NNC, "run", model, f"--input={folder / 'image.npy'}", f"--output-dir={out}"],
                   check=True, capture_output=True)
    made = next(out.glob("*.npy"))
    numbers = np.load(made)
    made.unlink()
    return numbers


def check(folder):
    """Returns what is wrong."""
    problems = []
    for net in NETWORKS:
        models = [folder / f"{net}.onnx", folder / f"{net}.pt2", folder / net,
                  folder / f"{net}.tflite"]
        for target in TARGETS:
            plans = [find_plan(model, target) for model in models]
            for model, (plan, seconds) in zip(models, plans):
                first, cost = plans[0]
                if plan != first:
                    problems.append(f"{model.name}, {target}: has {dict(plan - first)} in place of "
                                    f"{dict(first - plan)}")
                if not abs(seconds - cost) <= COST * cost:
                    problems.append(f"{model.name}, {target}: takes {seconds} s, not {cost} s")
        data = np.load(folder / f"{net}.npz")
        for model in models:
            is_turned = not model.suffix or model.suffix == ".tflite"
            image = data["image"].transpose(0, 2, 3, 1) if is_turned else data["image"]
            error = np.abs(run(model, np.ascontiguousarray(image), folder) - data["scores"]).max()
            if not error <= ERROR * np.abs(data["scores"]).max():
                problems.append(f"{model.name}: an output is off by {error}")
            print(f"{model.name}: {error / np.abs(data['scores']).max():.2g} of the largest")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        if not options.keep and not make(folder):
            print("skipped: PyTorch and TensorFlow do not install")
            return SKIPPED
        problems = check(folder)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
