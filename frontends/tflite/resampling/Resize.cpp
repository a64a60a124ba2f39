//===- Resize.cpp - Images of other sizes ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ImageResize.h"
#include "frontends/tflite/convolution/SlidingWindow.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns true after an error if the quantization of input and result differs.
static bool changesScale(Layer &layer) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!in || !out ||
      (in.scales == out.scales && in.zeroPoints == out.zeroPoints))
    return false;
  layer.unsupported("has an input and a result with different scales or zero "
                    "points, which TFLite does not define");
  return true;
}

Value convertResizeNearest(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::ResizeNearestOptions>(fb::Options::ResizeNearest);
  if (!options)
    return {};
  ImageResize how = {options->align_corners(), options->half_pixel_centers()};
  Value x = layer.getInput(0);
  if (!readImageSizes(layer, x, layer.getInput(1), how) || changesScale(layer))
    return {};
  for (int64_t i = 0; i < 2; ++i) {
    SmallVector<int64_t> nearest =
        findNearestPixels(getShape(x)[1 + i], how.sizes[i], how);
    if (nearest != iota(getShape(x)[1 + i]))
      x = layer.create<nn::GatherOp>(x, layer.constant(nearest), 1 + i);
  }
  return x;
}

namespace {
/// For each element of the result along an axis: the two elements between which
/// it lies, and the weight of the second.
struct Places {
  SmallVector<int64_t> low, high;
  SmallVector<float> share;
};
} // namespace

static Places findPlaces(int64_t in, int64_t out, const ImageResize &how) {
  bool isAligned = how.alignsCorners && out > 1;
  float step =
      static_cast<float>(in - isAligned) / static_cast<float>(out - isAligned);
  Places result;
  for (int64_t i = 0; i < out; ++i) {
    auto at = static_cast<float>(i);
    at = how.hasHalfPixels ? (at + 0.5f) * step - 0.5f : at * step;
    int64_t low =
        std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)), 0, in - 1);
    result.low.push_back(low);
    result.high.push_back(
        std::clamp<int64_t>(static_cast<int64_t>(std::ceil(at)), 0, in - 1));
    result.share.push_back(at - static_cast<float>(low));
  }
  return result;
}

/// Resizes unsigned integers, which TFLite computes in f32, in the same order
/// of operations.
static Value resizeUnsigned(Layer &layer, Value x, const ImageResize &how) {
  Type real = layer.getBuilder().getF32Type();
  Places rows = findPlaces(getShape(x)[1], how.sizes[0], how),
         columns = findPlaces(getShape(x)[2], how.sizes[1], how);
  auto makeWeights = [&](const Places &along, bool isHigh, bool isRows) {
    SmallVector<float> weights(along.share);
    if (!isHigh)
      for (float &weight : weights)
        weight = 1 - weight;
    SmallVector<int64_t> shape = {int64_t(weights.size()), 1};
    if (isRows)
      shape.push_back(1);
    return layer.constant(DenseElementsAttr::get(
        RankedTensorType::get(shape, real), ArrayRef(weights)));
  };
  Value sum;
  for (bool right : {false, true})
    for (bool bottom : {false, true}) {
      Value part = layer.create<nn::GatherOp>(
          x, layer.constant(bottom ? rows.high : rows.low), int64_t(1));
      part = layer.create<nn::GatherOp>(
          part, layer.constant(right ? columns.high : columns.low), int64_t(2));
      part = layer.createElementwise(
          "mul", {layer.castTo(part, real), makeWeights(rows, bottom, true)});
      part = layer.createElementwise(
          "mul", {part, makeWeights(columns, right, false)});
      sum = sum ? layer.createElementwise("add", {sum, part}) : part;
    }
  sum = layer.createElementwise("add", {sum, layer.splat(0.5, real)});
  return layer.castTo(sum, getElement(x));
}

Value convertResizeBilinear(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::ResizeBilinearOptions>(fb::Options::ResizeBilinear);
  if (!options)
    return {};
  ImageResize how = {options->align_corners(), options->half_pixel_centers()};
  Value x = layer.getInput(0);
  if (!readImageSizes(layer, x, layer.getInput(1), how) || changesScale(layer))
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  if (getElement(x).isUnsignedInteger(8))
    return resizeUnsigned(layer, x, how);
  if (!isa<FloatType>(getElement(x))) {
    SmallVector<int64_t> steps;
    for (size_t i = 0; i < 2; ++i) {
      bool isAligned = how.alignsCorners && how.sizes[i] > 1;
      int64_t in = shape[1 + i] - isAligned, out = how.sizes[i] - isAligned;
      steps.push_back((1024 * in + out / 2) / out);
    }
    return layer.create<nn::FixedResizeOp>(
        x, ArrayRef<int64_t>(how.sizes), ArrayRef<int64_t>(steps),
        how.hasHalfPixels, layer.getRescale() == qnn::Rescale::single_rounding);
  }
  return toChannelsLast(layer, resizeImage(layer, nn::ResizeMode::linear,
                                           toChannelsFirst(layer, x), how));
}

} // namespace nnc::tflite
