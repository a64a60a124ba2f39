//===- LayerInputs.cpp - Inputs of layers with weights --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/LayerInputs.h"

using namespace nnc::onnx;
using llvm::ArrayRef;
using nnc::compression::LayerInputs;
using ::onnx::NodeProto;

static std::vector<int64_t> getInts(const NodeProto &node, llvm::StringRef name,
                                    size_t count, int64_t missing) {
  const auto *found = findAttribute(node, name);
  if (!found || static_cast<size_t>(found->ints_size()) != count)
    return std::vector<int64_t>(count, missing);
  return {found->ints().begin(), found->ints().end()};
}

/// Describes the images that a convolution with filters of shape `dims` reads.
static void describeImages(const NodeProto &node, ArrayRef<int64_t> dims,
                           LayerInputs &inputs) {
  inputs.kind = node.op_type() == "ConvTranspose"
                    ? LayerInputs::Kind::transposed
                    : LayerInputs::Kind::convolution;
  size_t axes = dims.size() - 2;
  inputs.kernel = dims.drop_front(2).vec();
  inputs.strides = getInts(node, "strides", axes, 1);
  inputs.dilations = getInts(node, "dilations", axes, 1);
  inputs.pads = getInts(node, "pads", 2 * axes, 0);
  const auto *mode = findAttribute(node, "auto_pad");
  if (!mode || mode->s() == "NOTSET")
    return;
  inputs.pads.assign(2 * axes, 0);
  if (mode->s() != "VALID")
    inputs.padding = mode->s() == "SAME_LOWER"
                         ? LayerInputs::Padding::sameLower
                         : LayerInputs::Padding::sameUpper;
}

std::optional<nnc::compression::ObservedUse>
nnc::onnx::findInputs(const GraphIndex &index, const WeightUse &use,
                      ArrayRef<int64_t> dims, std::string &reason) {
  const NodeProto &node = index.getNode(use.layer);
  llvm::StringRef op = node.op_type();
  LayerInputs inputs;
  int other = 1 - use.operand, zeroPoint = -1;
  bool isRecurrent = op == "LSTM" || op == "GRU" || op == "RNN";
  if (op == "QLinearConv" || op == "QLinearMatMul") {
    other = use.operand == 3 ? 0 : 3;
    zeroPoint = other + 2;
  } else if (op == "ConvInteger" || op == "MatMulInteger") {
    zeroPoint = other + 2;
  } else if (isRecurrent) {
    if (use.operand == 2) {
      reason = "multiplies states, which no other node reads";
      return std::nullopt;
    }
    other = 0;
  }
  const std::string &tensor = node.input(other);
  if (index.isConstant(tensor)) {
    reason = "multiplies a constant";
    return std::nullopt;
  }
  if (zeroPoint >= 0 && hasInput(node, zeroPoint)) {
    const ::onnx::TensorProto *known = index.getConstant(node.input(zeroPoint));
    if (!known || !isOfBytes(*known) || getIntegers(*known).size() != 1) {
      reason = "multiplies integers whose zero point is not a constant number "
               "of 8 bits";
      return std::nullopt;
    }
    inputs.zeroPoint = static_cast<float>(getIntegers(*known).front());
  }
  if (op.contains("Conv")) {
    inputs.groups = getInt(node, "group", 1);
    if (inputs.groups < 1 || dims[0] % inputs.groups != 0) {
      reason = "has groups that do not divide its channels";
      return std::nullopt;
    }
    describeImages(node, dims, inputs);
  } else if (!isRecurrent) {
    if (dims.size() > 2)
      inputs.batch = dims.drop_back(2).vec();
    inputs.groups = getProduct(inputs.batch);
    // Rows of a left factor are multiplied by columns of the other factor, and
    // columns of a right factor by rows, unless a Gemm transposes the other
    // factor.
    bool isTurned = getInt(node, other == 0 ? "transA" : "transB", 0) != 0;
    inputs.alongColumns = (other != 0) != isTurned;
  }
  return compression::ObservedUse{tensor, std::move(inputs)};
}
