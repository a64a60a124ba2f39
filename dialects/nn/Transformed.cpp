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

unsigned nn::getFilterAxis(LayoutAttr layout) {
  return layout.getBlocks().front().axis;
}

SmallVector<int64_t> nn::getTransformedShape(ArrayRef<int64_t> shape,
                                             LayoutAttr layout) {
  if (isForStrassen(layout.getName())) {
    unsigned filters = getFilterAxis(layout);
    return {shape[filters] / 2, shape[1 - filters] / 2, 1, kStrassenProducts};
  }
  SmallVector<int64_t> points(shape);
  for (int64_t &taps : llvm::drop_begin(points, 2))
    taps = taps == 1 ? 1 : getWinogradOutputs(layout.getName()) + taps - 1;
  return points;
}

nn::LayoutAttr nn::getTransformedLayout(LayoutAttr layout) {
  std::string name = dropTransform(layout.getName()).str();
  if (isForStrassen(layout.getName()))
    name = ("KRSC" + Twine(layout.getBlocks().front().size) + "k").str();
  return LayoutAttr::get(layout.getContext(), name);
}

RankedTensorType nn::getTransformedType(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  return withLayout(
      RankedTensorType::get(getTransformedShape(type.getShape(), layout),
                            type.getElementType()),
      getTransformedLayout(layout));
}
