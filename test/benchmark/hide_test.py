"""Tests scripts/bench --without-avx512 and --without-amx: the features of the chip that a program
detects when AVX-512 or AMX is hidden."""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NNC_BUILD_DIR"])
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import without_avx512  # noqa: E402

PROGRAM = r"""
#include <cpuid.h>
#include <cstdio>

[[gnu::noinline]] static void ask(unsigned leaf, unsigned subleaf) {
  unsigned a, b, c, d;
  __cpuid_count(leaf, subleaf, a, b, c, d);
  std::printf("%u %u %u %u\n", a, b, c, d);
}

int main() {
  ask(0, 0);
  ask(1, 0);
  ask(7, 0);
  unsigned value; // has the bytes of a cpuid, and is none
  asm volatile("movl $0x12a20f34, %0" : "=r"(value));
  std::printf("%u\n", value);
}
"""
AVX512 = 1 << 16 | 1 << 17 | 1 << 21 | 3 << 26 | 1 << 28 | 3 << 30
AMX = 1 << 22 | 3 << 24
APIC = 0xff << 24  # in leaf 1 the core that asks


@unittest.skipUnless(platform.machine() == "x86_64", "of x86-64 alone")
class Hide(unittest.TestCase):
    def test_answers(self):
        with tempfile.TemporaryDirectory() as scratch:
            program = pathlib.Path(scratch) / "program"
            subprocess.run(["c++", "-x", "c++", "-O1", "-", "-o", program], input=PROGRAM,
                           text=True, check=True)

            def answers(**more):
                said = subprocess.run([program], capture_output=True, text=True,
                                      env={**os.environ, **more}, check=True).stdout
                lines = [[int(word) for word in line.split()] for line in said.splitlines()]
                lines[1][1] &= ~APIC
                return lines

            real = answers()
            self.assertEqual(without_avx512.hide(program), 1)
            hidden = answers(LD_PRELOAD=str(BUILD / "lib/libnnc_hide_avx512.so"))
            only_amx = answers(LD_PRELOAD=str(BUILD / "lib/libnnc_hide_avx512.so"),
                               NNC_BENCH_HIDES="amx")
            with self.assertRaises(subprocess.CalledProcessError):
                answers()
        self.assertEqual(hidden[:2], real[:2])
        self.assertEqual(hidden[2][1], real[2][1] & ~AVX512)
        self.assertEqual(hidden[3], [0x12a20f34])
        self.assertEqual(only_amx[2][:3], real[2][:3])
        self.assertEqual(only_amx[2][3], real[2][3] & ~AMX)

    def test_others_stay(self):
        """A library that asks nothing stays the file that it is."""
        with tempfile.TemporaryDirectory() as scratch:
            library = pathlib.Path(scratch) / "library.so"
            library.write_bytes(b"\x7fELF nothing")
            self.assertEqual(without_avx512.hide(library), 0)
            self.assertEqual(library.read_bytes(), b"\x7fELF nothing")


if __name__ == "__main__":
    unittest.main()
