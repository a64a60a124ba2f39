//===- Quantize.cpp - Real numbers to quantized ones and back -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Qnn.h"
#include "frontends/onnx/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// `shape` of what quantized tensors hold: `integer`, by the scales and zero
/// points of operands 1 and 2, along `axis` if there are several.
static RankedTensorType getQuantizedType(Node &node, ArrayRef<int64_t> shape,
                                         Type integer) {
  auto storage = dyn_cast<IntegerType>(integer);
  if (!storage || (storage.getWidth() != 8 && storage.getWidth() != 16 &&
                   storage.getWidth() != 32)) {
    node.unsupported("quantizes to a type other than 8, 16 and 32 bits");
    return {};
  }
  if (!getElement(node.getOperand(1)).isF32()) {
    node.unsupported("has scales of a type other than float");
    return {};
  }
  auto scales = node.getConstantReals(1, "scales");
  if (!scales)
    return {};
  SmallVector<int64_t> zeroPoints(scales->size(), 0);
  if (node.getOperand(2)) {
    auto given = node.getConstantInts(2, "zero points");
    if (!given)
      return {};
    zeroPoints.assign(given->begin(), given->end());
  }
  bool isSigned = !storage.isUnsigned();
  unsigned width = storage.getWidth();
  int64_t min =
      quant::QuantizedType::getDefaultMinimumForInteger(isSigned, width);
  int64_t max =
      quant::QuantizedType::getDefaultMaximumForInteger(isSigned, width);
  bool isSound =
      zeroPoints.size() == scales->size() && !scales->empty() &&
      llvm::all_of(*scales, [](double s) { return std::isfinite(s) && s > 0; });
  if (!isSound) {
    node.broken("needs positive scales and as many zero points");
    return {};
  }
  Builder &builder = node.getBuilder();
  Type holder = builder.getIntegerType(width), real = builder.getF32Type();
  unsigned flags = isSigned ? quant::QuantizationFlags::Signed : 0;
  if (scales->size() == 1)
    return RankedTensorType::get(
        shape,
        quant::UniformQuantizedType::get(flags, holder, real, scales->front(),
                                         zeroPoints[0], min, max));
  if (getRank(node.getOperand(1)) != 1) {
    node.unsupported("has scales of blocks");
    return {};
  }
  auto axis = node.normalizeAxis(node.getInt("axis", 1), shape.size());
  if (!axis)
    return {};
  if (shape[*axis] != static_cast<int64_t>(scales->size())) {
    node.broken("has " + Twine(scales->size()) + " scales along axis " +
                Twine(*axis) + " of size " + Twine(shape[*axis]));
    return {};
  }
  return RankedTensorType::get(
      shape, quant::UniformQuantizedPerAxisType::get(
                 flags, holder, real, *scales, zeroPoints, *axis, min, max));
}

Value convertQuantizeLinear(Node &node) {
  Value x = node.getOperand(0), zeroPoint = node.getOperand(2);
  if (!x || !node.getOperand(1))
    return {};
  if (!zeroPoint && node.getInt("output_dtype") != 0)
    return node.unsupported("has output_dtype; give it a zero point instead");
  Type integer = zeroPoint
                     ? getElement(zeroPoint)
                     : Type(IntegerType::get(node.getBuilder().getContext(), 8,
                                             IntegerType::Unsigned));
  RankedTensorType type = getQuantizedType(node, getShape(x), integer);
  if (!type)
    return {};
  if (integer.getIntOrFloatBitWidth() > 16)
    return node.unsupported("quantizes to more than 16 bits");
  Value real = node.castTo(x, node.getBuilder().getF32Type());
  Value y =
      node.createAs<qnn::QuantizeOp>(type, qnn::Rounding::half_even, real);
  return node.createAs<qnn::ReinterpretOp>(qnn::getStorageType(type), y);
}

Value convertDequantizeLinear(Node &node) {
  Value x = node.getOperand(0);
  if (!x || !node.getOperand(1))
    return {};
  RankedTensorType type = getQuantizedType(node, getShape(x), getElement(x));
  if (!type)
    return {};
  Value quantized = node.createAs<qnn::ReinterpretOp>(type, x);
  return node.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(x), node.getBuilder().getF32Type()),
      quantized);
}

} // namespace nnc::onnx
