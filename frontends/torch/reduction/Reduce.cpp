//===- Reduce.cpp - Reductions --------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/reduction/Reduce.h"

#include "dialects/nn/tensors/Empty.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

Value reduce(Node &node, nn::ReduceKind kind, Value x, ArrayRef<int64_t> axes,
             bool keepsAxes) {
  if (!x || axes.empty())
    return x;
  Type type = getElement(x);
  // Truth values are reduced as the integers 0 and 1.
  if (type.isInteger(1))
    x = node.castTo(x, node.getBuilder().getIntegerType(8, /*isSigned=*/false));
  Value y = node.create<nn::ReduceOp>(kind, x, axes, keepsAxes);
  if (y && getNumElements(x) == 0 && getNumElements(y) != 0 &&
      node.dropsEmpty(x)) {
    auto op = y.getDefiningOp<nn::ReduceOp>();
    TypedAttr value = op ? nn::getEmptyResult(op) : TypedAttr();
    if (op && !value)
      return node.broken("reduces no elements at all");
    if (op)
      y = node.splat(value, getShape(y));
  }
  return node.castTo(y, type);
}

/// Returns the nn name of a kind of reduction as its number.
static nn::ReduceKind getKind(Node &node) {
  return *nn::symbolizeReduceKind(node.getNnOp());
}

/// Converts sums, products and means. Integers are summed as i64, or as the
/// argument `dtype` says.
Value convertReduce(Node &node) {
  Value x = node.getTensor("self");
  auto axes = node.getAxes("dim", getRank(x));
  Type type = getComputedType(node.getStatedType());
  if (!x || !axes || !type)
    return {};
  return reduce(node, getKind(node), node.castTo(x, type), *axes,
                node.getBool("keepdim"));
}

/// Converts nansum, in which NaN counts as 0.
Value convertNanSum(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  auto axes = node.getAxes("dim", getRank(x));
  if (!x || !axes)
    return {};
  Value numbers =
      node.createElementwise("select", {node.createElementwise("is_nan", {x}),
                                        node.splat(0, getElement(x)), x});
  return reduce(node, nn::ReduceKind::sum, numbers, *axes,
                node.getBool("keepdim"));
}

/// Converts amax, amin and the maximum or minimum of all elements.
Value convertExtreme(Node &node) {
  Value x = node.getTensor("self");
  auto axes = node.getAxes("dim", getRank(x));
  return axes ? reduce(node, getKind(node), x, *axes, node.getBool("keepdim"))
              : Value();
}

/// Converts any and all: a maximum or minimum of truth values.
Value convertAnyAll(Node &node) {
  Value x = node.castTo(node.getTensor("self"), node.getBuilder().getI1Type());
  auto axes = node.getAxes("dim", getRank(x));
  if (!axes)
    return {};
  Value y = reduce(node, getKind(node), x, *axes, node.getBool("keepdim"));
  Type stated = node.getStatedType();
  return stated ? node.castTo(y, stated) : y;
}

Value convertCountNonzero(Node &node) {
  Value x = node.castTo(node.getTensor("self"), node.getBuilder().getI1Type());
  auto axes = node.getAxes("dim", getRank(x));
  return axes ? reduce(node, nn::ReduceKind::sum,
                       node.castTo(x, node.getBuilder().getI64Type()), *axes,
                       false)
              : Value();
}

Value convertLogSumExp(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  auto axes = node.getAxes("dim", getRank(x));
  return axes ? reduce(node, nn::ReduceKind::log_sum_exp, x, *axes,
                       node.getBool("keepdim"))
              : Value();
}

//===----------------------------------------------------------------------===//
// Variances
//===----------------------------------------------------------------------===//

