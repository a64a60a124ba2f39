//===- Equalize.h - Cross-layer equalization ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Scales the channels between two layers (Conv, ConvTranspose or Gemm) so that
/// the weights which compute a channel and those which read it have about the
/// same range (Nagel et al., "Data-Free Quantization Through Weight
/// Equalization and Bias Correction", 2019, section 4.1). Between the layers
/// may be a Relu; nothing else may read the channels. The factors are powers of
/// two, so that the model computes the same floats as before. Returns how many
/// pairs were scaled.
int equalize(::onnx::ModelProto &model);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H
