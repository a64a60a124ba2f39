//===- Quantized.cpp - The operators of MXNet's quantizer -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/qnn/Quantized.h"

#include "frontends/mxnet/convolution/Convolution.h"
#include "frontends/mxnet/matrix/Matrix.h"
#include "frontends/mxnet/normalization/Normalization.h"
#include "frontends/mxnet/pooling/Pooling.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {
/// Returns a range that is known when compiling, of inputs `i` and `i + 1`.
static std::optional<Range> readRange(Layer &layer, size_t i) {
  auto read = [&](size_t j) -> std::optional<double> {
    Value value = layer.getInput(j);
    auto elements = value ? readElements(value) : std::nullopt;
    if (!elements || !elements->isReal() || elements->reals.size() != 1 ||
        !std::isfinite(elements->reals[0]))
      return std::nullopt;
    return elements->reals[0];
  };
  auto min = read(i), max = read(i + 1);
  return min && max ? std::optional(Range{*min, *max}) : std::nullopt;
}

std::optional<Range> readCalibrated(Layer &layer) {
  if (!layer.has("min_calib_range") || !layer.has("max_calib_range"))
    return std::nullopt;
  return Range{layer.getReal("min_calib_range", 0),
               layer.getReal("max_calib_range", 0)};
}

static bool hasHalfSteps(Layer &layer) {
  return layer.getImporter().getVersion() >= 10500;
}

double countSteps(Layer &layer, bool isSigned) {
  return (isSigned ? 127 : 255) + (hasHalfSteps(layer) ? 0.5 : 0);
}

/// Returns the quantized type of tensors of shape `shape` for a range. The
/// integer 0 of int8 is the number 0.
static RankedTensorType makeType(Layer &layer, ArrayRef<int64_t> shape,
                                 Range range, bool isSigned) {
  double span = isSigned ? range.getLargest() : range.max - range.min;
  if (!(span > 0) || !std::isfinite(span)) {
    layer.broken("has the range from " + frontends::toString(range.min) +
                 " to " + frontends::toString(range.max));
    return {};
  }
  qnn::Parameters parameters;
  // A range of uint8 that does not begin at 0 has 255 steps.
  bool isWhole = !isSigned && range.min != 0;
  parameters.scales = {span / (isWhole ? 255 : countSteps(layer, isSigned))};
  parameters.min = !isSigned ? 0 : hasHalfSteps(layer) ? -128 : -127;
  parameters.max = isSigned ? 127 : 255;
  double zero = isSigned ? 0 : -range.min / parameters.scales[0];
  parameters.zeroPoints = {int64_t(std::round(zero))};
  if (std::abs(zero - std::round(zero)) > 1e-3 || zero < 0 || zero > 255) {
    layer.unsupported("has the range from " + frontends::toString(range.min) +
                      " to " + frontends::toString(range.max) +
                      ", of which no integer of uint8 is 0");
    return {};
  }
  Builder &builder = layer.getBuilder();
  return qnn::makeType(shape,
                       isSigned ? builder.getIntegerType(8)
                                : builder.getIntegerType(8, false),
                       parameters);
}

/// Returns `x` rounded to numbers of the quantized type `type`.
static Value roundTo(Layer &layer, Value x, RankedTensorType type) {
  if (!x || !type)
    return {};
  qnn::Rounding rounding =
      hasHalfSteps(layer) ? qnn::Rounding::half_even : qnn::Rounding::half_away;
  Value q = layer.createAs<qnn::QuantizeOp>(type, rounding, x);
  return layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(type.getShape(), layer.getF32()), q);
}

/// Sets the results with the range, and returns the first.
static Value give(Layer &layer, Value x, Value min, Value max) {
  layer.setResult(1, min);
  layer.setResult(2, max);
  return x;
}
static Value give(Layer &layer, Value x, Range range) {
  auto one = [&](double value) {
    return layer.splat(value, layer.getF32(), {1});
  };
  return give(layer, x, one(range.min), one(range.max));
}

