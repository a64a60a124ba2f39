//===- Support.cpp - Shapes, bounds and work ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

SmallVector<RoutineCall> nn::getRoutineCalls(Operation *op) {
  if (auto layer = dyn_cast<LayerOp>(op))
    return layer.getRoutineCalls();
  if (auto routine = dyn_cast<RoutineOpInterface>(op))
    return routine.getRoutineCalls();
  return {};
}

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

int64_t nn::product(ArrayRef<int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims)
    result *= dim;
  return result;
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

static int64_t getTypeBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? getPhysicalBytes(tensor) : 0;
}

Work nn::bytesOnly(Operation *op) {
  Work work;
  for (Type type : op->getOperandTypes())
    work.bytesRead += getTypeBytes(type);
  for (Type type : op->getResultTypes())
    work.bytesWritten += getTypeBytes(type);
  return work;
}

Work nn::elementwiseWork(Operation *op) {
  Work work = bytesOnly(op);
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      work.operations += tensor.getNumElements();
  return work;
}

StringRef nn::getModelName(Location location, StringRef fallback) {
  StringRef name = fallback;
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}
