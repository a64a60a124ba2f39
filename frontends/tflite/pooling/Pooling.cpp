//===- Pooling.cpp - Pools and reductions ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/convolution/SlidingWindow.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns the window of a pool; nullopt after an error if it is not valid.
static std::optional<Window> readPool(Layer &layer,
                                      const fb::PoolOptions *options) {
  Value x = layer.getInput(0);
  if (!options || !x)
    return std::nullopt;
  Window window;
  window.kernel = {options->kernel_h(), options->kernel_w()};
  window.strides = {options->stride_h(), options->stride_w()};
  window.dilations = {1, 1};
  if (!fitWindow(layer, x, options->padding(), window))
    return std::nullopt;
  return window;
}

/// Returns integers of the result's type, clipped to the range of an
/// activation.
static Value limitIntegers(Layer &layer, Value y, fb::Activation activation) {
  auto range = getActivationRange(layer, activation);
  if (!range || !y)
    return {};
  Range all = getRange(getElement(y));
  if (range->min == all.min && range->max == all.max)
    return y;
  Builder &builder = layer.getBuilder();
  return layer.createElementwise(
      "clip", {y},
      {builder.getNamedAttr("min", builder.getF64FloatAttr(range->min)),
       builder.getNamedAttr("max", builder.getF64FloatAttr(range->max))});
}

/// Returns true after an error if the quantization of input and result differs.
static bool areRescaled(Layer &layer) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (in && out && in.scales == out.scales && in.zeroPoints == out.zeroPoints)
    return false;
  layer.unsupported("has an input and a result with different scales or zero "
                    "points, which TFLite does not define");
  return true;
}

Value convertMaxPool(Layer &layer) {
  const auto *options = layer.getOptions<fb::PoolOptions>(fb::Options::Pool);
  auto window = readPool(layer, options);
  if (!window)
    return {};
  Value y = layer.create<nn::MaxPoolOp>(
      toChannelsFirst(layer, layer.getInput(0)), window->kernel,
      window->strides, window->dilations, window->pads, false);
  if (!y)
    return {};
  if (isa<FloatType>(getElement(y)))
    y = activate(layer, y, options->activation());
  else
    y = areRescaled(layer) ? Value()
                           : limitIntegers(layer, y, options->activation());
  return toChannelsLast(layer, y);
}

Value convertAveragePool(Layer &layer) {
  const auto *options = layer.getOptions<fb::PoolOptions>(fb::Options::Pool);
  auto window = readPool(layer, options);
  if (!window)
    return {};
  Value x = toChannelsFirst(layer, layer.getInput(0));
  if (!x)
    return {};
  bool isFloat = isa<FloatType>(getElement(x));
  // The mean of integers is rounded to nearest, halves away from zero.
  TypeAttr accumulator =
      isFloat ? TypeAttr() : TypeAttr::get(layer.getBuilder().getI32Type());
  Value y = layer.create<nn::AvgPoolOp>(
      x, window->kernel, window->strides, window->dilations, window->pads,
      /*ceil_mode=*/false, /*count_include_pad=*/false, accumulator);
  if (isFloat)
    return toChannelsLast(layer, activate(layer, y, options->activation()));
  if (!y || areRescaled(layer))
    return {};
  y = layer.castTo(y, getElement(x));
  return toChannelsLast(layer, limitIntegers(layer, y, options->activation()));
}

/// Converts L2_POOL_2D on floats: the square root of the mean of squares.
Value convertL2Pool(Layer &layer) {
  const auto *options = layer.getOptions<fb::PoolOptions>(fb::Options::Pool);
  auto window = readPool(layer, options);
  if (!window)
    return {};
  Value x = toChannelsFirst(layer, layer.getInput(0));
  if (!getElement(x).isF32())
    return layer.unsupported("works on " + getTypeName(getElement(x)) +
                             "; TFLite defines it on FLOAT32");
  Value y = layer.create<nn::AvgPoolOp>(
      layer.createElementwise("mul", {x, x}), window->kernel, window->strides,
      window->dilations, window->pads, /*ceil_mode=*/false,
      /*count_include_pad=*/false, TypeAttr());
  return toChannelsLast(layer,
                        activate(layer, layer.createElementwise("sqrt", {y}),
                                 options->activation()));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Returns the axes in the second input, made non-negative; nullopt after an
/// error if they are not constant or not valid.
static std::optional<SmallVector<int64_t>> readAxes(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.readInts(layer.getInput(1), "axes");
  if (!axes || !x)
    return std::nullopt;
  for (int64_t &axis : *axes) {
    auto normal = layer.normalizeAxis(axis, getRank(x));
    if (!normal)
      return std::nullopt;
    axis = *normal;
  }
  llvm::sort(*axes);
  axes->erase(std::unique(axes->begin(), axes->end()), axes->end());
  return axes;
}

/// Returns the mean or the sum of quantized integers.
static Value reduceIntegers(Layer &layer, ArrayRef<int64_t> axes, bool keepDims,
                            bool isMean) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  Value x = layer.getInput(0);
  if (!in || !out)
    return layer.unsupported("reduces integers without a quantization");
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= getShape(x)[axis];
  if (count == 0)
    return layer.unsupported("reduces no elements");
  Value sums = layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum, layer.castTo(x, layer.getBuilder().getI32Type()),
      axes, keepDims);
  Value centred = layer.createElementwise(
      "sub", {sums, constantOf(layer, in.getZeroPoint() * count)});
  qnn::FixedPoint factor = qnn::toFixedPoint(in.getScale() / out.getScale());
  if (isMean) {
    // TFLite divides the multiplier by the number of elements, after shifting
    // it left by as many bits as fit.
    int more = std::min(
        {63 - int(llvm::countl_zero(uint64_t(count))), 32, 31 + factor.shift});
    factor.multiplier = (factor.multiplier << more) / count;
    factor.shift -= more;
  }
  return storeRescaled(layer, centred, factor,
                       getRange(layer.getOutputElement()));
}

