"""Checks that the tests of float_gemm.cuh and depthwise_nhwc.cuh find mistakes in these kernels, as
mutants.py does for implicit_gemm.cuh, whose loop and loads float_gemm.cuh shares.

    float_mutants.py [gemm|depthwise] [NUMBER...]      all of them, or those with these numbers
"""

import sys

import mutants
from mutants import CONV, KERNEL, LOADS, STORE

GEMM, DEPTHWISE = CONV + "float_gemm.cuh", CONV + "depthwise_nhwc.cuh"
PLAN = CONV + "implicit_gemm_plan.h"

GEMM_MUTANTS = [
    # What is loaded from shared memory.
    (GEMM, "Tile::warp_rows + lane_row(lane);\n    const shared",
     "Tile::warp_rows + lane / 4;\n    const shared"),
    (GEMM, "(chunk ^ gemm_swizzle<Tile>(row)) * 16", "chunk * 16"),
    (GEMM, "(chunk ^ gemm_swizzle<Tile>(row)) * 16", "(chunk ^ gemm_swizzle<Tile>(row + 1)) * 16"),
    (GEMM, "x + i * 8 * Tile::depth_bytes", "x + i * Tile::depth_bytes"),
    (GEMM, "(chunk * 4 + term) * block_bytes", "chunk * 4 * block_bytes"),
    (GEMM, "(chunk * 4 + term) * block_bytes", "(chunk + term) * block_bytes"),
    (GEMM, "at + i * 16", "at"),
    (GEMM, "in[i].element[term]", "in[i].element[0]"),
    (GEMM, "filters[j / 4].element[j % 4]", "filters[j % 2].element[j / 2]"),
    (GEMM, "% Tile::warps_across * panel_bytes", "% 1 * panel_bytes"),
    (GEMM, "Tile::depth_bytes / 4 * block_bytes", "Tile::depth_bytes * block_bytes / 8"),
    (GEMM, "chunk < Tile::chunks", "chunk < Tile::chunks - 1"),
    (GEMM, "lane / 2 % 2 + lane / 8 * 2", "lane / 8"),
    (GEMM, "lane / 2 % 2 + lane / 8 * 2", "lane / 2 % 2 + lane / 8 % 2 * 2"),
    (GEMM, "lane % 2 * 8 + lane / 4 % 2 * 16", "lane % 4 * 8"),
    (GEMM, "                          d[i][j]);",
     "                          d[i][j] * 1.000001f);"),
    # What is stored.
    (GEMM, "const int row = first + i * 8", "const int row = first + i * 4"),
    (GEMM, "row < gemm_rows(s) && filter", "row <= gemm_rows(s) && filter"),
    (GEMM, "row < gemm_rows(s) && filter", "row < gemm_rows(s) - 1 && filter"),
    (GEMM, "filter < filters)", "filter <= filters)"),
    (GEMM, "smaller(8, filters - filter)", "8"),
    (GEMM, "smaller(8, filters - filter)", "smaller(8, filters - filter) - 1"),
    (GEMM, "warp / Tile::warps_across * Tile::warp_rows +\n                      lane_row",
     "warp * Tile::warp_rows +\n                      lane_row"),
    # Weights, channels and slices.
    (GEMM, "return gemm_terms(s);", "return gemm_terms(s) - 1;"),
    (GEMM, "return gemm_terms(s);", "return (gemm_terms(s) + 7) / 8 * 8;"),
    (GEMM, "s.c % 4 == 0)", "s.c % 2 == 0)"),
    (GEMM, "if (has_groups<S> || s.c % 4 == 0)", "if (true)"),
    (GEMM, "has_groups<S> ? s.groups : 1, SLICES};", "has_groups<S> ? s.groups : 1, 1};"),
    (PLAN, "return gemm_blocks<Tile>(s) * s.groups;", "return gemm_blocks<Tile>(s) - 1;"),
    (PLAN, "ptrdiff_t(slices) * gemm_rows(s)", "ptrdiff_t(slices - 1) * gemm_rows(s)"),
    # The shared loop, loads and stores.
    (KERNEL, "      b.barrier();\n", ""),
    (KERNEL, "      b.template wait_copies<Tile::stages - 2>();\n", ""),
    (KERNEL, "    b.wait_for_inputs();\n    typename", "    typename"),
    (KERNEL, "        end_input(write);\n", ""),
    (KERNEL, "        end_weights(write);\n", ""),
    (KERNEL, "begin = steps * slice / slices", "begin = 0"),
    (KERNEL, "ceil_div(blocks, weights::step_blocks)", "blocks / weights::step_blocks"),
    (LOADS, "from += step_blocks * BLOCK_BYTES;", "from += BLOCK_BYTES;"),
    (LOADS, "chunk(i) / block_chunks < blocks", "chunk(i) / block_chunks <= blocks"),
    (LOADS, "panel(i) < panels &&", "panel(i) <= panels &&"),
    (LOADS, "blocks(all_blocks - step * step_blocks)", "blocks(all_blocks)"),
    (LOADS, "out < gemm_rows(s)", "out <= gemm_rows(s)"),
    (LOADS, "return r < s.kh &&", "return"),
    (LOADS, "unsigned(left[i] + t * s.dw) < unsigned(s.w)", "left[i] + t * s.dw >= 0"),
    (STORE, "if (i < count)\n          gemm", "if (i <= count)\n          gemm"),
    (STORE, "if (i < count)\n            v[i]", "if (i <= count)\n            v[i]"),
    (STORE, "return s.k / s.groups % 8 == 0", "return s.k / s.groups % 4 == 0"),
]

