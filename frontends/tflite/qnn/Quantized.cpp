//===- Quantized.cpp - Integers of quantized tensors ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/qnn/Quantized.h"

#include "dialects/nn/description/Description.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

bool nnc::tflite::isQuantizedType(Type element) {
  auto integer = dyn_cast_or_null<IntegerType>(element);
  return integer && integer.getWidth() >= 8 && integer.getWidth() <= 16;
}

bool nnc::tflite::isQuantized(Value x, const Quantization &quantization) {
  return quantization && isQuantizedType(getElement(x));
}

Value nnc::tflite::getReals(Layer &layer, size_t i) {
  Value x = layer.getInput(i);
  Type real = layer.getBuilder().getF32Type();
  if (x && getElement(x).isF16())
    return layer.castTo(x, real);
  Quantization quantization = layer.getInputQuantization(i);
  if (!isQuantized(x, quantization))
    return x;
  return layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(x), real),
      asQuantized(layer, x, quantization));
}

Range nnc::tflite::getRange(Type storage) {
  auto integer = cast<IntegerType>(storage);
  int64_t size = int64_t(1) << integer.getWidth();
  return integer.isUnsigned() ? Range{0, size - 1}
                              : Range{-size / 2, size / 2 - 1};
}

/// Returns the quantized tensor type whose integers are limited to `range`.
static Type getType(ArrayRef<int64_t> shape, IntegerType storage,
                    ArrayRef<double> scales, ArrayRef<int64_t> zeroPoints,
                    int64_t axis, Range range) {
  return qnn::makeType(shape, storage,
                       {SmallVector<double>(scales),
                        SmallVector<int64_t>(zeroPoints), axis, range.min,
                        range.max});
}

Value nnc::tflite::asQuantized(Layer &layer, Value x,
                               const Quantization &quantization) {
  if (!x)
    return {};
  auto storage = dyn_cast<IntegerType>(getElement(x));
  if (!storage || !quantization || storage.getWidth() < 8 ||
      storage.getWidth() > 32)
    return layer.unsupported("has an operand of type " +
                             getTypeName(getElement(x)) +
                             " without a quantization beside quantized ones");
  return layer.createAs<qnn::ReinterpretOp>(
      getType(getShape(x), storage, quantization.scales,
              quantization.zeroPoints, quantization.axis, getRange(storage)),
      x);
}

std::optional<Range>
nnc::tflite::getActivationRange(Layer &layer, fb::Activation activation) {
  Quantization out = layer.getOutputQuantization();
  Type storage = layer.getOutputElement();
  if (!out || !isa_and_nonnull<IntegerType>(storage)) {
    layer.unsupported("has a result without a quantization");
    return std::nullopt;
  }
  Range range = getRange(storage);
  auto quantize = [&](float real) {
    float scaled = std::clamp(
        std::round(real / static_cast<float>(out.getScale())), -1e6f, 1e6f);
    return out.getZeroPoint() + static_cast<int64_t>(scaled);
  };
  auto limit = [&](std::optional<float> low, std::optional<float> high) {
    if (low)
      range.min = std::max(range.min, quantize(*low));
    if (high)
      range.max = std::min(range.max, quantize(*high));
  };
  switch (activation) {
  case fb::Activation::NONE:
    break;
  case fb::Activation::RELU:
    limit(0.0f, std::nullopt);
    range.activation = "ReLU";
    break;
  case fb::Activation::RELU6:
    limit(0.0f, 6.0f);
    range.activation = "ReLU6";
    break;
  case fb::Activation::RELU_N1_TO_1:
    limit(-1.0f, 1.0f);
    range.activation = "clip from -1 to 1";
    break;
  default:
    layer.unsupported("has an activation that TFLite does not define on "
                      "integers");
    return std::nullopt;
  }
  return range;
}

Value nnc::tflite::constantOf(Layer &layer, int64_t value) {
  return layer.splat(
      layer.getBuilder().getI32IntegerAttr(static_cast<int32_t>(value)), {});
}

/// Returns x, in i32, clipped to `range` and cast to the type of the result.
static Value saturate(Layer &layer, Value x, Range range) {
  Value bounded = layer.createElementwise(
      "min", {layer.createElementwise("max", {x, constantOf(layer, range.min)}),
              constantOf(layer, range.max)});
  Value stored = layer.castTo(bounded, layer.getOutputElement());
  nn::markActivation(stored, range.activation);
  return stored;
}

Value nnc::tflite::store(Layer &layer, Value x, std::optional<Range> range) {
  Quantization out = layer.getOutputQuantization();
  if (!range || !x || !out)
    return {};
  return saturate(layer,
                  layer.createElementwise(
                      "add", {x, constantOf(layer, out.getZeroPoint())}),
                  *range);
}

Value nnc::tflite::requantize(Layer &layer, Value sums, ArrayRef<double> scales,
                              int64_t axis, std::optional<Range> range) {
  Quantization out = layer.getOutputQuantization();
  if (!range || !sums || !out)
    return {};
  auto storage = cast<IntegerType>(layer.getOutputElement());
  auto wide = IntegerType::get(layer.getLoc().getContext(), 32);
  SmallVector<int64_t> zeros(scales.size(), 0);
  ArrayRef<int64_t> shape = getShape(sums);
  Value from = sums;
  if (getElement(sums) == wide)
    from = layer.createAs<qnn::ReinterpretOp>(
        getType(shape, wide, scales, zeros, axis, getRange(wide)), sums);
  // A quantized type must have at least two values.
  bool fits = range->min < range->max;
  Value y = layer.createAs<qnn::RequantizeOp>(
      getType(shape, storage, out.scales, out.zeroPoints, -1,
              fits ? *range : getRange(storage)),
      layer.getRescale(), from);
  nn::markActivation(y, range->activation);
  y = layer.createAs<qnn::ReinterpretOp>(RankedTensorType::get(shape, storage),
                                         y);
  if (fits)
    return y;
  return saturate(layer, layer.castTo(y, wide), *range);
}

