//===- Equalize.h - Cross-layer equalization ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H

#include "compiler/quantize/Range.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Returns the names of the values between two layers whose channels equalize()
/// may scale.
std::vector<std::string> findEqualizable(::onnx::ModelProto &model);

/// Scales the channels between pairs of layers (Conv, ConvTranspose or Gemm)
/// with quantize::equalize(). At most a Relu lies between both layers, and
/// nothing else reads the channels. Values without ranges are not scaled.
/// Returns the number of pairs that were scaled.
int equalize(::onnx::ModelProto &model, const quantize::ChannelRanges &ranges);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H
