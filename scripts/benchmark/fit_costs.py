#!/usr/bin/env python3
"""Compares the tables of cost constants with measurements, and fits constants to them.

    scripts/benchmark/fit_costs.py                        rewrite the heads of the tables
    scripts/benchmark/fit_costs.py --check                exit with 1 if a head is out of date
    scripts/benchmark/fit_costs.py --collect squeezenet1_1 resnet18 --budget 60
    scripts/benchmark/fit_costs.py --estimate             estimate the samples anew
    scripts/benchmark/fit_costs.py --fit avx2 peak_share depthwise_row_cost

The tables are runtime/routines/costs/*.inc, one for each instruction set. The samples are
scripts/benchmark/samples/*.csv, one file for each chip: a line is a call that `nnc tune --all`
measured, with the estimate that `nnc explain` gave for it.

--collect measures networks of test/networks on this chip and adds their samples to the chip's
file. --estimate runs `nnc explain` again and updates the estimates of this chip's samples, after
the formulas or the constants have changed. --fit searches values of the named constants of an
instruction set for which the estimates of its samples on this chip have the least median error,
and writes them into the table. It changes one constant at a time and estimates with
`nnc explain --costs`, so it needs no derivatives and no new build. Build nnc again and run
--estimate afterwards.
"""

import argparse
import collections
import csv
import dataclasses
import datetime
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import cost

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ROOT / "runtime/routines/costs"
SAMPLES = ROOT / "scripts/benchmark/samples"
# The table of each instruction set: its own or another one's.
TABLE_OF = dict(re.findall(r"^NNC_TILE\((\w+), (\w+),",
                           (ROOT / "runtime/routines/catalogue/isas.inc").read_text(), re.M))
NO_TABLES = {"blocks.inc", "code.inc", "fields.inc", "matrix_tiles.inc", "tables.inc"}
LINE = re.compile(r"^NNC_COST\((\w+), (\w+), ([-\w.+]+)\)$", re.M)


@dataclasses.dataclass
class Sample:
    """One measured call. `params` and `layouts` are as `nnc explain --json` prints them."""
    chip: str
    date: str
    isa: str
    network: str
    layer: str
    routine: str
    params: str
    layouts: str
    measured_ns: int
    estimated_ns: int

    @property
    def key(self):
        return self.layer, self.routine, self.params, self.layouts


COLUMNS = [field.name for field in dataclasses.fields(Sample)]


def read_samples(path):
    with open(path, newline="") as file:
        return [Sample(**{**row, "measured_ns": int(row["measured_ns"]),
                          "estimated_ns": int(row["estimated_ns"])})
                for row in csv.DictReader(file)]


def write_samples(path, samples):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for sample in sorted(samples, key=lambda s: (s.network, *s.key)):
            writer.writerow(dataclasses.astuple(sample))


def all_samples():
    return [sample for path in sorted(SAMPLES.glob("*.csv")) for sample in read_samples(path)]


def layers_of(samples):
    """The samples as candidates of the layers that they compute (cost.Layer)."""
    layers = collections.defaultdict(list)
    for s in samples:
        layers[s.chip, s.network, s.layer].append(
            cost.Candidate(s.routine, s.estimated_ns * 1e-9, [s.measured_ns * 1e-9], True))
    return [cost.Layer(1, candidates) for candidates in layers.values()]


def accuracy(samples):
    """(median of |estimate / time - 1|, mean rank correlation of the candidates of a layer).
    The correlation is None if no layer has three candidates that can be ranked."""
    layers = layers_of(samples)
    correlations = [c for c in (layer.of_measured for layer in layers) if c is not None]
    return (cost.error([c for layer in layers for c in layer.candidates]),
            statistics.mean(correlations) if correlations else None)


def head_of(isa, samples):
    """The lines of a table's head that say how well it agrees with the samples."""
    own = [s for s in samples if TABLE_OF.get(s.isa, s.isa) == isa]
    if not own:
        return ["// Samples: none. The values were chosen by hand."]
    lines = ["// Samples, as scripts/benchmark/fit_costs.py counted them:"]
    for chip in sorted({s.chip for s in own}):
        of_chip = [s for s in own if s.chip == chip]
        error, correlation = accuracy(of_chip)
        ranks = "unknown" if correlation is None else f"{correlation:.2f}"
        lines += [f"//   {chip}: {len(of_chip)} calls, last measured "
                  f"{max(s.date for s in of_chip)},",
                  f"//   median error {100 * error:.0f} %, rank correlation {ranks}"]
    return lines


