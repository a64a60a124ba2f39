//===- Reduce.cpp - Reductions over axes ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns the axes that the node reduces, sorted: those of its attribute, all
/// if it has none, and with `exclude` the others. Returns nullopt after an
/// error.
static std::optional<SmallVector<int64_t>> readAxes(Layer &layer,
                                                    int64_t rank) {
  SmallVector<int64_t> axes =
      layer.getInts("axis").value_or(SmallVector<int64_t>());
  if (axes.empty())
    return iota(rank);
  if (!layer.normalizeAxes(axes, rank))
    return std::nullopt;
  llvm::sort(axes);
  if (!layer.getBool("exclude", false))
    return axes;
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

/// Returns `y` with one axis if it has none: MXNet has no scalars outside of
/// NumPy's operators.
static Value withoutScalars(Layer &layer, Value y) {
  bool isNumpy = layer.getOp().starts_with("_np");
  return y && getRank(y) == 0 && !isNumpy ? layer.reshape(y, {1}) : y;
}

static Value reduce(Layer &layer, nn::ReduceKind kind) {
  Value x = layer.getInput(0);
  auto axes = readAxes(layer, getRank(x));
  if (!axes)
    return {};
  if (getElement(x).isInteger(1) ||
      (kind == nn::ReduceKind::mean && !isa<FloatType>(getElement(x))))
    x = layer.castTo(x, layer.getF32());
  if (axes->empty())
    return x;
  return withoutScalars(
      layer, layer.reduce(kind, x, *axes, layer.getBool("keepdims", false)));
}

Value convertSum(Layer &layer) { return reduce(layer, nn::ReduceKind::sum); }
Value convertMean(Layer &layer) { return reduce(layer, nn::ReduceKind::mean); }
Value convertMax(Layer &layer) { return reduce(layer, nn::ReduceKind::max); }
Value convertMin(Layer &layer) { return reduce(layer, nn::ReduceKind::min); }
Value convertProd(Layer &layer) { return reduce(layer, nn::ReduceKind::prod); }

Value convertNorm(Layer &layer) {
  int64_t order = layer.getInt("ord", 2);
  if (order != 1 && order != 2)
    return layer.unsupported("has the order " + Twine(order) +
                             "; nnc handles 1 and 2");
  return reduce(layer, order == 1 ? nn::ReduceKind::l1 : nn::ReduceKind::l2);
}

/// Reduces whether elements are not 0.
static Value reduceTruth(Layer &layer, nn::ReduceKind kind) {
  Value x = layer.getInput(0);
  auto axes = readAxes(layer, getRank(x));
  if (!axes)
    return {};
  Type truth = layer.getBuilder().getI1Type();
  x = layer.castTo(layer.castTo(x, truth), layer.getF32());
  bool keepdims = layer.getBool("keepdims", false);
  return layer.castTo(
      axes->empty() ? x : layer.reduce(kind, x, *axes, keepdims), truth);
}
Value convertAll(Layer &layer) {
  return reduceTruth(layer, nn::ReduceKind::min);
}
Value convertAny(Layer &layer) {
  return reduceTruth(layer, nn::ReduceKind::max);
}

/// Converts _npi_average: a mean, or one with weights, of which a vector has
/// one for each slice of the axis.
Value convertAverage(Layer &layer) {
  Value x = layer.getInput(0), weights = layer.getInput(1);
  if (layer.getBool("returned", false))
    return layer.unsupported("returns the sum of its weights");
  if (!weights)
    return reduce(layer, nn::ReduceKind::mean);
  auto axes = readAxes(layer, getRank(x));
  if (!axes)
    return {};
  if (getRank(weights) == 1 && axes->size() == 1) {
    SmallVector<int64_t> shape(getRank(x), 1);
    shape[axes->front()] = getShape(weights)[0];
    weights = layer.reshape(weights, shape);
  }
  weights = layer.expand(weights, getShape(x));
  auto sum = [&](Value of) {
    return layer.reduce(nn::ReduceKind::sum, of, *axes, false);
  };
  return layer.createElementwise("div",
                                 {sum(layer.mul(x, weights)), sum(weights)});
}

/// Returns the means of squared deviations over the axes of an attribute, and
/// sets `mean` to the means.
static Value findVariance(Layer &layer, StringRef attribute, Value &mean) {
  Value x = layer.getInput(0);
  SmallVector<int64_t> axes =
      layer.getInts(attribute).value_or(SmallVector<int64_t>());
  if (axes.empty())
    axes = iota(getRank(x));
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  llvm::sort(axes);
  bool keepdims = layer.getBool("keepdims", false);
  Value kept = layer.reduce(nn::ReduceKind::mean, x, axes, true);
  Value centered = layer.createElementwise("sub", {x, kept});
  mean = withoutScalars(layer,
                        layer.reduce(nn::ReduceKind::mean, x, axes, keepdims));
  return withoutScalars(layer, layer.reduce(nn::ReduceKind::mean,
                                            layer.mul(centered, centered), axes,
                                            keepdims));
}

Value convertMoments(Layer &layer) {
  Value mean;
  layer.setResult(1, findVariance(layer, "axes", mean));
  return mean;
}

Value convertVariance(Layer &layer) {
  Value mean;
  if (layer.getInt("ddof", 0) != 0)
    return layer.unsupported("has ddof; nnc handles 0");
  return findVariance(layer, "axis", mean);
}

Value convertDeviation(Layer &layer) {
  return layer.createElementwise("sqrt", convertVariance(layer));
}

Value convertCumsum(Layer &layer) {
  Value x = layer.getInput(0);
  if (!layer.has("axis"))
    x = layer.reshape(x, {getNumElements(x)});
  auto axis = layer.getAxis("axis", 0, getRank(x));
  return axis ? layer.create<nn::CumSumOp>(x, *axis, false, false) : Value();
}

} // namespace nnc::mxnet
