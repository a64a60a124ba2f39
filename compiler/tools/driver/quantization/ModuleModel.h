//===- ModuleModel.h - A module during a search for float layers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEMODEL_H
#define NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEMODEL_H

#include "compiler/tools/driver/quantization/ModuleQuantizer.h"
#include "compiler/tools/driver/quantization/RunnableModel.h"

namespace nnc::tools {

/// A model in the dialects nn and qnn, from any frontend, on which the search
/// for float layers runs.
class ModuleModel : public RunnableModel {
public:
  /// `quantizer` must have quantized the module already.
  ModuleModel(ModuleQuantizer &quantizer, const QuantizeSettings &settings)
      : quantizer(quantizer), settings(settings) {}

  std::vector<precision::SearchedLayer> listLayers() const override;
  ExitCode keepFloats(const std::map<int, std::string> &layers) override;
  const QuantizeSettings &getSettings() const override { return settings; }
  const Executable &getFloatModel() const override {
    return quantizer.getFloatModel();
  }
  const std::vector<Sample> &getSamples() const override {
    return quantizer.getSamples();
  }
  int getNumOutputs() const override { return int(quantizer.getNumOutputs()); }
  bool isSoftmax(const std::string &output) const override;
  quantize::Parameters getParameters(const std::string &tensor) const override {
    return quantizer.getParameters(tensor);
  }
  llvm::Expected<std::vector<Tensor>> runFloat(size_t sample) override {
    return quantizer.runFloat(sample);
  }
  llvm::Expected<std::vector<Tensor>> runFloatOutputs(size_t sample) override {
    return quantizer.runFloatOutputs(sample);
  }
  llvm::Expected<std::string>
  print(std::map<std::string, std::string> *observed) override;
  llvm::Expected<std::string> printFile() override {
    return printModuleFile(settings.output, quantizer.getModule());
  }
  const char *getExtension() const override {
    return llvm::StringRef(settings.output).ends_with(".mlir") ? ".mlir"
                                                               : ".mlirbc";
  }

private:
  ModuleQuantizer &quantizer;
  const QuantizeSettings &settings;
  /// The numbers of layers, by name. Layers with the same name share a number,
  /// and stay float together.
  mutable std::map<std::string, int> numbers;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_MODULEMODEL_H
