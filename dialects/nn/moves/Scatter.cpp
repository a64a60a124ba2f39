//===- Scatter.cpp - nn.scatter -------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()),
                   positions = getPlain(adaptor.getPositions()),
                   updates = getPlain(adaptor.getUpdates());
  if (x.getRank() == 0)
    return emitOptionalError(location, "puts updates into a scalar");
  SmallVector<int64_t> wanted(positions.getShape());
  llvm::append_range(wanted, x.getShape().drop_front());
  if (!positions.getElementType().isInteger(64))
    return emitOptionalError(location, "needs positions of i64, not ",
                             positions.getElementType());
  if (updates != withShape(x, wanted))
    return emitOptionalError(location, "needs updates of type ",
                             withShape(x, wanted), ", not ", updates);
  types.push_back(x);
  return success();
}
SmallVector<RoutineCall> ScatterOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("size", x.front());
  fields.add("inner", product(x.drop_front()));
  fields.add("count", getPositions().getType().getNumElements());
  fields.add("kind", static_cast<int64_t>(getKind()));
  return {{"scatter", fields.get(), {0, 1, 2}}};
}
Work ScatterOp::getWork() { return bytesOnly(*this); }
