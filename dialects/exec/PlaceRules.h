//===- PlaceRules.h - Checks of the places of exec's ops --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_PLACERULES_H
#define NNC_DIALECTS_EXEC_PLACERULES_H

#include "dialects/exec/Exec.h"

namespace nnc::exec {

/// Checks that the tensor of `op`, which begins at byte `offset` of `size`
/// bytes, ends within them and is aligned to its elements. The error calls the
/// memory of these bytes `whole`.
mlir::LogicalResult verifyRange(PlaceOpInterface op, int64_t offset,
                                int64_t size, llvm::StringRef whole);

/// Returns `device` as messages call it: "the host" for the empty name.
std::string describeDevice(llvm::StringRef device);

/// Checks that all operands of `op` are places on the device that runs it.
mlir::LogicalResult verifyPlaces(mlir::Operation *op,
                                 llvm::StringRef device = "");

/// Checks that `op` may write its outputs and its scratch memory, which may be
/// null: they are places of the program, not of the caller.
mlir::LogicalResult verifyWritten(mlir::Operation *op, mlir::ValueRange outputs,
                                  mlir::Value scratch);

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_PLACERULES_H
