//===- DeformConv.h - Convolutions whose taps are moved -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_DEFORMCONV_H
#define NNC_FRONTENDS_COMMON_DEFORMCONV_H

#include "frontends/common/Window.h"

namespace nnc::frontends {

/// A convolution that samples its image at taps which offsets move, and which a
/// mask may weigh.
struct DeformConv {
  mlir::Value x;       ///< batch x channels x 2 or 3 spatial axes
  mlir::Value w;       ///< filters x channels of a group x kernel
  mlir::Value offsets; ///< batch x (parts, taps, spatial axes) x windows
  mlir::Value bias;    ///< one number for each filter, or null
  mlir::Value mask;    ///< batch x (parts, taps) x windows, or null
  Window window;
  int64_t groups = 1; ///< groups of filters
  int64_t parts = 1;  ///< parts of the channels, each with its own offsets
  /// Taps within the image are between its edges at most, and taps outside of
  /// it are 0, instead of a transition from the edge to 0.
  bool hasSharpEdges = false;
};

/// Returns the result of a convolution; null after an error.
mlir::Value convolveDeformed(LayerBuilder &layer, const DeformConv &conv);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_DEFORMCONV_H
