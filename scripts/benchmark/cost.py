"""How far nnc's estimates of routines' times are from measured ones.

nnc tune --all measures a sample of what could compute each layer of a network; nnc explain
says what was estimated, and what is chosen by that.
"""

import collections
import dataclasses
import itertools
import json
import operator
import re
import statistics
import subprocess


# Times closer than this are not told apart: they may differ by noise.
APART = 1.1


@dataclasses.dataclass
class Candidate:
    routine: str
    estimate: float
    seconds: float  # measured
    chosen: bool    # by the estimates
    again: float | None = None  # measured a second time

    @property
    def method(self):
        """The routine without types, layouts and instruction set: "conv2d direct"."""
        words = self.routine.split("_")
        keep = [w for w in words[:-1] if not re.fullmatch(r"[fiu]\d+|nchw\w*|nk\d+n", w)]
        return " ".join([*keep, words[-1]] if words[-1] == "portable" else keep)


@dataclasses.dataclass
class Layer:
    """A kind of layer: what is alike counts once, and weighs as often as it is there."""
    count: int
    candidates: list

    @property
    def weight(self):
        return self.count * min(c.seconds for c in self.candidates)

    @property
    def loss(self):
        """Of the candidate that is estimated best: its time over the best's."""
        chosen = min(self.candidates, key=lambda c: c.estimate)
        return chosen.seconds / min(c.seconds for c in self.candidates)

    def pairs(self):
        """Whether the estimates order each two candidates right whose times are told
        apart; half where the estimates are equal."""
        for a, b in itertools.combinations(self.candidates, 2):
            if max(a.seconds / b.seconds, b.seconds / a.seconds) >= APART:
                product = (a.seconds - b.seconds) * (a.estimate - b.estimate)
                yield 0.5 if product == 0 else float(product > 0)

    @property
    def correlation(self):
        """Spearman's of estimates and times."""
        return rank_correlation([(c.estimate, c.seconds) for c in self.candidates])

    @property
    def agreement(self):
        """The same of two measurements: what no estimate can be expected to surpass."""
        return rank_correlation([(c.again, c.seconds) for c in self.candidates if c.again])


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
    """Spearman's, or None where there are too few to rank, or all of one side are equal."""
    if len(pairs) < 3:
        return None
    ours, theirs = (ranks(side) for side in zip(*pairs))
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        return None
    return statistics.correlation(ours, theirs)


def key(layer, one):
    return layer["name"], one["routine"], tuple(one["params"]), one["layouts"]


def measured_times(explained):
    return {key(layer, one): one["seconds"] for layer in explained["layers"]
            for one in layer["alternatives"] if one["measured"]}


def read_layers(nnc, model, files):
    """The network's kinds of layers with what the first of `files` measures of them, and its
    changes of layouts as one more of them each; and with what a second file measures."""
    options = [model.path, *shape_options(model), "--all"]
    tuned, *twice = (run_nnc(nnc, "explain", *options, f"--tuning={file}") for file in files)
    times = measured_times(tuned)
    again = measured_times(twice[0]) if twice else {}
    kinds = {}
    for layer in run_nnc(nnc, "explain", *options)["layers"]:
        all_of_it = [(one["routine"], one["params"], one["layouts"], one["estimate_seconds"])
                     for one in sorted(layer["alternatives"], key=lambda a: key(layer, a))]
        kind = json.dumps([layer["ops"], layer["shape"], all_of_it])
        candidates = {}
        for one in sorted(layer["alternatives"], key=lambda a: not a["chosen"]):
            if key(layer, one) in times:
                new = Candidate(one["routine"], one["estimate_seconds"],
                                times[key(layer, one)], one["chosen"],
                                again.get(key(layer, one)))
                # What is the same call in several layouts was measured once.
                candidates.setdefault((new.routine, *one["params"], new.estimate, new.seconds), new)
        if candidates:
            kinds.setdefault(kind, Layer(0, list(candidates.values()))).count += 1
    for change in tuned["layout_changes"]:
        if change["measured"]:
            one = Candidate(change["routine"], change["estimate_seconds"], change["seconds"], True)
            kinds.setdefault(json.dumps(change), Layer(0, [one])).count += 1
    return list(kinds.values())


