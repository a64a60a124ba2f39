//===- Gather.cpp - nn.gather ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, x.getRank())))
    return failure();
  SmallVector<int64_t> shape(x.getShape().take_front(axis));
  llvm::append_range(shape, getPlain(adaptor.getIndices()).getShape());
  llvm::append_range(shape, x.getShape().drop_front(axis + 1));
  types.push_back(withShape(x, shape));
  return success();
}

/// Samples are apart if each gathers the same indices from its own data, or its
/// own indices from one table for all samples.
AxisUse GatherOp::getAxisUse(int64_t axis) {
  bool takesTable = getAxis() == 0;
  if (axis != 0 || (takesTable && getPlain(getIndices()).getRank() == 0))
    return {};
  return {AxisKind::apart, {takesTable ? -1 : 0, takesTable ? 0 : -1}};
}

SmallVector<RoutineCall> GatherOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.take_front(getAxis())));
  fields.add("axis_size", x[getAxis()]);
  fields.add("inner", product(x.drop_front(getAxis() + 1)));
  fields.add("count", getIndices().getType().getNumElements());
  return {{"gather", fields.get(), {0, 1}}};
}
Work GatherOp::getWork() {
  Work work = bytesOnly(*this);
  work.bytesRead = work.bytesWritten;
  return work;
}
