//===- strassen_matrices.h - Strassen's products in Winograd's form -------===//
//
// Of a product C = A * B in halves of rows, columns and terms,
//
//   | A11 A12 |   | B11 B12 |   | C11 C12 |
//   | A21 A22 | * | B21 B22 | = | C21 C22 |,
//
// seven products of sums of quarters make up all four quarters of C (MNN,
// section 3.3.2; Winograd's form has 15 sums). B is constant: its sums are made
// when compiling.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STRASSEN_MATRICES_H
#define NNC_ROUTINES_STRASSEN_MATRICES_H

namespace nnc {

constexpr int strassen_products = 7;

/// The right factor of each product, as a sum of B11, B12, B21, B22.
constexpr int strassen_right[strassen_products][4] = {
    {1, 0, 0, 0},  {0, 0, 1, 0},  {0, 0, 0, 1}, {1, -1, -1, 1},
    {-1, 1, 0, 0}, {1, -1, 0, 1}, {0, -1, 0, 1}};

/// By how much the mean square of rounding errors exceeds that of plain sums:
/// C11 is one, the others sum products of sums, whose squares are 1, 9, 4 and 4
/// times as large where all of A and B are alike.
constexpr double strassen_error_growth = (2 + 3 * (1 + 9 + 4 + 4)) / 8.0;

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_MATRICES_H
