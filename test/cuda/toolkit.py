"""nvcc, and the tools that read machine code, where this machine has them: in the environment that
scripts/setup --cuda makes, whose versions are known, or on PATH. NNC_CUDA names another folder."""

import os
import pathlib
import re
import shutil
import subprocess

WHY_SKIPPED = "there is no nvcc; scripts/setup --cuda installs it"


def find(name):
    """The path of one of the toolkit's programs, or None."""
    cache = pathlib.Path(os.environ.get("NNC_CACHE", pathlib.Path.home() / ".cache" / "nnc"))
    folders = [os.environ.get("NNC_CUDA", ""),
               *map(str, sorted(cache.glob("cuda-venv/lib/python*/site-packages/nvidia/cu*/bin"))),
               os.environ.get("PATH", "")]
    return shutil.which(name, path=os.pathsep.join(filter(None, folders)))


def _find_top():
    """The toolkit's folder, of which nvcc may be far away behind a script, or None."""
    if not find("nvcc"):
        return None
    said = subprocess.run([find("nvcc"), "--dryrun", "-c", "-x", "cu", os.devnull, "-o", "none.o"],
                          check=True, capture_output=True, text=True).stderr
    return pathlib.Path(re.search("^#\\$ TOP=(.*)$", said, re.MULTILINE)[1].strip())


def include_folder():
    """The folder with cuda_runtime_api.h, or None."""
    top = _find_top()
    return next((path.parent for path in top.rglob("cuda_runtime_api.h")), None) if top else None


def library_folder():
    """The folder with libcudart_static.a, or None."""
    top = _find_top()
    return next((path.parent for path in top.rglob("libcudart_static.a")), None) if top else None


def compile_module(folder, manifest, *more):
    """Compiles the source of a CUDA module with nvcc and the flags of its manifest, and returns
    the object file and what nvcc said. Raises AssertionError if it fails."""
    source = f"{manifest['name']}.cu"
    done = subprocess.run([find("nvcc"), "-std=c++17", "-O3", *manifest["flags"], *more, "-I.",
                           "-c", source, "-o", "module.o"], cwd=folder, capture_output=True,
                          text=True)
    if done.returncode:
        raise AssertionError(f"nvcc fails: {(done.stderr + done.stdout)[:3000]}")
    return pathlib.Path(folder, "module.o"), done.stderr + done.stdout
