#!/usr/bin/env python3
"""Compares the estimates of routines on the tile registers of AMX with measured cycles, and fits
their constants.

    build/bin/nnc_bench_tiles > samples.csv           on a chip with AMX
    scripts/benchmark/fit_tiles.py samples.csv        how well estimates agree
    scripts/benchmark/fit_tiles.py samples.csv --fit  fit the constants
    scripts/benchmark/fit_tiles.py samples.csv --fit tile_copy_cycles tile_ends_cycles

The constants are those of runtime/routines/costs/matrix_tiles.inc. The fit changes one or two at a
time, and takes the values with the least mean of |log(estimate / cycles)| of the best runs. It
estimates with tile_estimates.cpp, which clang++-19 compiles (NNC_CLANGXX names another one). Build
nnc again afterwards, correct what the comment of the table says about its source, and keep the
samples as scripts/benchmark/samples/tiles/CHIP.csv.
"""

import argparse
import csv
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import fit_blocks

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "runtime/routines/costs/matrix_tiles.inc"
CONSTANT = re.compile(r"^NNC_MATRIX_TILE_COST\((\w+), ([\d.]+),", re.M)
# The bytes of a cache are compared with sizes, so that an estimate changes in steps.
FIXED = {"tile_level1_bytes"}


@dataclasses.dataclass
class Sample:
    """A routine timed for a layer. `shape` has fields as name=value between spaces."""
    routine: str
    kb: int
    shape: str
    multiply_adds: int
    measured_ns: float  # in fact cycles, as fit_blocks.py calls what is fitted

    @property
    def kind(self):
        return self.routine


def read_samples(path):
    with open(path, newline="") as file:
        return [Sample(row["routine"], int(row["kb"]), row["shape"], int(row["multiply_adds"]),
                       float(row["best_cycles"])) for row in csv.DictReader(file)]


def read_constants():
    return {name: float(value) for name, value in CONSTANT.findall(TABLE.read_text())}


def with_constants(text, values):
    """The text of the table with other values of the constants that `values` names."""
    return CONSTANT.sub(lambda m: f"NNC_MATRIX_TILE_COST({m[1]}, {values[m[1]]:.4g},"
                        if m[1] in values else m[0], text)


class Estimator(fit_blocks.EstimatorProcess):
    """A process of tile_estimates.cpp that knows samples."""

    def __init__(self, samples, folder):
        compiler = os.environ.get("NNC_CLANGXX") or shutil.which("clang++-19")
        if not compiler:
            sys.exit("fit_tiles.py needs clang++-19; NNC_CLANGXX names another clang++")
        folder = pathlib.Path(folder)
        own = folder / TABLE.relative_to(ROOT)
        own.parent.mkdir(parents=True)
        constants = read_constants()
        own.write_text("".join(f"inline double {name} = {value};\n"
                               for name, value in constants.items()))
        (folder / "tile_constants.inc").write_text(
            "".join(f"NNC_CONSTANT({name})\n" for name in constants))
        program = folder / "tile_estimates"
        subprocess.run([compiler, "-std=c++17", "-O1", "-Wno-invalid-constexpr", f"-I{folder}",
                        f"-I{ROOT}", ROOT / "scripts/benchmark/tile_estimates.cpp", "-o", program],
                       check=True)
        super().__init__([program])
        for s in samples:
            self.say(f"sample {s.routine} {s.kb} {s.multiply_adds} {s.shape}")

    def estimate(self, values):
        """The estimates in cycles with these constants."""
        return self.ask(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", metavar="SAMPLES.csv", help="what nnc_bench_tiles printed")
    parser.add_argument("--fit", nargs="*", metavar="CONSTANT",
                        help="fit these constants, or the usual ones, and write them")
    args = parser.parse_args()
    samples = read_samples(args.samples)
    if not samples:
        sys.exit(f"{args.samples} has no samples")
    values = read_constants()
    with tempfile.TemporaryDirectory() as folder, Estimator(samples, folder) as estimator:
        if args.fit is not None:
            names = args.fit or [name for name in values if name not in FIXED]
            found, error = fit_blocks.fit(estimator, samples, values, names)
            values.update(found)
            TABLE.write_text(with_constants(TABLE.read_text(), found))
            print(f"mean of |log(estimate / cycles)|: {error:.3f}\n")
        print("\n".join(fit_blocks.report(samples, estimator.estimate(values))))


if __name__ == "__main__":
    main()
