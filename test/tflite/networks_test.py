#!/usr/bin/env python3
"""Runs the TFLite models of a folder of real networks, and compares with the outputs that
lie beside them, integers bit for bit, floats within 1e-5 of the largest number.

    networks_test.py [--sample K/N] [--target T]... [NAME...]
                                             models whose path has a NAME in it

The folder is $NNC_MODELS or ../shared/models; without it, the test is skipped. There
  - X.golden/ beside X.tflite holds an input inN.bin and outputs double.outN.bin and, where
    it differs, single.outN.bin, by the reference kernels with either rounding;
  - input/N.bin and output/N.bin (or output_tflite/N.bin) beside it are inputs and TFLite's
    outputs, rounded once.
Models of operators that nnc lacks have to be refused in words.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

import numpy as np

import flat
import running
from fixed import DOUBLE, SINGLE

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
NUMPY = {name: np.dtype(dtype) for dtype, name in flat.TYPES.items() if dtype != "int4"}
# Examples of an input and a rounding that are run of each model.
EXAMPLES = 2
# What nnc says of operators that it lacks.
LACKING = re.compile(r"not supported|nnc handles|does not handle")


class Network:
    def __init__(self, path, folder):
        self.path = path
        model = flat.load(path, folder)
        main = model["subgraphs"][0]
        signatures = [s for s in model.get("signatures", []) if s.get("subgraph", 0) == 0]
        named = {e.get("tensor", 0): e["name"] for s in signatures[:1]
                 for e in s.get("inputs", [])}
        self.inputs = [(named.get(t, main["tensors"][t].get("name")), main["tensors"][t])
                       for t in main["inputs"]]
        self.outputs = [main["tensors"][t] for t in main["outputs"]]

    def read(self, file, tensor):
        dtype = NUMPY[tensor.get("type", "FLOAT32")]
        return np.fromfile(file, dtype).reshape(tensor.get("shape", []))

    def examples(self):
        """(rounding, input files, output files) of what lies beside the model."""
        golden = self.path.with_suffix(".golden")
        for rounding in (DOUBLE, SINGLE):
            outs = [golden / f"{rounding}.out{i}.bin" for i in range(len(self.outputs))]
            if not outs[0].exists():
                outs = [golden / f"{DOUBLE}.out{i}.bin" for i in range(len(self.outputs))]
            ins = [golden / f"in{i}.bin" for i in range(len(self.inputs))]
            if outs[0].exists():
                yield rounding, ins, outs
        alone = len([*self.path.parent.glob("*.tflite")]) == 1
        if not alone or len(self.inputs) > 1 or len(self.outputs) > 1:
            return
        for name in ("output_tflite", "output"):
            found = sorted((self.path.parent / name).glob("*.bin"))
            for want in found[:EXAMPLES]:
                given = self.path.parent / "input" / want.name
                if given.exists():
                    yield SINGLE, [given], [want]
            if found:
                return

    def check(self, rounding, ins, outs, folder, target=None):
        """Why the model does not compute these outputs, or None."""
        try:
            given = [(name, self.read(file, tensor))
                     for (name, tensor), file in zip(self.inputs, ins)]
            wants = [self.read(file, tensor) for tensor, file in zip(self.outputs, outs)]
        except ValueError as error:
            print(f"{self.path}: its vectors do not fit: {error}")
            return None
        options = ["--target", target, "--compiler", running.quick_compiler(target)] if target \
            else []
        gots = running.run(self.path, given, folder, f"--tflite-rounding={rounding}", *options)
        for i, (got, want) in enumerate(zip(gots, wants)):
            apart = np.abs(got.astype(np.float64) - want.astype(np.float64))
            # LiteRT's reference kernels are 1.3e-5 off from what lies in output folders.
            share = 1e-5 if ins[0].parent.suffix == ".golden" else 3e-5
            bound = share * np.abs(want).max() if want.dtype.kind == "f" else 0
            if not (got.shape == want.shape and apart.max(initial=0) <= bound):
                return (f"output {i} rounded {rounding}, from {ins[0].parent.name}/"
                        f"{ins[0].name}: {np.count_nonzero(apart > bound)} of {want.size} "
                        f"differ, by {apart.max():.3g}")
        return None


def check(path, targets):
    """(what happened, faults) of a model."""
    code, said = running.nnc("check", path, "--target=portable")
    if code == running.LACKING and LACKING.search(said) and path.name in said:
        return "refused", []
    if code:
        return "failed", [f"nnc check: exit code {code}: {said[:500]}"]
    faults, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        network = Network(path, folder)
        for rounding, ins, outs in network.examples():
            for target in targets:
                count += 1
                try:
                    fault = network.check(rounding, ins, outs, folder, target)
                except RuntimeError as error:
                    fault = str(error)[:500]
                faults += [f"{target or 'this machine'}: {fault}"] if fault else []
    return "compared" if count else "no vectors", faults


# Operators of these networks that nnc lacks today; the rest must be compared.
REFUSED = re.compile(r"reverse_sequence2|custom/custom|zero_out|model_with_add2")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", default="1/1", metavar="K/N")
    parser.add_argument("--target", action="append", metavar="T")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    folder = pathlib.Path(os.environ.get("NNC_MODELS") or ROOT.parent / "shared" / "models")
    models = sorted(folder.rglob("*.tflite"))
    if not models:
        print(f"skipped: no models in {folder}; NNC_MODELS names another folder")
        return SKIPPED
    part, parts = map(int, arguments.sample.split("/"))
    models = [m for m in models if not arguments.names or
              any(name in str(m) for name in arguments.names)][part - 1::parts]
    ends, failed = {}, 0
    for path in models:
        name = path.relative_to(folder)
        end, faults = check(path, arguments.target or [None])
        if end == "refused" and not REFUSED.search(str(name)):
            faults = ["refused, though nnc has its operators"]
        ends[end] = ends.get(end, 0) + 1
        for fault in faults:
            print(f"FAILED {name}: {fault}", flush=True)
        failed += bool(faults)
    print(f"{len(models)} models, {failed} failed:",
          ", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
