//===- Resize.cpp - nn.resize ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Spatial.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult ResizeOp::verify() {
  RankedTensorType x = getX().getType(), y = getY().getType();
  if (x.getRank() != 4 || y.getRank() != 4 ||
      x.getShape().take_front(2) != y.getShape().take_front(2) ||
      x.getElementType() != y.getElementType())
    return emitOpError("needs 4-D tensors that differ in their last two axes");
  if (getScales().size() != 2 || getScales()[0] <= 0 || getScales()[1] <= 0)
    return emitOpError("needs two positive scales");
  return success();
}

OpFoldResult ResizeOp::fold(FoldAdaptor) {
  // At scale 1 every coordinate transformation gives the element itself.
  bool same = getX().getType() == getY().getType() && getScales()[0] == 1.0 &&
              getScales()[1] == 1.0;
  return same ? OpFoldResult(getX()) : OpFoldResult();
}

bool ResizeOp::isLayoutTolerant() { return true; }

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
