"""Checks that the tests of plain_gemm.cuh, and of grouped.cuh, pixels.cuh, planes.cuh and
phases.cuh, find mistakes in these kernels, as mutants.py does for implicit_gemm.cuh, which the latter
stand on.

    product_mutants.py [plain|grouped|pixels|planes|phases] [NUMBER...]      all of them, or those
                                                                             with these numbers
"""

import sys

import mutants
from mutants import KERNEL as SUMS, STORE
from mutants import PRODUCTS as FRAGMENTS

FOLDER = "runtime/routines/matrix/matmul/"
KERNEL, LOADS, PLAN, PRODUCTS = (FOLDER + name for name in (
    "plain_gemm.cuh", "plain_gemm_loads.cuh", "plain_gemm_plan.h", "plain_gemm_products.cuh"))
QUADS = "runtime/routines/blocks/quads.h"

CONV = mutants.CONV
GROUPED, FLOATS, FLOAT_PLAN, INPUT = (CONV + name for name in (
    "grouped_plan.h", "float_gemm.cuh", "float_gemm_plan.h", "implicit_gemm_loads.cuh"))
PLANES = CONV + "planes.cuh"
PIXELS, PHASES = CONV + "pixels_plan.h", "runtime/routines/convolution/conv_transpose2d/phases"

