"""Tests the counts of scripts/bench --instructions with a program whose counts are known."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/benchmark"))
import instructions  # noqa: E402

TURNS = 1000
# Sections: up to main(), two loops, all that is left.
PROGRAM = """
    .arch armv8.2-a+fp16
    .text
    .globl main, section_done
    .type section_done, %function
section_done:
    ret
    .size section_done, . - section_done
main:
    stp x29, x30, [sp, #-16]!
    bl section_done
    mov x0, #1000
    mov x1, sp
1:  ldr q0, [x1]
    fmla v1.4s, v2.4s, v0.s[1]
    fmls v3.4s, v4.4s, v0.4s
    fmla v1.8h, v2.8h, v0.h[5]
    fmls v3.8h, v4.8h, v0.8h
    subs x0, x0, #1
    b.ne 1b
    bl section_done
    mov x0, #1000
2:  str xzr, [x1, #-8]
    fmadd s0, s1, s2, s3
    subs x0, x0, #1
    b.ne 2b
    bl section_done
    mov w0, #0
    ldp x29, x30, [sp], #16
    ret
"""


class Instructions(unittest.TestCase):
    def test_sections(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "program.s"), pathlib.Path(folder, "program")
            source.write_text(PROGRAM)
            subprocess.run(["aarch64-linux-gnu-gcc", "-static", source, "-o", program],
                           check=True)
            _, sections = instructions.count(["qemu-aarch64", program], mark="section_done")
        self.assertEqual(len(sections), 4)
        first, vectors, scalars, _ = sections
        self.assertGreater(first.instructions, 0)
        self.assertEqual(first.multiply_adds, 0)
        # A section begins in the function that ends the one before, and ends as it is called.
        self.assertEqual(vectors, instructions.Counts(
            instructions=7 * TURNS + 4, multiply_adds=4 * TURNS, loads=TURNS, stores=0,
            inner=7 * TURNS + 2))
        self.assertEqual(scalars, instructions.Counts(
            instructions=4 * TURNS + 3, multiply_adds=0, loads=0, stores=TURNS, inner=0))


if __name__ == "__main__":
    unittest.main()
