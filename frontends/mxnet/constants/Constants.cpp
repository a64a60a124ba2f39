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

Value convertEye(Layer &layer) {
  int64_t rows = layer.getInt("N", 0), columns = layer.getInt("M", 0),
          diagonal = layer.getInt("k", 0);
  columns = columns <= 0 ? rows : columns;
  if (rows < 1 || rows > kMaxReadElements || columns > kMaxReadElements)
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

Value convertShapeArray(Layer &layer) {
  return layer.constant(getShape(layer.getInput(0)));
}
Value convertSizeArray(Layer &layer) {
  return layer.constant(ArrayRef<int64_t>(getNumElements(layer.getInput(0))));
}

} // namespace nnc::mxnet
