"""Tests nnc target-probe, and --probe with the file that it writes."""

import json
import os
import sys
import unittest

import nnc
from nnc import LACKING, USAGE


class Probe(nnc.TestCase):
    def lines(self, name="a.probe"):
        return (self.folder / name).read_text().splitlines()

    def test_native(self):
        """The figures of this machine, which the costs then rest on."""
        self.nnc("target-probe", "-o", "a.probe", said=["^a.probe: .* multiply-adds a cycle"])
        lines = self.lines()
        self.assertEqual(lines[0], "nnc-probe 1")
        words = [line.split()[0] for line in lines if not line.startswith("#")]
        for word in "chip", "isas", "mhz", "multiply_adds", "cache", "memory_mb_s":
            self.assertIn(word, words)
        mhz = next(line.split()[1] for line in lines if line.startswith("mhz "))
        self.assertIn(int(mhz), range(300, 9000))  # a clock that a core may have
        self.nnc("explain", "network.onnx", "--probe=a.probe")
        self.nnc("compile", "network.onnx", "--probe=a.probe", "-o", "out")

    def test_costs(self):
        """A machine of a tenth of the speed takes ten times as long."""
        seconds = []
        for mhz, memory in (3000, 20000), (300, 2000):
            self.write(f"mhz {mhz}", "multiply_adds 16", "cache 32768 64",
                       f"memory_mb_s {memory}")
            said = json.loads(self.nnc("explain", "network.onnx", "--target=x86-64-v3",
                                       "--probe=a.probe", "--json"))
            seconds.append(sum(layer["alternatives"][0]["estimate_seconds"]
                               for layer in said["layers"]))
        self.assertGreater(seconds[1], seconds[0])

    def write(self, *lines, isas="avx2 sse4 portable"):
        (self.folder / "a.probe").write_text(
            "\n".join(["nnc-probe 1", "chip z80", f"isas {isas}", *lines, ""]))

    def test_elsewhere(self):
        self.nnc("target-probe", "--target=aarch64", code=LACKING, said=["emulator"])
        self.nnc("target-probe", "--on=qemu-aarch64", code=USAGE, said=["--target"])
        self.nnc("target-probe", "--target=z80", code=USAGE, said=["there is no target 'z80'"])
        self.script("board", 'exec qemu-aarch64 "$@"')
        self.nnc("target-probe", "--target=aarch64", "--on=./board", "--threads=1",
                 said=["^aarch64.probe: .* on ./board$"])
        self.assertIn("chip ./board", self.lines("aarch64.probe"))
        self.nnc("explain", "network.onnx", "--target=aarch64", "--probe=aarch64.probe")
        for text, problem in ("echo no board >&2; exit 3", "./board failed: no board"), \
                             ("echo hello", "printed no figures"):
            self.script("board", text)
            self.nnc("target-probe", "--target=aarch64", "--on=./board", code=USAGE,
                     said=[problem])

    def test_ssh(self):
        (self.folder / "bin").mkdir()
        self.script("bin/ssh", 'echo "$3" >host; shift 3; exec sh -c "$*"')
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        self.nnc("target-probe", "--target=portable", "--on=ssh:me@there", "--threads=2",
                 env={**os.environ, "PATH": path}, said=["on ssh:me@there$"])
        self.assertEqual((self.folder / "host").read_text(), "me@there\n")
        self.assertTrue(any("on 2 threads" in line for line in self.lines("portable.probe")))

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def test_broken(self):
        self.check("^a.probe: error: cannot be read: No such file")
        (self.folder / "a.probe").write_bytes(b"\x00\xff" * 50)
        self.check("^a.probe:1:1: error: is not a probe's file")
        self.write("mhz fast")
        self.check("^a.probe:4:1: error: expected 'mhz' and a number above 0, found 'mhz fast'")
        self.write("mhz 3000")
        self.check("error: lacks one of the lines")

    def test_foreign(self):
        self.write("mhz 1", "multiply_adds 1", "cache 1 1", "memory_mb_s 1", isas="neon portable")
        self.check("^a.probe: error: was measured for neon portable; the target 'x86-64-v3' has")

    def check(self, problem):
        self.nnc("compile", "network.onnx", "-o", "out", "--target=x86-64-v3",
                 "--probe=a.probe", code=USAGE, said=[problem])
        self.assertNotIn("out", self.names())


if __name__ == "__main__":
    sys.exit(unittest.main())
