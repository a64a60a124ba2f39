//===- Winograd.cpp - Layouts of transformed weights ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Winograd.h"

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;

int64_t nn::getWinogradOutputs(StringRef layout) {
  int64_t m = 0;
  return layout.split("_winograd").second.getAsInteger(10, m) ? 0 : m;
}

StringRef nn::dropWinograd(StringRef layout) {
  return getWinogradOutputs(layout) ? layout.split("_winograd").first : layout;
}

SmallVector<int64_t> nn::getPoints(ArrayRef<int64_t> shape, int64_t m) {
  SmallVector<int64_t> points(shape);
  if (m != 0)
    for (int64_t &taps : llvm::drop_begin(points, 2))
      taps = taps == 1 ? 1 : m + taps - 1;
  return points;
}

bool nn::isTransformed(Type type) {
  return getWinogradOutputs(getLayoutName(type)) != 0;
}

RankedTensorType nn::getTransformedType(RankedTensorType type) {
  StringRef layout = getLayoutName(type);
  auto points = getPoints(type.getShape(), getWinogradOutputs(layout));
  return withLayout(RankedTensorType::get(points, type.getElementType()),
                    dropWinograd(layout));
}
