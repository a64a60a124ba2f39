//===- ByteWeights.h - Floats that are integers of 8 bits -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_BYTEWEIGHTS_H
#define NNC_DIALECTS_NN_BYTEWEIGHTS_H

#include "llvm/ADT/StringRef.h"

namespace nnc::nn {

/// Attribute of a convolution or matrix product of floats whose constant
/// weights, its second operand, have at most 256 values: those of integers of 8
/// bits that the model has, less their zero point or times their only scale.
/// They can be stored in a byte each.
inline constexpr llvm::StringLiteral kByteWeightsAttr = "nn.byte_weights";

/// Attribute of a layer's anchor with kByteWeightsAttr whose weights became
/// floats, since decoding them took more RAM than the model needs otherwise.
inline constexpr llvm::StringLiteral kBytesNeedRamAttr = "nn.bytes_need_ram";

/// Attribute of a module: the number of dequantized constants of 8 bits that
/// become floats, since what reads them is no convolution or matrix product
/// with weights, or they have several scales along an axis of its sums.
inline constexpr llvm::StringLiteral kFloatConstantsAttr = "nn.float_constants";

/// Attribute of a module: an array of the number of the model's constants of
/// 16-bit floats that importing made 32-bit floats, and of their elements.
inline constexpr llvm::StringLiteral kHalfConstantsAttr = "nn.half_constants";

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_BYTEWEIGHTS_H