Value nnc::tflite::centre(Layer &layer, Value x,
                          const Quantization &quantization) {
  Value wide = layer.castTo(x, layer.getBuilder().getI32Type());
  if (!quantization || quantization.getZeroPoint() == 0)
    return wide;
  return layer.createElementwise(
      "sub", {wide, constantOf(layer, quantization.getZeroPoint())});
}

Value nnc::tflite::rescale(Layer &layer, nn::Rescale rescale, Value x,
                           Value multiplier, Value shift) {
  return layer.create<nn::RequantizeOp>(
      rescale, x, multiplier, shift, /*element=*/TypeAttr(), /*zero_point=*/0,
      /*low=*/IntegerAttr(), /*high=*/IntegerAttr());
}

Value nnc::tflite::rescale(Layer &layer, Value x, Value multiplier,
                           Value shift) {
  return rescale(layer, layer.getRescale(), x, multiplier, shift);
}

Value nnc::tflite::storeRescaled(Layer &layer, Value x,
                                 const qnn::FixedPoint &factor,
                                 std::optional<Range> range) {
  return storeRescaled(layer, layer.getRescale(),
                       {x, constantOf(layer, factor.multiplier),
                        constantOf(layer, factor.shift)},
                       range);
}

Value nnc::tflite::storeRescaled(Layer &layer, nn::Rescale rescale,
                                 ArrayRef<Value> operands,
                                 std::optional<Range> range) {
  Quantization out = layer.getOutputQuantization();
  if (!range || !out)
    return {};
  Builder &builder = layer.getBuilder();
  Value y = layer.create<nn::RequantizeOp>(
      rescale, operands[0], operands[1], operands[2],
      TypeAttr::get(layer.getOutputElement()), out.getZeroPoint(),
      builder.getI64IntegerAttr(range->min),
      builder.getI64IntegerAttr(range->max));
  nn::markActivation(y, range->activation);
  return y;
}

Value nnc::tflite::rescale(Layer &layer, Value x,
                           const qnn::FixedPoint &factor) {
  return rescale(layer, x, constantOf(layer, factor.multiplier),
                 constantOf(layer, factor.shift));
}

Value nnc::tflite::rescale(Layer &layer, Value x, double factor) {
  return rescale(layer, x, qnn::toFixedPoint(factor));
}

Value nnc::tflite::tabulate(Layer &layer, Value x,
                            llvm::function_ref<int64_t(int64_t)> function) {
  auto from = dyn_cast_or_null<IntegerType>(getElement(x));
  auto to = dyn_cast_or_null<IntegerType>(layer.getOutputElement());
  if (!x)
    return {};
  if (!from || !to || from.getWidth() != 8 || to.getWidth() != 8)
    return layer.unsupported("computes with types other than INT8 and UINT8");
  SmallVector<APInt> entries;
  Range range = getRange(to);
  for (int64_t bits = 0; bits < 256; ++bits) {
    int64_t number = from.isUnsigned() || bits < 128 ? bits : bits - 256;
    int64_t entry = std::clamp(function(number), range.min, range.max);
    entries.emplace_back(8, static_cast<uint64_t>(entry), /*isSigned=*/true);
  }
  auto table =
      DenseIntElementsAttr::get(RankedTensorType::get(256, to), entries);
  Value y = layer.createAs<nn::LookupOp>(RankedTensorType::get(getShape(x), to),
                                         x, table);
  std::string name = layer.getOp().lower();
  nn::markActivation(
      y, nn::getFunctionWords(name == "logistic" ? "sigmoid" : name));
  return y;
}

Value nnc::tflite::tabulateReal(Layer &layer, Value x,
                                llvm::function_ref<float(float)> function) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!in || !out)
    return layer.unsupported("has integers without a quantization");
  auto inScale = static_cast<float>(in.getScale()),
       outScale = static_cast<float>(out.getScale());
  float inverse = 1.0f / outScale;
  return tabulate(layer, x, [&](int64_t q) {
    float real = function(inScale * static_cast<float>(q - in.getZeroPoint()));
    float scaled = std::round(real * inverse);
    if (!(std::abs(scaled) < 1e6f))
      return scaled > 0 ? int64_t(1000000) : int64_t(-1000000);
    return static_cast<int64_t>(scaled) + out.getZeroPoint();
  });
}

Value nnc::tflite::activate(Layer &layer, Value x, fb::Activation activation) {
  Builder &builder = layer.getBuilder();
  auto clip = [&](double low, double high) {
    return layer.createElementwise(
        "clip", {x},
        {builder.getNamedAttr("min", builder.getF64FloatAttr(low)),
         builder.getNamedAttr("max", builder.getF64FloatAttr(high))});
  };
  switch (activation) {
  case fb::Activation::NONE:
    return x;
  case fb::Activation::RELU:
    return layer.createElementwise("relu", {x});
  case fb::Activation::RELU6:
    return clip(0, 6);
  case fb::Activation::RELU_N1_TO_1:
    return clip(-1, 1);
  case fb::Activation::TANH:
    return layer.createElementwise("tanh", {x});
  default:
    return layer.unsupported("has an activation that nnc does not handle");
  }
}
