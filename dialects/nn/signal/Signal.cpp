//===- Signal.cpp - nn.dft and nn.filter ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.dft
//===----------------------------------------------------------------------===//

LogicalResult DftOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()),
                   window = getPlain(adaptor.getWindow()),
                   roots = getPlain(adaptor.getRoots());
  int64_t axis = adaptor.getAxis(), length = adaptor.getLength(),
          step = adaptor.getStep(), parts = 0;
  if (failed(checkAxis(location, axis, x.getRank() - 1)))
    return failure();
  parts = x.getShape().back();
  bool isOneSided = adaptor.getOnesided(), isInverse = adaptor.getInverse();
  if (parts < 1 || parts > 2)
    return emitOptionalError(location,
                             "needs 1 or 2 parts along the last "
                             "axis, not ",
                             parts);
  if (length < 1 || length > INT32_MAX / 4 || step < 0 || step > INT32_MAX)
    return emitOptionalError(location, "transforms ", length,
                             " elements, in steps of ", step);
  if (isOneSided && parts != (isInverse ? 2 : 1))
    return emitOptionalError(location, "is onesided with ", parts, " parts");
  if (roots != withShape(x, {length, 2}) ||
      (window != withShape(x, {length}) && window != withShape(x, {1})))
    return emitOptionalError(location, "has a window of type ", window,
                             " and roots of type ", roots);
  int64_t size = x.getDimSize(axis);
  if (size < 1 || (step > 0 && size < length))
    return emitOptionalError(location, "has ", size, " elements for lines of ",
                             length);
  SmallVector<int64_t> shape(x.getShape());
  shape[axis] = isOneSided && !isInverse ? length / 2 + 1 : length;
  shape.back() = isOneSided && isInverse ? 1 : 2;
  if (step > 0)
    shape.insert(shape.begin() + axis, (size - length) / step + 1);
  types.push_back(withShape(x, shape));
  return success();
}
SmallVector<RoutineCall> DftOp::getRoutineCalls() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  auto axis = static_cast<int64_t>(getAxis()), step = int64_t(getStep());
  ArrayRef<int64_t> shape = x.getShape();
  ShapeFields fields(getContext());
  fields.add("outer", product(shape.take_front(axis)));
  fields.add("size", shape[axis]);
  fields.add("inner", product(shape.drop_front(axis + 1).drop_back()));
  fields.add("lines", step > 0 ? y.getDimSize(axis) : 1);
  fields.add("step", step);
  fields.add("length", static_cast<int64_t>(getLength()));
  fields.add("count", y.getDimSize(axis + (step > 0)));
  fields.add("in_parts", shape.back());
  fields.add("out_parts", y.getShape().back());
  fields.add("inverse", static_cast<int64_t>(getInverse()));
  fields.add("windowed", getWindow().getType().getNumElements() ==
                             static_cast<int64_t>(getLength()));
  fields.add("hermitian", static_cast<int64_t>(getInverse() && getOnesided()));
  return {{"dft", fields.get(), {0, 1, 2}}};
}
Work DftOp::getWork() {
  Work work = bytesOnly(*this);
  RankedTensorType y = getY().getType();
  int64_t lines = y.getNumElements() / y.getShape().back() /
                  y.getDimSize(getAxis() + (getStep() > 0));
  // Four multiply-adds for each element, stage and element of a factor.
  int64_t factors = 0;
  auto rest = static_cast<int64_t>(getLength());
  for (int64_t factor = 2; rest > 1; ++factor) {
    if (factor > rest / factor)
      factor = rest;
    for (; rest % factor == 0; rest /= factor)
      factors += factor;
  }
  work.multiplyAdds = 4 * lines * static_cast<int64_t>(getLength()) * factors;
  return work;
}

//===----------------------------------------------------------------------===//
// nn.filter
//===----------------------------------------------------------------------===//

LogicalResult FilterOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()),
                   starts = getPlain(adaptor.getStarts()),
                   weights = getPlain(adaptor.getWeights());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(location, axis, x.getRank())))
    return failure();
  if (weights.getRank() != 2 ||
      weights.getElementType() != x.getElementType() ||
      starts.getShape() != weights.getShape().take_front(1) ||
      !starts.getElementType().isInteger(64))
    return emitOptionalError(location, "has starts of type ", starts,
                             " and weights of type ", weights);
  if (weights.getDimSize(1) < 1 || weights.getDimSize(1) > x.getDimSize(axis))
    return emitOptionalError(location, "has ", weights.getDimSize(1),
                             " taps along an axis of ", x.getDimSize(axis),
                             " elements");
  SmallVector<int64_t> shape(x.getShape());
  shape[axis] = weights.getDimSize(0);
  types.push_back(withShape(x, shape));
  return success();
}
SmallVector<RoutineCall> FilterOp::getRoutineCalls() {
  auto axis = static_cast<int64_t>(getAxis());
  ShapeFields fields = getRunFields(getX().getType(), axis, axis + 1);
  fields.add("count", getWeights().getType().getDimSize(0));
  fields.add("taps", getWeights().getType().getDimSize(1));
  return {{"filter", fields.get(), {0, 1, 2}}};
}
Work FilterOp::getWork() {
  Work work = bytesOnly(*this);
  work.multiplyAdds =
      getY().getType().getNumElements() * getWeights().getType().getDimSize(1);
  return work;
}
