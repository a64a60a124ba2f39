//===- ResampleAxis.cpp - Resizing along one axis by known taps -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// nn.resize computes its taps at run time. Modes that it does not support
// become a filter with constant taps, or a gather of the nearest elements.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ResampleAxis.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

bool nnc::frontends::isCoordinateMode(StringRef name) {
  return name == "tf_crop_and_resize" || name == "tf_half_pixel_for_nn" ||
         nn::symbolizeResizeCoordinates(name);
}

/// Returns the coordinate of element `i` of the result on an axis of `from`
/// elements.
static double locate(const AxisSampling &how, int64_t from, int64_t i) {
  auto at = static_cast<double>(i), size = static_cast<double>(how.size),
       last = static_cast<double>(from - 1);
  if (how.coordinates == "asymmetric")
    return at / how.scale;
  if (how.coordinates == "align_corners")
    return how.size == 1 ? 0 : at * last / (size - 1);
  if (how.coordinates == "tf_half_pixel_for_nn")
    return (at + 0.5) / how.scale;
  if (how.coordinates == "tf_crop_and_resize")
    return how.size == 1
               ? 0.5 * (how.roiStart + how.roiEnd) * last
               : how.roiStart * last +
                     at * (how.roiEnd - how.roiStart) * last / (size - 1);
  double half = (at + 0.5) / how.scale - 0.5;
  if (how.coordinates == "pytorch_half_pixel" && how.size == 1)
    return -0.5;
  if (how.coordinates == "half_pixel_symmetric") {
    double all = how.scale * static_cast<double>(from);
    return half + static_cast<double>(from) / 2 * (1 - size / all);
  }
  return half;
}

static int64_t getNearest(nn::ResizeNearest nearest, double at) {
  switch (nearest) {
  case nn::ResizeNearest::round_prefer_floor:
    return static_cast<int64_t>(std::ceil(at - 0.5));
  case nn::ResizeNearest::round_prefer_ceil:
    return static_cast<int64_t>(std::floor(at + 0.5));
  case nn::ResizeNearest::floor:
    return static_cast<int64_t>(std::floor(at));
  case nn::ResizeNearest::ceil:
    return static_cast<int64_t>(std::ceil(at));
  }
  llvm_unreachable("unknown rounding");
}

/// Returns the weight of an element at this distance from the coordinate of a
/// result.
static double weigh(const AxisSampling &how, double distance) {
  double d = std::abs(distance), a = how.cubicA;
  if (how.mode == nn::ResizeMode::linear)
    return std::max(1 - d, 0.0);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

namespace {
/// The taps of all elements of a result, `width` taps each.
struct Taps {
  SmallVector<int64_t> starts;
  SmallVector<float> weights;
  int64_t width = 1;
};
} // namespace

static Taps makeTaps(const AxisSampling &how, int64_t from,
                     ArrayRef<double> places) {
  // If an axis shrinks, antialiasing widens the filter by the same factor.
  double narrow = how.antialias ? std::min(how.scale, 1.0) : 1.0;
  double reach = (how.mode == nn::ResizeMode::linear ? 1 : 2) / narrow;
  SmallVector<SmallVector<double>> rows;
  Taps taps;
  for (double at : places) {
    auto first = static_cast<int64_t>(std::ceil(at - reach)),
         last = static_cast<int64_t>(std::floor(at + reach));
    // Elements outside are clamped to the end or excluded.
    int64_t low = std::clamp<int64_t>(first, 0, from - 1),
            high = std::clamp<int64_t>(last, 0, from - 1);
    SmallVector<double> row(high - low + 1, 0.0);
    double sum = 0;
    for (int64_t i = first; i <= last; ++i) {
      int64_t inside = std::clamp<int64_t>(i, 0, from - 1);
      if (how.excludeOutside && inside != i)
        continue;
      double weight = weigh(how, (static_cast<double>(i) - at) * narrow);
      row[inside - low] += weight;
      sum += weight;
    }
    for (double &weight : row)
      weight /= sum;
    taps.width = std::max<int64_t>(taps.width, row.size());
    taps.starts.push_back(low);
    rows.push_back(row);
  }
  for (auto [row, start] : llvm::zip(rows, taps.starts)) {
    int64_t moved = std::max<int64_t>(start + taps.width - from, 0);
    start -= moved;
    taps.weights.append(moved, 0.0f);
    taps.weights.append(row.begin(), row.end());
    taps.weights.append(taps.width - moved - int64_t(row.size()), 0.0f);
  }
  return taps;
}

Value nnc::frontends::resampleAxis(LayerBuilder &layer, Value x, int64_t axis,
                                   const AxisSampling &how,
                                   SmallVectorImpl<bool> &isOutside) {
  int64_t from = getShape(x)[axis];
  // Indices, rows and table take about 16 floats per element.
  if (!layer.checkSize(RankedTensorType::get({how.size, 16},
                                             layer.getBuilder().getF32Type()),
                       /*isMade=*/true))
    return {};
  SmallVector<double> places;
  for (int64_t i = 0; i < how.size; ++i) {
    double at = locate(how, from, i);
    bool isBeyond = how.coordinates == "tf_crop_and_resize" &&
                    (at < 0 || at > static_cast<double>(from - 1));
    isOutside.push_back(isBeyond);
    places.push_back(std::clamp(at, -4.0, static_cast<double>(from) + 4));
  }
  if (how.mode == nn::ResizeMode::nearest) {
    SmallVector<int64_t> picked;
    for (double at : places)
      picked.push_back(
          std::clamp<int64_t>(getNearest(how.nearest, at), 0, from - 1));
    return layer.create<nn::GatherOp>(x, layer.constant(picked), axis);
  }
  Type element = getElement(x);
  Type real =
      isa<FloatType>(element) ? element : Type(layer.getBuilder().getF32Type());
  Taps taps = makeTaps(how, from, places);
  auto type = RankedTensorType::get({how.size, taps.width},
                                    layer.getBuilder().getF32Type());
  if (!layer.checkSize(type, /*isMade=*/true))
    return {};
  Value weights = layer.constant(
      DenseElementsAttr::get(type, ArrayRef<float>(taps.weights)));
  Value y = layer.create<nn::FilterOp>(layer.castTo(x, real),
                                       layer.constant(taps.starts),
                                       layer.castTo(weights, real), axis);
  return layer.castTo(y, element);
}
