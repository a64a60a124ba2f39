//===- LayerRules.cpp - How each kind of node is quantized ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/LayerRules.h"

#include "frontends/onnx/quantize/LinearLayer.h"

#include <cmath>

using namespace nnc::onnx;
using ::onnx::NodeProto;

namespace {

struct OpKind {
  llvm::StringLiteral op;
  Kind kind;
};

constexpr OpKind kOps[] = {
    {"Conv", Kind::linear},
    {"ConvTranspose", Kind::linear},
    {"Gemm", Kind::linear},
    {"MatMul", Kind::linear},
    {"Add", Kind::join},
    {"Mul", Kind::join},
    {"Concat", Kind::concat},
    {"Relu", Kind::clip},
    {"Clip", Kind::clip},
    {"AveragePool", Kind::average},
    {"GlobalAveragePool", Kind::average},
    {"MaxPool", Kind::move},
    {"GlobalMaxPool", Kind::move},
    {"Reshape", Kind::move},
    {"Flatten", Kind::move},
    {"Squeeze", Kind::move},
    {"Unsqueeze", Kind::move},
    {"Transpose", Kind::move},
    {"Slice", Kind::move},
    {"DepthToSpace", Kind::move},
    {"SpaceToDepth", Kind::move},
    {"Resize", Kind::move},
    {"Gather", Kind::table},
};

} // namespace

std::string nnc::onnx::getName(const NodeProto &node) {
  return node.name().empty() && node.output_size() ? node.output(0)
                                                   : node.name();
}

const std::vector<std::string> &nnc::onnx::getQuantizableOps() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OpKind &each : kOps)
      all.push_back(each.op.str());
    return all;
  }();
  return names;
}

std::optional<Kind> nnc::onnx::getKind(const NodeProto &node) {
  if (!node.domain().empty() || node.output_size() == 0)
    return std::nullopt;
  for (const OpKind &each : kOps)
    if (node.op_type() == each.op)
      return each.kind;
  return std::nullopt;
}

bool nnc::onnx::isBiasAdd(const GraphIndex &index, const NodeProto &add,
                          const std::string &sums, int64_t channels) {
  if (add.op_type() != "Add" || !add.domain().empty() ||
      add.input_size() != 2 || add.input(0) == add.input(1))
    return false;
  const std::string &other = add.input(add.input(0) == sums ? 1 : 0);
  const auto *tensor = index.getConstant(other);
  auto values = index.getFloats(other);
  return values && int64_t(values->size()) == channels &&
         tensor->dims_size() > 0 &&
         tensor->dims(tensor->dims_size() - 1) == channels;
}

std::string nnc::onnx::describeLinear(GraphIndex &index, PlannedLayer &layer) {
  const NodeProto &node = index.getNode(layer.node);
  const std::string &op = node.op_type();
  if (!hasInput(node, 0) || !hasInput(node, 1))
    return "an operand is missing";
  bool isConstant[2] = {index.isConstant(node.input(0)),
                        index.isConstant(node.input(1))};
  if (isConstant[0] && isConstant[1])
    return "all of its operands are constants";
  if (isConstant[0] && op != "MatMul")
    return "its first operand is a constant";
  bool isConv = op == "Conv" || op == "ConvTranspose";
  if (isConv && !isConstant[1])
    return "its weights are computed";
  for (int i = 0; i < 2; ++i) {
    if (!isConstant[i]) {
      layer.inputs.push_back(node.input(i));
      continue;
    }
    layer.weights = i;
    auto values = index.getFloats(node.input(i));
    if (!values || values->empty())
      return "its weights are not 32-bit floats";
    for (float value : *values)
      if (!std::isfinite(value))
        return "its weights hold values that are not finite";
  }
  auto known =
      layer.weights == 1 ? LinearLayer::get(index, layer.node) : std::nullopt;
  if (isConv && !known)
    return "the shape of its weights does not fit it";
  if (known)
    layer.axis = known->axis;
  if (op == "MatMul" || !hasInput(node, 2))
    return "";
  if (known && known->isBiasKnown && known->isPlain) {
    for (float value : known->bias)
      if (!std::isfinite(value))
        return "its bias holds values that are not finite";
    layer.bias = 2;
  }
  return "";
}

std::string nnc::onnx::describeTable(GraphIndex &index, PlannedLayer &layer) {
  const NodeProto &node = index.getNode(layer.node);
  if (!hasInput(node, 0) || !hasInput(node, 1))
    return "an operand is missing";
  const std::string &table = node.input(0);
  if (!index.isConstant(table))
    return "it reads no table of constants";
  if (index.isConstant(node.input(1)))
    return "all of its operands are constants";
  auto values = index.getFloats(table);
  if (!values || values->empty())
    return "its table does not hold 32-bit floats";
  for (float value : *values)
    if (!std::isfinite(value))
      return "its table holds values that are not finite";
  // The table would be stored as floats and as integers.
  bool isShared = index.isCaptured(table) || index.isOutput(table);
  for (int reader : index.getReaders(table))
    isShared = isShared || getKind(index.getNode(reader)) != Kind::table;
  if (isShared)
    return "other nodes read the floats of its table";
  layer.weights = 0;
  int64_t rank = index.getConstant(table)->dims_size();
  const auto *attribute = findAttribute(node, "axis");
  int64_t axis = attribute ? attribute->i() : 0;
  axis += axis < 0 ? rank : 0;
  // Each index of the last axis, the elements of a row, may have its own scale.
  if (axis < rank - 1)
    layer.axis = rank - 1;
  return "";
}

std::string nnc::onnx::describeOther(
    GraphIndex &index, Kind kind,
    llvm::function_ref<bool(const std::string &)> isQuantized,
    PlannedLayer &layer) {
  const NodeProto &node = index.getNode(layer.node);
  for (int i = 1; i < node.output_size(); ++i)
    if (!node.output(i).empty())
      return "its result number " + std::to_string(i) + " is used";
  bool isJoin = kind == Kind::join || kind == Kind::concat;
  int count = isJoin ? node.input_size() : 1;
  if (kind == Kind::join && node.input_size() == 2 &&
      (index.isConstant(node.input(0)) || index.isConstant(node.input(1))))
    return "an operand is a constant";
  for (int i = 0; i < count; ++i) {
    if (i >= node.input_size() || !isQuantized(node.input(i)))
      return "it reads '" +
             (i < node.input_size() ? node.input(i) : std::string()) +
             "', which is not quantized";
    if (!llvm::is_contained(layer.inputs, node.input(i)))
      layer.inputs.push_back(node.input(i));
  }
  if (node.op_type() == "Resize") {
    const auto *mode = findAttribute(node, "mode");
    if (mode && mode->s() != "nearest")
      return "it interpolates";
  }
  for (int i = 1; kind == Kind::clip && i < node.input_size(); ++i)
    if (!node.input(i).empty() && !index.isConstant(node.input(i)))
      return "its bounds are computed";
  return "";
}
