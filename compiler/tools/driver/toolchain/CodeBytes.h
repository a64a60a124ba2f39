//===- CodeBytes.h - Size of a module's code ------------------ -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_CODEBYTES_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_CODEBYTES_H

#include "compiler/tools/driver/toolchain/Firmware.h"

namespace nnc::tools {

/// The bytes of code and constants of a module, without its weights.
struct CodeBytes {
  int64_t total = 0;
  /// The parts of `total`, and the stack, for a target without an operating
  /// system.
  std::optional<ModuleSize> parts;
  /// The bytes of the functions that belong to one layer alone, by the layer's
  /// index, in a build in which no layer is inlined into another function. A
  /// layer that shares the code of an earlier one has 0.
  std::vector<int64_t> layers;
  std::string command; ///< command that compiled the module

  /// Returns the stack that a run needs, or null if the compiler does not
  /// report it.
  const StackDepth *findStack() const {
    return parts && parts->stack ? &*parts->stack : nullptr;
  }

  /// Compiles the emitted module in the manifest's folder and reads the sizes
  /// of the machine code. Returns nullopt, with a warning, if this machine has
  /// no compiler for the module's target. `compiler` is a command, or empty for
  /// the target's usual compiler, and `level` is an optimization level such as
  /// "-O3". `wantsLayers` also fills in `layers`, which takes a second build.
  static llvm::Expected<std::optional<CodeBytes>>
  measure(const Manifest &manifest, const std::string &compiler,
          const std::string &level, bool wantsLayers);
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_CODEBYTES_H
