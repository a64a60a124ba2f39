"""The routines on blocks of a GPU's threads, as tables that timings.cpp and the fit of the cost
model include: files for each kind of layers and type, of lines

    NNC_TIMED(KIND, FAMILY, ROUTINE, TYPE, NAMES, VALUES, APPLIES, SCRATCH, EFFICIENCY)

where KIND names a list of layers of timed_layers.h. The others are a candidate's parameters, as
constants and as a list whose elements are followed by commas, and expressions of them and of `s`,
the shape. All five are in parentheses.
"""

import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "scripts/benchmark"))
import routine_tables  # noqa: E402

# The families that are timed: those for which timed_layers.h has layers.
FAMILIES = {"attention", "avg_pool2d", "conv2d", "layer_norm", "matmul", "max_pool2d",
            "reduce_mean", "softmax"}
# Products of two computed matrices, convolutions in groups, and those that load pixels of four
# channels have no layers there yet.
NOT_TIMED = ["_grouped_", "_pixels_", "_plain_"]
MOST_LINES = 12  # of a file, so that compilers share the work


def kind_of(row):
    """The layers that a routine is timed for."""
    if row["family"] == "conv2d" and "depthwise" in row["name"]:
        return "depthwise"
    if row["family"] == "conv2d" and "parts" in row["name"]:
        return "first"
    return row["family"]


def lines_of(row):
    kind = row["TYPES"].split(",")[0]
    names = routine_tables.split(row["PARAMS"])
    for candidate in routine_tables.split(row["CANDIDATES"]):
        values = routine_tables.split(candidate.strip("{} "))
        constants = "".join(f"constexpr int {name} = {value}; static_cast<void>({name}); "
                            for name, value in zip(names, values, strict=True))
        parameters = "".join(f"{value}, " for value in values)
        yield (f"NNC_TIMED({kind_of(row)}, {row['family']}, {row['name']}, {kind}, ({constants}), "
               f"({parameters}), ({row['APPLIES']}), ({row['SCRATCH']}), ({row['EFFICIENCY']}))\n")


def write_tables(folder, families="all"):
    """Writes the tables into the folder, and returns their paths. `families` names families, with
    commas between them, or is all or none."""
    _, routines = routine_tables.read()
    wanted = set(families.split(","))
    files = collections.defaultdict(list)
    for row in routines:
        if (row["LAUNCH"] and row["family"] in FAMILIES and {"all", row["family"]} & wanted
                and not any(part in row["name"] for part in NOT_TIMED)):
            files[f"{kind_of(row)}_{row['TYPES'].split(',')[0]}"] += lines_of(row)
    paths = []
    for name, lines in sorted(files.items()):
        parts = -(-len(lines) // MOST_LINES)
        for part in range(parts):
            path = pathlib.Path(folder, f"{name}_{part}.inc" if parts > 1 else f"{name}.inc")
            path.write_text("".join(lines[part::parts]))
            paths.append(path)
    return paths
