"""Checks the machine code that nvcc makes of the kernels in product_kernels.inc, and prints a table
of it, as machine_code.py does for implicit_gemm.cuh.

    product_machine_code.py [--write] [ARCH...]      75 80 90, or those given

No kernel may have a stack, spill registers or local memory. Of floats of 16 bits, a warp of
64 x 64 results has at least four products for each ldmatrix in the main loop, one of 64 x 32 at
least 2.5, one of 32 x 32 two and one of 16 x 32 1.3, as both operands are loaded so. Of tf32 it is as
many where rows of both operands are sums' terms; others are loaded word by word. Of floats, there are at least
eight multiply-adds for each load of shared memory, or 4 where a thread has 2 x 8 results. From sm_80
on, whole chunks are copied asynchronously, 16 bytes at a time, and the loop has no loads of global
memory; on sm_75 it loads 16 bytes at a time.
"""

import re
import sys

import float_machine_code
from machine_code import HERE, HEAD, PRODUCTS, SHARED_BYTES, count, gate, main_loop

KERNEL = re.compile(r"^NNC_PRODUCT\((.*)\)$", re.M)
# Products for each load of an operand, by the type and the results of a warp.
TENSORS = "bf16", "f16", "tf32"
SHARES = {("f16", 64 * 64): 4, ("f16", 64 * 32): 2.5, ("f16", 32 * 32): 2, ("f16", 16 * 32): 1.3,
          ("f32", 64 * 32): 8, ("f32", 32 * 32): 8, ("f32", 16 * 32): 4}


class Kernel:
    """An instance of plain_gemm.cuh."""

    def __init__(self, fields):
        self.name = "_".join(fields[:9])
        self.order, self.type, self.chunks = fields[:3]
        rows, columns, depth, warp_rows, warp_columns, stages, _, self.first = map(int, fields[3:])
        self.threads = rows // warp_rows * (columns // warp_columns) * 32
        self.shared = stages * (rows + columns) * depth
        kind = "f16" if self.type in TENSORS else "f32"
        self.share = SHARES[kind, warp_rows * warp_columns]
        self.products = PRODUCTS if kind == "f16" else float_machine_code.PRODUCTS
        self.loads = r"\bLDSM\." if kind == "f16" else float_machine_code.SHARED_LOADS
        if self.type == "tf32" and self.order != "nt":
            self.share, self.loads = self.share / 4, r"\bLDSM\.|\bLDS\."


def kernels():
    return [Kernel([field.strip() for field in line.split(",")])
            for line in KERNEL.findall((HERE / "product_kernels.inc").read_text())]


def check(kernel, arch, said, code):
    """Returns a row of the table, and the list of what is wrong."""
    stack, stores, loads, registers = said
    loop = main_loop(code, kernel.products)
    products, operands = count(loop, kernel.products), count(loop, kernel.loads)
    copies, wide_copies = count(loop, r"\bLDGSTS\."), count(loop, r"\bLDGSTS\..*128")
    global_loads, wide_loads = count(loop, r"\bLDG\."), count(loop, r"\bLDG\..*128")
    problems = []
    if stack or stores or loads or re.search(r"\b(LDL|STL)\b", code):
        problems.append(f"has {stack} bytes of stack and {stores + loads} bytes of spills")
    # On sm_75 each mma is two instructions.
    share = kernel.share * (2 if arch < 80 and kernel.type == "f16" else 1)
    if not operands or products < share * operands:
        problems.append(f"has {products} products for {operands} loads of operands in the main "
                        f"loop, expected at least {share} for each")
    if kernel.chunks == "whole" and arch >= 80 and (
            global_loads or not copies or copies != wide_copies):
        problems.append(f"has {copies} asynchronous copies in the main loop, {wide_copies} of 16 "
                        f"bytes, and {global_loads} loads of global memory")
    if kernel.chunks == "whole" and arch < 80 and (
            not wide_loads or wide_loads != global_loads):
        problems.append(f"has {global_loads} loads of global memory in the main loop, {wide_loads} "
                        "of them of 16 bytes")
    fitting = min(65536 // ((registers + 7) // 8 * 8 * kernel.threads),
                  SHARED_BYTES[arch] // (kernel.shared + 1024 * (arch >= 80)))
    if not fitting:
        problems.append("does not fit on a multiprocessor")
    row = (kernel.name, arch, registers, stack, stores + loads, kernel.threads, kernel.shared,
           fitting, len(loop), products, count(loop, r"\bLDSM\."), count(loop, r"\bLDS\."),
           wide_copies, global_loads)
    return row, problems


if __name__ == "__main__":
    sys.exit(gate("product_kernels.cu", HEAD, kernels(), check))
