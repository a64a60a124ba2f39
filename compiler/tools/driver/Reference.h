//===- Reference.h - Reference results of a model -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_REFERENCE_H
#define NNC_TOOLS_DRIVER_REFERENCE_H

#include "compiler/tools/driver/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc::tools {

/// Computes the results of the module's main function with the portable
/// routines. Layers that are computed in integers on `target` are computed so
/// here, too. The inputs hold the data of `steps` runs in a row, and the
/// results too.
llvm::Expected<std::vector<Tensor>>
evaluateReference(mlir::ModuleOp module, llvm::StringRef target,
                  const std::vector<Tensor> &inputs, int64_t steps = 1);

/// Returns a sentence about the first layer whose output in `layersFile` (see
/// RunResult) differs from that of the portable routines on the same layers.
llvm::Expected<std::string>
findFirstDifference(mlir::ModuleOp layered, const std::vector<Tensor> &inputs,
                    const Manifest &manifest, const std::string &layersFile,
                    double tolerance);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_REFERENCE_H
