//===- FusedLayers.h - One layer in the place of two ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_FUSEDLAYERS_H
#define NNC_COMPILER_PATTERNS_FUSEDLAYERS_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Builds, beside `first` and `second`, the layer that computes what both do,
/// with the name and the epilogue of `second`; null where the two have no such
/// form. `second` is the only reader of the result of `first`, as its operand
/// 0.
using FuseFunction = nn::LayerOp (*)(nn::LayerOp first, nn::LayerOp second);

/// A 1 x 1 convolution of stride 1 and the depthwise convolution that reads it
/// become nn.expanded_conv.
nn::LayerOp fuseExpanded(nn::LayerOp first, nn::LayerOp second);

/// A depthwise convolution and the 1 x 1 convolution of stride 1 that reads it
/// become nn.separable_conv.
nn::LayerOp fuseSeparable(nn::LayerOp first, nn::LayerOp second);

/// A layer that scales and shifts channels and the 1 x 1 convolution of stride
/// 1 that reads it become nn.scaled_conv.
nn::LayerOp fuseScaling(nn::LayerOp first, nn::LayerOp second);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_FUSEDLAYERS_H
