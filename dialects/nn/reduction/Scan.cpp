//===- Scan.cpp - nn.cumsum, nn.cumprod and nn.top_k ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.cumsum, nn.cumprod
//===----------------------------------------------------------------------===//

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
bool CumSumOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
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
bool CumProdOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
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
  if (failed(checkAxis(location, axis, x.getRank())))
    return failure();
  SmallVector<int64_t> shape(x.getShape());
  if (count < 0 || count > shape[axis])
    return emitOptionalError(location, "wants ", count, " of the ", shape[axis],
                             " elements of an axis");
  shape[axis] = count;
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}
bool TopKOp::keepsSamples(ArrayRef<bool> split) {
  return isFirstSplit(split) && getAxis() != 0;
}

SmallVector<RoutineCall> TopKOp::getRoutineCalls() {
  auto axis = static_cast<int64_t>(getAxis());
  ShapeFields fields = getRunFields(getX().getType(), axis, axis + 1);
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
