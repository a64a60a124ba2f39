//===- Reference.h - Reference results of a model -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_EXECUTE_REFERENCE_H
#define NNC_COMPILER_TOOLS_DRIVER_EXECUTE_REFERENCE_H

#include "compiler/tools/driver/manifest/Manifest.h"
#include "compiler/tools/driver/tensors/Compare.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>

namespace nnc::tools {

/// The results of a program's custom operators, keyed by the operator's number.
/// Only custom functions can compute them.
using CustomResults = std::map<int64_t, std::vector<char>>;

/// Returns true if custom functions compute some of the module's operators.
bool hasCustomOps(mlir::ModuleOp module);

/// Reads the results of custom operators from `layersFile` (see RunResult).
llvm::Expected<CustomResults> readCustomResults(const Manifest &manifest,
                                                const std::string &layersFile);

/// Computes the results of the main function of an imported module with the
/// portable routines, each operator as the model defines it. Ops between
/// dequantized and quantized values are computed in floats, even if nnc turns
/// them into integer ops. `inputs` holds the data of `steps` consecutive runs,
/// and so do the results. `customs` holds the results of custom operators in
/// the first run.
llvm::Expected<std::vector<Tensor>>
evaluateReference(mlir::ModuleOp module, const std::vector<Tensor> &inputs,
                  int64_t steps = 1, const CustomResults &customs = {});

/// Returns the float inputs with every element changed by 1e-5 of itself, up or
/// down in turns, and the other inputs as they are. In quantized models whose
/// results change much by that, the rounding to integers amplifies differences.
std::vector<Tensor> changeSlightly(const std::vector<Tensor> &inputs);

/// Returns a sentence about the first layer whose output in `layersFile` (see
/// RunResult) differs from that of the portable routines for the same layers,
/// or nullopt if there is none.
llvm::Expected<std::optional<std::string>>
findFirstDifference(mlir::ModuleOp layered, const std::vector<Tensor> &inputs,
                    const Manifest &manifest, const std::string &layersFile,
                    const Tolerance &tolerance);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_EXECUTE_REFERENCE_H
