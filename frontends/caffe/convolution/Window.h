//===- Window.h - Windows that slide over images ----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_CONVOLUTION_WINDOW_H
#define NNC_FRONTENDS_CAFFE_CONVOLUTION_WINDOW_H

#include "frontends/caffe/graph/Layer.h"

namespace nnc::caffe {

/// A window that slides along spatial axes. `pads` hold those in front of each
/// axis, then those behind.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;

  /// Returns the number of elements along an axis from the window's first tap
  /// to its last.
  int64_t getExtent(size_t axis) const {
    return dilations[axis] * (kernel[axis] - 1) + 1;
  }
};

/// Returns the window of a convolution along `axes` axes; nullopt after an
/// error if its parameters make no sense.
std::optional<Window> readWindow(Layer &layer,
                                 const schema::ConvolutionParameter &param,
                                 size_t axes);

/// Returns the window of a pool over planes of `shape`, two sizes.
std::optional<Window> readWindow(Layer &layer,
                                 const schema::PoolingParameter &param,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_CONVOLUTION_WINDOW_H
