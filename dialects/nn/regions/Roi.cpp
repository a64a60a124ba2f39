//===- Roi.cpp - nn.roi_align and nn.max_roi_pool -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Infers the type of the result of pooling regions of the images `x`: `sizes`
/// bins for each of the regions `rois`, which have `columns` numbers each.
static LogicalResult inferRegions(std::optional<Location> location,
                                  RankedTensorType x, RankedTensorType rois,
                                  int64_t columns, ArrayRef<int64_t> sizes,
                                  SmallVectorImpl<Type> &types) {
  if (x.getRank() != 4 || x.getNumElements() == 0)
    return emitOptionalError(location, "needs images of 4 axes, not a ", x);
  if (rois.getRank() != 2 || rois.getDimSize(1) != columns ||
      rois.getElementType() != x.getElementType())
    return emitOptionalError(location, "needs regions of ", columns,
                             " numbers of the images' type, not a ", rois);
  auto isSize = [](int64_t size) { return size >= 1 && size <= 1 << 20; };
  if (sizes.size() != 2 || !llvm::all_of(sizes, isSize))
    return emitOptionalError(location, "needs two sizes from 1 to 2^20");
  types.push_back(
      withShape(x, {rois.getDimSize(0), x.getDimSize(1), sizes[0], sizes[1]}));
  return success();
}

/// Returns the fields n, c, h, w, count, oh, ow.
static ShapeFields getRegionFields(RankedTensorType x, RankedTensorType y) {
  ShapeFields fields(x.getContext());
  fields.add("n", x.getDimSize(0)).add("c", x.getDimSize(1));
  fields.add("h", x.getDimSize(2)).add("w", x.getDimSize(3));
  fields.add("count", y.getDimSize(0));
  fields.add("oh", y.getDimSize(2)).add("ow", y.getDimSize(3));
  return fields;
}

LogicalResult RoiAlignOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType rois = getPlain(adaptor.getRois()),
                   images = getPlain(adaptor.getImages());
  if (failed(inferRegions(location, getPlain(adaptor.getX()), rois, 4,
                          adaptor.getSizes(), types)))
    return failure();
  if (images.getShape() != rois.getShape().take_front(1) ||
      !images.getElementType().isInteger(64))
    return emitOptionalError(location, "needs an i64 for each region, not a ",
                             images);
  auto samples = static_cast<int64_t>(adaptor.getSamples());
  if (samples < 0 || samples > 4096)
    return emitOptionalError(location, "takes ", samples,
                             " samples along an axis; 0 to 4096 are possible");
  return success();
}
SmallVector<RoutineCall> RoiAlignOp::getRoutineCalls() {
  ShapeFields fields = getRegionFields(getX().getType(), getY().getType());
  fields.add("samples", static_cast<int64_t>(getSamples()));
  fields.add("mode", static_cast<int64_t>(getMode()));
  fields.add("half_pixel", static_cast<int64_t>(getHalfPixel()));
  fields.addReal("scale", getScale().convertToDouble());
  return {{"roi_align", fields.get(), {0, 1, 2}}};
}
Work RoiAlignOp::getWork() {
  Work work = bytesOnly(*this);
  auto samples = std::max<int64_t>(static_cast<int64_t>(getSamples()), 2);
  work.multiplyAdds = 4 * samples * samples * getY().getType().getNumElements();
  return work;
}

LogicalResult MaxRoiPoolOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  return inferRegions(location, getPlain(adaptor.getX()),
                      getPlain(adaptor.getRois()), 5, adaptor.getSizes(),
                      types);
}
SmallVector<RoutineCall> MaxRoiPoolOp::getRoutineCalls() {
  ShapeFields fields = getRegionFields(getX().getType(), getY().getType());
  fields.addReal("scale", getScale().convertToDouble());
  return {{"max_roi_pool", fields.get(), {0, 1}}};
}
Work MaxRoiPoolOp::getWork() {
  Work work = bytesOnly(*this);
  work.operations = getX().getType().getNumElements();
  return work;
}
