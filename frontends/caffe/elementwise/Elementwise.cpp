//===- Elementwise.cpp - Layers that work element by element --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

static NamedAttribute makeReal(Layer &layer, StringRef name, double value) {
  return layer.getBuilder().getNamedAttr(
      name, layer.getBuilder().getF64FloatAttr(value));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value convertIdentity(Layer &layer) { return layer.getBottom(0); }

Value convertSigmoidLoss(Layer &layer) {
  return layer.createElementwise("sigmoid", layer.getBottom(0));
}

Value convertReLU(Layer &layer) {
  double slope = layer.getParam().relu_param().negative_slope();
  if (slope == 0)
    return layer.createElementwise("relu", layer.getBottom(0));
  return layer.createElementwise("leaky_relu", layer.getBottom(0),
                                 makeReal(layer, "alpha", slope));
}

static Value clip(Layer &layer, double low, double high) {
  return layer.createElementwise(
      "clip", layer.getBottom(0),
      {makeReal(layer, "min", low), makeReal(layer, "max", high)});
}

Value convertReLU6(Layer &layer) {
  return clip(layer, 0, layer.getParam().relu6_param().threshold());
}

Value convertClip(Layer &layer) {
  const schema::ClipParameter &param = layer.getParam().clip_param();
  if (!param.has_min() || !param.has_max())
    return layer.broken("lacks min or max in its clip_param");
  return clip(layer, param.min(), param.max());
}

Value convertELU(Layer &layer) {
  return layer.createElementwise(
      "elu", layer.getBottom(0),
      makeReal(layer, "alpha", layer.getParam().elu_param().alpha()));
}

Value convertSwish(Layer &layer) {
  Value x = layer.getBottom(0);
  double beta = layer.getParam().swish_param().beta();
  if (beta == 1)
    return layer.createElementwise("silu", x);
  return layer.createElementwise(
      "mul", {x, layer.createElementwise("sigmoid",
                                         layer.withNumber("mul", x, beta))});
}

Value convertPReLU(Layer &layer) {
  Value x = layer.getBottom(0);
  if (getRank(x) < 2)
    return layer.broken("needs a bottom with channels, not one of shape " +
                        toString(getShape(x)));
  int64_t channels = getShape(x)[1];
  if (layer.getParam().prelu_param().channel_shared())
    return layer.createElementwise(
        "prelu", {x, layer.reshape(layer.getBlob(0, {}, "slope"), {})});
  SmallVector<int64_t> shape(getRank(x) - 1, 1);
  shape[0] = channels;
  Value slopes = layer.getBlob(0, channels, "slopes");
  return layer.createElementwise(
      "prelu", {x, slopes ? layer.reshape(slopes, shape) : Value()});
}

Value convertThreshold(Layer &layer) {
  Value x = layer.getBottom(0);
  Value isAbove = layer.withNumber(
      "greater", x, layer.getParam().threshold_param().threshold());
  return layer.castTo(isAbove, getElement(x));
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// Returns x * scale + shift.
static Value applyLine(Layer &layer, Value x, double scale, double shift) {
  if (scale != 1)
    x = layer.withNumber("mul", x, scale);
  return shift == 0 ? x : layer.withNumber("add", x, shift);
}

Value convertPower(Layer &layer) {
  const schema::PowerParameter &param = layer.getParam().power_param();
  Value x = layer.getBottom(0);
  double power = param.power();
  if (power == 0 || param.scale() == 0) {
    double base = power == 0 ? 1 : std::pow(double(param.shift()), power);
    return layer.expand(layer.splat(base, getElement(x)), getShape(x));
  }
  Value y = applyLine(layer, x, param.scale(), param.shift());
  if (power == 1)
    return y;
  if (power == 2)
    return layer.createElementwise("mul", {y, y});
  if (power == 0.5)
    return layer.createElementwise("sqrt", y);
  if (power == -0.5)
    return layer.createElementwise("rsqrt", y);
  if (power == -1)
    return layer.createElementwise("reciprocal", y);
  return layer.withNumber("pow", y, power);
}

/// Reports a base of Exp or Log that makes no sense; -1 stands for e.
static bool isBase(Layer &layer, double base) {
  if (base == -1 || base > 0)
    return true;
  layer.broken("has base " + toString(base) +
               "; it has to be positive, or -1 for e");
  return false;
}

Value convertExp(Layer &layer) {
  const schema::ExpParameter &param = layer.getParam().exp_param();
  if (!isBase(layer, param.base()))
    return {};
  double factor = param.base() == -1 ? 1 : std::log(double(param.base()));
  return layer.createElementwise("exp", applyLine(layer, layer.getBottom(0),
                                                  param.scale() * factor,
                                                  param.shift() * factor));
}

Value convertLog(Layer &layer) {
  const schema::LogParameter &param = layer.getParam().log_param();
  if (!isBase(layer, param.base()))
    return {};
  double factor = param.base() == -1 ? 1 : 1 / std::log(double(param.base()));
  Value y =
      layer.createElementwise("log", applyLine(layer, layer.getBottom(0),
                                               param.scale(), param.shift()));
  return factor == 1 ? y : layer.withNumber("mul", y, factor);
}

//===----------------------------------------------------------------------===//
// Several bottoms
//===----------------------------------------------------------------------===//

Value convertEltwise(Layer &layer) {
  const schema::EltwiseParameter &param = layer.getParam().eltwise_param();
  auto operation = param.operation();
  bool isSum = operation == schema::EltwiseParameter::SUM;
  int count = param.coeff_size();
  if (count && (!isSum || size_t(count) != layer.getNumBottoms()))
    return layer.broken("has " + Twine(count) + " coefficients for " +
                        Twine(layer.getNumBottoms()) +
                        " bottoms; only sums have them, one a bottom");
  StringRef op = isSum                                         ? "add"
                 : operation == schema::EltwiseParameter::PROD ? "mul"
                                                               : "max";
  Value y;
  for (auto [i, x] : llvm::enumerate(layer.getBottoms())) {
    if (getShape(x) != getShape(layer.getBottom(0)))
      return layer.broken("has bottoms of shapes " +
                          toString(getShape(layer.getBottom(0))) + " and " +
                          toString(getShape(x)) + ", which have to be equal");
    Value term = x;
    double factor = count ? param.coeff(static_cast<int>(i)) : 1;
    if (factor != 1)
      term = layer.withNumber("mul", term, factor);
    y = i == 0 ? term : layer.createElementwise(op, {y, term});
  }
  return y;
}

/// Converts Axpy, of forks for SENet: the first bottom, a number for each
/// plane, times the second plus the third.
Value convertAxpy(Layer &layer) {
  Value scale = layer.getBottom(0), x = layer.getBottom(1);
  if (getRank(x) < 2 ||
      getNumElements(scale) != product(getShape(x).take_front(2)) ||
      getShape(x) != getShape(layer.getBottom(2)))
    return layer.broken("has bottoms of shapes " + toString(getShape(scale)) +
                        ", " + toString(getShape(x)) + " and " +
                        toString(getShape(layer.getBottom(2))) +
                        "; it needs one number for each plane of the second, "
                        "and a third like the second");
  SmallVector<int64_t> shape(getRank(x), 1);
  shape[0] = getShape(x)[0];
  shape[1] = getShape(x)[1];
  Value product =
      layer.createElementwise("mul", {x, layer.reshape(scale, shape)});
  return layer.createElementwise("add", {product, layer.getBottom(2)});
}

} // namespace nnc::caffe
