#!/usr/bin/env python3
"""Runs emitted networks under AddressSanitizer and UndefinedBehaviorSanitizer: every
tensor, the weights and the arena in heap memory of just their size, so that what is
read or written outside of them traps. Results are compared with onnxruntime.

    sanitized.py [NAME...]        some of CASES, or all
    sanitized.py --run FOLDER     (itself, with the sanitizers loaded)
"""

import ctypes
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import numpy as np

import emitted

COMPILER = "clang++-19"
FLAGS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
         "-shared-libasan"]

# A network of PP-OCRv4, by its file, or of test/networks; its input and the size of its
# picture (odd widths leave tiles unfilled); the target.
CASES = {"classifier": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", (48, 192), "portable"),
         "recognizer": ("ch_PP-OCRv4_rec_infer.onnx", "x", (48, 72), "native"),
         "detector": ("ch_PP-OCRv4_det_infer.onnx", "x", (96, 64), "native"),
         "resnet18": ("resnet18", "data", (224, 224), "native")}


def allocate(array):
    """Heap memory of just the array's size, aligned as the arena must be."""
    memory = ctypes.c_void_p()
    libc = ctypes.CDLL(None)
    assert libc.posix_memalign(ctypes.byref(memory), ctypes.c_size_t(64),
                               ctypes.c_size_t(array.nbytes)) == 0
    ctypes.memmove(memory, array.ctypes.data, array.nbytes)
    return memory


def run(folder):
    """Runs the module in folder on its input.npy, and writes output.npy."""
    module = emitted.Emitted(folder)
    m = module.manifest
    (port,) = m["outputs"]
    output = np.full(port["shape"], np.nan, emitted.DTYPES[port["dtype"]])
    buffers = [allocate(array) for array in (
        np.load(folder / "input.npy"), np.fromfile(folder / "model_weights.bin", np.uint8),
        output, np.full(m["arena_bytes"], 0xA5, np.uint8))]
    inputs, outputs = (ctypes.c_void_p * 2)(*buffers[:2]), (ctypes.c_void_p * 1)(buffers[2])
    code = ctypes.CDLL(str(folder / "module.so")).model_run(inputs, outputs, buffers[3])
    ctypes.memmove(output.ctypes.data, buffers[2], output.nbytes)
    np.save(folder / "output.npy", output)
    return code


def build(model, folder, shapes, target):
    module = emitted.compile_model(model, folder, target=target, shapes=shapes,
                                   options=["--weights=file"])
    emitted.run([COMPILER, "-std=c++17", "-shared", "-fPIC", *FLAGS, "-fuse-ld=lld",
                 *module.manifest["flags"], "model.cpp", "-o", "module.so"],
                "building model.cpp", cwd=folder)


def check(file, name, size, target, folder):
    import make
    import reference
    import text
    import zoo
    model = (make.made(file) if file in zoo.NETWORKS else
             next(iter(sorted(make.cache_folder().glob(f"ocr-*/{file}")))))
    x = text.page(1, *size)
    build(model, folder, {name: x.shape}, target)
    np.save(folder / "input.npy", x)
    runtime = emitted.run([COMPILER, "-print-file-name=libclang_rt.asan-"
                           f"{platform.machine()}.so"], "looking for the sanitizer").strip()
    emitted.run([sys.executable, "-B", __file__, "--run", folder], f"{file}, sanitized",
                env={**os.environ, "LD_PRELOAD": runtime,
                     # Python itself leaks.
                     "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"})
    (want,) = reference.session(model).run(None, {name: x})
    error = np.abs(np.load(folder / "output.npy") - want).max() / np.abs(want).max()
    if not error <= 1e-4:
        raise emitted.Failure(f"{file} is off by {error:.1e}")
    print(f"{file}, {target}: error {error:.1e}", flush=True)


def main():
    if sys.argv[1:2] == ["--run"]:
        return run(pathlib.Path(sys.argv[2]))
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "networks"))
    failed = 0
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(*CASES[name], pathlib.Path(folder))
            except emitted.Failure as failure:
                print(f"{name}: FAILED: {failure}", flush=True)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
