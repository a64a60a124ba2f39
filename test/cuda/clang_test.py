"""clang as a second compiler of modules of CUDA, for each architecture: without a warning."""

import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import modules_test  # noqa: E402
import nnc  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CLANG = shutil.which("clang++-19")
FLAGS = ["-x", "cuda", "-std=c++17", "-O1", "-ffp-contract=off", "-nocudainc", "-nocudalib",
         "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unknown-cuda-version",
         "-DNNC_HOOKS=1", "-DNNC_CHECK_POINTERS=1", "-I.", "-include",
         HERE / "clang_declarations.h"]


@unittest.skipUnless(CLANG, "there is no clang++-19")
class Clang(nnc.TestCase):
    def compile(self, name, *options, first=75):
        self.nnc("compile", f"{name}.onnx", f"--target=cuda-sm{first},cuda-sm90", "-o", name,
                 "--name=network", *options)
        for flags in (["--cuda-host-only", "-fsyntax-only"],
                      *(["--cuda-device-only", "-S", f"--cuda-gpu-arch=sm_{arch}"]
                        for arch in (75, 80, 86, 89, 90) if arch >= first)):
            done = subprocess.run([CLANG, *FLAGS, *flags, "network.cu"],
                                  cwd=self.folder / name, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), (name, flags))
        text = (self.folder / name).glob("*.s")
        self.assertIn(".entry", next(text).read_text())

    def test_modules(self):
        """Portable kernels and kernels on blocks, tables, lists, loops and branches."""
        self.compile("network", "--precision=f16", "--io=host")
        for precision in "bf16", "tf32":
            shutil.rmtree(self.folder / "network")
            self.compile("network", f"--precision={precision}", first=80)
        for name, made in (("loop", modules_test.loop()), ("lookup", modules_test.lookup()),
                           ("moves", modules_test.moves())):
            self.save(name, made)
            self.compile(name)


if __name__ == "__main__":
    unittest.main()
