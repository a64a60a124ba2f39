//===- strassen_matrices.h - Strassen's products in Winograd's form -------===//
//
// Of a product C = A * B in halves of rows, columns and terms,
//
//   | A11 A12 |   | B11 B12 |   | C11 C12 |
//   | A21 A22 | * | B21 B22 | = | C21 C22 |,
//
// seven products of sums of quarters make up all four quarters of C (MNN,
// section 3.3.2; Winograd's form has 15 sums). Each product can be cut in the
// same way, as another level. B is constant: its sums are made when compiling.
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
    {1, 0, 0, 0},  {0, 0, 1, 0},  {0, 0, 0, 1}, {1, -1, -1, 1},
    {-1, 1, 0, 0}, {1, -1, 0, 1}, {0, -1, 0, 1}};

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

/// By how much a level makes the mean square of rounding errors exceed that of
/// plain sums: C11 is one, the others sum products of sums, whose squares are
/// 1, 9, 4 and 4 times as large where all of A and B are alike.
constexpr double strassen_error_growth = (2 + 3 * (1 + 9 + 4 + 4)) / 8.0;

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_MATRICES_H
