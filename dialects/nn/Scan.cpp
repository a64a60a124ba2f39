//===- Scan.cpp - nn.cumsum, nn.cumprod and nn.top_k ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Reports an axis that `x` does not have.
static LogicalResult checkAxis(std::optional<Location> location, int64_t axis,
                               RankedTensorType x) {
  if (axis >= 0 && axis < x.getRank())
    return success();
  return emitOptionalError(location, "has axis ", axis, " of a tensor of rank ",
                           x.getRank());
}

/// Returns the fields of a shape that say how the elements of `x` lie around
/// `axis`.
static ShapeFields getLines(RankedTensorType x, int64_t axis) {
  ArrayRef<int64_t> shape = x.getShape();
  ShapeFields fields(x.getContext());
  fields.add("outer", product(shape.take_front(axis)));
  fields.add("size", shape[axis]);
  fields.add("inner", product(shape.drop_front(axis + 1)));
  return fields;
}

//===----------------------------------------------------------------------===//
// nn.cumsum, nn.cumprod
//===----------------------------------------------------------------------===//

template <class Op> static RoutineCall getScanCall(Op op, StringRef family) {
  ShapeFields fields =
      getLines(op.getX().getType(), static_cast<int64_t>(op.getAxis()));
  fields.add("exclusive", static_cast<int64_t>(op.getExclusive()));
  fields.add("reverse", static_cast<int64_t>(op.getReverse()));
  return {family.str(), fields.get(), {0}};
}

LogicalResult CumSumOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(getPlain(adaptor.getX()));
  return checkAxis(location, adaptor.getAxis(), getPlain(adaptor.getX()));
}
SmallVector<RoutineCall> CumSumOp::getRoutineCalls() {
  return {getScanCall(*this, "cumsum")};
}
Work CumSumOp::getWork() { return elementwiseWork(*this); }

LogicalResult CumProdOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(getPlain(adaptor.getX()));
  return checkAxis(location, adaptor.getAxis(), getPlain(adaptor.getX()));
}
SmallVector<RoutineCall> CumProdOp::getRoutineCalls() {
  return {getScanCall(*this, "cumprod")};
}
Work CumProdOp::getWork() { return elementwiseWork(*this); }

//===----------------------------------------------------------------------===//
// nn.top_k
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t axis = adaptor.getAxis(), count = adaptor.getCount();
  if (failed(checkAxis(location, axis, x)))
    return failure();
  SmallVector<int64_t> shape(x.getShape());
  if (count < 0 || count > shape[axis])
    return emitOptionalError(location, "wants ", count, " of the ", shape[axis],
                             " elements of an axis");
  shape[axis] = count;
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}
SmallVector<RoutineCall> TopKOp::getRoutineCalls() {
  ShapeFields fields =
      getLines(getX().getType(), static_cast<int64_t>(getAxis()));
  fields.add("count", static_cast<int64_t>(getCount()));
  fields.add("largest", static_cast<int64_t>(getLargest()));
  return {{"top_k", fields.get(), {0}}};
}
Work TopKOp::getWork() {
  Work work = bytesOnly(*this);
  // A heap of `count` elements is as high as this.
  work.operations = getX().getType().getNumElements() *
                    (1 + llvm::Log2_64_Ceil(std::max<uint64_t>(getCount(), 1)));
  return work;
}
