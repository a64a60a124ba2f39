//===- Constants.cpp - Tensors that no input decides ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns a tensor with the shape and type of the attributes, all of whose
/// elements are `value`. A size of 0 is unknown until MXNet binds the network,
/// such as the batch of first states: it becomes 1, which broadcasts.
static Value fill(Layer &layer, double value) {
  auto shape = layer.getInts("shape").value_or(SmallVector<int64_t>());
  Type type = layer.getDtype("dtype", layer.getF32());
  if (!type)
    return {};
  for (int64_t &size : shape) {
    if (size < -1 || size > kMaxDim)
      return layer.broken("has the shape " + toString(shape));
    size = std::max<int64_t>(size, 1);
  }
  if (shape.empty() && !layer.getOp().starts_with("_np"))
    shape.push_back(1);
  return layer.splat(value, type, shape);
}

Value convertZeros(Layer &layer) { return fill(layer, 0); }
Value convertOnes(Layer &layer) { return fill(layer, 1); }
Value convertFull(Layer &layer) {
  return fill(layer,
              layer.getReal(layer.has("value") ? "value" : "fill_value", 0));
}

static Value fillLike(Layer &layer, double value) {
  Value x = layer.getInput(0);
  return layer.splat(value, getElement(x), getShape(x));
}

Value convertZerosLike(Layer &layer) { return fillLike(layer, 0); }
Value convertOnesLike(Layer &layer) { return fillLike(layer, 1); }
Value convertFullLike(Layer &layer) {
  return fillLike(layer, layer.getReal("fill_value", 0));
}

/// Returns start, start + step and so on, each `repeats` times.
static Value count(Layer &layer, double start, double step, int64_t number,
                   int64_t repeats, Type type) {
  if (number < 0 || repeats < 1 || number > (1 << 24) / repeats)
    return layer.fail(ImportStatus::limit,
                      "has more than 2^24 elements, or none");
  SmallVector<double> reals;
  SmallVector<int64_t> ints;
  bool isReal = isa<FloatType>(type);
  for (int64_t i = 0; i < number; ++i)
    for (int64_t j = 0; j < repeats; ++j) {
      double value = start + step * double(i);
      isReal ? reals.push_back(value) : ints.push_back(int64_t(value));
    }
  return layer.constant(frontends::makeAttribute(
      {RankedTensorType::get(number * repeats, type), ints, reals}));
}

Value convertArange(Layer &layer) {
  double start = layer.getReal("start", 0), step = layer.getReal("step", 1);
  Type type = layer.getDtype("dtype", layer.getF32());
  // With one bound, that is the end.
  double stop = layer.getReal("stop", start);
  if (!layer.has("stop"))
    start = 0;
  double number = step == 0 ? -1 : std::ceil((stop - start) / step);
  if (!type || !(number >= 0) || number > kMaxDim)
    return type
               ? layer.broken("counts from " + toString(start) + " to " +
                              toString(stop) + " in steps of " + toString(step))
               : Value();
  return count(layer, start, step, int64_t(number), layer.getInt("repeat", 1),
               type);
}

/// Converts _contrib_arange_like: as many numbers as x or one of its axes has
/// elements.
Value convertArangeLike(Layer &layer) {
  Value x = layer.getInput(0);
  double start = layer.getReal("start", 0), step = layer.getReal("step", 1);
  int64_t repeats = std::max<int64_t>(layer.getInt("repeat", 1), 1);
  SmallVector<int64_t> shape(getShape(x));
  if (layer.has("axis")) {
    auto axis = layer.getAxis("axis", 0, getRank(x));
    if (!axis)
      return {};
    shape = {getShape(x)[*axis]};
  }
  int64_t number = llvm::divideCeil(product(shape), repeats);
  Value y = count(layer, start, step, number, repeats, getElement(x));
  if (!y)
    return {};
  return layer.reshape(layer.slice(y, 0, 0, product(shape)), shape);
}

