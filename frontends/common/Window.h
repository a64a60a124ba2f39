//===- Window.h - Sliding windows of convolutions and pools ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_WINDOW_H
#define NNC_FRONTENDS_COMMON_WINDOW_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// A sliding window: for each spatial axis the kernel, the stride and the
/// dilation, and the pads, those of all begins, then those of all ends.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  /// The pads give an output of ceil(input / stride) elements.
  bool isSamePadded = false;

  size_t getAxes() const { return kernel.size(); }
  /// Returns the number of elements from the first to the last tap of the
  /// dilated kernel along an axis.
  int64_t getExtent(size_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
  /// Returns the window along `count` axes from `first` on.
  Window slice(size_t first, size_t count) const;
  /// Appends an axis along which the kernel has size 1.
  void append();
};

/// Splits a total padding of `total` elements along `axis` between both ends.
/// An odd element goes to the front if `moreBefore` is set.
void splitPadding(Window &window, size_t axis, int64_t total, bool moreBefore);

/// Computes a pool over any number of axes as a pool along the last two axes,
/// then along the others. `pool` computes a pool over at most two axes.
mlir::Value
poolAxes(LayerBuilder &layer, mlir::Value x, const Window &window,
         llvm::function_ref<mlir::Value(mlir::Value, const Window &)> pool);

/// Returns the sums over windows, by a depthwise convolution with ones. Windows
/// that `ceil` adds extend into further padding.
mlir::Value addWindows(LayerBuilder &layer, mlir::Value x, Window window,
                       bool ceil);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_WINDOW_H
