"""How far nnc's estimates of routines' times are from measured ones.

For each network: nnc tune measures what could compute its layers, and nnc explain says
what it had estimated.
"""

import json
import pathlib
import statistics
import subprocess


def run_nnc(nnc, *arguments):
    return json.loads(subprocess.run([nnc, *map(str, arguments), "--json"], check=True,
                                     capture_output=True, text=True).stdout)


def shape_options(model):
    return [f"--shape={name}={'x'.join(map(str, dims))}" for name, dims in model.shapes.items()]


def ranks(values):
    """Places in ascending order, those of equals shared."""
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in values]


def rank_correlation(pairs):
    """Spearman's, or None where all of one side are equal."""
    ours, theirs = (ranks(side) for side in zip(*pairs))
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        return None
    return statistics.correlation(ours, theirs)


def compare(nnc, model, folder, budget):
    """Of the network's layers, each kind once: estimate over time of what was chosen; and
    for layers with three and more measured candidates the rank correlation."""
    file = pathlib.Path(folder) / f"{model.name}.tune"
    options = [model.path, *shape_options(model)]
    run_nnc(nnc, "tune", *options, "-o", file, f"--budget={budget}s")
    ratios, correlations, seen = [], [], set()
    for layer in run_nnc(nnc, "explain", *options, f"--tuning={file}")["layers"]:
        kind = json.dumps([layer["ops"], layer["shape"], layer["alternatives"]])
        if kind in seen:
            continue
        seen.add(kind)
        measured = [a for a in layer["alternatives"] if a["measured"]]
        ratios += [a["estimate_seconds"] / a["seconds"] for a in measured if a["chosen"]]
        if len(measured) > 2:
            correlations.append(rank_correlation([(a["estimate_seconds"], a["seconds"])
                                                  for a in measured]))
    return ratios, [c for c in correlations if c is not None]


def error(ratios):
    """By how much an estimate is off, in the median."""
    return statistics.median(max(r, 1 / r) - 1 for r in ratios)


def table(rows):
    """Markdown. A row: the network's name, its ratios, its correlations."""
    yield "| network | kinds of layers | median error | estimate / time | rank correlation |"
    yield "|---|---|---|---|---|"
    every = ("all", [r for _, ratios, _ in rows for r in ratios],
             [c for *_, correlations in rows for c in correlations])
    for name, ratios, correlations in [*rows, every]:
        if not ratios:
            yield f"| {name} | 0 | – | – | – |"
            continue
        rank = f"{statistics.mean(correlations):.2f}" if correlations else "–"
        yield (f"| {name} | {len(ratios)} | {100 * error(ratios):.0f} % | "
               f"{statistics.median(ratios):.2f} | {rank} |")
