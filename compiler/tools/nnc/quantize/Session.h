//===- Session.h - One run of nnc quantize --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_SESSION_H
#define NNC_TOOLS_NNC_QUANTIZE_SESSION_H

#include "compiler/tools/driver/Executable.h"
#include "compiler/tools/driver/ObservedRanges.h"

#include "frontends/onnx/quantize/Quantizer.h"

#include <optional>

namespace nnc::tools {

struct QuantizeSettings {
  ModelOptions model;
  std::string calibration, output, compiler, metric;
  onnx::QuantizeOptions options;
  quantize::Method method = quantize::Method::minmax;
  double percentile = 99.99;
  bool equalize = false, biasCorrection = false, mixed = false;
  std::optional<double> maxDrop; ///< a share: 0.005 for 0.5 %
  int threads = 1;
};

/// The float model, the samples, and what the samples say about the tensors.
class Session {
public:
  explicit Session(QuantizeSettings settings)
      : settings(std::move(settings)), diagnostics(context) {}

  /// Reads the model, builds it with its tensors as outputs, and reads the
  /// samples.
  ExitCode open();
  /// Observes the ranges of all tensors.
  ExitCode calibrate();
  /// Subtracts from the biases what the quantization of weights adds to sums.
  ExitCode correctBiases();

  const QuantizeSettings &getSettings() const { return settings; }
  onnx::Quantizer &getQuantizer() { return *quantizer; }
  const std::vector<Sample> &getSamples() const { return samples; }
  const Executable &getFloatModel() const { return floatModel; }
  const quantize::Range &getRange(const std::string &tensor) const {
    return ranges.at(tensor);
  }
  int getNumCorrected() const { return corrected; }
  /// Returns the largest magnitudes of channels that equalization could scale.
  llvm::Expected<quantize::ChannelRanges> findChannelRanges();

  /// Runs the float model on a sample. The results are its own outputs, the
  /// quantized tensors, and those of findChannelRanges().
  llvm::Expected<std::vector<Tensor>> runFloat(size_t sample);
  /// Returns the float model's own outputs alone for a sample, on which it is
  /// run unless they are known.
  llvm::Expected<std::vector<Tensor>> runFloatOutputs(size_t sample);

private:
  ExitCode checkNodes();
  bool isSmall(const std::vector<Tensor> &results) const;
  ExitCode dropTensorsOfOtherTypes();

  QuantizeSettings settings;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  std::unique_ptr<onnx::Quantizer> quantizer;
  Executable floatModel;
  std::vector<Sample> samples;
  std::map<std::string, quantize::Range> ranges;
  /// Outputs of the float model for each sample, if they take little memory.
  std::vector<std::vector<Tensor>> cache;
  /// The model's own outputs for each sample, if they take little memory.
  std::map<size_t, std::vector<Tensor>> outputs;
  int corrected = 0;
};

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_SESSION_H
