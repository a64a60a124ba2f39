//===- Load.h - Reads a model file ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_FILE_LOAD_H
#define NNC_FRONTENDS_ONNX_FILE_LOAD_H

#include "frontends/common/Problems.h"
#include "frontends/onnx/Import.h"

#include "onnx/onnx_pb.h"

#include <optional>

namespace nnc::onnx {

struct LoadedModel {
  ::onnx::ModelProto proto;
  std::string sha256; ///< hash of the file in hexadecimal
};

/// Parses the model file at `path`. If that fails, reports why in `problems`
/// and returns nullopt.
std::optional<LoadedModel> loadModel(llvm::StringRef path, Problems &problems);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_FILE_LOAD_H
