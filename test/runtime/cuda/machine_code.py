"""Checks the machine code that nvcc makes of the kernels in kernels.inc, and prints a table of it.

    machine_code.py [--write] [ARCH...]      75 80 90, or those given

No kernel may have a stack or spill registers. In the main loop, the innermost loop around the
products, there are at least four products for each ldmatrix. From sm_80 on, whole chunks are copied
asynchronously, 16 bytes at a time, and the loop has no loads of global memory; on sm_75 it loads 16
bytes at a time. A tile fits into the registers and the shared memory of a multiprocessor.

No kernel has more than 1.05 times the registers, stack, spills or shared memory that
machine_code.csv says, which nvcc of the version in scripts/cuda-requirements.txt has made. --write
writes what it finds into that table, in place of the rows of these kernels and architectures.

Without nvcc the test is skipped; see test/cuda/toolkit.py.
"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "cuda"))
import toolkit  # noqa: E402

ROOT = HERE.parents[2]
SKIPPED = 77  # the exit status that CTest takes for a skipped test

SHARED_BYTES = {75: 64 << 10, 80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 90: 227 << 10}
TABLE = HERE / "machine_code.csv"
# The name of a source without .cu, a kernel in it, the registers of a thread, and bytes: of its
# stack and its spills, and of a block's dynamic shared memory.
COLUMNS = ["source", "kernel", "sm", "registers", "stack", "spills", "shared"]
GROWTH = 1.05
PRODUCTS = re.compile(r"\b[HI]MMA\.")
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);", re.M)
KERNEL = re.compile(r"^NNC_GEMM\((.*)\)$", re.M)


def find_tools():
    """The paths of nvcc and cuobjdump, or None."""
    tools = [toolkit.find(name) for name in ("nvcc", "cuobjdump", "nvdisasm")]
    return tools[:2] if all(tools) else None


class Kernel:
    """An instance in kernels.inc."""

    def __init__(self, fields):
        self.shape, self.type, self.chunks = fields[:3]
        *self.tile, self.first = map(int, fields[3:])
        rows, columns, depth, warp_rows, warp_columns, stages = self.tile
        self.name = "_".join(fields[:9])
        self.threads = rows // warp_rows * (columns // warp_columns) * 32
        self.shared = stages * (rows + columns) * depth


def kernels():
    return [Kernel([field.strip() for field in line.split(",")])
            for line in KERNEL.findall((HERE / "kernels.inc").read_text())]


def main_loop(code, pattern=PRODUCTS):
    """The instructions of the smallest loop that has the most products."""
    instructions = [(int(at, 16), text) for at, text in INSTRUCTION.findall(code)]
    best = (0, 0, [])
    for at, text in instructions:
        jump = re.search(r"\bBRA\b.*?(0x[0-9a-f]+)", text)
        if not jump or int(jump[1], 16) >= at:
            continue
        body = [t for a, t in instructions if int(jump[1], 16) <= a <= at]
        products = sum(bool(pattern.search(t)) for t in body)
        if products:
            best = max(best, (products, -len(body), body), key=lambda found: found[:2])
    return best[2]


def count(loop, pattern):
    return sum(bool(re.search(pattern, text)) for text in loop)


def measure(source, arch, folder, nvcc, cuobjdump):
    """Returns what ptxas says of each kernel of a source, and its code, by its name."""
    cubin = folder / f"{arch}.cubin"
    done = subprocess.run(
        [nvcc, "-std=c++17", "-fmad=false", f"-arch=sm_{arch}", "-cubin", "-Xptxas", "-v",
         f"-I{ROOT}", str(HERE / source), "-o", str(cubin)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    said = {name: tuple(map(int, numbers)) for name, *numbers in re.findall(
        r"entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
        r"(\d+) bytes spill loads.*?Used (\d+) registers", done.stderr, re.S)}
    listing = subprocess.run([cuobjdump, "-sass", str(cubin)], capture_output=True, text=True,
                             check=True).stdout
    parts = re.split(r"Function : (\w+)\n", listing)
    return said, dict(zip(parts[1::2], parts[2::2]))


def check(kernel, arch, said, code):
    """Returns a row of the table, and the list of what is wrong."""
    stack, stores, loads, registers = said
    loop = main_loop(code)
    products, ldmatrix = count(loop, PRODUCTS), count(loop, r"\bLDSM\.")
    copies, narrow_copies = count(loop, r"\bLDGSTS\..*128"), count(loop, r"\bLDGSTS\.(?!.*128)")
    global_loads, wide_loads = count(loop, r"\bLDG\."), count(loop, r"\bLDG\..*128")
    problems = []
    if stack or stores or loads:
        problems.append(f"has {stack} bytes of stack and {stores + loads} bytes of spills")
    if not products or products < 4 * ldmatrix or not ldmatrix:
        problems.append(f"has {products} products for {ldmatrix} ldmatrix in the main loop, "
                        "expected at least four for each")
    if arch >= 80 and (not copies or narrow_copies):
        problems.append(f"has {copies} copies of 16 bytes and {narrow_copies} of fewer")
    if kernel.chunks == "whole" and arch >= 80 and global_loads:
        problems.append(f"has {global_loads} loads of global memory in the main loop")
    if kernel.chunks == "whole" and arch < 80 and (
            not wide_loads or wide_loads != global_loads):
        problems.append(f"has {global_loads} loads of global memory in the main loop, {wide_loads} "
                        "of them of 16 bytes")
    if count(loop, r"\b(LDL|STL)\b"):
        problems.append("has local memory in the main loop")
    fitting = min(65536 // (max(registers, 1) * kernel.threads),
                  SHARED_BYTES[arch] // (kernel.shared + 1024 * (arch >= 80)))
    if not fitting:
        problems.append("does not fit on a multiprocessor")
    problems += check_counting(code, kernel.shape == "slice")
    row = (kernel.name, arch, registers, stack, stores + loads, kernel.threads, kernel.shared,
           fitting, len(loop), products, ldmatrix, count(loop, r"\bLDS\."), copies, global_loads)
    return row, problems


def report(rows, problems):
    """Prints a table with its head, and what is wrong. Returns the exit status."""
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(field).ljust(width) if i == 0 else str(field).rjust(width)
                        for i, (field, width) in enumerate(zip(row, widths))))
    print(*problems, sep="\n")
    print(f"{len(rows) - 1} kernels, {len(problems)} problems")
    return bool(problems)


HEAD = ("kernel", "sm", "regs", "stack", "spills", "threads", "shared", "blocks/SM", "loop", "MMA",
        "LDSM", "LDS", "LDGSTS.128", "LDG")


def check_counting(code, counts):
    """Returns what is wrong with how the blocks of a kernel count each other: if they do, with
    atomic operations, each of which has a fence."""
    atomics, fences = (len(re.findall(pattern, code)) for pattern in (r"\bATOMG\.", r"\bMEMBAR\."))
    if atomics == fences and bool(atomics) == counts:
        return []
    return [f"has {atomics} atomic operations and {fences} fences"]


def read_table():
    """The rows of the committed table: tuples of numbers by source, kernel and architecture."""
    if not TABLE.exists():
        return {}
    with open(TABLE, newline="") as file:
        return {(row["source"], row["kernel"], int(row["sm"])):
                tuple(int(row[name]) for name in COLUMNS[3:]) for row in csv.DictReader(file)}


def write_table(rows):
    with open(TABLE, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*key, *numbers] for key, numbers in sorted(rows.items()))


def compare(old, new, source, architectures):
    """Yields how the rows of a source, for these architectures, differ from the table for the
    worse."""
    old = {key: numbers for key, numbers in old.items()
           if key[0] == source and key[2] in architectures}
    for key in sorted({*old, *new}):
        where = f"{key[1]} on sm_{key[2]}"
        if key not in old:
            yield f"{where} is not in {TABLE.name}; --write adds it"
        elif key not in new:
            yield f"{where} is in {TABLE.name}, but no kernel; --write removes it"
        else:
            for name, before, now in zip(COLUMNS[3:], old[key], new[key], strict=True):
                if now > GROWTH * before:
                    yield f"{where} has {name} {now}, in {TABLE.name} {before}"


def gate(source, head, kernels, check):
    """Checks the kernels of a source and prints a table with `head`. `check` returns a row of the
    table and the list of what is wrong. Returns the exit status."""
    tools = find_tools()
    if not tools:
        print(toolkit.WHY_SKIPPED)
        return SKIPPED
    rows, problems, found = [head], [], {}
    kind = source.removesuffix(".cu")
    architectures = [int(word) for word in sys.argv[1:] if word != "--write"] or [75, 80, 90]
    with tempfile.TemporaryDirectory() as folder:
        for arch in architectures:
            said, code = measure(source, arch, pathlib.Path(folder), *tools)
            for kernel in kernels:
                if arch < kernel.first or kernel.shared > SHARED_BYTES[arch]:
                    continue
                row, wrong = check(kernel, arch, said[kernel.name], code[kernel.name])
                rows.append(row)
                problems += [f"{kernel.name} on sm_{arch} {what}" for what in wrong]
                stack, stores, loads, registers = said[kernel.name]
                found[kind, kernel.name, arch] = registers, stack, stores + loads, kernel.shared
    old = read_table()
    if "--write" in sys.argv:
        kept = {key: numbers for key, numbers in old.items()
                if key[0] != kind or key[2] not in architectures}
        write_table({**kept, **found})
    else:
        problems += compare(old, found, kind, architectures)
    return report(rows, problems)


if __name__ == "__main__":
    sys.exit(gate("kernels.cu", HEAD, kernels(), check))
