//===- SampledRuns.h - Runs of the original model on samples ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_EXECUTE_SAMPLEDRUNS_H
#define NNC_COMPILER_TOOLS_DRIVER_EXECUTE_SAMPLEDRUNS_H

#include "compiler/tools/driver/execute/Executable.h"

#include <map>
#include <string>
#include <vector>

namespace nnc::tools {

/// The program of a model before it is edited, and the samples on which it
/// runs. Outputs of earlier runs are kept if they take little memory.
class SampledRuns {
public:
  Executable &getProgram() { return program; }
  const Executable &getProgram() const { return program; }
  const std::vector<Sample> &getSamples() const { return samples; }

  /// Reads the samples for the opened program from a folder or file.
  ExitCode readSamples(const std::string &path) {
    return readCalibration(path, program.getManifest(), samples);
  }
  /// Sets the number of outputs of the model itself. They come first among the
  /// program's outputs, followed by additional tensors.
  void setNumOutputs(size_t count) { numOutputs = count; }
  size_t getNumOutputs() const { return numOutputs; }

  /// Returns all outputs of the program for the sample with the index `sample`.
  /// Meanwhile the terminal shows `title`, for instance "sample", and the
  /// index.
  llvm::Expected<std::vector<Tensor>> run(size_t sample,
                                          const char *title = "sample");
  /// Returns only the outputs of the model itself.
  llvm::Expected<std::vector<Tensor>> runOutputs(size_t sample,
                                                 const char *title = "sample");

private:
  bool isSmall(const std::vector<Tensor> &results) const;

  Executable program;
  std::vector<Sample> samples;
  size_t numOutputs = 0;
  /// All outputs of the program for the first samples.
  std::vector<std::vector<Tensor>> kept;
  /// The outputs of the model itself for other samples, by the index of the
  /// sample.
  std::map<size_t, std::vector<Tensor>> keptOutputs;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_EXECUTE_SAMPLEDRUNS_H
