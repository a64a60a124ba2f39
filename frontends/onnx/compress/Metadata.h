//===- Metadata.h - Metadata of a compressed model ------------------------===//
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

/// The key of the metadata entry that records how weights were compressed, as a
/// JSON object with the names of the compressed weights as keys. It is only
/// informative: the weights themselves are stored as in any model.
inline constexpr const char *kCompressionKey = "nnc.compression";

/// Returns the metadata of an earlier compression of the model, or an empty
/// object if there was none. Warns if nnc cannot read them.
llvm::json::Object readCompression(const ::onnx::ModelProto &model,
                                   const frontends::Problems &problems);

/// Sets the model's metadata on compressed weights to `weights`.
void setCompression(::onnx::ModelProto &model, llvm::json::Object weights);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_METADATA_H
