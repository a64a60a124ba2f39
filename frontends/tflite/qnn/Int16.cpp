//===- Int16.cpp - Sums of products of integers of 16 bits ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/qnn/Int16.h"

#include "dialects/nn/tensors/TensorData.h"

#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

bool nnc::tflite::isInt16Activation(Value x, const Quantization &quantization) {
  return isQuantized(x, quantization) && getElement(x).isSignlessInteger(16);
}

/// Returns true if all quantizations have a scale and the zero point 0.
static bool areSymmetric(ArrayRef<Quantization> quantizations) {
  return llvm::all_of(quantizations, [](const Quantization &one) {
    return one &&
           llvm::all_of(one.zeroPoints, [](int64_t zero) { return zero == 0; });
  });
}

/// Returns the largest possible magnitude of a channel's sum, including its
/// bias unless that is null; nullopt if weights or bias are not known.
static std::optional<double> findLargestSum(Value weights, int64_t axis,
                                            Value bias) {
  auto elements = TensorData::get(weights);
  auto biases = bias ? TensorData::get(bias) : std::optional<TensorData>();
  if (!elements || (bias && !biases))
    return std::nullopt;
  ArrayRef<int64_t> shape = elements->getShape();
  int64_t channels = shape[axis], inner = product(shape.drop_front(axis + 1));
  SmallVector<double> sums(channels, 0);
  // The magnitude of an activation is at most 2^15.
  for (int64_t i = 0; i < elements->getNumElements(); ++i)
    sums[i / inner % channels] += std::abs(elements->getReal(i)) * 32768;
  double largest = 0;
  for (int64_t i = 0; i < channels; ++i) {
    double own = biases && i < biases->getNumElements()
                     ? std::abs(biases->getReal(i))
                     : 0;
    largest = std::max(largest, sums[i] + own);
  }
  return largest;
}

std::optional<Int16Sums> nnc::tflite::planInt16Sums(Layer &layer, size_t input,
                                                    int64_t axis, size_t bias,
                                                    fb::TensorType biasType) {
  Value weights = layer.getInput(1);
  auto fail = [&](const Twine &why) {
    layer.unsupported(why);
    return std::nullopt;
  };
  if (!weights)
    return std::nullopt;
  if (!getElement(weights).isSignlessInteger(8))
    return fail("has weights of type " + getTypeName(getElement(weights)) +
                " beside INT16; nnc handles INT8");
  if (!layer.getOutputElement().isSignlessInteger(16) ||
      !areSymmetric({layer.getInputQuantization(input),
                     layer.getInputQuantization(1),
                     layer.getOutputQuantization()}))
    return fail("needs an INT16 result, and zero points of 0, beside INT16 "
                "activations");
  Builder &builder = layer.getBuilder();
  Type narrow = builder.getI32Type(), wide = builder.getI64Type();
  Int16Sums plan = {wide, true, {}};
  Value given = layer.hasInput(bias) ? layer.getInput(bias) : Value();
  if (layer.hasInput(bias)) {
    if (!given)
      return std::nullopt;
    int64_t channels = getShape(weights)[axis];
    if (getNumElements(given) != channels) {
      layer.broken("needs a bias of " + Twine(channels) +
                   " elements, not one of shape " + toString(getShape(given)));
      return std::nullopt;
    }
    if (getElement(given) != narrow && getElement(given) != wide)
      return fail("has a bias of type " + getTypeName(getElement(given)) +
                  " beside INT16; nnc handles INT64 and INT32");
  }
  plan.isShort =
      given ? getElement(given) == wide : biasType != fb::TensorType::INT32;
  std::optional<double> largest = findLargestSum(weights, axis, given);
  // 32-bit sums wrap around, as in TFLite's kernels.
  if (!plan.isShort ||
      (largest && *largest <= std::numeric_limits<int32_t>::max()))
    plan.type = narrow;
  if (given)
    plan.bias = layer.castTo(given, plan.type);
  return plan;
}

/// Returns the result's integers, in `range`: x times 16-bit factors, one for
/// all elements or one for each index of `axis`.
static Value storeShort(Layer &layer, Value x, ArrayRef<double> factors,
                        int64_t axis, std::optional<Range> range) {
  SmallVector<APInt> multipliers, shifts;
  unsigned width = getElement(x).getIntOrFloatBitWidth();
  for (double factor : factors) {
    qnn::FixedPoint fixed = qnn::toFixedPoint(factor);
    if (fixed.shift > 14)
      return layer.unsupported("multiplies sums by " + toString(factor) +
                               "; nnc handles factors below 16384");
    int64_t most = std::numeric_limits<int16_t>::max();
    int64_t rounded = (fixed.multiplier + (1 << 15)) >> 16;
    multipliers.emplace_back(width, std::min(rounded, most));
    shifts.emplace_back(width, fixed.shift, /*isSigned=*/true);
  }
  SmallVector<int64_t> shape;
  if (axis >= 0) {
    shape.assign(getRank(x) - axis, 1);
    shape[0] = static_cast<int64_t>(factors.size());
  }
  auto type = RankedTensorType::get(shape, getElement(x));
  return storeRescaled(
      layer, nn::Rescale::wide,
      {x, layer.constant(DenseIntElementsAttr::get(type, multipliers)),
       layer.constant(DenseIntElementsAttr::get(type, shifts))},
      range);
}

