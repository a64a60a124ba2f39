//===- Limits.h - Messages about limits of memory and time ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_COMPILE_LIMITS_H
#define NNC_COMPILER_TOOLS_DRIVER_COMPILE_LIMITS_H

#include "compiler/planners/RamPlanner.h"
#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/options/ModelOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

namespace nnc::tools {

/// Reports that no program stays within the limits of memory, with the figures
/// that a planner has found. Returns the exit code of the command.
ExitCode reportRam(const ModelOptions &options, mlir::MLIRContext &context,
                   const RamPlanner &planner);
/// Reports that no plan with batch sizes stays within the limits of memory.
/// `least` is the program that takes the fewest bytes.
ExitCode reportBatchRam(const ModelOptions &options, mlir::MLIRContext &context,
                        const RamDemand &least);
/// Reports that no plan stays within ModelOptions::maxLatency. `seconds` is the
/// least time of a run at the clock of the options.
ExitCode reportLatency(const ModelOptions &options, mlir::MLIRContext &context,
                       double seconds);
/// Reports an error if the weights of a compiled module take more than
/// ModelOptions::maxWeights, and, if `checksMemories`, for each memory for
/// weights that is too small.
ExitCode checkWeights(const ModelOptions &options, mlir::ModuleOp module,
                      bool checksMemories);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_COMPILE_LIMITS_H
