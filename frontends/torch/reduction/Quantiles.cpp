//===- Quantiles.cpp - Quantiles and histograms ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"
#include "frontends/torch/moves/Moves.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

namespace {
/// The elements of a tensor along its last axis in ascending order, with NaN
/// behind all numbers.
struct Sorted {
  Value elements; ///< in order, with the sorted axis as the last one
  Value indices;  ///< of the elements among those that are not sorted
  Value last;     ///< index of the last number of each row, which is one index
  int64_t axis;   ///< that was sorted
};
} // namespace

/// Returns the elements of the argument `self` in order along its argument
/// `dim`, or all of them. `ignoresNan` tells whether the last number is looked
/// for; otherwise it is the last element.
static std::optional<Sorted> sortAlong(Node &node, bool ignoresNan) {
  Value x = node.toReal(node.getTensor("self"));
  auto axis = node.getAxis("dim", getRank(x), -1);
  if (!x || !axis)
    return std::nullopt;
  if (!node.has("dim") || getRank(x) == 0) {
    x = node.reshape(x, {getNumElements(x)});
    axis = 0;
  }
  SmallVector<int64_t> order = iota(getRank(x));
  order.erase(order.begin() + *axis);
  order.push_back(*axis);
  x = node.transpose(x, order);
  if (!x)
    return std::nullopt;
  int64_t last = getRank(x) - 1, size = getShape(x).back();
  if (size == 0) {
    node.broken("looks for an element in none");
    return std::nullopt;
  }
  Value indices = node.create<nn::TopKOp>(x, last, size, /*largest=*/false);
  Sorted sorted{takeAlong(node, x, indices, last), indices, {}, *axis};
  SmallVector<int64_t> shape(getShape(x));
  shape.back() = 1;
  Type integer = node.getBuilder().getI64Type();
  Value count = node.splat(static_cast<double>(size), integer, shape);
  if (ignoresNan) {
    Value isNumber = node.createElementwise(
        "logical_not", {node.createElementwise("is_nan", {x})});
    count = node.create<nn::ReduceOp>(nn::ReduceKind::sum,
                                      node.castTo(isNumber, integer),
                                      ArrayRef<int64_t>(last), true);
  }
  sorted.last = node.createBinary("max", node.createBinary("sub", count, 1), 0);
  if (!sorted.elements || !sorted.last)
    return std::nullopt;
  return sorted;
}

/// Returns the result of a reduction along the sorted axis from its values, of
/// which the last axis has one element for each of `count` results, or is
/// dropped where there is one alone. With `keepdim` the reduced axes have size
/// 1.
static Value arrangeQuantiles(Node &node, const Sorted &sorted, Value y,
                              std::optional<int64_t> count) {
  int64_t rank = getRank(node.getTensor("self"));
  if (!y)
    return {};
  SmallVector<int64_t> shape(getShape(y).drop_back()), order = iota(getRank(y));
  if (node.getBool("keepdim") && node.has("dim") && rank > 0)
    shape.insert(shape.begin() + sorted.axis, 1);
  else if (node.getBool("keepdim"))
    shape.assign(rank, 1);
  std::rotate(order.begin(), order.end() - 1, order.end());
  y = node.transpose(y, order);
  if (count)
    shape.insert(shape.begin(), *count);
  return node.reshape(y, shape);
}

