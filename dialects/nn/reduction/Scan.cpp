//===- Scan.cpp - nn.cumsum and nn.cumprod --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

template <class Op> static RoutineCall getScanCall(Op op, StringRef family) {
  auto axis = static_cast<int64_t>(op.getAxis());
  ShapeFields fields = getRunFields(op.getX().getType(), axis, axis + 1);
  fields.add("exclusive", static_cast<int64_t>(op.getExclusive()));
  fields.add("reverse", static_cast<int64_t>(op.getReverse()));
  return {family.str(), fields.get(), {0}};
}

/// Infers the type of a scan of `x`, which is that of x.
static LogicalResult inferScan(std::optional<Location> location, Value x,
                               int64_t axis, SmallVectorImpl<Type> &types) {
  types.push_back(getPlain(x));
  return checkAxis(location, axis, getPlain(x).getRank());
}

LogicalResult CumSumOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferScan(location, adaptor.getX(), adaptor.getAxis(), types);
}
AxisUse CumSumOp::getAxisUse(int64_t axis) {
  return getAxis() == 0 ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> CumSumOp::getRoutineCalls() {
  return {getScanCall(*this, "cumsum")};
}
Work CumSumOp::getWork() { return elementwiseWork(*this); }

LogicalResult CumProdOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferScan(location, adaptor.getX(), adaptor.getAxis(), types);
}
AxisUse CumProdOp::getAxisUse(int64_t axis) {
  return getAxis() == 0 ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> CumProdOp::getRoutineCalls() {
  return {getScanCall(*this, "cumprod")};
}
Work CumProdOp::getWork() { return elementwiseWork(*this); }
