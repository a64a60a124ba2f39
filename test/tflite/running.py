"""Runs a .tflite model by nnc, and by LiteRT where it is installed."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

import flat

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import (BROKEN, DIFFERS, DONE, ENVIRONMENT, LACKING, LIMIT,  # noqa: E402
                        OWN_FAULT, USAGE)

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
# Tests need no speed: optimizing takes most of the time.
COMPILER = os.environ.get("NNC_TEST_COMPILER", "c++ -O0")

# Operators that mean nothing on their own.
VARIABLES = {"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"}
# A folder with the Python package ai_edge_litert, which the set-up does not install.
if os.environ.get("NNC_LITERT"):
    sys.path.append(os.environ["NNC_LITERT"])
HAS_LITERT = importlib.util.find_spec("ai_edge_litert") is not None


def nnc(*arguments, timeout=600):
    """(exit code, output) of a call of nnc."""
    done = subprocess.run([NNC, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr


def quick_compiler(target):
    """The target's own compiler with little optimization."""
    _, said = nnc("targets", "--json")
    (compiler,) = [row["compiler"] for row in json.loads(said) if row["name"] == target]
    return f"{compiler} -O1"


def run(path, inputs, folder, *options):
    """The outputs of the model at `path` on inputs. Both are lists of (name, array). Raises
    RuntimeError if nnc fails."""
    folder = pathlib.Path(folder)
    given = []
    for i, (name, array) in enumerate(inputs):
        np.save(folder / f"in{i}.npy", array)
        given += ["--input", f"{name}={folder / f'in{i}.npy'}"]
    if not any(str(option).startswith("--compiler") for option in options):
        options = ("--compiler", COMPILER, *options)
    done = subprocess.run([NNC, "run", path, *given, "--output-dir", folder, "--json", *options],
                          capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"nnc run: exit code {done.returncode}: {done.stderr or done.stdout}")
    ports = json.loads(done.stdout)["outputs"]
    return [np.load(port["file"]) for port in ports]


def run_net(net, folder, *options):
    """{output tensor: array} of a net of flat.py."""
    (path,) = flat.save({"net": net.model()}, folder)
    feeds = [(net.tensors[t]["name"], net.feeds[t]) for t in net.inputs]
    return dict(zip(net.outputs, run(path, feeds, folder, *options)))


def invoke(interpreter, feeds, outputs):
    """{output tensor: array} of one run by LiteRT."""
    for tensor, array in feeds.items():
        interpreter.set_tensor(tensor, array)
    interpreter.invoke()
    return {t: interpreter.get_tensor(t).copy() for t in outputs}


def litert(net, folder):
    """({output tensor: array}, {output tensor: why it has no result}) by LiteRT's reference
    kernels. Operators run one at a time, because LiteRT lacks some."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    results, lacking = {}, {}
    models = {f"op{i}": model for i, model in enumerate(flat.one_by_one(net))}
    for op, path in zip(net.operators, flat.save(models, folder)):
        if net.codes[op["opcode"]] in VARIABLES:
            lacking.update((t, "needs other operators") for t in op["outputs"])
            continue
        try:
            interpreter = Interpreter(
                str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
            interpreter.allocate_tensors()
            given = set(op["inputs"]) & set(net.inputs)
            if not net.steps:
                results.update(invoke(interpreter, {t: net.feeds[t] for t in given},
                                      op["outputs"]))
                continue
            runs = [invoke(interpreter, {t: net.feeds[t][step] for t in given}, op["outputs"])
                    for step in range(net.steps)]
            results.update((t, np.stack([run[t] for run in runs])) for t in op["outputs"])
        except (RuntimeError, ValueError) as error:
            lacking.update((t, str(error)) for t in op["outputs"])
    return results, lacking