PLAIN_MUTANTS = [
    # Barriers and copies.
    (KERNEL, "      b.barrier();\n", ""),
    (KERNEL, "      b.barrier();\n",
     "      if (b.thread() < 32 || step % 2 == 0)\n        b.barrier();\n"),
    (KERNEL, "      b.template wait_copies<Tile::stages - 2>();\n", ""),
    (KERNEL, "wait_copies<Tile::stages - 2>", "wait_copies<Tile::stages - 1>"),
    (KERNEL, "      b.commit_copies();\n      products::", "      products::"),
    (KERNEL, "      b.commit_copies();\n    }\n    shared_address read",
     "    }\n    b.commit_copies();\n    shared_address read"),
    (KERNEL, "    b.wait_for_inputs();\n", ""),
    (KERNEL, "    b.wait_for_inputs();\n", "    if (b.thread() % 2)\n      b.wait_for_inputs();\n"),
    # Stages.
    (KERNEL, "base + (Tile::stages - 1) * Tile::stage_bytes", "base"),
    (KERNEL, "      write = next_stage<Tile>(base, write);\n", ""),
    (mutants.PLAN, "base + Tile::shared_bytes ? base",
     "base + Tile::shared_bytes + Tile::stage_bytes ? base"),
    (KERNEL, "const bool loads = step + Tile::stages - 1 < end",
     "const bool loads = step + Tile::stages < end"),
    (KERNEL, "const bool loads = step + Tile::stages - 1 < end",
     "const bool loads = step + Tile::stages - 1 <= end"),
    (KERNEL, "if (begin + i < end) {", "if (true) {"),
    (KERNEL, "        finish(write);\n", ""),
    (KERNEL, "      a.advance();\n", ""),
    (KERNEL, "      c.advance();\n", ""),
    (KERNEL, "c.copy(b, stage + Tile::input_bytes)", "c.copy(b, stage)"),
    # Products, slices and tiles.
    (KERNEL, "begin = steps * b.block_z() / slices", "begin = 0"),
    (KERNEL, "end = steps * (b.block_z() + 1) / slices", "end = steps"),
    (KERNEL, "ceil_div(s.k, left_loads::depth)", "s.k / left_loads::depth"),
    (KERNEL, "x + product * s.a_batch_stride", "x + product * s.m * s.k"),
    (KERNEL, "w + product * s.b_batch_stride", "w"),
    (KERNEL, "w + product * s.b_batch_stride", "w + product * s.n * s.k"),
    (KERNEL, "const int before = b.block_y() * s.m", "const int before = 0"),
    (KERNEL, "b.block_x() / tiles_across * Tile::rows", "b.block_x() * Tile::rows"),
    (KERNEL, "TRANSPOSE_A ? of_term", "!TRANSPOSE_A ? of_term"),
    (KERNEL, "TRANSPOSE_B ? tile_row", "!TRANSPOSE_B ? tile_row"),
    (PLAN, "matmul_as_conv2d(s.batch * s.m", "matmul_as_conv2d(s.m"),
    (PLAN, "return {ceil_div(s.m, rows) *", "return {s.m / rows *"),
    (STORE, "for (int z = 0; z < slices; ++z)", "for (int z = 1; z < slices; ++z)"),
    (KERNEL, "before + s.m, first_column", "s.m, first_column"),
    (KERNEL, "b.block_y() * ceil_div(s.m, Tile::rows) * tiles_across + b.block_x()",
     "b.block_x()"),
    # The swizzle, on one side and on both.
    (LOADS, "swizzles ? chunk ^ tile_swizzle<ROW, chunks>(row) : chunk", "chunk"),
    (LOADS, "return row / 8 % 4 * 2 + row % 2", "return row % 8"),
    (LOADS, "return row / 8 % mixed", "return row / 2 % mixed"),
    (LOADS, "return row / (8 / mixed) % mixed", "return 0"),
    (LOADS, "return row / (8 / mixed) % mixed", "return row % mixed"),
    (LOADS, "ROW != tile_row::of_term || sizeof(T) < sizeof(float)", "true"),
    (PRODUCTS, "(chunk ^ tile_swizzle<ROW, ROW_BYTES / 16>(row)) * 16", "chunk * 16"),
    (PRODUCTS, "(chunk ^ tile_swizzle<ROW, Tile::chunks>(row)) * 16", "chunk * 16"),
    # Tails and elements.
    (LOADS, "i * row_step < rows_left &&", "i * row_step <= rows_left &&"),
    (LOADS, "&& elements_left > 0", "&& elements_left >= 0"),
    (LOADS, "if (e < elements_left)", "if (true)"),
    (LOADS, "if (e < elements_left)", "if (e < elements_left - 1)"),
    (LOADS, "      rows_left -= depth;\n", ""),
    (LOADS, "      elements_left -= depth;\n", ""),
    (LOADS, "from += ptrdiff_t(depth) * pitch", "from += ptrdiff_t(depth - 1) * pitch"),
    (LOADS, "pitch(by_terms ? extent : terms)", "pitch(by_terms ? terms : extent)"),
    (LOADS, "rows_left = (by_terms ? terms : extent) - row", "rows_left = extent - row"),
    (LOADS, "elements_left = pitch - element", "elements_left = pitch"),
    (LOADS, "const int first_term = step * depth", "const int first_term = 0"),
    (LOADS, "e % per_word * int(sizeof(T)) * 8 % 32", "e % per_word * 8"),
    (LOADS, "aligned(WHOLE || aligned)", "aligned(true)"),
    (PRODUCTS, "if (row < rows && column", "if (row <= rows && column"),
    (PRODUCTS, "if (row < row_count && column", "if (row <= row_count && column"),
    (PLAN, "left_row_length(s) % elements == 0 &&", ""),
    (PLAN, "right_row_length(s) % elements == 0 &&", ""),
    (PLAN, "&& s.a_batch_stride % elements == 0", ""),
    (STORE, "if (i < count)\n          gemm", "if (i <= count)\n          gemm"),
    (STORE, "if (i < count)\n            v[i]", "if (i <= count)\n            v[i]"),
    # Fragments of halves.
    (PRODUCTS, "run * 16 + lane / 16 * 8 + lane % 8, row / 8 + lane / 8 % 2",
     "run * 16 + lane / 8 % 2 * 8 + lane % 8, row / 8 + lane / 16"),
    (PRODUCTS, "tile, row + lane % 16,", "tile, row + lane % 8 * 2,"),
    (PRODUCTS, "const int half = lane / 8 % 2, j = pair * 2 + lane / 16",
     "const int half = lane / 16, j = pair * 2 + lane / 8 % 2"),
    (PRODUCTS, "panel / 8 + j", "panel / 8 + j % 2"),
    (PRODUCTS, "panel + g / 2 * 8 + j * 2 + g % 2", "panel + g + j * 8"),
    (PRODUCTS, "run * 16 + half * 8 + g", "run * 16 + g"),
    (PRODUCTS, "a[i], f.word[2], f.word[3]", "a[i], f.word[3], f.word[2]"),
    (PRODUCTS, "column + pair / 2 * gemm_panel", "column"),
    (PRODUCTS, "d[i / 2][p * 4 + j / 2][i % 2 * 2 + j % 2]",
     "d[i / 2][p * 4 + j / 2][i % 2 + j % 2 * 2]"),
    (PRODUCTS, "[i % 2 * 2 + part]", "[i % 2 + part * 2]"),
    (PRODUCTS, "&v[j * 2 + part]", "&v[j + part * 4]"),
    (QUADS, "  exchange_in_quad<2>(b, w);\n", ""),
    (QUADS, "upper ? low : high", "upper ? high : low"),
    # Products of floats.
    (PRODUCTS, "x[i] = in[i].element[term]", "x[i] = in[i].element[0]"),
    (PRODUCTS, "w[j] = columns[j].element[term]", "w[j] = columns[j % 4].element[term]"),
    (PRODUCTS, "left + (chunk * 4 + term) * Tile::rows * 4", "left + chunk * 4 * Tile::rows * 4"),
    (PRODUCTS, "(column + j) * 4);", "column * 4);"),
    (PRODUCTS, "i % together + i / together * 8 * together", "i"),
    (PRODUCTS, "return place + i * 8;", "return place * 4 + i;"),
    (PRODUCTS, "lane / 2 % 2 + lane / 8 * 2", "lane / 8"),
    (PRODUCTS, "lane % 2 * 8 + lane / 4 % 2 * 16", "lane % 4 * 8"),
]

