//===- Einsum.h - Sums of products by Einstein's notation -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_EINSUM_H
#define NNC_FRONTENDS_COMMON_EINSUM_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns the sum of products of `operands` that `equation` describes, in the
/// notation of NumPy's einsum: "bij,bjk->bik", "...ii->...i" or "ij,jk". A
/// label is one letter. Returns null after an error if the equation does not
/// fit the operands.
mlir::Value computeEinsum(LayerBuilder &layer, llvm::StringRef equation,
                          llvm::ArrayRef<mlir::Value> operands);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_EINSUM_H
