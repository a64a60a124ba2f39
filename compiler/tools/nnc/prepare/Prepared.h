//===- Prepared.h - A model that a command compiles, builds and runs ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_PREPARE_PREPARED_H
#define NNC_COMPILER_TOOLS_NNC_PREPARE_PREPARED_H

#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Runner.h"

#include <memory>
#include <string>
#include <vector>

namespace nnc::tools {

/// A model that is compiled for its target and built. If the user gave an
/// emitted folder instead of a model, there is no driver.
struct Prepared {
  /// The device that the program of a CUDA module is for: the GPU of this
  /// machine, the CPU, which emulates one, or a GPU of another machine.
  enum class Gpu { own, emulated, elsewhere };

  /// The temporary folder of the emitted code; null if the user gave a folder.
  std::unique_ptr<Scratch> folder;
  std::unique_ptr<Driver> driver;
  Manifest manifest;
  Toolchain toolchain;
  bool callsHooks = true;              ///< see Toolchain
  std::unique_ptr<BuiltModule> module; ///< null before build()

  /// Compiles the model, unless it is a folder.
  ExitCode open(const ModelOptions &options, DriverOptions wanted = {});
  /// Selects one function of a module with several: the one that accepts inputs
  /// with the shapes of these files (INPUT=FILE.npy), or else the first one.
  void chooseFunction(const std::vector<std::string> &arguments);
  /// Builds the program that runs the module. Fails if it cannot run where it
  /// is to run.
  ExitCode build(const std::string &compiler, int threads, Gpu gpu = Gpu::own);
};

/// Reads the file NAME=FILE.npy for each of the model's inputs into the
/// request. Reports everything that is wrong with the arguments.
ExitCode readInputs(const std::vector<std::string> &arguments,
                    const Manifest &manifest, RunRequest &request);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_PREPARED_H
