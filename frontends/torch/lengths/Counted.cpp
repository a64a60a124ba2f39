//===- Counted.cpp - unique_consecutive, bincount, repeat_interleave ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/lengths/Found.h"

#include "frontends/torch/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Converts unique_consecutive: the elements or slices that differ from the one
/// in front of them, and on request the number of each element among them and
/// how often each follows itself.
Value convertUniqueConsecutive(Node &node) {
  auto slices = readSlices(node);
  if (!slices)
    return {};
  int64_t axis = slices->axis, rows = slices->rows;
  Type integer = node.getBuilder().getI64Type();
  Value isFirst = node.splat(1, integer, {1});
  if (rows > 1 && slices->matrix) {
    Value differs = node.createElementwise(
        "logical_not",
        {node.createElementwise("equal",
                                {node.slice(slices->matrix, 0, 1, rows - 1),
                                 node.slice(slices->matrix, 0, 0, rows - 1)})});
    differs = node.create<nn::ReduceOp>(nn::ReduceKind::max,
                                        node.castTo(differs, integer),
                                        ArrayRef<int64_t>(1), false);
    if (!differs)
      return {};
    isFirst =
        node.create<nn::ConcatOp>(ValueRange{isFirst, differs}, int64_t(0));
  }
  Value places = findPositions(node, isFirst, 0, axis);
  Value inverse = node.createBinary(
      "sub", node.create<nn::CumSumOp>(isFirst, int64_t(0), false, false), 1);
  if (!places || !inverse)
    return {};
  if (node.getBool("return_inverse"))
    node.setResult(
        1, slices->isOfSlices ? inverse : node.reshape(inverse, slices->shape));
  if (node.getBool("return_counts")) {
    Value counts =
        scatterFlat(node, nn::ScatterKind::add, node.splat(0, integer, {rows}),
                    inverse, node.splat(1, integer));
    auto size = node.getImporter().findLength(node.getScope(),
                                              node.getResultNames()[0], axis);
    if (counts && size)
      node.setResult(2,
                     node.getImporter().getLengths().cut(node, counts, *size));
  }
  return node.create<nn::GatherOp>(slices->x, places, axis);
}

/// Converts bincount: how often each number occurs, or the sums of its weights,
/// up to the largest number or as many as `minlength`.
Value convertBincount(Node &node) {
  Value x = node.getTensor("self"), weights = node.getOptionalTensor("weights");
  Type integer = node.getBuilder().getI64Type(),
       element = getComputedType(node.getStatedType());
  x = node.castTo(x, integer);
  if (!x || !element)
    return {};
  int64_t count = getNumElements(x), least = node.getInt("minlength", 0);
  if (count == 0)
    return node.splat(0, element, {least});
  auto most = node.getImporter().getLargestSize(node, 0, 0);
  if (!most)
    return {};
  x = node.reshape(x, {count});
  Value length = node.createBinary(
      "add",
      node.create<nn::ReduceOp>(nn::ReduceKind::max, x, ArrayRef<int64_t>(0),
                                /*keepdims=*/true),
      1);
  // PyTorch raises an error for a size beyond the bound.
  length = node.createBinary(
      "min", node.createBinary("max", length, static_cast<double>(least)),
      static_cast<double>(*most));
  auto size = node.getImporter().addLength(node, 0, 0, *most, length);
  // Larger numbers are counted in one more bin, which is dropped.
  Value place = node.createBinary("min", node.createBinary("max", x, 0),
                                  static_cast<double>(*most));
  Value added = weights ? node.reshape(node.castTo(weights, element), {count})
                        : node.splat(1, element);
  Value sums = scatterFlat(node, nn::ScatterKind::add,
                           node.splat(0, element, {*most + 1}), place, added);
  return sums && size ? node.getImporter().getLengths().cut(node, sums, *size)
                      : Value();
}

/// Returns the slice that each place of the result of repeat_interleave has,
/// for these numbers of repetitions of each slice; null after an error. Their
/// sum is known, stated as `output_size`, or the size of axis `axis` of the
/// result.
static Value findRepeated(Node &node, Value repeats, int64_t axis) {
  Type integer = node.getBuilder().getI64Type();
  repeats = node.castTo(repeats, integer);
  auto known = repeats ? readElements(repeats) : std::nullopt;
  SmallVector<int64_t> places;
  if (known) {
    for (auto [i, count] : llvm::enumerate(known->ints)) {
      if (count < 0 || count > (1 << 24) || places.size() > (1 << 24))
        return node.broken("repeats elements " + Twine(count) + " times");
      places.append(count, static_cast<int64_t>(i));
    }
    node.getImporter().bindKnown(node, 0, axis, places.size());
    return node.constant(places);
  }
  int64_t size = repeats ? getNumElements(repeats) : 0, total = 0;
  if (size == 0)
    return repeats ? node.unsupported("has no numbers of repetitions")
                   : Value();
  bool isStated = node.has("output_size");
  if (isStated) {
    total = node.getInt("output_size");
  } else if (auto most = node.getImporter().getLargestSize(node, 0, axis)) {
    total = *most;
  } else {
    return {};
  }
  if (total < 0 ||
      !node.checkSize(RankedTensorType::get({total, size}, integer)))
    return {};
  // The slice of a place is the number of slices that end in front of it.
  Value ends = node.create<nn::CumSumOp>(repeats, int64_t(0), false, false);
  Value isBefore = node.createElementwise(
      "less_equal", {node.reshape(ends, {1, size}),
                     node.reshape(node.constant(iota(total)), {total, 1})});
  Value found = node.create<nn::ReduceOp>(
      nn::ReduceKind::sum, node.castTo(isBefore, integer), ArrayRef<int64_t>(1),
      /*keepdims=*/false);
  if (isStated || !found)
    return found;
  Value sum = node.createBinary("min", node.slice(ends, 0, size - 1, 1),
                                static_cast<double>(total));
  auto length = node.getImporter().addLength(node, 0, axis, total, sum);
  found = node.createBinary("min", found, static_cast<double>(size - 1));
  return length ? node.getImporter().getLengths().cut(node, found, *length)
                : Value();
}

/// Converts repeat_interleave with a number of repetitions for each slice.
Value convertRepeatEach(Node &node) {
  Value x = node.getTensor("self"), repeats = node.getTensor("repeats");
  if (!x || !repeats)
    return {};
  if (!node.has("dim"))
    x = node.reshape(x, {getNumElements(x)});
  auto axis = node.getAxis("dim", getRank(x));
  if (!axis || getRank(x) == 0)
    return axis ? node.broken("repeats a scalar") : Value();
  repeats = node.expand(node.reshape(repeats, {getNumElements(repeats)}),
                        ArrayRef<int64_t>(getShape(x)[*axis]));
  return node.create<nn::GatherOp>(x, findRepeated(node, repeats, *axis),
                                   *axis);
}

/// Converts repeat_interleave of numbers of repetitions alone, which gives the
/// places that are repeated.
Value convertRepeatPlaces(Node &node) {
  Value repeats = node.getTensor("repeats");
  if (!repeats || getRank(repeats) != 1)
    return repeats ? node.broken("needs a vector") : repeats;
  return findRepeated(node, repeats, 0);
}

} // namespace nnc::torch
