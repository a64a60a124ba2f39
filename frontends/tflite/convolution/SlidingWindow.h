//===- SlidingWindow.h - Sliding windows over NHWC images -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_CONVOLUTION_SLIDINGWINDOW_H
#define NNC_FRONTENDS_TFLITE_CONVOLUTION_SLIDINGWINDOW_H

#include "frontends/tflite/qnn/Quantized.h"

namespace nnc::tflite {

/// A sliding window over two axes, height and width. `pads` has the padding in
/// front of both axes, then the padding behind them.
struct Window {
  llvm::SmallVector<int64_t, 2> kernel, strides, dilations;
  llvm::SmallVector<int64_t, 4> pads = {0, 0, 0, 0};
};

/// Checks that strides and dilations are positive and that `x` is an NHWC image
/// with four axes, and sets the pads of `window` for TFLite's `padding` (SAME
/// or VALID). Returns false, after an error, if a check fails.
bool fitWindow(Layer &layer, mlir::Value x, fb::Padding padding,
               Window &window);

/// Changes the order of the axes of an image from NHWC to NCHW, or back.
mlir::Value toChannelsFirst(Layer &layer, mlir::Value x);
mlir::Value toChannelsLast(Layer &layer, mlir::Value x);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_CONVOLUTION_SLIDINGWINDOW_H
