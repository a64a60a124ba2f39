//===- Elementwise.cpp - Elementwise operators of several operands --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/qnn/Quantized.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns true if both operands are quantized integers.
static bool areQuantized(Layer &layer) {
  return isQuantized(layer.getInput(0), layer.getInputQuantization(0)) &&
         isQuantized(layer.getInput(1), layer.getInputQuantization(1));
}

/// Returns true after an error if an operand or the result has several scales.
static bool haveSeveralScales(Layer &layer) {
  if (layer.getInputQuantization(0).axis < 0 &&
      layer.getInputQuantization(1).axis < 0 &&
      layer.getOutputQuantization().axis < 0)
    return false;
  layer.unsupported("has an operand or a result with several scales");
  return true;
}

/// Returns the integers of operand `i`, minus their zero point, times `factor`,
/// with `bits` additional fraction bits.
static Value align(Layer &layer, size_t i, double factor, int bits) {
  Value x = centre(layer, layer.getInput(i), layer.getInputQuantization(i));
  Value shifted = layer.createElementwise(
      "mul", {x, constantOf(layer, int64_t(1) << bits)});
  return rescale(layer, shifted, factor);
}

/// Adds or subtracts quantized integers on a common scale, twice the larger of
/// both.
static Value addIntegers(Layer &layer, StringRef op,
                         fb::Activation activation) {
  if (haveSeveralScales(layer))
    return {};
  auto range = getActivationRange(layer, activation);
  Quantization out = layer.getOutputQuantization();
  if (!range || !out)
    return {};
  double a = layer.getInputQuantization(0).getScale(),
         b = layer.getInputQuantization(1).getScale();
  int bits = layer.getOutputElement().getIntOrFloatBitWidth() == 16 ? 15 : 20;
  double unit = 2 * std::max(a, b);
  double left = a / unit, right = b / unit,
         last = unit / (double(1 << bits) * out.getScale());
  // TFLite Micro computes the factors of a difference in f32.
  if (op == "sub" && layer.isMicro()) {
    auto narrow = static_cast<float>(unit);
    left = static_cast<float>(a) / narrow;
    right = static_cast<float>(b) / narrow;
    last = narrow /
           (static_cast<float>(1 << bits) * static_cast<float>(out.getScale()));
  }
  Value sum = layer.createElementwise(
      op, {align(layer, 0, left, bits), align(layer, 1, right, bits)});
  return storeRescaled(layer, sum, qnn::toFixedPoint(last), range);
}

static Value multiplyIntegers(Layer &layer, fb::Activation activation) {
  if (haveSeveralScales(layer))
    return {};
  auto range = getActivationRange(layer, activation);
  Quantization a = layer.getInputQuantization(0),
               b = layer.getInputQuantization(1),
               out = layer.getOutputQuantization();
  if (!range || !out)
    return {};
  Value product =
      layer.createElementwise("mul", {centre(layer, layer.getInput(0), a),
                                      centre(layer, layer.getInput(1), b)});
  return storeRescaled(
      layer, product,
      qnn::toFixedPoint(a.getScale() * b.getScale() / out.getScale()), range);
}

/// Returns the nn op `op` of both operands, followed by the activation.
static Value computePlain(Layer &layer, StringRef op,
                          fb::Activation activation) {
  Value y = layer.createElementwise(op, {layer.getInput(0), layer.getInput(1)});
  if (!y || isa<FloatType>(getElement(y)) || activation == fb::Activation::NONE)
    return activate(layer, y, activation);
  return layer.unsupported("has an activation on integers without a "
                           "quantization");
}

Value convertAdd(Layer &layer) {
  const auto *options = layer.getOptions<fb::BinaryOptions>(fb::Options::Add);
  if (!options)
    return {};
  return areQuantized(layer)
             ? addIntegers(layer, "add", options->activation())
             : computePlain(layer, "add", options->activation());
}

Value convertSub(Layer &layer) {
  const auto *options = layer.getOptions<fb::BinaryOptions>(fb::Options::Sub);
  if (!options)
    return {};
  return areQuantized(layer)
             ? addIntegers(layer, "sub", options->activation())
             : computePlain(layer, "sub", options->activation());
}

Value convertMul(Layer &layer) {
  const auto *options = layer.getOptions<fb::BinaryOptions>(fb::Options::Mul);
  if (!options)
    return {};
  return areQuantized(layer)
             ? multiplyIntegers(layer, options->activation())
             : computePlain(layer, "mul", options->activation());
}

