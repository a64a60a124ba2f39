"""A small network from nn IR to numbers, built as users build it.

Convolution, residual addition, concat, pooling, product, softmax, with random
weights and odd channel counts, go through every pass and the printer for several
targets. The written folder is built with each compiler at -Wall -Wextra -Werror,
runs (under qemu for aarch64, also with halves, under the sanitizers once), and is compared with
numpy. The same folder must come out from any place, byte by byte."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

BIN = pathlib.Path(os.environ["NNC_BUILD_DIR"]) / "bin"
HERE = pathlib.Path(__file__).parent
SIZE, CHANNELS, CLASSES = 11, 24, 7


def host_has(feature):
    info = pathlib.Path("/proc/cpuinfo")
    return info.exists() and feature in info.read_text().split()


def hexed(array):
    return '"0x' + array.astype("<f4").tobytes().hex().upper() + '"'


def tensor(shape):
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


def network(weights):
    """The nn IR; every value below is computed again by reference()."""
    constants = "\n".join(
        f"    %{name} = nn.constant dense<{hexed(w)}> : {tensor(w.shape)}"
        for name, w in weights.items())
    x, y = (1, 3, SIZE, SIZE), (1, CHANNELS, SIZE, SIZE)
    joined, bias = (1, 2 * CHANNELS, SIZE, SIZE), (1, CHANNELS, 1, 1)
    conv = ("{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
            "pads = array<i64: 1, 1, 1, 1>, groups = 1 : i64}")
    pool = (f"{{kernel = array<i64: {SIZE}, {SIZE}>, strides = array<i64: 1, 1>, "
            "dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, "
            "ceil_mode = false, count_include_pad = false}")
    return f"""
