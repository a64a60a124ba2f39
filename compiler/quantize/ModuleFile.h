//===- ModuleFile.h - Serialization of a module -----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_MODULEFILE_H
#define NNC_COMPILER_QUANTIZE_MODULEFILE_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace nnc::quantize {

/// Returns the contents of a file that holds the module: text if `path` ends in
/// .mlir, else bytecode.
std::string printModule(mlir::ModuleOp module, llvm::StringRef path = "");

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_MODULEFILE_H
