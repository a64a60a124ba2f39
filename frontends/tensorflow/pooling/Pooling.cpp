//===- Pooling.cpp - Pools and reductions ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/convolution/SlidingWindow.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns the window of a pool on `x`, which has the channels second; nullopt
/// after an error.
static std::optional<Window> readPool(Layer &layer, Value x) {
  if (!x)
    return std::nullopt;
  auto kernel = getSpatial(layer, "ksize", layer.getInts("ksize"), getRank(x));
  if (!kernel)
    return std::nullopt;
  return readWindow(layer, getShape(x).drop_front(2), *kernel);
}

Value convertMaxPool(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0));
  auto window = readPool(layer, x);
  if (!window)
    return {};
  auto pool = [&](Value image, const Window &part) {
    return layer.create<nn::MaxPoolOp>(image, part.kernel, part.strides,
                                       part.dilations, part.pads,
                                       /*ceil_mode=*/false);
  };
  return fromImage(layer, poolAxes(layer, x, *window, pool));
}

Value convertAvgPool(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0));
  auto window = readPool(layer, x);
  if (!window)
    return {};
  auto pool = [&](Value image, const Window &part) {
    return layer.create<nn::AvgPoolOp>(image, part.kernel, part.strides,
                                       part.dilations, part.pads,
                                       /*ceil_mode=*/false,
                                       /*count_include_pad=*/false, TypeAttr());
  };
  return fromImage(layer, poolAxes(layer, x, *window, pool));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Returns the axes in the second input, made non-negative and sorted; nullopt
/// after an error if they are not constant or not valid.
static std::optional<Sizes> readAxes(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.readInts(layer.getInput(1), "axes");
  if (!axes || !x || !layer.normalizeAxes(*axes, getRank(x)))
    return std::nullopt;
  llvm::sort(*axes);
  return axes;
}

static bool keepsDims(Layer &layer) {
  return layer.getBool("keep_dims") || layer.getBool("keepdims");
}

/// Returns the reduction `kind` of `x` along `axes`. The spatial axes of an
/// image whose transpose x is are reduced in front of that transpose.
static Value reduce(Layer &layer, nn::ReduceKind kind, Value x,
                    ArrayRef<int64_t> axes) {
  if (axes.empty() || !x)
    return x;
  int64_t rank = getRank(x);
  Value image = Layer::getChannelsFirst(x);
  bool isSpatial = image && axes.front() > 0 && axes.back() == rank - 2 &&
                   int64_t(axes.size()) == rank - 2;
  if (!isSpatial)
    return layer.create<nn::ReduceOp>(kind, x, axes, keepsDims(layer));
  Sizes moved;
  for (int64_t axis : axes)
    moved.push_back(axis + 1);
  Value y = layer.create<nn::ReduceOp>(kind, image, moved, keepsDims(layer));
  return keepsDims(layer) ? layer.toChannelsLast(y) : y;
}

static Value reduce(Layer &layer, nn::ReduceKind kind) {
  auto axes = readAxes(layer);
  return axes ? reduce(layer, kind, layer.getInput(0), *axes) : Value();
}

Value convertMax(Layer &layer) { return reduce(layer, nn::ReduceKind::max); }
Value convertMin(Layer &layer) { return reduce(layer, nn::ReduceKind::min); }
Value convertProd(Layer &layer) { return reduce(layer, nn::ReduceKind::prod); }
Value convertMean(Layer &layer) { return reduce(layer, nn::ReduceKind::mean); }
Value convertSum(Layer &layer) { return reduce(layer, nn::ReduceKind::sum); }
Value convertEuclideanNorm(Layer &layer) {
  return reduce(layer, nn::ReduceKind::l2);
}

/// Converts All and Any, which reduce bools.
static Value reduceTruths(Layer &layer, nn::ReduceKind kind) {
  Value x = layer.getInput(0);
  auto axes = readAxes(layer);
  if (!axes)
    return {};
  if (!getElement(x).isSignlessInteger(1))
    return layer.broken("needs elements of type bool, not " +
                        getTypeName(getElement(x)));
  Type byte = layer.getBuilder().getIntegerType(8);
  return layer.castTo(reduce(layer, kind, layer.castTo(x, byte), *axes),
                      getElement(x));
}

Value convertAll(Layer &layer) {
  return reduceTruths(layer, nn::ReduceKind::min);
}
Value convertAny(Layer &layer) {
  return reduceTruths(layer, nn::ReduceKind::max);
}

/// Converts Cumsum and Cumprod.
template <class Op> static Value scan(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x)) : std::nullopt;
  if (!axis)
    return {};
  return layer.create<Op>(x, *axis, layer.getBool("exclusive"),
                          layer.getBool("reverse"));
}

Value convertCumsum(Layer &layer) { return scan<nn::CumSumOp>(layer); }
Value convertCumprod(Layer &layer) { return scan<nn::CumProdOp>(layer); }

} // namespace nnc::tensorflow
