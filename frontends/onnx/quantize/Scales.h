//===- Scales.h - The scale of each quantized tensor ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_SCALES_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_SCALES_H

#include "frontends/onnx/quantize/Plan.h"

namespace nnc::onnx {

/// The parameters of tensors. Tensors with the same `source` have the same
/// ones: a layer between them can work on integers without rescaling them.
struct TensorScale {
  quantize::Parameters parameters;
  std::string source; ///< name of one of the tensors
};

/// Derives the scales of the plan's tensors from their ranges. Results of
/// layers that only move elements have the scale of their operand. The operands
/// and the result of a Concat have one scale, if none of them loses more than
/// one bit by it.
std::map<std::string, TensorScale>
assignScales(const Plan &plan,
             const std::map<std::string, quantize::Range> &ranges,
             quantize::Storage storage);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_SCALES_H
