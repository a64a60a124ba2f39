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

/// Scales the channels between two layers (Conv, ConvTranspose or Gemm) so that
/// the weights which compute a channel and those which read it have about the
/// same range (Nagel et al., "Data-Free Quantization Through Weight
/// Equalization and Bias Correction", 2019, section 4.1). Between the layers
/// may be a Relu; nothing else may read the channels. The factors are powers of
/// two, so that the model computes the same floats as before.
///
/// A channel whose values are large for its weights, because of its bias, keeps
/// them: no channel gets a larger magnitude than the largest of all channels in
/// `ranges`, which would make the integers of all others coarser. Values
/// without ranges are not scaled. Returns how many pairs were scaled.
int equalize(::onnx::ModelProto &model, quantize::ChannelRanges ranges);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_EQUALIZE_H
