#!/usr/bin/env python3
"""Exports models of transformers and plain PyTorch modules, with random weights, to ONNX, and
runs them by onnxruntime. scripts/export-models starts it where PyTorch is installed.

    export.py FOLDER [--only REGEX] [--sample I/N] [--exporter dynamo|script] [--opset N]

writes NAME-dynamo.onnx and NAME-script.onnx, by PyTorch's two exporters, and beside each an .npz
file: the names of inputs and outputs, inputs in0, in1, ..., and onnxruntime's outputs out0, ....
Every third model is also exported with open sizes, as NAME-EXPORTER-sizes.onnx. Of these there
are three .npz files, NAME-EXPORTER-sizes.I.npz, for three points of the sizes, each with the
bounds as `nnc --shape` takes them. NAME-EXPORTER-steps.onnx is a decoder of one token with a cache
of keys and values; its .npz file has the scores of some steps. What an exporter or onnxruntime
refuses is printed.
"""

import argparse
import contextlib
import io
import logging
import pathlib
import re
import signal
import sys
import warnings
import zlib

import numpy as np
import onnxruntime
import torch
import transformers

import steps
from architectures import ARCHITECTURES
from inputs import BOUNDS
from modules import MODULES

SECONDS = 300  # for one export
MODELS = {**{f"plain_{name}": module for name, module in MODULES.items()}, **ARCHITECTURES}
EXPORTERS = ("dynamo", "script")


def choose(options):
    names = [n for n in sorted(MODELS) if re.search(options.only, n)]
    index, count = map(int, options.sample.split("/"))
    return names[index - 1::count]


def is_third(name):
    """Returns True for models that are also exported with open sizes."""
    return sorted(MODELS).index(name) % 3 == 0


def draw_points(entry):
    """The sizes of three runs: the smallest, the largest and the middle ones."""
    names = entry.inputs.sizes()
    middle = {}
    for name in names:
        low, high, step = BOUNDS[name]
        middle[name] = low + (high - low) // step // 2 * step
    return [{n: BOUNDS[n][0] for n in names}, {n: BOUNDS[n][1] for n in names}, middle]


def describe_bounds(entry):
    """The bounds of the inputs in the form of nnc's --shape."""
    def word(dim):
        if not isinstance(dim, str):
            return str(dim)
        low, high, step = BOUNDS[dim]
        return f"{low}..{high}" + (f":{step}" if step > 1 else "")
    return [f"{name}={'x'.join(map(word, spec.dims))}"
            for name, spec in entry.inputs.specs.items()]


def export(model, entry, feeds, path, exporter, opset, is_open):
    """Writes the model. With `is_open`, its sizes stay open."""
    arguments = tuple(torch.from_numpy(value) for value in feeds.values())
    results = [f"out{i}" for i in range(len(model(*arguments)))]
    open_dims = [{axis: dim for axis, dim in enumerate(spec.dims) if isinstance(dim, str)}
                 for spec in entry.inputs.specs.values()]
    how = dict(input_names=entry.inputs.names, output_names=results, opset_version=opset)
    if exporter == "script":
        if is_open:
            how["dynamic_axes"] = dict(zip(entry.inputs.names, open_dims))
        torch.onnx.export(model, arguments, path, dynamo=False, **how)
        return
    if is_open:
        # A variable number of arguments is one argument of torch.export.
        how["dynamic_shapes"] = (tuple(open_dims),)
    torch.onnx.export(model, arguments, path, dynamo=True, verbose=False, **how)


def start_session(path):
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    return onnxruntime.InferenceSession(path, quiet, providers=["CPUExecutionProvider"])


def write_results(session, feeds, path, **more):
    outputs = session.run(None, feeds)
    np.savez(path, names=list(feeds), outputs=[o.name for o in session.get_outputs()],
             **{f"in{i}": value for i, value in enumerate(feeds.values())},
             **{f"out{i}": value for i, value in enumerate(outputs)}, **more)
    return outputs


def make(name, exporter, folder, opset, is_open):
    """Exports one model, and returns remarks to print."""
    entry, seed = MODELS[name], zlib.crc32(name.encode())
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    model = entry.build().eval()
    stem = f"{name}-{exporter}" + ("-sizes" if is_open else "")
    path = folder / f"{stem}.onnx"
    feeds = entry.inputs.make(random)
    export(model, entry, feeds, path, exporter, opset, is_open)
    session = start_session(path)
    told = {i.name for i in session.get_inputs()}
    used = lambda feeds: {n: v for n, v in feeds.items() if n in told}
    if not is_open:
        outputs = write_results(session, used(feeds), folder / f"{stem}.npz")
    else:
        bounds = [b for b in describe_bounds(entry) if b.split("=")[0] in told]
        for i, sizes in enumerate(draw_points(entry)):
            feeds = entry.inputs.make(random, **sizes)
            outputs = write_results(session, used(feeds), folder / f"{stem}.{i}.npz",
                                    shapes=bounds)
    wanted = [t.numpy() for t in model(*map(torch.from_numpy, feeds.values()))]
    apart = max((np.abs(np.float64(a) - b).max(initial=0) / (np.abs(b).max(initial=0) or 1)
                 for a, b in zip(outputs, wanted) if a.shape == b.shape), default=0)
    return f"onnxruntime is {apart:.2g} from PyTorch" if not apart < 1e-3 else None


def make_steps(name, exporter, folder, opset):
    """Exports a decoder's step, and runs it by onnxruntime."""
    seed = zlib.crc32(name.encode())
    torch.manual_seed(seed)
    step, inputs = steps.make_step(name)
    path = folder / f"{name}-{exporter}-steps.onnx"
    steps.export_step(step, inputs, path, exporter, opset)
    tokens = np.random.default_rng(seed).integers(3, 99, steps.STEPS)
    steps.run_steps(start_session(path), inputs, tokens, path.with_suffix(".npz"))


def give_up(*_):
    raise TimeoutError(f"took more than {SECONDS} s")


def list_forms(name):
    """The forms in which a model is exported, as the ends of their file names."""
    return ["", *["-sizes"] * is_third(name), *["-steps"] * (name in steps.NAMES)]


def attempt(name, exporter, form, options):
    """Exports one file and prints remarks. Returns True if the file exists."""
    stem, told, done = f"{name}-{exporter}{form}", None, True
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if form == "-steps":
                make_steps(name, exporter, options.folder, options.opset)
            else:
                told = make(name, exporter, options.folder, options.opset, form == "-sizes")
    except Exception as error:  # of the exporters, which are not tested here
        told, done = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", False
        (options.folder / f"{stem}.onnx").unlink(missing_ok=True)
    finally:
        signal.alarm(0)
    if told:
        print(f"{stem}: {told}", flush=True)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--sample", default="1/1", metavar="I/N")
    parser.add_argument("--exporter", choices=EXPORTERS)
    parser.add_argument("--opset", type=int)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.backends.mha.set_fastpath_enabled(False)  # its operators have no form in ONNX
    torch.set_grad_enabled(False)
    signal.signal(signal.SIGALRM, give_up)
    failed = 0
    for name in choose(options):
        for exporter in [options.exporter] if options.exporter else EXPORTERS:
            for form in list_forms(name):
                failed += not attempt(name, exporter, form, options)
    print(f"{failed} exports failed")


if __name__ == "__main__":
    sys.exit(main())
