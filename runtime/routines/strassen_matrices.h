//===- strassen_matrices.h - Strassen's products in Winograd's form -------===//
//
// Of a product C = A * B in halves of rows, columns and terms,
//
//   | A11 A12 |   | B11 B12 |   | C11 C12 |
//   | A21 A22 | * | B21 B22 | = | C21 C22 |,
//
// seven products of sums of quarters make up all four quarters of C (MNN,
// section 3.3.2; Winograd's form has 15 sums):
//
//   P0 = A11 * B11                              C11 = P0 + P1
//   P1 = A12 * B21                              U2  = P0 + P2
//   P2 = (A21 + A22 - A11) * (B11 - B12 + B22)  U3  = U2 + P3
//   P3 = (A11 - A21) * (B22 - B12)              C21 = U3 + P4
//   P4 = A22 * (B12 + B21 - B11 - B22)          C22 = U3 + P5
//   P5 = (A21 + A22) * (B12 - B11)              C12 = U2 + P5 + P6
//   P6 = (A11 + A12 - A21 - A22) * B22
//
// In this order no more than two sums are kept at a time. Each product can be
// cut in the same way, as another level. B is constant: its sums are made when
// compiling.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STRASSEN_MATRICES_H
#define NNC_ROUTINES_STRASSEN_MATRICES_H

namespace nnc {

constexpr int strassen_products = 7;

/// Products after so many levels.
constexpr int strassen_points(int levels) {
  return levels == 0 ? 1 : strassen_products * strassen_points(levels - 1);
}

/// The right factor of each product, as a sum of B11, B12, B21, B22.
constexpr int strassen_right[strassen_products][4] = {
    {1, 0, 0, 0},   {0, 0, 1, 0},  {1, -1, 0, 1}, {0, -1, 0, 1},
    {-1, 1, 1, -1}, {-1, 1, 0, 0}, {0, 0, 0, 1}};

/// Which part of B, of 2^levels along its terms and along its columns, the
/// right factor of product `point` has: +1, -1 or 0. A point's last digit to
/// base 7 is the innermost level's product.
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

/// The left factor of product `point` where it is a part of A as it stands,
/// not a sum of parts.
struct strassen_part {
  bool whole;
  int row, column; ///< of 2^levels
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
/// Of the products before `point`, those whose left factor is a sum.
constexpr int strassen_left_sums(int levels, int point) {
  int sums = 0;
  for (int i = 0; i < point; ++i)
    sums += !strassen_left(levels, i).whole;
  return sums;
}

/// What a product is for: sums that were kept are added to it, and what comes
/// of that is kept or is a part of C. Of several uses the last may be a part of
/// C, and all others add something.
struct strassen_use {
  int add[2];      ///< numbers of kept sums, or 0
  int keep;        ///< as this number, or 0
  int row, column; ///< of C, of 2^levels
};
struct strassen_uses {
  int count;
  strassen_use of[3];
};
/// Of one level, whose kept sums are 1 and 2.
constexpr strassen_uses strassen_level[strassen_products] = {
    {1, {{{0}, 1, 0, 0}}}, //
    {1, {{{1}, 0, 0, 0}}}, //
    {1, {{{1}, 1, 0, 0}}}, //
    {1, {{{1}, 2, 0, 0}}}, //
    {1, {{{2}, 0, 1, 0}}}, //
    {2, {{{1}, 1, 0, 0}, {{2}, 0, 1, 1}}},
    {1, {{{1}, 0, 0, 1}}},
};
/// Sums kept at a time, of all levels; number 0 is the product.
constexpr int strassen_kept(int levels) {
  return levels == 0 ? 1 : strassen_kept(levels - 1) + (2 << 2 * (levels - 1));
}
/// A part of the innermost level's C is a product for the level around it,
/// which keeps two sums for each such part.
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
      // What comes before the numbers of this part.
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

/// What to know of each product.
template <int LEVELS> struct strassen_table {
  struct entry {
    strassen_part left;
    int left_sums; ///< among the products before
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

/// By how much a level makes the mean square of rounding errors exceed that of
/// plain sums: C11 is one, the others sum products of sums, whose squares are
/// 1, 9, 4 and 4 times as large where all of A and B are alike.
constexpr double strassen_error_growth = (2 + 3 * (1 + 9 + 4 + 4)) / 8.0;

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_MATRICES_H
