"""Checks the machine code that nvcc makes of the kernels in float_kernels.inc, and prints a table
of it, as machine_code.py does for tensor cores.

    float_machine_code.py [--write] [ARCH...]      75 80 90, or those given

No kernel may have a stack, spill registers or local memory. In the main loop of a product there are
at least eight multiply-adds for each load of shared memory, or 6.4 where a thread has 2 x 8
outputs, and all these loads are of 16 bytes. From sm_80 on, copies are of 16 bytes; without
asynchronous copies, and where channels are no whole chunks, the loop has loads of global memory.
Depthwise convolutions load and store 16 bytes at a time.
"""

import re
import sys

from machine_code import (HERE, INSTRUCTION, SHARED_BYTES, check_counting, count, gate,
                          main_loop)

PRODUCTS = re.compile(r"\bFFMA\b")
SHARED_LOADS = r"\bLDS\b(?!.* RZ,)"  # without those to RZ, which ptxas puts before LDGSTS
INSTANCE = re.compile(r"^(NNC_\w+)\((.*)\)$", re.M)


class Gemm:
    """An instance of float_gemm.cuh."""

    def __init__(self, fields):
        self.name = "_".join(fields[:7])
        self.whole = fields[0] != "rgb"
        rows, columns, depth, self.warp_rows, stages, slices, self.first = map(int, fields[1:])
        self.counts = slices > 1
        self.threads = rows // self.warp_rows * columns
        self.shared = stages * (rows + columns) * depth

    def problems(self, arch, loop):
        products, loads = count(loop, PRODUCTS), count(loop, SHARED_LOADS)
        copies, wide_copies = count(loop, r"\bLDGSTS\."), count(loop, r"\bLDGSTS\..*128")
        global_loads, wide_loads = count(loop, r"\bLDG\."), count(loop, r"\bLDG\..*128")
        share = 6.4 if self.warp_rows == 16 else 8
        if not loads or products < share * loads:
            yield (f"has {products} multiply-adds for {loads} loads of shared memory in the main "
                   f"loop, expected at least {share} for each")
        if loads != count(loop, r"\bLDS\..*128"):
            yield "has loads of less than 16 bytes of shared memory in the main loop"
        if arch >= 80 and (not copies or copies != wide_copies):
            yield f"has {copies} asynchronous copies in the main loop, {wide_copies} of 16 bytes"
        if arch >= 80 and self.whole and global_loads:
            yield f"has {global_loads} loads of global memory in the main loop"
        if arch < 80 and self.whole and (not wide_loads or wide_loads != global_loads):
            yield (f"has {global_loads} loads of global memory in the main loop, {wide_loads} of "
                   "them of 16 bytes")


class Depthwise:
    """An instance of depthwise_nhwc.cuh."""

    first, threads, shared, counts = 75, 128, 0, False

    def __init__(self, fields):
        self.name = "_".join(["depthwise", *fields])

    def problems(self, arch, code):
        loads, wide_loads = count(code, r"\bLDG\."), count(code, r"\bLDG\..*128")
        stores, wide_stores = count(code, r"\bSTG\."), count(code, r"\bSTG\..*128")
        if not count(code, PRODUCTS) or loads != wide_loads or stores != wide_stores:
            yield (f"has {loads} loads and {stores} stores of global memory, {wide_loads} and "
                   f"{wide_stores} of them of 16 bytes")


def kernels():
    """The instances by the macros that make them."""
    return [{"NNC_FLOAT_GEMM": Gemm, "NNC_DEPTHWISE": Depthwise}[macro](
        [field.strip() for field in fields.split(",")]) for macro, fields in INSTANCE.findall(
            (HERE / "float_kernels.inc").read_text())]


HEAD = ("kernel", "sm", "regs", "stack", "spills", "threads", "shared", "blocks/SM", "loop", "FFMA",
        "LDS", "FFMA/LDS", "LDGSTS.128", "LDG")


def check(kernel, arch, said, code):
    """Returns a row of the table, and the list of what is wrong."""
    stack, stores, loads, registers = said
    loop = (main_loop(code, PRODUCTS) if isinstance(kernel, Gemm) else
            [text for _, text in INSTRUCTION.findall(code)])
    problems = list(kernel.problems(arch, loop))
    if stack or stores or loads or re.search(r"\b(LDL|STL)\b", code):
        problems.append(f"has {stack} bytes of stack and {stores + loads} bytes of spills")
    problems += check_counting(code, kernel.counts)
    # The registers of a warp are allocated by 256.
    fitting = min(65536 // ((registers + 7) // 8 * 8 * kernel.threads),
                  SHARED_BYTES[arch] // max(kernel.shared + 1024 * (arch >= 80), 1),
                  (16 if arch < 80 else 32), 2048 // (2 if arch < 80 else 1) // kernel.threads)
    if not fitting:
        problems.append("does not fit on a multiprocessor")
    products, shared_loads = count(loop, PRODUCTS), count(loop, SHARED_LOADS)
    row = (kernel.name, arch, registers, stack, stores + loads, kernel.threads, kernel.shared,
           fitting, len(loop), products, shared_loads,
           f"{products / shared_loads:.1f}" if shared_loads else "-",
           count(loop, r"\bLDGSTS\..*128"), count(loop, r"\bLDG\."))
    return row, problems


if __name__ == "__main__":
    sys.exit(gate("float_kernels.cu", HEAD, kernels(), check))
