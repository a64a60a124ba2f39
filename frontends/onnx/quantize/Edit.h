//===- Edit.h - Writes quantize and dequantize nodes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_EDIT_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_EDIT_H

#include "compiler/quantize/Weights.h"
#include "frontends/onnx/quantize/Scales.h"

namespace nnc::onnx {

/// Returns the model in QDQ form: a QuantizeLinear and a DequantizeLinear
/// behind each tensor of the plan, and a DequantizeLinear behind integer
/// weights and biases. `dequantized` receives the name of the dequantized form
/// of each tensor.
::onnx::ModelProto
makeQuantized(const ::onnx::ModelProto &model, const Plan &plan,
              const std::map<std::string, TensorScale> &scales,
              const quantize::WeightPrecision &precision,
              std::map<std::string, std::string> &dequantized);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_EDIT_H
