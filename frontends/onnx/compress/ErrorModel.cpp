//===- ErrorModel.cpp - A model that measures errors of its layers --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/ErrorModel.h"

#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/quantize/Serialize.h"

using namespace nnc::onnx;
using namespace nnc::compression;
using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {

/// A builder that adds nodes to a copy of the model of `index`.
class ErrorModel {
public:
  ErrorModel(ModelProto &model, std::vector<ObservedError> &errors)
      : index(model), copy(model), names(model), graph(*copy.mutable_graph()),
        errors(errors) {
    forgetShapes(copy);
  }

  void add(size_t number, const LayerWeights &weights,
           const std::vector<float> &matrix);
  ModelProto take() { return std::move(copy); }

private:
  std::string addNode(const char *op, const std::vector<std::string> &inputs,
                      const std::string &wanted);
  void setInt(const char *name, int64_t value);
  std::string addReal(const NodeProto &layer, const std::string &value);
  std::string addNorm(const std::string &value, const std::string &wanted);
  std::string addLayer(const WeightUse &use, const std::string &changed);

  const GraphIndex index;
  ModelProto copy;
  FreshNames names;
  ::onnx::GraphProto &graph;
  std::vector<ObservedError> &errors;
};

} // namespace

/// Adds a node and returns the name of its result, which is also the node's
/// name.
std::string ErrorModel::addNode(const char *op,
                                const std::vector<std::string> &inputs,
                                const std::string &wanted) {
  NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  node.set_name(names.make(wanted));
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(node.name());
  return node.name();
}

/// Sets an attribute of the newest node.
void ErrorModel::setInt(const char *name, int64_t value) {
  AttributeProto &attribute =
      *graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
}

/// Returns the result `value` of a layer as real numbers, dequantized if
/// necessary.
std::string ErrorModel::addReal(const NodeProto &layer,
                                const std::string &value) {
  llvm::StringRef op = layer.op_type();
  if (op == "QLinearConv" || op == "QLinearMatMul")
    return addNode("DequantizeLinear", {value, layer.input(6), layer.input(7)},
                   value + "_real");
  if (op != "ConvInteger" && op != "MatMulInteger")
    return value;
  std::string real = addNode("Cast", {value}, value + "_real");
  setInt("to", TensorProto::FLOAT);
  return real;
}

std::string ErrorModel::addNorm(const std::string &value,
                                const std::string &wanted) {
  std::string name = addNode("ReduceSumSquare", {value}, wanted);
  setInt("keepdims", 0);
  addOutput(graph, name);
  return name;
}

/// Adds a copy of a layer that reads the constant `changed`. All results of the
/// copy have new names. Returns the first one.
std::string ErrorModel::addLayer(const WeightUse &use,
                                 const std::string &changed) {
  std::string operand = changed;
  if (use.dequantize >= 0) {
    NodeProto node = index.getNode(use.dequantize);
    operand = names.make(changed + "_real");
    node.set_name(operand);
    node.set_input(0, changed);
    node.set_output(0, operand);
    *graph.add_node() = std::move(node);
  }
  NodeProto node = index.getNode(use.layer);
  node.set_input(use.operand, operand);
  node.set_name(names.make(getNodeName(node).str() + "_compressed"));
  std::string first;
  for (std::string &output : *node.mutable_output()) {
    if (output.empty())
      continue;
    output = names.make(output + "_compressed");
    if (first.empty())
      first = output;
  }
  *graph.add_node() = std::move(node);
  return first;
}

void ErrorModel::add(size_t number, const LayerWeights &weights,
                     const std::vector<float> &matrix) {
  TensorProto &tensor = *graph.add_initializer();
  tensor = *index.getConstant(weights.name);
  tensor.set_name(names.make(weights.name + "_compressed"));
  weights.store(matrix, tensor);
  for (const WeightUse &use : weights.uses) {
    const NodeProto &layer = index.getNode(use.layer);
    std::string base = getNodeName(layer).str();
    const std::string &own = *llvm::find_if(
        layer.output(), [](const std::string &name) { return !name.empty(); });
    std::string after = addReal(layer, addLayer(use, tensor.name()));
    std::string before = addReal(layer, own);
    std::string difference =
        addNode("Sub", {after, before}, base + "_difference");
    std::string signal = addNorm(before, base + "_signal");
    errors.push_back({number, signal, addNorm(difference, base + "_noise")});
  }
}

ModelProto nnc::onnx::makeErrorModel(
    ModelProto &model, const std::vector<LayerWeights> &weights,
    llvm::function_ref<const std::vector<float> &(size_t)> getMatrix,
    std::vector<ObservedError> &errors) {
  ErrorModel result(model, errors);
  for (size_t i = 0; i < weights.size(); ++i)
    result.add(i, weights[i], getMatrix(i));
  return result.take();
}
