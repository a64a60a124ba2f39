"""Tests examples/ocr with the networks that nnc emits against the same program with
onnxruntime, on lines of text and whole pages: boxes and texts are the same."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ocr"
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
sys.path.insert(0, str(EXAMPLE))
import render  # noqa: E402

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
PIXELS = 1.0  # that corners of a box may be apart
CONFIDENCE = 2e-3

FONTS = ["DejaVuSans.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf", "DejaVuSans-Bold.ttf",
         "DejaVuSerif-Bold.ttf", "DejaVuSansMono-Bold.ttf"]
SENTENCES = ["Shapes are fixed when compiling.", "All memory comes from the caller.",
             "No heap, no locks, no surprises", "4.1 billion multiply-adds in 72.8 ms",
             "Row 17: 0x7fff, 50% of 1,024", "Is this line read as well? Yes!"]


def column(size, first, step, smallest):
    """Lines of text below each other, each in another font and size."""
    rows = range((size[1] - first) // step)
    return [(30 + 17 * i % 60, first + i * step, 0, FONTS[i % len(FONTS)],
             smallest + 5 * i % 17, SENTENCES[i * 5 % len(SENTENCES)]) for i in rows]


def pages():
    """The images by name."""
    drawn = render.page()
    wide, tall = (1400, 420), (620, 1100)
    return {"page": drawn, "upside-down": drawn.rotate(180), "askew": drawn.rotate(4),
            "wide": render.page(wide, column(wide, 30, 62, 24)),
            "tall": render.page(tall, column(tall, 30, 55, 18))}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stderr or done.stdout}")
    return done.stdout


def parse(text):
    """Rows of ocr's output: text, confidence, width of the network, corners."""
    rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return [(row[0], float(row[1]), int(row[2]),
             np.array([[float(c) for c in p.split(",")] for p in row[4].split()])
             if len(row) > 4 else None) for row in rows]


class Ocr(unittest.TestCase):
    target = "native"

    @classmethod
    def setUpClass(cls):
        cls.models = next(iter(sorted(cache().glob("ocr-*"))))
        (machine,) = [t for t in json.loads(run(BUILD / "bin" / "nnc", "targets", "--json"))
                      if t["name"] == cls.target]
        cls.emulator = machine["emulator"].split()
        cls.program = cls.build(machine["compiler"])
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    @classmethod
    def build(cls, compiler):
        # Below the build folder, where a second run finds the objects of the first.
        folder = BUILD / "test" / "examples" / f"ocr-{cls.target}"
        run(EXAMPLE / "compile-networks", BUILD / "bin" / "nnc", cls.models, folder / "networks",
            f"--target={cls.target}")
        options = [f"-DOCR_NETWORKS={folder / 'networks'}"]
        if compiler != "c++":
            options += ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={cls.target}",
                        f"-DCMAKE_CXX_COMPILER={compiler}",
                        f"-DCMAKE_C_COMPILER={compiler.replace('g++', 'gcc')}"]
        if launcher := shutil.which("ccache"):
            options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
        run("cmake", "-S", EXAMPLE, "-B", folder / "build", "-G", "Ninja", *options)
        run("cmake", "--build", folder / "build")
        return folder / "build" / "ocr"

    def read(self, pictures, *options):
        """What the example reads, and what onnxruntime does, picture by picture."""
        for name, picture in pictures.items():
            path = self.folder / f"{name}.png"
            picture.save(path)
            ours = parse(run(*self.emulator, self.program, *options, path))
            theirs = parse(run(sys.executable, "-B", EXAMPLE / "reference.py",
                               f"--networks={self.models}", *options, path))
            self.assertEqual([row[0] for row in ours], [row[0] for row in theirs], name)
            for (text, sure, width, box), (_, as_sure, as_wide, same_box) in zip(ours, theirs):
                with self.subTest(picture=name, line=text):
                    self.assertAlmostEqual(sure, as_sure, delta=CONFIDENCE)
                    self.assertEqual(width, as_wide)
                    if box is not None:
                        self.assertLessEqual(np.abs(box - same_box).max(), PIXELS)
            yield name, [row[0] for row in ours]

    def test_lines(self):
        pictures = {f"line-{i}": render.line(*spec) for i, spec in enumerate(render.LINES)}
        texts = dict(self.read(pictures, "--line"))
        self.assertEqual([text.strip() for (text,) in texts.values()],
                         [spec[-1] for spec in render.LINES])

    def test_pages(self):
        drawn = [line[-1] for line in render.PAGE_LINES]
        for name, texts in self.read(pages()):
            if name == "page":
                self.assertEqual(texts, drawn)
            elif name == "upside-down":
                self.assertEqual(sorted(texts), sorted(drawn))
            else:
                self.assertGreaterEqual(len(texts), 6, name)


def cache():
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    return pathlib.Path(os.environ.get("NNC_CACHE", default / "nnc"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="native")
    options, rest = parser.parse_known_args()
    if not list(cache().glob("ocr-*/*.onnx")):
        print(f"skipped: no PP-OCR networks in {cache()}; scripts/setup puts them there")
        sys.exit(SKIPPED)
    Ocr.target = options.target
    unittest.main(argv=[sys.argv[0], *rest])
