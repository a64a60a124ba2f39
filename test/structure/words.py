"""Checks that the tables of dialects/nn/description are sorted, as the code that reads them
requires. The table of functions has a line for each elementwise function whose name is not
clear enough. The table of ops has one for each op that routines compute."""

import re
import sys

import tree

WORDS = tree.ROOT / "dialects/nn/description"


def rows(path, pattern):
    return re.findall(pattern, path.read_text(), re.MULTILINE)


def main():
    functions = rows(WORDS / "functions.inc", r'^NNC_FUNCTION_WORDS\("(\w+)"')
    ops = rows(WORDS / "ops.inc", r"^NNC_OP_WORDS\((\w+),")
    problems = [f"{name}: not sorted" for name, table in (("functions.inc", functions),
                                                         ("ops.inc", ops))
                if table != sorted(set(table))]
    # A function without a line is told by its name.
    problems += [f"functions.inc: {name} needs no line, as its name says the same"
                 for name, words in rows(
                     WORDS / "functions.inc",
                     r'^NNC_FUNCTION_WORDS\("(\w+)", always, "([^"]*)", ""\)')
                 if words == name.replace("_", " ")]
    described = set(ops) | set(rows(
        WORDS / "Description.cpp", r"(?:: Described<\w+, |^NNC_LSTM_WORDS\()(\w+)"))
    for table in sorted((tree.ROOT / "dialects/nn").rglob("*.td")):
        for name in rows(table, r"^def Nn_(\w+Op) : Nn_(?:RoutineOp|AnchorOp|PoolOp|ArgOp|ScanOp)<"):
            if name not in described:
                problems.append(f"{table.name}: nothing describes {name}; give it a line in "
                                "description/ops.inc")
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
