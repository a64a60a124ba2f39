//===- Cholesky.cpp - Triangular factors of dense matrices ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The matrix is factored by blocks of kBlock rows and columns, so that nearly
// all of the work is in products of blocks.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Cholesky.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

using namespace nnc::compression;

/// The number of rows and columns that are factored at a time.
static constexpr int64_t kBlock = 64;
/// The number of columns of a product for which the block of the right factor,
/// with kBlock rows, stays in a second-level cache.
static constexpr int64_t kStrip = 256;

/// Subtracts a product with 4 rows and 4 columns, whose sums are kept in
/// registers.
static void subtractTile(MatrixPart<double> c, MatrixPart<const double> a,
                         MatrixPart<const double> b, int64_t inner) {
  double sums[4][4] = {};
  for (int64_t k = 0; k < inner; ++k) {
    const double *right = b.getRow(k);
    for (int i = 0; i < 4; ++i) {
      double left = a.getRow(i)[k];
      for (int j = 0; j < 4; ++j)
        sums[i][j] += left * right[j];
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c.getRow(i)[j] -= sums[i][j];
}

/// Subtracts a product of any size; used for the rest at the edges of tiles.
static void subtractEdge(MatrixPart<double> c, MatrixPart<const double> a,
                         MatrixPart<const double> b, int64_t rows,
                         int64_t inner, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k) {
      double left = a.getRow(i)[k];
      for (int64_t j = 0; j < columns; ++j)
        c.getRow(i)[j] -= left * b.getRow(k)[j];
    }
}

template <class T>
static MatrixPart<T> move(MatrixPart<T> part, int64_t row, int64_t column) {
  return {part.getRow(row) + column, part.stride};
}

void nnc::compression::subtractProduct(MatrixPart<double> c,
                                       MatrixPart<const double> a,
                                       MatrixPart<const double> b, int64_t rows,
                                       int64_t inner, int64_t columns) {
  int64_t wholeRows = rows / 4 * 4;
  for (int64_t k = 0; k < inner; k += kBlock)
    for (int64_t j = 0; j < columns; j += kStrip) {
      int64_t depth = std::min(kBlock, inner - k);
      int64_t width = std::min(kStrip, columns - j), whole = width / 4 * 4;
      auto left = move(a, 0, k), right = move(b, k, j);
      auto result = move(c, 0, j);
      for (int64_t i = 0; i < wholeRows; i += 4) {
        for (int64_t l = 0; l < whole; l += 4)
          subtractTile(move(result, i, l), move(left, i, 0), move(right, 0, l),
                       depth);
        subtractEdge(move(result, i, whole), move(left, i, 0),
                     move(right, 0, whole), 4, depth, width - whole);
      }
      subtractEdge(move(result, wholeRows, 0), move(left, wholeRows, 0), right,
                   rows - wholeRows, depth, width);
    }
}

/// Replaces the upper triangle of a matrix H by that of M with M M^T = H, from
/// the last column to the first.
static bool factor(MatrixPart<double> m, int64_t size) {
  std::vector<double> transposed;
  for (int64_t end = size; end > 0;) {
    int64_t begin = std::max<int64_t>(0, end - kBlock);
    for (int64_t j = end - 1; j >= begin; --j) {
      double *own = m.getRow(j);
      double pivot = own[j];
      for (int64_t k = j + 1; k < end; ++k)
        pivot -= own[k] * own[k];
      if (!(pivot > 0) || !std::isfinite(pivot))
        return false;
      own[j] = std::sqrt(pivot);
      for (int64_t i = 0; i < j; ++i) {
        double *row = m.getRow(i);
        double sum = row[j];
        for (int64_t k = j + 1; k < end; ++k)
          sum -= row[k] * own[k];
        row[j] = sum / own[j];
      }
    }
    int64_t width = end - begin;
    transposed.resize(width * begin);
    for (int64_t k = 0; k < width; ++k)
      for (int64_t j = 0; j < begin; ++j)
        transposed[k * begin + j] = m.getRow(j)[begin + k];
    // Each row of the triangle starts at its diagonal block.
    for (int64_t i = 0; i < begin; i += kBlock)
      subtractProduct(move(m, i, i),
                      move<const double>({m.first, m.stride}, i, begin),
                      {transposed.data() + i, begin},
                      std::min(kBlock, begin - i), width, begin - i);
    end = begin;
  }
  return true;
}

/// Replaces an upper triangular matrix by its inverse, from the last rows to
/// the first.
static void invert(MatrixPart<double> m, int64_t size) {
  std::vector<double> product, row(kBlock);
  for (int64_t end = size; end > 0;) {
    int64_t begin = std::max<int64_t>(0, end - kBlock);
    int64_t rest = size - end;
    // The part of the rows to the right of the diagonal block, times the
    // inverse computed so far.
    product.assign((end - begin) * rest, 0);
    for (int64_t k = end; k < size; k += kBlock)
      subtractProduct({product.data() + (k - end), rest},
                      {m.getRow(begin) + k, m.stride},
                      {m.getRow(k) + k, m.stride}, end - begin,
                      std::min(kBlock, size - k), size - k);
    for (int64_t i = end - 1; i >= begin; --i) {
      double *own = m.getRow(i);
      double inverse = 1 / own[i];
      std::copy(own + i + 1, own + end, row.begin());
      std::fill(own + i + 1, own + size, 0);
      own[i] = inverse;
      for (int64_t k = i + 1; k < end; ++k)
        for (int64_t j = k; j < end; ++j)
          own[j] -= inverse * row[k - i - 1] * m.getRow(k)[j];
    }
    for (int64_t i = begin; i < end; ++i) {
      double *own = m.getRow(i);
      for (int64_t k = i; k < end; ++k)
        for (int64_t j = 0; j < rest; ++j)
          own[end + j] += own[k] * product[(k - begin) * rest + j];
    }
    end = begin;
  }
}

bool nnc::compression::factorInverse(llvm::MutableArrayRef<double> matrix,
                                     int64_t size) {
  assert(static_cast<int64_t>(matrix.size()) == size * size);
  MatrixPart<double> m{matrix.data(), size};
  for (int64_t i = 0; i < size; ++i)
    std::fill(m.getRow(i), m.getRow(i) + i, 0);
  if (!factor(m, size))
    return false;
  // Updates of whole blocks have written elements below the diagonal.
  for (int64_t i = 0; i < size; ++i)
    std::fill(m.getRow(i), m.getRow(i) + i, 0);
  invert(m, size);
  return true;
}

void nnc::compression::solveByFactor(llvm::ArrayRef<double> factor,
                                     llvm::MutableArrayRef<double> y) {
  auto size = static_cast<int64_t>(y.size());
  std::vector<double> middle(y.size());
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = i; j < size; ++j)
      middle[i] += factor[i * size + j] * y[j];
  std::fill(y.begin(), y.end(), 0);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = i; j < size; ++j)
      y[j] += factor[i * size + j] * middle[i];
}
