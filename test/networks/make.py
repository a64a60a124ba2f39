#!/usr/bin/env python3
"""Makes test networks as ONNX files with seeded weights.

    make.py resnet50 bert_base -o DIR     DIR/resnet50.onnx, DIR/bert_base.onnx
    make.py --list                        the names

Files are kept in the cache ($NNC_CACHE, else ~/.cache/nnc), keyed by the sources
in this folder: DIR gets a link to them, or a copy.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

import zoo
from graph import Graph

HERE = pathlib.Path(__file__).parent
CALIBRATION_SEED = 0
KEEP_SECONDS = 2 * 24 * 3600


def cache_folder():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    return pathlib.Path(os.environ.get("NNC_CACHE", default / "nnc"))


def session(model):
    """An onnxruntime session of a ModelProto or a file."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    source = model.SerializeToString() if isinstance(model, onnx.ModelProto) else str(model)
    return onnxruntime.InferenceSession(source, options, ["CPUExecutionProvider"])


def measure(network):
    """The statistics of every linear layer's output over the calibration inputs."""
    graph = Graph(network.name, network.opset)
    network.build(graph)
    run = session(graph.model())
    inputs = zoo.feeds(network, [i.name for i in run.get_inputs()], CALIBRATION_SEED,
                       network.calibration)
    # Rounded, lest the file depend on the order in which a machine adds.
    return {name: _rounded(value)
            for name, value in zip(graph.measured, run.run(graph.measured, inputs))}


def _rounded(values):
    """Three significant digits."""
    magnitude = np.floor(np.log10(np.maximum(np.abs(values), 1e-6)))
    step = 10.0 ** (magnitude - 2)
    return (np.round(values / step) * step).astype(np.float32)


def build(name):
    network = zoo.NETWORKS[name]
    graph = Graph(name, network.opset, measure(network))
    network.build(graph)
    return graph.model()


def source_key():
    """Changes when a file changes that says what the networks are."""
    digest = hashlib.sha256()
    for source in sorted(HERE.glob("*.py")):
        if not source.name.endswith("_test.py"):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def forget_old(folder):
    """Removes what other versions of the sources made days ago: it is gigabytes."""
    for other in folder.parent.iterdir():
        if other != folder and time.time() - other.stat().st_mtime > KEEP_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


def made(name):
    """The path of the network's file in the cache, made if it is not there."""
    folder = cache_folder() / "networks" / source_key()
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        forget_old(folder)
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            partial = pathlib.Path(unfinished) / path.name
            onnx.save(build(name), partial)
            os.replace(partial, path)
    return path


def place(path, folder):
    """A hard link to path in folder, or a copy where links cannot reach."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.name
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="folder for the files")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    arguments = parser.parse_args()
    if arguments.list:
        print(*zoo.NETWORKS, sep="\n")
        return 0
    unknown = sorted(set(arguments.names) - set(zoo.NETWORKS))
    if unknown or not arguments.names:
        parser.error(f"no network called {', '.join(unknown)}; --list shows them" if unknown
                     else "name a network; --list shows them")
    for name in arguments.names:
        path = made(name)
        print(place(path, arguments.output) if arguments.output else path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
