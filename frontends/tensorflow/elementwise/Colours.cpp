//===- Colours.cpp - Colours of images -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/moves/Moves.h"

#include <array>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// The three channels of an image, each without the axis of channels.
using Colour = std::array<Value, 3>;

/// Returns the channels of input 0; nullopt after an error.
static std::optional<Colour> takeChannels(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return std::nullopt;
  if (getRank(x) < 1 || getShape(x).back() != 3 ||
      !isa<FloatType>(getElement(x))) {
    layer.broken("needs images of floats with 3 channels, not a tensor of "
                 "shape " +
                 toString(getShape(x)));
    return std::nullopt;
  }
  Colour channels;
  Sizes starts(getRank(x), 0), sizes(getShape(x));
  sizes.back() = 1;
  for (int64_t i = 0; i < 3; ++i) {
    starts.back() = i;
    channels[i] = layer.slice(x, starts, sizes);
  }
  return channels;
}

static Value joinChannels(Layer &layer, const Colour &channels) {
  if (llvm::is_contained(channels, Value()))
    return {};
  return join(layer, {channels[0], channels[1], channels[2]},
              getRank(channels[0]) - 1);
}

namespace {
/// Arithmetic on channels and numbers.
struct Arithmetic {
  Layer &layer;
  Type element;

  Value number(double value) const { return layer.splat(value, element); }
  Value operator()(StringRef op, ArrayRef<Value> operands) const {
    return layer.createElementwise(op, operands);
  }
  /// Returns `x` limited to [0, 1].
  Value limit(Value x) const {
    return (*this)("min", {(*this)("max", {x, number(0)}), number(1)});
  }
};
} // namespace

/// Returns hue, saturation and value of red, green and blue.
static Colour toHsv(const Arithmetic &compute, const Colour &rgb) {
  Value red = rgb[0], green = rgb[1], blue = rgb[2];
  auto number = [&](double value) { return compute.number(value); };
  Value value = compute("max", {compute("max", {red, green}), blue});
  Value least = compute("min", {compute("min", {red, green}), blue});
  Value range = compute("sub", {value, least});
  Value saturation =
      compute("select", {compute("greater", {value, number(0)}),
                         compute("div", {range, value}), number(0)});
  Value unit = compute("div", {number(1), compute("mul", {number(6), range})});
  auto turn = [&](Value a, Value b, double start) {
    return compute(
        "add", {compute("mul", {unit, compute("sub", {a, b})}), number(start)});
  };
  Value hue =
      compute("select", {compute("equal", {red, value}), turn(green, blue, 0),
                         compute("select", {compute("equal", {green, value}),
                                            turn(blue, red, 2.0 / 6),
                                            turn(red, green, 4.0 / 6)})});
  hue = compute("select",
                {compute("greater", {range, number(0)}), hue, number(0)});
  hue = compute("select", {compute("less", {hue, number(0)}),
                           compute("add", {hue, number(1)}), hue});
  return {hue, saturation, value};
}

/// Returns red, green and blue of hue, saturation and value.
static Colour toRgb(const Arithmetic &compute, const Colour &hsv) {
  Value hue = hsv[0], saturation = hsv[1], value = hsv[2];
  auto number = [&](double each) { return compute.number(each); };
  Value turned = compute("mul", {hue, number(6)});
  auto distance = [&](double from) {
    return compute("abs", {compute("sub", {turned, number(from)})});
  };
  Value rest = compute("sub", {number(1), saturation});
  auto shade = [&](Value part) {
    Value sum = compute(
        "add", {rest, compute("mul", {saturation, compute.limit(part)})});
    return compute("mul", {sum, value});
  };
  return {shade(compute("sub", {distance(3), number(1)})),
          shade(compute("sub", {number(2), distance(2)})),
          shade(compute("sub", {number(2), distance(4)}))};
}

Value convertRgbToHsv(Layer &layer) {
  auto rgb = takeChannels(layer);
  if (!rgb)
    return {};
  return joinChannels(layer,
                      toHsv({layer, getElement(layer.getInput(0))}, *rgb));
}

Value convertHsvToRgb(Layer &layer) {
  auto hsv = takeChannels(layer);
  if (!hsv)
    return {};
  return joinChannels(layer,
                      toRgb({layer, getElement(layer.getInput(0))}, *hsv));
}

/// Converts AdjustHue: the hue is turned by a part of the circle.
Value convertAdjustHue(Layer &layer) {
  auto rgb = takeChannels(layer);
  Value delta = layer.getInput(1);
  if (!rgb || !delta)
    return {};
  Arithmetic compute{layer, getElement(layer.getInput(0))};
  Colour hsv = toHsv(compute, *rgb);
  Value hue = compute(
      "add", {hsv[0], layer.castTo(layer.reshape(delta, {}), compute.element)});
  hsv[0] = compute("sub", {hue, compute("floor", {hue})});
  return joinChannels(layer, toRgb(compute, hsv));
}

/// Converts AdjustSaturation: the saturation is scaled.
Value convertAdjustSaturation(Layer &layer) {
  auto rgb = takeChannels(layer);
  Value scale = layer.getInput(1);
  if (!rgb || !scale)
    return {};
  Arithmetic compute{layer, getElement(layer.getInput(0))};
  Colour hsv = toHsv(compute, *rgb);
  hsv[1] = compute.limit(compute(
      "mul",
      {hsv[1], layer.castTo(layer.reshape(scale, {}), compute.element)}));
  return joinChannels(layer, toRgb(compute, hsv));
}

/// Converts AdjustContrastv2: distances from the mean of each channel of an
/// image are scaled.
Value convertAdjustContrast(Layer &layer) {
  Value x = layer.getInput(0), factor = layer.getInput(1);
  if (!x || !factor)
    return {};
  int64_t rank = getRank(x);
  if (rank < 3 || getNumElements(x) == 0)
    return layer.broken("needs images");
  Value mean = layer.create<nn::ReduceOp>(nn::ReduceKind::mean, x,
                                          ArrayRef<int64_t>{rank - 3, rank - 2},
                                          /*keepdims=*/true);
  Value scaled = layer.createElementwise(
      "mul", {layer.createElementwise("sub", {x, mean}),
              layer.castTo(layer.reshape(factor, {}), getElement(x))});
  return layer.createElementwise("add", {scaled, mean});
}

} // namespace nnc::tensorflow
