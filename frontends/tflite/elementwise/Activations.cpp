//===- Activations.cpp - Elementwise operators of one operand -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Module.h"
#include "frontends/tflite/qnn/FixedPoint.h"
#include "frontends/tflite/qnn/Int16.h"
#include "frontends/tflite/qnn/Quantized.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Converts an operator that becomes the nn op `op` on floats and a table of
/// `function` on 8-bit integers.
static Value convertUnary(Layer &layer, StringRef op,
                          float (*function)(float)) {
  Value x = layer.getInput(0);
  if (!isQuantized(x, layer.getInputQuantization(0)))
    return layer.createElementwise(op, {x});
  return function ? tabulateReal(layer, x, function)
                  : layer.unsupported("works on quantized integers, which "
                                      "TFLite does not define");
}

/// Returns the absolute values of 16-bit integers.
static Value takeMagnitudes(Layer &layer, Value x) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!out)
    return layer.unsupported("has a result without a quantization");
  Value y = layer.createElementwise("abs", {centre(layer, x, in)});
  Range range = getRange(layer.getOutputElement());
  if (in.scales == out.scales)
    return store(layer, y, range);
  return storeRescaled(layer, y,
                       qnn::toFixedPoint(static_cast<float>(in.getScale()) /
                                         static_cast<float>(out.getScale())),
                       range);
}

Value convertAbs(Layer &layer) {
  Value x = layer.getInput(0);
  if (isInt16Activation(x, layer.getInputQuantization(0)))
    return takeMagnitudes(layer, x);
  return convertUnary(layer, "abs", [](float x) { return std::fabs(x); });
}
Value convertCeil(Layer &layer) { return convertUnary(layer, "ceil", nullptr); }
Value convertCos(Layer &layer) { return convertUnary(layer, "cos", nullptr); }

/// Converts an operator that TFLite also defines on 16-bit integers.
static Value convertTabled(Layer &layer, StringRef op,
                           llvm::function_ref<float(float)> function) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0);
  if (!isQuantized(x, in))
    return layer.createElementwise(op, {x});
  return isInt16Activation(x, in) ? tabulateInt16(layer, x, function)
                                  : tabulateReal(layer, x, function);
}

Value convertExp(Layer &layer) {
  return convertTabled(layer, "exp", [](float x) { return std::exp(x); });
}
Value convertFloor(Layer &layer) {
  return convertUnary(layer, "floor", nullptr);
}
Value convertLog(Layer &layer) {
  // The logarithm of numbers that are not positive is the least integer.
  Quantization out = layer.getOutputQuantization();
  float least = 0;
  if (out && isa_and_nonnull<IntegerType>(layer.getOutputElement()))
    least = static_cast<float>(getRange(layer.getOutputElement()).min -
                               out.getZeroPoint()) *
            static_cast<float>(out.getScale());
  return convertTabled(layer, "log",
                       [=](float x) { return x > 0 ? std::log(x) : least; });
}
Value convertNeg(Layer &layer) { return convertUnary(layer, "neg", nullptr); }
Value convertRound(Layer &layer) {
  return convertUnary(layer, "round", nullptr);
}
Value convertSign(Layer &layer) { return convertUnary(layer, "sign", nullptr); }
Value convertSin(Layer &layer) { return convertUnary(layer, "sin", nullptr); }
/// Converts SQRT. Roots of integers are computed in f32 and truncated. They are
/// 0 for negative numbers, for which TFLite's kernels fail.
Value convertSqrt(Layer &layer) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in))
    return layer.createElementwise("sqrt", {x});
  if (!out || in.axis >= 0 || out.axis >= 0)
    return layer.unsupported("has integers with several scales or none");
  auto from = static_cast<float>(in.getScale()),
       to = static_cast<float>(out.getScale());
  if (!isInt16Activation(x, in))
    return tabulate(layer, x, [&](int64_t q) {
      float real = from * static_cast<float>(q - in.getZeroPoint());
      float root = std::sqrt(std::max(real, 0.0f)) / to;
      return static_cast<int64_t>(std::min(root, 1e6f)) + out.getZeroPoint();
    });
  auto real = [&](float value) {
    return layer.splat(layer.getBuilder().getF32FloatAttr(value), {});
  };
  auto f32 = layer.getBuilder().getF32Type();
  Value y = layer.createElementwise(
      "max", {layer.castTo(centre(layer, x, in), f32), real(0)});
  y = layer.createElementwise(
      "sqrt", {layer.createElementwise("mul", {y, real(from)})});
  y = layer.createElementwise(
      "min", {layer.createElementwise("div", {y, real(to)}), real(1e6f)});
  return store(layer, layer.castTo(y, layer.getBuilder().getI32Type()),
               getRange(layer.getOutputElement()));
}
Value convertRsqrt(Layer &layer) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in))
    return layer.createElementwise("rsqrt", {x});
  if (!out || in.axis >= 0 || out.axis >= 0)
    return layer.unsupported("has integers with several scales or none");
  if (isInt16Activation(x, in)) {
    float most = 32767.0f * static_cast<float>(out.getScale());
    return tabulateInt16(
        layer, x, [=](float v) { return v > 0 ? 1.0f / std::sqrt(v) : most; });
  }
  // With 20 additional bits, the root of a square number is exact.
  constexpr int kMore = 20;
  qnn::FixedPoint factor = qnn::toFixedPoint(
      1.0 / static_cast<double>(std::sqrt(static_cast<float>(in.getScale())) *
                                static_cast<float>(out.getScale())));
  if (factor.shift - kMore < -31)
    return layer.unsupported("has a result whose scale is too large");
  factor.shift -= kMore;
  return tabulate(layer, x, [&](int64_t q) -> int64_t {
    int64_t centred = q - in.getZeroPoint();
    // TFLite's kernels return the largest number for 0 and fail for negative
    // numbers.
    if (centred <= 0)
      return getRange(layer.getOutputElement()).max;
    qnn::FixedPoint root = invertRoot(static_cast<int32_t>(centred));
    root.shift += kMore;
    return multiply(multiply(1, root, layer.getRescale()), factor,
                    layer.getRescale()) +
           out.getZeroPoint();
  });
}
Value convertLogicalNot(Layer &layer) {
  return convertUnary(layer, "logical_not", nullptr);
}
Value convertSquare(Layer &layer) {
  Value x = layer.getInput(0);
  if (isQuantized(x, layer.getInputQuantization(0)))
    return layer.unsupported("works on quantized integers, which TFLite does "
                             "not define");
  return layer.createElementwise("mul", {x, x});
}

