//===- WeightScales.cpp - Scales and zero points of weights ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/WeightScales.h"

#include "dialects/nn/stored_weights/forms/Codebook.h"

using namespace nnc;
using namespace nnc::onnx;
using namespace nnc::quantize;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {

/// The indices of the operands of a node that hold the scales and zero points
/// of another operand, or -1 if there are none, and the axis along which these
/// may differ.
struct ScaleOperands {
  int scale, zeroPoint;
  int64_t axis;
};

} // namespace

static ScaleOperands getScaleOperands(const NodeProto &node, int operand,
                                      int64_t rank) {
  llvm::StringRef op = node.op_type();
  if (op == "QLinearConv")
    return {operand + 1, operand + 2, 0};
  if (op == "ConvInteger")
    return {-1, operand + 2, 0};
  // Each row of the left matrix and each column of the right one may have a
  // scale.
  if (op == "QLinearMatMul")
    return {operand + 1, operand + 2, operand == 0 ? rank - 2 : rank - 1};
  if (op == "MatMulInteger")
    return {-1, operand + 2, operand == 0 ? rank - 2 : rank - 1};
  int64_t axis = getInt(node, "axis", 1);
  return {operand + 1, operand + 2, axis < 0 ? axis + rank : axis};
}

/// Returns true if all elements are equal. There must be at least one.
template <class T> static bool areEqual(const std::vector<T> &values) {
  return llvm::all_of(values, [&](T each) { return each == values.front(); });
}

std::string nnc::onnx::readScales(const GraphIndex &index,
                                  const NodeProto &node, int operand,
                                  const std::vector<int64_t> &dims,
                                  WeightScales &result) {
  auto rank = static_cast<int64_t>(dims.size());
  ScaleOperands places = getScaleOperands(node, operand, rank);
  if (getInt(node, "block_size", 0) != 0)
    return compression::kScalesOfBlocks;
  result.scales = {1};
  if (places.scale >= 0) {
    auto scales = index.getFloats(node.input(places.scale));
    if (!scales || scales->empty() || !stored::areFinite(*scales))
      return "has scales that are not finite constants of 32-bit floats";
    result.scales = std::move(*scales);
  }
  if (areEqual(result.scales))
    result.scales.resize(1);
  auto channels = static_cast<int64_t>(result.scales.size());
  int64_t axis = channels == 1 ? -1 : places.axis;
  if (channels > 1 && (axis < 0 || axis >= rank || dims[axis] != channels))
    return "has scales that are not one for each channel";
  result.shape = ChannelShape::get(dims, axis);
  result.zeroPoint = 0;
  if (!hasInput(node, places.zeroPoint))
    return "";
  const TensorProto *tensor = index.getConstant(node.input(places.zeroPoint));
  std::vector<int> zeroPoints;
  if (tensor && isOfBytes(*tensor))
    zeroPoints = getIntegers(*tensor);
  if (zeroPoints.empty())
    return "has zero points that are not constants of 8 bits";
  if (!areEqual(zeroPoints))
    return compression::kDifferentZeroPoints;
  result.zeroPoint = zeroPoints.front();
  return "";
}

bool nnc::onnx::isOfBytes(const TensorProto &tensor) {
  return tensor.data_type() == TensorProto::INT8 ||
         tensor.data_type() == TensorProto::UINT8;
}

std::vector<int> nnc::onnx::getIntegers(const TensorProto &tensor) {
  if (!tensor.has_raw_data() || tensor.raw_data().empty())
    return {tensor.int32_data().begin(), tensor.int32_data().end()};
  bool isSigned = tensor.data_type() == TensorProto::INT8;
  std::vector<int> values;
  values.reserve(tensor.raw_data().size());
  for (char byte : tensor.raw_data())
    values.push_back(isSigned ? static_cast<int8_t>(byte)
                              : static_cast<uint8_t>(byte));
  return values;
}

void nnc::onnx::setIntegers(TensorProto &tensor, llvm::ArrayRef<int> values) {
  std::string bytes;
  bytes.reserve(values.size());
  for (int value : values)
    bytes.push_back(static_cast<char>(value));
  tensor.clear_int32_data();
  tensor.set_raw_data(std::move(bytes));
}
