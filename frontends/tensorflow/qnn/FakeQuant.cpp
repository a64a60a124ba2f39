//===- FakeQuant.cpp - Quantized numbers in graphs of floats --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// FakeQuant operators round floats to the numbers that 8-bit integers with a
// scale stand for. They become a quantization followed by a dequantization,
// between which nnc-qnn-fuse makes layers of integers.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/qnn/FakeQuant.h"

#include "dialects/nn/tensors/TensorData.h"
#include "dialects/qnn/Qnn.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// The range of real numbers that the integers from `low` to `high` stand for.
struct Range {
  double min, max;
};
struct Levels {
  int64_t low, high;
};
struct Scale {
  double scale;
  int64_t zeroPoint;
};
} // namespace

/// Returns the scale and zero point that TensorFlow chooses for a range: the
/// zero point that is nearest to an integer, computed in f32.
static Scale nudge(Range range, Levels levels) {
  auto min = static_cast<float>(range.min), max = static_cast<float>(range.max);
  float scale = (max - min) / static_cast<float>(levels.high - levels.low);
  float zeroPoint = static_cast<float>(levels.low) - min / scale;
  int64_t nudged = zeroPoint < static_cast<float>(levels.low) ? levels.low
                   : zeroPoint > static_cast<float>(levels.high)
                       ? levels.high
                       : static_cast<int64_t>(std::round(zeroPoint));
  return {scale, nudged};
}

/// Returns the integers of `type` to which the constant `x` is rounded, as a
/// constant of this type.
static Value roundConstant(Layer &layer, Value x, RankedTensorType type) {
  auto data = TensorData::get(x);
  if (!data)
    return layer.unsupported("rounds a constant that cannot be read");
  qnn::Parameters parameters = qnn::getParameters(type);
  auto integers = TensorData::allocate(qnn::getStorageType(type));
  size_t inner = 1, count = parameters.scales.size();
  if (parameters.axis >= 0)
    for (int64_t size : type.getShape().drop_front(parameters.axis + 1))
      inner *= static_cast<size_t>(size);
  for (auto [i, value] : llvm::enumerate(data->getAs<float>())) {
    size_t channel = i / inner % count;
    auto scale = static_cast<float>(parameters.scales[channel]);
    double level =
        std::round(value / scale) + double(parameters.zeroPoints[channel]);
    double low = double(parameters.min), high = double(parameters.max);
    // NaN becomes the least integer.
    integers.getMutable<int8_t>()[i] =
        static_cast<int8_t>(level > low ? std::min(level, high) : low);
  }
  auto constant = x.getDefiningOp<nn::ConstantOp>();
  return layer.createAs<qnn::ReinterpretOp>(
      type, layer.constant(integers.toAttribute(
                nn::getModelName(constant.getLoc(), "weights"))));
}

/// Returns `x` rounded to 8-bit integers for `ranges`, which are one or as many
/// as the last axis of x is long, and back to floats. `isSigned` tells that
/// levels are numbers of an i8.
static Value roundTo(Layer &layer, Value x, ArrayRef<Range> ranges,
                     Levels levels) {
  if (!x)
    return {};
  if (!getElement(x).isF32())
    return layer.unsupported("works on " + getTypeName(getElement(x)) +
                             "; nnc handles float32");
  int64_t rank = getRank(x), axis = ranges.size() == 1 ? -1 : rank - 1;
  SmallVector<double> scales;
  Sizes zeroPoints;
  for (Range range : ranges) {
    if (!(range.min <= 0) || !(range.max >= 0) || !(range.min < range.max) ||
        !std::isfinite(range.max - range.min))
      return layer.broken("has a range from " + toString(range.min) + " to " +
                          toString(range.max) +
                          "; needs finite numbers around 0");
    Scale scale = nudge(range, levels);
    scales.push_back(scale.scale);
    zeroPoints.push_back(scale.zeroPoint);
  }
  // Results of layers are quantized in front of the transpose behind them.
  Value image = Layer::getChannelsFirst(x);
  if (image && axis >= 0)
    axis = 1;
  Value from = image ? image : x;
  MLIRContext *context = layer.getLoc().getContext();
  auto type = qnn::makeType(
      getShape(from), IntegerType::get(context, 8),
      qnn::Parameters{scales, zeroPoints, axis, levels.low, levels.high});
  bool isWeight =
      from.getDefiningOp<nn::ConstantOp>() && getNumElements(from) > 0;
  Value quantized = isWeight ? roundConstant(layer, from, type)
                             : layer.createAs<qnn::QuantizeOp>(
                                   type, qnn::Rounding::half_away, from);
  Value y = layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(from), getElement(x)), quantized);
  return image ? layer.toChannelsLast(y) : y;
}

/// Returns the integers that the attributes `num_bits` and `narrow_range` allow
/// as numbers of an i8; nullopt after an error.
static std::optional<Levels> readLevels(Layer &layer, int64_t bits) {
  if (bits < 2 || bits > 8) {
    layer.unsupported("rounds to integers of " + Twine(bits) +
                      " bits; nnc handles 2 to 8");
    return std::nullopt;
  }
  int64_t half = int64_t(1) << (bits - 1);
  return Levels{layer.getBool("narrow_range") ? 1 - half : -half, half - 1};
}

