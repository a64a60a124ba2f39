//===- Import.h - From a file of MLIR to a checked module -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MLIR_IMPORT_H
#define NNC_FRONTENDS_MLIR_IMPORT_H

#include "frontends/common/Import.h"

namespace nnc::module_file {

/// Reads a module of nn and qnn ops from a file of MLIR text or bytecode, as
/// `nnc quantize` and `nnc compress` write it.
frontends::ImportResult importModel(llvm::StringRef path,
                                    const frontends::ImportOptions &options,
                                    mlir::MLIRContext &context);

} // namespace nnc::module_file

#endif // NNC_FRONTENDS_MLIR_IMPORT_H
