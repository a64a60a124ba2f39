//===- ErrorModel.h - A model that measures errors of its layers *- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_ERRORMODEL_H
#define NNC_FRONTENDS_ONNX_COMPRESS_ERRORMODEL_H

#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// Returns the model with a copy of each layer that reads one of the weights.
/// The copy reads the weights that `getMatrix` returns for the number of the
/// original weights. For each such layer, additional outputs are the norm of
/// the original result and the norm of the difference of both results, as real
/// numbers; `errors` receives the names of these outputs.
::onnx::ModelProto
makeErrorModel(::onnx::ModelProto &model,
               const std::vector<LayerWeights> &weights,
               llvm::function_ref<const std::vector<float> &(size_t)> getMatrix,
               std::vector<compression::ObservedError> &errors);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_ERRORMODEL_H
