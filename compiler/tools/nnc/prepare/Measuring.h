//===- Measuring.h - Times and errors of a built model ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_PREPARE_MEASURING_H
#define NNC_COMPILER_TOOLS_NNC_PREPARE_MEASURING_H

#include "compiler/tools/driver/tensors/Compare.h"
#include "compiler/tools/driver/toolchain/Runner.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

#include "llvm/Support/JSON.h"

namespace nnc::tools {

double median(std::vector<double> values);

/// Returns random inputs for a model.
std::vector<Tensor> makeRandomInputs(const Manifest &manifest);

/// Runs a built model on random inputs, which are stored in `request`, until
/// `result` has the times of all runs and layers.
ExitCode timeRuns(const Prepared &prepared, RunRequest &request,
                  RunResult &result);

/// Returns a name for the machine on which a program of `toolchain` had the
/// result: the name of a chip or a GPU, or the command of an emulator.
std::string describeMachine(const Toolchain &toolchain,
                            const RunResult &result);

/// Returns the errors that the outputs of a module may have relative to its
/// reference. `imported` is the module that the reference evaluates, and
/// `given` is the largest error that the user allows, if set.
Tolerance chooseTolerance(const Manifest &manifest, mlir::ModuleOp imported,
                          Precision precision,
                          std::optional<double> given = {});

llvm::json::Object toJson(const Port &port, const Difference &found);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_MEASURING_H
