//===- Det.cpp - nn.det ---------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult DetOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType x = getLogicalType(getTensorType(adaptor.getX()));
  ArrayRef<int64_t> shape = x.getShape();
  if (shape.size() < 2 || shape.back() != shape[shape.size() - 2] ||
      shape.back() < 1)
    return emitOptionalError(location, "needs square matrices, not a ", x);
  types.push_back(
      RankedTensorType::get(shape.drop_back(2), x.getElementType()));
  return success();
}
SmallVector<RoutineCall> DetOp::getRoutineCalls() {
  ArrayRef<int64_t> shape = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("batch", product(shape.drop_back(2))).add("n", shape.back());
  return {{"det", fields.get(), {0}}};
}
Work DetOp::getWork() {
  Work work = bytesOnly(*this);
  RankedTensorType x = getX().getType();
  work.multiplyAdds = x.getNumElements() * x.getShape().back() / 3;
  return work;
}
