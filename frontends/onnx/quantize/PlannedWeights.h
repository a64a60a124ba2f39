//===- PlannedWeights.h - The integer weights and biases of a plan --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_PLANNEDWEIGHTS_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_PLANNEDWEIGHTS_H

#include "compiler/quantize/Weights.h"
#include "frontends/onnx/quantize/Scales.h"

namespace nnc::onnx {

/// The quantized weights of one or several layers.
struct PlannedWeights {
  std::string name; ///< name of the constant
  int64_t axis;     ///< axis of per-channel scales, or -1
  std::vector<int64_t> dims;
  quantize::ChannelShape shape;
  quantize::QuantizedWeights quantized;
};

/// Quantizes the weights of all layers of the plan into `all`. Returns for each
/// layer the index of its weights in `all`, or -1.
std::vector<int>
quantizePlanned(const GraphIndex &index, const Plan &plan,
                const std::map<std::string, TensorScale> &scales,
                const quantize::WeightPrecision &precision,
                std::vector<PlannedWeights> &all);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_PLANNEDWEIGHTS_H
