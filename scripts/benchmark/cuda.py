#!/usr/bin/env python3
"""Checks networks on a GPU and times them there, beside PyTorch.

    scripts/bench --cuda --build DIR                    here, where there are nnc and nvcc
    scripts/bench --cuda --build DIR resnet50:f16:64 my_network.onnx:f32
    scripts/bench --cuda --run DIR                      where there is a GPU

--build makes a program for each network, given as NAME, NAME:PRECISION or NAME:PRECISION:BATCH:
f16 (which is meant where none is given), f32 or int8. NAME is one of test/networks, or a file in
ONNX. Without names it takes the usual ones. --run needs Python, and PyTorch for the peers, and
writes DIR/results.json and results.md. With --compiler=test/cuda/stub/nvcc, all of this can be
tried without a GPU.
"""

import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog="scripts/bench --cuda",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NAME[:PRECISION[:BATCH]]")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--build", type=pathlib.Path, metavar="DIR")
    what.add_argument("--run", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--target", default="cuda-sm90", help="of --build")
    parser.add_argument("--compiler", default="", help="of --build, instead of nvcc")
    parser.add_argument("--seconds", type=float, default=290, help="of --run, in all")
    parser.add_argument("-o", "--output", help="of --run: the file of results")
    options = parser.parse_args()
    if options.run:
        more = ["-o", options.output] if options.output else []
        return subprocess.call([sys.executable, "-B", HERE / "cuda_run.py", options.run,
                                f"--seconds={options.seconds}", *more])
    import cuda_build  # needs onnxruntime, which a machine with a GPU may lack
    nnc = pathlib.Path(os.environ.get("NNC_BUILD_DIR") or ROOT / "build", "bin/nnc")
    cases = ([cuda_build.parse(text) for text in options.networks]
             or [cuda_build.Case(*case) for case in cuda_build.USUAL])
    failed = cuda_build.build(nnc, options.build, options.target, cases, options.compiler)
    return 1 if len(failed) == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
