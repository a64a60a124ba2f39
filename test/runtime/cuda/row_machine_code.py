"""Checks the machine code that nvcc makes of the kernels in row_kernels.inc, as machine_code.py does
for tensor cores, and prints a table of it.

    row_machine_code.py [--write] [ARCH...]      75 80 90, or those given

No kernel may have a stack, spill registers or local memory, two blocks fit on a multiprocessor, and
those whose rows are contiguous load 16 bytes at a time.
"""

import re
import sys
import types

from machine_code import HERE, INSTRUCTION, count, gate

ROW_KERNEL = re.compile(r"^NNC_ROW_KERNEL\((.*)\)$", re.M)
ROW_THREADS = 256
HEAD = ("kernel", "sm", "regs", "stack", "spills", "blocks/SM", "instructions", "LDG.128", "LDG")


def kernels():
    """The instances, each for all architectures and with little shared memory."""
    return [types.SimpleNamespace(name=line.replace(", ", "_"), first=75, shared=0)
            for line in ROW_KERNEL.findall((HERE / "row_kernels.inc").read_text())]


def check(kernel, arch, said, code):
    """Returns a row of the table, and the list of what is wrong."""
    stack, stores, loads, registers = said
    instructions = [text for _, text in INSTRUCTION.findall(code)]
    wide_loads = count(instructions, r"\bLDG\..*128")
    problems = []
    if stack or stores or loads or count(instructions, r"\b(LDL|STL)\b"):
        problems.append(f"has {stack} bytes of stack, {stores + loads} bytes of spills, or local "
                        "memory")
    if not wide_loads and not kernel.name.endswith("_columns"):
        problems.append("never loads 16 bytes at a time")
    fitting = 65536 // (registers * ROW_THREADS)
    if fitting < 2:
        problems.append(f"has {registers} registers, so that one block fits on a multiprocessor")
    return (kernel.name, arch, registers, stack, stores + loads, fitting, len(instructions), wide_loads,
            count(instructions, r"\bLDG\.")), problems


if __name__ == "__main__":
    sys.exit(gate("row_kernels.cu", HEAD, kernels(), check))
