"""Runs each recipe of examples/recipes as its page shows it, and compares the output with the
lines on the page."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
PAGE = (ROOT / "examples" / "recipes" / "README.md").read_text()
# What ssh does here: programs for aarch64 run in an emulator.
SSH = """#!/bin/sh
test "$3" = board || exit 255
shift 3
exec sh -c "$(echo "$*" | sed 's/&& \\$f /\\&\\& qemu-aarch64 -L \\/usr\\/aarch64-linux-gnu $f /')"
"""


def read_recipes():
    """The commands of each recipe and the output that it shows, by title."""
    recipes = {}
    for part in PAGE.split("\n## ")[1:]:
        title, text = part.split("\n", 1)
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        recipes[title] = ("".join(body for kind, body in blocks if kind == "sh"),
                          [line for kind, body in blocks if kind == "text"
                           for line in body.splitlines()])
    return recipes


RECIPES = read_recipes()


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.top)
        shutil.copytree(ROOT / "examples", cls.top / "examples", symlinks=True,
                        ignore=shutil.ignore_patterns("build"))
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.top], check=True,
                       capture_output=True)
        (cls.top / "bin" / "ssh").write_text(SSH)
        (cls.top / "bin" / "ssh").chmod(0o755)

    def run_recipe(self, title):
        commands, shown = RECIPES[title]
        here = self.top / "examples" / "recipes"
        (here / "build").mkdir(exist_ok=True)
        path = f"{self.top}/bin:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands], cwd=here, capture_output=True, text=True,
            env={**os.environ, "PATH": path, "PYTHONPATH": str(BUILD / "python" / "site"),
                 "XDG_CACHE_HOME": str(self.top / "cache")})
        self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}{done.stderr}")
        lines = iter(done.stdout.splitlines())
        for line in shown:  # in this order, and others between them
            self.assertIn(line, lines, f"not in the output:\n{done.stdout}{done.stderr}")

    def test_page(self):
        """Every recipe is in the list at the top, and shows commands."""
        listed = re.findall(r"^- \[(.*)\]\(#(.*)\)$", PAGE, re.MULTILINE)
        self.assertEqual([title for title, _ in listed], list(RECIPES))
        for title, anchor in listed:
            self.assertEqual(anchor, re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"))
            self.assertTrue(RECIPES[title][0], title)

    def test_files(self):
        """make.py makes the files that are there."""
        made = self.top / "made"
        made.mkdir()
        subprocess.run([sys.executable, "-B", ROOT / "examples" / "recipes" / "make.py", made],
                       check=True)
        for name in ("gesture.onnx", "lengths.onnx"):
            self.assertEqual((made / name).read_bytes(),
                             (ROOT / "examples" / "recipes" / name).read_bytes(), name)


def add_test(title):
    def test(self):
        if title == "From Python" and not (BUILD / "python" / "site").exists():
            self.skipTest("the wheel is not built")
        self.run_recipe(title)

    name = "test_" + re.sub(r"\W+", "_", title.lower())
    setattr(Recipes, name, test)


for recipe in RECIPES:
    add_test(recipe)

if __name__ == "__main__":
    unittest.main()
