//===- strassen_matrices.h - Strassen's products in Winograd's form -------===//
//
// In a product C = A * B whose rows, columns and terms are each cut in halves,
//
//   | A11 A12 |   | B11 B12 |   | C11 C12 |
//   | A21 A22 | * | B21 B22 | = | C21 C22 |,
//
// seven products of sums of quarters make up all four quarters of C (MNN,
// section 3.3.2; this is Winograd's form, with 15 additions):
//
//   P0 = A11 * B11                              C11 = P0 + P1
//   P1 = A12 * B21                              U2  = P0 + P2
//   P2 = (A21 + A22 - A11) * (B11 - B12 + B22)  U3  = U2 + P3
//   P3 = (A11 - A21) * (B22 - B12)              C21 = U3 + P4
//   P4 = A22 * (B12 + B21 - B11 - B22)          C22 = U3 + P5
//   P5 = (A21 + A22) * (B12 - B11)              C12 = U2 + P5 + P6
//   P6 = (A11 + A12 - A21 - A22) * B22
//
// In this order at most two sums are kept at a time. Each product can be
// computed in the same way, as a second level. B is constant, so the compiler
// computes the sums of its quarters.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TRANSFORMS_STRASSEN_MATRICES_H
#define NNC_ROUTINES_TRANSFORMS_STRASSEN_MATRICES_H

namespace nnc {

/// Number of products of one level.
constexpr int strassen_products = 7;

/// Number of products of `levels` levels.
constexpr int strassen_points(int levels) {
  return levels == 0 ? 1 : strassen_products * strassen_points(levels - 1);
}

/// The right factor of each product, as a sum of B11, B12, B21, B22.
constexpr int strassen_right[strassen_products][4] = {
    {1, 0, 0, 0},   {0, 0, 1, 0},  {1, -1, 0, 1}, {0, -1, 0, 1},
    {-1, 1, 1, -1}, {-1, 1, 0, 0}, {0, 0, 0, 1}};

/// Sign (+1, -1 or 0) that block (row, column) of B has in the right factor of
/// product `point`. B is cut into 2^levels x 2^levels blocks. The last base-7
/// digit of `point` is the product of the innermost level.
constexpr int strassen_right_sign(int levels, int point, int row, int column) {
  int sign = 1;
  for (; levels > 0; --levels) {
    sign *= strassen_right[point % strassen_products][row % 2 * 2 + column % 2];
    point /= strassen_products;
    row /= 2;
    column /= 2;
  }
  return sign;
}

/// The left factor of product `point`: whether it is one block of A rather than
/// a sum of blocks, and which block that is.
struct strassen_part {
  bool whole;
  int row, column; ///< below 2^levels
};
constexpr strassen_part strassen_left(int levels, int point) {
  strassen_part part{true, 0, 0};
  for (int side = 1; side < 1 << levels; side *= 2) {
    const int product = point % strassen_products;
    part.whole = part.whole && (product == 0 || product == 1 || product == 4);
    part.row += product == 4 ? side : 0;
    part.column += product == 0 ? 0 : side;
    point /= strassen_products;
  }
  return part;
}
/// Number of products before `point` whose left factor is a sum of blocks.
constexpr int strassen_left_sums(int levels, int point) {
  int sums = 0;
  for (int i = 0; i < point; ++i)
    sums += !strassen_left(levels, i).whole;
  return sums;
}

/// A step that uses one of the products. Strassen's method adds products and
/// sums of products, which are kept until their last use. A step adds up to two
/// kept sums to the product, and stores the result as a kept sum or as a block
/// of the result matrix C. Only the last step of a product may store a block of
/// C; the others add at least one sum.
struct strassen_use {
  int add[2];      ///< numbers of kept sums; 0: none
  int keep;        ///< number of the sum to keep; 0: a block of C
  int row, column; ///< block of C, each below 2^levels
};
/// All uses of a product, in order.
struct strassen_uses {
  int count;
  strassen_use of[3];
};
/// The uses of one level's products. The level keeps sums 1 and 2.
constexpr strassen_uses strassen_level[strassen_products] = {
    {1, {{{0}, 1, 0, 0}}}, //
    {1, {{{1}, 0, 0, 0}}}, //
    {1, {{{1}, 1, 0, 0}}}, //
    {1, {{{1}, 2, 0, 0}}}, //
    {1, {{{2}, 0, 1, 0}}}, //
    {2, {{{1}, 1, 0, 0}, {{2}, 0, 1, 1}}},
    {1, {{{1}, 0, 0, 1}}},
};
/// Number of sums that `levels` levels keep at a time, plus one for the product
/// itself, which has number 0.
constexpr int strassen_kept(int levels) {
  return levels == 0 ? 1 : strassen_kept(levels - 1) + (2 << 2 * (levels - 1));
}
/// The uses of product `point` of `levels` levels. A block of the inner level's
/// C is a product of the level around it, which keeps two sums for each such
/// block.
constexpr strassen_uses strassen_product_uses(int levels, int point) {
  strassen_uses uses{1, {}};
  for (int level = 0; level < levels; ++level) {
    const strassen_uses &outer = strassen_level[point % strassen_products];
    strassen_uses next{};
    for (int i = 0; i < uses.count; ++i) {
      const strassen_use &use = uses.of[i];
      if (use.keep) {
        next.of[next.count++] = use;
        continue;
      }
      // Sums of this block are numbered from `before` + 1 on.
      const int before =
          strassen_kept(level) - 1 + 2 * ((use.row << level) + use.column);
      for (int j = 0; j < outer.count; ++j) {
        const strassen_use &then = outer.of[j];
        strassen_use &both = next.of[next.count++];
        both = use;
        both.add[level] = then.add[0] ? before + then.add[0] : 0;
        both.keep = then.keep ? before + then.keep : 0;
        both.row += then.row << level;
        both.column += then.column << level;
      }
    }
    uses = next;
    point /= strassen_products;
  }
  return uses;
}

/// Left factor and uses of each product of LEVELS levels.
template <int LEVELS> struct strassen_table {
  struct entry {
    strassen_part left;
    int left_sums; ///< strassen_left_sums of this product
    strassen_uses uses;
  } of[strassen_points(LEVELS)];
};
template <int LEVELS> constexpr strassen_table<LEVELS> make_strassen_table() {
  strassen_table<LEVELS> table{};
  for (int i = 0; i < strassen_points(LEVELS); ++i)
    table.of[i] = {strassen_left(LEVELS, i), strassen_left_sums(LEVELS, i),
                   strassen_product_uses(LEVELS, i)};
  return table;
}

/// Factor by which one level increases the mean square of rounding errors over
/// that of plain sums. Each quarter of C is plainly a sum of two products. Here
/// C11 is too; the other quarters sum four products of sums, whose mean squares
/// are 1, 9, 4 and 4 times those of a product if all of A and B are alike.
constexpr double strassen_error_growth = (2 + 3 * (1 + 9 + 4 + 4)) / 8.0;

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMS_STRASSEN_MATRICES_H
