//===- SlidingWindow.cpp - Sliding windows and their shape fields ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult nn::verifyWindow(std::optional<Location> location,
                               ArrayRef<int64_t> input, const Window &window,
                               size_t mostAxes) {
  if (input.size() < 3 || input.size() > mostAxes + 2)
    return emitOptionalError(location, "needs 1 to ", mostAxes,
                             " spatial axes, not ",
                             static_cast<int64_t>(input.size()) - 2);
  size_t spatial = input.size() - 2;
  if (window.kernel.size() != spatial || window.strides.size() != spatial ||
      window.dilations.size() != spatial || window.pads.size() != 2 * spatial)
    return emitOptionalError(location,
                             "needs kernel, strides and dilations of ", spatial,
                             " values and pads of ", 2 * spatial);
  auto atLeast = [](ArrayRef<int64_t> values, int64_t least) {
    return llvm::all_of(values, [&](int64_t v) { return v >= least; });
  };
  if (!atLeast(window.kernel, 1) || !atLeast(window.strides, 1) ||
      !atLeast(window.dilations, 1) || !atLeast(window.pads, 0))
    return emitOptionalError(location, "needs positive kernel, strides and "
                                       "dilations and no negative pads");
  return success();
}

int64_t nn::slideWindow(int64_t input, int64_t kernel, int64_t stride,
                        int64_t dilation, int64_t before, int64_t after,
                        bool ceilMode, bool mayExceed) {
  int64_t room = input + before + after - ((kernel - 1) * dilation + 1);
  // No window fits. The quotient is rounded towards zero, as in onnxruntime.
  if (room < 0)
    return mayExceed ? std::max<int64_t>(room / stride + 1, -1) : -1;
  int64_t steps = room / stride;
  // An additional window of ceil_mode must start inside the input or the left
  // padding.
  if (ceilMode && room % stride != 0 && (steps + 1) * stride < input + before)
    ++steps;
  return steps + 1;
}

void nn::addPair(ShapeFields &fields, StringRef height, StringRef width,
                 ArrayRef<int64_t> values, int64_t missing) {
  fields.add(height, values.size() > 1 ? values[values.size() - 2] : missing);
  fields.add(width, values.back());
}

ShapeFields nn::getImageFields(RankedTensorType x) {
  ShapeFields fields(x.getContext());
  fields.add("n", x.getDimSize(0)).add("c", x.getDimSize(1));
  addPair(fields, "h", "w", x.getShape().drop_front(2), 1);
  return fields;
}

void nn::addWindow(ShapeFields &fields, const Window &window) {
  addPair(fields, "kh", "kw", window.kernel, 1);
  addPair(fields, "sh", "sw", window.strides, 1);
  addPair(fields, "dh", "dw", window.dilations, 1);
  addPair(fields, "pt", "pl", window.pads.take_front(window.pads.size() / 2),
          0);
}

void nn::addOutput(ShapeFields &fields, RankedTensorType y) {
  addPair(fields, "oh", "ow", y.getShape().drop_front(2), 1);
}

AxisUse nn::getWindowUse(Operation *op, const Window &window, int64_t axis) {
  if (axis < 2)
    return AxisUse::samples(op, axis);
  AxisUse use = AxisUse::ofFirst(op, AxisKind::windows, axis);
  int64_t i = axis - 2;
  use.windows = {window.kernel[i], window.strides[i], window.dilations[i],
                 window.pads[i], window.pads[i + window.strides.size()]};
  return use;
}
