//===- Custom.h - Operators that the user computes ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CUSTOM_CUSTOM_H
#define NNC_DIALECTS_NN_CUSTOM_CUSTOM_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// Returns the offsets of the results that `writes` of an nn.custom describes
/// in the memory of all of them, in bytes, and as the last element the size of
/// that memory.
llvm::SmallVector<int64_t> getOffsets(mlir::ArrayAttr writes);

/// Reports with `emitError` where the descriptions of an op that calls a custom
/// function are not those of operands and results of these types.
mlir::LogicalResult
verifyDescriptions(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                   mlir::ArrayAttr reads, mlir::TypeRange given,
                   mlir::ArrayAttr writes, mlir::Type result);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CUSTOM_CUSTOM_H