/// Converts var and std, and with a mean as another result var_mean and
/// std_mean.
Value convertVariance(Node &node) {
  Value x = node.getTensor("self");
  auto axes = node.getAxes("dim", getRank(x));
  if (!x || !axes)
    return {};
  double correction = node.getFloat("correction", 1);
  if (node.has("unbiased"))
    correction = node.getBool("unbiased", true) ? 1 : 0;
  bool keeps = node.getBool("keepdim");
  int64_t count = 1;
  for (int64_t axis : *axes)
    count *= getShape(x)[axis];
  Value mean = reduce(node, nn::ReduceKind::mean, x, *axes, true);
  Value centred = node.createElementwise("sub", {x, mean});
  Value sum =
      reduce(node, nn::ReduceKind::sum,
             node.createElementwise("mul", {centred, centred}), *axes, keeps);
  double divisor = std::max(static_cast<double>(count) - correction, 0.0);
  // A quotient by a whole number, which may follow from sizes that vary.
  Value y = node.createBinary("div", sum, divisor);
  if (node.getNnOp() == "std")
    y = node.createElementwise("sqrt", {y});
  if (node.getNumResults() > 1 && mean && y)
    node.setResult(1, node.reshape(mean, getShape(y)));
  return y;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

Value computeNorm(Node &node, Value x, double order, ArrayRef<int64_t> axes,
                  bool keeps) {
  if (!x)
    return {};
  if (axes.empty())
    return node.createElementwise("abs", {x});
  if (order == 2)
    return reduce(node, nn::ReduceKind::l2, x, axes, keeps);
  if (order == 1)
    return reduce(node, nn::ReduceKind::l1, x, axes, keeps);
  Value size = node.createElementwise("abs", {x});
  if (std::isinf(order))
    return reduce(node, order > 0 ? nn::ReduceKind::max : nn::ReduceKind::min,
                  size, axes, keeps);
  if (order == 0)
    return reduce(node, nn::ReduceKind::sum,
                  node.castTo(node.castTo(x, node.getBuilder().getI1Type()),
                              getElement(x)),
                  axes, keeps);
  Value sum = reduce(node, nn::ReduceKind::sum,
                     node.createBinary("pow", size, order), axes, keeps);
  return node.createBinary("pow", sum, 1 / order);
}

/// Converts nanmean, the mean of the elements that are numbers.
Value convertNanMean(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  auto axes = node.getAxes("dim", getRank(x));
  if (!x || !axes)
    return {};
  bool keeps = node.getBool("keepdim");
  Value isNan = node.createElementwise("is_nan", {x});
  Value zero = node.splat(0, getElement(x)), one = node.splat(1, getElement(x));
  Value sum =
      reduce(node, nn::ReduceKind::sum,
             node.createElementwise("select", {isNan, zero, x}), *axes, keeps);
  Value count = reduce(node, nn::ReduceKind::sum,
                       node.createElementwise("select", {isNan, zero, one}),
                       *axes, keeps);
  return node.createElementwise("div", {sum, count});
}

/// Converts dist, the norm of a difference.
Value convertDist(Node &node) {
  Value d = node.createElementwise(
      "sub", {node.getTensor("self"), node.getTensor("other")});
  return computeNorm(node, d, node.getFloat("p", 2), iota(getRank(d)), false);
}

/// Converts renorm: slices of an axis whose norm is too large are scaled to it.
Value convertRenorm(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x));
  if (!x || !axis || getRank(x) < 2)
    return x && axis ? node.broken("needs at least two axes") : Value();
  SmallVector<int64_t> others;
  for (int64_t i : iota(getRank(x)))
    if (i != *axis)
      others.push_back(i);
  double most = node.getFloat("maxnorm");
  Value size = computeNorm(node, x, node.getFloat("p", 2), others, true);
  if (!size)
    return {};
  Value limit = node.splat(most, getElement(x));
  Value factor = node.createElementwise(
      "div", {limit, node.createBinary("add", size, 1e-7)});
  Value isLarge = node.createElementwise("greater", {size, limit});
  return node.createElementwise(
      "mul",
      {x, node.createElementwise(
              "select", {isLarge, factor, node.splat(1, getElement(x))})});
}

/// Returns the order of a norm; NaN after an error.
static double getOrder(Node &node, StringRef name) {
  if (!node.has(name))
    return 2;
  return node.getFloat(name, 2);
}

Value convertNorm(Node &node) {
  bool isLinalg = node.getOp().starts_with("linalg");
  Value x = node.toReal(node.getTensor("self"));
  auto axes = node.getAxes("dim", getRank(x));
  return axes ? computeNorm(node, x, getOrder(node, isLinalg ? "ord" : "p"),
                            *axes, node.getBool("keepdim"))
              : Value();
}

/// Converts cosine_similarity along an axis.
Value convertCosineSimilarity(Node &node) {
  Value a = node.toReal(node.getTensor("x1")),
        b = node.toReal(node.getTensor("x2"));
  Value product = node.createElementwise("mul", {a, b});
  auto axis = node.getAxis("dim", getRank(product), 1);
  if (!product || !axis || getRank(product) == 0)
    return {};
  a = node.expand(a, getShape(product));
  b = node.expand(b, getShape(product));
  double least = node.getFloat("eps", 1e-8);
  auto getSize = [&](Value x) {
    return node.createBinary(
        "max", reduce(node, nn::ReduceKind::l2, x, *axis, false), least);
  };
  return node.createElementwise(
      "div", {reduce(node, nn::ReduceKind::sum, product, *axis, false),
              node.createElementwise("mul", {getSize(a), getSize(b)})});
}

} // namespace nnc::torch
