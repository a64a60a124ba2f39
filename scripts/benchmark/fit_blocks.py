#!/usr/bin/env python3
"""Compares the estimates of launches on a GPU with measured times, and fits their constants.

    scripts/benchmark/fit_blocks.py                          how well estimates agree, by kind
    scripts/benchmark/fit_blocks.py --collect RESULTS.json   add times of on_device.py
    scripts/benchmark/fit_blocks.py --fit cuda-sm90          fit the usual constants
    scripts/benchmark/fit_blocks.py --fit cuda-sm90 tile_share launch_ns

The samples are scripts/benchmark/samples/gpu/*.csv, one file for each target: a line is a routine
on blocks of a GPU's threads that was timed for a layer. The constants are those of
runtime/routines/costs/blocks.inc and, of a line of dialects/target/targets.inc, launch_ns (LAUNCH)
and level2_rate (the bandwidth of level 2). The fit changes one or two constants at a time, and
takes the values with the least mean of |log(estimate / time)|. It estimates with
block_estimates.cpp, which clang++-19 compiles (NNC_CLANGXX names another one), so that it needs no
build of nnc. Build nnc again afterwards, and correct what the comments of both tables say about
their source.
"""

import argparse
import csv
import dataclasses
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "test/runtime/cuda"))
import timed_routines  # noqa: E402

SAMPLES = ROOT / "scripts/benchmark/samples/gpu"
BLOCKS = ROOT / "runtime/routines/costs/blocks.inc"
TARGETS = ROOT / "dialects/target/targets.inc"
# The constants that a fit varies unless it is told: those that no data sheet states.
USUAL = ["tile_share", "step_cycles", "run_cycles", "tile_ends_cycles", "copy_cycles",
         "level2_cycles", "most_level2_bytes_per_cycle", "attention_share", "launch_ns",
         "level2_rate"]
BLOCK_COST = re.compile(r"^NNC_BLOCK_COST\((\w+), ([\d.]+),", re.M)


@dataclasses.dataclass
class Sample:
    """A routine timed for a layer. `params` are numbers between spaces, `shape` the fields of its
    shape as name=value between spaces. The value of a list is its numbers between colons."""
    card: str
    driver: str
    date: str
    kind: str
    routine: str
    params: str
    shape: str
    multiply_adds: int
    weight_bytes: int
    activation_bytes: int
    measured_ns: float

    @property
    def key(self):
        return self.card, self.kind, self.routine, self.params, self.shape


COLUMNS = [field.name for field in dataclasses.fields(Sample)]
INTEGERS = ["multiply_adds", "weight_bytes", "activation_bytes"]


def read_samples(path):
    with open(path, newline="") as file:
        return [Sample(**{**row, **{name: int(row[name]) for name in INTEGERS},
                          "measured_ns": float(row["measured_ns"])})
                for row in csv.DictReader(file)]


def write_samples(path, samples):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for sample in sorted(samples, key=lambda s: s.key):
            writer.writerow(dataclasses.astuple(sample))


def text_of(value):
    """The value of a field of a shape as the samples have it. Lists of lists are joined, and zeros
    at the end of a list are left out."""
    if not isinstance(value, list):
        return f"{value:.9g}"
    return re.sub("(:0)+$", "", ":".join(":".join(str(n) for n in one) if isinstance(one, list)
                                         else str(one) for one in value))


def samples_of(results):
    """The samples in the results of on_device.py. Emulated times are refused."""
    if results["stub"]:
        sys.exit("these times were taken without a GPU: they tell nothing of one")
    return [Sample(results["card"], results["driver"], results["date"], row["kind"],
                   row["routine"], row["params"],
                   " ".join(f"{name}={text_of(value)}" for name, value in row["shape"].items()),
                   int(row["multiply_adds"]), int(row["weight_bytes"]),
                   int(row["activation_bytes"]), row["median_ns"])
            for row in results["times"]]


