//===- CodeBytes.h - How large the code of a module is ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_CODEBYTES_H
#define NNC_TOOLS_DRIVER_CODEBYTES_H

#include "compiler/tools/driver/Firmware.h"

namespace nnc::tools {

/// The bytes of code and constants of a module, beside its weights.
struct CodeBytes {
  int64_t total = 0; ///< as `nnc check` counts it
  /// The stack that a run needs, where the compiler tells it.
  std::optional<StackDepth> stack;
  /// The bytes of the functions that are of one layer alone, by its number, in
  /// a build in which no layer is inlined into another function. A layer that
  /// has the code of another one has none.
  std::vector<int64_t> layers;
  std::string command; ///< that compiled the module

  /// Builds the module in `folder`; nullopt if this machine has no compiler for
  /// its target.
  static llvm::Expected<std::optional<CodeBytes>>
  measure(const Manifest &manifest, const Toolchain &toolchain,
          const std::string &folder);
};

/// The memory that a program with the module needs.
struct MemorySums {
  int64_t inputs = 0, outputs = 0, state = 0; ///< without what the arena holds
  int64_t ram = 0; ///< of these, the arena and the stack as far as it is known
  int64_t flash =
      0; ///< code, constants and weights; 0 if the code is not known

  static MemorySums of(const Manifest &manifest,
                       const std::optional<CodeBytes> &code);
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_CODEBYTES_H
