//===- Transformed.cpp - Layouts of transformed weights -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Transformed.h"

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;

/// Of halves of rows, columns and terms.
static constexpr int64_t kStrassenProducts = 7;

int64_t nn::getWinogradOutputs(StringRef layout) {
  int64_t m = 0;
  return layout.split("_winograd").second.getAsInteger(10, m) ? 0 : m;
}

bool nn::isForStrassen(StringRef layout) {
  return layout.ends_with("_strassen");
}

bool nn::isTransformed(StringRef layout) {
  return isForStrassen(layout) || getWinogradOutputs(layout) != 0;
}

bool nn::isTransformed(Type type) { return isTransformed(getLayoutName(type)); }

StringRef nn::dropTransform(StringRef layout) {
  return isTransformed(layout) ? layout.split('_').first : layout;
}

SmallVector<int64_t> nn::getTransformedShape(ArrayRef<int64_t> shape,
                                             StringRef layout) {
  SmallVector<int64_t> points(shape);
  if (int64_t m = getWinogradOutputs(layout)) {
    for (int64_t &taps : llvm::drop_begin(points, 2))
      taps = taps == 1 ? 1 : m + taps - 1;
  } else if (isForStrassen(layout)) {
    points[0] /= 2;
    points[1] /= 2;
    points.back() = kStrassenProducts;
  }
  return points;
}

RankedTensorType nn::getTransformedType(RankedTensorType type) {
  StringRef layout = getLayoutName(type);
  return withLayout(
      RankedTensorType::get(getTransformedShape(type.getShape(), layout),
                            type.getElementType()),
      dropTransform(layout));
}
