"""Builds and runs examples/firmware, for the tests of its builds and of its packages. Each
program must print the same as the program built for this machine."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "firmware"
BOARD, MODEL = EXAMPLES / "board", EXAMPLES / "model"
NNC = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin" / "nnc"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
TOOLS = ["arm-none-eabi-g++", "qemu-system-arm"]
CPU = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
LINK = [*CPU, "--specs=nano.specs", "--specs=rdimon.specs", "-nostartfiles",
        f"-T{BOARD}/mps2-an386.ld"]
TOOLCHAIN = f"-DCMAKE_TOOLCHAIN_FILE={EXAMPLES / 'cmake' / 'arm-none-eabi.cmake'}"
LABELS = ["still", "shake", "circle", "nod"]


class TestCase(unittest.TestCase):
    lines = []  # of expected()

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def call(self, *command, fails=None, **how):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=120, **{"cwd": self.folder, **how})
        if fails:
            self.assertNotEqual(done.returncode, 0, command)
            self.assertRegex(done.stdout + done.stderr, fails)
            return done.stderr
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def nnc(self, folder, *options, target="cortex-m4", model=MODEL / "gesture.tflite"):
        self.call(NNC, "compile", model, f"--target={target}", "-o", folder, *options)
        return self.folder / folder

    def emulate(self, program):
        return self.call("qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor",
                         "none", "-serial", "none", "-semihosting-config",
                         "enable=on,target=native", "-kernel", program)

    def build(self, program, sources, flags=(), cpp=(), c=(), cross="arm-none-eabi-"):
        """Compiles each source by itself, as build systems do, and links."""
        objects = []
        for i, source in enumerate(sources):
            objects.append(self.folder / f"{program}-{i}.o")
            compiler, more = (("g++", cpp) if source.suffix == ".cpp" else ("gcc", c))
            self.call(cross + compiler, *(CPU if cross else ()), *more, *flags, "-c", source,
                      "-o", objects[-1])
        self.call(cross + "gcc", *(LINK if cross else ()), *objects, "-lm", "-o", program)
        return self.folder / program

    def expected(self):
        """What app/main.c prints of the clips on this machine, without its first line, which
        tells sizes."""
        if not TestCase.lines:
            TestCase.lines = self.print_on_this_machine()
        return TestCase.lines

    def print_on_this_machine(self):
        code = self.nnc("host", target="portable")
        program = self.build("host-program", [EXAMPLES / "app" / "main.c", code / "gesture.cpp",
                                              code / "gesture_weights.S"],
                             ["-O1", f"-I{code}", f"-I{MODEL}"],
                             ["-std=c++17", "-DNNC_PORTABLE_SIMD"], cross="")
        first, *lines = self.call(program).splitlines()
        self.assertRegex(first, r"arena \d+ bytes, weights \d+ bytes")
        self.assertEqual([line.split()[::2][:2] for line in lines], [[n, n] for n in LABELS])
        return lines

    def check(self, said, folder):
        """Compares what app/main.c printed about the module in a folder."""
        first, *lines = said.splitlines()
        manifest = json.loads((folder / "manifest.json").read_text())
        self.assertEqual(first, "arena {arena_bytes} bytes, weights {weight_bytes} bytes"
                         .format(**manifest))
        self.assertEqual(lines, self.expected())

    def check_files(self, folder):
        """Every file that the manifest lists is there, and nothing else."""
        manifest = json.loads((folder / "manifest.json").read_text())
        there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        self.assertEqual(there, {*manifest["files"], "manifest.json"})
        for file in manifest["files"]:
            self.assertFalse(file.startswith("/") or ".." in file)

    def commands(self, build):
        """The compiler's words for each source of a CMake build."""
        listed = json.loads((self.folder / build / "compile_commands.json").read_text())
        return {pathlib.Path(entry["file"]).name: entry["command"].split() for entry in listed}


def main():
    """Runs the tests of the main module, or prints which tools are missing."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: {' and '.join(missing)} missing; scripts/setup installs them")
        sys.exit(SKIPPED)
    unittest.main()
