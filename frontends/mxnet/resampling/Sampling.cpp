//===- Sampling.cpp - Images sampled at computed places -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns the images `x` at the places in `grid`, n x 2 x height x width, of
/// which the first number belongs to the last axis. -1 and 1 are the centres of
/// the first and the last element; elements outside are 0.
static Value sample(Layer &layer, Value x, Value grid) {
  if (getRank(x) != 4 || getRank(grid) != 4 || getShape(grid)[1] != 2 ||
      getShape(grid)[0] != getShape(x)[0])
    return x && grid ? layer.broken(
                           "samples images of shape " + toString(getShape(x)) +
                           " at places of shape " + toString(getShape(grid)))
                     : Value();
  return layer.create<nn::GridSampleOp>(
      nn::SampleMode::linear, nn::SamplePadding::zeros, x,
      layer.transpose(grid, {0, 2, 3, 1}), /*align_corners=*/true);
}

Value convertBilinearSampler(Layer &layer) {
  return sample(layer, layer.getInput(0), layer.getInput(1));
}

/// Returns -1 to 1 in `count` steps.
static double getPlace(int64_t i, int64_t count) {
  return count == 1 ? -1 : -1 + 2 * double(i) / double(count - 1);
}

/// Returns the places of an affine transformation, n x 6, of an image with the
/// size of the attribute target_shape.
static Value makeGrid(Layer &layer, Value transformation) {
  SmallVector<int64_t> sizes = layer.getSizes("target_shape", 2, 0, 1);
  if (layer.hasFailed())
    return {};
  int64_t rows = sizes[0], columns = sizes[1];
  if (rows < 1 || columns < 1 || rows > 1 << 12 || columns > 1 << 12 ||
      getNumElements(transformation) == 0 ||
      getNumElements(transformation) % 6 != 0)
    return layer.broken("has the target_shape " + toString(sizes) +
                        " and transformations of shape " +
                        toString(getShape(transformation)));
  int64_t batch = getNumElements(transformation) / 6;
  std::vector<float> places(3 * rows * columns, 1.0F);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t at = row * columns + column;
      places[at] = float(getPlace(column, columns));
      places[rows * columns + at] = float(getPlace(row, rows));
    }
  Value base = layer.constant(DenseElementsAttr::get(
      RankedTensorType::get({3, rows * columns}, layer.getF32()),
      ArrayRef<float>(places)));
  Value grid = layer.create<nn::MatMulOp>(
      layer.reshape(transformation, {batch * 2, 3}), base,
      /*transpose_a=*/false, /*transpose_b=*/false, TypeAttr());
  return layer.reshape(grid, {batch, 2, rows, columns});
}

Value convertGridGenerator(Layer &layer) {
  StringRef type = layer.getText("transform_type");
  if (type != "affine")
    return layer.unsupported("has the transform_type '" + type +
                             "'; nnc handles 'affine'");
  return makeGrid(layer, layer.getInput(0));
}

Value convertSpatialTransformer(Layer &layer) {
  Value grid = makeGrid(layer, layer.getInput(1));
  return grid ? sample(layer, layer.getInput(0), grid) : Value();
}

} // namespace nnc::mxnet