/// Converts the reduction `kind`.
static Value reduce(Layer &layer, nn::ReduceKind kind) {
  const auto *options =
      layer.getOptions<fb::ReduceOptions>(fb::Options::Reducer);
  Value x = layer.getInput(0);
  auto axes = readAxes(layer);
  if (!options || !axes)
    return {};
  if (axes->empty())
    return x;
  bool isSum = kind == nn::ReduceKind::sum || kind == nn::ReduceKind::mean;
  if (isQuantized(x, layer.getInputQuantization(0))) {
    if (isSum)
      return reduceIntegers(layer, *axes, options->keep_dims(),
                            kind == nn::ReduceKind::mean);
    if (kind == nn::ReduceKind::prod || areRescaled(layer))
      return kind == nn::ReduceKind::prod
                 ? layer.unsupported("multiplies quantized integers")
                 : Value();
  }
  return layer.create<nn::ReduceOp>(kind, x, *axes, options->keep_dims());
}

/// Converts REDUCE_ALL and REDUCE_ANY, which reduce bools.
static Value reduceTruths(Layer &layer, nn::ReduceKind kind) {
  const auto *options =
      layer.getOptions<fb::ReduceOptions>(fb::Options::Reducer);
  Value x = layer.getInput(0);
  auto axes = readAxes(layer);
  if (!options || !axes)
    return {};
  if (!getElement(x).isSignlessInteger(1))
    return layer.broken("needs elements of type BOOL, not " +
                        getTypeName(getElement(x)));
  if (axes->empty())
    return x;
  Type byte = layer.getBuilder().getIntegerType(8);
  Value y = layer.create<nn::ReduceOp>(kind, layer.castTo(x, byte), *axes,
                                       options->keep_dims());
  return layer.castTo(y, getElement(x));
}

Value convertReduceAll(Layer &layer) {
  return reduceTruths(layer, nn::ReduceKind::min);
}
Value convertReduceAny(Layer &layer) {
  return reduceTruths(layer, nn::ReduceKind::max);
}

Value convertMean(Layer &layer) { return reduce(layer, nn::ReduceKind::mean); }
Value convertSum(Layer &layer) { return reduce(layer, nn::ReduceKind::sum); }
Value convertReduceMax(Layer &layer) {
  return reduce(layer, nn::ReduceKind::max);
}
Value convertReduceMin(Layer &layer) {
  return reduce(layer, nn::ReduceKind::min);
}
Value convertReduceProd(Layer &layer) {
  return reduce(layer, nn::ReduceKind::prod);
}

/// Converts ARG_MAX and ARG_MIN.
template <class Op> static Value convertArg(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x)) : std::nullopt;
  if (!axis)
    return {};
  Type element = layer.getOutputElement();
  if (!element || !(element.isInteger(32) || element.isInteger(64)))
    return layer.unsupported("has a result of type " +
                             getTypeName(layer.getOutputTensor()->type()) +
                             ", where nnc handles INT32 and INT64");
  Value y = layer.create<Op>(x, *axis, /*keepdims=*/false,
                             /*select_last=*/false);
  return layer.castTo(y, layer.getOutputElement());
}

Value convertArgMax(Layer &layer) { return convertArg<nn::ArgMaxOp>(layer); }
Value convertArgMin(Layer &layer) { return convertArg<nn::ArgMinOp>(layer); }

} // namespace nnc::tflite
