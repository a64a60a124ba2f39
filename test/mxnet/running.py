"""Runs MXNet models by nnc."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import BROKEN, DONE, LACKING, LIMIT, USAGE  # noqa: E402,F401

NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
# Tests need no speed: optimizing takes most of the time.
COMPILER = os.environ.get("NNC_TEST_COMPILER", "c++ -O0")


def nnc(*arguments, timeout=600):
    """(exit code, output) of a call of nnc."""
    done = subprocess.run([NNC, *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr + done.stdout


def shapes(net):
    """The options that give the shapes of a net's inputs."""
    return [option for name, array in net.feeds.items()
            for option in ("--shape", f"{name}={'x'.join(map(str, array.shape))}")]


def run(net, folder, *options, **saving):
    """The outputs of a net of symbols.py on its inputs."""
    path = net.save(folder, **saving)
    given = []
    for i, (name, array) in enumerate(net.feeds.items()):
        np.save(folder / f"in{i}.npy", array)
        given += ["--input", f"{name}={folder / f'in{i}.npy'}"]
    code, said = nnc("run", path, *shapes(net), *given, "--output-dir", folder, "--json",
                     "--compiler", COMPILER, *options)
    if code:
        raise RuntimeError(f"nnc run: exit code {code}: {said}")
    return [np.load(port["file"]) for port in json.loads(said)["outputs"]]


def difference(got, want, error):
    """The difference of an array from the expected one, by more than `error` of its largest finite
    element; None if it does not."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"has shape {got.shape}, not {want.shape}"
    got, want = got.astype(np.float64), want.astype(np.float64)
    is_same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        apart = np.where(is_same, 0, np.abs(got - want))
    largest = np.abs(want[np.isfinite(want)]).max(initial=0)
    if apart.size == 0 or apart.max() <= error * largest:
        return None
    at = int(apart.argmax())
    return f"has {got.ravel()[at]} for {want.ravel()[at]} at {at}; the largest is {largest}"


def check(test, net, folder, *options, **saving):
    """Compares the outputs of a net with what they should be."""
    outputs = run(net, folder, *options, **saving)
    test.assertEqual(len(outputs), len(net.heads))
    for head, got, (want, error) in zip(net.heads, outputs, net.expected):
        node = net.nodes[head.node]
        if want is not None:
            with test.subTest(f"{node['op']} {node['attrs']} result {head.index}"):
                test.assertIsNone(difference(got, want, error))
    return outputs
