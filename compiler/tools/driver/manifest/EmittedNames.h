//===- EmittedNames.h - Names of layers in emitted code ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MANIFEST_EMITTEDNAMES_H
#define NNC_COMPILER_TOOLS_DRIVER_MANIFEST_EMITTEDNAMES_H

#include "dialects/nn/layers/Layer.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace nnc::tools {

/// The names of layers in emitted code, which all commands use in their output.
/// A name differs from the one in the IR if an input, an output or a layer of
/// another function has the same name.
class EmittedNames {
public:
  /// Reads the names from `layered`, the module before it is lowered.
  explicit EmittedNames(mlir::ModuleOp layered);

  /// Returns the name of a layer of the module `layered`, or of the same module
  /// before its routines were chosen.
  std::string get(nn::LayerOp layer) const;

private:
  using Key = std::pair<mlir::StringAttr, mlir::StringAttr>;
  static Key getKey(nn::LayerOp layer);

  llvm::DenseMap<Key, std::string> names; ///< keyed by function and layer
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_EMITTEDNAMES_H
