//===- Runner.h - Runs a built module on tensors --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_RUNNER_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_RUNNER_H

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/toolchain/Firmware.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"

namespace nnc::tools {

struct RunRequest {
  std::vector<Tensor> inputs; ///< in the manifest's order
  std::vector<int64_t> sizes; ///< a value for each of the manifest's
  /// Runs in a row, whose inputs and outputs follow each other in the tensors:
  /// these have one more axis in front where there are several.
  int64_t steps = 1;
  int threads = 1;
  int timedRuns = 0; ///< at most; 0: as many as fit in `seconds`
  double seconds = 0;
  bool measurePeak = false;
  bool pin = false; ///< binds each thread to a core of its own
  bool keepLayers = false;
  /// The text of the line of progress. If it is empty, the line says that the
  /// module runs.
  std::string step;
};

/// The cost of a run or of a layer is its time in seconds; without an operating
/// system it is the number of instructions, which an emulator counts.
struct RunResult {
  std::vector<Tensor> outputs;
  std::vector<double> runCosts;
  std::vector<double> layerCosts; ///< median of each layer
  double peak = 0;                ///< measured multiply-adds per second
  int64_t residentBytes = 0;      ///< peak; 0 if it is not known
  int64_t stackBytes = 0;         ///< without an operating system
  std::string layersFile;
};

/// The output of a layer, as it lies in memory.
struct LayerOutput {
  int64_t layer;
  std::vector<char> bytes;
};

/// An emitted module that is built, in a temporary folder of its own.
class BuiltModule {
public:
  /// Builds a module. What was built around `earlier`, by the same toolchain,
  /// and does not depend on the module is used again.
  static llvm::Expected<BuiltModule>
  build(const Manifest &, const Toolchain &,
        const BuiltModule *earlier = nullptr);
  llvm::Expected<RunResult> run(const RunRequest &) const;
  /// Writes the program and the request's inputs to `folder`, which is marked
  /// as an output of nnc, with a script that starts it. FOLDER/run --help
  /// explains the script.
  llvm::Error keep(const RunRequest &, const std::string &folder) const;
  const Manifest &manifest() const { return description; }
  /// Measures what the module takes of the flash memory of a board.
  llvm::Expected<ModuleSize> measure() const {
    return measureModule(description, toolchain, folder->path());
  }

private:
  /// Returns the path of the weights file of a module whose weights are not
  /// part of its code.
  std::string weightsFile() const {
    return description.sourceFolder() + "/" + description.getModule() +
           "_weights.bin";
  }

  BuiltModule(Manifest manifest, Toolchain toolchain,
              std::unique_ptr<Scratch> folder, std::string program);
  /// Writes the inputs that the program reads to `folder`, and returns the
  /// names of the files.
  llvm::Expected<Words> writeInputs(const RunRequest &,
                                    const std::string &folder) const;

  /// Gives the outputs of a run the shapes that follow from what it has found.
  void cutToFoundSizes(const RunRequest &, RunResult &) const;
  /// Runs the command, and reads the outputs that it wrote into `result`.
  llvm::Expected<RunResult> finish(const Words &command, const RunRequest &,
                                   RunResult result) const;

  Manifest description;
  Toolchain toolchain;
  std::unique_ptr<Scratch> folder;
  std::string program;
};

/// Reads the file RunResult::layersFile and calls `untilFalse` with each layer,
/// until it returns false.
llvm::Error
readLayers(const std::string &file,
           llvm::function_ref<bool(const LayerOutput &)> untilFalse);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_RUNNER_H
