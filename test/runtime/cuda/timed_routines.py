"""The routines on blocks of a GPU's threads, as tables that timings.cpp and the fit of the cost
model include: files for each kind of layers and type, of lines

    NNC_TIMED(KIND, FAMILY, ROUTINE, TYPE, NAMES, VALUES, APPLIES, SCRATCH, EFFICIENCY)

where KIND names a list of layers of timed_layers.h or timed_moves.h. The others are a candidate's
parameters, as constants and as a list whose elements are followed by commas, and expressions of
them and of `s`, the shape. All five are in parentheses.
"""

import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "scripts/benchmark"))
import routine_tables  # noqa: E402

# The families that are timed: those for which there are layers.
FAMILIES = {"attention", "avg_pool2d", "conv2d", "conv_transpose2d", "copy", "elementwise",
            "gather", "join", "layer_norm", "matmul", "max_pool2d", "pad", "reduce_mean",
            "resize", "softmax"}
# The types of the first input. The kernels of moves depend on the size of their elements alone.
TYPES = {"byte", "f16", "f32"}
# Parts of names of routines for which there are no layers: images as callers pass them.
UNTIMED = ["_nchw_pixels_"]
# Parts of names for which a family has layers of their own, and the kind of these layers.
KINDS = {"conv2d": [("depthwise", "depthwise"), ("_grouped_", "grouped"), ("_pixels_", "pixels"),
                    ("parts", "first")],
         "elementwise": [("_from_plain_", "changed"), ("_to_plain_", "changed")],
         "matmul": [("_plain_", "matrices")]}
MOST_LINES = 12  # of a file, so that compilers share the work


def kind_of(row):
    """The layers that a routine is timed for."""
    return next((kind for part, kind in KINDS.get(row["family"], []) if part in row["name"]),
                row["family"])


def type_of(row):
    return row["TYPES"].split(",")[0]


def lines_of(row):
    names = routine_tables.split(row["PARAMS"])
    for candidate in routine_tables.split(row["CANDIDATES"]):
        values = routine_tables.split(candidate.strip("{} "))
        constants = "".join(f"constexpr int {name} = {value}; static_cast<void>({name}); "
                            for name, value in zip(names, values, strict=True))
        parameters = "".join(f"{value}, " for value in values)
        yield (f"NNC_TIMED({kind_of(row)}, {row['family']}, {row['name']}, {type_of(row)}, "
               f"({constants}), ({parameters}), ({row['APPLIES']}), ({row['SCRATCH']}), "
               f"({row['EFFICIENCY']}))\n")


def write_tables(folder, families="all"):
    """Writes the tables into the folder, and returns their paths. `families` names families or
    kinds of layers, with commas between them, or is all or none."""
    _, routines = routine_tables.read()
    wanted = set(families.split(","))
    files = collections.defaultdict(list)
    for row in routines:
        if (row["LAUNCH"] and row["family"] in FAMILIES and type_of(row) in TYPES
                and not any(part in row["name"] for part in UNTIMED)
                and {"all", row["family"], kind_of(row)} & wanted):
            files[f"{kind_of(row)}_{type_of(row)}"] += lines_of(row)
    paths = []
    for name, lines in sorted(files.items()):
        parts = -(-len(lines) // MOST_LINES)
        for part in range(parts):
            path = pathlib.Path(folder, f"{name}_{part}.inc" if parts > 1 else f"{name}.inc")
            path.write_text("".join(lines[part::parts]))
            paths.append(path)
    return paths
