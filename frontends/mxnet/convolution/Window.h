//===- Window.h - Windows that slide over spatial axes ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_CONVOLUTION_WINDOW_H
#define NNC_FRONTENDS_MXNET_CONVOLUTION_WINDOW_H

#include "frontends/common/Window.h"
#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Reads the attributes kernel, stride, dilate and pad of a node whose input
/// `x` has its spatial axes last. Returns nullopt after an error.
std::optional<Window> readWindow(Layer &layer, mlir::Value x);

/// The order of the axes that the attribute `layout` states.
struct AxisOrder {
  bool isChannelsLast = false;

  /// Returns `x` with its channels behind the batch.
  mlir::Value enter(Layer &layer, mlir::Value x) const;
  /// Returns a result with its channels where the layout has them.
  mlir::Value leave(Layer &layer, mlir::Value x) const;
};

/// Reads the attribute `layout` of a node whose input has `rank` axes. Returns
/// nullopt after an error.
std::optional<AxisOrder> readLayout(Layer &layer, int64_t rank);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_CONVOLUTION_WINDOW_H
