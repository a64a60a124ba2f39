//===- Reduce.cpp - Reductions, ArgMax and ArgMin -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/Empty.h"
#include "frontends/onnx/graph/ShapeOperands.h"
#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Applies the elementwise part of a reduction, the only one that remains if
/// there are no axes.
static Value reduceNothing(Node &node, nn::ReduceKind kind, Value x) {
  switch (kind) {
  case nn::ReduceKind::l1:
  case nn::ReduceKind::l2:
    return node.createElementwise("abs", x);
  case nn::ReduceKind::sum_square:
    return node.createElementwise("mul", {x, x});
  case nn::ReduceKind::log_sum: {
    Type type = getElement(x);
    Type real =
        isa<FloatType>(type) ? type : Type(node.getBuilder().getF64Type());
    return node.castTo(node.createElementwise("log", node.castTo(x, real)),
                       type);
  }
  default:
    return x;
  }
}

static Value reduce(Node &node, nn::ReduceKind kind,
                    std::optional<SmallVector<int64_t>> axes);

/// Converts a reduction along axes that the network computes: the reduction is
/// computed for every list of axes that gives the declared shape, and one
/// result is selected at run time.
static Value reduceComputed(Node &node, nn::ReduceKind kind) {
  Value axes = node.getOperand(1);
  SmallVector<SmallVector<int64_t>> lists =
      findReducedAxes(node, getNumElements(axes));
  // This call reports that the axes are not known.
  if (lists.empty() || lists.size() > kMaxComputedAxes) {
    (void)node.getConstantInts(1, "axes");
    return {};
  }
  ByAxis given{axes, getRank(node.getOperand(0))};
  Value result;
  for (const SmallVector<int64_t> &list : lists) {
    Value one = reduce(node, kind, list), isIt;
    for (int64_t axis : list)
      isIt = isIt ? node.createElementwise("logical_and",
                                           {isIt, given.names(node, axis)})
                  : given.names(node, axis);
    result =
        result ? node.createElementwise("select", {isIt, one, result}) : one;
  }
  return result;
}

static Value reduce(Node &node, nn::ReduceKind kind) {
  Value axes = node.getOperand(1);
  if (axes && getRank(axes) == 1 && getNumElements(axes) != 0 &&
      !readElements(axes))
    return reduceComputed(node, kind);
  std::optional<SmallVector<int64_t>> known;
  if (!node.getAxes(1, "axes", getRank(node.getOperand(0)), known))
    return {};
  return reduce(node, kind, known);
}

static Value reduce(Node &node, nn::ReduceKind kind,
                    std::optional<SmallVector<int64_t>> axes) {
  Value x = node.getOperand(0);
  Type type = getElement(x);
  if (!axes && !node.getBool("noop_with_empty_axes"))
    axes = iota(getRank(x));
  if (!axes || axes->empty())
    return reduceNothing(node, kind, x);
  llvm::sort(*axes);
  // Bools are reduced as the integers 0 and 1.
  if (type.isInteger(1))
    x = node.castTo(x, node.getBuilder().getIntegerType(8, /*isSigned=*/false));
  // Exponentials of integers are not integers.
  if (kind == nn::ReduceKind::log_sum_exp && !isa<FloatType>(type))
    x = node.castTo(x, node.getBuilder().getF64Type());
  Value y = node.create<nn::ReduceOp>(kind, x, *axes, node.getBool("keepdims"));
  // The result may be part of a computation of shapes: the product of no sizes
  // is 1.
  if (y && getNumElements(x) == 0 && getNumElements(y) != 0 &&
      node.dropsEmpty(x)) {
    if (auto op = y.getDefiningOp<nn::ReduceOp>()) {
      TypedAttr value = nn::getEmptyResult(op);
      if (!value)
        return node.broken("reduces no elements at all");
      y = node.splat(value, getShape(y));
    }
  }
  return node.castTo(y, type);
}

Value convertReduceL1(Node &n) { return reduce(n, nn::ReduceKind::l1); }
Value convertReduceL2(Node &n) { return reduce(n, nn::ReduceKind::l2); }
Value convertReduceLogSum(Node &n) {
  return reduce(n, nn::ReduceKind::log_sum);
}
Value convertReduceLogSumExp(Node &n) {
  return reduce(n, nn::ReduceKind::log_sum_exp);
}
Value convertReduceMax(Node &n) { return reduce(n, nn::ReduceKind::max); }
Value convertReduceMean(Node &n) { return reduce(n, nn::ReduceKind::mean); }
Value convertReduceMin(Node &n) { return reduce(n, nn::ReduceKind::min); }
Value convertReduceProd(Node &n) { return reduce(n, nn::ReduceKind::prod); }
Value convertReduceSum(Node &n) { return reduce(n, nn::ReduceKind::sum); }
Value convertReduceSumSquare(Node &n) {
  return reduce(n, nn::ReduceKind::sum_square);
}

template <class Op> static Value convertArg(Node &node) {
  Value x = node.getOperand(0);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  if (getShape(x)[*axis] == 0)
    return node.broken("looks for an element in none");
  return node.create<Op>(x, *axis, node.getBool("keepdims"),
                         node.getBool("select_last_index"));
}

Value convertArgMax(Node &node) { return convertArg<nn::ArgMaxOp>(node); }
Value convertArgMin(Node &node) { return convertArg<nn::ArgMinOp>(node); }

} // namespace nnc::onnx
