//===- Resize.cpp - nn.resize ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult ResizeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getRank() != 4 || y.getRank() != 4 ||
      x.getShape().take_front(2) != y.getShape().take_front(2) ||
      x.getElementType() != y.getElementType())
    return emitOpError("needs 4-D tensors that differ in their last two axes");
  if (getScales().size() != 2 || getScales()[0] < 0 || getScales()[1] < 0)
    return emitOpError("needs two scales that are not negative");
  return success();
}

OpFoldResult ResizeOp::fold(FoldAdaptor) {
  // At scale 1 every coordinate transformation gives the element itself.
  bool same = getX().getType() == getY().getType() && getScales()[0] == 1.0 &&
              getScales()[1] == 1.0;
  return same ? OpFoldResult(getX()) : OpFoldResult();
}

bool ResizeOp::isLayoutTolerant() { return true; }

AxisUse ResizeOp::getAxisUse(int64_t axis) {
  bool changes =
      getPlain(getX()).getDimSize(0) != getPlain(getY()).getDimSize(0);
  return changes ? AxisUse() : AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> ResizeOp::getRoutineCalls() {
  ShapeFields fields = getImageFields(getX().getType());
  addOutput(fields, getY().getType());
  fields.add("mode", static_cast<int64_t>(getMode()));
  fields.add("coord", static_cast<int64_t>(getCoordinates()));
  fields.add("nearest", static_cast<int64_t>(getNearest()));
  fields.addReal("scale_h", getScales()[0]).addReal("scale_w", getScales()[1]);
  fields.addReal("cubic_a", getCubicA().convertToDouble());
  fields.add("exclude_outside", static_cast<int64_t>(getExcludeOutside()));
  return {{"resize", fields.get(), {0}}};
}

Work ResizeOp::getWork() {
  Work work = bytesOnly(*this);
  static constexpr int64_t taps[] = {1, 4, 16};
  work.operations =
      getY().getType().getNumElements() * taps[static_cast<size_t>(getMode())];
  return work;
}

//===----------------------------------------------------------------------===//
// nn.fixed_resize
//===----------------------------------------------------------------------===//

LogicalResult FixedResizeOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  Type element = x.getElementType();
  if (x.getRank() != 4 || x.getNumElements() == 0 ||
      (!element.isInteger(8) && !element.isSignlessInteger(16)))
    return emitOptionalError(
        location, "needs images of 4 axes of i8, ui8 or i16, not a ", x);
  ArrayRef<int64_t> sizes = adaptor.getSizes(), steps = adaptor.getSteps();
  // Coordinates in units of 1/1024 must fit in 32 bits.
  auto isOutside = [](int64_t number) {
    return number < 1 || number > 1 << 20;
  };
  if (sizes.size() != 2 || steps.size() != 2 ||
      llvm::any_of(sizes, isOutside) || sizes[0] * steps[0] > INT32_MAX / 2 ||
      sizes[1] * steps[1] > INT32_MAX / 2 ||
      llvm::any_of(steps, [](int64_t step) { return step < 0; }))
    return emitOptionalError(location, "needs two sizes of at most 2^20 and "
                                       "two steps within an image");
  types.push_back(RankedTensorType::get(
      {x.getDimSize(0), sizes[0], sizes[1], x.getDimSize(3)}, element));
  return success();
}
AxisUse FixedResizeOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> FixedResizeOp::getRoutineCalls() {
  RankedTensorType x = getPlain(getX());
  ShapeFields fields(getContext());
  fields.add("n", x.getDimSize(0)).add("h", x.getDimSize(1));
  fields.add("w", x.getDimSize(2)).add("c", x.getDimSize(3));
  fields.add("oh", getSizes()[0]).add("ow", getSizes()[1]);
  fields.add("step_h", getSteps()[0]).add("step_w", getSteps()[1]);
  fields.add("half_pixel", static_cast<int64_t>(getHalfPixel()));
  fields.add("single", static_cast<int64_t>(getSingle()));
  return {{"fixed_resize", fields.get(), {0}}};
}
Work FixedResizeOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = 6 * getPlain(getY()).getNumElements();
  return work;
}
