//===- LinearLayer.cpp - Layers that multiply by constant weights ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/LinearLayer.h"

using namespace nnc::onnx;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

std::optional<LinearLayer> LinearLayer::get(GraphIndex &index, int number) {
  const NodeProto &node = index.getNode(number);
  bool isKnown =
      node.domain().empty() &&
      (node.op_type() == "Conv" || node.op_type() == "Gemm" ||
       node.op_type() == "ConvTranspose" || node.op_type() == "MatMul");
  if (!isKnown || !hasInput(node, 1))
    return std::nullopt;
  const TensorProto *tensor = index.getConstant(node.input(1));
  auto weights = index.getFloats(node.input(1));
  if (!weights || weights->empty())
    return std::nullopt;
  LinearLayer layer;
  layer.node = number;
  std::vector<int64_t> dims(tensor->dims().begin(), tensor->dims().end());
  layer.weights = std::move(*weights);
  if (node.op_type() == "Conv" || node.op_type() == "ConvTranspose") {
    bool isConv = node.op_type() == "Conv";
    layer.axis = isConv ? 0 : 1;
    if (!layer.setShape(isConv ? Kind::conv : Kind::convTranspose,
                        std::move(dims), getInt(node, "group", 1)))
      return std::nullopt;
  } else {
    bool isTurned = getInt(node, "transB", 0) != 0;
    layer.axis = isTurned ? 0 : 1;
    if (!layer.setShape(isTurned ? Kind::outputsFirst : Kind::inputsFirst,
                        std::move(dims)))
      return std::nullopt;
    layer.isPlain =
        getFloat(node, "alpha", 1) == 1 && getFloat(node, "beta", 1) == 1;
  }
  if (node.op_type() == "MatMul" || !hasInput(node, 2))
    return layer;
  const TensorProto *added = index.getConstant(node.input(2));
  auto bias = index.getFloats(node.input(2));
  layer.isBiasKnown = bias && int64_t(bias->size()) == layer.outputs &&
                      added->dims_size() > 0 &&
                      added->dims(added->dims_size() - 1) == layer.outputs;
  if (layer.isBiasKnown)
    layer.bias = std::move(*bias);
  return layer;
}

void LinearLayer::store(GraphIndex &index, FreshNames &names) const {
  NodeProto &proto = index.getNode(node);
  auto write = [&](int operand, const std::vector<float> &values,
                   llvm::ArrayRef<int64_t> shape) {
    bool isNew = !hasInput(proto, operand);
    std::string name = isNew ? "" : proto.input(operand);
    if (!isNew && index.getOnlyReader(name) == node) {
      setFloats(*index.getConstant(name), values);
      return;
    }
    while (proto.input_size() <= operand)
      proto.add_input();
    std::string base = proto.name().empty() ? proto.output(0) : proto.name();
    name = names.make(isNew ? base + "_bias" : name + "_of_" + base);
    addInitializer<float>(index.getGraph(), name, TensorProto::FLOAT, shape,
                          values);
    proto.set_input(operand, name);
  };
  write(1, weights, dims);
  if (!bias.empty())
    write(2, bias, outputs);
}
