//===- Custom.h - Operators that the user computes ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CUSTOM_CUSTOM_H
#define NNC_DIALECTS_NN_CUSTOM_CUSTOM_H

#include "dialects/nn/Nn.h"

namespace nnc::nn {

/// Returns the offset of each result of an nn.custom in the one block of memory
/// that holds all results, in bytes. The last element is the size of the block.
/// `writes` is the op's attribute that describes the results.
llvm::SmallVector<int64_t> getOffsets(mlir::ArrayAttr writes);

/// Checks that the attributes that describe operands and results of an op that
/// calls a custom function agree with the types of these operands and results.
/// Reports the first difference with `emitError`.
mlir::LogicalResult
verifyDescriptions(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                   mlir::ArrayAttr reads, mlir::TypeRange given,
                   mlir::ArrayAttr writes, mlir::Type result);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CUSTOM_CUSTOM_H
