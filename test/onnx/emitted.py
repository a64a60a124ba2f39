"""Compiles models with nnc, builds what it emits into a shared library, and calls
it: the emitted C interface, from numpy arrays to numpy arrays."""

import ctypes
import hashlib
import json
import os
import pathlib
import pickle
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

import ml_dtypes
import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from exit_codes import (BROKEN, DIFFERS, DONE, ENVIRONMENT, LACKING, LIMIT,  # noqa: E402
                        OWN_FAULT, USAGE)

SECONDS = 60  # for one run of emitted code

# System headers that emitted code includes; the last, where the target is one of x86-64.
HEADERS = ["float.h", "math.h", "stddef.h", "stdint.h", "string.h", "immintrin.h"]

BUILD = pathlib.Path(os.environ.get("NNC_BUILD_DIR", "build"))
NNC = BUILD / "bin" / "nnc"

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16,
          "bf16": ml_dtypes.bfloat16, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
          "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64,
          "u64": np.uint64, "bool": np.bool_}
# Types of models of which a byte of memory holds one element.
STORED = {ml_dtypes.int2: np.int8, ml_dtypes.int4: np.int8, ml_dtypes.uint2: np.uint8,
          ml_dtypes.uint4: np.uint8}
# Floats of at most 8 bits, of which a byte holds the code.
SMALL_FLOATS = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2,
                ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e8m0fnu, ml_dtypes.float6_e2m3fn,
                ml_dtypes.float6_e3m2fn, ml_dtypes.float4_e2m1fn)


def in_turn(targets, test):
    """One of the targets, drawn by the test's name, or all where NNC_EVERY_TARGET is set, as the
    tests labelled `slow` do: a module for each takes twice the time."""
    if os.environ.get("NNC_EVERY_TARGET"):
        return targets
    return [targets[zlib.crc32(test.encode()) % len(targets)]]


# Flags with which a C++ compiler compiles a CUDA module for the CPU.
EMULATION = ["-DNNC_EMULATE_CUDA=1", "-ffp-contract=off", "-fno-math-errno"]


