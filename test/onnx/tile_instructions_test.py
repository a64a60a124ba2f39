"""Whole modules for x86-64-v4-amx that execute the instructions of AMX, on the processor if it has
them, else in an emulator (test/runtime/tile_emulator.cpp). Networks in 8 bits have the results of
those for x86-64-v4-vnni bit for bit, networks in bf16 those of the same modules with arrays in
place of tiles."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import emitted
import numpy as np
import tiles_test

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMULATOR = emitted.BUILD.resolve() / "lib/libnnc_tile_emulator.so"
GCC, CLANG = "g++ -O1", "clang++-19 -O1"
# Compilers and numbers of threads.
RUNS = ((GCC, 4), (CLANG, 1))
ALL_RUNS = (*RUNS, (GCC, 1), (CLANG, 4))
CPU = set(pathlib.Path("/proc/cpuinfo").read_text().split())


def host_has_tiles():
    """Whether the processor has tiles and Linux grants them to this process."""
    has = {"amx_tile", "amx_int8", "amx_bf16"} <= CPU
    # arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
    return has and ctypes.CDLL(None).syscall(158, 0x1023, 18) == 0


def make_random(path, seed):
    """A random network of convolutions, residual sums and pools in 8 bits."""
    net = tiles_test.Network(np.uint8)
    net.random = random = np.random.default_rng(seed)
    channels = int(random.integers(1, 5))
    shape = [int(random.integers(1, 3)), channels, *map(int, random.integers(9, 30, 2))]
    x = net.round("x", 0.02)
    for _ in range(6):
        kind = random.choice(["conv", "conv", "residual", "pool"])
        if kind == "pool":
            x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
            continue
        size = int(random.choice([1, 3, 5]))
        outputs = channels if kind == "residual" else int(random.integers(8, 150))
        y = net.conv(x, outputs, channels, size, 0.01 * size * np.sqrt(channels),
                     stride=1 if kind == "residual" else int(random.integers(1, 3)))
        x = net.round(net.add("Add", x, y), 0.3) if kind == "residual" else y
        channels = outputs
    net.save(path, {"x": shape}, [x])
    return {"x": shape}


@unittest.skipUnless(tiles_test.NEEDS <= CPU, "the vectors of these targets are missing")
class TileInstructions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if not host_has_tiles() and not EMULATOR.exists():
            self.skipTest("the build has no emulator")
        self.model = self.folder / "network.onnx"

    def save_inputs(self, shapes):
        random = np.random.default_rng(3)
        self.inputs = []
        for name, shape in shapes.items():
            np.save(self.folder / f"{name}.npy",
                    random.standard_normal(shape).astype(np.float32))
            self.inputs.append(f"--input={name}={self.folder / name}.npy")

    def compile(self, target, *options):
        """A module whose manifest asks for no features that are emulated."""
        code = self.folder / target
        emitted.nnc("compile", self.model, f"--target={target}", "-o", code, "--name=model",
                    *options)
        path = code / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["isa"] = [name for name in manifest["isa"] if not name.startswith("amx")]
        path.write_text(json.dumps(manifest))
        return code

    def execute(self, code, compiler, threads=1, **variables):
        """Returns what `nnc run` says, the number of tile instructions, and the outputs."""
        log, results = self.folder / "log", self.folder / "results"
        log.unlink(missing_ok=True)
        variables = {"NNC_TILES_LOG": str(log), **variables}
        if not host_has_tiles() or "NNC_TILES" in variables:
            variables["LD_PRELOAD"] = str(EMULATOR)
        done = subprocess.run(
            [emitted.NNC, "run", code, f"--compiler={compiler}", f"--output-dir={results}",
             "--json", *self.inputs, *([f"--threads={threads}"] if threads > 1 else [])],
            capture_output=True, text=True, env={**os.environ, **variables})
        counts = map(int, log.read_text().split()) if log.exists() else []
        if done.returncode:
            return done.stderr + done.stdout, sum(counts), None
        outputs = json.loads(done.stdout)["outputs"]
        return "", sum(counts), [np.load(output["file"]) for output in outputs]

    def check(self, code, want, runs):
        """Compares the results of a module with `want`."""
        self.assertGreater(len(np.unique(want[0])), 20, "results are nearly constant")
        for compiler, threads in runs:
            said, count, got = self.execute(code, compiler, threads)
            self.assertEqual(said, "")
            self.assertTrue(host_has_tiles() or count > 100,
                            f"{count} instructions were emulated")
            for one, other in zip(got, want, strict=True):
                np.testing.assert_array_equal(one, other, f"{compiler}, {threads} threads")

    def check_bytes(self, shapes, runs=RUNS):
        self.save_inputs(shapes)
        code = self.compile("x86-64-v4-amx", "--threads=on")
        self.assertIn("_amxint8", (code / "model.cpp").read_text())
        plain = self.compile("x86-64-v4-vnni")
        said, _, want = self.execute(plain, CLANG)
        self.assertEqual(said, "")
        self.check(code, want, runs)
        return code

    def test_images_of_bytes(self):
        code = self.check_bytes(tiles_test.make_images(self.model, np.uint8), ALL_RUNS)
        # Without permission a run returns a status and executes no such instruction.
        said, count, _ = self.execute(code, CLANG, NNC_TILES="refused")
        self.assertIn("the module returned 21", said)
        self.assertEqual(count, 0)

    def test_rows_of_signed_bytes(self):
        self.check_bytes(tiles_test.make_rows(self.model, np.int8))

    def make_squeezenet(self):
        """SqueezeNet 1.1 with random weights, and inputs for it."""
        subprocess.run([sys.executable, "-B", ROOT / "test/networks/make.py", "squeezenet1_1",
                        "-o", self.folder], check=True, capture_output=True)
        self.model = self.folder / "squeezenet1_1.onnx"
        self.save_inputs({"data": [1, 3, 224, 224]})

    def test_squeezenet_of_bytes(self):
        self.make_squeezenet()
        random = np.random.default_rng(4)
        np.savez(self.folder / "samples.npz",
                 data=random.standard_normal([2, 3, 224, 224]).astype(np.float32))
        source, self.model = self.model, self.folder / "bytes.onnx"
        emitted.nnc("quantize", source, "-o", self.model, f"--calibration={self.folder}/samples.npz")
        self.check_bytes({"data": [1, 3, 224, 224]})

    def test_squeezenet_of_bfloats(self):
        self.make_squeezenet()
        code = self.compile("x86-64-v4-amx", "--precision=bf16", "--threads=on")
        self.assertIn("_amxbf16", (code / "model.cpp").read_text())
        for compiler, threads in RUNS:
            said, count, want = self.execute(code, compiler + " -DNNC_PLAIN_TILES")
            self.assertEqual((said, count), ("", 0))
            self.check(code, want, [(compiler, threads)])

    def test_random_networks(self):
        for seed in 11, 12:
            with self.subTest(seed=seed):
                self.check_bytes(make_random(self.model, seed))


if __name__ == "__main__":
    unittest.main()
