"""Builds the kernels and the program that checks and times them on a GPU, and runs it.

    on_device.py                builds in a temporary folder, and runs where there is a GPU
    on_device.py --build DIR    only builds, for a machine with a GPU but without compilers
    on_device.py --run DIR      only runs

Without nvcc, or without a GPU, it is skipped; see test/cuda/toolkit.py.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import machine_code

HERE = machine_code.HERE
ROOT = machine_code.ROOT


def build(folder):
    tools = machine_code.find_tools()
    if not tools:
        return False
    for arch in (75, 80, 90):
        subprocess.run([tools[0], "-std=c++17", "-fmad=false", f"-arch=sm_{arch}", "-cubin",
                        f"-I{ROOT}", str(HERE / "kernels.cu"), "-o",
                        str(folder / f"kernels-{arch}.cubin")], check=True)
    compiler = os.environ.get("NNC_CXX") or shutil.which("clang++-19") or "c++"
    flags = ["-std=c++17", "-O2", "-DNNC_PORTABLE_SIMD=1", "-ffp-contract=off", f"-I{ROOT}"]
    checks = str(folder / "check.o")
    subprocess.run([compiler, *flags, "-Dmain=main_of_checks", "-c",
                    str(ROOT / "test/runtime/check.cpp"), "-o", checks], check=True)
    subprocess.run([compiler, *flags, "-static-libstdc++", "-static-libgcc",
                    str(HERE / "on_device.cpp"), checks, "-ldl", "-o", str(folder / "on_device")],
                   check=True)
    return True


def run(folder):
    return subprocess.run([str(folder / "on_device"), str(folder)]).returncode


def main():
    if sys.argv[1:2] == ["--run"]:
        return run(pathlib.Path(sys.argv[2]))
    if sys.argv[1:2] == ["--build"]:
        folder = pathlib.Path(sys.argv[2])
        folder.mkdir(parents=True, exist_ok=True)
        return 0 if build(folder) else machine_code.SKIPPED
    if not pathlib.Path("/dev/nvidia0").exists():
        print("skipped: there is no GPU")
        return machine_code.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        if not build(pathlib.Path(name)):
            print("skipped: there is no nvcc; scripts/setup --cuda installs it")
            return machine_code.SKIPPED
        return run(pathlib.Path(name))


if __name__ == "__main__":
    sys.exit(main())