# In the loop that grouped.cuh, pixels.cuh and phases.cuh share with implicit_gemm.cuh.
LOOP_MUTANTS = [
    (SUMS, "      b.barrier();\n", ""),
    (SUMS, "      b.template wait_copies<Tile::stages - 2>();\n", ""),
    (SUMS, "wait_copies<Tile::stages - 2>", "wait_copies<Tile::stages - 1>"),
    (SUMS, "    b.wait_for_inputs();\n    typename", "    typename"),
    (SUMS, "      write = next_stage<Tile>(base, write);\n", ""),
    (SUMS, "        end_weights(write);\n", ""),
    (INPUT, "(chunk ^ gemm_swizzle<Tile>(row)) * 16", "chunk * 16"),
    (INPUT, "out < gemm_rows(s)", "out <= gemm_rows(s)"),
]

# Groups of halves and bytes are whole runs of eight filters, so that no store is of fewer.
GROUPED_MUTANTS = LOOP_MUTANTS + [
    (GROUPED, "? gemm_panel / width\n", "? gemm_panel / width / 2\n"),
    (GROUPED, "gemm_panel % width == 0 &&", "true &&"),
    (GROUPED, "channels % gemm_panel == 0", "true"),
    (GROUPED, "column / width == channel / width", "true"),
    (GROUPED, "column / width == channel / width", "column % width == channel % width"),
    (GROUPED, "group * merged_width() + column", "column"),
    (GROUPED, "channel % width)", "channel)"),
    (FLOATS, "has_groups<S> ? s.groups : 1", "1"),
    (FLOATS, "has_groups<S> ? group * filters : 0", "0"),
    (FLOATS, "has_groups<S> ? s.k / s.groups : s.k", "s.k"),
    (FLOAT_PLAN, "panel * gemm_panel + i", "panel + i"),
    (GROUPED, "groups(s.groups / merged_count(s.c / s.groups, s.c))",
     "groups(s.groups / merged_count(s.c, s.c))"),
    (GROUPED, "taps * merged_width());", "taps * width);"),
    (GROUPED, "term % merged_width();", "term % width;"),
    (GROUPED, "term / merged_width(), channel", "term / width, channel"),
    (GROUPED, "width < gemm_panel && ", "width < gemm_panel / 2 && "),
    (SUMS, "x + group * (s.c / s.groups)", "x"),
    (SUMS, "w + group * group_bytes", "w"),
    (SUMS, "group * gemm_blocks<Tile>(s) + b.block_x()", "b.block_x()"),
    (FRAGMENTS, "row, group * filters + filter", "row, filter"),
    (STORE, "const int channel = group * filters + filter", "const int channel = filter"),
    (mutants.PLAN, "return gemm_blocks<Tile>(s) * s.groups;", "return gemm_blocks<Tile>(s);"),
]

