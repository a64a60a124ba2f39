//===- IntegerSums.h - Whether a target has sums of integers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_INTEGERSUMS_H
#define NNC_COMPILER_ROUTINES_INTEGERSUMS_H

#include "dialects/nn/Nn.h"
#include "dialects/target/Target.h"

namespace nnc {

/// Returns true if a routine of `device` computes the convolution or matrix
/// product `product` with 8-bit integers and sums the products in 32 bits.
bool hasIntegerSums(mlir::Operation *product, target::DeviceAttr device);

/// Returns true if the best instruction set of `device` that sums products of
/// integers multiplies bytes alone, as VNNI and the dot products of Arm do, and
/// has a routine for the matrix product `product` of two bytes, neither of them
/// constant.
bool hasByteDots(mlir::Operation *product, target::DeviceAttr device);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_INTEGERSUMS_H