/// Returns a matrix with 1 on the diagonal `diagonal` and 0 elsewhere.
static Value makeEye(Layer &layer, int64_t rows, int64_t columns,
                     int64_t diagonal) {
  diagonal = std::clamp<int64_t>(diagonal, -kMaxDim, kMaxDim);
  if (rows < 1 || columns < 1 || rows > kMaxReadElements ||
      columns > kMaxReadElements)
    return layer.broken("is a matrix of " + Twine(rows) + " rows and " +
                        Twine(columns) + " columns");
  Type type = layer.getDtype("dtype", layer.getF32());
  auto f32 = RankedTensorType::get({rows, columns}, layer.getF32());
  if (!type || !layer.checkSize(f32, /*isMade=*/true))
    return {};
  std::vector<float> elements(rows * columns, 0.0F);
  for (int64_t i = 0; i < rows; ++i)
    if (i + diagonal >= 0 && i + diagonal < columns)
      elements[i * columns + i + diagonal] = 1.0F;
  return layer.castTo(
      layer.constant(DenseElementsAttr::get(f32, ArrayRef<float>(elements))),
      type);
}

Value convertEye(Layer &layer) {
  int64_t rows = layer.getInt("N", 0), columns = layer.getInt("M", 0);
  return makeEye(layer, rows, columns <= 0 ? rows : columns,
                 layer.getInt("k", 0));
}

Value convertIdentityMatrix(Layer &layer) {
  auto shape = layer.getInts("shape").value_or(SmallVector<int64_t>());
  if (shape.size() != 2)
    return layer.broken("is a matrix of shape " + toString(shape));
  return makeEye(layer, shape[0], shape[1], 0);
}

/// Returns a vector of `compute(i)` for i from 0 to `number` - 1.
static Value tabulate(Layer &layer, int64_t number,
                      llvm::function_ref<double(double)> compute) {
  Type type = layer.getDtype("dtype", layer.getF32());
  if (!type)
    return {};
  if (number < 1 || number > 1 << 20)
    return layer.broken("has " + Twine(number) + " elements");
  SmallVector<double> reals;
  SmallVector<int64_t> ints;
  for (int64_t i = 0; i < number; ++i) {
    double value = compute(double(i));
    isa<FloatType>(type) ? reals.push_back(value)
                         : ints.push_back(int64_t(value));
  }
  return layer.constant(frontends::makeAttribute(
      {RankedTensorType::get(number, type), ints, reals}));
}

/// Returns the bounds of linspace and logspace, by their distance.
static std::pair<double, double> readSteps(Layer &layer, int64_t number) {
  double start = layer.getReal("start", 0), stop = layer.getReal("stop", 1);
  int64_t steps = layer.getBool("endpoint", true) ? number - 1 : number;
  return {start, steps > 0 ? (stop - start) / double(steps) : 0};
}

Value convertLinspace(Layer &layer) {
  int64_t number = layer.getInt("num", 50);
  auto [start, step] = readSteps(layer, number);
  return tabulate(layer, number, [start = start, step = step](double i) {
    return start + step * i;
  });
}

Value convertLogspace(Layer &layer) {
  int64_t number = layer.getInt("num", 50);
  double base = layer.getReal("base", 10);
  auto [start, step] = readSteps(layer, number);
  return tabulate(layer, number, [base, start = start, step = step](double i) {
    return std::pow(base, start + step * i);
  });
}

/// Returns a window function of M elements, a - b cos(t) + c cos(2 t), where t
/// rises from 0 to 2 pi.
static Value makeWindow(Layer &layer, double a, double b, double c) {
  int64_t number = layer.getInt("M", 0);
  double step =
      number > 1 ? 2 * 3.14159265358979323846 / double(number - 1) : 0;
  return tabulate(layer, number, [=](double i) {
    return number == 1
               ? 1.0
               : a - b * std::cos(step * i) + c * std::cos(2 * step * i);
  });
}
Value convertHanning(Layer &layer) { return makeWindow(layer, 0.5, 0.5, 0); }
Value convertHamming(Layer &layer) { return makeWindow(layer, 0.54, 0.46, 0); }
Value convertBlackman(Layer &layer) {
  return makeWindow(layer, 0.42, 0.5, 0.08);
}

Value convertShapeArray(Layer &layer) {
  return layer.constant(getShape(layer.getInput(0)));
}
Value convertSizeArray(Layer &layer) {
  return layer.constant(ArrayRef<int64_t>(getNumElements(layer.getInput(0))));
}

} // namespace nnc::mxnet