Value convertFakeQuantArgs(Layer &layer) {
  auto levels = readLevels(layer, layer.getInt("num_bits", 8));
  if (!levels)
    return {};
  return roundTo(layer, layer.getInput(0),
                 Range{layer.getReal("min", -6), layer.getReal("max", 6)},
                 *levels);
}

/// Returns the ranges in inputs 1 and 2.
static std::optional<SmallVector<Range>> readRanges(Layer &layer) {
  auto lows = layer.readReals(layer.getInput(1), "ranges"),
       highs = layer.readReals(layer.getInput(2), "ranges");
  if (!lows || !highs)
    return std::nullopt;
  if (lows->size() != highs->size() || lows->empty()) {
    layer.broken("has " + Twine(lows->size()) + " least and " +
                 Twine(highs->size()) + " largest numbers");
    return std::nullopt;
  }
  SmallVector<Range> ranges;
  for (auto [low, high] : llvm::zip(*lows, *highs))
    ranges.push_back({low, high});
  return ranges;
}

Value convertFakeQuantVars(Layer &layer) {
  auto levels = readLevels(layer, layer.getInt("num_bits", 8));
  auto ranges = readRanges(layer);
  if (!levels || !ranges)
    return {};
  if (ranges->size() != 1)
    return layer.broken("has " + Twine(ranges->size()) + " ranges");
  return roundTo(layer, layer.getInput(0), *ranges, *levels);
}

Value convertFakeQuantChannels(Layer &layer) {
  Value x = layer.getInput(0);
  auto levels = readLevels(layer, layer.getInt("num_bits", 8));
  auto ranges = readRanges(layer);
  if (!levels || !ranges || !x)
    return {};
  if (getRank(x) < 1 || int64_t(ranges->size()) != getShape(x).back())
    return layer.broken("has " + Twine(ranges->size()) +
                        " ranges for a tensor of shape " +
                        toString(getShape(x)));
  return roundTo(layer, x, *ranges, *levels);
}

/// Converts QuantizeAndDequantizeV2 and V4, whose scale is symmetric for signed
/// integers. The zero point is always the real number 0.
Value convertQuantizeAndDequantize(Layer &layer) {
  auto levels = readLevels(layer, layer.getInt("num_bits", 8));
  auto ranges = readRanges(layer);
  if (!levels || !ranges)
    return {};
  if (!layer.getBool("signed_input", true) || !layer.getBool("range_given") ||
      layer.getInt("axis", -1) != -1 || ranges->size() != 1)
    return layer.unsupported("takes its range from the data, has one for each "
                             "channel, or unsigned integers, which nnc does "
                             "not handle");
  // The scale is the larger of those that both ends need.
  Range range = (*ranges)[0];
  double scale = std::max(range.min / double(levels->low),
                          range.max / double(levels->high));
  return roundTo(
      layer, layer.getInput(0),
      Range{scale * double(levels->low), scale * double(levels->high)},
      *levels);
}

/// Returns the constant integers that `w` dequantizes, and sets `parameters` to
/// their scales; null if it does not.
static Value getIntegers(Value w, qnn::Parameters &parameters) {
  auto dequantize =
      w ? w.getDefiningOp<qnn::DequantizeOp>() : qnn::DequantizeOp();
  auto stored = dequantize
                    ? dequantize.getX().getDefiningOp<qnn::ReinterpretOp>()
                    : qnn::ReinterpretOp();
  if (!stored || !stored.getX().getDefiningOp<nn::ConstantOp>())
    return {};
  parameters = qnn::getParameters(dequantize.getX().getType());
  return stored.getX();
}

/// Returns the floats that `moved`, integers in another order, stand for.
static Value dequantize(Layer &layer, Value moved,
                        const qnn::Parameters &parameters) {
  if (!moved)
    return {};
  auto type = qnn::makeType(getShape(moved),
                            cast<IntegerType>(getElement(moved)), parameters);
  return layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(moved), layer.getBuilder().getF32Type()),
      layer.createAs<qnn::ReinterpretOp>(type, moved));
}

Value transposeWeights(Layer &layer, Value w, ArrayRef<int64_t> order) {
  qnn::Parameters parameters;
  Value integers = getIntegers(w, parameters);
  if (!integers)
    return layer.transpose(w, order);
  if (parameters.axis >= 0)
    parameters.axis = llvm::find(order, parameters.axis) - order.begin();
  return dequantize(layer, layer.transpose(integers, order), parameters);
}

Value reshapeWeights(Layer &layer, Value w, ArrayRef<int64_t> shape) {
  qnn::Parameters parameters;
  Value integers = getIntegers(w, parameters);
  // Scales are moved with an axis that stays as long as it is.
  bool fits = integers && (parameters.axis < 0 ||
                           shape.back() == getShape(integers)[parameters.axis]);
  if (!fits)
    return layer.reshape(w, shape);
  if (parameters.axis >= 0)
    parameters.axis = int64_t(shape.size()) - 1;
  return dequantize(layer, layer.reshape(integers, shape), parameters);
}

} // namespace nnc::tensorflow
