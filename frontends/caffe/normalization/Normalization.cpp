//===- Normalization.cpp - Softmax, LRN, MVN and Normalize ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

Value convertSoftmax(Layer &layer) {
  Value x = layer.getBottom(0);
  auto axis =
      layer.normalizeAxis(layer.getParam().softmax_param().axis(), getRank(x));
  return axis ? layer.create<nn::SoftmaxOp>(x, *axis, /*log=*/false) : Value();
}

//===----------------------------------------------------------------------===//
// LRN
//===----------------------------------------------------------------------===//

/// Returns the mean of x^2 over `size` neighbouring channels, of which those
/// that do not exist are 0.
static Value averageChannels(Layer &layer, Value square, int64_t size) {
  SmallVector<int64_t> shape(getShape(square));
  SmallVector<int64_t> kernel = {size, 1}, ones = {1, 1},
                       pads = {size / 2, 0, size / 2, 0};
  Value rows = layer.reshape(
      square, {shape[0], 1, shape[1], product(ArrayRef(shape).drop_front(2))});
  Value mean = layer.create<nn::AvgPoolOp>(rows, kernel, ones, ones, pads,
                                           false, /*count_include_pad=*/true,
                                           /*accumulator=*/TypeAttr());
  return mean ? layer.reshape(mean, shape) : Value();
}

/// Returns the mean of x^2 over a square of `size` by `size` pixels.
static Value averagePixels(Layer &layer, Value square, int64_t size) {
  SmallVector<int64_t> kernel = {size, size}, ones = {1, 1}, pads(4, size / 2);
  return layer.create<nn::AvgPoolOp>(square, kernel, ones, ones, pads, false,
                                     /*count_include_pad=*/true,
                                     /*accumulator=*/TypeAttr());
}

Value convertLRN(Layer &layer) {
  const schema::LRNParameter &param = layer.getParam().lrn_param();
  Value x = layer.getBottom(0);
  int64_t size = param.local_size();
  bool isWithin = param.norm_region() == schema::LRNParameter::WITHIN_CHANNEL;
  if (getRank(x) != 4)
    return layer.broken("needs a bottom of four axes, not one of shape " +
                        toString(getShape(x)));
  if (size % 2 == 0 || size > kMaxDim)
    return layer.broken("has local_size " + Twine(size) +
                        ", which has to be "
                        "odd");
  Value square = layer.createElementwise("mul", {x, x});
  Value mean = isWithin ? averagePixels(layer, square, size)
                        : averageChannels(layer, square, size);
  // Within a channel, Caffe's formula has a constant of 1.
  Value sum =
      layer.withNumber("add", layer.withNumber("mul", mean, param.alpha()),
                       isWithin ? 1 : param.k());
  return layer.createElementwise(
      "div", {x, layer.withNumber("pow", sum, param.beta())});
}

//===----------------------------------------------------------------------===//
// Own statistics
//===----------------------------------------------------------------------===//

static Value mean(Layer &layer, Value x, ArrayRef<int64_t> axes) {
  return layer.create<nn::ReduceOp>(nn::ReduceKind::mean, x, axes, true);
}

/// Converts MVN: planes, or with across_channels samples, with a mean of 0 and
/// a deviation of 1.
Value convertMVN(Layer &layer) {
  const schema::MVNParameter &param = layer.getParam().mvn_param();
  Value x = layer.getBottom(0);
  if (getRank(x) < 2)
    return layer.broken("needs a bottom with channels, not one of shape " +
                        toString(getShape(x)));
  SmallVector<int64_t> shape(getShape(x));
  int64_t rest = product(ArrayRef(shape).drop_front(2));
  SmallVector<int64_t> rows = {shape[0] * shape[1], rest};
  if (param.across_channels())
    rows = {shape[0], shape[1] * rest};
  Value flat = layer.reshape(x, rows);
  Value y = layer.createElementwise("sub", {flat, mean(layer, flat, {1})});
  if (param.normalize_variance()) {
    Value variance = mean(layer, layer.createElementwise("mul", {y, y}), {1});
    Value deviation = layer.withNumber(
        "add", layer.createElementwise("sqrt", variance), param.eps());
    y = layer.createElementwise("div", {y, deviation});
  }
  return y ? layer.reshape(y, shape) : Value();
}

/// Converts Normalize of SSD: vectors of channels, or with across_spatial whole
/// samples, divided by their length and multiplied by a learned scale.
Value convertNormalize(Layer &layer) {
  const schema::NormalizeParameter &param = layer.getParam().norm_param();
  Value x = layer.getBottom(0);
  if (getRank(x) < 2)
    return layer.broken("needs a bottom with channels, not one of shape " +
                        toString(getShape(x)));
  SmallVector<int64_t> axes = {1};
  if (param.across_spatial()) {
    axes = iota(getRank(x));
    axes.erase(axes.begin());
  }
  Value sum = layer.create<nn::ReduceOp>(nn::ReduceKind::sum_square, x, axes,
                                         /*keepdims=*/true);
  Value length = layer.createElementwise(
      "sqrt", layer.withNumber("add", sum, param.eps()));
  SmallVector<int64_t> shape(getRank(x), 1);
  int64_t count = param.channel_shared() ? 1 : getShape(x)[1];
  shape[1] = count;
  Value scale = layer.getBlob(0, count, "scale");
  return layer.createElementwise(
      "mul", {layer.createElementwise("div", {x, length}),
              scale ? layer.reshape(scale, shape) : Value()});
}

} // namespace nnc::caffe
