"""Checks that the test of flash.cuh finds mistakes in the kernel, as mutants.py does.

    attention_mutants.py [NUMBER...]      all of them, or those with these numbers
"""

import sys

import mutants

FOLDER = "runtime/routines/attention/"
KERNEL, TILE, SCORES, STORE, PLAN = (FOLDER + name for name in (
    "flash.cuh", "flash_tile.cuh", "flash_scores.cuh", "flash_store.cuh", "flash_plan.h"))
TEST = "test/runtime/cuda/attention_blocks.cpp"

# The file, its text, and what replaces that. The text occurs once.
MUTANTS = [
    # Barriers and copies.
    (KERNEL, "    b.barrier();\n    queries a;\n", "    queries a;\n"),
    (KERNEL, "      b.barrier();\n      const bool loads", "      const bool loads"),
    (KERNEL, "      b.template wait_copies<0>();\n      b.barrier();\n",
     "      b.barrier();\n      b.template wait_copies<0>();\n"),
    (KERNEL, "      b.template wait_copies<0>();\n      b.barrier();\n",
     "      b.template wait_copies<1>();\n      b.barrier();\n"),
    (KERNEL, "    b.template wait_copies<0>();\n    b.barrier();\n    queries",
     "    b.barrier();\n    queries"),
    (KERNEL, "      b.commit_copies();\n      scores", "      scores"),
    (KERNEL, "    b.wait_for_inputs();\n", ""),
    (KERNEL, "    b.wait_for_inputs();\n    from.copy(b, base + tile::stage_bytes);\n",
     "    from.copy(b, base + tile::stage_bytes);\n    b.wait_for_inputs();\n"),
    (KERNEL, "      b.barrier();\n      const bool loads",
     "      if (key % 128 == 0 || b.thread() < 64)\n        b.barrier();\n      const bool loads"),
    # Stages.
    (KERNEL, "      write = read;\n", ""),
    (KERNEL, "      read = next;\n", ""),
    (KERNEL, "const bool loads = key + KEYS < s.keys", "const bool loads = key + KEYS <= s.keys"),
    (KERNEL, "const bool loads = key + KEYS < s.keys", "const bool loads = key + 2 * KEYS < s.keys"),
    (KERNEL, "        keys.advance();\n", ""),
    (KERNEL, "        values.advance();\n", ""),
    (KERNEL, "          keys.store(b, write, chunks);\n", ""),
    (KERNEL, "          values.store(b, write + tile::rows_bytes, chunks);\n", "          ;\n"),
    (KERNEL, "add_values(b, read + tile::rows_bytes, d, o)", "add_values(b, read, d, o)"),
    (TILE, "larger(stage_bytes, q_bytes)", "larger(stage_bytes, 0)"),
    # The swizzle, on one side of an exclusive or and in all places.
    (TILE, "Tile::dim % 64 == 0 ? row % 8 : row / 2 % 4", "0"),
    (TILE, "Tile::dim % 64 == 0 ? row % 8 : row / 2 % 4", "Tile::dim % 64 == 0 ? row % 8 : row % 4"),
    (TILE, "Tile::dim % 64 == 0 ? row % 8 : row / 2 % 4", "row % 4"),
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
    (KERNEL, "      scale(o, shrink);\n", ""),
    (KERNEL, "eight[row % 2 * 2] *= shrink[row]", "eight[row % 2 * 2] *= shrink[row / 2]"),
    (KERNEL, "float shrink[rows];\n", "float shrink[rows] = {};\n      (void)mask;\n      "
     "b.shuffle_xor(0, 0);\n      if (key % 128 == 64)\n        continue;\n"),
    (SCORES, "sum[i] = fma(sum[i], shrink[i], part)", "sum[i] += part"),
    (SCORES, "shrink[i] = b.exp2((largest[i] - most) * power)", "shrink[i] = 1"),
    (SCORES, "shrink[i] = b.exp2((largest[i] - most) * power)",
     "shrink[i] = b.exp2(largest[i] - most)"),
    (SCORES, "      largest[i] = most;\n", ""),
    (SCORES, "float most = largest[i]", "float most = flash_lowest"),
    (SCORES, "most = b.larger(most, b.shuffle_xor(most, 1))", "b.shuffle_xor(most, 1)"),
    (SCORES, "most = b.larger(most, b.shuffle_xor(most, 2))",
     "most = b.larger(most, b.shuffle_xor(most, 4))"),
    (SCORES, "x = b.exp2((x - most) * power)", "x = b.exp2(x * power)"),
    (SCORES, "x = b.exp2((x - most) * power)", "x = b.exp2(x - most)"),
    (SCORES, "      largest[i] = flash_lowest;\n", "      largest[i] = 0;\n"),
    (SCORES, "      largest[i] = flash_lowest;\n", "      largest[i] = flash_minus_infinity;\n"),
    (SCORES, "      largest[i] = flash_lowest;\n", "      largest[i] = -1e4f;\n"),
    (SCORES, "total += b.shuffle_xor(total, 1)", "b.shuffle_xor(total, 1)"),
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
    (STORE, "(upper ? low : high, BIT)", "(low, BIT)"),
    (STORE, "  flash_exchange<2>(b, w);\n", ""),
    (STORE, "* s.heads + at.head)", "* s.heads)"),
    (STORE, "ptrdiff_t(i * 8) * s.heads * s.value_dim", "ptrdiff_t(i * 8) * s.value_dim"),
]

if __name__ == "__main__":
    sys.exit(mutants.main(MUTANTS, TEST))
