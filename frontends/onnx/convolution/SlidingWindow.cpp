//===- SlidingWindow.cpp - Sliding windows of convolutions and pools ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// The largest number in an attribute of a window. Products of larger ones may
/// not fit in 64 bits.
static constexpr int64_t kMaxNumber = 1 << 30;

bool nnc::onnx::checkSpatial(Node &node, Value x) {
  int64_t axes = getRank(x) - 2;
  if (axes >= 1 && axes <= 3)
    return true;
  if (axes < 1)
    node.broken("needs an input with spatial axes, not one of shape " +
                toString(getShape(x)));
  else
    node.unsupported("works along " + Twine(axes) +
                     " spatial axes; nnc handles 1 to 3");
  return false;
}

std::optional<Window> nnc::onnx::readWindow(Node &node,
                                            ArrayRef<int64_t> kernel) {
  size_t axes = kernel.size();
  Window window;
  window.kernel = llvm::to_vector(kernel);
  auto read = [&](StringRef name, size_t count, int64_t missing, int64_t least,
                  SmallVector<int64_t> &list) {
    list = node.getInts(name).value_or(SmallVector<int64_t>());
    if (list.empty())
      list.assign(count, missing);
    if (list.size() != count) {
      node.broken("has " + Twine(list.size()) + " values in '" + name +
                  "' instead of " + Twine(count));
      return false;
    }
    for (int64_t value : list)
      if (value < least || value > kMaxNumber) {
        node.broken("has " + Twine(value) + " in '" + name + "'");
        return false;
      }
    return true;
  };
  for (int64_t size : kernel)
    if (size < 1 || size > kMaxNumber) {
      node.broken("has a kernel of size " + toString(kernel));
      return std::nullopt;
    }
  if (!read("strides", axes, 1, 1, window.strides) ||
      !read("dilations", axes, 1, 1, window.dilations) ||
      !read("pads", 2 * axes, 0, 0, window.pads))
    return std::nullopt;
  return window;
}

bool nnc::onnx::applyAutoPad(Node &node, ArrayRef<int64_t> input,
                             Window &window) {
  StringRef mode = node.getString("auto_pad");
  if (mode.empty() || mode == "NOTSET")
    return true;
  window.pads.assign(2 * window.getAxes(), 0);
  if (mode == "VALID")
    return true;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    node.broken("has auto_pad '" + mode + "', which ONNX does not know");
    return false;
  }
  for (size_t i = 0; i < window.getAxes(); ++i) {
    int64_t output = llvm::divideCeil(input[i], window.strides[i]);
    int64_t total =
        (output - 1) * window.strides[i] + window.getExtent(i) - input[i];
    splitPadding(window, i, std::max<int64_t>(total, 0), mode == "SAME_LOWER");
  }
  window.isSamePadded = true;
  return true;
}
