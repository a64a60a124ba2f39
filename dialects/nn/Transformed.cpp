//===- Transformed.cpp - Layouts of transformed weights -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Transformed.h"

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;

/// Of halves of rows, columns and terms, and so on for each level.
static constexpr int64_t kStrassenProducts[] = {1, 7, 49};

/// So many integers of a column share a scale; see
/// runtime/routines/matmul/integers_plan.h.
static constexpr int64_t kIntegersGroup = 512;

int64_t nn::getWinogradOutputs(StringRef layout) {
  int64_t m = 0;
  return layout.split("_winograd").second.getAsInteger(10, m) ? 0 : m;
}

int64_t nn::getWinogradStride(StringRef layout) {
  return layout.contains("_strided") ? 2 : 1;
}

bool nn::isFolded(StringRef layout) { return layout.contains("_folded"); }

SmallVector<int64_t> nn::getFoldedShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> folded = {shape[0], shape[1]};
  for (int64_t taps : shape.drop_front(2)) {
    folded[1] *= 2;
    folded.push_back(llvm::divideCeil(taps, 2));
  }
  return folded;
}

int nn::getStrassenLevels(StringRef layout) {
  return layout.ends_with("_strassen")    ? 1
         : layout.ends_with("_strassen2") ? 2
                                          : 0;
}

int nn::getIntegerBits(StringRef layout) {
  return layout.ends_with("_int24") ? 24 : layout.ends_with("_int20") ? 20 : 0;
}

bool nn::isTransformed(StringRef layout) {
  return getStrassenLevels(layout) != 0 || getWinogradOutputs(layout) != 0 ||
         getIntegerBits(layout) != 0;
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
  if (int levels = getStrassenLevels(layout.getName())) {
    unsigned filters = getFilterAxis(layout);
    return {shape[filters] >> levels, shape[1 - filters] >> levels, 1,
            kStrassenProducts[levels]};
  }
  if (int bits = getIntegerBits(layout.getName())) {
    unsigned filters = getFilterAxis(layout);
    int64_t width = layout.getBlocks().front().size;
    int64_t panels = llvm::divideCeil(shape[filters], width);
    int64_t rows = shape[1 - filters];
    int64_t bytes = bits == 24 ? 3 * rows : 5 * llvm::divideCeil(rows, 2);
    bytes += 4 * llvm::divideCeil(rows, kIntegersGroup);
    return {panels, bytes * width / 4};
  }
  bool folded = isFolded(layout.getName());
  SmallVector<int64_t> points =
      folded ? getFoldedShape(shape) : SmallVector<int64_t>(shape);
  int64_t others = getWinogradOutputs(layout.getName()) - 1;
  for (int64_t &taps : llvm::drop_begin(points, 2))
    taps += taps == 1 ? 0 : getWinogradStride(layout.getName()) * others;
  return points;
}

nn::LayoutAttr nn::getTransformedLayout(LayoutAttr layout) {
  if (getIntegerBits(layout.getName()))
    return LayoutAttr::get(layout.getContext(), "AB");
  std::string name = dropTransform(layout.getName()).str();
  if (getStrassenLevels(layout.getName()))
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
