//===- Workbench.h - The place where measurements run ---------------------===//
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

/// The place where programs that measure are built and run, as set by options.
struct Workbench {
  std::string target, compiler;
  std::string on; ///< the value of --on

  /// Finds the tools that build programs for the target `machine` and run them
  /// there. Fails if they would run in an emulator and --on is not given,
  /// because an emulator's times are meaningless.
  ExitCode findTools(target::MachineAttr machine, Toolchain &toolchain) const;
  /// Returns the value of --on if it is given, or else LLVM's name of the chip
  /// that measures.
  std::string describeChip(target::MachineAttr machine) const;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_WORKBENCH_H
