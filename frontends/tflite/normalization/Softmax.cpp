//===- Softmax.cpp - Softmax and normalisations ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/qnn/FixedPoint.h"
#include "frontends/tflite/qnn/Int16.h"
#include "frontends/tflite/qnn/Quantized.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns the factor that converts differences of integers to fixed-point
/// numbers with 5 integer bits, the arguments of exponentials.
static qnn::FixedPoint getExponentFactor(double scale, qnn::Rescale rescale) {
  bool isSingle = rescale == qnn::Rescale::single_rounding;
  double most = static_cast<double>((int64_t(1) << (isSingle ? 30 : 31)) - 1);
  return qnn::toFixedPoint(std::min(std::ldexp(scale, 31 - 5), most));
}

/// Returns e^(-d * scale), computed in fixed point as in TFLite, for each
/// difference d from 0 on until the exponential is treated as 0.
static SmallVector<int32_t> makeExponentials(double scale,
                                             qnn::Rescale rescale) {
  qnn::FixedPoint factor = getExponentFactor(scale, rescale);
  int32_t radius = getInputRadius(5, factor.shift);
  SmallVector<int32_t> table;
  for (int32_t d = 0; d <= std::min(radius, 255); ++d)
    table.push_back(expOfNegative(multiply(-d, factor, rescale), 5));
  return table;
}

/// Returns the tables of SOFTMAX on 16-bit integers: e^v for v from -10 to 0,
/// and 1 / (1 + v) for v from 0 to 1. TFLite Micro computes them in f32 and
/// LiteRT in f64, so that some entries differ.
template <class T> static std::pair<Value, Value> makeTables(Layer &layer) {
  constexpr T kRange = 65535;
  constexpr T kTenth = 10 / kRange, kOne = 1 / kRange;
  constexpr T kUnit = 65536 / ((2 / kRange) * 32767 - (2 / kRange) * -32768);
  return {makeLines<T>(layer, kTenth * -65535, kTenth * 0, kUnit,
                       [](T v) { return std::exp(v); }),
          makeLines<T>(layer, kOne * 0, kOne * 65535, kUnit,
                       [](T v) { return 1 / (1 + v); })};
}

/// Converts SOFTMAX on 16-bit integers.
static Value convertWideSoftmax(Layer &layer, Value x, float beta) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!out || in.getZeroPoint() != 0 || out.getZeroPoint() != 0 ||
      in.axis >= 0 || !layer.getOutputElement().isSignlessInteger(16) ||
      std::abs(out.getScale() * 32768 - 1) > 1e-3)
    return layer.unsupported(
        "needs zero points of 0 and a result of type INT16 "
        "with a scale of 2^-15 beside INT16");
  // LiteRT computes this product in f32, TFLite Micro in f64.
  double argument =
      layer.isLiteRt()
          ? static_cast<double>(static_cast<float>(in.getScale()) * beta)
          : in.getScale() * double(beta);
  double units = argument / (10.0 / 65535.0);
  qnn::FixedPoint factor = qnn::toFixedPoint(units > 0 ? units : 0.0);
  if (!(units >= 0) || factor.shift > 30)
    return layer.unsupported("has a beta of " + toString(double(beta)));
  auto [powers, inverses] =
      layer.isLiteRt() ? makeTables<double>(layer) : makeTables<float>(layer);
  return layer.create<nn::TableSoftmaxOp>(
      x, powers, inverses, factor.multiplier, int64_t(factor.shift),
      layer.getRescale() == qnn::Rescale::single_rounding);
}

Value convertSoftmax(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::SoftmaxOptions>(fb::Options::Softmax);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  if (getRank(x) < 1)
    return layer.broken("needs a tensor with axes");
  int64_t axis = getRank(x) - 1;
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  Builder &builder = layer.getBuilder();
  if (!isQuantized(x, in)) {
    if (options->beta() != 1)
      x = layer.createElementwise(
          "mul",
          {x, layer.splat(builder.getF32FloatAttr(options->beta()), {})});
    return layer.create<nn::SoftmaxOp>(x, axis, /*log=*/false);
  }
  if (isInt16Activation(x, in))
    return convertWideSoftmax(layer, x, options->beta());
  Type to = layer.getOutputElement();
  unsigned width = to.getIntOrFloatBitWidth();
  if (!out || getElement(x).getIntOrFloatBitWidth() != 8 || width > 16)
    return layer.unsupported("computes " + getTypeName(to) + " from " +
                             getTypeName(getElement(x)) +
                             "; nnc handles integers of 8 bits, and results of "
                             "8 or 16");
  // Some converters write 1 / 65535, which kernels treat as 2^-16.
  double unit = std::ldexp(1.0, -int(width));
  double tolerance = width == 16 ? 1e-3 * unit : 0;
  if (out.getZeroPoint() != getRange(to).min ||
      !(std::abs(out.getScale() - unit) <= tolerance))
    return layer.unsupported("has a result whose scale is not 2^-" +
                             Twine(width) + " from its least number on");
  SmallVector<int32_t> table = makeExponentials(
      double(options->beta()) * in.getScale(), layer.getRescale());
  Value exponentials = layer.constant(DenseElementsAttr::get(
      RankedTensorType::get(int64_t(table.size()), builder.getI32Type()),
      ArrayRef(table)));
  return layer.createAs<nn::IntegerSoftmaxOp>(
      RankedTensorType::get(getShape(x), to), x, exponentials);
}

