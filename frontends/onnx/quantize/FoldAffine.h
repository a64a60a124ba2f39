//===- FoldAffine.h - Scales and offsets of channels into weights ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Folds a BatchNormalization, or a Mul or Add of one constant or of one for
/// each channel, that alone reads the result of a Conv or ConvTranspose
/// (BatchNormalization also of a Gemm) into the weights and bias of that.
/// Quantized, both would round. Returns how many nodes were folded.
int foldAffine(::onnx::ModelProto &model);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H