def compare(nnc, model, folder, budget, threads, twice):
    """The network's layers, measured for so many seconds beyond what the file in `folder`
    knows from an earlier time; if `twice`, all again for a second file."""
    files = [folder / f"{model.name}.tune"]
    if twice:
        files.append(folder / f"{model.name}-again.tune")
    for file in files:
        if budget > 0:
            known = [f"--tuning={file}"] if file.exists() else []
            # The cache would know the second what the first has measured.
            known += ["--cache=none"] if twice else []
            run_nnc(nnc, "tune", model.path, *shape_options(model), *known, "--all", "-o", file,
                    f"--budget={budget}s", f"--threads={threads}")
    return read_layers(nnc, model, files)


def error(candidates):
    """By how much an estimate is off, in the median."""
    return statistics.median(abs(c.estimate / c.seconds - 1) for c in candidates)


def once(layer):
    return 1


def by_time(layer):
    return layer.weight


def mean(layers, what, weight):
    """Of the layers of which `what` tells something."""
    known = [(what(layer), weight(layer)) for layer in layers if what(layer) is not None]
    total = sum(w for _, w in known)
    return f"{sum(c * w for c, w in known) / total:.2f}" if total else "–"


def network_row(name, layers):
    chosen = [c for layer in layers for c in layer.candidates if c.chosen]
    if not chosen:
        return f"| {name} | 0 {'| – ' * 8}|"
    pairs = [right for layer in layers for right in layer.pairs()]
    ordered = f"{100 * statistics.mean(pairs):.0f} %" if pairs else "–"
    weight = sum(map(by_time, layers))
    correlation, agreement = map(operator.attrgetter, ("correlation", "agreement"))
    loss = sum(layer.weight * layer.loss for layer in layers) / weight
    return (f"| {name} | {len(layers)} | {100 * error(chosen):.0f} % | "
            f"{statistics.median(c.estimate / c.seconds for c in chosen):.2f} | "
            f"{mean(layers, correlation, once)} | {mean(layers, correlation, by_time)} | "
            f"{mean(layers, agreement, once)} | {mean(layers, agreement, by_time)} | "
            f"{ordered} | {loss:.3f} |")


def network_table(networks):
    yield ("| network | kinds of layers | median error of what is chosen | estimate / time | "
           "rank correlation | the same, weighed by time | that of two measurements | "
           "the same, weighed by time | pairs apart ordered right | estimated best / best |")
    yield "|---" * 10 + "|"
    for name, layers in networks.items():
        yield network_row(name, layers)
    yield network_row("all", [layer for layers in networks.values() for layer in layers])


def method_table(networks):
    """What the estimates get wrong: all candidates, by the way that they compute."""
    every, total = collections.defaultdict(list), 0
    time = collections.Counter()
    for layers in networks.values():
        for layer in layers:
            for c in layer.candidates:
                every[c.method].append(c)
                if c.chosen:
                    time[c.method] += layer.count * c.seconds
    total = sum(time.values())
    yield ("| method | candidates | median error | estimate / time: tenth, median, last tenth | "
           "chosen | median error | share of time |")
    yield "|---" * 7 + "|"
    for method, candidates in sorted(every.items(), key=lambda item: -time[item[0]]):
        ratios = sorted(c.estimate / c.seconds for c in candidates)
        tenth = len(ratios) // 10
        chosen = [c for c in candidates if c.chosen]
        own = f"{100 * error(chosen):.0f} %" if chosen else "–"
        yield (f"| {method} | {len(candidates)} | {100 * error(candidates):.0f} % | "
               f"{ratios[tenth]:.2f}, {statistics.median(ratios):.2f}, {ratios[-1 - tenth]:.2f} | "
               f"{len(chosen)} | {own} | {100 * time[method] / total:.1f} % |")