/// Computes LOG_SOFTMAX on 8-bit integers in fixed point. x has 5 integer bits,
/// and sums of exponentials have 12.
static Value subtractLogOfSum(Layer &layer, Value x) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  Type element = getElement(x);
  if (!out || in.axis >= 0 || out.axis >= 0 || getRank(x) < 1 ||
      element.getIntOrFloatBitWidth() != 8 ||
      layer.getOutputElement() != element || out.getScale() != 1.0 / 16 ||
      out.getZeroPoint() != getRange(element).max)
    return layer.unsupported("needs INT8 or UINT8 integers, and a result with "
                             "a scale of 1/16 up to its largest number");
  SmallVector<int64_t> axis = {getRank(x) - 1};
  Value wide = layer.castTo(x, layer.getBuilder().getI32Type());
  Value drop = layer.createElementwise(
      "sub", {wide, layer.create<nn::ReduceOp>(nn::ReduceKind::max, wide, axis,
                                               /*keepdims=*/true)});
  // For differences below a limit, exponentials are 0 and results are the least
  // integer.
  qnn::FixedPoint factor = getExponentFactor(in.getScale(), layer.getRescale());
  drop = layer.createElementwise(
      "max", {drop, constantOf(layer, -getInputRadius(5, factor.shift))});
  Value scaled = rescale(layer, drop, factor);
  Value sum = layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum, layer.createElementwise("exp_q12", {scaled}), axis,
      /*keepdims=*/true);
  Value y = layer.createElementwise(
      "sub",
      {layer.createElementwise("max", {scaled, constantOf(layer, -(1 << 30))}),
       layer.createElementwise("log_q5", {sum})});
  // Removing 22 bits leaves 4 fraction bits. Halves are rounded away from zero;
  // y is never positive.
  y = layer.createElementwise(
      "div", {layer.createElementwise("sub", {y, constantOf(layer, 1 << 21)}),
              constantOf(layer, 1 << 22)});
  return store(layer, y, getRange(element));
}

Value convertLogSoftmax(Layer &layer) {
  Value x = layer.getInput(0);
  if (isQuantized(x, layer.getInputQuantization(0)))
    return subtractLogOfSum(layer, x);
  return layer.create<nn::SoftmaxOp>(x, getRank(x) - 1, /*log=*/true);
}

/// Divides 8-bit integers by the root of the sum of squares of their row.
static Value normalizeIntegers(Layer &layer, Value x) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!getElement(x).isSignlessInteger(8) || !out || in.axis >= 0 ||
      out.getZeroPoint() != 0 || out.getScale() != 1.0 / 128 ||
      !layer.getOutputElement().isSignlessInteger(8))
    return layer.unsupported("needs INT8 integers and a result with a scale of "
                             "1/128 and a zero point of 0");
  Value centred = centre(layer, x, in);
  Value squares = layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum, layer.createElementwise("mul", {centred, centred}),
      SmallVector<int64_t>{getRank(x) - 1}, /*keepdims=*/true);
  Value multiplier =
            layer.createElementwise("inverse_root_multiplier", {squares}),
        shift = layer.createElementwise(
            "add", {layer.createElementwise("inverse_root_shift", {squares}),
                    constantOf(layer, 7)});
  return storeRescaled(layer, layer.getRescale(), {centred, multiplier, shift},
                       getRange(layer.getOutputElement()));
}

Value convertL2Normalization(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  if (getRank(x) < 1)
    return layer.broken("needs a tensor with axes");
  if (isQuantized(x, layer.getInputQuantization(0)))
    return normalizeIntegers(layer, x);
  if (!getElement(x).isF32())
    return layer.unsupported("works on " + getTypeName(getElement(x)) +
                             "; nnc handles FLOAT32");
  Value sum = layer.create<nn::ReduceOp>(nn::ReduceKind::sum_square, x,
                                         SmallVector<int64_t>{getRank(x) - 1},
                                         /*keepdims=*/true);
  Value norm = layer.createElementwise("sqrt", {sum});
  Value least = layer.splat(layer.getBuilder().getF32FloatAttr(1e-6f), {});
  return layer.createElementwise(
      "div", {x, layer.createElementwise("max", {norm, least})});
}

} // namespace nnc::tflite