static NamedAttribute real(Layer &layer, StringRef name, double value) {
  return layer.getBuilder().getNamedAttr(
      name, layer.getBuilder().getF64FloatAttr(value));
}

Value convertElu(Layer &layer) {
  Value x = layer.getInput(0);
  if (!isQuantized(x, layer.getInputQuantization(0)))
    return layer.createElementwise("elu", {x}, {real(layer, "alpha", 1)});
  return tabulateReal(layer, x,
                      [](float v) { return v < 0 ? std::expm1(v) : v; });
}

Value convertGelu(Layer &layer) {
  const auto *options = layer.getOptions<fb::GeluOptions>(fb::Options::Gelu);
  if (!options)
    return {};
  if (options->approximate())
    return convertUnary(layer, "gelu_tanh", [](float x) {
      return 0.5f * x *
             (1 + std::tanh(0.797884561f * (x + 0.044715f * x * x * x)));
    });
  return convertUnary(layer, "gelu", [](float x) {
    return 0.5f * x * (1 + std::erf(x * 0.707106781f));
  });
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

/// Converts an operator that consists of the activation `kind` alone.
static Value convertLimit(Layer &layer, fb::Activation kind) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in))
    return activate(layer, x, kind);
  auto range = getActivationRange(layer, kind);
  if (!range || in.axis >= 0 || out.axis >= 0)
    return {};
  double factor =
      static_cast<float>(in.getScale()) / static_cast<float>(out.getScale());
  return storeRescaled(layer, centre(layer, x, in), qnn::toFixedPoint(factor),
                       range);
}

Value convertRelu(Layer &layer) {
  return convertLimit(layer, fb::Activation::RELU);
}
Value convertRelu6(Layer &layer) {
  return convertLimit(layer, fb::Activation::RELU6);
}
Value convertReluN1To1(Layer &layer) {
  return convertLimit(layer, fb::Activation::RELU_N1_TO_1);
}
Value convertRelu0To1(Layer &layer) {
  Value x = layer.getInput(0);
  if (isQuantized(x, layer.getInputQuantization(0)))
    return layer.unsupported("works on quantized integers, which nnc does not "
                             "handle");
  return layer.createElementwise(
      "clip", {x}, {real(layer, "min", 0), real(layer, "max", 1)});
}

