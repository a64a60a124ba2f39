"""nnc reads no memory of the heap that it has freed or not yet written.

glibc fills what is allocated and what is freed with the bits of MALLOC_PERTURB_, so that a program
that reads such memory does something else: nnc writes the same bytes with it and without. Where
there is a build with AddressSanitizer (`scripts/test --preset asan`), that finds reads which go
well by chance, too.

    heap_test.py          models with as many values as make maps of values grow at each place
    heap_test.py --all    many more of them, and the tests of TESTS, started again that way"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import nnc

ALL = "--all" in sys.argv
if ALL:
    sys.argv.remove("--all")
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"]).resolve()
SANITIZED = BUILD.parent / "build-asan"
FILLS = ("165", "90")
# What ctest starts again with --all: tests that compile many kinds of models with many options.
TESTS = ("lit-.*", "compiler-stages", "codegen-warnings", "cli-(batch|compile|memories|ports|ram)",
         "cli-(report|several|tune|value|weights-encoding)", "broken-models",
         "onnx-(control|custom|lengths|sizes)", "empty", "names", "operands", "qdq", "quantized", "microsoft",
         "learned", "types", "random-graphs-sample", "mutations-sample",
         "onnx-node-tests-sample", "tflite-(layers|state|stream|custom|broken.*)",
         "tflite-networks-sample")
node = helper.make_node


def environment(fill):
    return {**os.environ, "MALLOC_PERTURB_": fill}


def sanitized():
    """The environment for the build with AddressSanitizer, or None where there is none."""
    if BUILD == SANITIZED or not (SANITIZED / "bin" / "nnc").exists():
        return None
    return {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def floats(name):
    return nnc.value(name, [4])


def loop(name, carried, inputs, captured=1):
    """A loop with so many carried values, of which each takes the place of the next one."""
    bool_ = lambda n: nnc.value(n, [], TensorProto.BOOL)
    given = [f"{name}_{i}" for i in range(carried)]
    nodes = [node("Identity", [f"{name}_go"], [f"{name}_on"]),
             *(node("Add", [x, f"x{i % captured}"], [f"{x}_next"]) for i, x in enumerate(given))]
    results = [f"{x}_next" for x in given[1:] + given[:1]]
    body = helper.make_graph(
        nodes, f"{name}_body", [nnc.value(f"{name}_i", [], TensorProto.INT64), bool_(f"{name}_go"),
                                *map(floats, given)],
        [bool_(f"{name}_on"), *map(floats, results)])
    outputs = [f"{name}_y{i}" for i in range(carried)]
    return node("Loop", ["runs", "", *(inputs[i % len(inputs)] for i in range(carried))], outputs,
                name, body=body), outputs


def scan(name, states, inputs):
    """A Scan with so many states, over 70 runs."""
    given = [f"{name}_{i}" for i in range(states)]
    nodes = [node("Mul", [x, f"{name}_v"], [f"{x}_next"]) for x in given]
    nodes.append(node("Neg", [f"{given[0]}_next"], [f"{name}_o"]))
    body = helper.make_graph(
        nodes, f"{name}_body", [*map(floats, given), floats(f"{name}_v")],
        [*(floats(f"{x}_next") for x in given), floats(f"{name}_o")])
    outputs = [f"{name}_y{i}" for i in range(states)]
    return node("Scan", [*(inputs[i % len(inputs)] for i in range(states)), "rows"],
                [*outputs, f"{name}_all"], name, body=body, num_scan_inputs=1), outputs


def network(loops, scans):
    """Loops and Scans beside each other, with so many carried values each, and a sum of all."""
    inputs, nodes, outputs = ["x0", "x1", "x2"], [], []
    for kind, make, sizes in (("l", loop, loops), ("s", scan, scans)):
        for i, size in enumerate(sizes):
            made, own = make(f"{kind}{i}", size, inputs)
            nodes.append(made)
            outputs += own
    nodes.append(node("Sum", outputs, ["y"]))
    return nnc.model(
        nodes, [*map(floats, inputs), nnc.value("runs", [], TensorProto.INT64),
                nnc.value("rows", [70, 4])], [floats("y")])


class Heap(nnc.TestCase):
    def emit(self, name, *options, program=nnc.NNC, env=None):
        """What nnc writes, by the names of files."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([program, "compile", self.folder / f"{name}.onnx", "-o", folder,
                                   "--name=mm", *options], capture_output=True, text=True, env=env)
            fill = env and env.get("MALLOC_PERTURB_")
            self.assertEqual(done.returncode, 0, f"{options}, filled with {fill}: {done.stderr}")
            return {path.name: path.read_bytes() for path in pathlib.Path(folder).rglob("*")
                    if path.is_file()}

    def check(self, name, *options):
        want = self.emit(name, *options)
        for fill in FILLS:
            self.assertEqual(self.emit(name, *options, env=environment(fill)), want)
        if env := sanitized():
            self.assertEqual(self.emit(name, *options, program=SANITIZED / "bin" / "nnc", env=env),
                             want)

    def test_carried_values(self):
        for carried in range(1, 100, 1 if ALL else 13):
            with self.subTest(carried=carried):
                self.save("loop", network([carried], []))
                self.check("loop", "--target=portable")

    def test_loops_beside_scans(self):
        random = np.random.default_rng(55)
        for i in range(20 if ALL else 2):
            sizes = random.integers(1, 12, 9)
            with self.subTest(i=i):
                self.save("beside", network(sizes[:5].tolist(), sizes[5:].tolist()))
                self.check("beside", "--target=cortex-m4" if i % 2 else "--target=native")

    def test_passes_with_options(self):
        """Options that run passes which nothing else does."""
        random = np.random.default_rng(7)
        weights = random.standard_normal((8, 3, 3, 3)).astype(np.float32)
        weights[:, :, 1] = 0
        self.save("image", nnc.model(
            [node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["r"]),
             node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "k"], ["y"], transB=1)],
            [nnc.value("x", ["n", 3, 16, 16])], [nnc.value("y", ["n", 5])],
            [numpy_helper.from_array(weights, "w"), nnc.weights("k", 5, 8 * 64)]))
        one = "--shape=x=1x3x16x16"
        for options in ([one], [one, "--threads=3"], [one, "--io=arena", "--max-ram=14K"],
                        [one, "--pool=fast:8K", "--pool=wide:64K:slow"],
                        [one, "--pool=flash:8K:weights", "--pool=wide:64K:weights:slow"],
                        [one, "--precision=f16", "--target=aarch64-fp16"],
                        [one, "--weights-encoding=csr"],
                        [one, "--max-weights=11K"], [one, "--optimize=size"],
                        ["--batch=6"], ["--batch=1..8", "--max-ram=60K"],
                        ["--shape=x=1..4x3x16x16"], [one, "--shape=x=2x3x16x16"]):
            with self.subTest(options=options):
                named = any("target" in option for option in options)
                self.check("image", *([] if named else ["--target=x86-64-v3"]), *options)

    @unittest.skipUnless(ALL, "takes long")
    def test_tests(self):
        """The project's own tests, with memory that is filled, and in the other build."""
        runs = [(BUILD, environment(FILLS[0]))]
        if env := sanitized():
            runs.append((SANITIZED, env))
        for folder, env in runs:
            with self.subTest(build=folder.name):
                done = subprocess.run(
                    ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error",
                     f"-j{os.cpu_count()}", "-R", f"^({'|'.join(TESTS)})$"],
                    env=env, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout[-20000:] + done.stderr)


if __name__ == "__main__":
    unittest.main()
