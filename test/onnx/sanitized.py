#!/usr/bin/env python3
"""Runs emitted networks under AddressSanitizer and UndefinedBehaviorSanitizer: every
tensor, the weights and the arena in heap memory of just their size, so that what is
read or written outside of them traps. Results are compared with onnxruntime.

    sanitized.py [NAME...]        some of CASES, or all
    sanitized.py lengths-TARGET   the networks of lengths_test.py
    sanitized.py lengths-sample   the same, each for one of LENGTHS_TARGETS in turn
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
FLAGS = ["-O1", "-gline-tables-only", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
         "-shared-libasan"]

# A network of PP-OCRv4, by its file, or of test/networks; its input and the size of its
# picture (odd widths leave tiles unfilled); the target.
CASES = {"classifier": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", (48, 192), "portable"),
         "recognizer": ("ch_PP-OCRv4_rec_infer.onnx", "x", (48, 72), "native"),
         "detector": ("ch_PP-OCRv4_det_infer.onnx", "x", (96, 64), "native"),
         "resnet18": ("resnet18", "data", (224, 224), "native")}
LENGTHS_TARGETS = "portable", "native"


def allocate(array):
    """Heap memory of just the array's size, aligned as the arena must be."""
    memory = ctypes.c_void_p()
    libc = ctypes.CDLL(None)
    assert libc.posix_memalign(ctypes.byref(memory), ctypes.c_size_t(64),
                               ctypes.c_size_t(array.nbytes)) == 0
    ctypes.memmove(memory, array.ctypes.data, array.nbytes)
    return memory


def run(folder):
    """Runs the module in folder on each of its inputs-N.npz, and writes outputs-N.npz."""
    module = emitted.Emitted(folder)
    run_model = ctypes.CDLL(str(folder / "module.so")).model_run
    for path in folder.glob("inputs-*.npz"):
        outputs, sizes, code = run_once(module, run_model, np.load(path), folder)
        if code:
            return code
        np.savez(path.with_name(path.name.replace("inputs", "outputs")),
                 **module.name_outputs(outputs, sizes))
    return 0


def run_once(module, run_model, given, folder):
    """The outputs of one run, the sizes that the caller gave it, and its status."""
    m = module.manifest
    inputs = [given[port["name"]] for port in m["inputs"]]
    if m["weights"] == "file":
        inputs.append(np.fromfile(folder / "model_weights.bin", np.uint8))
    sizes = {size["name"]: int(given[f"size_{size['name']}"])
             for size in m.get("sizes", []) if not size["found"]}
    outputs = [np.full(port["shape"], 0x5A, emitted.dtype_of(port))
               for port in m["outputs"]]
    arena = allocate(np.full(m["arena_bytes"], 0xA5, np.uint8))
    read = [allocate(array) for array in inputs]
    written = [allocate(array) for array in outputs]
    code = run_model(emitted.struct([memory.value for memory in read], list(sizes.values())),
                     emitted.struct([memory.value for memory in written]), arena)
    for array, memory in zip(outputs, written):
        ctypes.memmove(array.ctypes.data, memory, array.nbytes)
    for memory in [*read, *written, arena]:
        ctypes.CDLL(None).free(memory)
    return outputs, sizes, code


def build(model, folder, target, options=()):
    module = emitted.compile_model(model, folder, target=target,
                                   options=["--weights=file", *options])
    emitted.run([COMPILER, "-std=c++17", "-shared", "-fPIC", *FLAGS, "-fuse-ld=lld",
                 *module.manifest["flags"], "model.cpp", "-o", "module.so"],
                "building model.cpp", cwd=folder)
    return module


def run_sanitized(folder, cases, what):
    """The outputs of the module in folder for each case, its inputs and its sizes by their
    names, of one process that has the sanitizers loaded."""
    for number, (inputs, sizes) in enumerate(cases):
        np.savez(folder / f"inputs-{number}.npz", **inputs,
                 **{f"size_{name}": size for name, size in sizes.items()})
    runtime = emitted.run([COMPILER, "-print-file-name=libclang_rt.asan-"
                           f"{platform.machine()}.so"], "looking for the sanitizer").strip()
    emitted.run([sys.executable, "-B", __file__, "--run", folder], f"{what}, sanitized",
                env={**os.environ, "LD_PRELOAD": runtime,
                     # Python itself leaks.
                     "ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"})
    return [dict(np.load(folder / f"outputs-{number}.npz")) for number in range(len(cases))]


def check(file, name, size, target, folder):
    import make
    import reference
    import text
    import zoo
    model = (make.made(file) if file in zoo.NETWORKS else
             next(iter(sorted(make.cache_folder().glob(f"ocr-*/{file}")))))
    x = text.page(1, *size)
    build(model, folder, target, [f"--shape={name}={'x'.join(map(str, x.shape))}"])
    (outputs,) = run_sanitized(folder, [({name: x}, {})], file)
    (got,) = outputs.values()
    (want,) = reference.session(model).run(None, {name: x})
    error = np.abs(got - want).max() / np.abs(want).max()
    if not error <= 1e-4:
        raise emitted.Failure(f"{file} is off by {error:.1e}")
    print(f"{file}, {target}: error {error:.1e}", flush=True)


def check_lengths(targets, folder):
    """Networks whose data say how long tensors are, none among them, each for one of the
    targets in turn."""
    import lengths_test
    import onnx
    import onnxruntime
    for number, build_net in enumerate(lengths_test.NETWORKS):
        target = targets[number % len(targets)]
        net, shapes, cases = build_net()
        path = folder / "net.onnx"
        onnx.save(net.model(), path)
        session = onnxruntime.InferenceSession(path)
        own = folder / build_net.__name__
        module = build(path, own, target,
                       [f"--shape={name}={text}" for name, text in shapes.items()])
        found = run_sanitized(own, [(inputs, module.find_sizes(inputs)) for inputs in cases],
                              build_net.__name__)
        for inputs, got in zip(cases, found):
            for output, want in zip(session.get_outputs(), session.run(None, inputs)):
                same = got[output.name].shape == want.shape and np.allclose(
                    got[output.name], want, rtol=1e-5, atol=1e-5)
                if not same:
                    raise emitted.Failure(f"{build_net.__name__}: {output.name} differs")
        print(f"{build_net.__name__}, {target}: {len(cases)} runs", flush=True)


def main():
    if sys.argv[1:2] == ["--run"]:
        return run(pathlib.Path(sys.argv[2]))
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "networks"))
    failed = 0
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                if name == "lengths-sample":
                    check_lengths(LENGTHS_TARGETS, pathlib.Path(folder))
                elif name.startswith("lengths-"):
                    check_lengths([name.removeprefix("lengths-")], pathlib.Path(folder))
                else:
                    check(*CASES[name], pathlib.Path(folder))
            except emitted.Failure as failure:
                print(f"{name}: FAILED: {failure}", flush=True)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
