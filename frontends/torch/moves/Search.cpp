//===- Search.cpp - Places in sorted tensors, and masked copies -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/elementwise/Broadcast.h"
#include "frontends/torch/moves/Moves.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns how many elements of the last axis of `sorted` are less than each
/// element of `x`, or not greater with `countsEqual`. NaN is the largest
/// number. `sorted` is a vector, or has the axes of `x` in front of its last.
static Value search(Node &node, Value sorted, Value x, bool countsEqual) {
  int64_t axis = getRank(sorted) - 1, size = getShape(sorted)[axis];
  Type index = node.getBuilder().getI64Type();
  SmallVector<int64_t> shape(getShape(x));
  if (getRank(sorted) == 1)
    x = node.reshape(x, {getNumElements(x)});
  bool isReal = isa<FloatType>(getElement(x));
  Value found = node.splat(0, index, getShape(x));
  if (size == 0)
    return node.reshape(found, shape);
  // Steps of halved sizes, of which those are kept that do not go too far.
  for (int64_t step = int64_t(1) << llvm::Log2_64(size); found && step > 0;
       step /= 2) {
    Value next = node.createBinary("add", found, static_cast<double>(step)),
          last = node.createBinary("add", found, static_cast<double>(step - 1));
    Value element = takeAlong(
        node, sorted,
        node.createBinary("min", last, static_cast<double>(size - 1)), axis);
    Value isBefore = node.createElementwise(countsEqual ? "less_equal" : "less",
                                            {element, x});
    if (isReal)
      isBefore = node.createElementwise(
          "logical_or", {isBefore, node.createElementwise("is_nan", {x})});
    Value isInside = node.createElementwise(
        "less", {last, node.splat(static_cast<double>(size), index)});
    found = node.createElementwise(
        "select", {node.createElementwise("logical_and", {isBefore, isInside}),
                   next, found});
  }
  return node.reshape(found, shape);
}

/// Converts bucketize and searchsorted.
Value convertSearch(Node &node) {
  bool isBucket = node.has("boundaries");
  Node::Operand ofSorted =
      node.getOperand(isBucket ? "boundaries" : "sorted_sequence");
  Node::Operand given = node.getOperand("self");
  // A program that was exported names the values `input` or `self`.
  if (!given.tensor && !given.number && node.has("input"))
    given = node.getOperand("input");
  Type type = node.promote({ofSorted, given});
  if (type && type.isInteger(1))
    type = node.getBuilder().getIntegerType(8, /*isSigned=*/false);
  Value sorted = node.castTo(ofSorted, type), x = node.castTo(given, type);
  if (!sorted || !x)
    return {};
  ArrayRef<int64_t> shape = getShape(sorted);
  int64_t rank = shape.size();
  if (rank == 0 || (rank > 1 && (getRank(x) != rank ||
                                 shape.drop_back() != getShape(x).drop_back())))
    return node.broken("has a sorted tensor of shape " + toString(shape) +
                       " and values of shape " + toString(getShape(x)));
  if (Value sorter = node.getOptionalTensor("sorter"))
    sorted = takeAlong(node, sorted, sorter, rank - 1);
  if (!sorted)
    return {};
  bool isRight = node.getBool("right") || node.getString("side") == "right";
  Value found = search(node, sorted, x, isRight);
  return node.getBool("out_int32")
             ? node.castTo(found, node.getBuilder().getI32Type())
             : found;
}

/// Converts masked_scatter: the elements at which the mask is true become the
/// first ones of the source, in their order.
Value convertMaskedScatter(Node &node) {
  Value x = node.getTensor("self"), mask = node.getTensor("mask"),
        source = node.getTensor("source");
  if (!x || !mask || !source)
    return {};
  auto shape = nn::broadcastShapes({getShape(x), getShape(mask)});
  if (!shape)
    return node.broken("has a mask that does not fit its operand");
  int64_t size = getNumElements(source);
  x = node.expand(x, *shape);
  if (size == 0)
    return x;
  mask = node.expand(node.castTo(mask, node.getBuilder().getI1Type()), *shape);
  Type index = node.getBuilder().getI64Type();
  Value flat = node.reshape(node.castTo(mask, index), {getNumElements(x)});
  Value place = node.createBinary(
      "sub", node.create<nn::CumSumOp>(flat, int64_t(0), false, false), 1);
  // Elements in front of the first true one get any element, which is not used.
  place =
      node.createBinary("max", node.createBinary("min", place, size - 1), 0);
  Value taken = node.create<nn::GatherOp>(
      node.reshape(node.castTo(source, getElement(x)), {size}),
      node.reshape(place, *shape), int64_t(0));
  return node.createElementwise("select", {mask, taken, x});
}

} // namespace nnc::torch
