//===- Reduction.cpp - Reductions over axes -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

/// Converts Reduction of all axes from `axis` on.
Value convertReduction(Layer &layer) {
  const schema::ReductionParameter &param = layer.getParam().reduction_param();
  Value x = layer.getBottom(0);
  auto axis = layer.normalizeAxis(param.axis(), getRank(x));
  if (!axis)
    return {};
  nn::ReduceKind kind = nn::ReduceKind::sum;
  if (param.operation() == schema::ReductionParameter::ASUM)
    kind = nn::ReduceKind::l1;
  else if (param.operation() == schema::ReductionParameter::SUMSQ)
    kind = nn::ReduceKind::sum_square;
  else if (param.operation() == schema::ReductionParameter::MEAN)
    kind = nn::ReduceKind::mean;
  SmallVector<int64_t> axes = iota(getRank(x));
  axes.erase(axes.begin(), axes.begin() + *axis);
  Value y = layer.create<nn::ReduceOp>(kind, x, ArrayRef<int64_t>(axes),
                                       /*keepdims=*/false);
  return param.coeff() == 1 ? y : layer.withNumber("mul", y, param.coeff());
}

/// Returns the elements of x, rows by columns, at the columns `places` of each
/// row.
static Value pick(Layer &layer, Value x, Value places) {
  if (!x || !places)
    return {};
  int64_t rows = getShape(x)[0], columns = getShape(x)[1];
  Type integer = layer.getBuilder().getI64Type();
  if (!layer.checkSize(RankedTensorType::get(rows, integer), /*isMade=*/true))
    return {};
  SmallVector<int64_t> starts;
  for (int64_t i = 0; i < rows; ++i)
    starts.push_back(i * columns);
  Value all = layer.createElementwise(
      "add", {places, layer.reshape(layer.constant(starts), {rows, 1})});
  return layer.create<nn::GatherOp>(layer.reshape(x, {rows * columns}), all,
                                    int64_t(0));
}

/// Returns the places of the largest elements along an axis, which is kept; of
/// equal ones the last, as in Caffe.
static Value findLargest(Layer &layer, Value x, int64_t axis) {
  Value places = layer.create<nn::ArgMaxOp>(x, axis, /*keepdims=*/true,
                                            /*select_last=*/true);
  return layer.castTo(places, getElement(x));
}

/// Converts ArgMax of one element: along an axis its place or itself, in whole
/// samples its place and, with out_max_val, itself.
static Value findOne(Layer &layer, std::optional<int64_t> axis, bool hasValue) {
  Value x = layer.getBottom(0);
  SmallVector<int64_t> shape(getShape(x));
  if (axis && !hasValue)
    return findLargest(layer, x, *axis);
  auto getMost = [&](Value y, int64_t along) {
    return layer.create<nn::ReduceOp>(nn::ReduceKind::max, y,
                                      ArrayRef<int64_t>(along), true);
  };
  if (axis)
    return getMost(x, *axis);
  Value rows =
      layer.reshape(x, {shape[0], product(ArrayRef(shape).drop_front())});
  SmallVector<int64_t> result(std::max<size_t>(shape.size(), 3), 1);
  result[0] = shape[0];
  Value place = layer.reshape(findLargest(layer, rows, 1), result);
  if (!hasValue)
    return place;
  return layer.create<nn::ConcatOp>(
      ValueRange({place, layer.reshape(getMost(rows, 1), result)}), int64_t(1));
}

/// Converts ArgMax: the places of the largest elements along an axis, as
/// floats, or without an axis in whole samples; with out_max_val the elements
/// too, or along an axis the elements alone.
Value convertArgMax(Layer &layer) {
  const schema::ArgMaxParameter &param = layer.getParam().argmax_param();
  Value x = layer.getBottom(0);
  if (!param.has_axis() && getRank(x) < 1)
    return layer.broken("needs a bottom with axes");
  SmallVector<int64_t> shape(getShape(x));
  auto axis = param.has_axis() ? layer.normalizeAxis(param.axis(), shape.size())
                               : std::optional<int64_t>(1);
  if (!axis)
    return {};
  int64_t columns =
      param.has_axis() ? shape[*axis] : product(ArrayRef(shape).drop_front());
  int64_t count = param.top_k();
  if (count < 1 || count > columns)
    return layer.broken("has top_k " + Twine(count) + " among " +
                        Twine(columns) + " elements");
  if (count == 1)
    return findOne(layer,
                   param.has_axis() ? std::optional(*axis) : std::nullopt,
                   param.out_max_val());
  // The axis becomes the last one of a matrix.
  SmallVector<int64_t> order = iota(shape.size());
  Value rows = x;
  if (param.has_axis()) {
    order.erase(order.begin() + *axis);
    order.push_back(*axis);
    rows = layer.transpose(x, order);
  }
  int64_t others = columns ? product(shape) / columns : 0;
  rows = rows ? layer.reshape(rows, {others, columns}) : Value();
  Value places = layer.create<nn::TopKOp>(rows, int64_t(1), count,
                                          /*largest=*/true);
  Value values = param.out_max_val() ? pick(layer, rows, places) : Value();
  places = layer.castTo(places, getElement(x));
  if (!param.has_axis()) {
    SmallVector<int64_t> result(std::max<size_t>(shape.size(), 3), 1);
    result[0] = shape[0];
    result[2] = count;
    Value y = places ? layer.reshape(places, result) : Value();
    if (!param.out_max_val())
      return y;
    if (!values || !y)
      return {};
    return layer.create<nn::ConcatOp>(
        ValueRange({y, layer.reshape(values, result)}), int64_t(1));
  }
  Value y = param.out_max_val() ? values : places;
  SmallVector<int64_t> back(shape.size());
  SmallVector<int64_t> moved;
  for (auto [i, from] : llvm::enumerate(order)) {
    back[from] = i;
    moved.push_back(i + 1 == order.size() ? count : shape[from]);
  }
  return y ? layer.transpose(layer.reshape(y, moved), back) : Value();
}

} // namespace nnc::caffe
