//===- GridSample.cpp - nn.grid_sample ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult GridSampleOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()),
                   grid = getPlain(adaptor.getGrid());
  int64_t axes = x.getRank() - 2;
  if (axes < 2 || axes > 3)
    return emitOptionalError(location, "samples images of ", axes,
                             " axes; there are routines for 2 and 3");
  if (grid.getRank() != x.getRank() || grid.getShape().back() != axes ||
      grid.getDimSize(0) != x.getDimSize(0) ||
      grid.getElementType() != x.getElementType())
    return emitOptionalError(location, "has a grid of type ", grid,
                             " for images of type ", x);
  if (llvm::is_contained(x.getShape().drop_front(2), 0))
    return emitOptionalError(location, "samples images without elements");
  SmallVector<int64_t> shape(x.getShape().take_front(2));
  llvm::append_range(shape, grid.getShape().drop_front().drop_back());
  types.push_back(withShape(x, shape));
  return success();
}
AxisUse GridSampleOp::getAxisUse(int64_t axis) {
  return axis == 0 ? AxisUse{AxisKind::apart, {0, 0}} : AxisUse();
}

SmallVector<RoutineCall> GridSampleOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape(),
                    y = getY().getType().getShape();
  ArrayRef<int64_t> image = x.drop_front(2), places = y.drop_front(2);
  bool isDeep = image.size() == 3;
  ShapeFields fields(getContext());
  fields.add("rank", image.size());
  fields.add("n", x[0]);
  fields.add("c", x[1]);
  fields.add("d", isDeep ? image[0] : 1);
  fields.add("h", image[isDeep]);
  fields.add("w", image[isDeep + 1]);
  fields.add("od", isDeep ? places[0] : 1);
  fields.add("oh", places[isDeep]);
  fields.add("ow", places[isDeep + 1]);
  fields.add("mode", static_cast<int64_t>(getMode()));
  fields.add("padding", static_cast<int64_t>(getPadding()));
  fields.add("align_corners", static_cast<int64_t>(getAlignCorners()));
  return {{"grid_sample", fields.get(), {0, 1}}};
}
Work GridSampleOp::getWork() {
  static constexpr int64_t taps[] = {1, 2, 4};
  int64_t axes = getX().getType().getRank() - 2;
  Work work = bytesOnly(*this);
  work.multiplyAdds = getY().getType().getNumElements();
  for (int64_t axis = 0; axis < axes; ++axis)
    work.multiplyAdds *= taps[static_cast<int64_t>(getMode())];
  return work;
}
