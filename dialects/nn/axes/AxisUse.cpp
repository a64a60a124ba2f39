//===- AxisUse.cpp - How an op treats an axis -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

AxisUse AxisUse::ofFirst(Operation *op, AxisKind kind, int64_t own) {
  AxisUse use{kind};
  use.axes.assign(op->getNumOperands(), -1);
  use.axes.front() = own;
  return use;
}

AxisUse AxisUse::samples(Operation *op, int64_t axis) {
  return axis == 0 ? ofFirst(op, AxisKind::apart, 0) : AxisUse();
}

AxisUse nn::getAxisUse(Operation *op, int64_t axis) {
  auto known = dyn_cast<AxisOpInterface>(op);
  bool hasAxis = known && axis < getTensorType(known->getResult(0)).getRank();
  return hasAxis ? known.getAxisUse(axis) : AxisUse();
}

std::optional<int64_t> nn::findResultAxis(Operation *op, unsigned operand,
                                          int64_t own) {
  if (!isa<AxisOpInterface>(op))
    return std::nullopt;
  int64_t rank = getTensorType(op->getResult(0)).getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    AxisUse use = getAxisUse(op, axis);
    if (use.isLocal() && use.axes[operand] == own)
      return axis;
  }
  return std::nullopt;
}

AxisUse nn::getElementwiseUse(Operation *op, int64_t axis) {
  AxisUse use{AxisKind::elements};
  RankedTensorType result = getTensorType(op->getResult(0));
  int64_t size = result.getDimSize(axis);
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t own = tensor ? axis - result.getRank() + tensor.getRank() : -1;
    bool isRead = own >= 0 && size != 1 && tensor.getDimSize(own) == size;
    use.axes.push_back(isRead ? own : -1);
  }
  return use;
}
