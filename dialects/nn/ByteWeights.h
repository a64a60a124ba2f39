//===- ByteWeights.h - Floats that are integers of 8 bits -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_BYTEWEIGHTS_H
#define NNC_DIALECTS_NN_BYTEWEIGHTS_H

#include "llvm/ADT/StringRef.h"

namespace nnc::nn {

/// Attribute of a convolution of floats whose constant weights are whole
/// numbers, the integers of 8 bits that the model has less their zero point.
/// Results are multiplied by the scale of the integers, which is no part of the
/// weights, so that these can be stored in a byte each.
inline constexpr llvm::StringLiteral kByteWeightsAttr = "nn.byte_weights";

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_BYTEWEIGHTS_H
