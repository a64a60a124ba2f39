//===- Session.h - One run of nnc compress ----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMPRESS_COMPRESSSESSION_H
#define NNC_COMPILER_TOOLS_NNC_COMPRESS_COMPRESSSESSION_H

#include "compiler/tools/driver/execute/Executable.h"
#include "compiler/tools/driver/samples/Calibration.h"
#include "compiler/tools/nnc/accuracy/Comparison.h"

#include "compiler/compression/Compressor.h"

namespace nnc::tools {

struct CompressSettings {
  ModelOptions model;
  std::string calibration, output, compiler, metric;
  compression::Options options;
  std::optional<double> maxDrop; ///< a share: 0.005 for 0.5 %
  int threads = 1;

  /// Whether the result is written as a module, not as ONNX.
  bool isModule() const;
  /// Whether models can be compared with the original one.
  bool canEvaluate() const { return !calibration.empty() || !metric.empty(); }
};

/// How far a compressed model is from the original one.
struct CompressEvaluation : Score {
  std::vector<OutputNoise> outputs; ///< none without samples
};

/// The original model, its weights, and the samples.
class CompressSession {
public:
  explicit CompressSession(CompressSettings settings)
      : settings(std::move(settings)), diagnostics(context) {}

  /// Reads the model, as ONNX if it is written as that and as a module
  /// otherwise, and if there are samples builds it and reads these. By second
  /// order it is run on them, to observe what its layers read.
  ExitCode open();
  /// Compresses all weights as they are to be now.
  void compress();
  /// Compares the model as it is compressed now with the original one.
  ExitCode evaluate(CompressEvaluation &evaluation);
  /// Finds how much of what the layers that read each weight compute changes
  /// with the weight: the sum of squared differences over that of the values,
  /// added up over the layers. Without samples, and for layers in bodies, it
  /// is that of the weights.
  ExitCode measureErrors(std::vector<double> &errors);

  const CompressSettings &getSettings() const { return settings; }
  compression::Compressor &getCompressor() { return *compressor; }
  size_t getNumSamples() const { return samples.size(); }

private:
  ExitCode import();
  ExitCode openModule();
  ExitCode openOnnx();
  ExitCode checkWeights();
  ExitCode observe();
  ExitCode openModel(llvm::Expected<std::string> text, const char *name,
                     Executable &model);
  llvm::Expected<std::vector<Tensor>> runOriginal(size_t sample);
  void keepOutputs(size_t sample, llvm::ArrayRef<Tensor> results);

  CompressSettings settings;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  /// The import, which holds the module that is compressed, unless the model is
  /// written as ONNX again.
  std::unique_ptr<Driver> imported;
  std::unique_ptr<compression::Compressor> compressor;
  Executable originalModel;
  std::vector<Sample> samples;
  /// Outputs of the original model for the first samples.
  std::vector<std::vector<Tensor>> outputs;
  int64_t outputBytes = 0;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMPRESS_COMPRESSSESSION_H