Value quantize(Layer &layer, Value x, Range range, bool isSigned) {
  if (isSigned)
    range = {-range.getLargest(), range.getLargest()};
  else if (range.min >= 0)
    range.min = 0; // as oneDNN has it
  RankedTensorType type = makeType(layer, getShape(x), range, isSigned);
  return give(layer, roundTo(layer, x, type), range);
}

/// Rounds x to 8 bits of a range that is computed when the network runs, by
/// operations on floats.
static Value quantizeAtRunTime(Layer &layer, Value x, Value min, Value max,
                               bool isSigned) {
  min = layer.reshape(min, {});
  max = layer.reshape(max, {});
  Value least = layer.scalar(1e-30, x);
  auto apply = [&](StringRef op, Value a, Value b) {
    return layer.createElementwise(op, {a, b});
  };
  if (!isSigned) {
    Value step = apply("div", apply("max", apply("sub", max, min), least),
                       layer.scalar(255, x));
    Value q = apply("div", apply("sub", x, min), step);
    q = layer.createElementwise("floor", layer.add(q, layer.scalar(0.5, x)));
    q = apply("min", apply("max", q, layer.scalar(0, x)), layer.scalar(255, x));
    return give(layer, layer.add(layer.mul(q, step), min), min, max);
  }
  Value largest = apply("max", layer.createElementwise("abs", min),
                        layer.createElementwise("abs", max));
  Value step = apply("div", apply("max", largest, least),
                     layer.scalar(countSteps(layer, true), x));
  Value q = apply("div", layer.createElementwise("abs", x), step);
  q = layer.createElementwise("floor", layer.add(q, layer.scalar(0.5, x)));
  q = apply("min", q, layer.scalar(127, x));
  q = layer.mul(layer.createElementwise("sign", x), q);
  return give(layer, layer.mul(q, step),
              layer.createElementwise("neg", largest), largest);
}

/// Returns the least and the largest element of x.
static std::pair<Value, Value> findRange(Layer &layer, Value x) {
  SmallVector<int64_t> axes = iota(getRank(x));
  return {layer.reduce(nn::ReduceKind::min, x, axes, false),
          layer.reduce(nn::ReduceKind::max, x, axes, false)};
}

/// Reads whether results are int8 instead of uint8.
static std::optional<bool> readSign(Layer &layer, StringRef otherwise,
                                    std::optional<Range> range) {
  StringRef type = layer.getText("out_type", otherwise);
  if (type == "auto")
    return !range || range->min < 0;
  if (type == "int8" || type == "uint8")
    return type == "int8";
  layer.unsupported("has the out_type '" + type + "'");
  return std::nullopt;
}

Value convertQuantizeV2(Layer &layer) {
  Value x = layer.getInput(0);
  auto range = readCalibrated(layer);
  auto isSigned = readSign(layer, "int8", range);
  if (!isSigned)
    return {};
  if (range)
    return quantize(layer, x, *range, *isSigned);
  auto [min, max] = findRange(layer, x);
  return quantizeAtRunTime(layer, x, min, max, *isSigned);
}

Value convertQuantize(Layer &layer) {
  Value x = layer.getInput(0);
  auto range = readRange(layer, 1);
  auto isSigned = readSign(layer, "uint8", range);
  if (!isSigned)
    return {};
  if (range)
    return quantize(layer, x, *range, *isSigned);
  return quantizeAtRunTime(layer, x, layer.getInput(1), layer.getInput(2),
                           *isSigned);
}

Value convertRequantize(Layer &layer) {
  Value x = layer.getInput(0);
  auto range = readCalibrated(layer);
  auto isSigned = readSign(layer, "int8", range);
  if (!isSigned)
    return {};
  if (range)
    return quantize(layer, x, *range, *isSigned);
  auto [min, max] = findRange(layer, x);
  return quantizeAtRunTime(layer, x, min, max, *isSigned);
}

