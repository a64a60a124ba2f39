"""Builds the wheel of the Python package, and tests it in a fresh environment."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np
import onnx

from wheel import FOLDER, ROOT, SITE

sys.path.insert(0, str(ROOT / "examples" / "ocr"))
import reference  # noqa: E402
import render  # noqa: E402

os.environ.pop("NNC", None)  # the package has a program of its own
MOST_BYTES = 60 << 20
NETWORKS = pathlib.Path(os.environ["NNC_CACHE"]) / "ocr-1.4.4"
# Libraries of the C and C++ compilers, which every machine has that builds programs.
SYSTEM = re.compile(r"(lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)|ld-linux-x86-64|ld-linux-aarch64)\.so")
READ = """
import sys, numpy, nnc
model = nnc.compile(sys.argv[1], shape={"x": (1, 3, 48, 320)})
print(model(numpy.load(sys.argv[2])).argmax(2)[0].tolist())
print(repr(model.metadata["character"]))
print(sorted({m.split(".")[0] for m in sys.modules if m in ("onnx", "google", "ml_dtypes")}))
"""


def run(*command, **how):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **how)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        run(ROOT / "scripts" / "package", "-o", FOLDER)
        (cls.wheel,) = FOLDER.glob("nnc-*.whl")
        run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet",
            "--target", SITE, cls.wheel)
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        # A fresh environment with numpy and the wheel, made without a network.
        run(sys._base_executable, "-m", "venv", cls.folder / "venv")
        cls.python = cls.folder / "venv" / "bin" / "python"
        (packages,) = (cls.folder / "venv").glob("lib/python*/site-packages")
        source = pathlib.Path(np.__file__).parents[1]
        for name in source.glob("numpy*"):
            shutil.copytree(name, packages / name.name)
        run(cls.python, "-m", "pip", "install", "--no-index", "--quiet", cls.wheel)

    def test_name(self):
        """pip installs it where the C library is new enough, and nowhere else."""
        self.assertRegex(self.wheel.name, r"^nnc-[\d.]+-cp3\d+-cp3\d+-manylinux_2_\d\d_\w+\.whl$")

    def test_size(self):
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)

    def test_libraries(self):
        """All that a part of the wheel loads is in the wheel, or on every machine."""
        parts = [p for p in SITE.rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreater(len(parts), 2)
        own = {p.name for p in (SITE / "nnc" / "lib").iterdir()}
        for part in parts:
            for name in re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", part)):
                self.assertTrue(name in own or SYSTEM.match(name), f"{part.name} needs {name}")
            # Only folders of the wheel may stand in a path of libraries.
            for path in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", run("readelf", "-d", part)):
                self.assertEqual(path, "$ORIGIN/../lib", part)

    def test_reads_text(self):
        text = render.LINES[0][-1]
        line = reference.at_line_height(np.asarray(render.line(*render.LINES[0])), 320)
        np.save(self.folder / "line.npy", reference.planes(line, reference.HALF, 320, 48))
        model = NETWORKS / "ch_PP-OCRv4_rec_infer.onnx"
        began = time.monotonic()
        said = run(self.python, "-c", READ, model, self.folder / "line.npy",
                   cwd=self.folder).splitlines()
        print(f"first result after {time.monotonic() - began:.1f} s")
        codes, characters = eval(said[0]), eval(said[1]).splitlines()
        read = "".join(([""] + characters + [" "])[code] for before, code in
                       zip([0, *codes], codes) if code != before)
        self.assertEqual(read, text)
        self.assertEqual(said[2], "[]")  # no other package than numpy

    def test_command_line(self):
        for command in ([self.python, "-m", "nnc"], [self.python.parent / "nnc"]):
            self.assertRegex(run(*command, "--version"), r"^nnc \d+\.\d+\.\d+ \(commit ")
        failed = subprocess.run([self.python, "-m", "nnc", "compile", "none.onnx", "-o", "out"],
                                capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("none.onnx", failed.stderr)

    def test_version(self):
        said = run(self.python, "-c", "import nnc; print(nnc.__version__)")
        self.assertIn(f"-{said.strip()}-", self.wheel.name)

    def test_without_llvm(self):
        """In a view of the machine without LLVM's folder."""
        llvm = pathlib.Path("/usr/lib/llvm-19")
        hide = f"mount -t tmpfs none {llvm} && test -z \"$(ls {llvm})\""
        if subprocess.run(["unshare", "-m", "sh", "-c", hide], capture_output=True).returncode:
            self.skipTest("no right to hide LLVM")
        graph = onnx.parser.parse_model(
            '<ir_version: 9, opset_import: ["" : 20]> g (float[4] x) => (float[4] y) '
            "{ y = Exp (x) }")
        onnx.save(graph, self.folder / "exp.onnx")
        script = ("import nnc, numpy; m = nnc.compile('exp.onnx'); "
                  "print(m(numpy.ones(4, numpy.float32)))")
        said = run("unshare", "-m", "sh", "-c", f'{hide} && exec "$@"', "sh", self.python, "-c",
                   script, cwd=self.folder)
        self.assertIn("2.718", said)


if __name__ == "__main__":
    unittest.main()
