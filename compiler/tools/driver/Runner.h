//===- Runner.h - Runs a built module on tensors --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_RUNNER_H
#define NNC_TOOLS_DRIVER_RUNNER_H

#include "compiler/tools/driver/Files.h"
#include "compiler/tools/driver/Process.h"
#include "compiler/tools/driver/Toolchain.h"

namespace nnc::tools {

struct RunRequest {
  std::vector<Tensor> inputs; ///< in the manifest's order
  int threads = 1;
  int simulatedThreads = 0; ///< not 0: only what so many would have to do
  int timedRuns = 0;        ///< at most; 0: as many as fit into `seconds`
  double seconds = 0;
  bool measurePeak = false;
  bool pin = false; ///< each thread to a core
  bool keepLayers = false;
};

/// Seconds of a layer whose work is cut for threads: outside of the pool, of
/// all shares, and of the largest share of each call of the pool, summed.
struct LayerShares {
  double rest, sum, largest;
};

struct RunResult {
  std::vector<Tensor> outputs;
  std::vector<double> runSeconds;
  std::vector<double> layerSeconds;   ///< median of each layer
  std::vector<LayerShares> simulated; ///< each layer
  double peak = 0;                    ///< multiply-adds a second
  int64_t residentBytes = 0;          ///< at most at once; 0: not known
  std::string layersFile;
};

/// What a layer wrote, as it lies in memory.
struct LayerOutput {
  int64_t layer;
  std::vector<char> bytes;
};

/// An emitted module, built, in a temporary folder of its own.
class BuiltModule {
public:
  static llvm::Expected<BuiltModule> build(const Manifest &, const Toolchain &);
  llvm::Expected<RunResult> run(const RunRequest &) const;
  /// Leaves the program and the request's inputs in `folder`, as an output of
  /// nnc's, with a script that starts it: FOLDER/run --help says how.
  llvm::Error keep(const RunRequest &, const std::string &folder) const;
  const Manifest &manifest() const { return description; }

private:
  /// That is given to a module whose weights are in a file.
  std::string weightsFile() const {
    return description.folder + "/" + description.name + "_weights.bin";
  }

  BuiltModule(Manifest manifest, Toolchain toolchain,
              std::unique_ptr<Scratch> folder, std::string program);
  /// Writes what the program reads to `folder`: the files' names.
  llvm::Expected<Words> writeInputs(const RunRequest &,
                                    const std::string &folder) const;

  Manifest description;
  Toolchain toolchain;
  std::unique_ptr<Scratch> folder;
  std::string program;
};

/// Reads RunResult::layersFile, layer by layer.
llvm::Error
readLayers(const std::string &file,
           llvm::function_ref<bool(const LayerOutput &)> untilFalse);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_RUNNER_H
