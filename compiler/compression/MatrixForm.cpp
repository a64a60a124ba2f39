//===- MatrixForm.cpp - Weights of a layer as a matrix --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/MatrixForm.h"

using namespace nnc::compression;

int64_t nnc::compression::getProduct(llvm::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

MatrixForm::MatrixForm(Axes sizes, Axes order, int rowAxes)
    : sizes(sizes), order(order) {
  for (int i = 0; i < 4; ++i)
    (i < rowAxes ? rows : columns) *= sizes[order[i]];
}

MatrixForm MatrixForm::getFilters(llvm::ArrayRef<int64_t> dims) {
  return MatrixForm({dims[0], dims[1], getProduct(dims.drop_front(2)), 1},
                    {0, 2, 1, 3}, 1);
}

std::optional<MatrixForm>
MatrixForm::getTransposedFilters(llvm::ArrayRef<int64_t> dims, int64_t groups) {
  if (groups < 1 || dims[0] % groups != 0)
    return std::nullopt;
  return MatrixForm(
      {groups, dims[0] / groups, dims[1], getProduct(dims.drop_front(2))},
      {0, 2, 3, 1}, 2);
}

MatrixForm MatrixForm::getRowMajor(llvm::ArrayRef<int64_t> dims) {
  return MatrixForm({getProduct(dims.drop_back()), dims.back(), 1, 1},
                    {0, 1, 2, 3}, 1);
}

MatrixForm MatrixForm::getColumnMajor(llvm::ArrayRef<int64_t> dims) {
  return MatrixForm(
      {getProduct(dims.drop_back(2)), dims[dims.size() - 2], dims.back(), 1},
      {0, 2, 1, 3}, 2);
}

template <class F> void MatrixForm::forEachElement(F visit) const {
  Axes strides;
  int64_t stride = 1;
  for (int i = 3; i >= 0; --i) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  auto getSize = [&](int i) { return sizes[order[i]]; };
  auto getStride = [&](int i) { return strides[order[i]]; };
  size_t place = 0;
  for (int64_t a = 0; a < getSize(0); ++a)
    for (int64_t b = 0; b < getSize(1); ++b)
      for (int64_t c = 0; c < getSize(2); ++c)
        for (int64_t d = 0; d < getSize(3); ++d)
          visit(place++, a * getStride(0) + b * getStride(1) +
                             c * getStride(2) + d * getStride(3));
}

std::vector<float> MatrixForm::toMatrix(llvm::ArrayRef<float> weights) const {
  std::vector<float> matrix(weights.size());
  forEachElement(
      [&](size_t place, size_t element) { matrix[place] = weights[element]; });
  return matrix;
}

std::vector<float> MatrixForm::fromMatrix(llvm::ArrayRef<float> matrix) const {
  std::vector<float> weights(matrix.size());
  forEachElement(
      [&](size_t place, size_t element) { weights[element] = matrix[place]; });
  return weights;
}