/// Converts quantile and nanquantile, of fractions that are known. The result
/// of several has them as its first axis.
Value convertQuantile(Node &node) {
  bool ignoresNan = node.getOp().starts_with("nan");
  Node::Operand given = node.getOperand("q");
  SmallVector<double> fractions;
  std::optional<int64_t> count;
  if (given.number) {
    fractions.push_back(node.getFloat("q"));
  } else {
    auto known =
        given.tensor ? node.readReals(given.tensor, "fractions") : std::nullopt;
    if (!known)
      return {};
    fractions = *known;
    if (getRank(given.tensor) == 1)
      count = fractions.size();
  }
  auto sorted = sortAlong(node, ignoresNan);
  StringRef mode = node.getString("interpolation", "linear");
  if (!sorted || fractions.empty())
    return {};
  if (!llvm::is_contained({"linear", "lower", "higher", "nearest", "midpoint"},
                          mode))
    return node.broken("has the interpolation '" + mode + "'");
  Type real = getElement(sorted->elements),
       integer = node.getBuilder().getI64Type();
  int64_t axis = getRank(sorted->elements) - 1;
  SmallVector<Value> results;
  for (double fraction : fractions) {
    if (!(fraction >= 0 && fraction <= 1))
      return node.broken("has the fraction " + frontends::toString(fraction) +
                         ", which is not from 0 to 1");
    Value place =
        node.createBinary("mul", node.castTo(sorted->last, real), fraction);
    auto take = [&](StringRef rounding) {
      return takeAlong(
          node, sorted->elements,
          node.castTo(node.createElementwise(rounding, {place}), integer),
          axis);
    };
    if (mode == "lower" || mode == "higher" || mode == "nearest") {
      results.push_back(take(mode == "lower"    ? "floor"
                             : mode == "higher" ? "ceil"
                                                : "round"));
      continue;
    }
    Value low = take("floor"), high = take("ceil");
    if (!low || !high)
      return {};
    Value share =
        mode == "midpoint"
            ? node.splat(0.5, real)
            : node.createElementwise(
                  "sub", {place, node.createElementwise("floor", {place})});
    Value apart = node.createElementwise("sub", {high, low});
    Value isNear =
        node.createElementwise("less", {share, node.splat(0.5, real)});
    // PyTorch starts from the nearer of both.
    Value rest = node.createElementwise("sub", {node.splat(1, real), share});
    results.push_back(node.createElementwise(
        "select",
        {isNear,
         node.createElementwise(
             "add", {low, node.createElementwise("mul", {share, apart})}),
         node.createElementwise(
             "sub", {high, node.createElementwise("mul", {rest, apart})})}));
  }
  if (llvm::is_contained(results, Value()))
    return {};
  Value y = results.size() == 1
                ? results[0]
                : node.create<nn::ConcatOp>(ValueRange(results), axis);
  if (!ignoresNan && y) {
    // NaN, which is last, makes the result NaN.
    Value largest = node.slice(sorted->elements, axis,
                               getShape(sorted->elements)[axis] - 1, 1);
    y = node.createElementwise(
        "select", {node.createElementwise("is_nan", {largest}), largest, y});
  }
  return arrangeQuantiles(node, *sorted, y, count);
}

/// Converts nanmedian, of an even number of elements the lower one of the
/// middle.
Value convertNanMedian(Node &node) {
  auto sorted = sortAlong(node, /*ignoresNan=*/true);
  if (!sorted)
    return {};
  int64_t axis = getRank(sorted->elements) - 1;
  Value place = node.createBinary("div", sorted->last, 2);
  Type element = getElement(node.getTensor("self"));
  node.setResult(
      1, arrangeQuantiles(node, *sorted,
                          takeAlong(node, sorted->indices, place, axis), {}));
  return node.castTo(
      arrangeQuantiles(node, *sorted,
                       takeAlong(node, sorted->elements, place, axis), {}),
      element);
}

/// Converts histc: the numbers of elements in ranges of equal size, of which
/// the last one has both ends.
Value convertHistogram(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  if (!x)
    return {};
  int64_t bins = node.getInt("bins", 100), count = getNumElements(x);
  double low = node.getFloat("min", 0), high = node.getFloat("max", 0);
  Type real = getElement(x), integer = node.getBuilder().getI64Type();
  if (bins < 1 || bins > kMaxDim || low > high || node.hasFailed())
    return node.broken("has " + Twine(bins) + " bins from " +
                       frontends::toString(low) + " to " +
                       frontends::toString(high));
  x = node.reshape(x, {count});
  Value from = node.splat(low, real), to = node.splat(high, real);
  if (low == high && count > 0) {
    // The range of the elements, or one around their only value.
    from = node.create<nn::ReduceOp>(nn::ReduceKind::min, x,
                                     ArrayRef<int64_t>(0), false);
    to = node.create<nn::ReduceOp>(nn::ReduceKind::max, x, ArrayRef<int64_t>(0),
                                   false);
    Value isPoint = node.createElementwise("equal", {from, to});
    Value wider = node.createElementwise(
        "select", {isPoint, node.splat(1, real), node.splat(0, real)});
    from = node.createElementwise("sub", {from, wider});
    to = node.createElementwise("add", {to, wider});
  }
  Value place = node.createElementwise(
      "div", {node.createBinary("mul", node.createElementwise("sub", {x, from}),
                                static_cast<double>(bins)),
              node.createElementwise("sub", {to, from})});
  Value isInside = node.createElementwise(
      "logical_and", {node.createElementwise("greater_equal", {x, from}),
                      node.createElementwise("less_equal", {x, to})});
  // Elements beyond the ends, and NaN, count for a bin that is dropped.
  place =
      node.createElementwise("min", {node.createElementwise("floor", {place}),
                                     node.splat(double(bins - 1), real)});
  place = node.createElementwise(
      "select", {isInside, place, node.splat(static_cast<double>(bins), real)});
  Value sums =
      scatterFlat(node, nn::ScatterKind::add, node.splat(0, real, {bins + 1}),
                  node.castTo(place, integer), node.splat(1, real));
  return sums ? node.slice(sums, 0, 0, bins) : sums;
}

} // namespace nnc::torch