Value convertLeakyRelu(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::LeakyReluOptions>(fb::Options::LeakyRelu);
  Value x = layer.getInput(0);
  if (!options)
    return {};
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in))
    return layer.createElementwise("leaky_relu", {x},
                                   {real(layer, "alpha", options->alpha())});
  if (!out)
    return layer.unsupported("has a result without a quantization");
  auto from = static_cast<float>(in.getScale()),
       to = static_cast<float>(out.getScale());
  float slope = from * options->alpha() / to;
  qnn::FixedPoint same = qnn::toFixedPoint(from / to),
                  down = qnn::toFixedPoint(std::fabs(slope));
  if (isInt16Activation(x, in)) {
    Value wide = centre(layer, x, in), falling = rescale(layer, wide, down);
    if (slope < 0)
      falling = layer.createElementwise("neg", {falling});
    Value isRising =
        layer.createElementwise("greater_equal", {wide, constantOf(layer, 0)});
    Value y = layer.createElementwise(
        "select", {isRising, rescale(layer, wide, same), falling});
    return store(layer, y, getRange(layer.getOutputElement()));
  }
  return tabulate(layer, x, [&](int64_t q) {
    auto centred = static_cast<int32_t>(q - in.getZeroPoint());
    int64_t y =
        multiply(centred, centred >= 0 ? same : down, layer.getRescale());
    return out.getZeroPoint() + (centred < 0 && slope < 0 ? -y : y);
  });
}

//===----------------------------------------------------------------------===//
// Sigmoid, tanh, hard-swish
//===----------------------------------------------------------------------===//

/// Converts LOGISTIC or TANH of 16-bit integers to the nn op `op`. An input
/// whose scale is a power of two is shifted by up to `mostShift` bits without
/// rounding.
static Value convertWideGate(Layer &layer, Value x, StringRef op,
                             int mostShift) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  // Kernels treat scales within 0.1 % of a power of two as that power.
  auto findPower = [](double scale) -> std::optional<int> {
    double power = std::log2(scale), nearest = std::round(power);
    return std::abs(power - nearest) < 1e-3
               ? std::optional<int>(static_cast<int>(nearest))
               : std::nullopt;
  };
  if (!out || in.getZeroPoint() != 0 || out.getZeroPoint() != 0 ||
      in.axis >= 0 || findPower(out.getScale()) != -15 ||
      !layer.getOutputElement().isSignlessInteger(16))
    return layer.unsupported(
        "needs zero points of 0 and a result of type INT16 "
        "with a scale of 2^-15 beside INT16");
  // Arguments are in units of 1 / 12288, a third of 2^-12.
  std::optional<int> power = findPower(in.getScale());
  int64_t multiplier, shift = 0;
  if (power && *power + 12 >= 0 && *power + 12 <= mostShift) {
    multiplier = int64_t(3) << (*power + 12);
  } else {
    double factor = in.getScale() * 4096.0 * 3.0;
    for (; factor <= 32767.0 / 2.0 && shift <= 30; ++shift)
      factor *= 2;
    if (factor > 32767)
      return layer.unsupported("has an input with a scale of " +
                               toString(in.getScale()) +
                               "; nnc handles at most 2.66");
    multiplier = static_cast<int64_t>(factor);
  }
  Value wide = layer.castTo(x, layer.getBuilder().getI32Type());
  Value factor = constantOf(layer, multiplier);
  Value scaled = shift == 0 ? layer.createElementwise("mul", {wide, factor})
                            : rescale(layer, nn::Rescale::wide, wide, factor,
                                      constantOf(layer, 15 - shift));
  return layer.castTo(layer.createElementwise(op, {scaled}),
                      layer.getOutputElement());
}

/// Converts LOGISTIC or TANH: to `op` on floats, and on integers to a table of
/// `table` in fixed point, as in TFLite Micro, or of `function` in f32, as in
/// TFLite. The result has `bits` fraction bits.
static Value convertGate(Layer &layer, StringRef op, float (*function)(float),
                         int32_t (*table)(int32_t), int bits) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in))
    return layer.createElementwise(op, {x});
  if (isInt16Activation(x, in))
    return bits == 8 ? convertWideGate(layer, x, "logistic_q15", 0)
                     : convertWideGate(layer, x, "tanh_q15", 1);
  bool isByte = getElement(x).isSignlessInteger(8);
  if (layer.getRescale() == qnn::Rescale::single_rounding || !isByte)
    return tabulateReal(layer, x, function);
  if (!out)
    return layer.unsupported("has a result without a quantization");
  qnn::FixedPoint factor =
      qnn::toFixedPoint(in.getScale() * std::ldexp(1.0, 31 - 4));
  int32_t radius = getInputRadius(4, factor.shift);
  Range range = getRange(layer.getOutputElement());
  return tabulate(layer, x, [&](int64_t q) -> int64_t {
    auto centred = static_cast<int32_t>(q - in.getZeroPoint());
    if (centred <= -radius)
      return range.min;
    if (centred >= radius)
      return range.max;
    int32_t y = table(multiply(centred, factor, layer.getRescale()));
    return divideByPower(y, 31 - bits) + (bits == 8 ? range.min : 0);
  });
}

Value convertLogistic(Layer &layer) {
  return convertGate(
      layer, "sigmoid", [](float x) { return 1.0f / (1.0f + std::exp(-x)); },
      logistic, 8);
}

Value convertTanh(Layer &layer) {
  return convertGate(
      layer, "tanh", [](float x) { return std::tanh(x); }, tflite::tanh, 7);
}

