//===- OnnxModel.h - An ONNX file while it is quantized ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_QUANTIZE_ONNXMODEL_H
#define NNC_COMPILER_TOOLS_NNC_QUANTIZE_ONNXMODEL_H

#include "compiler/tools/driver/execute/SampledRuns.h"
#include "compiler/tools/driver/quantization/RunnableModel.h"

namespace nnc::tools {

/// The float model of an ONNX file, the samples, and the ranges of the tensors
/// over the samples.
class OnnxModel : public RunnableModel {
public:
  explicit OnnxModel(QuantizeSettings settings)
      : settings(std::move(settings)), diagnostics(context) {}

  /// Reads the model, builds it with its tensors as additional outputs, and
  /// reads the samples.
  ExitCode open();
  /// Observes the ranges of all tensors.
  ExitCode calibrate();
  /// Subtracts from the biases the mean error that quantizing the weights adds
  /// to sums.
  ExitCode correctBiases();

  std::vector<precision::SearchedLayer> listLayers() const override;
  ExitCode keepFloats(const std::map<int, std::string> &layers) override {
    quantizer->keepFloats(layers);
    return ExitCode::done;
  }
  const QuantizeSettings &getSettings() const override { return settings; }
  const Executable &getFloatModel() const override { return runs.getProgram(); }
  const std::vector<Sample> &getSamples() const override {
    return runs.getSamples();
  }
  int getNumOutputs() const override { return quantizer->getNumOutputs(); }
  bool isSoftmax(const std::string &output) const override {
    return quantizer->isSoftmax(output);
  }
  quantize::Parameters getParameters(const std::string &tensor) const override {
    return quantizer->getParameters(tensor);
  }
  llvm::Expected<std::vector<Tensor>> runFloat(size_t sample) override {
    return runs.run(sample);
  }
  llvm::Expected<std::vector<Tensor>> runFloatOutputs(size_t sample) override {
    return runs.runOutputs(sample);
  }
  llvm::Expected<std::string>
  print(std::map<std::string, std::string> *observed) override {
    return observed ? quantizer->printQuantized(observed)
                    : quantizer->printWithoutShapes();
  }
  llvm::Expected<std::string> printFile() override {
    return quantizer->printQuantized();
  }
  const char *getExtension() const override { return ".onnx"; }

  onnx::Quantizer &getQuantizer() { return *quantizer; }
  const quantize::Range &getRange(const std::string &tensor) const {
    return ranges.at(tensor);
  }
  int getNumCorrected() const { return corrected; }
  /// Returns the largest magnitude of each channel that equalization could
  /// scale.
  llvm::Expected<quantize::ChannelRanges> findChannelRanges();

private:
  ExitCode checkNodes();
  ExitCode dropTensorsOfOtherTypes();

  QuantizeSettings settings;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  std::unique_ptr<onnx::Quantizer> quantizer;
  SampledRuns runs; ///< runs of the float model
  std::map<std::string, quantize::Range> ranges;
  int corrected = 0;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_QUANTIZE_ONNXMODEL_H
