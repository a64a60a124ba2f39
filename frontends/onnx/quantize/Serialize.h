//===- Serialize.h - An edited model as text --------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_SERIALIZE_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_SERIALIZE_H

#include "frontends/onnx/quantize/GraphIndex.h"

#include "llvm/Support/Error.h"

namespace nnc::onnx {

/// Returns the bytes of the model's file; `what` says in a message which model
/// is too large for one.
llvm::Expected<std::string> serialize(const ::onnx::ModelProto &model,
                                      const char *what);

/// Removes the shapes that the model states for what it computes. Where they do
/// not fit the inputs' shapes that the user gave, the import of the model
/// itself has warned already.
void forgetShapes(::onnx::ModelProto &model);

/// Adds a value to the outputs of a graph, unless it is one.
void addOutput(::onnx::GraphProto &graph, const std::string &value);

/// Returns whether a value is the result of a softmax, perhaps in another
/// shape.
bool isSoftmax(const GraphIndex &index, const std::string &value);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_SERIALIZE_H