PIXEL_MUTANTS = LOOP_MUTANTS + [
    (INPUT, "c < s.channels() ?", "true ?"),
    (INPUT, "c < s.channels() ?", "c <= s.channels() ?"),
    (INPUT, "tap_column += step / pixel_channels", "tap_column += step"),
    (INPUT, "while (tap_column >= s.kw)", "while (tap_column > s.kw)"),
    (INPUT, "chunks[i].word[p * words + w]", "chunks[i].word[w]"),
    (INPUT, "memcpy(&found, padding(s).word, sizeof(found))", "memset(&found, 0, sizeof(found))"),
    (PIXELS, "channel < channels ? column : -1", "column"),
    (PIXELS, "term / pixel_channels, channel", "term % taps, channel"),
    (PIXELS, "int c = pixel_channels", "int c = 8"),
    (FLOATS, "if constexpr (has_pixels<S>)", "if constexpr (false)"),
    (FRAGMENTS, "smaller(8, filters - filter)", "8"),
    (INPUT, "      }\n      next_tap(s, r, t);\n    }\n  }\n", "      }\n    }\n  }\n"),
    (INPUT, "        tap_column -= s.kw;\n        ++tap_row;\n", "        tap_column -= s.kw;\n"),
    (INPUT, "if (inside(s, i, r, t))\n          found", "if (r < s.kh)\n          found"),
    (INPUT, "at(s, i, r, t, 0)", "at(s, i, r, t, s.channels())"),
    (INPUT, "found.word[w] & used.word[w]", "found.word[w] & used.word[0]"),
    (INPUT, "if (++t == s.kw)", "if (++t > s.kw)"),
    (PIXELS, "taps * pixel_channels);", "taps * channels);"),
    (PIXELS, "term % pixel_channels;", "term % channels;"),
    (STORE, "for (int z = 0; z < slices; ++z)", "for (int z = 1; z < slices; ++z)"),
    (SUMS, "begin = steps * slice / slices", "begin = 0"),
]

PLANE_MUTANTS = [
    (PLANES, "(s.channels() - 1) * s.h * s.w", "s.channels() * s.h * s.w"),
    (PLANES, "(s.channels() - 1) * s.h * s.w", "0"),
    (PLANES, "out / s.ow / s.oh * further", "out / s.ow * further"),
    (PLANES, "thread / Tile::chunks +", "thread % Tile::chunks +"),
    (PLANES, "+ i * as_pixels::row_step;", "+ i;"),
    (PLANES, "if (valid && c < s.channels())", "if (c < s.channels())"),
    (PLANES, "if (valid && c < s.channels())", "if (valid)"),
    (PLANES, "if (valid && c < s.channels())", "if (valid && c <= s.channels())"),
    (PLANES, "if (valid && c < s.channels())", "if (valid && c < s.channels() - 1)"),
    (PLANES, "          chunks[i].value[p][c] = 0;\n", "          chunks[i].value[p][c] = 1;\n"),
    (PLANES, "ptrdiff_t(c) * s.h * s.w", "ptrdiff_t(c) * s.w"),
    (PLANES, "ptrdiff_t(c) * s.h * s.w", "ptrdiff_t(c) * s.oh * s.ow"),
    (PLANES, "r * s.dh * s.w + t * s.dw", "r * s.w + t * s.dw"),
    (PLANES, "r * s.dh * s.w + t * s.dw", "r * s.dh * s.w + t"),
    (PLANES, "      as_pixels::next_tap(s, r, t);\n", ""),
    (PLANES, "words.word[w] = word(b, chunks[i], w)", "words.word[w] = word(b, chunks[0], w)"),
    (PLANES, "this->place +", "this->place * 0 +"),
    (PLANES, "const int first = w * per_word", "const int first = w"),
    (PLANES, "loaded.value[first / pixel_channels]", "loaded.value[0]"),
    (PLANES, "(b, from_bits(low), from_bits(high))", "(b, from_bits(high), from_bits(low))"),
    (PLANES, "(b, from_bits(low), from_bits(high))",
     "(b, from_bits(low & ~0x1fffu), from_bits(high & ~0x1fffu))"),
    (PLANES, "low | uint32_t(high) << 16", "high | uint32_t(low) << 16"),
    (PIXELS, "(static_cast<long long>(s.n) + 1) *", "static_cast<long long>(s.n) *"),
    (FLOATS, "if constexpr (has_pixels<S>)", "if constexpr (false)"),
]

