//===- CompressSession.h - One run of nnc compress --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMPRESS_COMPRESSSESSION_H
#define NNC_COMPILER_TOOLS_NNC_COMPRESS_COMPRESSSESSION_H

#include "compiler/tools/driver/accuracy/Comparison.h"
#include "compiler/tools/driver/execute/SampledRuns.h"
#include "compiler/tools/driver/samples/Calibration.h"

#include "compiler/compression/DropSearch.h"

namespace nnc::tools {

struct CompressSettings {
  ModelOptions model;
  std::string calibration, output, compiler, metric;
  compression::Options options;
  std::optional<double> maxDrop; ///< a fraction: 0.005 for 0.5 %
  int threads = 1;

  /// Returns true if the result is written as a module rather than as ONNX.
  bool isModule() const;
  /// Returns true if compressed models can be compared with the original one.
  bool canEvaluate() const { return !calibration.empty() || !metric.empty(); }
};

/// The original model, its weights, and the samples.
class CompressSession : public compression::EvaluatedModel {
public:
  explicit CompressSession(CompressSettings settings)
      : settings(std::move(settings)), diagnostics(context) {}

  /// Reads the model, as ONNX if the result is ONNX and as a module otherwise.
  /// If there are samples, it also builds the model and reads the samples. For
  /// second-order compression it runs the model on them to observe the inputs
  /// of its layers.
  ExitCode open();
  /// Compresses all weights with their present options.
  void compress();
  llvm::LogicalResult evaluate(compression::Evaluation &evaluation) override {
    return note(compare(evaluation));
  }
  llvm::LogicalResult measureErrors(std::vector<double> &errors) override {
    return note(findErrors(errors));
  }
  std::unique_ptr<accuracy::SearchProgress> showSearch() override {
    return tools::showSearch();
  }
  /// Returns the exit code after one of the functions above has failed.
  ExitCode getFailure() const { return failure; }

  const CompressSettings &getSettings() const { return settings; }
  compression::Compressor &getCompressor() override { return *compressor; }
  size_t getNumSamples() const { return runs.getSamples().size(); }

private:
  ExitCode import();
  ExitCode openModule();
  ExitCode openOnnx();
  ExitCode checkWeights();
  ExitCode observe();
  ExitCode openModel(llvm::Expected<std::string> text, const char *name,
                     Executable &model);
  ExitCode compare(compression::Evaluation &evaluation);
  ExitCode findErrors(std::vector<double> &errors);
  llvm::LogicalResult note(ExitCode code) {
    failure = code;
    return llvm::success(code == ExitCode::done);
  }

  CompressSettings settings;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  /// The driver that holds the imported module which is compressed; null if the
  /// result is written as ONNX.
  std::unique_ptr<Driver> imported;
  std::unique_ptr<compression::Compressor> compressor;
  SampledRuns runs; ///< runs of the original model
  ExitCode failure = ExitCode::done;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMPRESS_COMPRESSSESSION_H
