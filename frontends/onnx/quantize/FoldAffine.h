//===- FoldAffine.h - Scales and offsets of channels into weights ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H

#include "compiler/quantize/AffineFolds.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Writes the folds that were found in the import of the model: the weights and
/// the bias of a Conv, ConvTranspose, Gemm or MatMul take up scales and offsets
/// of the nodes behind it, such as a BatchNormalization, which go. Quantized,
/// both would round. Behind a MatMul, which has no bias, an Add stays for the
/// offsets. Layers whose nodes are not those of the fold stay as they are.
/// Returns how many nodes went.
int foldAffine(::onnx::ModelProto &model,
               const std::vector<quantize::AffineFold> &folds);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_FOLDAFFINE_H
