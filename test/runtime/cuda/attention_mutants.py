"""Checks that the tests of flash.cuh and flash_floats.cuh find mistakes, as mutants.py does.

    attention_mutants.py                              all of them
    attention_mutants.py halves|floats [NUMBER...]    those of one kernel
"""

import sys

import mutants

FOLDER = "runtime/routines/attention/"
KERNEL, TILE, SCORES, STORE, FLOATS, FLOAT_SCORES = (FOLDER + name for name in (
    "flash.cuh", "flash_tile.cuh", "flash_scores.cuh", "flash_store.cuh", "flash_floats.cuh",
    "flash_floats_scores.cuh"))
QUADS = "runtime/routines/blocks/quads.h"
TESTS = "test/runtime/cuda/"

# The file, its text, and what replaces that. The text occurs once.
HALVES = [
    # Barriers and copies.
    (KERNEL, "    b.barrier();\n    if (at", "    if (at"),
    (KERNEL, "      b.barrier();\n      const bool loads", "      const bool loads"),
    (KERNEL, "      b.template wait_copies<0>();\n      b.barrier();\n",
     "      b.barrier();\n      b.template wait_copies<0>();\n"),
    (KERNEL, "      b.template wait_copies<0>();\n      b.barrier();\n",
     "      b.template wait_copies<1>();\n      b.barrier();\n"),
    (KERNEL, "    b.template wait_copies<0>();\n    b.barrier();\n    if (at",
     "    b.barrier();\n    if (at"),
    (KERNEL, "      b.commit_copies();\n      products", "      products"),
    (KERNEL, "    b.wait_for_inputs();\n", ""),
    (KERNEL, "    b.wait_for_inputs();\n    from.copy(b, base + tile::stage_bytes);\n",
     "    from.copy(b, base + tile::stage_bytes);\n    b.wait_for_inputs();\n"),
    (KERNEL, "      b.barrier();\n      const bool loads",
     "      if (key % 128 == 0 || b.thread() < 64)\n        b.barrier();\n      const bool loads"),
    (KERNEL, "warp_lanes * tile::warp_queries >= s.queries",
     "warp_lanes * tile::warp_queries >= s.queries - 1"),
    (KERNEL, "      x = 0;\n", "      ;\n"),
    # Stages.
    (KERNEL, "      write = read;\n", ""),
    (KERNEL, "      read = next;\n", ""),
    (KERNEL, "const bool loads = key + KEYS < s.keys", "const bool loads = key + KEYS <= s.keys"),
    (KERNEL, "const bool loads = key + KEYS < s.keys", "const bool loads = key + 2 * KEYS < s.keys"),
    (KERNEL, "        keys.advance();\n", ""),
    (KERNEL, "        values.advance();\n", ""),
    (KERNEL, "          keys.store(b, write, chunks);\n", ""),
    (KERNEL, "          values.store(b, write + tile::rows_bytes, chunks);\n", "          ;\n"),
    (KERNEL, "add_values(b, stage + tile::rows_bytes, d, o)", "add_values(b, stage, d, o)"),
    (TILE, "larger(stage_bytes, q_bytes)", "larger(stage_bytes, 0)"),
    # The swizzle, on one side of an exclusive or and in all places.
    (TILE, "Tile::row_bytes % 128 == 0 ? row % 8 : row / 2 % 4", "0"),
    (TILE, "row / 2 % 4", "row % 4"),
    (TILE, "Tile::row_bytes % 128 == 0 ? row % 8 : row / 2 % 4", "row % 4"),
    # Fragments.
    (KERNEL, "warp * tile::warp_queries + lane % 16", "warp * 16 + lane % 16"),
    (KERNEL, "row + i * 16, c * 2 + lane / 16", "row + i * 16, c * 2 + lane / 8 % 2"),
    (KERNEL, "j * 16 + lane / 16 * 8 + lane % 8", "j * 16 + lane % 16"),
    (KERNEL, "c * 2 + lane / 8 % 2", "c * 2 + lane / 16"),
    (KERNEL, "d[i][j * 2 + 1], a[i][c], f.word[2], f.word[3]",
     "d[i][j * 2 + 1], a[i][c], f.word[3], f.word[2]"),
    (KERNEL, "d[i][j * 2], a[i][c]", "d[i][j * 2], a[0][c]"),
    (KERNEL, "b.ldmatrix_x4_trans(", "b.ldmatrix_x4("),
    (KERNEL, "j * 16 + lane % 16, c * 2 + lane / 16", "j * 16 + lane % 16, c * 2 + lane / 8 % 2"),
    (KERNEL, "d[i][j * 2 + e / 2]", "d[i][j * 2 + e % 2]"),
    (KERNEL, "o[i][c * 2], weights[i], f.word[0], f.word[1]",
     "o[i][c * 2], weights[i], f.word[0], f.word[2]"),
    (KERNEL, "o[i][c * 2 + 1], weights[i]", "o[i][c * 2 + 1], weights[0]"),
    # The softmax.
    (KERNEL, "          scale(o, shrink);\n", ""),
    (KERNEL, "eight[row % 2 * 2] *= shrink[row]", "eight[row % 2 * 2] *= shrink[row / 2]"),
    (KERNEL, "softmax.template weigh<KEYS / 4>(", "softmax.template weigh<KEYS / 4 - 2>("),
    (SCORES, "sum[i] = fma(sum[i], shrink, part)", "sum[i] += part"),
    (SCORES, "const float shrink = b.exp2((largest[i] - most) * power)",
     "const float shrink = 1"),
    (SCORES, "b.exp2((largest[i] - most) * power)", "b.exp2(largest[i] - most)"),
    (SCORES, "    largest[i] = most;\n", ""),
    (SCORES, "float most = largest[i]", "float most = flash_lowest"),
    (SCORES, "most = b.larger(most, b.shuffle_xor(most, by))",
     "most = b.larger(most, b.shuffle_xor(most, 1))"),
    (SCORES, "most = b.larger(most, b.shuffle_xor(most, by))",
     "most = b.larger(most, b.shuffle_xor(most, by * 2))"),
    (SCORES, "x = b.exp2((x - most) * power)", "x = b.exp2(x * power)"),
    (SCORES, "x = b.exp2((x - most) * power)", "x = b.exp2(x - most)"),
    (SCORES, "      largest[i] = flash_lowest;\n", "      largest[i] = 0;\n"),
    (SCORES, "      largest[i] = flash_lowest;\n", "      largest[i] = flash_minus_infinity;\n"),
    (SCORES, "      largest[i] = flash_lowest;\n", "      largest[i] = -1e4f;\n"),
    (SCORES, "total += b.shuffle_xor(total, by)", "b.shuffle_xor(total, by)"),
    (SCORES, "return 1.0f / total", "return total > 0 ? 1.0f / total : 0"),
    (SCORES, "power = flash_log2e", "power = 1"),
    (SCORES, "s.scale * flash_log2e", "flash_log2e"),
    (SCORES, "s.scale * flash_log2e", "s.scale"),
    # Keys beyond the last one, and masks.
    (SCORES, "    if (first + Tile::keys <= s.keys)\n      return;\n",
     "    if (first + Tile::keys <= s.keys + 1)\n      return;\n"),
    (SCORES, "key + j * 8 + e % 2 >= s.keys", "key + j * 8 + e % 2 > s.keys"),
    (SCORES, "key + j * 8 + e % 2 >= s.keys", "key + j * 8 + e >= s.keys"),
    (SCORES, "const int key = first + b.thread() % 4 * 2", "const int key = first"),
    (SCORES, "j * 8 + e < left", "j * 8 + e <= left"),
    (SCORES, "j * 8 + e < left", "j * 8 + e + 1 < left"),
    (SCORES, "s.keys - first - b.thread() % 4 * 2", "s.keys - first"),
    (SCORES, "pairs && first + Tile::keys <= s.keys", "first + Tile::keys <= s.keys"),
    (SCORES, "pairs && first + Tile::keys <= s.keys", "pairs"),
    (SCORES, "by[0] % 2 == 0 && by[1] % 2 == 0 && by[2] % 2 == 0", "by[2] % 2 == 0"),
    (SCORES, "reinterpret_cast<uintptr_t>(mask) % sizeof(flash_pair<M>) == 0", "true"),
    (SCORES, "x[1] = fma(x[1], s.scale, float(pair.element[1]))",
     "x[1] = fma(x[1], s.scale, float(pair.element[0]))"),
    (SCORES, "smaller(query + i * 8, s.queries - 1)", "(query + i * 8)"),
    (SCORES, "smaller(query + i * 8, s.queries - 1)", "smaller(query + i * 8, s.queries)"),
    (SCORES, "ptrdiff_t(head) * by[1]", "ptrdiff_t(head) * by[0]"),
    (SCORES, "ptrdiff_t(image) * by[0] +", ""),
    # Rows and elements beyond the last one.
    (TILE, "i / columns * row_step < rows", "i / columns * row_step <= rows"),
    (TILE, "i / columns * row_step < rows &&", ""),
    (TILE, "i % columns * (across * Tile::elements) < size", "true"),
    (TILE, "    rows -= ROWS;\n", ""),
    (TILE, "this->rows = rows - row", "this->rows = rows"),
    (TILE, "this->size = size - chunk * Tile::elements", "this->size = size"),
    (KERNEL, "s.v_strides[2], s.keys, s.value_dim", "s.v_strides[2], s.keys, s.dim"),
    (KERNEL, "s.queries - at.query", "s.queries"),
    (STORE, "query + i * 8 < s.queries", "query + i * 8 <= s.queries"),
    (STORE, "chunk * Tile::elements < s.value_dim", "chunk * Tile::elements <= s.value_dim"),
    # Places.
    (TILE, "head = b.block_x() / tiles % s.heads", "head = b.block_x() % s.heads"),
    (TILE, "image = b.block_x() / tiles / s.heads", "image = b.block_x() / s.heads"),
    (KERNEL, "k + s.k_start + at.of(s.k_strides)", "k + s.k_start + at.of(s.q_strides)"),
    (KERNEL, "v + s.v_start +", "v +"),
    (KERNEL, "q + s.q_start +", "q +"),
    (QUADS, "(upper ? low : high, BIT)", "(low, BIT)"),
    (QUADS, "  exchange_in_quad<2>(b, w);\n", ""),
    (STORE, "* s.heads + at.head)", "* s.heads)"),
    (STORE, "ptrdiff_t(i * 8) * s.heads * s.value_dim", "ptrdiff_t(i * 8) * s.value_dim"),
]