class Failure(Exception):
    """A step that failed. `code` is the exit code of nnc if nnc reported the failure."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def run(command, what, timeout=600, **how):
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              errors="replace", timeout=timeout, **how)
    except subprocess.TimeoutExpired:
        raise Failure(f"{what} took more than {timeout} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise Failure(f"{what}: exit code {done.returncode}: {said}", done.returncode)
    return done.stdout


def as_stored(array):
    """The array in the form that it has in the memory of an input or output."""
    array = np.asarray(array)
    if array.dtype.type in SMALL_FLOATS:
        return array.view(np.uint8)
    return array.astype(STORED.get(array.dtype.type, array.dtype))


def nnc(*arguments, timeout=600):
    return run([NNC, *arguments], f"nnc {arguments[0]}", timeout)


def precompile(compiler, flags, headers):
    """The file of the system's headers, precompiled by Clang with these flags, which is made
    once in the build folder: they are half of the time of compiling emitted code."""
    states = [os.stat(path) for path in (shutil.which(compiler), "/usr/include/stdio.h")]
    key = repr((compiler, flags, headers, [(state.st_mtime, state.st_size) for state in states]))
    folder = BUILD / "test-headers"
    made = folder.resolve() / (hashlib.sha256(key.encode()).hexdigest()[:16] + ".pch")
    if not made.exists():
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as own:
            # Its name and its date stay the same, which the precompiled file tells, so that
            # tests that run at once may make it at once.
            source = made.with_suffix(".h")
            new = pathlib.Path(own, source.name)
            new.write_text("".join(f"#include <{header}>\n" for header in headers))
            os.utime(new, (0, 0))
            new.replace(source)
            run([compiler, *flags, "-x", "c++-header", source, "-o", pathlib.Path(own, "pch")],
                "precompiling headers")
            pathlib.Path(own, "pch").replace(made)
    return made


def compile_model(model, folder, *, target="native", shapes=None, options=()):
    """The emitted module in the folder. `shapes` gives the dimensions of inputs."""
    bound = [f"--shape={name}={'x'.join(map(str, dims))}" for name, dims in
             (shapes or {}).items()]
    nnc("compile", model, f"--target={target}", "-o", folder, "--name=model",
        "--threads=off", *bound, *options)
    return Emitted(folder)


class Emitted:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_text())
        self.name = self.manifest["name"]

    def is_cuda(self):
        return bool(self.manifest.get("architectures"))

    def build(self, optimize="-O1", compiler="clang++-19"):
        """The shared library, beside the sources."""
        launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
        # A CPU emulates the GPU of a CUDA module.
        own = EMULATION if self.is_cuda() else self.manifest["flags"]
        flags = ["-fPIC", "-std=c++17", optimize, *own]
        if "clang" in compiler:
            text = (self.folder / f"{self.name}_runtime.h").read_text()
            headers = [header for header in HEADERS if f"#include <{header}>" in text]
            flags += ["-include-pch", precompile(compiler, flags, headers)]
        objects = []
        for file in self.manifest["files"]:
            source = self.folder / file
            if source.suffix not in (".cpp", ".cu", ".c", ".S"):
                continue
            is_cpp = source.suffix in (".cpp", ".cu")
            if source.suffix == ".cu":
                flags += ["-x", "c++"]
            command = ([*launcher, compiler, *flags] if is_cpp else [compiler, "-fPIC"])
            run([*command, "-c", file, "-o", file + ".o", "-I."], f"building {file}",
                cwd=self.folder, env={**os.environ,
                                      "CCACHE_SLOPPINESS": "pch_defines,time_macros"})
            objects.append(file + ".o")
        linker = ["-fuse-ld=lld"] if "clang" in compiler else []
        run([compiler, "-shared", *linker, "-o", "module.so", *objects], "linking",
            cwd=self.folder)
        return self.folder / "module.so"

    def __call__(self, inputs, **sizes):
        """Runs the built library in this process. sizes are those that the module takes,
        where the shapes of inputs do not tell them."""
        sizes = {**self.find_sizes(inputs), **sizes}
        return self.call(inputs, sizes, sizes)

    def call(self, inputs, said, real=None):
        """Runs the library, which is told the sizes `said`; inputs have the sizes `real`, or
        their own."""
        m = self.at_sizes(real) if real is not None else self.manifest
        if real is None:
            m = {**m, "inputs": [{**port, "shape": np.shape(inputs[port["name"]])}
                                 for port in m["inputs"]]}
        arrays = [aligned(np.asarray(inputs[port["name"]]), port) for port in m["inputs"]]
        outputs = [aligned(None, port) for port in m["outputs"]]
        align = max(64, m["align"])
        arena = aligned_bytes(m["arena_bytes"], align)
        library = ctypes.CDLL(str(self.folder / "module.so"))
        given = [said[size["name"]] for size in m.get("sizes", []) if not size["found"]]
        arguments = [ctypes.c_void_p(arena.ctypes.data)]
        if self.is_cuda():
            arguments.append(None)  # the default stream
            if m["weight_bytes"]:
                weights = aligned_bytes(m["weight_bytes"], align)
                if code := library[f"{self.name}_load_weights"](
                        ctypes.c_void_p(weights.ctypes.data), None, None):
                    raise Failure(f"{self.name}_load_weights returned {code}")
                arrays.append(weights)
        code = library[f"{self.name}_run"](pointers(arrays, given), pointers(outputs),
                                           *arguments)
        if code:
            raise Failure(f"{self.name}_run returned {code}")
        return self.name_outputs(outputs, said)

    def name_outputs(self, outputs, sizes):
        """Outputs by their names, with the shapes that a run has found."""
        ports = self.manifest["outputs"]
        found = {port["size"]: int(array) for port, array in zip(ports, outputs)
                 if "size" in port}
        if self.manifest.get("sizes"):
            # The elements of an output lie one behind the other, in front of unused memory.
            ports = self.at_sizes({**sizes, **found})["outputs"]
            outputs = [array.reshape(-1)[:np.prod(port["shape"], dtype=int)]
                       .reshape(port["shape"]) for port, array in zip(ports, outputs)]
        return {port["name"]: array for port, array in zip(ports, outputs)}

    def find_sizes(self, inputs):
        """The sizes that a module of varying ones has to be told for these inputs."""
        names = {size["name"] for size in self.manifest.get("sizes", [])}
        return {dim: length for port in self.manifest["inputs"]
                for dim, length in zip(port.get("dims", []), np.shape(inputs[port["name"]]))
                if dim in names}

    def at_sizes(self, sizes):
        """The manifest with the shapes that inputs and outputs have at these sizes; others
        are the largest."""
        sizes = {**{size["name"]: size["high"] for size in self.manifest.get("sizes", [])},
                 **sizes}
        def at(port):
            dims = [eval(dim.replace("/", "//"), {}, sizes)
                    for dim in port.get("dims", [])]
            return {**port, "shape": dims or port["shape"]}
        return {**self.manifest, **{kind: [at(port) for port in self.manifest[kind]]
                                    for kind in ("inputs", "outputs")}}


def run_apart(module, inputs):
    """module(inputs) in a child process, so that a crash of emitted code fails only its own
    test."""
    with tempfile.TemporaryFile() as results:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            try:
                pickle.dump(module(inputs), results)
            except Failure as failure:
                pickle.dump(failure, results)
            results.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status:
            name = signal.Signals(-status).name if status < 0 else f"exit code {status}"
            raise Failure(f"the emitted code died of {name}")
        results.seek(0)
        outputs = pickle.load(results)
    if isinstance(outputs, Exception):
        raise outputs
    return outputs


def aligned_bytes(count, align=64):
    """Bytes with this alignment, filled with a pattern, because nothing may rely on zeros."""
    room = np.full(count + align, 0xA5, np.uint8)
    start = -room.ctypes.data % align
    return room[start:start + count]


def dtype_of(port):
    """The numpy type of a port in memory, which may be wider than that of the model."""
    return np.dtype(DTYPES[port.get("storage", port["dtype"])])


def aligned(array, port):
    """A copy of the array, or memory for an output, with the alignment of the port."""
    dtype, shape = dtype_of(port), tuple(port["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    room = aligned_bytes(count * dtype.itemsize).view(dtype).reshape(shape)
    if array is not None:
        if array.dtype != dtype or array.shape != shape:
            raise Failure(f"input {port['name']} is {array.dtype}{list(array.shape)}, the "
                          f"module wants {dtype}{list(shape)}")
        room[...] = array
    return room


def pointers(arrays, sizes=()):
    """A C struct of pointers to arrays, followed by the sizes."""
    return struct([array.ctypes.data for array in arrays], sizes)


def struct(addresses, sizes=()):
    """A C struct of pointers, followed by the sizes."""
    class Struct(ctypes.Structure):
        _fields_ = ([(f"pointer{i}", ctypes.c_void_p) for i in range(max(1, len(addresses)))]
                    + [(f"size{i}", ctypes.c_int32) for i in range(len(sizes))])
    padding = [None] * (1 - len(addresses))
    return ctypes.byref(Struct(*addresses, *padding, *map(int, sizes)))


def run_in_emulator(model, folder, inputs, *, target, shapes=None, options=()):
    """The outputs of `nnc run` by the model's names, for targets that are not this machine."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [f"--shape={name}={'x'.join(map(str, dims))}"
                 for name, dims in (shapes or {}).items()]
    for i, (name, array) in enumerate(inputs.items()):
        np.save(folder / f"in{i}.npy", array)
        arguments += ["--input", f"{name}={folder}/in{i}.npy"]
    results = folder / "out"
    said = json.loads(nnc("run", model, f"--target={target}", "--output-dir", results, "--json",
                          *arguments, *options, timeout=1800))
    return {output["name"]: np.load(output["file"]) for output in said["outputs"]}


def is_native(target):
    return target in ("native", "portable") or target.startswith("cuda") or platform.machine().replace("_", "-") in target
