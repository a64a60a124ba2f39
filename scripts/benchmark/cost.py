"""Compares nnc's estimates of the times of routines with measured times.

`nnc tune --all` measures a sample of the routines that could compute each layer of a network.
`nnc explain` prints the estimates, and the routines that are chosen by them.
"""

import collections
import dataclasses
import itertools
import json
import math
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
    times: list   # each measurement's, None where it left this candidate out
    chosen: bool  # by the estimates

    @property
    def seconds(self):
        return median_time(self.times)

    @property
    def halves(self):
        """The median times of the first half of the measurements and of the second half."""
        middle = len(self.times) // 2
        return median_time(self.times[:middle]), median_time(self.times[middle:])

    @property
    def method(self):
        """The name of the routine without types, layouts and instruction set: "conv2d direct"."""
        words = self.routine.split("_")
        keep = [w for w in words[:-1] if not re.fullmatch(r"[fiu]\d+|nchw\w*|nk\d+n", w)]
        return " ".join([*keep, words[-1]] if words[-1] == "portable" else keep)


@dataclasses.dataclass
class Layer:
    """A kind of layer. Equal layers of a network are one kind, of which there are `count`."""
    count: int
    candidates: list

    @property
    def weight(self):
        return self.count * min(c.seconds for c in self.candidates)

    @property
    def loss(self):
        """The time of the candidate with the least estimate, over the time of the fastest
        candidate."""
        chosen = min(self.candidates, key=lambda c: c.estimate)
        return chosen.seconds / min(c.seconds for c in self.candidates)

    def pairs(self):
        """For each pair of candidates whose times clearly differ: 1 if the estimates order the
        two correctly, 0 if not, and 0.5 if the estimates are equal."""
        for a, b in itertools.combinations(self.candidates, 2):
            if max(a.seconds / b.seconds, b.seconds / a.seconds) >= APART:
                product = (a.seconds - b.seconds) * (a.estimate - b.estimate)
                yield 0.5 if product == 0 else float(product > 0)

    @property
    def of_measured(self):
        """Spearman's rank correlation of estimates and times."""
        return rank_correlation([(c.estimate, c.seconds) for c in self.candidates])

    @property
    def sample(self):
        """The candidates that form a random sample. The chosen one is always measured, and is
        therefore not among them."""
        return [c for c in self.candidates if not c.chosen]

    @property
    def of_all(self):
        """An estimate of the rank correlation over a very large set of candidates from which
        the sample is drawn."""
        return population_correlation([(c.estimate, c.seconds) for c in self.sample])

    @property
    def of_halves(self):
        """The same correlation between the two halves of the measurements, which shows how
        reliable the measurements are."""
        return population_correlation([c.halves for c in self.sample if all(c.halves)])


def median_time(times):
    known = [t for t in times if t is not None]
    return statistics.median(known) if known else None


def run_nnc(nnc, *arguments):
    return json.loads(subprocess.run([nnc, *map(str, arguments), "--json"], check=True,
                                     capture_output=True, text=True).stdout)


def shape_options(model):
    return [f"--shape={name}={'x'.join(map(str, dims))}" for name, dims in model.shapes.items()]


def ranks(values):
    """The ranks of the values in ascending order. Equal values share the mean of their ranks."""
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in values]


def rank_correlation(pairs):
    """Spearman's rank correlation of pairs, or None if there are fewer than three pairs or if
    all values of one side are equal."""
    if len(pairs) < 3:
        return None
    ours, theirs = (ranks(side) for side in zip(*pairs))
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        return None
    return statistics.correlation(ours, theirs)


def concordance(pairs):
    """Kendall's tau-b: the share of pairs of pairs that both sides order alike, minus the share
    that they order differently."""
    orders = [((a > c) - (a < c), (b > d) - (b < d))
              for (a, b), (c, d) in itertools.combinations(pairs, 2)]
    apart = math.prod(sum(map(abs, side)) for side in zip(*orders))
    return sum(a * b for a, b in orders) / math.sqrt(apart)


def population_correlation(pairs):
    """Spearman's rank correlation of a very large set of pairs, estimated from the sample
    `pairs`. The mean over samples of n pairs of the sample's own correlation is less: ((n - 2)
    * Spearman + 3 * Kendall) / (n + 1), where Spearman and Kendall are the correlations of the
    whole set (Hoeffding, A class of statistics with asymptotically normal distribution, 1948,
    9e)."""
    spearman, n = rank_correlation(pairs), len(pairs)
    if spearman is None:
        return None
    return ((n + 1) * spearman - 3 * concordance(pairs)) / (n - 2)


