//===- InterfaceNames.h - Names of ports and layers in C --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_INTERFACENAMES_H
#define NNC_COMPILER_PASSES_INTERFACENAMES_H

#include "dialects/exec/Exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace nnc {

/// The identifiers that the emitted code has for the inputs, the outputs and
/// the layers of a function and of the bodies of its branches and loops.
struct InterfaceNames {
  exec::Names names; ///< all identifiers that are taken
  llvm::SmallVector<std::string> inputs, outputs;
  /// The names of layers, custom operators, branches and loops.
  llvm::DenseMap<mlir::Operation *, std::string> layers;
};

/// Names the inputs, the outputs and then the layers. This comes before all
/// other naming, so that their names do not depend on those of weights and
/// buffers. A name of the model that is a usable identifier is kept, wherever
/// it occurs.
InterfaceNames nameInterface(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_INTERFACENAMES_H
