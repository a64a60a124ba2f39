#!/usr/bin/env python3
"""Architectures of transformers and PyTorch modules as PyTorch's exporters write them, against
onnxruntime: labels and other integers equal, numbers within 1e-4 of the largest.

    exported_models_test.py [--folder DIR] [--keep] [--only REGEX] [--sample I/N]
                            [--target T] [--compile-only]

Exports by scripts/export-models into DIR, or a folder that is removed, with PyTorch from
$NNC_CACHE/exports-venv, which `scripts/setup --exports` makes; where that fails, the test is
skipped. --keep takes models from DIR that are there already, of which --only chooses some.
Files *-sizes.onnx have open sizes: one module runs at all of their points. Files *-steps.onnx are
decoders of one token, whose keys and values one step gives to the next. It fails where less
than 97 % of the files of an exporter compile and agree, or an output is wrong.
"""

import argparse
import collections
import multiprocessing
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import emitted
import made_models

EXPORT = made_models.ROOT / "scripts" / "export-models"
SHARE = 1e-4  # of the largest number, by which an output may differ
WANTED = 0.97  # of the files of an exporter


class Wrong(Exception):
    """An output that differs from that of onnxruntime."""


def check(path, options):
    """Compiles one model and runs it at all of its points."""
    points = ([path.with_name(f"{path.stem}.{i}.npz") for i in range(3)]
              if path.stem.endswith("-sizes") else [path.with_suffix(".npz")])
    words = [f"--shape={word}" for word in np.load(points[0]).get("shapes", [])]
    with tempfile.TemporaryDirectory() as folder:
        module = emitted.compile_model(path, folder, target=options.target, options=words)
        if options.compile_only:
            return
        module.build()
        if path.stem.endswith("-steps"):
            check_steps(module, points[0])
            return
        for point in points:
            feeds, wanted = made_models.load(point)
            run_and_compare(module, feeds, wanted)


def run_and_compare(module, feeds, wanted):
    sizes = module.find_sizes(feeds)
    outputs = emitted.run_apart(lambda inputs: module(inputs, **sizes), feeds)
    fault = made_models.compare_all(outputs, wanted, SHARE)
    if fault:
        raise Wrong(fault + (f" at {sizes}" if sizes else ""))
    return outputs


def check_steps(module, path):
    """Runs a decoder token by token. All results but the scores are inputs of the next step,
    after the token."""
    arrays = np.load(path)
    names = list(arrays["names"])
    feeds = {name: arrays[f"in{i}"] for i, name in enumerate(names)}
    for token, scores in zip(arrays["tokens"], arrays["scores"]):
        feeds[names[0]] = np.int64([[token]])
        outputs = run_and_compare(module, feeds, {"scores": scores})
        del outputs["scores"]
        feeds.update(zip(names[1:], outputs.values()))


def report(work):
    """The name of the file, the kind of fault and its message; None and "" if there is none."""
    path, options = work
    try:
        check(path, options)
    except Wrong as error:
        return path.stem, "wrong", str(error)
    except emitted.Failure as error:
        kind = {emitted.LACKING: "lacking", emitted.USAGE: "usage",
                emitted.BROKEN: "broken"}.get(error.code, "failed")
        return path.stem, kind, str(error)
    return path.stem, None, ""


def find_exporter(stem):
    return re.search("-(dynamo|script)(-sizes|-steps)?$", stem)[0].strip("-")


def run_all(models, options):
    right, counts, wrong = collections.Counter(), collections.Counter(), 0
    with multiprocessing.Pool(options.jobs) as pool:
        for stem, kind, said in pool.imap(report, [(m, options) for m in models]):
            exporter = find_exporter(stem)
            counts[exporter] += 1
            right[exporter] += kind is None
            wrong += kind in ("wrong", "failed")
            if kind:
                print(f"{kind.upper()} {stem}: {' '.join(said.split())[:options.width]}",
                      flush=True)
    is_enough = True
    for exporter, count in sorted(counts.items()):
        print(f"{exporter}: {right[exporter]} of {count} agree, "
              f"{100 * right[exporter] / count:.1f} %")
        is_enough &= right[exporter] >= WANTED * count
    return 0 if models and is_enough and not wrong else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--sample", default="1/1", metavar="I/N")
    parser.add_argument("--target", default="portable")
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--width", type=int, default=400, help="of what is said of a fault")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or pathlib.Path(temporary)
        if options.keep:
            models = [m for m in sorted(folder.glob("*.onnx")) if re.search(options.only, m.stem)]
            index, count = map(int, options.sample.split("/"))
            return run_all(models[index - 1::count], options)
        if not made_models.find_python("exports"):
            print("skipped: PyTorch does not install; scripts/setup --exports says why")
            return made_models.SKIPPED
        subprocess.run([EXPORT, folder, "--only", options.only, "--sample", options.sample],
                       check=True)
        return run_all(sorted(folder.glob("*.onnx")), options)


if __name__ == "__main__":
    sys.exit(main())
