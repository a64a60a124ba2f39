//===- KeptWeights.cpp - Least-squares fit of nonzero weights -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/KeptWeights.h"

#include "compiler/compression/Cholesky.h"

#include <algorithm>
#include <vector>

using namespace nnc::compression;

/// The steps of a row end when its residual, in the norm of the preconditioner,
/// is this fraction of its initial value.
static constexpr double kSmall = 1e-16;

void nnc::compression::fitKeptWeights(llvm::MutableArrayRef<double> values,
                                      llvm::ArrayRef<double> own, int64_t rows,
                                      int64_t columns,
                                      llvm::ArrayRef<double> hessian,
                                      int steps) {
  std::vector<double> residuals(values.size()), directions(values.size()),
      products(values.size());
  std::vector<double> sizes(rows), limits(rows);
  std::vector<char> kept(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    kept[i] = values[i] != 0;
    directions[i] = values[i] - own[i];
  }
  // The preconditioner is the diagonal of the Hessian.
  auto getScaled = [&](int64_t row, int64_t j) {
    return residuals[row * columns + j] / hessian[j * (columns + 1)];
  };
  auto getSize = [&](int64_t row) {
    double size = 0;
    for (int64_t j = 0; j < columns; ++j)
      size += residuals[row * columns + j] * getScaled(row, j);
    return size;
  };
  auto multiply = [&](std::vector<double> &result) {
    std::fill(result.begin(), result.end(), 0);
    subtractProduct({result.data(), columns}, {directions.data(), columns},
                    {hessian.data(), columns}, rows, columns, columns);
    for (size_t i = 0; i < result.size(); ++i)
      if (!kept[i])
        result[i] = 0;
  };
  multiply(residuals);
  for (int64_t row = 0; row < rows; ++row) {
    sizes[row] = getSize(row);
    limits[row] = kSmall * sizes[row];
    for (int64_t j = 0; j < columns; ++j)
      directions[row * columns + j] = getScaled(row, j);
  }
  for (int step = 0; step < steps; ++step) {
    multiply(products); // the negative of the products
    for (int64_t row = 0; row < rows; ++row) {
      if (!(sizes[row] > limits[row]))
        continue;
      double curvature = 0;
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        curvature -= directions[i] * products[i];
      double length = sizes[row] / curvature;
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
        values[i] += length * directions[i];
        residuals[i] += length * products[i];
      }
      double size = getSize(row), share = size / sizes[row];
      sizes[row] = size;
      for (int64_t j = 0; j < columns; ++j) {
        double &direction = directions[row * columns + j];
        direction = getScaled(row, j) + share * direction;
      }
    }
  }
}
