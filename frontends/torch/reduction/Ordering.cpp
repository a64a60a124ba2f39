//===- Ordering.cpp - Scans, and orders of elements -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/moves/Moves.h"
#include "frontends/torch/reduction/Reduce.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Converts cumsum and cumprod. Integers are summed as i64, and floats as f64,
/// as PyTorch does on CPUs: long sums would lose digits.
template <class Op> static Value convertScan(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x));
  Type type = getComputedType(node.getStatedType());
  if (!x || !axis || !type)
    return {};
  if (getRank(x) == 0)
    return node.castTo(x, type);
  Type wide = isa<FloatType>(type) ? node.getBuilder().getF64Type() : type;
  x = node.castTo(x, wide);
  return node.castTo(node.create<Op>(x, *axis, false, false), type);
}

Value convertCumSum(Node &node) { return convertScan<nn::CumSumOp>(node); }
Value convertCumProd(Node &node) { return convertScan<nn::CumProdOp>(node); }

/// Returns the index of the largest or smallest element along `axis`.
static Value findExtreme(Node &node, Value x, int64_t axis, bool isLargest,
                         bool keeps) {
  if (!x)
    return {};
  if (getRank(x) == 0)
    return node.splat(0, node.getBuilder().getI64Type());
  if (getShape(x)[axis] == 0)
    return node.broken("looks for an element in none");
  if (getElement(x).isInteger(1))
    x = node.castTo(x, node.getBuilder().getIntegerType(8, /*isSigned=*/false));
  return isLargest ? node.create<nn::ArgMaxOp>(x, axis, keeps, false)
                   : node.create<nn::ArgMinOp>(x, axis, keeps, false);
}

/// Converts argmax and argmin, along an axis or of all elements.
Value convertArg(Node &node) {
  Value x = node.getTensor("self");
  bool isLargest = node.getNnOp() == "argmax", keeps = node.getBool("keepdim");
  if (!x)
    return {};
  if (node.has("dim")) {
    auto axis = node.getAxis("dim", getRank(x));
    return axis ? findExtreme(node, x, *axis, isLargest, keeps) : Value();
  }
  Value y = findExtreme(node, node.reshape(x, {getNumElements(x)}), 0,
                        isLargest, false);
  return y && keeps ? node.reshape(y, SmallVector<int64_t>(getRank(x), 1)) : y;
}

/// Converts max and min along an axis: the values and their indices.
Value convertExtremeAlong(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x));
  if (!x || !axis)
    return {};
  bool isLargest = node.getNnOp() == "max", keeps = node.getBool("keepdim");
  node.setResult(1, findExtreme(node, x, *axis, isLargest, keeps));
  SmallVector<int64_t> axes;
  if (getRank(x) > 0)
    axes.push_back(*axis);
  return reduce(node, isLargest ? nn::ReduceKind::max : nn::ReduceKind::min, x,
                axes, keeps);
}

/// Converts aminmax: both extremes along an axis or of all elements.
Value convertBothExtremes(Node &node) {
  Value x = node.getTensor("self");
  auto axes = node.getAxes("dim", getRank(x));
  if (!axes)
    return {};
  bool keeps = node.getBool("keepdim");
  node.setResult(1, reduce(node, nn::ReduceKind::max, x, *axes, keeps));
  return reduce(node, nn::ReduceKind::min, x, *axes, keeps);
}

/// Returns the indices of the `count` largest or smallest elements.
static Value order(Node &node, Value x, int64_t axis, int64_t count,
                   bool isLargest) {
  if (!x)
    return {};
  if (getRank(x) == 0)
    return node.splat(0, node.getBuilder().getI64Type());
  if (count < 0 || count > getShape(x)[axis])
    return node.broken("wants " + Twine(count) + " of " +
                       Twine(getShape(x)[axis]) + " elements");
  if (getElement(x).isInteger(1))
    x = node.castTo(x, node.getBuilder().getIntegerType(8, /*isSigned=*/false));
  return node.create<nn::TopKOp>(x, axis, count, isLargest);
}

Value convertTopK(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x), -1);
  if (!axis)
    return {};
  Value indices =
      order(node, x, *axis, node.getInt("k"), node.getBool("largest", true));
  node.setResult(1, indices);
  return takeAlong(node, x, indices, *axis);
}

/// Returns the indices that sort a tensor along an axis.
static Value sortIndices(Node &node, Value x, int64_t &axis) {
  // The operator msort always sorts along the first axis.
  int64_t otherwise = node.getOp().starts_with("msort") ? 0 : -1;
  auto found = node.getAxis("dim", getRank(x), otherwise);
  if (!x || !found)
    return {};
  axis = *found;
  int64_t size = getRank(x) ? getShape(x)[axis] : 1;
  return order(node, x, axis, size, node.getBool("descending"));
}

Value convertSort(Node &node) {
  Value x = node.getTensor("self");
  int64_t axis = 0;
  Value indices = sortIndices(node, x, axis);
  node.setResult(1, indices);
  return takeAlong(node, x, indices, axis);
}

Value convertArgsort(Node &node) {
  int64_t axis = 0;
  return sortIndices(node, node.getTensor("self"), axis);
}

/// Converts median along an axis, of an even number of elements the lower one,
/// and kthvalue.
Value convertKth(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x), -1);
  if (!x || !axis || getRank(x) == 0)
    return {};
  bool isAll = !node.has("dim") && node.getNnOp() == "median";
  if (isAll) {
    x = node.reshape(x, {getNumElements(x)});
    axis = 0;
  }
  int64_t size = getShape(x)[*axis],
          k = node.getNnOp() == "median" ? (size + 1) / 2 : node.getInt("k");
  if (k < 1 || k > size)
    return node.broken("wants element " + Twine(k) + " of " + Twine(size));
  Value indices = order(node, x, *axis, k, /*isLargest=*/false);
  if (!indices)
    return {};
  indices = node.slice(indices, *axis, k - 1, 1);
  Value values = takeAlong(node, x, indices, *axis);
  if (!values || (node.getBool("keepdim") && !isAll)) {
    node.setResult(1, indices);
    return values;
  }
  SmallVector<int64_t> shape(getShape(x));
  shape.erase(shape.begin() + *axis);
  node.setResult(1, node.reshape(indices, shape));
  return node.reshape(values, shape);
}

} // namespace nnc::torch
