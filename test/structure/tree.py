"""The files of the project, for the checks in this folder."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*patterns, root=ROOT):
    """The files below `root` that git tracks or does not ignore, as paths relative to it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
         "--", *patterns],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout
    paths = sorted({pathlib.PurePosixPath(p) for p in listed.split("\0") if p})
    return [p for p in paths if (root / p).is_file()]
