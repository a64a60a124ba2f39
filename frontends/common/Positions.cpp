//===- Positions.cpp - Positions of elements along axes -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Positions.h"

using namespace mlir;
using namespace nnc::frontends;

Value nnc::frontends::makeSteps(LayerBuilder &layer, int64_t count,
                                int64_t stride, int64_t axis, int64_t rank) {
  if (count > 1 << 24)
    return layer.fail(ImportStatus::limit,
                      "picks along an axis of " + Twine(count) + " elements");
  SmallVector<int64_t> values = iota(count), shape(rank, 1);
  for (int64_t &value : values)
    value *= stride;
  shape[axis] = count;
  return layer.reshape(layer.constant(values), shape);
}
