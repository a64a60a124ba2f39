//===- Normalize.cpp - Layer and batch normalization ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.layer_norm
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (failed(checkAxis(location, adaptor.getAxis(), x.getRank())))
    return failure();
  int64_t size = product(x.getShape().drop_front(adaptor.getAxis()));
  for (Value value : {adaptor.getScale(), adaptor.getBias()})
    if (getPlain(value).getNumElements() != size)
      return emitOptionalError(location, "needs scale and bias of ", size,
                               " elements");
  types.push_back(x);
  if (!adaptor.getAccumulator() && !isa<FloatType>(x.getElementType()))
    return emitOptionalError(location, "normalises ", x.getElementType(),
                             " without an accumulator; add accumulator = f32");
  return inferMean(location, adaptor.getAccumulator(), types.back());
}
Type LayerNormOp::getAccumulatorType() {
  return getAccumulator().value_or(Type());
}
/// The vector routines for floats support no epilogue.
std::optional<int64_t> LayerNormOp::getChannelAxis() {
  int64_t last = getX().getType().getRank() - 1;
  if (!getAccumulator() || static_cast<int64_t>(getAxis()) != last)
    return std::nullopt;
  return last;
}
AxisUse LayerNormOp::getAxisUse(int64_t axis) {
  if (axis >= static_cast<int64_t>(getAxis()))
    return {};
  return AxisUse::elements(*this, axis);
}

SmallVector<RoutineCall> LayerNormOp::getRoutineCalls() {
  RankedTensorType x = getX().getType();
  ShapeFields fields(getContext());
  fields.add("outer", product(x.getShape().take_front(getAxis())));
  fields.add("size", product(x.getShape().drop_front(getAxis())));
  fields.addReal("epsilon", getEpsilon().convertToDouble());
  return {{"layer_norm", fields.get(), {0, 1, 2}}};
}
Work LayerNormOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 8 * getX().getType().getNumElements();
  return work;
}

//===----------------------------------------------------------------------===//
// nn.batch_norm
//===----------------------------------------------------------------------===//

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  if (x.getRank() < 2)
    return emitOptionalError(location, "needs an input of rank 2 or more");
  for (Value value : adaptor.getOperands().drop_front())
    if (getPlain(value).getShape() != ArrayRef(x.getDimSize(1)))
      return emitOptionalError(location,
                               "needs one value of each statistic "
                               "for each of ",
                               x.getDimSize(1), " channels");
  types.push_back(x);
  return success();
}