Value asNumbers(Layer &layer, Value x, size_t i) {
  if (!x || isa<FloatType>(getElement(x)))
    return x;
  Value min = layer.getInput(i), max = layer.getInput(i + 1);
  auto low = layer.readReals(min, "ranges of weights"),
       high = layer.readReals(max, "ranges of weights");
  if (!low || !high)
    return {};
  auto integer = dyn_cast<IntegerType>(getElement(x));
  bool isByte = integer && integer.getWidth() == 8,
       isSum = integer && integer.getWidth() == 32;
  int64_t slices = low->size();
  if (low->size() != high->size() || !(isByte || isSum) ||
      (slices != 1 && (getRank(x) == 0 || slices != getShape(x)[0])))
    return layer.broken("reads integers of shape " + toString(getShape(x)) +
                        " with " + Twine(slices) + " ranges");
  bool isUnsigned = integer.isUnsigned();
  double most = isByte ? countSteps(layer, !isUnsigned) : 2147483647;
  qnn::Parameters parameters;
  parameters.axis = slices == 1 ? -1 : 0;
  parameters.min = isUnsigned ? 0 : isByte ? -128 : INT32_MIN;
  parameters.max = isUnsigned ? 255 : isByte ? 127 : INT32_MAX;
  for (auto [a, b] : llvm::zip(*low, *high)) {
    double largest = Range{a, b}.getLargest();
    if (!std::isfinite(largest))
      return layer.broken("has a range that is not finite");
    // All elements of a slice with an empty range are 0.
    parameters.scales.push_back(largest > 0 ? largest / most : 1);
    parameters.zeroPoints.push_back(0);
  }
  Value q = layer.createAs<qnn::ReinterpretOp>(
      qnn::makeType(getShape(x), integer, parameters), x);
  return layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(x), layer.getF32()), q);
}

/// Converts _contrib_quantized_batch_norm, which uses its scale even with
/// fix_gamma.
Value convertQuantizedBatchNorm(Layer &layer) {
  auto range = readCalibrated(layer);
  Value x = asNumbers(layer, layer.getInput(0), 5);
  if (!range)
    return layer.unsupported("lacks the range that calibration finds");
  Value y = normalizeBatch(layer, x, /*hasFixedScale=*/false);
  return y ? quantize(layer, y, *range, /*isSigned=*/true) : Value();
}

Value convertDequantize(Layer &layer) {
  return asNumbers(layer, layer.getInput(0), 1);
}

Value giveNumbers(Layer &layer, Value y) {
  auto [min, max] = findRange(layer, y);
  return give(layer, y, layer.reshape(min, {1}), layer.reshape(max, {1}));
}

RankedTensorType findType(Value x) {
  auto op = x ? x.getDefiningOp<qnn::DequantizeOp>() : qnn::DequantizeOp();
  return op ? cast<RankedTensorType>(op.getX().getType()) : RankedTensorType();
}

/// Gives the result `y` of an operator that keeps the range of its input.
static Value keepRange(Layer &layer, Value y) {
  if (RankedTensorType type = findType(layer.getInput(0)); type && y)
    y = roundTo(layer, y,
                RankedTensorType::get(getShape(y), type.getElementType()));
  return give(layer, y, layer.getInput(1), layer.getInput(2));
}

Value convertQuantizedPooling(Layer &layer) {
  return keepRange(layer, pool(layer, layer.getInput(0)));
}

Value convertQuantizedFlatten(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 1)
    return layer.broken("needs an input with axes");
  return keepRange(
      layer,
      layer.reshape(x, {getShape(x)[0], product(getShape(x).drop_front(1))}));
}

Value convertQuantizedActivation(Layer &layer) {
  StringRef kind = layer.getText("act_type");
  if (kind != "relu")
    return layer.unsupported("has the activation '" + kind + "'");
  return keepRange(layer, layer.createElementwise("relu", layer.getInput(0)));
}

/// The inputs of a layer with weights.
struct WeightedInputs {
  Value x, w, bias;
  size_t ranges; ///< number of the first input that is a range
};

