"""Installs nnc into a folder, and configures and builds CMake projects that find it there."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
MODEL = ROOT / "examples" / "firmware" / "model"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE

sys.path.insert(0, str(ROOT / "test" / "cli"))


class TestCase(unittest.TestCase):
    """Tests with one folder for all of them, whose `prefix` holds what is installed."""

    @classmethod
    def setUpClass(cls):
        # CMake compares paths, which must not have links in them.
        cls.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = cls.folder / "prefix"
        cls.install(cls.prefix)

    @staticmethod
    def install(prefix, *options):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, *options], check=True,
                       capture_output=True)

    def call(self, *command, fails=None, **how):
        environment = {**os.environ, "CMAKE_PREFIX_PATH": str(self.prefix), **how.pop("env", {})}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=600, env=environment, **{"cwd": self.folder, **how})
        if fails:
            self.assertNotEqual(done.returncode, 0, command)
            # CMake breaks its messages into lines.
            self.assertRegex(" ".join((done.stdout + done.stderr).split()), fails)
            return done.stdout
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def project(self, name, text):
        """A folder with this CMakeLists.txt."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.21)\nproject(user LANGUAGES C CXX)\n" + text)
        return folder

    def copy_example(self, name):
        """examples/cmake and the model that it uses, as a project of their own."""
        folder = self.folder / name
        shutil.copytree(ROOT / "examples" / "cmake", folder / "cmake",
                        ignore=shutil.ignore_patterns("build"))
        shutil.copytree(MODEL, folder / "firmware" / "model")
        return folder / "cmake"

    def configure(self, source, build="build", *options, generator="Ninja", **how):
        self.call("cmake", "-S", source, "-B", source / build, "-G", generator, *options, **how)
        return source / build

    def build(self, folder, *options):
        return self.call("cmake", "--build", folder, *options)

    def count_compilations(self, folder):
        """How often nnc runs in a build."""
        return self.build(folder).count("Compiling ")

    @staticmethod
    def touch(path):
        """Makes a file newer than all others; clocks of file systems tick each few ms."""
        time.sleep(0.02)
        os.utime(path)
        time.sleep(0.02)


def main(*tools):
    """Runs the tests of the main module, or says which tools are missing."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        print(f"skipped: {' and '.join(missing)} missing; scripts/setup installs them")
        sys.exit(SKIPPED)
    unittest.main()
