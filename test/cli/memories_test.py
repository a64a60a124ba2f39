#!/usr/bin/env python3
"""Tests several memories (--pool), each of which holds a part of the arena."""

import ctypes
import json
import subprocess
import unittest

import numpy as np
import onnxruntime

import nnc
from nnc import LIMIT, USAGE
from ram_test import BUILD, residual


class Memories(nnc.TestCase):
    def setUp(self):
        super().setUp()
        self.save("residual", residual())
        x = np.random.default_rng(5).standard_normal((1, 3, 37, 30)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        session = onnxruntime.InferenceSession(residual().SerializeToString())
        (self.want,) = session.run(None, {"x": x})

    def check(self, *options, target="portable"):
        return json.loads(self.nnc("check", "residual.onnx", "--no-build", "--json",
                                   f"--target={target}", *options))

    def compare(self, *options, target="portable"):
        self.nnc("run", "residual.onnx", "--input=x.npy", "--output-dir=out",
                 f"--target={target}", *options)
        got = np.load(self.folder / "out" / "y.npy")
        np.testing.assert_allclose(got, self.want, atol=2e-5 * np.abs(self.want).max())

    def halves(self, target="portable", *options):
        """Options for two memories, each too small for the arena."""
        whole = self.check(*options, target=target)["arena_bytes"]
        return [*options, f"--pool=tight:{whole * 6 // 10}",
                f"--pool=wide:{whole * 7 // 10}:slow"]

    def test_results_do_not_depend_on_memories(self):
        for io in ("caller", "arena"):
            options = self.halves("portable", f"--io={io}")
            with self.subTest(io=io):
                found = self.check(*options)
                for memory in found["memories"]:
                    self.assertGreater(memory["bytes"], 0, memory)
                    self.assertLessEqual(memory["bytes"], memory["size"], memory)
                self.assertEqual(found["arena_bytes"],
                                 sum(memory["bytes"] for memory in found["memories"]))
                self.assertEqual([memory["slow"] for memory in found["memories"]], [False, True])
                self.compare(*options, *BUILD)
        self.compare(*self.halves(), "--threads=2", *BUILD)

    def test_without_an_operating_system(self):
        self.compare(*self.halves("cortex-m4", "--io=arena"), target="cortex-m4")

    def test_fast_memories_are_filled_first(self):
        """All is in the fast memory where that has room, in whatever order they are given."""
        for memories in (["--pool=wide:1M:slow", "--pool=tight:1M"],
                         ["--pool=tight:1M", "--pool=wide:1M:slow"]):
            found = {memory["name"]: memory["bytes"] for memory in self.check(*memories)["memories"]}
            self.assertEqual(found, {"wide": 0, "tight": self.check()["arena_bytes"]})
        self.compare("--pool=wide:1M:slow", "--pool=tight:1M", *BUILD)

    def test_strips_where_memories_are_too_small(self):
        whole = self.check("--io=arena")
        size = whole["arena_bytes"] * 4 // 10
        options = ["--io=arena", f"--pool=one:{size}", f"--pool=two:{size}"]
        found = self.check(*options)
        self.assertGreater(found["layers"], whole["layers"])
        self.assertLessEqual(max(memory["bytes"] for memory in found["memories"]), size)
        self.compare(*options, *BUILD)

    def test_too_little_memory(self):
        self.nnc("compile", "residual.onnx", "-o", "module", "--pool=dtcm:2K", "--pool=psram:1K:slow",
                 code=LIMIT, said=[r"residual\.onnx.*needs \d+ bytes in the memory 'psram', beside "
                                   r"what the others hold, and --pool gives it 1024; .*--io=arena"])
        self.assertFalse((self.folder / "module").exists())
        self.nnc("check", "residual.onnx", "--pool=dtcm:2K", "--no-build", code=LIMIT,
                 said=[r"in the memory 'dtcm'.* more than the 2048 of --pool"])

    def test_bad_memories(self):
        self.nnc("check", "residual.onnx", "--pool=dtcm", "--pool=DTCM:4K", "--pool=a:1K:far",
                 "--pool=b:1K", "--pool=b:2K", code=USAGE,
                 said=["dtcm is not NAME:BYTES", "try dtcm", "'slow', for 'weights', or both, not 'far'",
                       "two memories 'b'"])

    def test_weights(self):
        whole = self.check()["weight_bytes"]
        options = [f"--pool=flash:{whole // 2}:weights", f"--pool=qspi:{whole}:weights:slow"]
        found = self.check(*options)
        self.assertNotIn("memories", found)
        for memory in found["weight_memories"]:
            self.assertGreater(memory["bytes"], 64, memory)
            self.assertLessEqual(memory["bytes"], memory["size"], memory)
        self.assertEqual([memory["slow"] for memory in found["weight_memories"]], [False, True])
        for weights in "array", "embed":
            self.compare(*options, f"--weights={weights}", *BUILD)
        self.compare(*options, *self.halves(), *BUILD)
        self.compare(*options, target="cortex-m4")
        # A memory that all weights fit into leaves nothing for the other one.
        found = self.check("--pool=qspi:1M:slow:weights", "--pool=flash:1M:weights")
        self.assertEqual([memory["bytes"] for memory in found["weight_memories"]], [0, whole])
        self.nnc("compile", "residual.onnx", "-o", "module", "--pool=flash:1K:weights", code=LIMIT,
                 said=[r"residual\.onnx.*needs \d+ bytes of weights in the memory 'flash'.* 1024"])
        self.nnc("check", "residual.onnx", "--no-build", "--pool=flash:1K:weights", code=LIMIT,
                 said=["of weights in the memory 'flash'"])
        self.nnc("compile", "residual.onnx", "-o", "module", "--weights=file", *options, code=USAGE,
                 said=["--weights=file"])
        self.assertFalse((self.folder / "module").exists())

    def test_sections_of_weights(self):
        whole = self.check()["weight_bytes"]
        self.nnc("compile", "residual.onnx", "-o", "module", "--weights=array", "--name=net",
                 "--target=portable", f"--pool=flash:{whole // 2}:weights",
                 f"--pool=qspi:{whole}:weights:slow")
        module = self.folder / "module"
        self.assertIn("NET_QSPI_WEIGHT_BYTES", (module / "net.h").read_text())
        for flags, section in ([], ".qspi"), (["-DNNC_WEIGHTS_SECTION_QSPI=.far"], ".far"):
            subprocess.run(["gcc", "-c", "-std=c90", "-Wall", "-Wextra", "-Werror", *flags,
                            module / "net_weights_qspi.c", "-o", self.folder / "weights.o"],
                           check=True)
            dump = subprocess.run(["objdump", "-h", self.folder / "weights.o"], check=True,
                                  capture_output=True, text=True).stdout
            self.assertIn(f" {section} ", dump)
        build = ["cmake", "-S", module, "-B", self.folder / "build", "-G", "Ninja"]
        subprocess.run(build, check=True, capture_output=True)
        subprocess.run(["ninja", "-C", self.folder / "build"], check=True, capture_output=True)
        # Weights of another model, or changed ones, are found.
        subprocess.run(["g++", "-shared", "-fPIC", "-std=c++17", module / "net.cpp",
                        module / "net_weights_flash.c", module / "net_weights_qspi.c",
                        "-o", self.folder / "net.so"], check=True)
        self.assertEqual(ctypes.CDLL(str(self.folder / "net.so")).net_check_weights(), 0)
        text = (module / "net_weights_qspi.c").read_text()
        head, values = text.split("] = {\n")
        values = [v.strip() for v in values.split("}")[0].split(",") if v.strip()]
        for at, expected in (len(values) // 2, 8), (8, 7):
            changed = [*values]
            changed[at] = str(int(changed[at]) ^ 1)
            (self.folder / "changed.c").write_text(head + "] = {\n" + ",".join(changed) + "};\n")
            subprocess.run(["g++", "-shared", "-fPIC", "-std=c++17", module / "net.cpp",
                            module / "net_weights_flash.c", self.folder / "changed.c",
                            "-o", self.folder / f"net{at}.so"], check=True)
            library = ctypes.CDLL(str(self.folder / f"net{at}.so"))
            self.assertEqual(library.net_check_weights(), expected)

    def test_picture(self):
        self.check(*self.halves(), "--arena=arena.svg")
        self.assertIn(">tight</text>", (self.folder / "arena.svg").read_text())

    def test_c_interface(self):
        self.nnc("compile", "residual.onnx", "-o", "module", "--weights=array", "--name=net",
                 "--target=portable", *self.halves("portable", "--io=arena"))
        module = self.folder / "module"
        strict = ["-fPIC", "-O1", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
        (self.folder / "user.c").write_text("""
#include "net.h"
int prepare(struct net_inputs *inputs, struct net_outputs *outputs,
            struct net_arenas *arenas, void *tight, void *wide) {
  if (NET_TIGHT_ARENA_BYTES == 0 || NET_WIDE_ARENA_BYTES == 0)
    return 1;
  arenas->tight = tight;
  arenas->wide = wide;
  net_place(inputs, outputs, arenas);
  return 0;
}
""")
        for source in (module / "net_weights.c", self.folder / "user.c"):
            subprocess.run(["gcc", "-c", "-std=c90", *strict, f"-I{module}", source,
                            "-o", self.folder / f"{source.stem}.o"], check=True)
        subprocess.run(["g++", "-shared", "-std=c++17", *strict, module / "net.cpp",
                        self.folder / "net_weights.o", self.folder / "user.o",
                        "-o", self.folder / "net.so"], check=True)
        library = ctypes.CDLL(str(self.folder / "net.so"))
        manifest = json.loads((module / "manifest.json").read_text())

        def allocate(bytes_):
            block = np.zeros(bytes_ + 64, np.uint8)
            return block[-block.ctypes.data % 64:]

        parts = [allocate(memory["bytes"]) for memory in manifest["memories"]]
        pointers = [ctypes.c_void_p(part.ctypes.data) for part in parts]
        inputs, outputs = ctypes.c_void_p(), ctypes.c_void_p()
        arenas = (ctypes.c_void_p * 2)()
        status = library.prepare(ctypes.byref(inputs), ctypes.byref(outputs), arenas, *pointers)
        self.assertEqual(status, 0)

        def port(pointer, shape):
            kind = ctypes.POINTER(ctypes.c_float)
            return np.ctypeslib.as_array(ctypes.cast(pointer, kind), shape)

        def run(arenas):
            return library.net_run(ctypes.byref(inputs), ctypes.byref(outputs), arenas)

        for _ in range(2):
            port(inputs, (1, 3, 37, 30))[...] = np.load(self.folder / "x.npy")
            self.assertEqual(run(arenas), 0)
            np.testing.assert_allclose(port(outputs, self.want.shape), self.want,
                                       atol=2e-5 * np.abs(self.want).max())
        addresses = [pointer.value for pointer in pointers]
        self.assertEqual(run(None), 3)
        for i in range(2):
            for change, expected in ((-addresses[i], 3), (4, 4)):
                wrong = list(addresses)
                wrong[i] += change
                self.assertEqual(run((ctypes.c_void_p * 2)(*(w or None for w in wrong))), expected)
        self.assertEqual(run((ctypes.c_void_p * 2)(*reversed(addresses))), 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
