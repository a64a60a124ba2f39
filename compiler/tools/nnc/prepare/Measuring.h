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

/// Runs a built model on random inputs, which `request` gets, until it has the
/// times of all runs and layers.
ExitCode timeRuns(const Prepared &prepared, RunRequest &request,
                  RunResult &result);

/// Returns the name of what runs the programs that `toolchain` builds: a chip,
/// or the command of an emulator.
std::string describeMachine(const Toolchain &toolchain);

/// Returns the errors that outputs of a module may have against its reference.
/// `imported` is the module that the reference evaluates; `given` is the
/// largest error that the user allows.
Tolerance chooseTolerance(const Manifest &manifest, mlir::ModuleOp imported,
                          Precision precision,
                          std::optional<double> given = {});

llvm::json::Object toJson(const Port &port, const Difference &found);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_MEASURING_H
