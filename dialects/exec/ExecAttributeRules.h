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

/// Returns success if all #exec.memory attributes of a list have names that
/// emitted code can declare and sizes that are not negative.
mlir::LogicalResult
verifyMemories(mlir::ArrayAttr memories,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns true if `attribute` is an affine map with `sizes` inputs and
/// `results` results.
bool isMapOfSizes(mlir::AffineMapAttr attribute, unsigned sizes,
                  unsigned results);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_EXECATTRIBUTERULES_H
