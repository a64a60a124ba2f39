"""Checks that the tests of kernels that move elements find mistakes, as mutants.py does.

    move_mutants.py [NUMBER...]      all of them, or those given
"""

import sys

import mutants

MOVES, TRANSPOSES = (f"runtime/routines/blocks/{name}.h" for name in ("moves", "transposes"))
COPY, GATHER, JOIN, PAD = (f"runtime/routines/moves/{family}/blocks.cuh"
                           for family in ("copy", "gather", "join", "pad"))
ELEMENTWISE, CONVERT = (f"runtime/routines/elementwise/{name}.cuh"
                        for name in ("blocks", "transposes"))
RESIZE = "runtime/routines/resampling/resize/nhwc.cuh"
# The test of each file.
TESTS = {MOVES: "move_rows", TRANSPOSES: "move_copy", COPY: "move_copy", GATHER: "move_rows",
         JOIN: "move_rows", PAD: "move_rows", ELEMENTWISE: "move_elementwise",
         CONVERT: "move_elementwise", RESIZE: "move_resize"}

# The file, its text, and what replaces that. The text occurs once.
MUTANTS = [
    # Runs.
    (MOVES, "(units - 1) / move_threads + 1", "units / move_threads"),
    (MOVES, "unit < units; unit +=", "unit <= units; unit +="),
    (MOVES, "unit += int64_t(grid.x) * move_threads", "unit += move_threads"),
    (MOVES, "while (all % most != 0)", "while (all % most > 1)"),
    (MOVES, "return are_aligned(tensors...) ? run : 1", "return run"),
    (MOVES, "return move_elements<most / 2>(b, from, to, count)",
     "return move_elements<most / 4>(b, from, to, count)"),
    (MOVES, "return move_elements<most / 8>(b, from, to, count)",
     "return move_elements<most / 16>(b, from, to, count)"),
    # Tiles.
    (TRANSPOSES, "  b.barrier();\n", ""),
    (TRANSPOSES, "v.from(d) == 1 && v.size(d) > from_size", "v.from(d) == 1"),
    (TRANSPOSES, "v.to(d) == 1 && v.size(d) > to_size", "v.to(d) == 1"),
    (TRANSPOSES, "across_y = v.to(d);", "across_y = 1;"),
    (TRANSPOSES, "x(v.from_offset()), y(v.to_offset())", "x(0), y(v.to_offset())"),
    (TRANSPOSES, "x(v.from_offset()), y(v.to_offset())", "x(v.from_offset()), y(0)"),
    (TRANSPOSES, "other /= v.size(d);", ""),
    (TRANSPOSES, "y += index * v.to(d);", "y += index * v.from(d);"),
    (TRANSPOSES, "ceil_div(axes.from_size, columns) * ceil_div(axes.to_size, rows)",
     "ceil_div(axes.from_size, columns) * (axes.to_size / rows)"),
    (TRANSPOSES, "unit / warp_lanes / runs_of_warp * runs_of_warp +", "unit / warp_lanes +"),
    (TRANSPOSES, "unit / warp_lanes % runs_of_warp * words_of_warp +", ""),
    (TRANSPOSES, "row * tile::row_bytes +", "row * (tile::row_bytes - 16) +"),
    (TRANSPOSES, "tile / across / down)", "tile / across)"),
    (TRANSPOSES, "tile % across * shape::columns", "tile % across"),
    (TRANSPOSES, "tile / across % down * shape::rows", "tile / across * shape::rows"),
    (TRANSPOSES, "smaller(shape::columns, axes.from_size - column)", "shape::columns"),
    (TRANSPOSES, "smaller(shape::rows, axes.to_size - row)", "shape::rows"),
    (TRANSPOSES, "(axes.across_x | columns) % (4 * of_word) == 0 && are_aligned(x)",
     "(axes.across_x | columns) % (4 * of_word) == 0"),
    (TRANSPOSES, "(axes.across_x | columns) % (4 * of_word) == 0 && are_aligned(x)",
     "columns % (4 * of_word) == 0 && are_aligned(x)"),
    (TRANSPOSES, "(axes.across_x | columns) % (4 * of_word) == 0 && are_aligned(x)",
     "axes.across_x % (4 * of_word) == 0 && are_aligned(x)"),
    (TRANSPOSES, "if (r < rows && chunk", "if (chunk"),
    (TRANSPOSES, "if (r < rows && chunk * 4 * of_word < columns)", "if (r < rows)"),
    (TRANSPOSES, "      if (first >= columns)\n", "      if (first + of_word >= columns)\n"),
    (TRANSPOSES, "        if (first + j < columns)\n", ""),
    (TRANSPOSES, "axes.across_y % run == 0 && are_aligned(y)", "axes.across_y % run == 0"),
    (TRANSPOSES, "axes.across_y % run == 0 && are_aligned(y)", "are_aligned(y)"),
    (TRANSPOSES, "unit >= shape::units || count <= 0",
     "unit >= shape::units || count <= 1"),
    (TRANSPOSES, "      if (at >= columns)\n        continue;\n", ""),
    (TRANSPOSES, "m.element[e]", "m.element[0]"),
    (TRANSPOSES, "if (aligned && count == run)", "if (aligned)"),
    (TRANSPOSES, "        if (j < count)\n          store_value", "          store_value"),
    # Few channels.
    (TRANSPOSES, "axes.to_size <= most_channels && axes.across_y == axes.to_size",
     "axes.to_size <= most_channels"),
    (TRANSPOSES, "axes.from_size <= most_channels && axes.across_x == axes.from_size",
     "axes.from_size <= most_channels"),
    (TRANSPOSES, "bool whole = count == run && is_aligned_to<run>(x)",
     "bool whole = is_aligned_to<run>(x)"),
    (TRANSPOSES, "count == run && is_aligned_to<run>(x) &&", "count == run &&"),
    (TRANSPOSES, "is_aligned_to<run>(y) &&", ""),
    (TRANSPOSES, "(joins ? axes.across_x : axes.across_y) % run == 0", "true"),
    (TRANSPOSES, "unit % runs * run;", "unit % runs;"),
    (TRANSPOSES, "smaller(run, size - first)", "run"),
    (TRANSPOSES, "to[at / run][at % run] =", "to[c][i] ="),
    (TRANSPOSES, "from[at / run][at % run]));", "from[c][i]));"),
    # Rows.
    (COPY, "    b.wait_for_inputs();\n    const int run", "    const int run"),
    (COPY, "aligned_run(run_of(s), x, y)", "run_of(s)"),
    (COPY, "unit % runs * run;", "unit % runs;"),
    (COPY, "int from = s.src_offset + first", "int from = first"),
    (COPY, "int to = s.dst_offset + first", "int to = first"),
    (COPY, "int all = s.src_offset | s.dst_offset;", "int all = 0;"),
    (COPY, "all |= s.src_strides[d] | s.dst_strides[d]", "all |= s.src_strides[d]"),
    (COPY, "(s.src_strides[last] != 1 || s.dst_strides[last] != 1)", "s.src_strides[last] != 1"),
    (COPY, "d > 0 ? rest % s.dims[d] : rest;", "rest % 4;"),
    (COPY, "run, s.dims[last] - first)", "run, run)"),
    # Concatenations.
    (JOIN, "aligned_run(run_of(s), y, x...)", "aligned_run(run_of(s), y)"),
    (JOIN, "aligned_run(run_of(s), y, x...)", "aligned_run(run_of(s), x...)"),
    (JOIN, "unit % runs * run, x...", "unit % runs, x..."),
    (JOIN, "all |= width", "all = width"),
    (JOIN, "s.rows * (s.pitch / run_of(s))", "(s.pitch / run_of(s))"),
    (JOIN, "    b.wait_for_inputs();\n", ""),
    (JOIN, "y + ptrdiff_t(unit) * run", "y + ptrdiff_t(unit)"),
    (JOIN, "s, unit / runs, unit", "s, unit % s.rows, unit"),
    (JOIN, "s.rows * runs, [&]", "s.rows * runs - 1, [&]"),
    (JOIN, "common_run(all, 16 / BYTES)", "(16 / BYTES)"),
    # Gathers.
    (GATHER, "index < 0 ? index + s.axis_size : index;", "index;"),
    (GATHER, "index >= s.axis_size ? s.axis_size - 1 : index", "index"),
    (GATHER, "indices + slice % s.count", "indices + slice"),
    (GATHER, "ptrdiff_t(slice / s.count) * s.axis_size", "ptrdiff_t(slice) * s.axis_size"),
    (GATHER, "if (s.axis_size > 0)", "if (true)"),
    (GATHER, "aligned_run(run_of(s), x, y)", "run_of(s)"),
    (GATHER, "common_run(s.inner, 16 / BYTES)", "(16 / BYTES)"),
    (GATHER, "    b.wait_for_inputs();\n", ""),
    (GATHER, "      index = index < 0 ? 0 : index;\n", ""),
    (GATHER, "first = unit % runs * run;", "first = unit % runs;"),
    (GATHER, "ptrdiff_t(slice) * s.inner + first", "ptrdiff_t(slice) * s.inner"),
    (GATHER, "b.store_global(to + i, T(0))", "b.store_global(to + i, T(1))"),
    (GATHER, "s.outer * s.count * (s.inner / run)", "s.count * (s.inner / run)"),
    # Padding.
    (PAD, "    b.wait_for_inputs();\n", ""),
    (PAD, "d > 0 ? rest % s.dims[d] : rest)", "rest)"),
    (PAD, "first = unit % runs * run;", "first = unit % runs;"),
    (PAD, "from += at * stride;", "from += at;"),
    (PAD, "pad_source(s, last, first + i)", "pad_source(s, last, first)"),
    (PAD, "inside && column >= 0", "column >= 0"),
    (PAD, "y + ptrdiff_t(unit) * run", "y + ptrdiff_t(unit)"),
    (PAD, "int from = 0, stride = s.in_dims[last]", "int from = 0, stride = s.dims[last]"),
    (PAD, "inside = inside && at >= 0;", ""),
    (PAD, "if (inside && at >= 0 && at < s.in_dims[last])", "if (inside && at >= 0)"),
    (PAD, "if (inside && at >= 0 && at < s.in_dims[last])",
     "if (inside && at < s.in_dims[last])"),
    (PAD, "s.dims[last] | s.in_dims[last] | s.before[last]", "s.dims[last] | s.in_dims[last]"),
    (PAD, "s.dims[last] | s.in_dims[last] | s.before[last]", "s.dims[last] | s.before[last]"),
    (PAD, "stride *= s.in_dims[d];", "stride *= s.dims[d];"),
    (PAD, "aligned_run(run_of(s), x, y)", "run_of(s)"),
    (PAD, "static_cast<T>(s.value)", "T(0)"),
    # Functions.
    (ELEMENTWISE, "return s.rank == 1 || s.dims[s.rank - 1] % length == 0", "return true"),
    (ELEMENTWISE, "return strides[s.rank - 1] != 1 || all % length == 0", "return true"),
    (ELEMENTWISE, "are_aligned(y, x...)", "are_aligned(x...)"),
    (ELEMENTWISE, "are_aligned(y, x...)", "are_aligned(y)"),
    (ELEMENTWISE, "} else if (stride == 0) {", "} else if (stride == 2) {"),
    (ELEMENTWISE, "ptrdiff_t(i) * stride", "ptrdiff_t(i)"),
    (ELEMENTWISE, "if (count - at >= length)", "if (count - at >= 0)"),
    (ELEMENTWISE, "for (int i = at; i < count; ++i)", "for (int i = at; i + 1 < count; ++i)"),
    (ELEMENTWISE, "place[I] += index * s.strides[I][d]", "place[I] += index * s.strides[0][d]"),
    (ELEMENTWISE, "has_runs(s) ? (count - 1) / length + 1 : count",
     "has_runs(s) ? count / length : count"),
    (ELEMENTWISE, "    b.wait_for_inputs();\n", ""),
    (ELEMENTWISE, "d + 1 < s.rank; ++d", "d + 2 < s.rank; ++d"),
    (ELEMENTWISE, "apply<N>(b, y + at, f,", "apply<N>(b, y, f,"),
    (ELEMENTWISE, "index = d > 0 ? rest % s.dims[d] : rest;", "index = rest;"),
    (ELEMENTWISE, "rest = d > 0 ? rest / s.dims[d] : 0;", "rest = d > 0 ? rest : 0;"),
    (ELEMENTWISE, "(fits(s, s.strides[I]) && ...)", "(fits(s, s.strides[0]) && ...)"),
    (CONVERT, "    b.wait_for_inputs();\n    with_numbers(\n        b,\n"
              "        [&](auto *y, const auto &f) {\n          transpose_tile",
     "    with_numbers(\n        b,\n        [&](auto *y, const auto &f) {\n          transpose_tile"),
    (CONVERT, "argument_value(b.load_global(x))...", "(argument_value(b.load_global(x)) + 1)..."),
    (CONVERT, "return {larger(1, tile::count(elementwise_view<S>{s})), 1, 1}",
     "return {larger(1, tile::count(elementwise_view<S>{s}) - 1), 1, 1}"),
    # Resizing.
    (RESIZE, "    b.wait_for_inputs();\n", ""),
    (RESIZE, "rows.weight[i] * of_row[k]", "rows.weight[0] * of_row[k]"),
    (RESIZE, "if (j >= (s.mode == 1 ? 2 : most_taps))", "if (j >= 2)"),
    (RESIZE, "rows.index[i], columns.index[j]", "rows.index[j], columns.index[i]"),
    (RESIZE, "pixel % s.ow, s.w, s.ow, s.scale_w", "pixel % s.ow, s.w, s.ow, s.scale_h"),
    (RESIZE, "(ptrdiff_t(row) * s.w + column) * s.c", "(ptrdiff_t(row) * s.h + column) * s.c"),
    (RESIZE, "return s.c % most_run == 0 ? most_run : 1", "return most_run"),
    (RESIZE, "run_of(s) == most_run && are_aligned(x, y) && operands_are_aligned(epi)",
     "run_of(s) == most_run && are_aligned(x, y)"),
    (RESIZE, "run_of(s) == most_run && are_aligned(x, y) && operands_are_aligned(epi)",
     "run_of(s) == most_run && operands_are_aligned(epi)"),
    (RESIZE, "pixel / s.ow % s.oh, s.h", "pixel / s.ow, s.h"),
    (RESIZE, "ptrdiff_t(pixel / s.ow / s.oh) * s.h", "ptrdiff_t(pixel / s.ow) * s.h"),
    (RESIZE, "unit % runs * N;", "unit % runs;"),
    (RESIZE, "if (i >= (s.mode == 1 ? 2 : most_taps))", "if (i >= 2)"),
    (RESIZE, "columns.weight[j] * tap[k]", "columns.weight[i] * tap[k]"),
    (RESIZE, "ptrdiff_t(pixel) * s.c + channel, channel)", "ptrdiff_t(pixel) * s.c + channel, 0)"),
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
