//===- FusedLayers.h - One layer in the place of two ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_FUSEDLAYERS_H
#define NNC_COMPILER_PATTERNS_FUSEDLAYERS_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// A function that builds the single layer that computes both `first` and
/// `second`, with the name and the epilogue of `second`. It leaves the two
/// layers in place and returns null if they cannot be fused. `second` must be
/// the only reader of the result of `first`, which is its operand 0.
using FuseFunction = nn::LayerOp (*)(nn::LayerOp first, nn::LayerOp second);

/// Fuses a 1 x 1 convolution of stride 1 and the depthwise convolution that
/// reads it into nn.expanded_conv.
nn::LayerOp fuseExpanded(nn::LayerOp first, nn::LayerOp second);

/// Fuses a depthwise convolution and the 1 x 1 convolution of stride 1 that
/// reads it into nn.separable_conv.
nn::LayerOp fuseSeparable(nn::LayerOp first, nn::LayerOp second);

/// Fuses a layer that scales and shifts channels and the 1 x 1 convolution of
/// stride 1 that reads it into nn.scaled_conv.
nn::LayerOp fuseScaling(nn::LayerOp first, nn::LayerOp second);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_FUSEDLAYERS_H
