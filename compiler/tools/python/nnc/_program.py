"""The program nnc, which the package starts."""

import os
import pathlib
import shutil


def find_program() -> str:
    """Returns the path of nnc: what the environment variable NNC says, else the package's
    own program, else the one on PATH."""
    own = pathlib.Path(__file__).parent / "bin" / "nnc"
    for path in (os.environ.get("NNC"), own, shutil.which("nnc")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError(
        "there is no program nnc in the package, in $NNC or on PATH")
