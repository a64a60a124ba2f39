//===- IntegerRange.h - The integers that a type holds ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TENSORS_INTEGERRANGE_H
#define NNC_DIALECTS_NN_TENSORS_INTEGERRANGE_H

#include "mlir/IR/BuiltinTypes.h"

#include <utility>

namespace nnc::nn {

/// Returns the least and the largest integer of a type of at most 64 bits.
inline std::pair<int64_t, int64_t> getIntegerRange(mlir::IntegerType type) {
  const unsigned width = type.getWidth();
  if (type.isUnsigned())
    return {0, static_cast<int64_t>(
                   llvm::APInt::getMaxValue(width).getZExtValue())};
  return {llvm::APInt::getSignedMinValue(width).getSExtValue(),
          llvm::APInt::getSignedMaxValue(width).getSExtValue()};
}

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_TENSORS_INTEGERRANGE_H
