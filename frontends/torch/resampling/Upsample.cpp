//===- Upsample.cpp - Images of other sizes ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ResampleAxis.h"
#include "frontends/torch/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// The input of a resize, batch x channels x spatial axes, and for each of
/// these the size of the result and, where the program gives it, the scale.
struct Upsample {
  Value x;
  SmallVector<int64_t> sizes;
  SmallVector<std::optional<double>> scales;

  int64_t getInput(size_t axis) const { return getShape(x)[2 + axis]; }
  /// Returns the ratio of the sizes of result and input that coordinates follow
  /// from.
  double getScale(size_t axis) const {
    return scales[axis].value_or(static_cast<double>(sizes[axis]) /
                                 static_cast<double>(getInput(axis)));
  }
};

} // namespace

/// Reads the sizes and the scales, which one overload has in lists and another
/// one by axis.
static std::optional<Upsample> read(Node &node) {
  Upsample result;
  result.x = node.getTensor(node.has("input") ? "input" : "self");
  if (!result.x)
    return std::nullopt;
  int64_t axes = getRank(result.x) - 2;
  if (axes < 1 || axes > 3) {
    node.broken("resizes a tensor of shape " + toString(getShape(result.x)));
    return std::nullopt;
  }
  result.sizes = node.getInts("output_size");
  result.scales.assign(axes, std::nullopt);
  SmallVector<double> factors = node.getFloats("scale_factors");
  if (!factors.empty() && static_cast<int64_t>(factors.size()) == axes)
    result.scales.assign(factors.begin(), factors.end());
  StringRef names[] = {"scales_d", "scales_h", "scales_w"};
  for (int64_t i = 0; i < axes; ++i) {
    StringRef name = axes == 1 ? "scales" : names[3 - axes + i];
    if (node.has(name))
      result.scales[i] = node.getFloat(name);
  }
  if (result.sizes.empty() && !factors.empty())
    for (int64_t i = 0; i < axes; ++i)
      result.sizes.push_back(static_cast<int64_t>(
          std::clamp<double>(static_cast<double>(result.getInput(i)) *
                                 result.scales[i].value_or(0),
                             0, INT32_MAX)));
  bool fits = static_cast<int64_t>(result.sizes.size()) == axes;
  for (int64_t i = 0; fits && i < axes; ++i)
    fits = result.sizes[i] >= 1 && result.sizes[i] <= INT32_MAX &&
           result.getInput(i) >= 1 && result.getScale(i) > 0 &&
           result.getScale(i) < INT32_MAX;
  if (fits)
    return result;
  node.broken("resizes a tensor of shape " + toString(getShape(result.x)) +
              " to the sizes " + toString(ArrayRef(result.sizes)));
  return std::nullopt;
}

/// Resizes the last two axes of a tensor, the first of which may be one that
/// stays the same.
static Value resizePlane(Node &node, Value x, nn::ResizeMode mode,
                         nn::ResizeCoordinates coordinates,
                         nn::ResizeNearest nearest, ArrayRef<int64_t> sizes,
                         ArrayRef<double> scales) {
  if (!x)
    return {};
  SmallVector<int64_t> shape(getShape(x).take_front(2));
  llvm::append_range(shape, sizes);
  return node.createAs<nn::ResizeOp>(
      RankedTensorType::get(shape, getElement(x)), mode, coordinates, nearest,
      x, scales, APFloat(-0.75), /*exclude_outside=*/false);
}

/// Resizes all spatial axes: the last two together and the first of three
/// apart.
static Value resize(Node &node, const Upsample &how, nn::ResizeMode mode,
                    nn::ResizeCoordinates coordinates,
                    nn::ResizeNearest nearest) {
  SmallVector<int64_t> shape(getShape(how.x));
  size_t axes = how.sizes.size();
  // The ratio of two sizes may differ from size to size if these vary.
  const bool isSample = node.getImporter().getOptions().isSample;
  SmallVector<double> scales;
  for (size_t i = 0; i < axes; ++i)
    scales.push_back(isSample ? how.scales[i].value_or(0) : how.getScale(i));
  auto plane = [&](Value x, ArrayRef<int64_t> sizes, ArrayRef<double> ratios) {
    return resizePlane(node, x, mode, coordinates, nearest, sizes, ratios);
  };
  if (axes == 2)
    return plane(how.x, how.sizes, scales);
  if (axes == 1) {
    Value y = plane(node.reshape(how.x, {shape[0], shape[1], 1, shape[2]}),
                    {1, how.sizes[0]}, {1, scales[0]});
    return node.reshape(y, {shape[0], shape[1], how.sizes[0]});
  }
  Value y = plane(
      node.reshape(how.x, {shape[0], shape[1] * shape[2], shape[3], shape[4]}),
      ArrayRef(how.sizes).drop_front(), ArrayRef(scales).drop_front());
  int64_t pixels = how.sizes[1] * how.sizes[2];
  y = plane(node.reshape(y, {shape[0], shape[1], shape[2], pixels}),
            {how.sizes[0], pixels}, {scales[0], 1});
  return node.reshape(
      y, {shape[0], shape[1], how.sizes[0], how.sizes[1], how.sizes[2]});
}