/// Divides quantized integers: the dividend is multiplied by the divisor's
/// reciprocal in fixed point, and by the quotient of the scales. In between it
/// is shifted left as far as possible.
static Value divideIntegers(Layer &layer, fb::Activation activation) {
  auto range = getActivationRange(layer, activation);
  if (haveSeveralScales(layer) || !range)
    return {};
  auto get = [](const Quantization &of) {
    return static_cast<float>(of.getScale());
  };
  Quantization from = layer.getInputQuantization(0),
               by = layer.getInputQuantization(1);
  qnn::FixedPoint factor = qnn::toFixedPoint(
      get(from) / (get(by) * get(layer.getOutputQuantization())));
  if (layer.getOutputElement().getIntOrFloatBitWidth() != 8 ||
      std::abs(factor.shift) > 8)
    return layer.unsupported("divides integers of 16 bits, or with scales that "
                             "are too far apart");
  auto create = [&](StringRef op, ValueRange operands) {
    return layer.createElementwise(op, SmallVector<Value>(operands));
  };
  Value a = centre(layer, layer.getInput(0), from),
        b = centre(layer, layer.getInput(1), by);
  a = create("select", {create("less", {b, constantOf(layer, 0)}),
                        create("neg", {a}), a});
  b = create("abs", {b});
  Value room = create("sign_bits", {a});
  Value quotient = rescale(layer, a, create("reciprocal_multiplier", {b}),
                           create("min", {room, constantOf(layer, 30)}));
  Value shift = create("add", {create("sub", {create("sign_bits", {b}), room}),
                               constantOf(layer, factor.shift - 30)});
  Value y = rescale(layer, quotient, constantOf(layer, factor.multiplier),
                    create("max", {shift, constantOf(layer, -31)}));
  // With double rounding, shifts by more than 31 bits give 1 or -1 instead of
  // 0.
  if (layer.getRescale() == qnn::Rescale::double_rounding)
    y = create("select",
               {create("less", {shift, constantOf(layer, -31)}),
                create("select", {create("less", {a, constantOf(layer, 0)}),
                                  constantOf(layer, -1), constantOf(layer, 1)}),
                y});
  return store(layer, y, range);
}

Value convertDiv(Layer &layer) {
  const auto *options = layer.getOptions<fb::BinaryOptions>(fb::Options::Div);
  if (!options)
    return {};
  return areQuantized(layer)
             ? divideIntegers(layer, options->activation())
             : computePlain(layer, "div", options->activation());
}

/// Returns the nn op of operands that can be compared directly: integers with
/// the same scale and zero point, or plain numbers.
static Value compareAlike(Layer &layer, StringRef op) {
  if (areQuantized(layer)) {
    Quantization a = layer.getInputQuantization(0),
                 b = layer.getInputQuantization(1);
    if (a.scales != b.scales || a.zeroPoints != b.zeroPoints)
      return layer.unsupported("compares integers with different scales or "
                               "zero points");
  }
  return layer.createElementwise(op, {layer.getInput(0), layer.getInput(1)});
}

Value convertMaximum(Layer &layer) { return compareAlike(layer, "max"); }
Value convertMinimum(Layer &layer) { return compareAlike(layer, "min"); }

/// Converts a comparison. Quantized integers are compared on a common scale
/// with 8 additional fraction bits.
static Value compare(Layer &layer, StringRef op) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  if (areQuantized(layer)) {
    if (haveSeveralScales(layer))
      return {};
    a = align(layer, 0, layer.getInputQuantization(0).getScale(), 8);
    b = align(layer, 1, layer.getInputQuantization(1).getScale(), 8);
  }
  return layer.createElementwise(op, {a, b});
}

Value convertEqual(Layer &layer) { return compare(layer, "equal"); }
Value convertNotEqual(Layer &layer) {
  return layer.createElementwise("logical_not", {compare(layer, "equal")});
}
Value convertGreater(Layer &layer) { return compare(layer, "greater"); }
Value convertGreaterEqual(Layer &layer) {
  return compare(layer, "greater_equal");
}
Value convertLess(Layer &layer) { return compare(layer, "less"); }
Value convertLessEqual(Layer &layer) { return compare(layer, "less_equal"); }

/// Converts an operator that TFLite does not define on quantized integers.
static Value convertPlain(Layer &layer, StringRef op) {
  if (areQuantized(layer))
    return layer.unsupported("works on quantized integers, which nnc does not "
                             "handle");
  return layer.createElementwise(op, {layer.getInput(0), layer.getInput(1)});
}