def with_head(text, lines):
    """The text of a table with these lines about its samples in its head."""
    before, rest = text.split("// Samples", 1)
    return before + "\n".join(lines) + "\n" + rest[rest.index("NNC_COST("):]


def outdated(samples):
    """The tables whose head does not agree with the samples: {path: the correct text}."""
    found = {}
    for path in sorted(TABLES.glob("*.inc")):
        if path.name not in NO_TABLES:
            text = with_head(path.read_text(), head_of(path.stem, samples))
            if text != path.read_text():
                found[path] = text
    return found


def read_constants(text):
    return {name: float(value) for _, name, value in LINE.findall(text)}


def with_constants(text, values):
    """The text of a table with other values of the constants that `values` names."""
    known = read_constants(text)
    for name in values:
        if name not in known:
            sys.exit(f"there is no constant '{name}'; choose from {', '.join(known)}")

    def line(match):
        isa, name, _ = match.groups()
        return (f"NNC_COST({isa}, {name}, {values[name]:.6g})" if name in values
                else match.group(0))
    return LINE.sub(line, text)


def search(values, objective, rounds=4):
    """Values near `values` with a smaller objective, by changing one at a time. Steps begin
    at a half of a value and are halved each round; a zero is moved by the step itself."""
    best, least = dict(values), objective(values)
    for step in (0.5 ** (i + 1) for i in range(rounds)):
        improved = True
        while improved:
            improved = False
            for name in values:
                for sign in 1, -1:
                    move = sign * step * (abs(best[name]) or 1)
                    trial = {**best, name: best[name] + move}
                    now = objective(trial)
                    if now < least - 1e-9:
                        best, least, improved = trial, now, True
                        break
    return best, least


def networks(names, folder):
    """(name, path, --shape options) of networks of test/networks, for a batch of 1."""
    cache = pathlib.Path(os.environ.get("NNC_CACHE") or pathlib.Path(
        os.environ.get("XDG_CACHE_HOME") or "~/.cache", "nnc").expanduser())
    python = cache / "venv/bin/python"
    subprocess.run([python, ROOT / "test/networks/make.py", *names, "-o", folder], check=True,
                   stdout=sys.stderr)
    shapes = """
import sys
sys.path.insert(0, sys.argv[1])
import onnx, zoo
inputs = [i.name for i in onnx.load(sys.argv[3], load_external_data=False).graph.input]
for name, array in zoo.feeds(zoo.NETWORKS[sys.argv[2]], inputs, 0, 1).items():
    print(f"--shape={name}={'x'.join(map(str, array.shape))}")
"""
    for name in names:
        path = pathlib.Path(folder, f"{name}.onnx")
        options = subprocess.check_output(
            [python, "-c", shapes, ROOT / "test/networks", name, path], text=True).split()
        yield name, path, options


def explained_calls(explained):
    """{key: alternative} of the output of `nnc explain --all --json`."""
    return {(layer["name"], one["routine"], " ".join(map(str, one["params"])), one["layouts"]): one
            for layer in explained["layers"] for one in layer["alternatives"]}


def samples_of(network, explained, chip, date):
    """The calls that were measured. Equal calls, in several layouts or in equal layers, are
    measured once and count once."""
    found = {}
    for key, one in explained_calls(explained).items():
        if one["measured"]:
            measured, estimated = (round(1e9 * one[part])
                                   for part in ("seconds", "estimate_seconds"))
            layer, routine, params, layouts = key
            found.setdefault((routine, params, measured, estimated),
                             Sample(chip, date, routine.split("_")[-1], network, layer, routine,
                                    params, layouts, measured, estimated))
    return list(found.values())


def collect(nnc, names, budget):
    """Measures networks on this chip, and returns the path of the chip's file of samples."""
    with tempfile.TemporaryDirectory() as folder:
        new, chip = [], ""
        for name, path, options in networks(names, folder):
            file = pathlib.Path(folder, f"{name}.tune")
            cost.run_nnc(nnc, "tune", path, *options, "--all", "--cache=none", "-o", file,
                         f"--budget={budget:g}s")
            chip = re.search(r"^chip (.+)$", file.read_text(), re.M)[1]
            explained = cost.run_nnc(nnc, "explain", path, *options, "--all",
                                     f"--tuning={file}")
            new += samples_of(name, explained, chip, datetime.date.today().isoformat())
            print(f"{name}: {len(new)} samples so far", file=sys.stderr)
    SAMPLES.mkdir(exist_ok=True)
    path = SAMPLES / f"{chip}.csv"
    old = read_samples(path) if path.exists() else []
    write_samples(path, [s for s in old if s.network not in names] + new)
    return path


