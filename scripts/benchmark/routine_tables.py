"""The tables of routines in runtime/routines/, as the preprocessor reads them."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX = "runtime/routines/catalogue/routines.inc"
COLUMNS = ["TYPES", "LAYOUTS", "PARAMS", "CANDIDATES", "APPLIES", "SCRATCH", "EFFICIENCY",
           "ERROR", "LAUNCH"]
SOURCE = f"""
#define NNC_FAMILY(...) FAMILY_LINE(__VA_ARGS__)
#define NNC_ROUTINE(...) ROUTINE_LINE(__VA_ARGS__)
#include "{INDEX}"
"""


def split(text):
    """Splits at the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + ([last] if last or parts else [])


def find_calls(name, text):
    """The arguments of each call name(...) in the text."""
    for match in re.finditer(rf"\b{name}\(", text):
        end, depth = match.end(), 1
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        yield split(text[match.end():end - 1])


def list_tables():
    """The paths of all tables, in the order in which the catalogue includes them."""
    return [ROOT / path for path in
            re.findall(r'^#include "(.*)"', (ROOT / INDEX).read_text(), re.M)]


def read():
    """Families as lists of cells; routines as dictionaries of cells by their columns."""
    text = subprocess.run(["c++", "-E", "-P", "-x", "c++", "-std=c++17", f"-I{ROOT}", "-"],
                          input=SOURCE, check=True, capture_output=True, text=True).stdout
    routines = []
    for cells in find_calls("ROUTINE_LINE", text):
        row = dict(zip(["family", "name", "header", "isa"], cells))
        # Only routines for blocks of a GPU's threads have a LAUNCH.
        for column, cell in zip(COLUMNS, [*cells[4:], "LAUNCH()"][:len(COLUMNS)], strict=True):
            assert cell.startswith(column + "(") and cell.endswith(")"), cell
            row[column] = cell[len(column) + 1:-1]
        row["header"] = row["header"].strip('"')
        routines.append(row)
    return list(find_calls("FAMILY_LINE", text)), routines
