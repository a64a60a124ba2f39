//===- BiasCorrection.h - Biases that make up for weights -------*- C++ -*-===//
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

/// The weights of one or several layers of a plan as integers.
struct PlannedWeights {
  mlir::Value floats;
  int64_t axis; ///< of the channels that have scales of their own, or -1
  ChannelShape shape;
  std::vector<double> leastScales = {};
  QuantizedWeights quantized = {};
};

/// Quantizes the weights of all layers. Layers that share weights share their
/// integers, whose scales then fit the biases of all of them. Returns for each
/// layer the number of its entry in `all`, or -1.
std::vector<int>
quantizePlanned(const Plan &plan,
                const llvm::DenseMap<mlir::Value, Parameters> &scales,
                bool perChannel, std::vector<PlannedWeights> &all);

/// The bias of a layer if there is one for each channel: these can be integers
/// of the scales of the sums. A constant that all channels share stays float.
std::vector<float> getChannelBiases(const PlannedLayer &layer);
/// The constant that holds the bias of a layer with a biasAdd.
mlir::Value getBias(const PlannedLayer &layer);

/// An output of a module that tells what a layer of a plan computes with the
/// errors of its quantized weights in the place of the weights.
struct WeightError {
  mlir::Operation *layer;
  std::string output;
  int64_t axis;
};

/// Returns a copy of the plan's module that also computes these errors for the
/// layers whose bias can be corrected.
mlir::OwningOpRef<mlir::ModuleOp>
makeWeightErrors(mlir::ModuleOp module, const Plan &plan,
                 const llvm::DenseMap<mlir::Value, Parameters> &scales,
                 bool perChannel, std::vector<WeightError> &errors);

/// Gives each layer that multiplies by weights a bias of its own, for each
/// channel, so that correctBias() can change it. The plan is that of another
/// module then.
void giveBiases(const Plan &plan);

/// Subtracts the mean error of each channel from the bias of a layer. The
/// module keeps all of its ops. Returns what the bias was.
mlir::ElementsAttr correctBias(mlir::Operation *layer,
                               const std::vector<double> &means);

/// Makes `bias` the bias of a layer that has one of its own.
void setBias(mlir::Operation *layer, mlir::ElementsAttr bias);

/// The means of the channels of values along an axis, over several tensors.
class ChannelMeans {
public:
  void add(const ChannelShape &shape, llvm::ArrayRef<float> values);
  std::vector<double> get() const;

private:
  std::vector<double> sums;
  double count = 0; ///< values of a channel
};

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_BIASCORRECTION_H