def chip_of_host(nnc):
    return next(row["chip"] for row in cost.run_nnc(nnc, "targets") if row["name"] == "native")


class Estimator:
    """Estimates samples anew with nnc, for any values of the constants. nnc estimates for
    the chip that it runs on, so the samples have to be of that chip."""

    def __init__(self, nnc, samples, folder):
        self.nnc, self.samples, self.folder = nnc, samples, folder
        self.networks = list(networks(sorted({s.network for s in samples}), folder))

    def estimate(self, table=None):
        """The samples with new estimates; `table` is the text of a table to use instead of
        the one that nnc was built with. Calls that nnc no longer considers are left out."""
        options = []
        if table is not None:
            trial = pathlib.Path(self.folder, "trial.inc")
            trial.write_text(table)
            options = [f"--costs={trial}"]
        found = []
        for name, path, shapes in self.networks:
            calls = explained_calls(cost.run_nnc(self.nnc, "explain", path, *shapes, "--all",
                                                 *options))
            found += [dataclasses.replace(
                          s, estimated_ns=round(1e9 * calls[s.key]["estimate_seconds"]))
                      for s in self.samples if s.network == name and s.key in calls]
        return found


def fit(nnc, isa, names, samples, rounds):
    path = TABLES / f"{isa}.inc"
    text = path.read_text()
    constants = read_constants(with_constants(text, dict.fromkeys(names, 0.0)))
    constants.update(read_constants(text))
    chip = chip_of_host(nnc)
    own = [s for s in samples if TABLE_OF.get(s.isa, s.isa) == isa and s.chip == chip]
    if not own:
        sys.exit(f"there are no samples of {isa} on this {chip}; take some with --collect")
    with tempfile.TemporaryDirectory() as folder:
        estimator = Estimator(nnc, own, folder)

        def error(values):
            found = estimator.estimate(with_constants(text, values))
            # Values with which nnc leaves out many of the samples cannot be compared.
            return accuracy(found)[0] if 2 * len(found) > len(own) else math.inf
        values, least = search({name: constants[name] for name in names}, error, rounds)
    for name, value in values.items():
        print(f"{isa} {name}: {constants[name]:g} -> {value:g}")
    print(f"median error of {len(own)} samples: {100 * least:.1f} %")
    path.write_text(with_constants(text, values))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nnc", type=pathlib.Path, default=ROOT / "build/bin/nnc")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--collect", nargs="+", metavar="NETWORK")
    parser.add_argument("--budget", type=float, default=60, help="seconds a network")
    parser.add_argument("--estimate", action="store_true")
    parser.add_argument("--fit", nargs="+", metavar=("ISA", "NAME"))
    parser.add_argument("--rounds", type=int, default=4,
                        help="of --fit: how often the steps of the search are halved")
    options = parser.parse_args()
    if options.check:
        stale = outdated(all_samples())
        for path in stale:
            print(f"{path.relative_to(ROOT)}: its head does not agree with the samples; run "
                  "scripts/benchmark/fit_costs.py")
        return 1 if stale else 0
    if options.collect:
        print(collect(options.nnc, options.collect, options.budget).relative_to(ROOT))
    if options.fit:
        fit(options.nnc, options.fit[0], options.fit[1:], all_samples(), options.rounds)
    elif options.estimate:
        path = SAMPLES / f"{chip_of_host(options.nnc)}.csv"
        with tempfile.TemporaryDirectory() as folder:
            write_samples(path, Estimator(options.nnc, read_samples(path), folder).estimate())
    for path, text in outdated(all_samples()).items():
        path.write_text(text)
    for isa in sorted({s.isa for s in all_samples()}):
        error, correlation = accuracy([s for s in all_samples() if s.isa == isa])
        ranks = "unknown" if correlation is None else f"{correlation:.2f}"
        print(f"{isa}: median error {100 * error:.0f} %, rank correlation {ranks}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
