//===- Workbench.h - Where programs that measure are built and run --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_PREPARE_WORKBENCH_H
#define NNC_COMPILER_TOOLS_NNC_PREPARE_WORKBENCH_H

#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"

#include "dialects/target/Target.h"

#include <string>

namespace nnc::tools {

/// Where programs that measure are built and run, as options say.
struct Workbench {
  std::string target, compiler;
  std::string on; ///< the value of --on

  /// What builds programs for `machine`, the target, and runs them there. An
  /// emulator's times say nothing: without --on it is no place to measure.
  ExitCode findTools(target::MachineAttr machine, Toolchain &toolchain) const;
  /// LLVM's name of the chip that measures, or where it is.
  std::string describeChip(target::MachineAttr machine) const;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_WORKBENCH_H
