//===- Scans.cpp - Results of all first elements --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/elementwise/Elementwise.h"
#include "frontends/torch/reduction/Reduce.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Several tensors of one shape, which a scan combines together.
using Tensors = SmallVector<Value, 2>;

/// Combines each element along `axis` with all in front of it, in steps whose
/// width doubles. `combine` gets earlier and later parts and is associative.
static Tensors scan(Node &node, Tensors parts, int64_t axis,
                    llvm::function_ref<Tensors(Tensors, Tensors)> combine) {
  int64_t size = getShape(parts[0])[axis];
  for (int64_t width = 1; width < size; width *= 2) {
    Tensors earlier, later;
    for (Value part : parts) {
      earlier.push_back(node.slice(part, axis, 0, size - width));
      later.push_back(node.slice(part, axis, width, size - width));
    }
    Tensors combined = combine(earlier, later);
    for (auto [part, end] : llvm::zip_equal(parts, combined)) {
      SmallVector<Value> pieces = {node.slice(part, axis, 0, width), end};
      part = node.create<nn::ConcatOp>(ValueRange(pieces), axis);
      if (!part)
        return parts;
    }
  }
  return parts;
}

/// Converts cummax and cummin: the extreme of all elements up to each, and the
/// last index that has it. NaN is more extreme than all numbers.
Value convertCumExtreme(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x));
  if (!x || !axis)
    return {};
  Type index = node.getBuilder().getI64Type(), element = getElement(x);
  if (getRank(x) == 0) {
    node.setResult(1, node.splat(0, index));
    return x;
  }
  SmallVector<int64_t> shape(getShape(x)), along(getRank(x), 1);
  along[*axis] = shape[*axis];
  if (element.isInteger(1))
    x = node.castTo(x, node.getBuilder().getIntegerType(8, /*isSigned=*/false));
  Value places = node.expand(
      node.reshape(node.constant(iota(shape[*axis])), along), shape);
  if (!x || !places)
    return {};
  Tensors scanned = scan(
      node, {x, places}, *axis, [&](Tensors earlier, Tensors later) -> Tensors {
        Value takes =
            node.createElementwise(node.getNnOp(), {later[0], earlier[0]});
        if (isa<FloatType>(element))
          takes = node.createElementwise(
              "logical_or",
              {takes, node.createElementwise("is_nan", {later[0]})});
        return {
            node.createElementwise("select", {takes, later[0], earlier[0]}),
            node.createElementwise("select", {takes, later[1], earlier[1]})};
      });
  node.setResult(1, scanned[1]);
  return node.castTo(scanned[0], element);
}

/// Converts logcumsumexp: the logarithms of sums of powers of e.
Value convertLogCumSumExp(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  auto axis = node.getAxis("dim", getRank(x));
  if (!x || !axis || getRank(x) == 0)
    return axis ? x : Value();
  return scan(node, {x}, *axis, [&](Tensors earlier, Tensors later) -> Tensors {
    return {computeLogAddExp(node, earlier[0], later[0])};
  })[0];
}

/// Converts trapezoid and trapz: the integral along an axis of the line through
/// points, whose distance is a number or the differences of `x`; and
/// cumulative_trapezoid, the integrals up to each point behind the first.
Value convertTrapezoid(Node &node) {
  Value y = node.toReal(node.getTensor("y"));
  auto axis = node.getAxis("dim", getRank(y), -1);
  if (!y || !axis || getRank(y) == 0)
    return y && axis ? node.broken("integrates a scalar") : Value();
  int64_t size = getShape(y)[*axis], rank = getRank(y);
  bool isCumulative = node.getOp().starts_with("cumulative");
  auto add = [&](Value areas) {
    return isCumulative
               ? node.create<nn::CumSumOp>(areas, *axis, false, false)
               : reduce(node, nn::ReduceKind::sum, areas, {*axis}, false);
  };
  if (size < 2 && isCumulative)
    return node.slice(y, *axis, 0, 0);
  if (size < 2) {
    SmallVector<int64_t> shape(getShape(y));
    shape.erase(shape.begin() + *axis);
    return node.splat(0, getElement(y), shape);
  }
  Value sums =
      node.createElementwise("add", {node.slice(y, *axis, 1, size - 1),
                                     node.slice(y, *axis, 0, size - 1)});
  if (!node.has("x"))
    return node.createBinary("mul", add(sums), node.getFloat("dx", 1) / 2);
  Value x = node.castTo(node.getTensor("x"), getElement(y));
  if (!x)
    return {};
  // A vector is for the axis, and other tensors are for the last axes.
  SmallVector<int64_t> shape(getShape(x));
  if (shape.size() == 1) {
    shape.assign(rank, 1);
    shape[*axis] = getNumElements(x);
  } else if (getRank(x) < rank) {
    shape.insert(shape.begin(), rank - getRank(x), 1);
  }
  x = node.reshape(x, shape);
  if (!x || getRank(x) != rank || getShape(x)[*axis] != size)
    return x ? node.broken("has points of shapes that do not fit") : x;
  Value widths =
      node.createElementwise("sub", {node.slice(x, *axis, 1, size - 1),
                                     node.slice(x, *axis, 0, size - 1)});
  Value areas = node.createElementwise("mul", {sums, widths});
  return node.createBinary("mul", add(areas), 0.5);
}

} // namespace nnc::torch
