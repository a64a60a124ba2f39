"""Tests nnc run, verify and bench: models that are built and run, and the cases in which that
fails."""

import json
import os
import platform
import shutil
import subprocess
import sys
import unittest

import numpy as np
import onnxruntime
from onnx import numpy_helper

import nnc
from nnc import DIFFERS, LACKING, OWN_FAULT, USAGE, network, network_input


def expected(x):
    session = onnxruntime.InferenceSession(network().SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


class Run(nnc.TestCase):
    def setUp(self):
        super().setUp()
        np.save(self.folder / "x.npy", network_input())

    def test_model_and_folder(self):
        self.nnc("run", "network.onnx", "--input", "x=x.npy", "--output-dir", "a",
                 said=["^y: 1x10 of f32, ", "^  in a/y.npy$"])
        np.testing.assert_allclose(np.load(self.folder / "a" / "y.npy"),
                                   expected(network_input()), atol=1e-4)
        self.nnc("compile", "network.onnx", "-o", "code")
        self.nnc("run", "code", "--input", "x.npy", "--output-dir", "b")
        self.assertEqual((self.folder / "a" / "y.npy").read_bytes(),
                         (self.folder / "b" / "y.npy").read_bytes())

    def test_usage(self):
        np.save(self.folder / "small.npy", network_input()[:, :, :7])
        np.save(self.folder / "double.npy", network_input().astype(np.float64))
        (self.folder / "text.npy").write_text("no array")
        (self.folder / "empty").mkdir()
        for inputs, problem in [([], "no data for input 'x'; give --input x=FILE.npy with 1x3x8x8"),
                                (["z=x.npy"], "no input 'z'; it has x"),
                                (["x=no.npy"], "cannot read no.npy"),
                                (["x.npy", "x=x.npy"], "two files for input 'x'"),
                                (["small.npy"], "small.npy .* 1x3x7x8 .* 1x3x8x8"),
                                (["double.npy"], "double.npy .* f64, .* f32"),
                                (["text.npy"], "text.npy")]:
            self.nnc("run", "network.onnx", *(f"--input={i}" for i in inputs), code=USAGE,
                     said=[f"^nnc: error: .*{problem}"])
        self.nnc("run", "empty", "--input=x.npy", code=USAGE, said=["empty"])
        self.nnc("compile", "network.onnx", "-o", "code")
        self.nnc("run", "code", "--target=x86-64-v2", "--input=x.npy", code=USAGE,
                 said=["--target: code is compiled already; give the model"])
        for option in ("--max-latency=1ms", "--max-weights=1M", "--pool=fast:64K",
                       "--weights-encoding=csr"):
            self.nnc("run", "code", "--input=x.npy", option, code=USAGE,
                     said=["code is compiled already; give the model"])

    def test_compiler(self):
        self.nnc("run", "network.onnx", "--input=x.npy", "--compiler=no-such-compiler", code=USAGE,
                 said=["^nnc: error: there is no program no-such-compiler on PATH"])
        for path in "/no-such/compiler", "./x.npy":
            self.nnc("run", "network.onnx", "--input=x.npy", f"--compiler={path}", code=USAGE,
                     said=[f"^nnc: error: there is no program {path}$"])
        self.nnc("run", "network.onnx", "--input=x.npy", "--compiler=false", code=OWN_FAULT,
                 said=["^nnc: error: false failed"])

    @unittest.skipUnless(platform.machine() == "x86_64", "runs nnc as another x86 machine")
    def test_target_beyond_this_machine(self):
        """In an emulator, for one without AVX-512."""
        done = subprocess.run(
            ["qemu-x86_64", "-cpu", "max", nnc.NNC, "bench", "network.onnx",
             "--target=x86-64-v4"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, LACKING, done.stderr)
        self.assertRegex(done.stderr, r"code for x86-64-v4 needs avx512f and .*, which this machine "
                                      r"\(.*\) lacks: run it on one that has it, or compile")

    def test_code_for_a_stronger_machine(self):
        """Compiled for `native` on a machine that has what this one lacks."""
        self.nnc("compile", "network.onnx", "-o", "code")
        path = self.folder / "code" / "manifest.json"
        manifest = json.loads(path.read_text())
        path.write_text(json.dumps(manifest | {"isa": [*manifest["isa"], "dreams"]}))
        for command in (["run", "code", "--input=x.npy"], ["bench", "code"]):
            self.nnc(*command, code=LACKING,
                     said=["^nnc: error: code for native needs dreams, which this machine"])


    def test_damaged_manifest(self):
        self.nnc("compile", "network.onnx", "-o", "code")
        path = self.folder / "code" / "manifest.json"
        for text, why in ("{", "Expected object key"), ("[" * 100000, "nested more than 128 levels deep"):
            path.write_text(text)
            for command in (["run", "code", "--input=x.npy"], ["bench", "code"]):
                self.nnc(*command, code=USAGE, said=[
                    f"^nnc: error: code/manifest.json is damaged; compile .* again: .*{why}"])
            self.nnc("compile", "network.onnx", "-o", "code", code=USAGE,
                     said=["code holds files that are not nnc's"])


class Verify(nnc.TestCase):
    def test_random(self):
        self.nnc("verify", "network.onnx", "--random=2", "--threads=2",
                 said=["^random 0: y: same: ", "^random 1: y: same: "])
        said = json.loads(self.nnc("verify", "network.onnx", "--json"))
        self.assertTrue(said["ok"])
        self.assertEqual([case["name"] for case in said["cases"]], ["random 0"])

    def test_npy(self):
        """Inputs with outputs of another judge; inputs alone, judged by the reference."""
        data = self.folder / "data"
        data.mkdir()
        np.save(data / "x.npy", network_input())
        self.nnc("verify", "network.onnx", "--data=data", said=["^data: y: same"])
        np.save(data / "y.npy", expected(network_input()))
        self.nnc("verify", "network.onnx", "--data=data", said=["^data: y: same"])

    def test_onnx_test_data(self):
        for i in range(2):
            data = self.folder / "data" / f"test_data_set_{i}"
            data.mkdir(parents=True)
            x = network_input(i)
            for name, array in ("input_0", x), ("output_0", expected(x)):
                (data / f"{name}.pb").write_bytes(
                    numpy_helper.from_array(array).SerializeToString())
        self.nnc("verify", "network.onnx", "--data=data",
                 said=["^test_data_set_0: y: same", "^test_data_set_1: y: same"])

    def test_wrong_expectation(self):
        """The code is right: every layer agrees with its reference."""
        data = self.folder / "data"
        data.mkdir()
        wrong = expected(network_input())
        wrong[0, 7] += 1
        np.save(data / "x.npy", network_input())
        np.save(data / "y.npy", wrong)
        text = self.nnc("verify", "network.onnx", "--data=data", code=DIFFERS)
        self.assertRegex(text, r"(?m)^data: y: DIFFERS: largest error 1, ")
        self.assertRegex(text, r"(?m)^  at \[0\]\[7\]: ")
        self.assertRegex(text, r"(?m)^  every layer agrees with its reference")

    def test_first_layer_that_differs(self):
        """A compiler that spoils conv1's activation: what comes after it is not blamed."""
        compiler = self.folder / "spoil"
        compiler.write_text('#!/bin/sh\nfor word; do case $word in */network.cpp) '
                            'sed -i "s/nnc::relu(/nnc::abs(/" "$word";; esac; done\n'
                            'exec c++ "$@"\n')
        compiler.chmod(0o755)
        said = json.loads(self.nnc("verify", "network.onnx", f"--compiler={compiler}", "--json",
                                   code=DIFFERS))
        self.assertFalse(said["ok"])
        self.assertRegex(said["cases"][0]["first_layer"],
                         "^the first layer that differs from its reference is 'conv1' ")

    def test_usage(self):
        (self.folder / "data").mkdir()
        self.nnc("verify", "network.onnx", "--data=data", code=USAGE,
                 said=["data has neither x.npy nor input_0.pb"])
        self.nnc("verify", "network.onnx", "--data=nowhere", code=USAGE, said=["nowhere"])
        self.nnc("verify", "network.onnx", "--data=data", "--random=2", code=USAGE)
        self.nnc("verify", "data", code=USAGE, said=["data is a folder; give the model"])

    def test_layouts(self):
        for layouts in "plain", "local", "fixed", "global":
            self.nnc("verify", "network.onnx", "--random=1", f"--layouts={layouts}")
        self.nnc("verify", "network.onnx", "--random=1", "--layouts=none", code=USAGE,
                 said=["^nnc: error: --layouts: .*none"])


class Bench(nnc.TestCase):
    def test_table(self):
        self.nnc("bench", "network.onnx", "--runs=3",
                 said=["^layer +routine +time +share", "^conv1 +conv2d_", "3 runs$", "^median "])

    def test_json(self):
        self.nnc("compile", "network.onnx", "-o", "code", "--threads=on")
        said = json.loads(self.nnc("bench", "code", "--runs=3", "--threads=2", "--json"))
        self.assertEqual((len(said["run_seconds"]), said["threads"]), (3, 2))
        self.assertIn("conv1", [layer["name"] for layer in said["layers"]])
        self.assertLessEqual(said["min_seconds"], said["median_seconds"])
        self.assertFalse(said["pinned"])
        # Of the network's program alone.
        self.assertTrue(100_000 < said["peak_resident_bytes"] < 50_000_000, said)

    def test_pinned(self):
        self.nnc("bench", "network.onnx", "--runs=3", "--threads=2", "--pin",
                 said=[", 2 pinned threads, 3 runs$"])
        # Without a pool there is one thread to pin.
        said = json.loads(self.nnc("bench", "network.onnx", "--runs=3", "--pin", "--json"))
        self.assertTrue(said["pinned"])

    def test_objects_are_kept(self):
        """What is built around a model is built once for each compiler, if there is a cache."""
        home = self.folder / "home"
        kept = home / "nnc/runner"
        verify = "verify", "network.onnx", "--random=1", "--compiler=c++ -O1"

        def run(*arguments):
            self.nnc(*arguments, env={**os.environ, "XDG_CACHE_HOME": str(home)})
            return {path: path.read_bytes() for path in kept.glob("*")}

        first = run(*verify)
        self.assertTrue(first and all(path.suffix == ".o" for path in first))
        # An empty file is left aside; the others are used again.
        damaged = next(iter(first))
        damaged.write_bytes(b"")
        files = {path: path.stat().st_ino for path in first if path != damaged}
        self.assertEqual(run(*verify), first)
        self.assertEqual({path: path.stat().st_ino for path in files}, files)
        # Nor is a cache that is no folder an error.
        shutil.rmtree(home)
        home.write_text("")
        run(*verify)

    def test_keep(self):
        """The program, moved elsewhere, times more runs, and on demand."""
        for weights in ("embed", "file"):
            with self.subTest(weights=weights):
                self.nnc("bench", "network.onnx", "--runs=1", "--keep=kept",
                         f"--weights={weights}")
                moved = self.folder / f"moved {weights}"
                (self.folder / "kept").rename(moved)

                def run(*options, **more):
                    done = subprocess.run([moved / "run", *options], capture_output=True,
                                          text=True, check=True, **more)
                    return [line.split()[0] for line in done.stdout.splitlines()]
                self.assertEqual(run("--runs=3").count("run"), 3)
                turns = run("--turns", input="0.001\n0.001\n")
                self.assertEqual(turns.count("resident"), 2)
                self.assertGreaterEqual(turns.count("run"), 6)
        (self.folder / "mine").mkdir()
        (self.folder / "mine/notes.txt").write_text("mine")
        self.nnc("bench", "network.onnx", "--runs=1", "--keep=mine", code=USAGE,
                 said=["mine holds files that are not nnc's; .* to --keep"])

    def test_emulated(self):
        self.nnc("bench", "network.onnx", "--target=aarch64", "--runs=1",
                 said=["on qemu-aarch64, built with aarch64-linux-gnu-g", "^In an emulator"])


if __name__ == "__main__":
    sys.exit(unittest.main())
