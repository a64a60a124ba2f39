"""Checks that the tests of kernels of rows and windows find mistakes, as mutants.py does.

    row_mutants.py [NUMBER...]      all of them, or those given
"""

import sys

import mutants

ELEMENTS, ROWS = (f"runtime/routines/blocks/{name}.h" for name in ("elements", "rows"))
SOFTMAX, LAYER_NORM = (f"runtime/routines/normalization/{family}/rows.cuh"
                       for family in ("softmax", "layer_norm"))
POOL = "runtime/routines/pooling/pool2d/nhwc.cuh"
REDUCE = "runtime/routines/reduction/reduce/rows.cuh"
# The test of each file.
TESTS = {ELEMENTS: "layer_norm_rows", ROWS: "layer_norm_rows", SOFTMAX: "softmax_rows",
         LAYER_NORM: "layer_norm_rows", POOL: "pool2d_nhwc", REDUCE: "reduce_rows"}

# The file, its text, and what replaces that. The text occurs once.
MUTANTS = [
    # Rows: the threads that share one, their parts of it, and what they exchange.
    (ROWS, "    b.barrier();\n", ""),
    (ROWS, "b.shared_base() + PLACE * row_warps * int(sizeof(float))", "b.shared_base()"),
    (ROWS, "mask = LANES / 2;", "mask = LANES / 4;"),
    (ROWS, "for (int warp = 1; warp < row_warps; ++warp)",
     "for (int warp = 1; warp < row_warps - 1; ++warp)"),
    (ROWS, "if (b.thread() % warp_lanes == 0)\n", ""),
    (ROWS, "      if (place(i) < size)\n        load_elements", "        load_elements"),
    (ROWS, "      if (place(i) < size)\n        f(", "        f("),
    (ROWS, "(place(i) < size)\n        load_elements",
     "(place(i) + N < size)\n        load_elements"),
    (ROWS, "first + i * Group::threads * N", "first + i * Group::threads"),
    (ROWS, "at += Group::threads * N", "at += Group::threads"),
    (ROWS, "int at = first; at < size", "int at = first; at < size - N"),
    (ROWS, "row < rows ? Group::index(b) * N : size", "Group::index(b) * N"),
    (ROWS, " +\n                  b.thread() / Group::threads;", ";"),
    (ROWS, "ceil_div(rows, row_threads / threads_of_row(size))",
     "rows / (row_threads / threads_of_row(size))"),
    (ROWS, "size <= 8 * few_values ", "size <= 9 * few_values "),
    (ROWS, "size <= 16 * few_values ", "size <= 17 * few_values "),
    (ROWS, "return b.thread() % LANES", "return b.thread() % warp_lanes"),
    (ROWS, "size % elements_of_move<T> == 0 && aligned", "size % elements_of_move<T> == 0"),
    (ROWS, "size % elements_of_move<T> == 0 && aligned", "aligned"),
    (ROWS, "|| size <= Group::threads * values", "|| size <= Group::threads * values + 8"),
    (ELEMENTS, "return are_aligned(list.head.data) && ", "return "),
    (ELEMENTS, "load_elements(b, o.data + channel, value)", "load_elements(b, o.data, value)"),
    (ELEMENTS, "load_elements(b, o.data + at, value)", "load_elements(b, o.data, value)"),
    (ELEMENTS, "return b.halves(low, high)", "return b.halves(high, low)"),
    # Softmax.
    (SOFTMAX, "    b.wait_for_inputs();\n", ""),
    (SOFTMAX, "are_aligned(x, y)", "are_aligned(x)"),
    (SOFTMAX, "float largest = -HUGE_VALF;\n    row", "float largest = 0;\n    row"),
    (SOFTMAX, "if (Row::keeps_changes && !s.log)", "if (Row::keeps_changes)"),
    (SOFTMAX, ": Row::keeps_changes ? v[j]", ": true ? v[j]"),
    (SOFTMAX, "Group::template all<1>(b, sum_of_parts(part)", "Group::template all<1>(b, part[0]"),
    (SOFTMAX, "Group::template all<1>", "Group::template all<0>"),
    (SOFTMAX, "    if (unit >= s.outer * s.inner)\n      return;\n", ""),
    (SOFTMAX, "ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner", "unit * s.size"),
    (SOFTMAX, "const int blocks = ceil_div(s.outer * s.inner, threads)",
     "const int blocks = s.outer * s.inner / threads"),
    (SOFTMAX, "if (i + j < s.size)\n          load", "if (i + j <= s.size)\n          load"),
    (SOFTMAX, "if (i + j < s.size)\n          f(", "          f("),
    (SOFTMAX, "(v[j] - largest) - shift", "v[j] - shift"),
    # Layer normalization.
    (LAYER_NORM, "are_aligned(x, scale, bias, y) && operands_are_aligned(epi)",
     "are_aligned(x, scale, bias, y)"),
    (LAYER_NORM, "are_aligned(x, scale, bias, y)", "are_aligned(x, scale, y)"),
    (LAYER_NORM, "squares[j] = fma(v[j] - mean, v[j] - mean, squares[j])",
     "squares[j] = fma(v[j], v[j], squares[j])"),
    (LAYER_NORM, "variance + s.epsilon", "variance"),
    (LAYER_NORM, "load_elements(b, bias + at, c)", "load_elements(b, bias, c)"),
    (LAYER_NORM, "y, first + at, at)", "y, first + at, 0)"),
    (LAYER_NORM, "all<1>(b, sum_of_parts(squares)", "all<1>(b, squares[0]"),
    # Reductions.
    (REDUCE, "if (group_type::index(b) == 0 && index < s.outer)\n", ""),
    (REDUCE, "index(b) == 0 && index < s.outer", "index(b) == 0"),
    (REDUCE, "better || b != b ? b : a", "better ? b : a"),
    (REDUCE, "largest - largest == 0.0f ? largest : 0.0f", "largest"),
    (REDUCE, "join_parts<K>(part), joiner", "part[0], joiner"),
    (REDUCE, "K::template map<float>(v[j])", "v[j]"),
    # Pooling.
    (POOL, "    b.barrier();\n", ""),
    (POOL, "v > best || v != v ? v : best", "v > best ? v : best"),
    (POOL, "taps.rows.count() * taps.columns.count() == 0 ? 0.0f : best", "best"),
    (POOL, "mean_of_taps<float>(sum, taps.count(s))",
     "mean_of_taps<float>(sum, taps.rows.count() * taps.columns.count())"),
    (POOL, "return s.c % most_run == 0 ? most_run : 1", "return s.c % 2 == 0 ? most_run : 1"),
    (POOL, "N == 1 || (are_aligned(x, y) && operands_are_aligned(epi))", "true"),
    (POOL, "N == 1 || (are_aligned(x, y) && operands_are_aligned(epi))",
     "N == 1 || are_aligned(x, y)"),
    (POOL, "    if (unit >= s.n * s.oh * s.ow * runs)\n      return;\n", ""),
    (POOL, "ceil_div(pixels * (s.c / run), threads)", "pixels * (s.c / run) / threads"),
    (POOL, "channel = unit % divisor * N;", "channel = unit % runs;"),
    (POOL, "if (first + place < s.c)", "if (true)"),
    (POOL, "tap += slices", "tap += slices + 1"),
    (POOL, "tap / columns) * s.dh", "tap / columns)"),
    (POOL, "tap % columns) * s.dw", "tap % columns)"),
    (POOL, "int part = 1; part < slices", "int part = 2; part < slices"),
    (POOL, "if (channel >= channels || first + channel >= s.c)", "if (channel >= channels)"),
    (POOL, "r < taps.rows.to; ++r", "r < s.kh; ++r"),
    (POOL, "ptrdiff_t(t) * s.dw * s.c", "ptrdiff_t(t) * s.c"),
    (POOL, "pixel / s.ow % s.oh * s.sh - s.pt", "pixel / s.ow % s.oh * s.sw - s.pt"),
]


def main():
    numbers = [int(n) for n in sys.argv[1:]] or range(len(MUTANTS))
    failed = False
    for name in sorted(set(TESTS.values())):
        chosen = [MUTANTS[n] for n in numbers if TESTS[MUTANTS[n][0]] == name]
        if chosen:
            failed |= mutants.main(chosen, f"test/runtime/cuda/{name}.cpp")
    return failed


if __name__ == "__main__":
    sys.exit(main())
