//===- BiasCorrection.h - Biases that compensate weight errors --*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_BIASCORRECTION_H
#define NNC_COMPILER_QUANTIZE_BIASCORRECTION_H

#include "compiler/quantize/Scales.h"
#include "compiler/quantize/Weights.h"

#include "mlir/IR/OwningOpRef.h"

namespace nnc::quantize {

/// Weights that one or several layers of a plan share, with their integers.
struct PlannedWeights {
  mlir::Value floats;
  int64_t axis; ///< axis of the channels with scales of their own, or -1
  ChannelShape shape;
  std::vector<double> leastScales = {};
  QuantizedWeights quantized = {};
};

/// Quantizes the weights of all layers of a plan. Layers that share weights
/// share their integers, with scales that suit the biases of all of them.
/// Appends the weights to `all` and returns for each layer the index of its
/// entry, or -1 if it has no weights.
std::vector<int> quantizePlanned(
    const Plan &plan, const llvm::DenseMap<mlir::Value, Parameters> &scales,
    const WeightPrecision &precision, std::vector<PlannedWeights> &all);

/// Returns the bias of a layer if it has one value for each channel, which can
/// be stored as integers in units of the scales of the sums; else an empty
/// list. A constant that all channels share stays float.
std::vector<float> getChannelBiases(const PlannedLayer &layer);
/// Returns the constant that holds the bias of a layer that has a biasAdd.
mlir::Value getBias(const PlannedLayer &layer);

/// An output of a module that holds the error which quantized weights cause in
/// the result of a layer of a plan: the layer applied to the differences
/// between quantized and original weights.
struct WeightError {
  mlir::Operation *layer;
  std::string output;
  int64_t axis;
};

/// Returns a copy of the plan's module with such outputs for the layers whose
/// bias can be corrected, which are added to `errors`.
mlir::OwningOpRef<mlir::ModuleOp>
makeWeightErrors(mlir::ModuleOp module, const Plan &plan,
                 const llvm::DenseMap<mlir::Value, Parameters> &scales,
                 const WeightPrecision &precision,
                 std::vector<WeightError> &errors);

/// Gives each layer that multiplies by weights a bias of its own with one value
/// for each channel, so that correctBias() can change it. The plan no longer
/// describes the module afterwards.
void giveBiases(const Plan &plan);

/// Subtracts the mean error of each channel from the bias of a layer. Adds and
/// removes no op. Returns the previous bias.
mlir::ElementsAttr correctBias(mlir::Operation *layer,
                               const std::vector<double> &means);

/// Sets the bias of a layer that has a bias of its own.
void setBias(mlir::Operation *layer, mlir::ElementsAttr bias);

/// The mean of each channel over the elements of several tensors.
class ChannelMeans {
public:
  void add(const ChannelShape &shape, llvm::ArrayRef<float> values);
  std::vector<double> get() const;

private:
  std::vector<double> sums;
  double count = 0; ///< number of values of each channel
};

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_BIASCORRECTION_H