Value convertLogicalAnd(Layer &layer) {
  return convertPlain(layer, "logical_and");
}
Value convertLogicalOr(Layer &layer) {
  return convertPlain(layer, "logical_or");
}
Value convertBitwiseXor(Layer &layer) { return convertPlain(layer, "bit_xor"); }
Value convertPow(Layer &layer) { return convertPlain(layer, "pow"); }
Value convertFloorMod(Layer &layer) { return convertPlain(layer, "mod"); }

Value convertFloorDiv(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  if (areQuantized(layer))
    return layer.unsupported("divides quantized integers");
  if (!a || !b)
    return {};
  if (isa<FloatType>(getElement(a)))
    return layer.createElementwise("floor",
                                   {layer.createElementwise("div", {a, b})});
  // (a - a mod b) / b is exact, because the remainder has the sign of b.
  Value whole = layer.createElementwise(
      "sub", {a, layer.createElementwise("mod", {a, b})});
  return layer.createElementwise("div", {whole, b});
}

Value convertSquaredDifference(Layer &layer) {
  if (!areQuantized(layer)) {
    Value difference =
        layer.createElementwise("sub", {layer.getInput(0), layer.getInput(1)});
    return layer.createElementwise("mul", {difference, difference});
  }
  auto range = getActivationRange(layer, fb::Activation::NONE);
  if (haveSeveralScales(layer) || !range)
    return {};
  double a = layer.getInputQuantization(0).getScale(),
         b = layer.getInputQuantization(1).getScale(),
         unit = 2 * std::max(a, b);
  int bits = layer.getOutputElement().getIntOrFloatBitWidth() == 16 ? 0 : 7;
  auto last = static_cast<float>(1 << (2 * bits)) *
              static_cast<float>(layer.getOutputQuantization().getScale());
  Value difference =
      layer.createElementwise("sub", {align(layer, 0, a / unit, bits),
                                      align(layer, 1, b / unit, bits)});
  Value square = layer.createElementwise("mul", {difference, difference});
  return storeRescaled(layer, square,
                       qnn::toFixedPoint(unit * unit / double(last)), range);
}

Value convertAddN(Layer &layer) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  bool isInteger = isQuantized(layer.getInput(0), in);
  auto getTerm = [&](size_t i) {
    return isInteger ? align(layer, i, 0.5, 20) : layer.getInput(i);
  };
  Value sum;
  for (size_t i = 0; i < layer.getNumInputs(); ++i) {
    Quantization own = layer.getInputQuantization(i);
    if (isInteger && (own.scales != in.scales ||
                      own.zeroPoints != in.zeroPoints || own.axis >= 0))
      return layer.unsupported("adds integers with different scales or zero "
                               "points");
    sum =
        i == 0 ? getTerm(0) : layer.createElementwise("add", {sum, getTerm(i)});
  }
  if (!isInteger)
    return sum;
  auto range = getActivationRange(layer, fb::Activation::NONE);
  if (!range)
    return {};
  double last = 2 * in.getScale() / ((1 << 20) * out.getScale());
  return storeRescaled(layer, sum, qnn::toFixedPoint(last), range);
}

Value convertPrelu(Layer &layer) {
  if (!areQuantized(layer))
    return layer.createElementwise("prelu",
                                   {layer.getInput(0), layer.getInput(1)});
  Quantization in = layer.getInputQuantization(0),
               alpha = layer.getInputQuantization(1),
               out = layer.getOutputQuantization();
  auto range = getActivationRange(layer, fb::Activation::NONE);
  if (haveSeveralScales(layer) || !range)
    return {};
  Value x = centre(layer, layer.getInput(0), in);
  Value slope = centre(layer, layer.getInput(1), alpha);
  Value positive = rescale(layer, x, in.getScale() / out.getScale());
  Value negative = rescale(layer, layer.createElementwise("mul", {x, slope}),
                           in.getScale() * alpha.getScale() / out.getScale());
  Value isPositive =
      layer.createElementwise("greater_equal", {x, constantOf(layer, 0)});
  return store(
      layer,
      layer.createElementwise("select", {isPositive, positive, negative}),
      range);
}

/// Converts SELECT, whose condition may also be a vector with one element for
/// each slice of the first axis.
Value convertSelect(Layer &layer) {
  Value condition = layer.getInput(0), a = layer.getInput(1),
        b = layer.getInput(2);
  if (!condition || !a || !b)
    return {};
  if (getRank(condition) == 1 && getRank(a) > 1 &&
      getShape(condition)[0] == getShape(a)[0] && layer.getOp() == "SELECT") {
    SmallVector<int64_t> shape(getRank(a), 1);
    shape[0] = getShape(condition)[0];
    condition = layer.reshape(condition, shape);
  }
  return layer.createElementwise("select", {condition, a, b});
}

} // namespace nnc::tflite
