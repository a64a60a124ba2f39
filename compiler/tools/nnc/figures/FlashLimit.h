//===- FlashLimit.h - A limit of code and weights together ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_FIGURES_FLASHLIMIT_H
#define NNC_COMPILER_TOOLS_NNC_FIGURES_FLASHLIMIT_H

#include "compiler/tools/driver/toolchain/CodeBytes.h"
#include "compiler/tools/nnc/prepare/Prepared.h"

namespace nnc::tools {

/// A module, and the size of its code.
struct MeasuredModule {
  Prepared prepared;
  CodeBytes code;

  /// Returns the bytes of code, constants and weights.
  int64_t getFlash() const {
    return code.total + prepared.manifest.weightBytes;
  }
};

/// Compiles and builds a model so that its code and its weights together fit
/// into flash memory.
class FlashLimit {
public:
  /// `compiler` replaces the target's compiler if it is not empty.
  FlashLimit(ModelOptions options, DriverOptions wanted, std::string compiler,
             int64_t maxFlash)
      : options(std::move(options)), wanted(std::move(wanted)),
        compiler(std::move(compiler)), maxFlash(maxFlash) {}

  /// Compiles the model without regard to `maxFlash`, and if it takes too many
  /// bytes, again with its weights limited to the room that the code leaves.
  /// The code depends on the forms of the weights, so a few limits are tried.
  /// Returns an error only if the model does not compile; fits() may be false
  /// even on success.
  ExitCode find();
  bool fits() { return getModule().getFlash() <= maxFlash; }
  /// Returns the module that fits, or else the one that takes the fewest bytes.
  MeasuredModule &getModule() { return module ? *module : *whole; }
  /// Returns the options with which getModule() was compiled.
  const ModelOptions &getOptions() const { return best; }
  /// Returns the module that was compiled without regard to `maxFlash`, which
  /// may be the same as getModule().
  MeasuredModule &getWhole() { return *whole; }

private:
  ExitCode measure(const ModelOptions &tried,
                   std::unique_ptr<MeasuredModule> &measured) const;
  bool tryMeasure(const ModelOptions &tried,
                  std::unique_ptr<MeasuredModule> &measured) const;
  ExitCode search();
  ExitCode findLeast();

  ModelOptions options;
  ModelOptions best; ///< options of getModule()
  DriverOptions wanted;
  std::string compiler;
  int64_t maxFlash;
  std::unique_ptr<MeasuredModule> whole;
  std::unique_ptr<MeasuredModule> module; ///< null if `whole` is chosen
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_FLASHLIMIT_H
