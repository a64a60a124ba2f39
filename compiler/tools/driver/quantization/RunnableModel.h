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

/// A float model, of any format, and the quantized one that is made of it,
/// while both run on samples.
class RunnableModel {
public:
  virtual ~RunnableModel() = default;
  /// The layers that are quantized now.
  virtual std::vector<precision::SearchedLayer> listLayers() const = 0;
  /// Sets which layers stay floats, by their numbers, and why. All others are
  /// quantized that can be.
  virtual ExitCode keepFloats(const std::map<int, std::string> &layers) = 0;

  virtual const QuantizeSettings &getSettings() const = 0;
  /// The float model as a program with more outputs: those of the model come
  /// first, the tensors that may be quantized behind them.
  virtual const Executable &getFloatModel() const = 0;
  virtual const std::vector<Sample> &getSamples() const = 0;
  virtual int getNumOutputs() const = 0; ///< of the model itself
  /// Whether an output is the result of a softmax, perhaps in another shape.
  virtual bool isSoftmax(const std::string &output) const = 0;
  virtual quantize::Parameters
  getParameters(const std::string &tensor) const = 0;
  /// Returns all outputs of that program for the sample of a number.
  virtual llvm::Expected<std::vector<Tensor>> runFloat(size_t sample) = 0;
  /// Returns the outputs of the model itself for a sample, from an earlier run
  /// if there was one.
  virtual llvm::Expected<std::vector<Tensor>>
  runFloatOutputs(size_t sample) = 0;
  /// Returns the quantized model as nnc compiles it; if `observed` is not null,
  /// with the dequantized tensors as additional outputs, whose names are put
  /// there by those of the tensors.
  virtual llvm::Expected<std::string>
  print(std::map<std::string, std::string> *observed = nullptr) = 0;
  /// Returns what the file of the quantized model is to hold.
  virtual llvm::Expected<std::string> printFile() = 0;
  /// Returns what the name of such a file ends in.
  virtual const char *getExtension() const = 0;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_QUANTIZATION_RUNNABLEMODEL_H
