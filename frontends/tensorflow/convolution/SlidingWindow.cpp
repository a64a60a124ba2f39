//===- SlidingWindow.cpp - Sliding windows over images --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/convolution/SlidingWindow.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc::tensorflow;

/// The largest number in the attributes of a window. Products of larger ones
/// may not fit in 64 bits.
static constexpr int64_t kMaxNumber = 1 << 30;

bool nnc::tensorflow::isChannelsLast(Layer &layer) {
  return !layer.getText("data_format", "NHWC").starts_with("NC");
}

Value nnc::tensorflow::toImage(Layer &layer, Value x) {
  if (!x)
    return {};
  if (getRank(x) < 3 || getRank(x) > 5)
    return layer.broken("needs an image of 4 axes, or of 5 with a depth, not "
                        "one of shape " +
                        toString(getShape(x)));
  return isChannelsLast(layer) ? layer.toChannelsFirst(x) : x;
}

Value nnc::tensorflow::fromImage(Layer &layer, Value y) {
  return isChannelsLast(layer) ? layer.toChannelsLast(y) : y;
}

std::optional<Sizes> nnc::tensorflow::getSpatial(Layer &layer,
                                                 StringRef attribute,
                                                 ArrayRef<int64_t> values,
                                                 int64_t rank) {
  if (values.empty())
    return Sizes(rank - 2, 1);
  if (int64_t(values.size()) != rank) {
    layer.broken("has " + Twine(values.size()) + " " + attribute +
                 " for images of " + Twine(rank) + " axes");
    return std::nullopt;
  }
  int64_t channels = isChannelsLast(layer) ? rank - 1 : 1;
  Sizes spatial;
  for (auto [axis, value] : llvm::enumerate(values)) {
    if (value < 1 || value > kMaxNumber) {
      layer.broken("has " + attribute + " of " + Twine(value));
      return std::nullopt;
    }
    if (axis != 0 && int64_t(axis) != channels) {
      spatial.push_back(value);
    } else if (value != 1) {
      layer.unsupported("has " + attribute +
                        " along samples or channels, "
                        "which nnc does not handle");
      return std::nullopt;
    }
  }
  return spatial;
}

/// Sets the pads to those that the attribute `explicit_paddings` lists: two
/// numbers for each axis of the image.
static bool takePads(Layer &layer, Window &window) {
  Sizes given = layer.getInts("explicit_paddings");
  size_t axes = window.kernel.size(), first = isChannelsLast(layer) ? 1 : 2;
  if (given.size() != 2 * (axes + 2) || llvm::any_of(given, [](int64_t pad) {
        return pad < 0 || pad > kMaxNumber;
      })) {
    layer.broken("has explicit_paddings of " + toString(given));
    return false;
  }
  for (size_t i = 0; i < axes; ++i) {
    window.pads[i] = given[2 * (first + i)];
    window.pads[axes + i] = given[2 * (first + i) + 1];
  }
  return true;
}

std::optional<Window> nnc::tensorflow::readWindow(Layer &layer,
                                                  ArrayRef<int64_t> sizes,
                                                  ArrayRef<int64_t> kernel) {
  Window window;
  size_t axes = sizes.size();
  int64_t rank = int64_t(axes) + 2;
  auto strides = getSpatial(layer, "strides", layer.getInts("strides"), rank);
  auto dilations =
      getSpatial(layer, "dilations", layer.getInts("dilations"), rank);
  if (!strides || !dilations)
    return std::nullopt;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides = *strides;
  window.dilations = *dilations;
  window.pads.assign(2 * axes, 0);
  for (int64_t size : kernel)
    if (size < 1 || size > kMaxNumber) {
      layer.broken("has a window of " + toString(kernel));
      return std::nullopt;
    }
  StringRef padding = layer.getText("padding", "VALID");
  if (padding == "EXPLICIT") {
    if (!takePads(layer, window))
      return std::nullopt;
    return window;
  }
  if (padding != "SAME" && padding != "VALID") {
    layer.broken("has a padding of '" + padding + "'");
    return std::nullopt;
  }
  for (size_t i = 0; i < axes && padding == "SAME"; ++i) {
    int64_t outputs = llvm::divideCeil(sizes[i], window.strides[i]);
    int64_t extent = (kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total = std::max<int64_t>(
        (outputs - 1) * window.strides[i] + extent - sizes[i], 0);
    window.pads[i] = total / 2;
    window.pads[axes + i] = total - total / 2;
  }
  return window;
}
