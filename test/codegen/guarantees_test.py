"""Tests the guarantees of codegen/README.md for the emitted code of whole networks.

Objects of every compiler have no mutable data, no initializers, no exception tables and no type
information, and they require only a few functions of the C library. The code builds without
warnings, even with more warnings enabled than the README lists. The runtime contains the
vectors of the instruction sets of the routines, and no others. The emitted bytes do not depend
on the output folder, on the environment or on the folder of the model file.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
OCR = next(iter(sorted(pathlib.Path(os.environ["NNC_CACHE"]).glob("ocr-*"))))

# The network, and the shape of its input.
MODELS = {"classifier": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "x=1x3x48x192"),
          "recognizer": ("ch_PP-OCRv4_rec_infer.onnx", "x=1x3x48x320")}

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
          "-Wno-sign-conversion", "-Werror"]

# model, target, compiler, standard
BUILDS = [
    ("classifier", "portable", "g++", "c++17"),
    ("recognizer", "x86-64-v3", "g++", "c++17"),
    ("classifier", "x86-64-v4", "g++", "c++20"),
    ("recognizer", "x86-64-v3", "clang++-19", "c++20"),
    ("recognizer", "x86-64-v4", "clang++-19", "c++17"),
    ("recognizer", "aarch64", "aarch64-linux-gnu-g++", "c++17"),
    ("classifier", "armv7", "arm-linux-gnueabihf-g++", "c++17"),
]

# What the C library must have; the linker's own names and those of Arm's helpers.
WANTED = re.compile(r"memcpy|memset|memmove|floorf|_GLOBAL_OFFSET_TABLE_|__aeabi_\w+")
ENTRIES = {"model_run", "model_run_parallel", "model_check_weights"}
LONG_NAME = 40


def compile_model(model, target, folder, *options, **how):
    file, shape = MODELS[model]
    subprocess.run([BUILD.resolve() / "bin" / "nnc", "compile", OCR / file, "-o", folder,
                    "--name=model", f"--shape={shape}", f"--target={target}", *options],
                   check=True, capture_output=True, **how)
    return folder


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_object(path, entries):
    """Yields the faults of an object that may define `entries`."""
    for line in output("llvm-nm-19", "--format=posix", path).splitlines():
        name, kind = line.split()[:2]
        if kind == "U" and name != "model_weights" and not WANTED.fullmatch(name):
            yield f"wants {name}"
        if kind in "DdBbCGgSs":
            yield f"has {name}, which may change"
        # What is in the layers' namespace, which has the model's name, is in nobody's way.
        if kind in "TVWRu" and name not in entries and not name.startswith("_ZN12model_layers"):
            yield f"gives {name} to the whole program"
        if name.startswith(("_ZTI", "_ZTS", "_ZTV")):
            yield f"has the type information {name}"
    sections = re.findall(r"^Section {.*?Name: (\S+).*?Size: (\d+)",
                          output("llvm-readobj-19", "--sections", path), re.M | re.S)
    for name, size in sections:
        if int(size) and re.match(r"\.(data(?!\.rel\.ro)|bss|init_array|ctors|tdata|tbss"
                                  r"|gcc_except_table)", name):
            yield f"has {size} bytes in {name}"


def check_text(folder):
    """Yields the lines that are too long without a good reason."""
    for path in [*folder.glob("*.cpp"), *folder.glob("*.h")]:
        if "metadata" in path.name:
            continue
        for line in path.read_text().splitlines():
            if len(line) > 80 and not re.search(rf"\w{{{LONG_NAME}}}", line):
                yield f"{path.name}: {line}"


def check_runtime(folder):
    """Yields the vectors that no routine needs."""
    layers = json.loads((folder / "manifest.json").read_text())["layers"]
    wanted = {layer["routine"].rsplit("_", 1)[-1] for layer in layers} | {"portable"}
    runtime = (folder / "model_runtime.h").read_text()
    for isa in re.findall(r"^// runtime/simd/vec_(\w+)\.h$", runtime, re.M):
        if isa not in wanted:
            yield f"{folder.name} has the vectors of {isa}, which no routine is for"


def check_builds(top):
    for model, target, compiler, standard in BUILDS:
        folder = top / f"{model}-{target}"
        if not folder.exists():
            compile_model(model, target, folder, "--threads=on")
            yield from check_text(folder)
            yield from check_runtime(folder)
        if not shutil.which(compiler):
            print(f"{compiler} is missing")
            continue
        flags = json.loads((folder / "manifest.json").read_text())["flags"]
        code = folder / f"{compiler}-{standard}.o"
        built = subprocess.run(
            [compiler, f"-std={standard}", "-O1", "-c", *STRICT,
             *flags, folder / "model.cpp", "-o", code],
            capture_output=True, text=True)
        what = f"{model} for {target}, {compiler} -std={standard}"
        if built.returncode:
            yield f"{what}: {built.stderr}"
            continue
        for problem in check_object(code, ENTRIES):
            yield f"{what}: {problem}"
        print(what, flush=True)


def check_same_bytes(top):
    """Checks that the folder, its depth, the environment and the locale make no difference."""
    want = compile_model("classifier", "aarch64", top / "one")
    deep = top / "a" / "b" / "c"
    deep.mkdir(parents=True)
    locales = output("locale", "-a").split()
    odd = next((name for name in locales if name.startswith("de_DE")), "C.utf8")
    for environment in ({"LC_ALL": odd, "TZ": "Asia/Tokyo", "HOME": str(deep)},
                        {"LC_ALL": "C", "LANG": odd, "PATH": os.environ["PATH"]}):
        got = compile_model("classifier", "aarch64", deep / "two", cwd=deep,
                            env=environment)
        names = sorted(path.name for path in want.iterdir())
        if names != sorted(path.name for path in got.iterdir()):
            yield f"{environment} gets other files"
        for name in names:
            if (want / name).read_bytes() != (got / name).read_bytes():
                yield f"{environment} gets another {name}"
        shutil.rmtree(got)


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        for problem in [*check_builds(top), *check_same_bytes(top)]:
            print("FAILED:", problem)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
