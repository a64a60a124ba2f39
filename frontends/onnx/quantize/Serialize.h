//===- Serialize.h - Serializes an edited model ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_SERIALIZE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_SERIALIZE_H

#include "frontends/onnx/quantize/GraphIndex.h"

#include "llvm/Support/Error.h"

namespace nnc::onnx {

/// Returns the bytes of the model's file, or an error if the model is too large
/// for one file; the error calls the model `what`.
llvm::Expected<std::string> serialize(const ::onnx::ModelProto &model,
                                      const char *what);

/// Removes the shapes that the model declares for computed values. If they
/// contradict the shapes that the user gave for inputs, the import of the
/// original model has already emitted a warning.
void forgetShapes(::onnx::ModelProto &model);

/// Adds a value to the outputs of a graph unless it already is an output.
void addOutput(::onnx::GraphProto &graph, const std::string &value);

/// Returns true if a value is the result of a softmax, possibly reshaped.
bool isSoftmax(const GraphIndex &index, const std::string &value);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_SERIALIZE_H
