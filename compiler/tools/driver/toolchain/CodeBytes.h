//===- CodeBytes.h - How large the code of a module is ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_CODEBYTES_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_CODEBYTES_H

#include "compiler/tools/driver/toolchain/Firmware.h"

namespace nnc::tools {

/// The bytes of code and constants of a module, beside its weights.
struct CodeBytes {
  int64_t total = 0;
  /// The parts of `total`, and the stack, of a target without an operating
  /// system.
  std::optional<ModuleSize> parts;
  /// The bytes of the functions that are of one layer alone, by its number, in
  /// a build in which no layer is inlined into another function. A layer that
  /// has the code of another one has none.
  std::vector<int64_t> layers;
  std::string command; ///< that compiled the module

  /// The stack that a run needs, where the compiler tells it; else null.
  const StackDepth *findStack() const {
    return parts && parts->stack ? &*parts->stack : nullptr;
  }

  /// Compiles the emitted module in the manifest's folder and reads the sizes
  /// of the machine code; nullopt, with a warning, if this machine has no
  /// compiler for the module's target. `compiler` is a command, empty for the
  /// target's usual compiler, and `level` an optimization level such as "-O3".
  /// `wantsLayers` also fills in `layers`, which takes a second build.
  static llvm::Expected<std::optional<CodeBytes>>
  measure(const Manifest &manifest, const std::string &compiler,
          const std::string &level, bool wantsLayers);
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_CODEBYTES_H
