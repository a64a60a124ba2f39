//===- Module.h - The module that an import fills -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_MODULE_H
#define NNC_FRONTENDS_COMMON_MODULE_H

#include "frontends/common/Inputs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc::frontends {

/// Creates `func.func @main` with an argument for each input whose type is
/// known and whose value is not known. The attribute `nn.name` of an argument
/// is the input's name.
mlir::func::FuncOp createMain(mlir::ModuleOp module,
                              llvm::ArrayRef<Input> inputs, Problems &problems);

/// Ends `main` with a return of `results`. The attribute `nn.name` of a result
/// is the name of the model's output.
void returnFromMain(mlir::func::FuncOp main,
                    llvm::ArrayRef<mlir::Value> results,
                    llvm::ArrayRef<llvm::StringRef> names);

/// Adds `elements` to kHalfConstantsAttr of the module that contains `where`:
/// the number of 16-bit float elements of constants that become 32-bit floats.
void countHalfConstant(mlir::Operation *where, int64_t elements);

/// Removes unused constants from the module, verifies it, gives it its name and
/// the hash of its file, and moves it into `result`. If there are problems, the
/// module is not moved. Sets the status of `result` in any case.
void finishModule(mlir::OwningOpRef<mlir::ModuleOp> module,
                  llvm::StringRef path, llvm::StringRef sha256,
                  const ImportOptions &options, Problems &problems,
                  ImportResult &result);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_MODULE_H
