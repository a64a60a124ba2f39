//===- Serialize.cpp - An edited model as text ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Serialize.h"

using namespace nnc::onnx;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

llvm::Expected<std::string> nnc::onnx::serialize(const ModelProto &model,
                                                 const char *what) {
  std::string text;
  if (model.ByteSizeLong() > INT32_MAX || !model.SerializeToString(&text))
    return llvm::createStringError(
        std::string(what) +
        " is larger than 2 GB, the most that a file of ONNX holds");
  return text;
}

void nnc::onnx::forgetShapes(ModelProto &model) {
  model.mutable_graph()->clear_value_info();
  for (auto &output : *model.mutable_graph()->mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
}

void nnc::onnx::addOutput(GraphProto &graph, const std::string &value) {
  for (const auto &output : graph.output())
    if (output.name() == value)
      return;
  graph.add_output()->set_name(value);
}

bool nnc::onnx::isSoftmax(const GraphIndex &index, const std::string &value) {
  static constexpr llvm::StringLiteral moves[] = {
      "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Identity"};
  int node = index.getProducer(value);
  while (node >= 0) {
    const NodeProto &proto = index.getNode(node);
    if (!llvm::is_contained(moves, proto.op_type()) || !hasInput(proto, 0))
      return proto.op_type() == "Softmax" || proto.op_type() == "LogSoftmax";
    node = index.getProducer(proto.input(0));
  }
  return false;
}