def collect(path, target):
    """Adds samples to the target's file; new ones replace those of the same call."""
    results = json.loads(pathlib.Path(path).read_text())
    file = SAMPLES / f"{target}.csv"
    old = read_samples(file) if file.exists() else []
    merged = {sample.key: sample for sample in [*old, *samples_of(results)]}
    write_samples(file, merged.values())
    print(f"{file}: {len(merged)} samples")


class EstimatorProcess:
    """A process that is told samples, and estimates them with constants that it is told."""

    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def say(self, line):
        print(line, file=self.process.stdin, flush=True)

    def ask(self, values):
        """The numbers that the process estimates with these constants."""
        self.say(" ".join(["estimate", *(f"{name}={value!r}" for name, value in values.items())]))
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{pathlib.Path(self.command[0]).name} has failed")
        return [float(number) for number in line.split()]


class Estimator(EstimatorProcess):
    """A process of block_estimates.cpp that knows samples."""

    def __init__(self, target, samples, program):
        super().__init__([program, target])
        for s in samples:
            self.say(" ".join(["sample", s.routine, ",".join(s.params.split()) or "-",
                               f"{s.multiply_adds} {s.weight_bytes} {s.activation_bytes}",
                               s.shape]))

    def estimate(self, values):
        """The estimates in nanoseconds with these constants, None for routines that do not apply
        or that the tables no longer have."""
        return [None if ns < 0 else ns for ns in self.ask(values)]


def build_estimator(folder):
    """Compiles block_estimates.cpp into the folder and returns the program, or None if there is no
    clang++-19."""
    compiler = os.environ.get("NNC_CLANGXX") or shutil.which("clang++-19")
    if not compiler:
        return None
    folder = pathlib.Path(folder)
    tables = timed_routines.write_tables(folder)
    (folder / "timed_routines.inc").write_text(
        "".join(f'#include "{table.name}"\n' for table in tables))
    program = folder / "block_estimates"
    subprocess.run([compiler, "-std=c++17", "-O1", "-Wno-invalid-constexpr", f"-I{ROOT}",
                    f"-I{folder}", '-DNNC_TIMED_ROUTINES="timed_routines.inc"',
                    ROOT / "scripts/benchmark/block_estimates.cpp", "-o", program], check=True)
    return program


def target_line(text, target):
    """The match of a target's entry in the text of targets.inc."""
    entry = re.search(rf'^NNC_TARGET\("{target}",.*?\n(?=NNC_|#|\Z)', text, re.M | re.S)
    if not entry or "LAUNCH(" not in entry[0]:
        sys.exit(f"targets.inc has no GPU '{target}'")
    return entry


def read_constants(target):
    """The values in both tables."""
    values = {name: float(value) for name, value in BLOCK_COST.findall(BLOCKS.read_text())}
    entry = target_line(TARGETS.read_text(), target)[0]
    values["launch_ns"] = float(re.search(r"LAUNCH\((\d+)\)", entry)[1])
    values["level2_rate"] = float(re.search(r"BANDWIDTH\(0, (\d+), 0\)", entry)[1])
    return values


def with_block_costs(text, values):
    """The text of blocks.inc with other values of the constants that `values` names."""
    return BLOCK_COST.sub(lambda m: f"NNC_BLOCK_COST({m[1]}, {values[m[1]]:.4g},"
                          if m[1] in values else m[0], text)


def with_target(text, target, values):
    """The text of targets.inc with other figures of a target."""
    entry = target_line(text, target)
    new = entry[0]
    if "launch_ns" in values:
        new = re.sub(r"LAUNCH\(\d+\)", f"LAUNCH({values['launch_ns']:.0f})", new)
    if "level2_rate" in values:
        new = re.sub(r"BANDWIDTH\(0, \d+, 0\)", f"BANDWIDTH(0, {values['level2_rate']:.0f}, 0)",
                     new)
    return text[:entry.start()] + new + text[entry.end():]


