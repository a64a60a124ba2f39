"""Draws the results of scripts/bench as an SVG: for each network a bar for each engine, whose
length is its time over that of nnc. Numbers of threads are side by side."""

from xml.sax.saxutils import escape

COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f")
OWN_COLOUR = "#333333"
# In pixels: a bar, what is between networks, what is above them and left of them, a
# number of threads, and what of that is for the text behind the longest bar.
BAR, GAP, TOP, LEFT, PANEL, LABEL = 11, 9, 80, 170, 340, 110


def text(x, y, said, size=11, anchor="start", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(said)}</text>')


def box(x, y, width, height, colour):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}"/>')


def draw(title, rows, engines):
    """`rows` has, by number of threads, the name of each network and its results by engine.
    Networks without a result of nnc are left out. `engines` are the names of the engines, in
    order."""
    peers = [engine for engine in engines if engine != "nnc"]
    colours = {"nnc": OWN_COLOUR,
               **{peer: COLOURS[i % len(COLOURS)] for i, peer in enumerate(peers)}}
    # (threads, network, engine): seconds
    times = {(threads, name, engine): results[engine].median
             for threads, own in rows.items() for name, results in own if "nnc" in results
             for engine in colours if engine in results}
    names = list(dict.fromkeys(name for _, name, _ in times))
    ratios = {(threads, name, engine): time / times[threads, name, "nnc"]
              for (threads, name, engine), time in times.items()}
    unit = (PANEL - LABEL) / max(ratios.values(), default=1)  # as long as nnc's own bar
    group = BAR * len(colours) + GAP
    width = max(LEFT + PANEL * len(rows), 16 + 8 * len(title))
    height = TOP + group * len(names)

    parts = [text(8, 18, title, 13, weight="bold"),
             text(8, 35, "Time of a run over nnc's: the longer the bar, the slower")]
    for i, (engine, colour) in enumerate(colours.items()):
        parts += [box(8 + 105 * i, 44, 11, 11, colour), text(23 + 105 * i, 54, engine)]
    for i, name in enumerate(names):
        parts.append(text(LEFT - 8, TOP + group * (i + 0.5), name, anchor="end"))
    starts = {threads: LEFT + PANEL * i for i, threads in enumerate(rows)}
    for threads, start in starts.items():
        parts += [text(start, TOP - 8, f"{threads} thread{'s' * (threads > 1)}", weight="bold"),
                  box(start + unit, TOP - 4, 1, height - TOP, "#999999")]
    drawn = {}
    for (threads, name, engine), ratio in ratios.items():
        # Bars of a network follow each other, without holes for engines that lack it.
        place = drawn[threads, name] = drawn.get((threads, name), -1) + 1
        x, y = starts[threads], TOP + group * names.index(name) + BAR * place
        label = f"{1e3 * times[threads, name, engine]:.3g} ms"
        if engine != "nnc":
            label = f"{ratio:.2f} × ({label})"
        parts += [box(x, y, unit * ratio, BAR - 1, colours[engine]),
                  text(x + unit * ratio + 4, y + BAR - 2, label, 9)]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            'font-family="sans-serif">\n' + box(0, 0, width, height, "white") + "\n"
            + "\n".join(parts) + "\n</svg>\n")
