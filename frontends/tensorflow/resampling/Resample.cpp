//===- Resample.cpp - Images resampled by filters ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// The elements of an axis from which one element of a result is computed.
struct Taps {
  int64_t start = 0;
  SmallVector<float> weights;
};
} // namespace

/// The largest number of taps of all elements along an axis.
static constexpr int64_t kMaxTaps = 1 << 24;

/// Returns `x` with axis `axis` replaced by weighted sums of its elements.
static Value filterAxis(Layer &layer, Value x, int64_t axis,
                        ArrayRef<Taps> all) {
  if (!x)
    return {};
  int64_t from = getShape(x)[axis], width = 1;
  for (const Taps &taps : all)
    width = std::max<int64_t>(width, taps.weights.size());
  Sizes starts;
  SmallVector<float> weights;
  for (const Taps &taps : all) {
    // All taps have to lie in x.
    int64_t moved = std::max<int64_t>(taps.start + width - from, 0);
    starts.push_back(taps.start - moved);
    weights.append(moved, 0.0f);
    llvm::append_range(weights, taps.weights);
    weights.append(width - moved - int64_t(taps.weights.size()), 0.0f);
  }
  Value matrix = layer.constant(DenseElementsAttr::get(
      RankedTensorType::get({int64_t(all.size()), width},
                            layer.getBuilder().getF32Type()),
      ArrayRef<float>(weights)));
  return layer.create<nn::FilterOp>(x, layer.constant(starts), matrix, axis);
}

/// Reads the height and width in input 1 for the image `x` of 4 axes; nullopt
/// after an error.
static std::optional<Sizes> readImageSizes(Layer &layer, Value x) {
  auto sizes = layer.readInts(layer.getInput(1), "sizes");
  if (!x || !sizes)
    return std::nullopt;
  auto isWrong = [](int64_t size) { return size < 1 || size > 1 << 16; };
  if (getRank(x) == 4 && getNumElements(x) > 0 && sizes->size() == 2 &&
      llvm::none_of(*sizes, isWrong) && !isWrong(getShape(x)[1]) &&
      !isWrong(getShape(x)[2]))
    return sizes;
  layer.broken("resizes an image of shape " + toString(getShape(x)) + " to " +
               toString(*sizes) + "; needs 4 axes and sizes from 1 to 65536");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// ScaleAndTranslate
//===----------------------------------------------------------------------===//

namespace {
/// A filter of images: its reach and its weight at a distance.
struct Kernel {
  float radius;
  float (*weigh)(float distance);
};
} // namespace

static float weighLanczos(float x, float radius) {
  x = std::abs(x);
  if (x > radius)
    return 0;
  if (x <= 1e-3f)
    return 1;
  auto pi = static_cast<float>(M_PI);
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) /
         (pi * pi * x * x);
}

static std::optional<Kernel> findKernel(StringRef name) {
  if (name == "lanczos1")
    return Kernel{1, [](float x) { return weighLanczos(x, 1); }};
  if (name == "lanczos3")
    return Kernel{3, [](float x) { return weighLanczos(x, 3); }};
  if (name == "lanczos5")
    return Kernel{5, [](float x) { return weighLanczos(x, 5); }};
  if (name == "gaussian")
    return Kernel{1.5f, [](float x) {
                    x = std::abs(x);
                    return x >= 1.5f ? 0.0f
                                     : std::exp(-x * x / (2 * 0.5f * 0.5f));
                  }};
  if (name == "box")
    return Kernel{1, [](float x) {
                    x = std::abs(x);
                    return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f;
                  }};
  if (name == "triangle")
    return Kernel{1, [](float x) { return std::max(1 - std::abs(x), 0.0f); }};
  if (name == "keyscubic")
    return Kernel{2, [](float x) {
                    x = std::abs(x);
                    if (x >= 2)
                      return 0.0f;
                    return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2
                                  : ((1.5f * x - 2.5f) * x) * x + 1;
                  }};
  if (name == "mitchellcubic")
    return Kernel{2, [](float x) {
                    x = std::abs(x);
                    if (x >= 2)
                      return 0.0f;
                    if (x >= 1)
                      return ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x +
                             16.0f / 9;
                    return ((7.0f / 6 * x - 2) * x) * x + 8.0f / 9;
                  }};
  return std::nullopt;
}

