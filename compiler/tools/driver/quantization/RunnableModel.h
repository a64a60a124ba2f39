//===- RunnableModel.h - A model that is quantized and run ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_RUNNABLEMODEL_H
#define NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_RUNNABLEMODEL_H

#include "compiler/precision/SearchedModel.h"
#include "compiler/tools/driver/execute/Executable.h"
#include "compiler/tools/driver/quantization/QuantizeSettings.h"
#include "compiler/tools/driver/samples/ObservedRanges.h"

#include <map>
#include <string>
#include <vector>

namespace nnc::tools {

/// A float model of any format and the quantized model that is made from it,
/// both of which can be run on samples.
class RunnableModel {
public:
  virtual ~RunnableModel() = default;
  /// Returns the layers that are quantized at present.
  virtual std::vector<precision::SearchedLayer> listLayers() const = 0;
  /// Sets the layers that stay float, as a map from their numbers to the
  /// reasons. All others are quantized if they can be.
  virtual ExitCode keepFloats(const std::map<int, std::string> &layers) = 0;

  virtual const QuantizeSettings &getSettings() const = 0;
  /// Returns the float model as a program with additional outputs: the outputs
  /// of the model come first, followed by the tensors that may be quantized.
  virtual const Executable &getFloatModel() const = 0;
  virtual const std::vector<Sample> &getSamples() const = 0;
  /// Returns the number of outputs of the model itself.
  virtual int getNumOutputs() const = 0;
  /// Returns true if an output is the result of a softmax, possibly reshaped.
  virtual bool isSoftmax(const std::string &output) const = 0;
  virtual quantize::Parameters
  getParameters(const std::string &tensor) const = 0;
  /// Returns all outputs of getFloatModel() for the sample with the index
  /// `sample`.
  virtual llvm::Expected<std::vector<Tensor>> runFloat(size_t sample) = 0;
  /// Returns only the outputs of the model itself for a sample, from an earlier
  /// run if there was one.
  virtual llvm::Expected<std::vector<Tensor>>
  runFloatOutputs(size_t sample) = 0;
  /// Returns the quantized model in the form that nnc compiles. If `observed`
  /// is not null, the model has the dequantized tensors as additional outputs,
  /// and `observed` maps the names of tensors to the names of these outputs.
  virtual llvm::Expected<std::string>
  print(std::map<std::string, std::string> *observed = nullptr) = 0;
  /// Returns the contents of the file of the quantized model.
  virtual llvm::Expected<std::string> printFile() = 0;
  /// Returns the extension of such a file's name.
  virtual const char *getExtension() const = 0;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_RUNNABLEMODEL_H