PHASE_MUTANTS = LOOP_MUTANTS + [
    (PHASES + "_plan.h", "(taps - first + stride - 1) / stride", "taps / stride"),
    (PHASES + "_plan.h", "dh = -1, dw", "dh = 1, dw"),
    (PHASES + "_plan.h", "pt = -(down / STRIDE)", "pt = down / STRIDE"),
    (PHASES + "_plan.h", "pl = -(right / STRIDE)", "pl = -((right + 1) / STRIDE)"),
    (PHASES + "_plan.h", "oh = (rows - first_row + STRIDE - 1) / STRIDE", "oh = rows / STRIDE"),
    (PHASES + "_plan.h", "down % STRIDE * STRIDE + right",
     "right % STRIDE * STRIDE + down"),
    (PHASES + "_plan.h", "rows + first_row + line % oh", "rows + line % oh"),
    (PHASES + "_plan.h", "first_column + row % ow * STRIDE", "row % ow * STRIDE"),
    (PHASES + "_plan.h", "for (int i = 0; i < phase; ++i)", "for (int i = 1; i < phase; ++i)"),
    (PHASES + "_plan.h", "down + tap / across * stride", "down + tap / across"),
    (PHASES + ".cuh", "first_element(phase.taps, sizeof(T))",
     "first_element(b.block_z(), sizeof(T))"),
    (PHASES + ".cuh", "      b.wait_for_inputs();\n      return;", "      return;"),
    (PHASES + ".cuh", "    if (b.block_x() >= gemm_blocks<Tile>(phase)) {",
     "    if (b.block_x() >= gemm_blocks<Tile>(phase) - 1) {"),
    (PHASES + ".cuh", "s.output_row(row)", "row"),
    (SUMS, "slices == 1 ? 0 : b.block_z()", "b.block_z()"),
    (FRAGMENTS, "smaller(8, filters - filter)", "8"),
    (PHASES + ".cuh", "1, STRIDE * STRIDE}", "1, STRIDE * STRIDE - 1}"),
    (PHASES + ".cuh", "gemm_blocks<Tile>(first_phase<STRIDE>(s)), 1",
     "gemm_blocks<Tile>(first_phase<STRIDE>(s)) - 1, 1"),
    (PHASES + ".cuh", "phase(s, b.block_z())", "phase(s, b.block_z() % 2)"),
    (PHASES + "_plan.h", "first_row(phase / STRIDE)", "first_row(phase % STRIDE)"),
    (PHASES + "_plan.h", "down = first_row + s.pt, right", "down = first_row + s.pl, right"),
    (PHASES + "_plan.h", "taps_from(right % STRIDE, s.kw", "taps_from(right % STRIDE, s.kh"),
    (PHASES + "_plan.h", "dw = -1, groups", "dw = 1, groups"),
    (PHASES + "_plan.h", "ow = (columns - first_column + STRIDE - 1) / STRIDE",
     "ow = columns / STRIDE"),
    (PHASES + "_plan.h", "(line / oh) * rows", "(line / oh) * oh * STRIDE"),
    (PHASES + "_plan.h", "right + tap % across * stride", "right + tap % across"),
    (PHASES + "_plan.h", "ptrdiff_t(gemm_panels(product(i)))",
     "ptrdiff_t(gemm_panels(product(i)) - 1)"),
]

TESTS = {"plain": (PLAIN_MUTANTS, "plain_gemm"), "grouped": (GROUPED_MUTANTS, "grouped"),
         "pixels": (PIXEL_MUTANTS, "pixels"), "planes": (PLANE_MUTANTS, "planes"),
         "phases": (PHASE_MUTANTS, "phases")}

if __name__ == "__main__":
    which = [sys.argv.pop(1)] if sys.argv[1:2] and sys.argv[1] in TESTS else TESTS
    sys.exit(any([mutants.main(TESTS[name][0], f"test/runtime/cuda/{TESTS[name][1]}.cpp",
                               sys.argv[1:]) for name in which]))