FLOATS_MUTANTS = [
    # Barriers and copies.
    (FLOATS, "      b.barrier();\n      start(b, values", "      start(b, values"),
    (FLOATS, "      b.barrier();\n      keys.advance", "      keys.advance"),
    (FLOATS, "      b.template wait_copies<0>();\n      b.barrier();\n      keys",
     "      b.template wait_copies<1>();\n      b.barrier();\n      keys"),
    (FLOATS, "      b.template wait_copies<0>();\n      b.barrier();\n      start",
     "      b.barrier();\n      start"),
    (FLOATS, "      from.load(b, chunks);\n    b.commit_copies();\n",
     "      from.load(b, chunks);\n"),
    (FLOATS, "    b.wait_for_inputs();\n", ""),
    (FLOATS, "        start(b, keys, k_tile, chunks);\n", "        ;\n"),
    (FLOATS, "      end(b, values, v_tile, chunks);\n", ""),
    (FLOATS, "        end(b, keys, k_tile, chunks);\n", "        ;\n"),
    (FLOATS, "      values.advance();\n", ""),
    (FLOATS, "      keys.advance();\n", ""),
    (FLOATS, "const bool loads = key + tile::keys < s.keys",
     "const bool loads = key + tile::keys <= s.keys"),
    (FLOATS, "first_row(b.thread() / warp_lanes * warp_lanes) >=\n        s.queries)",
     "first_row(b.thread() / warp_lanes * warp_lanes) >=\n        s.queries - 1)"),
    # Places and products.
    (FLOATS, "thread % warp_lanes / 8;", "thread % warp_lanes / 8 * (QUERIES / 16);"),
    (FLOATS, "flash_place<tile>(row + i * 4, c)", "flash_place<tile>(row + i, c)"),
    (FLOATS, "flash_place<tile>(key + j * 8, c)", "flash_place<tile>(key * 4 + j, c)"),
    (FLOATS, "row + i * 4, j * 2 + key / 4)", "row + i * 4, j + key / 4 * 4)"),
    (FLOATS, "key % 4 * 4", "key % 4"),
    (FLOATS, "weights_place(row + i * 4, key / 4)", "weights_place(row + i * 4, key / 8)"),
    (FLOATS, "flash_place<tile>(key + r, chunk + c * 8)", "flash_place<tile>(key, chunk + c * 8)"),
    (FLOATS, "fma(w[i].element[r], x.element[e], o[i][c][e])",
     "fma(w[i].element[e], x.element[e], o[i][c][e])"),
    (FLOATS, "x *= shrink", "x *= 1"),
    (FLOATS, "query + i * 4 < s.queries", "query + i * 4 <= s.queries"),
    (FLOATS, "first < s.value_dim", "first <= s.value_dim"),
    (FLOATS, "ptrdiff_t(i * 4) * s.heads", "ptrdiff_t(i * 8) * s.heads"),
    (FLOATS, "flash_softmax<rows, 8>", "flash_softmax<rows, 4>"),
    (FLOATS, "o[i][c][e] * inverse", "o[i][c][e]"),
    # Masks.
    (FLOAT_SCORES, "row[j] = j * 8 < left ?", "row[j] = j * 8 <= left ?"),
    (FLOAT_SCORES, "const float added = j * 8 < left", "const float added = j * 8 <= left"),
    (FLOAT_SCORES, "smaller(query + i * 4, s.queries - 1)", "(query + i * 4)"),
    (FLOAT_SCORES, "at.of(s.mask_strides) +", ""),
    (FLOAT_SCORES, "power = flash_log2e", "power = 1"),
    (FLOAT_SCORES, "s.scale * flash_log2e", "s.scale"),
]


def main(kernel="", *numbers):
    lists = {"halves": (HALVES, TESTS + "attention_blocks.cpp"),
             "floats": (FLOATS_MUTANTS, TESTS + "attention_floats.cpp")}
    return any([mutants.main(*lists[name], numbers) for name in lists if kernel in ("", name)])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
