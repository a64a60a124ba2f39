"""Measures what each step of NeoCPU (table 3 of the paper) gains, in nnc.

The steps before the global search compute all layers with the same few register tiles, one for
each routine, like the tiles that the authors of the paper chose by hand.

    plain     all values stay in NCHW. Convolutions run in nnc's only routine for that
              layout: a direct convolution, vectorized along the rows of an image, like the
              baseline of the paper. Matrix products read packed weights as in all steps.
    local     each layer has the layouts that are best for it alone, mostly NCHW16c or
              NCHW8c, and is adapted from NCHW and back, even if its neighbours have the
              same layouts.
    fixed     the whole network has one block size, the width of the vectors. Values are
              adapted only where a layer has no routine for it.
    global    each layer has any block size and any register tile, all chosen together.
    all       like global, with methods that multiply less: Winograd's and Strassen's. This
              is what nnc does. The steps before it use direct convolutions and plain sums,
              so that they differ in layouts alone.
"""

import statistics

HEADS = {"plain": "plain NCHW", "local": "blocked inside each layer",
         "fixed": "one blocked layout, adapts gone", "global": "global search",
         "all": "Winograd and Strassen, too"}


def table(rows, threads):
    """The table in Markdown. A row has the name of a network and its median times in seconds by
    step."""
    heads = [f"network, {threads} thread{'s' * (threads > 1)}, ms", *HEADS.values()]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for name, seconds in rows:
        cells = [f"{1e3 * seconds[step]:.2f} ({seconds['plain'] / seconds[step]:.2f} ×)"
                 for step in HEADS]
        yield "| " + " | ".join([name, *cells]) + " |"
    if not rows:
        return
    gains = []
    for before, step in zip(HEADS, list(HEADS)[1:]):
        ratios = [seconds[before] / seconds[step] for _, seconds in rows]
        gains.append(f"{HEADS[step]}: {statistics.geometric_mean(ratios):.2f} ×")
    yield "\nGeometric mean over the step before: " + "; ".join(gains)