module attributes {{nn.model = "network", nn.sha256 = "00"}} {{
  func.func @main(%x: {tensor(x)} {{nn.name = "in.0"}})
      -> ({tensor((1, CLASSES))} {{nn.name = "prob"}}) {{
{constants}
    %0 = nn.conv %x, %w1 {conv} : ({tensor(x)}, {tensor(weights['w1'].shape)}) -> {tensor(y)}
    %1 = nn.add %0, %b1 : {tensor(y)}, {tensor(bias)}
    %2 = nn.relu %1 : {tensor(y)}
    %3 = nn.conv %2, %w2 {conv} : ({tensor(y)}, {tensor(weights['w2'].shape)}) -> {tensor(y)}
    %4 = nn.add %3, %2 : {tensor(y)}, {tensor(y)}
    %5 = nn.sigmoid %4 : {tensor(y)}
    %6 = nn.concat %5, %2 {{axis = 1 : i64}} : ({tensor(y)}, {tensor(y)}) -> {tensor(joined)}
    %7 = nn.avg_pool %6 {pool} : ({tensor(joined)}) -> {tensor((1, 2 * CHANNELS, 1, 1))}
    %8 = nn.reshape %7 : {tensor((1, 2 * CHANNELS, 1, 1))} -> {tensor((1, 2 * CHANNELS))}
    %9 = nn.matmul %8, %w3 {{transpose_a = false, transpose_b = false}} : ({tensor((1, 2 * CHANNELS))}, {tensor(weights['w3'].shape)}) -> {tensor((1, CLASSES))}
    %10 = nn.softmax %9 {{axis = 1 : i64, log = false}} : ({tensor((1, CLASSES))}) -> {tensor((1, CLASSES))}
    return %10 : {tensor((1, CLASSES))}
  }}
}}
"""


def conv(x, w):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.einsum("nchwij,kcij->nkhw", windows, w)


def reference(x, weights):
    w = {name: value.astype("f8") for name, value in weights.items()}
    first = np.maximum(conv(x.astype("f8"), w["w1"]) + w["b1"], 0)
    second = 1 / (1 + np.exp(-(conv(first, w["w2"]) + first)))
    mean = np.concatenate([second, first], 1).mean((2, 3))
    scores = np.exp(mean @ w["w3"])
    return scores / scores.sum()


def pipeline(target):
    """The passes for the target. Values are halves if the target has arithmetic on halves."""
    return f"target={target} precision={'f16' if target in HALVES else 'f32'}"


def compile_network(text, target, folder, threads=1):
    passes = f"{pipeline(target)} threads={threads}"
    exec_ir = subprocess.run(
        [BIN / "nnc-opt", f"--nnc-pipeline={passes}"], input=text,
        text=True, check=True, capture_output=True).stdout
    subprocess.run([BIN / "nnc-codegen", "-", "-o", folder, f"--with-threads={threads}"],
                   input=exec_ir, text=True, check=True)


STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-fno-exceptions",
          "-fno-rtti"]


def build(folder, compiler, flags):
    """Builds the program that reads in.0 from stdin and writes prob to stdout."""
    program = folder.parent / (folder.name + "." + pathlib.Path(compiler).name)
    subprocess.run(
        [compiler, *STRICT, *flags, f"-I{folder}",
         folder / "network.cpp", folder / "network_weights.S",
         HERE / "end_to_end_main.cpp", "-o", program], check=True)
    return program


def run(program, x, runner=()):
    done = subprocess.run([*runner, program], input=x.tobytes(), check=True,
                          capture_output=True)
    return np.frombuffer(done.stdout, "<f4")


CONTRACT = ["-ffp-contract=off", "-fno-math-errno"]
V3 = ["-march=x86-64-v3"]
V4 = ["-march=x86-64-v4"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
X86 = os.uname().machine == "x86_64"
QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]

FP16 = ["-march=armv8.2-a+fp16"]
HALVES = ["aarch64-fp16"]

# target, compiler, flags, what runs the program (None: build only)
BUILDS = [
    ("portable", "g++", [], []),
    ("portable", "clang++-19", SANITIZE, []),
    ("aarch64", "aarch64-linux-gnu-g++", [], QEMU if shutil.which(QEMU[0]) else None),
    ("aarch64-fp16", "aarch64-linux-gnu-g++", FP16,
     QEMU if shutil.which(QEMU[0]) else None),
    ("aarch64-fp16", "clang++-19", [*FP16, "--target=aarch64-linux-gnu"],
     QEMU if shutil.which(QEMU[0]) else None),
]
if X86:
    BUILDS += [
        ("x86-64-v3", "g++", V3, [] if host_has("avx2") else None),
        ("x86-64-v3", "clang++-19", V3 + SANITIZE, [] if host_has("avx2") else None),
        ("x86-64-v4", "clang++-19", V4, [] if host_has("avx512vl") else None),
        ("x86-64-v4", "g++", V4, [] if host_has("avx512vl") else None),
    ]


def run_two_models(text, top):
    """Runs two models in one program, each compiled with the flags of its own machine."""
    target, flags = ("x86-64-v3", V3) if X86 and host_has("avx2") else ("portable", [])
    compile_network(text, "portable", top / "one")
    compile_network(text.replace('"network"', '"other"'), target, top / "two",
                    threads=3)
    objects = []
    for folder, name, more in (("one", "network", []), ("two", "other", flags)):
        objects += [top / f"{name}.o", top / folder / f"{name}_weights.S"]
        subprocess.run(["g++", *STRICT, *CONTRACT, *more, "-c",
                        top / folder / f"{name}.cpp", "-o", objects[-2]], check=True)
    subprocess.run(
        ["g++", *STRICT, f"-I{top / 'one'}", f"-I{top / 'two'}", *objects,
         HERE / "two_models_main.cpp", "-pthread", "-o", top / "both"], check=True)
    return subprocess.run([top / "both"]).returncode


def same_bytes(left, right):
    names = sorted(p.name for p in left.iterdir())
    return names == sorted(p.name for p in right.iterdir()) and all(
        (left / n).read_bytes() == (right / n).read_bytes() for n in names)


def main():
    random = np.random.default_rng(1)
    shapes = {"w1": (CHANNELS, 3, 3, 3), "b1": (1, CHANNELS, 1, 1),
              "w2": (CHANNELS, CHANNELS, 3, 3), "w3": (2 * CHANNELS, CLASSES)}
    weights = {name: random.normal(0, 0.2, shape).astype("f4")
               for name, shape in shapes.items()}
    text = network(weights)
    failures = 0
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        for target in sorted({b[0] for b in BUILDS}):
            compile_network(text, target, top / target)
        compile_network(text, "portable", top / "again")
        if not same_bytes(top / "portable", top / "again"):
            print("another folder got other bytes")
            failures += 1
        if run_two_models(text, top) != 0:
            print("two models in one program differ")
            failures += 1
        for target, compiler, flags, runner in BUILDS:
            program = build(top / target, compiler, CONTRACT + flags)
            if runner is None:
                print(f"{target} {compiler}: built; this machine cannot run it")
                continue
            for seed in range(3):
                x = np.random.default_rng(seed).normal(
                    0, 1, (1, 3, SIZE, SIZE)).astype("f4")
                want = reference(x, weights).ravel()
                error = np.abs(run(program, x, runner) - want).max() / want.max()
                if not error <= (2e-3 if target in HALVES else 1e-5):
                    print(f"{target} {compiler}: off by {error:.1e}, seed {seed}")
                    failures += 1
            print(f"{target} {compiler}: last error {error:.1e}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
