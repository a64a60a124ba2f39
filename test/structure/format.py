"""Checks that every C++ source is formatted as clang-format formats it. `--fix` formats in place.

clang-format ignores tables (.inc). Their lines must have at most 100 columns.
"""

import subprocess
import sys

import tree


COLUMNS = 100


def long_lines(texts):
    """The lines that are too long. `texts` are the tables by their names."""
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS:
                yield f"{name}:{number}: has {len(line)} columns, at most {COLUMNS} are allowed"


def main():
    assert not list(long_lines({"a.inc": "x" * COLUMNS + "\n"}))
    assert list(long_lines({"a.inc": "\n" + "x" * (COLUMNS + 1)})) == [
        "a.inc:2: has 101 columns, at most 100 are allowed"]
    tables = tree.files("*.inc")
    found = list(long_lines({str(p): (tree.ROOT / p).read_text() for p in tables}))
    print(*found, sep="\n")
    sources = [str(p) for p in tree.files("*.h", "*.c", "*.cpp", "*.cu", "*.cuh")]
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    done = subprocess.run(["clang-format-19", *mode, *sources], cwd=tree.ROOT)
    print(f"{len(sources)} sources and {len(tables)} tables checked")
    return 1 if found else done.returncode


if __name__ == "__main__":
    sys.exit(main())
