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

/// The program of a model that is edited, as it was, and the samples that it
/// runs on. Outputs of earlier runs are kept where they take little memory.
class SampledRuns {
public:
  Executable &getProgram() { return program; }
  const Executable &getProgram() const { return program; }
  const std::vector<Sample> &getSamples() const { return samples; }

  /// Reads the samples from a folder or file, for the program that was opened.
  ExitCode readSamples(const std::string &path) {
    return readCalibration(path, program.getManifest(), samples);
  }
  /// Sets how many outputs the model has. Behind them come the tensors that
  /// the program stores, too.
  void setNumOutputs(size_t count) { numOutputs = count; }
  size_t getNumOutputs() const { return numOutputs; }

  /// Returns all outputs of the program for the sample of a number. The
  /// terminal shows `title`, "sample" for instance, with the number meanwhile.
  llvm::Expected<std::vector<Tensor>> run(size_t sample,
                                          const char *title = "sample");
  /// Returns the outputs of the model alone.
  llvm::Expected<std::vector<Tensor>> runOutputs(size_t sample,
                                                 const char *title = "sample");

private:
  bool isSmall(const std::vector<Tensor> &results) const;

  Executable program;
  std::vector<Sample> samples;
  size_t numOutputs = 0;
  /// All outputs for the first samples.
  std::vector<std::vector<Tensor>> kept;
  /// The model's own outputs for other samples.
  std::map<size_t, std::vector<Tensor>> keptOutputs;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_EXECUTE_SAMPLEDRUNS_H
