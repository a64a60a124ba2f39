//===- Broadcast.cpp - Broadcasting and types of elementwise ops ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

ExtraKind nn::getExtraKind(ArrayRef<int64_t> shape, ArrayRef<int64_t> result,
                           std::optional<int64_t> channelAxis) {
  int64_t lead = result.size() - shape.size();
  bool scalar = llvm::all_of(shape, [](int64_t dim) { return dim == 1; });
  bool full = true, channel = channelAxis.has_value();
  for (int64_t axis = 0; axis < static_cast<int64_t>(result.size()); ++axis) {
    int64_t dim = axis < lead ? 1 : shape[axis - lead];
    full &= dim == result[axis];
    channel &= dim == (axis == channelAxis ? result[axis] : 1);
  }
  if (scalar)
    return ExtraKind::Scalar;
  if (full)
    return ExtraKind::Full;
  return channel ? ExtraKind::Channel : ExtraKind::Broadcast;
}

static bool isSameLogicalType(Type lhs, Type rhs) {
  auto left = dyn_cast<RankedTensorType>(lhs);
  auto right = dyn_cast<RankedTensorType>(rhs);
  if (!left || !right)
    return lhs == rhs;
  return left.getShape() == right.getShape() &&
         left.getElementType() == right.getElementType();
}

bool nn::haveSameLogicalTypes(TypeRange lhs, TypeRange rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return isSameLogicalType(std::get<0>(pair), std::get<1>(pair));
         });
}

std::optional<SmallVector<int64_t>>
nn::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes) {
    size_t lead = rank - shape.size();
    for (auto [i, dim] : llvm::enumerate(shape)) {
      int64_t &out = result[lead + i];
      if (out != dim && out != 1 && dim != 1)
        return std::nullopt;
      out = out == 1 ? dim : out;
    }
  }
  return result;
}
