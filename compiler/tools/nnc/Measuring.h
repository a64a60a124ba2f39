//===- Measuring.h - Times and errors of a built model ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_MEASURING_H
#define NNC_TOOLS_NNC_MEASURING_H

#include "compiler/tools/driver/Compare.h"
#include "compiler/tools/nnc/Command.h"

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

/// Returns the error that outputs may have unless the user says so, as a share
/// of the largest expected element.
double chooseTolerance(const Manifest &manifest, bool isQuantized,
                       Precision precision);

llvm::json::Object toJson(const Port &port, const Difference &found);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_MEASURING_H