/// Resizes to the nearest elements. Where a size is no multiple of the input's,
/// they are gathered, since PyTorch rounds in float32.
static Value resizeNearest(Node &node, bool isExact) {
  auto how = read(node);
  if (!how)
    return {};
  auto isMultiple = [&](size_t i) {
    double ratio = how->getScale(i);
    return ratio == std::floor(ratio) &&
           ratio * static_cast<double>(how->getInput(i)) ==
               static_cast<double>(how->sizes[i]);
  };
  // The ratio of two sizes may be whole at some sizes only if these vary.
  const bool isSample = node.getImporter().getOptions().isSample;
  bool isEven = true, isRatio = isSample && !isExact;
  for (size_t i = 0; i < how->sizes.size(); ++i) {
    isEven &= isMultiple(i);
    isRatio &= !how->scales[i];
  }
  if (isEven || isRatio)
    return resize(node, *how, nn::ResizeMode::nearest,
                  nn::ResizeCoordinates::asymmetric, nn::ResizeNearest::floor);
  Value y = how->x;
  for (size_t i = 0; i < how->sizes.size(); ++i) {
    auto type =
        RankedTensorType::get({how->sizes[i]}, node.getBuilder().getI64Type());
    if (!node.checkSize(type, /*isMade=*/true))
      return {};
    float step = how->scales[i] ? 1.0f / static_cast<float>(*how->scales[i])
                                : static_cast<float>(how->getInput(i)) /
                                      static_cast<float>(how->sizes[i]);
    SmallVector<int64_t> picked;
    for (int64_t at = 0; at < how->sizes[i]; ++at) {
      float place = (static_cast<float>(at) + (isExact ? 0.5f : 0.0f)) * step;
      picked.push_back(std::min(static_cast<int64_t>(std::floor(place)),
                                how->getInput(i) - 1));
    }
    if (!llvm::equal(picked, iota(how->getInput(i))))
      y = node.create<nn::GatherOp>(y, node.constant(picked),
                                    static_cast<int64_t>(2 + i));
  }
  return y;
}

Value convertUpsampleNearest(Node &node) {
  return resizeNearest(node, /*isExact=*/false);
}
Value convertUpsampleNearestExact(Node &node) {
  return resizeNearest(node, /*isExact=*/true);
}

static Value interpolate(Node &node, nn::ResizeMode mode) {
  auto how = read(node);
  if (!how)
    return {};
  bool aligns = node.getBool("align_corners");
  return resize(node, *how, mode,
                aligns ? nn::ResizeCoordinates::align_corners
                       : nn::ResizeCoordinates::half_pixel,
                nn::ResizeNearest::floor);
}
Value convertUpsampleLinear(Node &node) {
  return interpolate(node, nn::ResizeMode::linear);
}
Value convertUpsampleCubic(Node &node) {
  return interpolate(node, nn::ResizeMode::cubic);
}

/// Resizes with filters that widen where an axis shrinks. Their cubic has
/// another coefficient than that of plain resizes.
static Value interpolateSmoothly(Node &node, nn::ResizeMode mode) {
  auto how = read(node);
  if (!how)
    return {};
  bool aligns = node.getBool("align_corners");
  Value y = how->x;
  for (size_t i = 0; i < how->sizes.size() && y; ++i) {
    if (how->sizes[i] == how->getInput(i) && how->getScale(i) == 1)
      continue;
    double scale = how->getScale(i);
    if (aligns && how->sizes[i] > 1 && how->getInput(i) > 1)
      scale = static_cast<double>(how->sizes[i] - 1) /
              static_cast<double>(how->getInput(i) - 1);
    AxisSampling sampling{mode,
                          nn::ResizeNearest::floor,
                          "half_pixel",
                          how->sizes[i],
                          scale,
                          /*roiStart=*/0,
                          /*roiEnd=*/1,
                          /*cubicA=*/-0.5,
                          /*antialias=*/true,
                          /*excludeOutside=*/true};
    SmallVector<bool> isOutside;
    y = resampleAxis(node, y, static_cast<int64_t>(2 + i), sampling, isOutside);
  }
  return y;
}
Value convertSmoothLinear(Node &node) {
  return interpolateSmoothly(node, nn::ResizeMode::linear);
}
Value convertSmoothCubic(Node &node) {
  return interpolateSmoothly(node, nn::ResizeMode::cubic);
}

} // namespace nnc::torch
