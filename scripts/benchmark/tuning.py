"""Measures how much faster tuned networks are than those that nnc chooses by estimates alone,
and how long tuning takes.

`nnc tune` runs whole plans in turns. The plan by estimates alone is among them, so both times
come from the same run. Tuning begins without earlier measurements. The table names the layer in
which the two plans differ most by the times of single layers, because the estimates mislead
most there.
"""

import pathlib
import tempfile
import time

from cost import run_nnc, shape_options


def choices(explained):
    return {layer["name"]: layer["alternatives"][0] for layer in explained["layers"]}


def find_worst(nnc, model, file):
    """A description of the layer whose choice by estimates is slowest compared with the tuned
    choice."""
    options = [model.path, *shape_options(model), "--all"]
    tuned = run_nnc(nnc, "explain", *options, f"--tuning={file}")
    times = {(layer["name"], one["routine"], *one["params"], one["layouts"]): one["seconds"]
             for layer in tuned["layers"] for one in layer["alternatives"]}
    lost = {}
    for name, one in choices(run_nnc(nnc, "explain", *options)).items():
        own = choices(tuned)[name]
        untuned = times.get((name, one["routine"], *one["params"], one["layouts"]))
        if untuned is not None:
            lost[name] = (untuned - own["seconds"], one, own)
    name, (seconds, one, own) = max(lost.items(), key=lambda item: item[1][0])
    if seconds <= 0:
        return "–"
    return (f"{name}: {one['routine']} {one['params']} is {1e6 * seconds:.0f} µs slower than "
            f"{own['routine']} {own['params']}")


def row(nnc, model, threads, budget):
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "model.tune"
        begin = time.monotonic()
        said = run_nnc(nnc, "tune", model.path, *shape_options(model), "-o", file,
                       f"--budget={budget:g}s", f"--threads={threads}", f"--cache={scratch}")
        seconds = time.monotonic() - begin
        plans = said["whole_plans"]
        if not plans:
            cells = ["–", "–", "–", "the budget is too short to run whole plans"]
        else:
            best = min(plan["seconds"] for plan in plans)
            untuned = next(plan["seconds"] for plan in plans if plan["untuned"])
            cells = [f"{1e3 * untuned:.2f}", f"{1e3 * best:.2f}", f"{untuned / best:.3f}",
                     find_worst(nnc, model, file)]
    return (f"| {model.name} | " + " | ".join(cells[:3]) +
            f" | {len(plans)} | {said['measured']} | {said['left_estimated']} | {seconds:.0f} | "
            f"{cells[3]} |")


def table(nnc, models, threads, budget):
    heads = [f"network, {threads} thread{'s' * (threads > 1)}", "untuned, ms", "tuned, ms",
             "untuned / tuned", "plans run", "measured", "left", "nnc tune, s",
             "where estimates mislead most"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for model in models:
        yield row(nnc, model, threads, budget)