DEPTHWISE_MUTANTS = [
    # Places of threads.
    (DEPTHWISE, "unit % parts * channels", "unit % parts * 4"),
    (DEPTHWISE, "strips = ceil_div(s.ow, PIXELS)", "strips = s.ow / PIXELS + 1"),
    (DEPTHWISE, "strips = ceil_div(s.ow, PIXELS)", "strips = s.ow / PIXELS"),
    (DEPTHWISE, "line < s.n * s.oh", "line <= s.n * s.oh"),
    (DEPTHWISE, "line < s.n * s.oh", "line < s.oh"),
    (DEPTHWISE, "    if (!exists)\n      return;\n", ""),
    (DEPTHWISE, "threads),\n            1, 1}", "threads) - 1,\n            1, 1}"),
    # Waiting.
    (DEPTHWISE, "    b.wait_for_inputs();\n", ""),
    (DEPTHWISE, "    b.wait_for_inputs();\n",
     "    if (b.thread() != 5)\n      b.wait_for_inputs();\n"),
    # Taps and padding.
    (DEPTHWISE, "line % s.oh * s.sh - s.pt", "line % s.oh * s.sw - s.pt"),
    (DEPTHWISE, "first * s.sw - s.pl", "first * s.sw - s.pt"),
    (DEPTHWISE, "first * s.sw - s.pl", "first * s.sh - s.pl"),
    (DEPTHWISE, "line / s.oh * s.h + top", "line / s.oh * s.oh + top"),
    (DEPTHWISE, "unsigned(top + r * s.dh) < unsigned(s.h)", "top + r * s.dh < s.h"),
    (DEPTHWISE, "unsigned(top + r * s.dh) < unsigned(s.h)", "top + r * s.dh >= 0"),
    (DEPTHWISE, "unsigned(top + r * s.dh) < unsigned(s.h)", "unsigned(top + r) < unsigned(s.h)"),
    (DEPTHWISE, "unsigned(left + j) < unsigned(s.w)", "left + j < s.w"),
    (DEPTHWISE, "unsigned(left + j) < unsigned(s.w)", "unsigned(left + j) <= unsigned(s.w)"),
    (DEPTHWISE, "corner += ptrdiff_t(s.dh) * s.w * s.c", "corner += ptrdiff_t(s.w) * s.c"),
    (DEPTHWISE, "weights += ptrdiff_t(s.kw) * s.c", "weights += ptrdiff_t(s.kh) * s.c"),
    (DEPTHWISE, "r < s.kh; ++r", "r < s.kh - 1; ++r"),
    (DEPTHWISE, "if (r + 1 < s.kh)", "if (r + 2 < s.kh)"),
    (DEPTHWISE, "if (r + 1 < s.kh)", "if (true)"),
    (DEPTHWISE, "t < s.kw; ++t", "t < s.kw - 1; ++t"),
    (DEPTHWISE, "left, p * s.sw + t * s.dw)", "left, p * s.sw + t)"),
    (DEPTHWISE, "left, p * s.sw + t * s.dw)", "left, p + t * s.dw)"),
    (DEPTHWISE, "weights + ptrdiff_t(t) * s.c);\n        NNC", "weights);\n        NNC"),
    (DEPTHWISE, "taps[t] = load_chunk(b, weights + ptrdiff_t(t) * s.c)",
     "taps[t] = load_chunk(b, weights)"),
    (DEPTHWISE, "pixels[p * S::sw + t * S::dw]", "pixels[p + t * S::dw]"),
    (DEPTHWISE, "pixels[p * S::sw + t * S::dw]", "pixels[p * S::sw + t]"),
    (DEPTHWISE, "          if (p * S::sw + t * S::dw == j)", "          if (p * S::sw + t == j)"),
    (DEPTHWISE, "float(tap.element[i])", "float(tap.element[0])"),
    # What is stored.
    (DEPTHWISE, "if (first + p < s.ow)", "if (first + p <= s.ow)"),
    (DEPTHWISE, "if (first + p < s.ow)", "if (first + p + 1 < s.ow)"),
    (DEPTHWISE, "results, at, channel)", "results, at, 0)"),
    (DEPTHWISE, "* s.ow + first + p)", "* s.ow + first)"),
    (STORE, "i < N; i += part::length) {\n      const part",
     "i < N - part::length; i += part::length) {\n      const part"),
    (STORE, "i < int(N); i += 2)\n      words.element[i / 2] = b.halves(v[i], v[i + 1])",
     "i < int(N); i += 2)\n      words.element[i / 2] = b.halves(v[i + 1], v[i])"),
]

if __name__ == "__main__":
    failed = False
    which = sys.argv.pop(1) if sys.argv[1:2] in (["gemm"], ["depthwise"]) else ""
    for name, list_of_one, test in (
            ("gemm", GEMM_MUTANTS, "test/runtime/cuda/float_gemm.cpp"),
            ("depthwise", DEPTHWISE_MUTANTS, "test/runtime/cuda/depthwise_nhwc.cpp")):
        if which in ("", name):
            failed |= mutants.main(list_of_one, test, sys.argv[1:])
    sys.exit(failed)
