//===- Executable.h - Runs a serialized model on this machine -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_EXECUTE_EXECUTABLE_H
#define NNC_COMPILER_TOOLS_DRIVER_EXECUTE_EXECUTABLE_H

#include "compiler/tools/driver/compile/Driver.h"
#include "compiler/tools/driver/samples/Calibration.h"
#include "compiler/tools/driver/toolchain/Runner.h"

namespace nnc::tools {

/// A model that is compiled and built for this machine. Without a compiler the
/// portable routines evaluate it.
class Executable {
public:
  /// Compiles and builds a model. `model` is the contents of a model file, ONNX
  /// or a module, and `name` is the name of the code. Only the shapes of
  /// `options` are used. Parts of `earlier`, which must have been opened with
  /// the same compiler, are reused.
  ExitCode open(const std::string &model, const std::string &name,
                const ModelOptions &options, const std::string &compiler,
                int threads, const Executable *earlier = nullptr);
  /// Returns the outputs in the manifest's order. The terminal shows `step`
  /// during the run.
  llvm::Expected<std::vector<Tensor>> run(const std::vector<Tensor> &inputs,
                                          const std::string &step) const;
  /// Runs the program once for each sample, in order, and calls `visit` with
  /// the outputs of each run, in the manifest's order. The terminal shows
  /// `title` and the fraction of samples done. A failed run is reported and
  /// ends the loop.
  ExitCode
  runEach(const std::vector<Sample> &samples, const std::string &title,
          llvm::function_ref<void(const std::vector<Tensor> &)> visit) const;
  const Manifest &getManifest() const { return manifest; }
  /// Returns the index of an output, or -1 if there is none of this name.
  int findOutput(const std::string &name) const;

private:
  std::unique_ptr<Scratch> folder;
  std::unique_ptr<Driver> driver;
  Manifest manifest;
  /// Null if the portable routines evaluate the model.
  std::unique_ptr<BuiltModule> module;
  int threads = 1;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_EXECUTE_EXECUTABLE_H
