//===- Prepare.h - Makes a loaded model fit to be quantized ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_PREPARE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_PREPARE_H

#include "frontends/common/WeightFiles.h"

#include "onnx/onnx_pb.h"

#include <optional>

namespace nnc::onnx {

/// Reads the model at `path` with all its external data, and sorts its nodes.
/// Returns nullopt after an error.
std::optional<::onnx::ModelProto> loadWhole(llvm::StringRef path,
                                            llvm::StringRef externalData,
                                            frontends::Problems &problems);

/// Converts the model to the first operator set that supports its QDQ form if
/// its own is older: 10 for per-tensor scales, 13 for per-channel scales.
void raiseOpset(::onnx::ModelProto &model, bool perChannel,
                frontends::Problems &problems);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_PREPARE_H
