//===- Reference.h - What a model's results should be ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_REFERENCE_H
#define NNC_TOOLS_DRIVER_REFERENCE_H

#include "compiler/tools/driver/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc::tools {

/// The results of the module's main function by the portable routines.
llvm::Expected<std::vector<Tensor>>
evaluateReference(mlir::ModuleOp module, const std::vector<Tensor> &inputs);

/// A sentence on the first layer whose output in `layersFile` (RunResult) is
/// not what the portable routines make of the same layers.
llvm::Expected<std::string>
findFirstDifference(mlir::ModuleOp layered, const std::vector<Tensor> &inputs,
                    const Manifest &manifest, const std::string &layersFile,
                    double tolerance);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_REFERENCE_H
