"""Checks that the test of implicit_gemm.cuh finds mistakes in the kernel.

    mutants.py [NUMBER...]      all of them, or those with these numbers

Each mutant is the kernel with one piece of its text replaced. It is compiled with the test, which
has to fail. At least 95 of 100 mutants have to be found; the others are printed.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARE = 0.95
SECONDS = 300  # after which a test counts as failed
FLAGS = ["-std=c++17", "-w", "-ffp-contract=off", "-DNNC_PORTABLE_SIMD=1",
         "-DNNC_GEMM_FEW_TILES"]
# Tests that run so long that it is worth while to optimize them.
LONG_TESTS = ["attention", "plain_gemm"]
TEST = "test/runtime/cuda/implicit_gemm.cpp"

CONV = "runtime/routines/convolution/conv2d/"
KERNEL, LOADS, STORE, PLAN, PRODUCTS = (CONV + name for name in (
    "implicit_gemm.cuh", "implicit_gemm_loads.cuh", "implicit_gemm_store.cuh",
    "implicit_gemm_plan.h", "implicit_gemm_products.cuh"))

# The file, its text, and what replaces that. The text occurs once.
MUTANTS = [
    # Barriers and copies.
    (KERNEL, "      b.barrier();\n", ""),
    (KERNEL, "      b.template wait_copies<Tile::stages - 2>();\n      b.barrier();\n",
     "      b.barrier();\n      b.template wait_copies<Tile::stages - 2>();\n"),
    (KERNEL, "wait_copies<Tile::stages - 2>", "wait_copies<Tile::stages - 1>"),
    (KERNEL, "      b.template wait_copies<Tile::stages - 2>();\n", ""),
    (KERNEL, "      b.commit_copies();\n      Products::multiply(", "      Products::multiply("),
    (KERNEL, "      b.commit_copies();\n      Products::multiply(",
     "      if (loads)\n        b.commit_copies();\n      Products::multiply("),
    (KERNEL, "      b.commit_copies();\n    }\n    shared_address read",
     "    }\n    b.commit_copies();\n    shared_address read"),
    (KERNEL, "      b.barrier();\n",
     "      if (b.thread() < 32 || step % 2 == 0)\n        b.barrier();\n"),
    (KERNEL, "      b.barrier();\n      const bool loads = step + Tile::stages - 1 < end;\n"
             "      if (loads) {\n        start_input(write);\n        start_weights(write);\n"
             "      }\n",
     "      const bool loads = step + Tile::stages - 1 < end;\n"
     "      if (loads) {\n        start_input(write);\n        start_weights(write);\n"
     "      }\n      b.barrier();\n"),
    (KERNEL, "    b.wait_for_inputs();\n    typename", "    typename"),
    (KERNEL, "    b.wait_for_inputs();\n    typename Products::sums d = {};\n",
     "    typename Products::sums d = {};\n    if (b.thread() % 2)\n      b.wait_for_inputs();\n"),
    # Stages.
    (KERNEL, "base + (Tile::stages - 1) * Tile::stage_bytes", "base"),
    (KERNEL, "      write = next_stage<Tile>(base, write);\n", ""),
    (PLAN, "base + Tile::shared_bytes ? base",
     "base + Tile::shared_bytes + Tile::stage_bytes ? base"),
    (KERNEL, "i < Tile::stages - 1; ++i) {", "i < Tile::stages; ++i) {"),
    (KERNEL, "const bool loads = step + Tile::stages - 1 < end",
     "const bool loads = step + Tile::stages < end"),
    (KERNEL, "const bool loads = step + Tile::stages - 1 < end",
     "const bool loads = step + Tile::stages - 1 <= end"),
    (KERNEL, "if (begin + i < end) {\n        start_input", "if (true) {\n        start_input"),
    (KERNEL, "if (begin + i < end) {\n        start_weights", "{\n        start_weights"),
    (KERNEL, "        end_input(write);\n", ""),
    (KERNEL, "        end_weights(write);\n", ""),
    # The swizzle, on one side and on both.
    (LOADS, "(chunk ^ gemm_swizzle<Tile>(row)) * 16", "chunk * 16"),
    (PRODUCTS, "(run * 2 + lane / 16) ^ gemm_swizzle<Tile>(row)", "run * 2 + lane / 16"),
    (LOADS, "return row / rows_a_line % Tile::chunks", "return row % Tile::chunks"),
    (LOADS, "return row / rows_a_line % Tile::chunks", "return 0"),
    # Fragments.
    (PRODUCTS, "Tile::warp_rows + lane % 16;", "Tile::warp_rows + lane % 8 * 2;"),
    (PRODUCTS, "run * 2 + lane / 16", "run * 2 + lane / 8 % 2"),
    (PRODUCTS, "half % 2 * (gemm_block_bytes / 2)", "0"),
    (PRODUCTS, "a[i], f.word[2], f.word[3]", "a[i], f.word[3], f.word[2]"),
    (PRODUCTS, "(half / 2 * Tile::runs + run)", "(half / 2 + run)"),
    (PRODUCTS, "a[i] = product::operand(", "if (lane < 31)\n          a[i] = product::operand("),
    (PLAN, "g / 2 * 8 + j * 2 + g % 2", "g + j * 8"),
    (PLAN, "part % 2 * 4 + lane % 4", "part % 2 + lane % 4 * 2"),
    (PLAN, "term + i < terms", "term < terms"),
    (PRODUCTS, "d[i / 2][p * 4 + j / 2][i % 2 * 2 + j % 2]",
     "d[i / 2][p * 4 + j / 2][i % 2 + j % 2 * 2]"),
    # Tails.
    (LOADS, "out < gemm_rows(s)", "out <= gemm_rows(s)"),
    (PRODUCTS, "row >= gemm_rows(s) || filter", "row > gemm_rows(s) || filter"),
    (PRODUCTS, "|| filter >= filters", "|| filter > filters"),
    (PRODUCTS, "smaller(8, filters - filter)", "8"),
    (LOADS, "panel(i) < panels &&", "panel(i) <= panels &&"),
    (LOADS, "chunk(i) / block_chunks < blocks", "chunk(i) / block_chunks <= blocks"),
    (LOADS, "return r < s.kh &&", "return"),
    (LOADS, "total % Tile::threads == 0 || index(i) < total", "true"),
    (STORE, "if (i < count)\n          gemm", "if (i <= count)\n          gemm"),
    (STORE, "if (i < count)\n            v[i]", "if (i <= count)\n            v[i]"),
    (STORE, "return s.k / s.groups % 8 == 0", "return s.k / s.groups % 4 == 0"),
    (STORE, "return s.k / s.groups % 8 == 0", "return s.k % 8 == 0"),
    # Taps and padding.
    (LOADS, "unsigned(top[i] + r * s.dh) < unsigned(s.h)", "top[i] + r * s.dh < s.h"),
    (LOADS, "unsigned(left[i] + t * s.dw) < unsigned(s.w)", "left[i] + t * s.dw >= 0"),
    (LOADS, "unsigned(left[i] + t * s.dw) < unsigned(s.w)",
     "unsigned(left[i] + t * s.dw) <= unsigned(s.w)"),
    (LOADS, "r * s.dh * s.w + t * s.dw", "r * s.w + t * s.dw"),
    (LOADS, "    NNC_KEEP_LOOP\n    while (channel >= channels)", "    if (channel >= channels)"),
    (LOADS, "while (channel >= channels)", "while (channel > channels)"),
    (LOADS, "if (channel >= channels)", "if (channel > channels)"),
    (LOADS, "if (channels >= step)", "if (channels >= step - 8)"),
    (LOADS, "if (++c == s.c / s.groups)", "if (++c == s.c / s.groups + 1)"),
    (LOADS, "tap_column = term / channels % s.kw", "tap_column = term / channels % s.kh"),
    (LOADS, "left[i] = out % s.ow * s.sw - s.pl", "left[i] = out % s.ow * s.sh - s.pl"),
    (LOADS, "% s.oh * s.sh - s.pt", "% s.oh * s.sh - s.pl"),
    (KERNEL, "x + group * (s.c / s.groups)", "x"),
    # Groups, slices.
    (KERNEL, "w + group * group_bytes", "w"),
    (PRODUCTS, "row, group * filters + filter", "row, filter"),
    (KERNEL, "begin = steps * slice / slices", "begin = 0"),
    (KERNEL, "end = steps * (slice + 1) / slices", "end = steps"),
    (LOADS, "blocks(all_blocks - step * step_blocks)", "blocks(all_blocks)"),
    (STORE, "for (int z = 0; z < slices; ++z)", "for (int z = 1; z < slices; ++z)"),
    (STORE, "for (int z = 0; z < slices; ++z)",
     "for (int z = b.block_z(), turn = 0; turn < slices; ++turn, z = (z + 1) % slices)"),
    (KERNEL, "if (b.arrives_last(output.counters + tile, slices))",
     "if (b.block_z() == slices - 1)"),
    (KERNEL, "if (b.arrives_last(output.counters + tile, slices))",
     "if (b.arrives_last(output.counters + tile, slices) || true)"),
    (KERNEL, "b.arrives_last(output.counters + tile, slices)",
     "b.arrives_last(output.counters + tile, slices - 1)"),
    (KERNEL, "output.counters + tile", "output.counters"),
    (KERNEL, "group * gemm_blocks<Tile>(s) + b.block_x()", "b.block_x()"),
    (KERNEL, "      Products::store(b, s, d, output.of_slice, first_row, first_column, group);\n"
             "      const int tile = group * gemm_blocks<Tile>(s) + b.block_x();\n"
             "      if (b.arrives_last(output.counters + tile, slices))\n",
     "      const int tile = group * gemm_blocks<Tile>(s) + b.block_x();\n"
     "      const bool last = b.arrives_last(output.counters + tile, slices);\n"
     "      Products::store(b, s, d, output.of_slice, first_row, first_column, group);\n"
     "      if (last)\n"),
    (STORE, "first_row + unit / eights", "first_row + unit / eights + 1"),
    (STORE, "unit < Tile::rows * eights", "unit < Tile::rows * eights - Tile::threads"),
    (STORE, "if (row >= end_row || filter", "if (row > end_row || filter"),
    (STORE, "const int channel = group * filters + filter", "const int channel = filter"),
    (STORE, "ptrdiff_t(b.block_z()) * gemm_rows(s)", "0 * gemm_rows(s)"),
    # The operands of the epilogue.
    (STORE, "load(b, o.data + channel)", "load(b, o.data)"),
    (STORE, "load(b, o.data + at)", "load(b, o.data)"),
    (STORE, "epi(v[i], position<true>{at + i, channel + i})",
     "epi(v[i], position<true>{at + i, channel})"),
    (STORE, "epi(v[i], position<true>{at + i, channel + i})",
     "epi(v[i], position<true>{at, channel + i})"),
]


def copy_tree(to, root):
    for folder in ("runtime", "test/runtime"):
        shutil.copytree(root / folder, to / folder)


def compile_test(folder, compiler, test):
    optimize = "-O1" if any(name in test for name in LONG_TESTS) else "-O0"
    done = subprocess.run([compiler, *FLAGS, optimize, "-I.", test,
                           str(folder.parent / "check.o"), "-o", "mutant"], cwd=folder,
                          capture_output=True, text=True)
    return done.stderr if done.returncode else None


def fails(folder):
    """Returns why the test fails, or None if it passes."""
    try:
        done = subprocess.run(["./mutant", "--until-failure"], cwd=folder, capture_output=True,
                              text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "takes too long"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("  is ")]
    return lines[0].strip() if lines else f"status {done.returncode}"


def try_mutant(number, mutant, top, compiler, test):
    file, old, new = mutant
    folder = top / str(number)
    copy_tree(folder, top / "whole")
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace(old, new))
    wrong = compile_test(folder, compiler, test)
    if wrong:
        print(f"{number:3} does not compile, which counts as missed:\n{wrong}", flush=True)
        return None
    why = fails(folder)
    shutil.rmtree(folder)
    said = f"found: {why}" if why else f"MISSED: {file}: {old!r} -> {new!r}"
    print(f"{number:3} {said}", flush=True)
    return why


def check_texts(mutants):
    """Ends the script if a mutant does not say which text of the kernel it replaces."""
    wrong = []
    for number, (file, old, new) in enumerate(mutants):
        times = (ROOT / file).read_text().count(old)
        if times != 1 or old == new:
            wrong.append(f"mutant {number}: {file} has this {times} times, expected once: {old!r}")
    if wrong:
        sys.exit("\n".join(wrong))


def main(mutants=MUTANTS, test=TEST, numbers=()):
    """Tries mutants of the kernels that `test` checks: those with these numbers, or all of them."""
    check_texts(mutants)
    compiler = os.environ.get("NNC_CXX") or shutil.which("clang++-19") or "c++"
    numbers = [int(n) for n in numbers] or range(len(mutants))
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        subprocess.run([compiler, *FLAGS, f"-I{ROOT}", "-c", str(ROOT / "test/runtime/check.cpp"),
                        "-o", str(top / "check.o")], check=True)
        copy_tree(top / "whole", ROOT)
        why = compile_test(top / "whole", compiler, test) or fails(top / "whole")
        if why:
            sys.exit(f"the test fails without a mutation: {why}")
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("NNC_JOBS", 1))) as pool:
            begun = time.time()
            found = list(pool.map(lambda n: try_mutant(n, mutants[n], top, compiler, test),
                                  numbers))
    missed = found.count(None)
    print(f"{len(found) - missed} of {len(found)} mutants found in {time.time() - begun:.0f} s")
    return missed > (1 - SHARE) * len(found)


if __name__ == "__main__":
    sys.exit(main(numbers=sys.argv[1:]))
