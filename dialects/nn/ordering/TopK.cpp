//===- TopK.cpp - nn.top_k ------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

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
AxisUse TopKOp::getAxisUse(int64_t axis) {
  return getAxis() == 0 ? AxisUse() : AxisUse::samples(*this, axis);
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
  // The factor is the height of a heap with `count` elements.
  work.operations = getX().getType().getNumElements() *
                    (1 + llvm::Log2_64_Ceil(std::max<uint64_t>(getCount(), 1)));
  return work;
}
