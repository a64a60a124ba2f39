//===- ErrorModel.h - A model that measures errors of its layers *- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_ERRORMODEL_H
#define NNC_FRONTENDS_ONNX_COMPRESS_ERRORMODEL_H

#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// Returns the model with each layer that reads one of the weights beside
/// itself with the weights that `getMatrix` returns by their number. Outputs
/// have the norms of what the layers compute and of the differences, in real
/// numbers; `errors` gets their names.
::onnx::ModelProto
makeErrorModel(::onnx::ModelProto &model,
               const std::vector<LayerWeights> &weights,
               llvm::function_ref<const std::vector<float> &(size_t)> getMatrix,
               std::vector<compression::ObservedError> &errors);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_ERRORMODEL_H