static WeightedInputs readWeighted(Layer &layer) {
  bool hasBias = !layer.getBool("no_bias", false);
  size_t ranges = hasBias ? 3 : 2;
  if (layer.getNumInputs() != 3 * ranges) {
    layer.broken("has " + Twine(layer.getNumInputs()) +
                 " inputs; it needs operands and two bounds for each");
    return {};
  }
  return {asNumbers(layer, layer.getInput(0), ranges),
          asNumbers(layer, layer.getInput(1), ranges + 2),
          hasBias ? asNumbers(layer, layer.getInput(2), ranges + 4) : Value(),
          ranges};
}

/// Gives sums of products, whose range is that of 32 bits of the products of
/// both steps.
static Value giveSums(Layer &layer, Value y, size_t ranges) {
  auto largest = [&](size_t i) {
    SmallVector<Value> bounds;
    for (size_t j : {i, i + 1})
      bounds.push_back(layer.createElementwise("abs", layer.getInput(j)));
    return layer.createElementwise("max", bounds);
  };
  Value range = layer.mul(largest(ranges), largest(ranges + 2));
  double steps = countSteps(layer, true);
  range = layer.mul(range, layer.scalar(2147483647.0 / steps / steps, range));
  return give(layer, y, layer.createElementwise("neg", range), range);
}

Value convertQuantizedConv(Layer &layer) {
  WeightedInputs in = readWeighted(layer);
  if (!in.x || !in.w)
    return {};
  return giveSums(layer, convolve(layer, in.x, in.w, in.bias), in.ranges);
}

Value convertQuantizedFullyConnected(Layer &layer) {
  WeightedInputs in = readWeighted(layer);
  if (!in.x || !in.w)
    return {};
  return giveSums(layer, connect(layer, in.x, in.w, in.bias), in.ranges);
}

/// Converts elementwise operators of two quantized tensors, whose result has
/// 8 bits if calibration found its range, and 32 otherwise.
static Value combine(Layer &layer, StringRef op) {
  Value y = layer.createElementwise(op, {layer.getInput(0), layer.getInput(1)});
  if (auto range = readCalibrated(layer))
    return y ? quantize(layer, y, *range, true) : Value();
  return giveSums(layer, y, 2);
}

Value convertQuantizedAdd(Layer &layer) { return combine(layer, "add"); }
Value convertQuantizedMul(Layer &layer) { return combine(layer, "mul"); }

/// Converts _contrib_quantized_concat, whose range includes those of all
/// inputs.
Value convertQuantizedConcat(Layer &layer) {
  size_t count = layer.getNumInputs() / 3;
  int64_t stated = layer.getInt("num_args", int64_t(count));
  if (count == 0 || layer.getNumInputs() % 3 != 0 || stated != int64_t(count))
    return layer.broken("has " + Twine(layer.getNumInputs()) +
                        " inputs; it needs two bounds for each operand");
  auto axis = layer.getAxis("dim", 1, getRank(layer.getInput(0)));
  if (!axis)
    return {};
  Value y = layer.create<nn::ConcatOp>(
      ValueRange(layer.getInputs().take_front(count)), *axis);
  Range all = {0, 0};
  bool isSigned = false, isKnown = true;
  Value min = layer.getInput(count), max = layer.getInput(count + 1);
  for (size_t i = 0; i < count; ++i) {
    auto range = readRange(layer, count + 2 * i);
    RankedTensorType type = findType(layer.getInput(i));
    isKnown &= range && type;
    isSigned |=
        type && cast<quant::QuantizedType>(type.getElementType()).isSigned();
    all = {std::min(all.min, range ? range->min : 0),
           std::max(all.max, range ? range->max : 0)};
    min = layer.createElementwise("min", {min, layer.getInput(count + 2 * i)});
    max = layer.createElementwise("max",
                                  {max, layer.getInput(count + 2 * i + 1)});
  }
  if (!y || !isKnown)
    return give(layer, y, min, max);
  return quantize(layer, y, all, isSigned);
}

} // namespace nnc::mxnet
