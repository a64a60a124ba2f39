//===- LayerInputs.h - What the weights of a node multiply ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H

#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// Returns the vectors that a use of weights multiplies, whose constant has
/// shape `dims`. If nothing is known of them, returns nullopt and the reason.
std::optional<compression::ObservedUse> findInputs(const GraphIndex &index,
                                                   const WeightUse &use,
                                                   llvm::ArrayRef<int64_t> dims,
                                                   std::string &reason);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H
