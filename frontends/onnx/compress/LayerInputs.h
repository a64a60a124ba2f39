//===- LayerInputs.h - Inputs of layers with weights ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H

#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// Describes the input vectors by which a use of weights is multiplied. The
/// constant of the weights has the shape `dims`. Returns nullopt and sets the
/// reason if nothing is known about the vectors.
std::optional<compression::ObservedUse> findInputs(const GraphIndex &index,
                                                   const WeightUse &use,
                                                   llvm::ArrayRef<int64_t> dims,
                                                   std::string &reason);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H
