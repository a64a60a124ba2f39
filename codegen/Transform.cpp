//===- Transform.cpp - Weights for Winograd's convolution -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/Winograd.h"
#include "runtime/routines/conv2d/winograd_matrices.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The filter's matrix for an axis; an axis of one tap stays as it is.
static winograd_matrices getMatrices(int64_t outputs, int64_t taps) {
  return make_winograd(taps == 1 ? 1 : outputs, taps);
}

std::vector<float> codegen::transformWeight(RankedTensorType type,
                                            const float *w) {
  ArrayRef<int64_t> shape = type.getShape();
  int64_t outputs = nn::getWinogradOutputs(nn::getLayoutName(type));
  int64_t height = shape.size() == 4 ? shape[2] : 1, width = shape.back();
  winograd_matrices rows = getMatrices(outputs, height),
                    columns = getMatrices(outputs, width);
  int64_t filters = shape[0] * shape[1];
  std::vector<float> result(filters * rows.points * columns.points);

  float *u = result.data();
  constexpr int most = winograd_matrices::most_points;
  for (int64_t filter = 0; filter < filters; ++filter) {
    double half[most][most] = {};
    for (int i = 0; i < rows.points; ++i)
      for (int64_t r = 0; r < height; ++r)
        for (int64_t s = 0; s < width; ++s)
          half[i][s] += rows.filter[i][r] * w[r * width + s];
    for (int i = 0; i < rows.points; ++i)
      for (int j = 0; j < columns.points; ++j) {
        double sum = 0;
        for (int64_t s = 0; s < width; ++s)
          sum += half[i][s] * columns.filter[j][s];
        *u++ = static_cast<float>(sum);
      }
    w += height * width;
  }
  return result;
}
