//===- ArgMax.cpp - nn.argmax and nn.argmin -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

template <class Adaptor>
static LogicalResult inferArg(MLIRContext *context,
                              std::optional<Location> location, Adaptor adaptor,
                              SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, x.getRank())))
    return failure();
  types.push_back(RankedTensorType::get(
      removeAxes(x.getShape(), axis, adaptor.getKeepdims()),
      IntegerType::get(context, 64)));
  return success();
}

template <class Op>
static SmallVector<RoutineCall> getArgCalls(Op op, StringRef family) {
  int64_t axis = op.getAxis();
  ShapeFields fields = getRunFields(op.getX().getType(), axis, axis + 1);
  fields.add("select_last", static_cast<int64_t>(op.getSelectLast()));
  return {{family.str(), fields.get(), {0}}};
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArg(context, location, adaptor, types);
}
AxisUse ArgMaxOp::getAxisUse(int64_t axis) {
  return getAxis() == 0 ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ArgMaxOp::getRoutineCalls() {
  return getArgCalls(*this, "argmax");
}
Work ArgMaxOp::getWork() { return bytesOnly(*this); }

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArg(context, location, adaptor, types);
}
AxisUse ArgMinOp::getAxisUse(int64_t axis) {
  return getAxis() == 0 ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ArgMinOp::getRoutineCalls() {
  return getArgCalls(*this, "argmin");
}
Work ArgMinOp::getWork() { return bytesOnly(*this); }
