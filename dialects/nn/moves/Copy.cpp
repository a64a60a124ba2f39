//===- Copy.cpp - Helpers of ops that work along axes ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

ShapeFields nn::getRunFields(RankedTensorType x, int64_t begin, int64_t end) {
  ShapeFields fields(x.getContext());
  fields.add("outer", product(x.getShape().take_front(begin)));
  fields.add("size", product(x.getShape().slice(begin, end - begin)));
  fields.add("inner", product(x.getShape().drop_front(end)));
  return fields;
}

LogicalResult nn::checkAxis(std::optional<Location> location, int64_t axis,
                            int64_t rank) {
  if (axis < 0 || axis >= rank)
    return emitOptionalError(location, "has axis ", axis,
                             " of a tensor of rank ", rank);
  return success();
}

SmallVector<int64_t> nn::removeAxes(ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> axes, bool keep) {
  SmallVector<int64_t> result;
  for (auto [axis, dim] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      result.push_back(dim);
    else if (keep)
      result.push_back(1);
  }
  return result;
}

int64_t nn::findReshapedAxis(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                             int64_t axis) {
  int64_t before = product(from.take_front(axis));
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] == from[axis] && product(to.take_front(i)) == before)
      return static_cast<int64_t>(i);
  return -1;
}

SmallVector<int64_t> nn::withPadding(ArrayRef<int64_t> pads, int64_t i,
                                     int64_t before, int64_t after) {
  SmallVector<int64_t> changed(pads);
  changed[i] = before;
  changed[i + pads.size() / 2] = after;
  return changed;
}
