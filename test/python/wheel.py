"""The wheel that the tests of the Python package use, which wheel_test.py builds."""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
FOLDER = BUILD / "python"
SITE = FOLDER / "site"  # what is in the wheel, as it is installed


def use():
    """Makes `import nnc` import the package of the wheel, which uses its own program."""
    os.environ.pop("NNC", None)
    sys.path.insert(0, str(SITE))
