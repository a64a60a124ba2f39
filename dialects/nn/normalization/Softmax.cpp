//===- Softmax.cpp - Softmax of floats and of integers --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  types.push_back(x);
  return checkAxis(location, adaptor.getAxis(), x.getRank());
}
AxisUse SoftmaxOp::getAxisUse(int64_t axis) {
  if (axis == static_cast<int64_t>(getAxis()))
    return {};
  return AxisUse::elements(*this, axis);
}

SmallVector<RoutineCall> SoftmaxOp::getRoutineCalls() {
  int64_t axis = getAxis();
  ShapeFields fields = getRunFields(getX().getType(), axis, axis + 1);
  fields.add("log", static_cast<int64_t>(getLog()));
  return {{"softmax", fields.get(), {0}}};
}
Work SoftmaxOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 10 * getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.integer_softmax
//===----------------------------------------------------------------------===//

LogicalResult IntegerSoftmaxOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType(),
                   table = getExponentials().getType();
  Type to = y.getElementType();
  if (x.getRank() < 1 || x.getShape() != y.getShape() ||
      x.getElementTypeBitWidth() != 8 ||
      (to.getIntOrFloatBitWidth() != 8 && !to.isSignlessInteger(16)))
    return emitOpError("needs integers of 8 bits, and a result of that shape "
                       "of integers of 8 bits or of i16");
  if (table.getRank() != 1 || table.getNumElements() < 1 ||
      !table.getElementType().isSignlessInteger(32))
    return emitOpError("needs a vector of exponentials of type i32, the first "
                       "for a difference of 0");
  return success();
}
AxisUse IntegerSoftmaxOp::getAxisUse(int64_t axis) {
  if (axis == getX().getType().getRank() - 1)
    return {};
  return AxisUse::elements(*this, axis);
}

SmallVector<RoutineCall> IntegerSoftmaxOp::getRoutineCalls() {
  RankedTensorType x = getX().getType();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.getShape().drop_back()));
  fields.add("size", x.getShape().back());
  fields.add("entries", getExponentials().getType().getNumElements());
  return {{"integer_softmax", fields.get(), {0, 1}}};
}
Work IntegerSoftmaxOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 10 * getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.table_softmax
//===----------------------------------------------------------------------===//

LogicalResult TableSoftmaxOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getRank() < 1 || !x.getElementType().isSignlessInteger(16) ||
      x.getShape().back() < 1 || x.getShape().back() >= 1 << 16)
    return emitOptionalError(location, "needs rows of 1 to 65535 i16, not a ",
                             x);
  for (Value table : {adaptor.getExponentials(), adaptor.getReciprocals()})
    if (getPlain(table) != RankedTensorType::get(513, x.getElementType()))
      return emitOptionalError(location, "needs two tables of 513 i16, not a ",
                               getPlain(table));
  if (auto shift = static_cast<int64_t>(adaptor.getShift());
      shift < -31 || shift > 30)
    return emitOptionalError(location, "shifts by ", shift,
                             " bits; the shift may be from -31 to 30");
  types.push_back(x);
  return success();
}
AxisUse TableSoftmaxOp::getAxisUse(int64_t axis) {
  bool isAlone = getX().getType().getRank() == 1;
  return isAlone ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> TableSoftmaxOp::getRoutineCalls() {
  RankedTensorType x = getPlain(getX());
  ShapeFields fields(getContext());
  fields.add("outer", product(x.getShape().drop_back()));
  fields.add("size", x.getShape().back());
  fields.add("multiplier", getMultiplier()).add("shift", getShift());
  fields.add("single", static_cast<int64_t>(getSingle()));
  return {{"table_softmax", fields.get(), {0, 1, 2}}};
}
Work TableSoftmaxOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 10 * getPlain(getX()).getNumElements();
  return work;
}
