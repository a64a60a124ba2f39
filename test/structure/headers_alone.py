"""Checks that every header under runtime/ compiles by itself, and the C header also as C.

The check uses g++ alone or, with --all, every compiler that users have, for each instruction
set.
"""

import concurrent.futures
import os
import subprocess
import sys

import tree

COMMON = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tree.ROOT}"]
CXX = COMMON + ["-x", "c++", "-std=c++17", "-fno-exceptions", "-fno-rtti"]
C = COMMON + ["-x", "c", "-std=c99", "-pedantic"]

AVX2 = ["-mavx2", "-mfma"]
AVX512 = AVX2 + ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"]
NATIVE_IS_X86 = os.uname().machine == "x86_64"
ISAS = [[], AVX2, AVX512] if NATIVE_IS_X86 else [[]]

HOST = ["g++", *CXX]
OTHERS = [[compiler, *CXX, *isa] for compiler in ("g++", "clang++-19") for isa in ISAS]
OTHERS += [["aarch64-linux-gnu-g++", *CXX], ["arm-linux-gnueabihf-g++", *CXX]]
C_COMPILERS = [["gcc", *C], ["clang-19", *C]]

# The host's side of the runtime is not shipped: it may use the C++ library.
HOST_ONLY = {"runtime/reference.h"} | {f"runtime/cuda/host_{part}.h"
                                       for part in ("block", "memory", "mma", "scheduler")}


def compile_alone(command, header):
    done = subprocess.run([*command, "-"], input=f'#include "{header}"\n', text=True,
                          capture_output=True)
    return None if done.returncode == 0 else f"{header}: {' '.join(command)}\n{done.stderr}"


def main():
    headers = [str(p) for p in tree.files("runtime/*.h") + tree.files("runtime/*.cuh")]
    compilers = OTHERS if "--all" in sys.argv[1:] else [HOST]
    jobs = [(c, h) for h in headers for c in compilers if h not in HOST_ONLY]
    jobs += [(HOST, h) for h in headers if h in HOST_ONLY]
    jobs += [(c, h) for h in headers if h == "runtime/nnc_runtime.h" for c in C_COMPILERS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(lambda j: compile_alone(*j), jobs) if f]
    print(*failures, sep="\n")
    print(f"{len(headers)} headers, {len(jobs)} compilations, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
