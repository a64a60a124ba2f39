//===- Reduce.cpp - nn.reduce ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (int64_t axis : axes)
    if (failed(checkAxis(location, axis, x.getRank())))
      return failure();
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i - 1] >= axes[i])
      return emitOptionalError(location, "needs its axes in rising order");
  types.push_back(RankedTensorType::get(
      removeAxes(x.getShape(), axes, adaptor.getKeepdims()),
      x.getElementType()));
  return success();
}

/// Returns the half-open range from the first to the last axis of size > 1
/// among `axes`; it is empty if all are of size 1.
static std::pair<int64_t, int64_t> getRun(RankedTensorType x,
                                          ArrayRef<int64_t> axes) {
  int64_t begin = -1, end = -1;
  for (int64_t axis : axes)
    if (x.getDimSize(axis) != 1) {
      begin = begin < 0 ? axis : begin;
      end = axis + 1;
    }
  return begin < 0 ? std::pair<int64_t, int64_t>(0, 0) : std::pair(begin, end);
}

bool ReduceOp::hasNeighbouringAxes() {
  RankedTensorType x = getX().getType();
  auto [begin, end] = getRun(x, getAxes());
  for (int64_t axis = begin; axis < end; ++axis)
    if (x.getDimSize(axis) != 1 && !llvm::is_contained(getAxes(), axis))
      return false;
  return true;
}
AxisUse ReduceOp::getAxisUse(int64_t axis) {
  if (getKeepdims())
    return llvm::is_contained(getAxes(), axis) ? AxisUse()
                                               : AxisUse::elements(*this, axis);
  int64_t own = axis;
  for (int64_t reduced : getAxes()) // in rising order
    if (reduced <= own)
      ++own;
  return AxisUse::elements(*this, own);
}

SmallVector<RoutineCall> ReduceOp::getRoutineCalls() {
  return getRoutineCallsOn(getPlain(getX()), getPlain(getY()));
}
SmallVector<RoutineCall>
ReduceOp::getRoutineCallsOn(ArrayRef<RankedTensorType> inputs,
                            RankedTensorType result) {
  RankedTensorType x = inputs.front();
  auto [begin, end] = getRun(x, getAxes());
  SmallVector<int64_t> dims = getPhysicalShape(x);
  if (LayoutAttr layout = getLayout(x)) {
    // If other axes are blocked, the reduced axes must be unblocked neighbours,
    // and the padding of the blocked axes must become zeros again.
    bool logarithm = getKind() == ReduceKind::log_sum ||
                     getKind() == ReduceKind::log_sum_exp;
    if (getLayout(result) != layout || (logarithm && isPadded(x)))
      return {};
    SmallVector<unsigned> axes = layout.getOuterAxes();
    for (int64_t axis = begin; axis < end; ++axis)
      if (axes[axis] != axis || layout.getBlockSize(axis) != 1)
        return {};
  } else if (getLayout(result)) {
    return {};
  }
  auto physical = RankedTensorType::get(dims, x.getElementType());
  return {{("reduce_" + stringifyReduceKind(getKind())).str(),
           getRunFields(physical, begin, end).get(),
           {0}}};
}
Work ReduceOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = getX().getType().getNumElements();
  return work;
}
