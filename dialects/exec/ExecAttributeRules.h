//===- ExecAttributeRules.h - Checks of attributes of exec ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_EXECATTRIBUTERULES_H
#define NNC_DIALECTS_EXEC_EXECATTRIBUTERULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace nnc::exec {

/// Returns success if a list of #exec.memory has names that emitted code can
/// have, and sizes from 0 on.
mlir::LogicalResult
verifyMemories(mlir::ArrayAttr memories,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns true if `attribute` is a map from so many sizes to so many numbers.
bool isMapOfSizes(mlir::AffineMapAttr attribute, unsigned sizes,
                  unsigned results);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_EXECATTRIBUTERULES_H