/// Returns the taps of a result of `size` elements of an axis of `from`
/// elements, as TensorFlow computes them in f32.
static SmallVector<Taps> makeKernelTaps(const Kernel &kernel, int64_t from,
                                        int64_t size, float scale,
                                        float translation, bool antialias) {
  float inverse = 1.0f / scale, moved = -inverse * translation;
  float wide = antialias ? std::max(inverse, 1.0f) : 1.0f;
  SmallVector<Taps> all;
  for (int64_t i = 0; i < size; ++i) {
    Taps taps;
    float at = (static_cast<float>(i) + 0.5f) * inverse + moved;
    if (!(at >= 0) || at > static_cast<float>(from)) {
      taps.weights.push_back(0); // outside of the image
      all.push_back(taps);
      continue;
    }
    float reach = kernel.radius * wide;
    auto clamp = [&](float place) {
      return std::clamp<int64_t>(static_cast<int64_t>(place), 0, from - 1);
    };
    taps.start = clamp(std::ceil(at - reach - 0.5f));
    int64_t end = clamp(std::floor(at + reach - 0.5f));
    float sum = 0;
    for (int64_t j = taps.start; j <= end; ++j) {
      taps.weights.push_back(
          kernel.weigh((static_cast<float>(j) + 0.5f - at) / wide));
      sum += taps.weights.back();
    }
    if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min())
      for (float &weight : taps.weights)
        weight /= sum;
    all.push_back(taps);
  }
  return all;
}

/// Converts ScaleAndTranslate, which tf.image.resize uses with antialiasing and
/// for the filters of Lanczos.
Value convertScaleAndTranslate(Layer &layer) {
  Value x = layer.getInput(0);
  auto sizes = readImageSizes(layer, x);
  auto scales = layer.readReals(layer.getInput(2), "scales"),
       moves = layer.readReals(layer.getInput(3), "translations");
  if (!sizes || !scales || !moves)
    return {};
  StringRef name = layer.getText("kernel_type", "lanczos3");
  auto kernel = findKernel(name);
  if (!kernel)
    return layer.broken("has a kernel '" + name + "'");
  if (scales->size() != 2 || moves->size() != 2 || !((*scales)[0] > 1e-6) ||
      !((*scales)[1] > 1e-6) || !std::isfinite((*moves)[0]) ||
      !std::isfinite((*moves)[1]))
    return layer.broken("needs two scales above 0 and two translations");
  bool antialias = layer.getBool("antialias", true);
  Value y =
      layer.castTo(layer.toChannelsFirst(x), layer.getBuilder().getF32Type());
  for (size_t i = 0; i < 2; ++i) {
    int64_t from = getShape(x)[1 + i];
    double reach = std::max(1 / (*scales)[i], 1.0) * kernel->radius;
    if (double((*sizes)[i]) * std::min(2 * reach + 2, double(from)) > kMaxTaps)
      return layer.fail(ImportStatus::limit,
                        "needs more than 16777216 numbers of a filter");
    y = filterAxis(layer, y, 2 + int64_t(i),
                   makeKernelTaps(*kernel, from, (*sizes)[i],
                                  float((*scales)[i]), float((*moves)[i]),
                                  antialias));
  }
  return layer.toChannelsLast(y);
}

//===----------------------------------------------------------------------===//
// ResizeBicubic
//===----------------------------------------------------------------------===//