namespace {
/// A fixed-point factor whose multiplier has 15 bits.
struct ShortFixedPoint {
  int32_t multiplier;
  int shift;
};
} // namespace

static ShortFixedPoint shorten(qnn::FixedPoint factor) {
  int64_t most = std::numeric_limits<int32_t>::max() - (1 << 15);
  int64_t multiplier = factor.multiplier >= most
                           ? std::numeric_limits<int16_t>::max()
                           : (factor.multiplier + (1 << 15)) >> 16;
  return {static_cast<int32_t>(multiplier), factor.shift};
}

static int32_t saturate16(int64_t x) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(x, std::numeric_limits<int16_t>::min(),
                          std::numeric_limits<int16_t>::max()));
}

/// Returns the rounded product of 16-bit fixed-point numbers with 0 integer
/// bits.
static int32_t times16(int32_t a, int32_t b) {
  return saturate16((int64_t(a) * b + (1 << 14)) >> 15);
}

/// Converts HARD_SWISH: x * relu6(x + 3) / 6. Integers are computed in 16 bits,
/// the factor relu6(x + 3) / 6 first.
Value convertHardSwish(Layer &layer) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in))
    return layer.createElementwise("hard_swish", {x});
  if (!out)
    return layer.unsupported("has a result without a quantization");
  float fine = (1.0f / 128.0f) * static_cast<float>(in.getScale());
  ShortFixedPoint last = shorten(qnn::toFixedPoint(
                      fine / static_cast<float>(out.getScale()))),
                  gate = shorten(qnn::toFixedPoint(fine / (3.0f / 32768.0f)));
  if (last.shift > 0)
    return layer.unsupported("has a result whose scale is less than 1/128 of "
                             "its input's");
  return tabulate(layer, x, [&](int64_t q) -> int64_t {
    auto value = static_cast<int32_t>((q - in.getZeroPoint()) * 128);
    int32_t scaled = times16(value, last.multiplier);
    int32_t factor = value;
    if (gate.shift > 0)
      factor = saturate16(factor * (int64_t(1) << (gate.shift - 1)));
    factor = times16(factor, gate.multiplier);
    if (gate.shift > 0)
      factor = saturate16(int64_t(factor) * 2);
    if (gate.shift < 0)
      factor = divideByPower(factor, -gate.shift);
    factor = (factor + (1 << 15)) >> 1;
    // This product is truncated towards zero.
    int32_t y = saturate16(int64_t(factor) * scaled / (1 << 15));
    return divideByPower(y, -last.shift) + out.getZeroPoint();
  });
}

//===----------------------------------------------------------------------===//
// Changes of type
//===----------------------------------------------------------------------===//

Value convertQuantize(Layer &layer) {
  Value x = layer.getInput(0);
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  auto storage = dyn_cast_or_null<IntegerType>(layer.getOutputElement());
  if (!x)
    return {};
  if (!out || !storage)
    return layer.broken("has a result without a quantization");
  for (Type element : {getElement(x), layer.getOutputElement()})
    if (auto integer = dyn_cast<IntegerType>(element);
        integer && integer.getWidth() < 8)
      return layer.unsupported("rescales numbers of type " +
                               getTypeName(element) +
                               ", which hold no quantized numbers");
  if (isa<FloatType>(getElement(x))) {
    auto type = qnn::makeType(getShape(x), storage, out.scales, out.zeroPoints,
                              out.axis);
    Value y =
        layer.createAs<qnn::QuantizeOp>(type, qnn::Rounding::half_away, x);
    return layer.createAs<qnn::ReinterpretOp>(
        RankedTensorType::get(getShape(x), storage), y);
  }
  if (!in || in.axis >= 0 || out.axis >= 0)
    return layer.unsupported("rescales integers with several scales or none");
  if (getElement(x) == storage && in.scales == out.scales &&
      in.zeroPoints == out.zeroPoints)
    return x;
  return storeRescaled(layer, centre(layer, x, in),
                       qnn::toFixedPoint(in.getScale() / out.getScale()),
                       getRange(storage));
}

Value convertDequantize(Layer &layer) {
  Value x = layer.getInput(0);
  if (x && isa<FloatType>(getElement(x))) {
    if (x.getDefiningOp<nn::ConstantOp>() &&
        getElement(x).getIntOrFloatBitWidth() == 16)
      frontends::countHalfConstant(x.getDefiningOp(), getNumElements(x));
    return layer.castTo(x, layer.getBuilder().getF32Type());
  }
  return layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(x), layer.getBuilder().getF32Type()),
      asQuantized(layer, x, layer.getInputQuantization(0)));
}

Value convertCast(Layer &layer) {
  return layer.castTo(layer.getInput(0), layer.getOutputElement());
}

} // namespace nnc::tflite
