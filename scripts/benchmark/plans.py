#!/usr/bin/env python3
"""Times the plans of quantized networks on this machine beside their two pure plans.

    plans.py MODEL.onnx... [--nnc=build/bin/nnc] [--threads=1] [--turns=5]

Each model is compiled three times: with all forms of its products of 8-bit integers, with
integers alone and with floats alone wherever there are floats (the option `products` of
nnc-choose-routines). The three modules run in turns. The table, in Markdown, has medians, how
many layers multiply floats in the plan of all forms, and what that plan takes over the faster
pure one, measured and by nnc's estimates.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

KINDS = ["any", "integers", "floats"]


def run(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))[:300]}")
    return done.stdout


def compile_plans(nnc, model, threads, folder):
    """The folders of the three modules, and the estimated times of their plans."""
    said = json.loads(run(nnc, "compile", model, "-o", folder / "whole", "--json",
                          "--weights=array", f"--threads={threads}", "--print-pipeline",
                          f"--save-imported={folder / 'imported.mlir'}"))
    passes = re.search(r"--pass-pipeline='(.*)'", said["pipeline"])[1]
    planning, rest = passes.split(",nnc-propagate-layout", 1)
    made = {}
    for kind in KINDS:
        first = planning.replace("products=any", f"products={kind}") + ")"
        planned, program = folder / f"{kind}.mlir", folder / f"{kind}-program.mlir"
        tools = nnc.parent
        run(tools / "nnc-opt", "--mlir-print-debuginfo", folder / "imported.mlir",
            f"--pass-pipeline={first}", "-o", planned)
        run(tools / "nnc-opt", "--mlir-print-debuginfo", planned,
            f"--pass-pipeline=builtin.module(nnc-propagate-layout{rest}", "-o", program)
        run(tools / "nnc-codegen", program, "-o", folder / kind, "--weights=array",
            f"--with-threads={threads}")
        text = planned.read_text()
        seconds = 1e-9 * sum(map(int, re.findall(r"\bns = (\d+)", text)))
        floats = len(re.findall(r"nn\.(?:conv|matmul) .*-> tensor<[^>]*xf32", text))
        made[kind] = (folder / kind, seconds, floats)
    return made


def measure(nnc, made, threads, turns):
    """The median seconds of each module, over the medians of the turns."""
    times = {kind: [] for kind in KINDS}
    for _ in range(turns):
        for kind in KINDS:
            said = json.loads(run(nnc, "bench", made[kind][0], f"--threads={threads}", "--json"))
            times[kind].append(said["median_seconds"])
    return {kind: statistics.median(times[kind]) for kind in KINDS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--nnc", type=pathlib.Path, default=pathlib.Path("build/bin/nnc"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    nnc = options.nnc.resolve()
    print("| network | plan, ms | integers, ms | floats, ms | layers of floats "
          "| over the faster, measured | estimated |\n|---|---|---|---|---|---|---|")
    ratios = []
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            made = compile_plans(nnc, model, options.threads, pathlib.Path(folder))
            times = measure(nnc, made, options.threads, options.turns)
        ratios.append(times["any"] / min(times["integers"], times["floats"]))
        estimate = made["any"][1] / min(made["integers"][1], made["floats"][1])
        cells = [*(f"{1e3 * times[kind]:.3f}" for kind in KINDS), str(made["any"][2]),
                 f"{ratios[-1]:.3f}", f"{estimate:.3f}"]
        print("| " + " | ".join([model.stem, *cells]) + " |", flush=True)
    print(f"\nGeometric mean of the measured ratios: {statistics.geometric_mean(ratios):.3f}, "
          f"largest {max(ratios):.3f}.")


if __name__ == "__main__":
    main()
