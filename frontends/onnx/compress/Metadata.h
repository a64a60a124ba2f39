//===- Metadata.h - What a compressed model says of itself ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_METADATA_H
#define NNC_FRONTENDS_ONNX_COMPRESS_METADATA_H

#include "frontends/common/Problems.h"

#include "onnx/onnx_pb.h"
#include "llvm/Support/JSON.h"

namespace nnc::onnx {

/// The key in a model's metadata under which an object of JSON says by the name
/// of each compressed weight how it was compressed. It is a remark: the weights
/// themselves are stored as in any model.
inline constexpr const char *kCompressionKey = "nnc.compression";

/// Returns what an earlier compression says of weights; nothing if there was
/// none. Warns if the model says something that nnc cannot read.
llvm::json::Object readCompression(const ::onnx::ModelProto &model,
                                   const frontends::Problems &problems);

/// Makes `weights` what the model's metadata say of weights.
void setCompression(::onnx::ModelProto &model, llvm::json::Object weights);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_METADATA_H
