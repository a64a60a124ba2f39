//===- Grid.cpp - Images sampled at the points of a grid -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

Value convertGridSampler(Node &node) {
  static constexpr nn::SampleMode modes[] = {
      nn::SampleMode::linear, nn::SampleMode::nearest, nn::SampleMode::cubic};
  static constexpr nn::SamplePadding paddings[] = {
      nn::SamplePadding::zeros, nn::SamplePadding::border,
      nn::SamplePadding::reflection};
  Value x = node.getTensor("input"), grid = node.getTensor("grid");
  int64_t mode = node.getInt("interpolation_mode"),
          padding = node.getInt("padding_mode");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    return node.broken("has the mode " + Twine(mode) + " and the padding " +
                       Twine(padding));
  if (!x || !grid)
    return {};
  if (!isa<FloatType>(getElement(x)))
    return node.unsupported("samples images of integers");
  return node.create<nn::GridSampleOp>(modes[mode], paddings[padding], x,
                                       node.castTo(grid, getElement(x)),
                                       node.getBool("align_corners"));
}

/// Converts affine_grid_generator: the products of the coordinates of the
/// pixels of an image, in [-1, 1], and a matrix for each image of the batch.
Value convertAffineGrid(Node &node) {
  Value theta = node.getTensor("theta");
  SmallVector<int64_t> size = node.getInts("size");
  if (!theta)
    return {};
  auto axes = static_cast<int64_t>(size.size()) - 2;
  bool fits = (axes == 2 || axes == 3) && llvm::all_of(size, [](int64_t n) {
                return n >= 1 && n <= INT32_MAX;
              });
  if (!fits || getShape(theta) != ArrayRef<int64_t>({size[0], axes, axes + 1}))
    return node.broken("has matrices of shape " + toString(getShape(theta)) +
                       " for images of shape " + toString(ArrayRef(size)));
  bool aligns = node.getBool("align_corners");
  ArrayRef<int64_t> image = ArrayRef(size).drop_front(2);
  // The product may overflow, so that sizes are checked as the shape of a
  // tensor.
  SmallVector<int64_t> shape(image);
  shape.push_back(axes + 1);
  if (!node.checkSize(
          RankedTensorType::get(shape, node.getBuilder().getF32Type()),
          /*isMade=*/true))
    return {};
  int64_t pixels = product(image);
  SmallVector<float> values;
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    // The first coordinate is that along the last axis.
    int64_t rest = pixel;
    for (int64_t axis = axes; axis-- > 0;) {
      auto at = static_cast<double>(rest % image[axis]),
           count = static_cast<double>(image[axis]);
      rest /= image[axis];
      double place = aligns ? (count > 1 ? 2 * at / (count - 1) - 1 : 0)
                            : (2 * at + 1) / count - 1;
      values.push_back(static_cast<float>(place));
    }
    values.push_back(1);
  }
  auto type =
      RankedTensorType::get({pixels, axes + 1}, node.getBuilder().getF32Type());
  Value base = node.castTo(
      node.constant(DenseElementsAttr::get(type, ArrayRef<float>(values))),
      getElement(theta));
  Value y = node.create<nn::MatMulOp>(base, theta, /*transpose_a=*/false,
                                      /*transpose_b=*/true, TypeAttr());
  SmallVector<int64_t> result = {size[0]};
  llvm::append_range(result, image);
  result.push_back(axes);
  return node.reshape(y, result);
}

} // namespace nnc::torch
