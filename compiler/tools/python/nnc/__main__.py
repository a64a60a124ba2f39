"""nnc's command line: `python -m nnc`, and the program `nnc` of the package."""

import os
import sys

from nnc._program import find_program


def main() -> None:
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
