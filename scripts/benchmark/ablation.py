"""What each step of NeoCPU's (table 3 of the paper) is worth: nnc beside itself.

The steps before the search compute all layers with the same few register tiles, one for
each routine, as the paper's do with those that its authors picked by hand.

    plain     every value stays in NCHW. Convolutions run in the one routine that nnc has
              for it: a direct convolution, vectorised along the rows of an image, as the
              paper's baseline is. Matrix products read packed weights as ever.
    local     each layer takes the layouts that suit it by itself, mostly NCHW16c or
              NCHW8c, and is adapted from NCHW and back: nothing is adapted less often
              because neighbours agree.
    fixed     one block size for the network, as wide as the vectors; adapts only where a
              layer has no routine for it.
    global    any block size and any register tile for each layer, all chosen together:
              what nnc does, were it not for the next.
    all       methods that compute less, Winograd's and Strassen's. The steps before it
              are direct convolutions and plain sums, so that they differ by layouts alone.
"""

import statistics

HEADS = {"plain": "plain NCHW", "local": "blocked inside each layer",
         "fixed": "one blocked layout, adapts gone", "global": "global search",
         "all": "Winograd and Strassen, too"}


def table(rows, threads):
    """Markdown. A row: the network's name, and by step its median time in seconds."""
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
