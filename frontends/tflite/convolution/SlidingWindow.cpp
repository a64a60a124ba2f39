//===- SlidingWindow.cpp - Sliding windows over NHWC images ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc::tflite;

/// The largest number in the options of a window. Products of larger ones may
/// not fit in 64 bits.
static constexpr int64_t kMaxNumber = 1 << 30;

bool nnc::tflite::fitWindow(Layer &layer, Value x, fb::Padding padding,
                            Window &window) {
  if (!x)
    return false;
  if (getRank(x) != 4) {
    layer.broken("needs an image of 4 axes, not one of shape " +
                 toString(getShape(x)));
    return false;
  }
  for (ArrayRef<int64_t> numbers :
       {ArrayRef<int64_t>(window.kernel), ArrayRef<int64_t>(window.strides),
        ArrayRef<int64_t>(window.dilations)})
    for (int64_t number : numbers)
      if (number < 1 || number > kMaxNumber) {
        layer.broken("has a window, stride or dilation of " + Twine(number));
        return false;
      }
  if (padding != fb::Padding::SAME)
    return true;
  for (size_t i = 0; i < 2; ++i) {
    int64_t size = getShape(x)[1 + i];
    int64_t outputs = llvm::divideCeil(size, window.strides[i]);
    int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total =
        std::max<int64_t>((outputs - 1) * window.strides[i] + extent - size, 0);
    window.pads[i] = total / 2;
    window.pads[2 + i] = total - total / 2;
  }
  return true;
}

Value nnc::tflite::toChannelsFirst(Layer &layer, Value x) {
  return layer.transpose(x, {0, 3, 1, 2});
}

Value nnc::tflite::toChannelsLast(Layer &layer, Value x) {
  return layer.transpose(x, {0, 2, 3, 1});
}