/// Returns the weights of the four pixels around a place behind the second one
/// by `part`, which TensorFlow rounds to a multiple of 1/1024.
static std::array<float, 4> weighCubic(float part, bool isOfKeys) {
  float a = isOfKeys ? -0.5f : -0.75f;
  auto inner = [&](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto outer = [&](float x) {
    x += 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  };
  float rounded = static_cast<float>(std::lrint(part * 1024)) / 1024;
  return {outer(rounded), inner(rounded), inner(1 - rounded),
          outer(1 - rounded)};
}

/// Converts ResizeBicubic. With half pixels it uses the filter of Keys and
/// leaves out pixels beyond the border; otherwise it repeats those at the
/// border.
Value convertResizeBicubic(Layer &layer) {
  Value x = layer.getInput(0);
  auto sizes = readImageSizes(layer, x);
  if (!sizes)
    return {};
  bool isOfKeys = layer.getBool("half_pixel_centers"),
       alignsCorners = layer.getBool("align_corners");
  if (isOfKeys && alignsCorners)
    return layer.broken("has both aligned corners and half pixels");
  Value y =
      layer.castTo(layer.toChannelsFirst(x), layer.getBuilder().getF32Type());
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t from = getShape(x)[1 + axis], size = (*sizes)[axis];
    float scale = alignsCorners && size > 1 ? float(from - 1) / float(size - 1)
                                            : float(from) / float(size);
    SmallVector<Taps> all;
    for (int64_t i = 0; i < size; ++i) {
      float at = isOfKeys ? (float(i) + 0.5f) * scale - 0.5f : float(i) * scale;
      auto second = int64_t(std::floor(at));
      auto weights = weighCubic(at - float(second), isOfKeys);
      Taps taps;
      taps.start = std::clamp<int64_t>(second - 1, 0, from - 1);
      float sum = 0;
      for (int64_t j = 0; j < 4; ++j) {
        int64_t place = second - 1 + j,
                inside = std::clamp<int64_t>(place, 0, from - 1);
        if (isOfKeys && inside != place)
          continue;
        auto index = size_t(inside - taps.start);
        if (taps.weights.size() <= index)
          taps.weights.resize(index + 1, 0.0f);
        taps.weights[index] += weights[j];
        sum += weights[j];
      }
      for (float &weight : taps.weights)
        if (isOfKeys)
          weight /= sum;
      all.push_back(taps);
    }
    y = filterAxis(layer, y, 2 + int64_t(axis), all);
  }
  return layer.toChannelsLast(y);
}

//===----------------------------------------------------------------------===//
// ResizeArea
//===----------------------------------------------------------------------===//

/// Converts ResizeArea: each pixel is the mean of the area that it covers.
Value convertResizeArea(Layer &layer) {
  Value x = layer.getInput(0);
  auto sizes = readImageSizes(layer, x);
  if (!sizes)
    return {};
  Value y =
      layer.castTo(layer.toChannelsFirst(x), layer.getBuilder().getF32Type());
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t from = getShape(x)[1 + axis], size = (*sizes)[axis];
    float scale = layer.getBool("align_corners") && size > 1
                      ? float(from - 1) / float(size - 1)
                      : float(from) / float(size);
    SmallVector<Taps> all;
    for (int64_t i = 0; i < size; ++i) {
      float begin = float(i) * scale, end = float(i + 1) * scale;
      auto first = int64_t(std::floor(begin)), last = int64_t(std::ceil(end));
      Taps taps;
      taps.start = std::clamp<int64_t>(first, 0, from - 1);
      for (int64_t j = first; j < last; ++j) {
        float part = std::min(float(j + 1), end) - std::max(float(j), begin);
        auto place = size_t(std::clamp<int64_t>(j, 0, from - 1) - taps.start);
        if (taps.weights.size() <= place)
          taps.weights.resize(place + 1, 0.0f);
        taps.weights[place] += part / scale;
      }
      if (taps.weights.empty())
        taps.weights.push_back(0);
      all.push_back(taps);
    }
    y = filterAxis(layer, y, 2 + int64_t(axis), all);
  }
  return layer.toChannelsLast(y);
}

} // namespace nnc::tensorflow
