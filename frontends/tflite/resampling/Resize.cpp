//===- Resize.cpp - Images of other sizes ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/convolution/SlidingWindow.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

namespace {
/// The options that RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR share.
struct Placement {
  bool alignsCorners, hasHalfPixels;
};
} // namespace

/// Returns the height and width of the result; nullopt after an error if
/// operands do not fit.
static std::optional<SmallVector<int64_t>> readSizes(Layer &layer,
                                                     const Placement &places) {
  Value x = layer.getInput(0);
  auto sizes = layer.readInts(layer.getInput(1), "sizes");
  if (!x || !sizes)
    return std::nullopt;
  auto isWrong = [](int64_t size) { return size < 1 || size > 1 << 20; };
  if (getRank(x) != 4 || getNumElements(x) == 0 || sizes->size() != 2 ||
      llvm::any_of(*sizes, isWrong) || isWrong(getShape(x)[1]) ||
      isWrong(getShape(x)[2])) {
    layer.broken("resizes an image of shape " + toString(getShape(x)) + " to " +
                 toString(*sizes) +
                 "; needs 4 axes and sizes from 1 to 1048576");
    return std::nullopt;
  }
  if (places.alignsCorners && places.hasHalfPixels) {
    layer.broken("has both aligned corners and half pixels");
    return std::nullopt;
  }
  return sizes;
}

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

/// Returns for each of `out` elements along an axis the index of the nearest of
/// `in` elements.
static SmallVector<int64_t> findNearest(int64_t in, int64_t out,
                                        const Placement &places) {
  float scale = places.alignsCorners && out > 1
                    ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                    : static_cast<float>(in) / static_cast<float>(out);
  float offset = places.hasHalfPixels ? 0.5f : 0.0f;
  SmallVector<int64_t> nearest;
  for (int64_t i = 0; i < out; ++i) {
    float at = (static_cast<float>(i) + offset) * scale;
    at = places.alignsCorners ? std::round(at) : std::floor(at);
    nearest.push_back(std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1));
  }
  return nearest;
}

Value convertResizeNearest(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::ResizeNearestOptions>(fb::Options::ResizeNearest);
  if (!options)
    return {};
  Placement places = {options->align_corners(), options->half_pixel_centers()};
  auto sizes = readSizes(layer, places);
  if (!sizes || changesScale(layer))
    return {};
  Value x = layer.getInput(0);
  for (int64_t i = 0; i < 2; ++i) {
    SmallVector<int64_t> nearest =
        findNearest(getShape(x)[1 + i], (*sizes)[i], places);
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

static Places findPlaces(int64_t in, int64_t out, const Placement &places) {
  bool isAligned = places.alignsCorners && out > 1;
  float step =
      static_cast<float>(in - isAligned) / static_cast<float>(out - isAligned);
  Places result;
  for (int64_t i = 0; i < out; ++i) {
    auto at = static_cast<float>(i);
    at = places.hasHalfPixels ? (at + 0.5f) * step - 0.5f : at * step;
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
static Value resizeUnsigned(Layer &layer, Value x, ArrayRef<int64_t> sizes,
                            const Placement &places) {
  Type real = layer.getBuilder().getF32Type();
  Places rows = findPlaces(getShape(x)[1], sizes[0], places),
         columns = findPlaces(getShape(x)[2], sizes[1], places);
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
  Placement places = {options->align_corners(), options->half_pixel_centers()};
  auto sizes = readSizes(layer, places);
  if (!sizes || changesScale(layer))
    return {};
  Value x = layer.getInput(0);
  Builder &builder = layer.getBuilder();
  ArrayRef<int64_t> shape = getShape(x);
  if (getElement(x).isUnsignedInteger(8))
    return resizeUnsigned(layer, x, *sizes, places);
  if (!isa<FloatType>(getElement(x))) {
    SmallVector<int64_t> steps;
    for (size_t i = 0; i < 2; ++i) {
      bool isAligned = places.alignsCorners && (*sizes)[i] > 1;
      int64_t in = shape[1 + i] - isAligned, out = (*sizes)[i] - isAligned;
      steps.push_back((1024 * in + out / 2) / out);
    }
    return layer.create<nn::FixedResizeOp>(
        x, ArrayRef<int64_t>(*sizes), ArrayRef<int64_t>(steps),
        places.hasHalfPixels,
        layer.getRescale() == qnn::Rescale::single_rounding);
  }
  SmallVector<int64_t> result = {shape[0], shape[3], (*sizes)[0], (*sizes)[1]};
  SmallVector<double> scales;
  for (size_t i = 0; i < 2; ++i)
    scales.push_back(static_cast<double>((*sizes)[i]) /
                     static_cast<double>(shape[1 + i]));
  auto coordinates = places.alignsCorners ? nn::ResizeCoordinates::align_corners
                     : places.hasHalfPixels ? nn::ResizeCoordinates::half_pixel
                                            : nn::ResizeCoordinates::asymmetric;
  Value y = layer.createAs<nn::ResizeOp>(
      RankedTensorType::get(result, getElement(x)), nn::ResizeMode::linear,
      coordinates, nn::ResizeNearest::floor, toChannelsFirst(layer, x),
      ArrayRef<double>(scales), builder.getF64FloatAttr(-0.75).getValue(),
      /*exclude_outside=*/false);
  return toChannelsLast(layer, y);
}

} // namespace nnc::tflite
