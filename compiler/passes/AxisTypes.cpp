//===- AxisTypes.cpp - Types of parts of values along an axis -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/AxisTypes.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;
using namespace nnc;

RankedTensorType nnc::getRankedType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

RankedTensorType nnc::withSize(RankedTensorType type, int64_t axis,
                               int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return RankedTensorType::get(shape, type.getElementType());
}

static bool isScaledAlong(Value value, int64_t axis) {
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(
      getRankedType(value).getElementType());
  return quantized && quantized.getQuantizedDimension() == axis;
}

bool nnc::hasScalesAlong(Operation *op, const nn::AxisUse &use, int64_t axis) {
  for (auto [operand, own] : llvm::zip_equal(op->getOperands(), use.axes))
    if (own >= 0 && isScaledAlong(operand, own))
      return true;
  return isScaledAlong(op->getResult(0), axis);
}
