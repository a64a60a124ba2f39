"""Checks the machine code that nvcc makes of the kernels in attention_kernels.inc, and prints a
table of it.

    attention_machine_code.py [--write] [ARCH...]      75 80 90, or those given

No kernel may have a stack or spill registers. In the main loop, over the steps of keys, there are
for halves two products for each ldmatrix and 16 queries of a warp, and for floats six
multiply-adds or more for each load of shared memory, which are of 16 bytes. From sm_80 on, keys and
values are copied asynchronously, 16 bytes at a time, and the loop loads nothing but the mask; on
sm_75 it loads 16 bytes at a time. A block of halves fits twice
on a multiprocessor, as does one of floats where that has more than 100 KB of shared memory.

Without nvcc the test is skipped; see test/cuda/toolkit.py.
"""

import re
import sys

from machine_code import HERE, PRODUCTS, SHARED_BYTES, count, gate, main_loop

KERNEL = re.compile(r"^NNC_ATTENTION\((.*)\)$", re.M)
MULTIPLY_ADDS = re.compile(r"\bFFMA\b")
HEAD = ("kernel", "sm", "regs", "stack", "spills", "shared", "blocks/SM", "loop", "MMA", "LDSM",
        "FFMA", "LDS.128", "MUFU", "LDGSTS.128", "LDG", "LDG.128")


class Kernel:
    """An instance in attention_kernels.inc."""
    threads = 128

    def __init__(self, fields):
        self.name = "_".join(["attention", *fields])
        self.is_float = fields[0] == "f32"
        self.first = 80 if fields[0] == "bf16" else 75
        self.masked = fields[2] != "none"
        self.dim, self.queries = map(int, fields[3:])
        if self.is_float:
            self.shared = (self.queries + 2 * 32) * self.dim * 4 + self.queries * 32 * 4
        else:
            keys = 32 if self.dim > 64 or self.queries > 64 else 64
            step = keys * self.dim * 4
            self.shared = step + max(step, self.queries * self.dim * 2)


def kernels():
    text = (HERE / "attention_kernels.inc").read_text()
    return [Kernel([field.strip() for field in line.split(",")]) for line in KERNEL.findall(text)]


def check(kernel, arch, said, code):
    """Returns a row of the table, and the list of what is wrong."""
    stack, stores, loads, registers = said
    loop = main_loop(code, MULTIPLY_ADDS if kernel.is_float else PRODUCTS)
    products, ldmatrix = count(loop, PRODUCTS), count(loop, r"\bLDSM\.")
    copies, narrow_copies = count(loop, r"\bLDGSTS\..*128"), count(loop, r"\bLDGSTS\.(?!.*128)")
    global_loads, wide_loads = count(loop, r"\bLDG\."), count(loop, r"\bLDG\.\S*128")
    problems = []
    if stack or stores or loads:
        problems.append(f"has {stack} bytes of stack and {stores + loads} bytes of spills")
    adds = count(loop, MULTIPLY_ADDS)
    shared_loads, wide_shared_loads = count(loop, r"\bLDS\b(?!.*\[RZ\])"), count(loop, r"\bLDS\.\S*128")
    expected = 2 * kernel.queries // 64 * (1 if arch >= 80 else 2)
    if kernel.is_float:
        if not adds or adds < 6 * shared_loads or shared_loads != wide_shared_loads:
            problems.append(f"has {adds} multiply-adds for {shared_loads} loads of shared memory, "
                            f"{wide_shared_loads} of them of 16 bytes")
    elif not ldmatrix or products != expected * ldmatrix:
        problems.append(f"has {products} products for {ldmatrix} ldmatrix in the main loop, "
                        f"expected {expected} for each")
    if arch >= 80 and (not copies or narrow_copies):
        problems.append(f"has {copies} copies of 16 bytes and {narrow_copies} of fewer")
    if arch < 80 and not wide_loads:
        problems.append("has no loads of 16 bytes in the main loop")
    if not kernel.masked and global_loads != (0 if arch >= 80 else wide_loads):
        problems.append(f"has {global_loads} loads of global memory in the main loop, "
                        f"{wide_loads} of them of 16 bytes")
    if count(loop, r"\b(LDL|STL)\b"):
        problems.append("has local memory in the main loop")
    fitting = min(65536 // (max(registers, 1) * kernel.threads),
                  SHARED_BYTES[arch] // (kernel.shared + 1024 * (arch >= 80)))
    # Floats of wide heads need more than half of the shared memory of sm_75, sm_86 and sm_89.
    has_room = SHARED_BYTES[arch] > 100 << 10 or not kernel.is_float
    if fitting < (2 if has_room else 1):
        problems.append(f"fits only {fitting} times on a multiprocessor")
    row = (kernel.name, arch, registers, stack, stores + loads, kernel.shared, fitting, len(loop),
           products, ldmatrix, adds, wide_shared_loads, count(loop, r"\bMUFU\."), copies, global_loads, wide_loads)
    return row, problems


if __name__ == "__main__":
    sys.exit(gate("attention_kernels.cu", HEAD, kernels(), check))