Value nnc::tflite::finishInt16Sums(Layer &layer, Value sums,
                                   const Int16Sums &plan,
                                   ArrayRef<double> scales, int64_t axis,
                                   fb::Activation activation) {
  if (!sums)
    return {};
  if (plan.bias) {
    SmallVector<int64_t> shape(getRank(sums) - axis, 1);
    shape[0] = getNumElements(plan.bias);
    sums =
        layer.createElementwise("add", {sums, layer.reshape(plan.bias, shape)});
  }
  int64_t scaleAxis = scales.size() == 1 ? -1 : axis;
  auto range = getActivationRange(layer, activation);
  if (!plan.isShort)
    return requantize(layer, sums, scales, scaleAxis, range);
  double out = layer.getOutputQuantization().getScale();
  SmallVector<double> factors(
      llvm::map_range(scales, [=](double scale) { return scale / out; }));
  return storeShort(layer, sums, factors, scaleAxis, range);
}

template <class T>
Value nnc::tflite::makeLines(Layer &layer, T least, T most, T unit,
                             llvm::function_ref<T(T)> function) {
  constexpr int kSteps = 512;
  T step = (most - least) / kSteps, half = step / 2;
  auto limit = [](T v) {
    return static_cast<int16_t>(std::clamp(v, T(-32768), T(32767)));
  };
  SmallVector<int16_t> table;
  for (int i = 0; i < kSteps; ++i) {
    auto at = [&](int k) { return least + static_cast<T>(k) * step; };
    T here = std::round(function(at(i)) * unit),
      next = function(at(i + 1)) * unit;
    T line = std::round((next + here) / 2),
      middle = std::round(function(at(i) + half) * unit);
    table.push_back(limit(here - std::round((line - middle) / 2)));
  }
  table.push_back(limit(std::round(function(most) * unit)));
  return layer.constant(DenseElementsAttr::get(
      RankedTensorType::get(kSteps + 1, layer.getBuilder().getI16Type()),
      ArrayRef(table)));
}
template Value nnc::tflite::makeLines(Layer &, float, float, float,
                                      llvm::function_ref<float(float)>);
template Value nnc::tflite::makeLines(Layer &, double, double, double,
                                      llvm::function_ref<double(double)>);

Value nnc::tflite::tabulateInt16(Layer &layer, Value x,
                                 llvm::function_ref<float(float)> function) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!out || in.axis >= 0 || out.axis >= 0 || in.getZeroPoint() != 0 ||
      out.getZeroPoint() != 0 ||
      !layer.getOutputElement().isSignlessInteger(16))
    return layer.unsupported(
        "needs zero points of 0 and a result of type INT16 beside INT16");
  auto from = static_cast<float>(in.getScale()),
       to = static_cast<float>(out.getScale());
  float unit = 65536.0f / (to * 32767.0f - to * -32768.0f);
  Type wide = layer.getBuilder().getI32Type();
  Value table = layer.castTo(makeLines<float>(layer, from * -32768.0f,
                                              from * 32767.0f, unit, function),
                             wide);
  // Each of the 512 intervals has 128 arguments.
  Value number = layer.castTo(x, wide);
  auto binary = [&](StringRef op, Value a, Value b) {
    return layer.createElementwise(op, {a, b});
  };
  auto floorDivide = [&](Value a, Value rest) {
    return binary("div", binary("sub", a, rest), constantOf(layer, 128));
  };
  auto getRest = [&](Value a) {
    return binary("bit_and", a, constantOf(layer, 127));
  };
  Value offset = getRest(number);
  Value line =
      binary("add", floorDivide(number, offset), constantOf(layer, 256));
  auto look = [&](Value index) {
    return layer.create<nn::GatherOp>(table, index, int64_t(0));
  };
  Value first = look(line),
        last = look(binary("add", line, constantOf(layer, 1)));
  Value rise = binary("add", binary("mul", binary("sub", last, first), offset),
                      constantOf(layer, 64));
  return layer.castTo(binary("add", first, floorDivide(rise, getRest(rise))),
                      layer.getOutputElement());
}