def mean_error(samples, estimates):
    """The mean of |log(estimate / time)| of the samples that are estimated."""
    errors = [abs(math.log(ns / s.measured_ns))
              for s, ns in zip(samples, estimates, strict=True) if ns is not None]
    return statistics.mean(errors) if errors else math.inf


def search(values, objective, rounds):
    """Values near `values` with a smaller objective, by changing one or two at a time, as one may
    make up for another. Steps begin at a half of a value and are halved each round."""
    best, least = dict(values), objective(values)
    moves = [{name: sign} for name in values for sign in (1, -1)]
    moves += [{one: first, other: second} for one, other in itertools.combinations(values, 2)
              for first in (1, -1) for second in (1, -1)]
    for step in (0.5 ** (i + 1) for i in range(rounds)):
        improved = True
        while improved:
            improved = False
            for move in moves:
                trial = {name: value * (1 + step * move.get(name, 0))
                         for name, value in best.items()}
                now = objective(trial)
                if now < least * (1 - 1e-6):
                    best, least, improved = trial, now, True
    return best, least


def fit(estimator, samples, start, names, rounds=6):
    """Values of the named constants near those of `start` with the least error, and the error."""
    unknown = [name for name in names if name not in start]
    if unknown:
        sys.exit(f"there is no constant '{unknown[0]}'; choose from {', '.join(start)}")
    return search({name: start[name] for name in names},
                  lambda values: mean_error(samples, estimator.estimate(values)), rounds)


def report(samples, estimates):
    """Yields a table in Markdown that compares estimates with times."""
    yield "| kind | calls | median error | estimate / time: tenth, median, last tenth |"
    yield "|---" * 4 + "|"
    known = [(s.kind, ns / s.measured_ns) for s, ns in zip(samples, estimates, strict=True)
             if ns is not None]
    for kind in [*sorted({kind for kind, _ in known}), "all"]:
        ratios = sorted(ratio for one, ratio in known if kind in (one, "all"))
        if not ratios:
            continue
        tenth = len(ratios) // 10
        error = statistics.median(abs(ratio - 1) for ratio in ratios)
        yield (f"| {kind} | {len(ratios)} | {100 * error:.0f} % | {ratios[tenth]:.2f}, "
               f"{statistics.median(ratios):.2f}, {ratios[-1 - tenth]:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", metavar="RESULTS.json")
    parser.add_argument("--target", default="cuda-sm90", help="that the results are of")
    parser.add_argument("--fit", nargs="+", metavar=("TARGET", "NAME"))
    parser.add_argument("--rounds", type=int, default=6,
                        help="of --fit: how often the steps of the search are halved")
    options = parser.parse_args()
    if options.collect:
        collect(options.collect, options.target)
    files = sorted(SAMPLES.glob("*.csv"))
    if not files:
        print("there are no samples yet; take some with test/runtime/cuda/on_device.py on a GPU, "
              "and add them with --collect")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        program = build_estimator(folder)
        if not program:
            sys.exit("there is no clang++-19, which compiles the estimates")
        for file in files:
            target, samples = file.stem, read_samples(file)
            start = read_constants(target)
            with Estimator(target, samples, program) as estimator:
                values = {}
                if options.fit and options.fit[0] == target:
                    values, _ = fit(estimator, samples, start, options.fit[1:] or USUAL,
                                    options.rounds)
                    for name, value in values.items():
                        print(f"{name}: {start[name]:g} -> {value:.4g}")
                    BLOCKS.write_text(with_block_costs(BLOCKS.read_text(), values))
                    TARGETS.write_text(with_target(TARGETS.read_text(), target, values))
                print(f"\n{target}, {len(samples)} samples of "
                      f"{', '.join(sorted({s.card for s in samples}))}\n")
                print("\n".join(report(samples, estimator.estimate(values))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
