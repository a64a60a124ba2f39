//===- FoldAffine.h - Folds scales and offsets into weights ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H

#include "compiler/quantize/AffineFolds.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Applies the folds that the import of the model found: scales and offsets of
/// nodes behind a Conv, ConvTranspose, Gemm or MatMul, such as a
/// BatchNormalization, are folded into its weights and bias, and these nodes
/// are removed. If both were quantized separately, both would round. A MatMul
/// has no bias, so that an Add for the offsets remains behind it. Layers whose
/// nodes differ from those of the fold are not changed. Returns the number of
/// removed nodes.
int foldAffine(::onnx::ModelProto &model,
               const std::vector<quantize::AffineFold> &folds);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H
