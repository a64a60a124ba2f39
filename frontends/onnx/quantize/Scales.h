//===- Scales.h - The scale of each quantized tensor ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_SCALES_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_SCALES_H

#include "frontends/onnx/quantize/Plan.h"

namespace nnc::onnx {

/// The quantization parameters of a tensor. Tensors with the same `source`
/// share them, so that an operator between two such tensors needs no rescaling.
struct TensorScale {
  quantize::Parameters parameters;
  std::string source; ///< name of one of the tensors
};

/// Computes the scale and zero point of each tensor of the plan from its range.
/// The result of an operator that only moves elements has the scale of its
/// operand. All operands and the result of a Concat share one scale, unless
/// that would cost one of them more than one bit of precision.
std::map<std::string, TensorScale>
assignScales(const Plan &plan,
             const std::map<std::string, quantize::Range> &ranges,
             quantize::Storage storage);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_SCALES_H
