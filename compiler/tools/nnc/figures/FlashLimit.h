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

/// A module and the bytes of its code.
struct MeasuredModule {
  Prepared prepared;
  CodeBytes code;

  /// The bytes of code, constants and weights.
  int64_t getFlash() const {
    return code.total + prepared.manifest.weightBytes;
  }
};

/// Compiles and builds models whose weights take as few bytes as their code
/// leaves of flash memory.
class FlashLimit {
public:
  /// `compiler` replaces that of the target, if it is not empty.
  FlashLimit(ModelOptions options, DriverOptions wanted, std::string compiler,
             int64_t maxFlash)
      : options(std::move(options)), wanted(std::move(wanted)),
        compiler(std::move(compiler)), maxFlash(maxFlash) {}

  /// Compiles the model as it is, and where that takes too many bytes with the
  /// weights that the code leaves room for. The code depends on the forms of
  /// the weights, so that a few limits are tried. Returns what went wrong where
  /// the model does not compile; fits() may be false otherwise.
  ExitCode find();
  bool fits() { return getModule().getFlash() <= maxFlash; }
  /// The module that fits, or the one that takes the fewest bytes.
  MeasuredModule &getModule() { return module ? *module : *whole; }
  /// The options of that module.
  const ModelOptions &getOptions() const { return best; }
  /// The module with all weights as they are without the limit, which may be
  /// the same one.
  MeasuredModule &getWhole() { return *whole; }

private:
  ExitCode measure(const ModelOptions &tried,
                   std::unique_ptr<MeasuredModule> &measured) const;
  bool tryMeasure(const ModelOptions &tried,
                  std::unique_ptr<MeasuredModule> &measured) const;
  ExitCode search();
  ExitCode findLeast();

  ModelOptions options;
  ModelOptions best; ///< those of getModule()
  DriverOptions wanted;
  std::string compiler;
  int64_t maxFlash;
  std::unique_ptr<MeasuredModule> whole;
  std::unique_ptr<MeasuredModule> module; ///< null for `whole`
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_FLASHLIMIT_H
