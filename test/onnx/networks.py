#!/usr/bin/env python3
"""Compiles whole networks with nnc, builds and runs what it emits, and compares it
with onnxruntime: the made networks (test/networks), PP-OCRv4's three, and the float
ONNX models beside the checkout (../shared/models), where they are.

    networks.py --list
    networks.py resnet18 ppocr-recognizer [--target=x86-64-v2 --target=aarch64]
                [--precision=f16]
"""

import argparse
import dataclasses
import itertools
import pathlib
import sys
import tempfile
import time
from typing import Callable

import numpy as np
import onnx
from onnx import TensorProto

import emitted

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "networks"))
import make  # noqa: E402
import reference  # noqa: E402
import text  # noqa: E402
import zoo  # noqa: E402

TOLERANCES = {"f32": 1e-4, "f16": 1e-2}  # of the largest element of an output
ARENA_OVER_BOUND = 1.05
SEED, COUNT = 7, 3


@dataclasses.dataclass(frozen=True)
class Subject:
    """A network, and its inputs."""

    name: str
    path: Callable  # () -> path
    samples: Callable  # () -> dicts of arrays by input name
    labels: str = ""  # the output whose largest element is the answer
    label_axis: int = -1
    read: Callable = lambda output: None  # what an output says, which must be the same


def made_samples(network):
    def samples():
        session = make.session(make.made(network.name))
        feeds = zoo.feeds(network, [i.name for i in session.get_inputs()], SEED, COUNT)
        for i in range(COUNT):
            yield {name: array[i:i + 1] for name, array in feeds.items()}
    return samples


def made_subjects():
    for network in zoo.NETWORKS.values():
        yield Subject(network.name, lambda name=network.name: make.made(name),
                      made_samples(network), network.labels)


def ocr(file):
    return next(iter(sorted(make.cache_folder().glob(f"ocr-*/{file}"))))


def ocr_subjects():
    recognizer = "ch_PP-OCRv4_rec_infer.onnx"
    yield Subject("ppocr-recognizer", lambda: ocr(recognizer),
                  lambda: ({"x": text.line(i, 48, width)}
                           for i, width in enumerate((160, 320, 640, 1000))),
                  read=lambda output: text.reader(ocr(recognizer))(output))
    yield Subject("ppocr-detector", lambda: ocr("ch_PP-OCRv4_det_infer.onnx"),
                  lambda: ({"x": text.page(i, *size)}
                           for i, size in enumerate(((480, 640), (320, 224)))))
    yield Subject("ppocr-classifier", lambda: ocr("ch_ppocr_mobile_v2.0_cls_infer.onnx"),
                  lambda: ({"x": text.line(i, 48, 192)} for i in range(3)))


def shared_samples(path):
    """Seeded noise as inputs, for models of unknown meaning."""
    def samples():
        random = np.random.default_rng(SEED)
        for _ in range(COUNT):
            yield {i.name: random.standard_normal([d if isinstance(d, int) else 1
                                                   for d in i.shape]).astype(np.float32)
                   for i in reference.session(path).get_inputs()}
    return samples


def is_float(model):
    """Returns True if a model computes only in floating point."""
    integer = ("QuantizeLinear", "Integer")
    return (not any(n.op_type.startswith("QLinear") or n.op_type.endswith(integer)
                    for n in model.graph.node)
            and all(t.data_type != TensorProto.INT8 for t in model.graph.initializer))


def shared_subjects():
    """The float ONNX models beside the checkout."""
    folder = ROOT.parent / "shared" / "models"
    for path in sorted(folder.rglob("*.onnx")):
        if is_float(onnx.load(path)):
            name = "-".join(path.relative_to(folder).with_suffix("").parts)
            yield Subject(name, lambda path=path: path, shared_samples(path))


def subjects():
    return {s.name: s for s in [*made_subjects(), *ocr_subjects(), *shared_subjects()]}


# -- the comparison ------------------------------------------------------------------


def compare(subject, output, got, want, tolerance):
    """The error relative to the largest element; raises Failure beyond the tolerance."""
    if got.shape != want.shape:
        raise emitted.Failure(f"{output} has shape {got.shape}, expected {want.shape}")
    if want.dtype.kind != "f":
        if not np.array_equal(got, want):
            raise emitted.Failure(f"{output} differs in {int((got != want).sum())} places")
        return 0.0
    error = float(np.abs(got - want).max() / np.abs(want).max())
    if not error <= tolerance:  # NaN too
        raise emitted.Failure(f"{output} is off by {error:.2e} of its largest element")
    if subject.read(got) != subject.read(want):
        raise emitted.Failure(f"{output} reads {subject.read(got)}, not {subject.read(want)}")
    if (got.argmax(subject.label_axis) != want.argmax(subject.label_axis)).any():
        if output == (subject.labels or output) and not tied(want, subject.label_axis,
                                                             tolerance / 10):
            raise emitted.Failure(f"the labels of {output} differ")
    return error


def tied(values, axis, distance):
    """Returns True if the two largest elements of some row are closer than rounding errors."""
    largest = np.sort(values, axis)
    gap = np.take(largest, -1, axis) - np.take(largest, -2, axis)
    return (gap < distance * np.abs(values).max()).any()


def check(subject, target, precision):
    """One line about a network that passes; raises Failure for one that does not."""
    path = subject.path()
    session = reference.session(path)
    options = [f"--precision={precision}"]
    worst, built_for, modules, seconds = 0.0, None, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        # An emulator is slow, and its program is built anew for each sample.
        count = None if emitted.is_native(target) else 1
        for i, inputs in enumerate(itertools.islice(subject.samples(), count)):
            shapes = {name: array.shape for name, array in inputs.items()}
            if emitted.is_native(target):
                if shapes != built_for:
                    start = time.monotonic()
                    module = emitted.compile_model(path, f"{folder}/{i}", target=target,
                                                   shapes=shapes, options=options)
                    seconds = max(seconds, time.monotonic() - start)
                    check_arena(module.manifest)
                    module.build("-O2")
                    built_for, modules = shapes, modules + 1
                outputs = module(inputs)
            else:
                outputs = emitted.run_in_emulator(path, f"{folder}/{i}", inputs,
                                                  target=target, shapes=shapes,
                                                  options=options)
            names = [o.name for o in session.get_outputs()]
            for name, want in zip(names, session.run(names, inputs)):
                worst = max(worst, compare(subject, name, outputs[name], want,
                                           TOLERANCES[precision]))
    return f"error {worst:.1e}, {modules or i + 1} shapes, compiled in {seconds:.1f} s"


def check_arena(manifest):
    arena, bound = manifest["arena_bytes"], manifest["lower_bound_bytes"]
    if bound and arena > ARENA_OVER_BOUND * bound:
        raise emitted.Failure(f"the arena of {arena} bytes is {arena / bound:.3f} times its "
                              f"lower bound")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all, unless named")
    parser.add_argument("--target", action="append", dest="targets")
    parser.add_argument("--precision", choices=TOLERANCES, default="f32")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    arguments = parser.parse_args()
    known = subjects()
    if arguments.list:
        print(*known, sep="\n")
        return 0
    if unknown := sorted(set(arguments.names) - set(known)):
        parser.error(f"no network called {', '.join(unknown)}; --list shows them")
    passed = failed = 0
    for target in arguments.targets or ["native"]:
        for name in arguments.names or known:
            try:
                print(f"{name}, {target}: {check(known[name], target, arguments.precision)}", flush=True)
                passed += 1
            except emitted.Failure as failure:
                print(f"{name}, {target}: FAILED: {failure}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