def key(layer, one):
    return layer["name"], one["routine"], tuple(one["params"]), one["layouts"]


def measured_times(explained):
    return {key(layer, one): one["seconds"] for layer in explained["layers"]
            for one in layer["alternatives"] if one["measured"]}


def change_times(explained):
    return {tuple(change[part] for part in ("name", "from", "to", "routine", "estimate_seconds")):
            change["seconds"] for change in explained["layout_changes"] if change["measured"]}


def is_known(times):
    """Returns True if at least half of the measurements have a time."""
    return times.count(None) <= len(times) // 2


def read_layers(nnc, model, files):
    """The kinds of layers of the network, with the times that `files` have for their
    candidates. Each change of layouts counts as one more kind, with a single candidate.
    Candidates that most of the files lack are left out."""
    options = [model.path, *shape_options(model), "--all"]
    tuned = [run_nnc(nnc, "explain", *options, f"--tuning={file}") for file in files]
    measured = [measured_times(explained) for explained in tuned]
    kinds = {}
    for layer in run_nnc(nnc, "explain", *options)["layers"]:
        all_of_it = [(one["routine"], one["params"], one["layouts"], one["estimate_seconds"])
                     for one in sorted(layer["alternatives"], key=lambda a: key(layer, a))]
        kind = json.dumps([layer["ops"], layer["shape"], all_of_it])
        candidates = {}
        for one in sorted(layer["alternatives"], key=lambda a: not a["chosen"]):
            times = [known.get(key(layer, one)) for known in measured]
            if is_known(times):
                new = Candidate(one["routine"], one["estimate_seconds"], times, one["chosen"])
                # What is the same call in several layouts was measured once.
                candidates.setdefault((new.routine, *one["params"], new.estimate, *times), new)
        if candidates:
            kinds.setdefault(kind, Layer(0, list(candidates.values()))).count += 1
    changes = list(map(change_times, tuned))
    for change in dict.fromkeys(itertools.chain(*changes)):
        times = [known.get(change) for known in changes]
        if is_known(times):
            _, _, _, routine, estimate = change
            one = Candidate(routine, estimate, times, True)
            kinds.setdefault(change[1:], Layer(0, [one])).count += 1
    return list(kinds.values())


def compare(nnc, model, folder, budget, threads, measurements):
    """Measures the network `measurements` times, and returns its kinds of layers. Each
    measurement takes `budget` seconds, and adds to the times that its file in `folder` already
    has."""
    files = [folder / f"{model.name}.{i}.tune" for i in range(measurements)]
    for file in files:
        if budget > 0:
            known = [f"--tuning={file}"] if file.exists() else []
            # The cache would know the second time what was measured the first.
            known += ["--cache=none"] if measurements > 1 else []
            run_nnc(nnc, "tune", model.path, *shape_options(model), *known, "--all", "-o", file,
                    f"--budget={budget}s", f"--threads={threads}")
    return read_layers(nnc, model, files)


def error(candidates):
    """The median relative error of the estimates."""
    return statistics.median(abs(c.estimate / c.seconds - 1) for c in candidates)


def once(layer):
    return 1


def by_time(layer):
    return layer.weight


def mean(layers, what, weight):
    """The weighted mean of what(layer) as text. Layers for which it is None do not count."""
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
    of_measured, of_all, of_halves = map(operator.attrgetter,
                                         ("of_measured", "of_all", "of_halves"))
    loss = sum(layer.weight * layer.loss for layer in layers) / weight
    return (f"| {name} | {len(layers)} | {100 * error(chosen):.0f} % | "
            f"{statistics.median(c.estimate / c.seconds for c in chosen):.2f} | "
            f"{mean(layers, of_measured, once)} | {mean(layers, of_all, once)} | "
            f"{mean(layers, of_all, by_time)} | {mean(layers, of_halves, once)} | "
            f"{ordered} | {loss:.3f} |")


def network_table(networks):
    yield ("| network | kinds of layers | median error of what is chosen | estimate / time | "
           "rank correlation of those measured | of all candidates | the same, weighed by time | "
           "that of halves of the measurements | pairs apart ordered right | "
           "estimated best / best |")
    yield "|---" * 10 + "|"
    for name, layers in networks.items():
        yield network_row(name, layers)
    yield network_row("all", [layer for layers in networks.values() for layer in layers])


def method_table(networks):
    """A table in Markdown of the errors of the estimates of all candidates, by method."""
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
