//===- Normalization.cpp - Batch normalization, softmax, LRN --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Statistics.h"
#include "frontends/tensorflow/convolution/SlidingWindow.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Normalizes an image, whose channels are second, by its own statistics, as
/// FusedBatchNorm does in training. Keras 2 computes layer normalization so, of
/// one sample whose channels are the rows.
static Value normalizeByOwn(Layer &layer, Value x) {
  Value scale = layer.getInput(1), offset = layer.getInput(2);
  if (!x || !scale || !offset)
    return {};
  int64_t channels = getShape(x)[1], rank = getRank(x);
  for (Value vector : {scale, offset})
    if (getRank(vector) != 1 || getNumElements(vector) != channels)
      return layer.broken("has a scale or offset of shape " +
                          toString(getShape(vector)) + " for " +
                          Twine(channels) + " channels");
  if (getNumElements(x) == 0)
    return layer.unsupported("computes the mean of no elements");
  if (getShape(x)[0] > 1)
    emitWarning(layer.getLoc())
        << layer.getOp() << " computes mean and variance over all samples, as "
        << "in training; save the model for inference if that is not meant";
  Sizes axes = iota(rank), shape(rank, 1);
  axes.erase(axes.begin() + 1);
  shape[1] = channels;
  Statistics own(layer, x, axes);
  double count = double(getNumElements(x) / channels);
  Value variance = layer.elementwise(
      "mul", {own.variance,
              layer.splat(count / std::max(count - 1, 1.0), getElement(x))});
  layer.setResult(1, layer.reshape(own.mean, {channels}));
  layer.setResult(2, layer.reshape(variance, {channels}));
  return own.normalize(layer, layer.getReal("epsilon", 1e-4),
                       layer.reshape(scale, shape),
                       layer.reshape(offset, shape));
}

Value convertFusedBatchNorm(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0));
  if (layer.getBool("is_training", true)) {
    if (layer.getReal("exponential_avg_factor", 1) != 1)
      return layer.unsupported("moves the mean and variance of training; save "
                               "the model for inference");
    return fromImage(layer, normalizeByOwn(layer, x));
  }
  SmallVector<Value> statistics = layer.getTensors(1, 4);
  if (!x || statistics.empty())
    return {};
  for (Value vector : statistics)
    if (getRank(vector) != 1 || getNumElements(vector) != getShape(x)[1])
      return layer.broken("has statistics of shape " +
                          toString(getShape(vector)) + " for " +
                          Twine(getShape(x)[1]) + " channels");
  Value y = layer.create<nn::BatchNormOp>(
      x, statistics[0], statistics[1], statistics[2], statistics[3],
      APFloat(layer.getReal("epsilon", 1e-4)));
  layer.setResult(1, statistics[2]);
  layer.setResult(2, statistics[3]);
  return fromImage(layer, y);
}

static Value softmax(Layer &layer, bool isLog) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  if (getRank(x) < 1)
    return layer.broken("needs a tensor with axes");
  if (Value image = Layer::getChannelsFirst(x))
    return layer.toChannelsLast(
        layer.create<nn::SoftmaxOp>(image, int64_t(1), isLog));
  return layer.create<nn::SoftmaxOp>(x, getRank(x) - 1, isLog);
}

Value convertSoftmax(Layer &layer) { return softmax(layer, /*isLog=*/false); }
Value convertLogSoftmax(Layer &layer) { return softmax(layer, /*isLog=*/true); }

/// Converts LRN: x / (bias + alpha * sum of squares)^beta, where the sum is
/// over the channels at most depth_radius away. The sum is a mean of windows
/// over padded channels.
Value convertLrn(Layer &layer) {
  Value x = layer.getInput(0);
  int64_t radius = layer.getInt("depth_radius", 5);
  if (!x)
    return {};
  if (getRank(x) != 4 || radius < 0 || radius > 1 << 20)
    return layer.broken("has a tensor of shape " + toString(getShape(x)) +
                        " and a radius of " + Twine(radius));
  Value image = layer.toChannelsFirst(x);
  if (!image)
    return {};
  ArrayRef<int64_t> shape = getShape(image);
  int64_t samples = shape[0], channels = shape[1], pixels = shape[2] * shape[3],
          width = 2 * radius + 1;
  Value squares = layer.createElementwise("mul", {image, image});
  Value planes = layer.reshape(squares, {samples, 1, channels, pixels});
  Value mean = layer.create<nn::AvgPoolOp>(
      planes, ArrayRef<int64_t>{width, 1}, ArrayRef<int64_t>{1, 1},
      ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{radius, 0, radius, 0},
      /*ceil_mode=*/false, /*count_include_pad=*/true, TypeAttr());
  mean = layer.reshape(mean, shape);
  if (!mean)
    return {};
  auto number = [&](double value) {
    return layer.splat(value, getElement(image));
  };
  double alpha = layer.getReal("alpha", 1) * double(width);
  Value base = layer.createElementwise(
      "add", {layer.createElementwise("mul", {mean, number(alpha)}),
              number(layer.getReal("bias", 1))});
  Value scale = layer.createElementwise(
      "pow", {base, number(-layer.getReal("beta", 0.5))});
  return layer.toChannelsLast(layer.createElementwise("mul", {image, scale}));
}

} // namespace nnc::tensorflow
