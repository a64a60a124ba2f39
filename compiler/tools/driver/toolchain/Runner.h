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

/// A request to run a built module: its inputs, the number of runs, and the
/// values to measure.
struct RunRequest {
  std::vector<Tensor> inputs; ///< in the manifest's order
  std::vector<int64_t> sizes; ///< one value for each of the manifest's sizes
  /// The number of consecutive runs. If there are several, each input and
  /// output tensor has an additional first axis that holds the data of all
  /// runs.
  int64_t steps = 1;
  int threads = 1;
  int timedRuns = 0; ///< most timed runs; 0: as many as fit in `seconds`
  double seconds = 0;
  bool measurePeak = false;
  bool pin = false; ///< binds each thread to its own core
  bool keepLayers = false;
  /// The text of the progress line. If it is empty, the line says that the
  /// module runs.
  std::string step;
};

/// The properties of the GPU that ran a module.
struct GpuFigures {
  std::string name;         ///< empty if no GPU ran the module
  int64_t architecture = 0; ///< 90 for sm_90
  int64_t multiprocessors = 0;
  double clock = 0;   ///< cycles per second at most
  int64_t driver = 0; ///< newest version of CUDA that it knows: 12040 for 12.4
  int64_t bytes = 0;  ///< bytes of its memory that the program took
  /// Kernels of a run, and copies and fills of memory, if the run was captured
  /// into a graph.
  std::optional<int64_t> launches, copies;
};

/// The results of a run. The cost of a run or of a layer is its time in
/// seconds. Without an operating system it is the number of instructions, which
/// an emulator counts.
struct RunResult {
  std::vector<Tensor> outputs;
  std::vector<double> runCosts;
  std::vector<double> layerCosts; ///< median over the runs, for each layer
  double peak = 0;                ///< measured multiply-adds per second
  int64_t residentBytes = 0;      ///< peak resident memory; 0 if unknown
  /// Depth of the stack, only without an operating system.
  int64_t stackBytes = 0;
  std::string layersFile;
  GpuFigures gpu;
};

/// The output of a layer, in its memory layout.
struct LayerOutput {
  int64_t layer;
  std::vector<char> bytes;
};

/// An emitted module that has been built, in its own temporary folder.
class BuiltModule {
public:
  /// Builds a module. Object files that `earlier`, from the same toolchain,
  /// built and that do not depend on the module are reused.
  static llvm::Expected<BuiltModule>
  build(const Manifest &, const Toolchain &,
        const BuiltModule *earlier = nullptr);
  llvm::Expected<RunResult> run(const RunRequest &) const;
  /// Writes the program, the request's inputs and a script that starts the
  /// program to `folder`, which is marked as an output of nnc. FOLDER/run
  /// --help explains the script.
  llvm::Error keep(const RunRequest &, const std::string &folder) const;
  const Manifest &manifest() const { return description; }
  /// Measures how much of a board's flash memory the module takes.
  llvm::Expected<ModuleSize> measure() const {
    return measureModule(description, toolchain, folder->path());
  }

private:
  /// Returns the path of the file with the weights of a module whose weights
  /// are not part of its code.
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

  /// Reduces the outputs of a run to the shapes that follow from the sizes that
  /// the run has found.
  void cutToFoundSizes(const RunRequest &, RunResult &) const;
  /// Runs the command, and reads the outputs that it wrote into `result`.
  llvm::Expected<RunResult> finish(const Words &command, const RunRequest &,
                                   RunResult result) const;

  Manifest description;
  Toolchain toolchain;
  std::unique_ptr<Scratch> folder;
  std::string program;
};

/// Reads the file RunResult::layersFile and calls `untilFalse` for each layer
/// until it returns false.
llvm::Error
readLayers(const std::string &file,
           llvm::function_ref<bool(const LayerOutput &)> untilFalse);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_RUNNER_H
