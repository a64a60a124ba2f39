//===- BatchNorm.cpp - Batch normalization and affine layers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

/// Returns the number of channels: of axis 1, or 1 if there is none.
static int64_t getChannels(Value x) {
  return getRank(x) < 2 ? 1 : getShape(x)[1];
}

/// Returns (x - mean) / sqrt(variance + epsilon) with the statistics of x
/// itself, each channel's over all else.
static Value standardize(Layer &layer, Value x, double epsilon) {
  SmallVector<int64_t> shape(getShape(x)), axes = {0, 2};
  Value planes = layer.reshape(
      x, {shape[0], getChannels(x),
          shape.size() < 2 ? 1 : product(ArrayRef(shape).drop_front(2))});
  auto mean = [&](Value y) {
    return layer.create<nn::ReduceOp>(nn::ReduceKind::mean, y,
                                      ArrayRef<int64_t>(axes), true);
  };
  Value centered = layer.createElementwise("sub", {planes, mean(planes)});
  Value variance = mean(layer.createElementwise("mul", {centered, centered}));
  Value deviation = layer.createElementwise(
      "sqrt", layer.withNumber("add", variance, epsilon));
  Value y = layer.createElementwise("div", {centered, deviation});
  return y ? layer.reshape(y, shape) : Value();
}

/// Converts BatchNorm, which has a mean and a variance for each channel, both
/// times the third blob, a number.
Value convertBatchNorm(Layer &layer) {
  const schema::BatchNormParameter &param = layer.getParam().batch_norm_param();
  Value x = layer.getBottom(0);
  if (param.has_use_global_stats() && !param.use_global_stats())
    return standardize(layer, x, param.eps());
  int64_t channels = getChannels(x);
  std::vector<float> mean = layer.readBlob(0, channels, "means"),
                     variance = layer.readBlob(1, channels, "variances"),
                     sum = layer.readBlob(2, 1, "scale of the statistics");
  if (mean.empty() || variance.empty() || sum.empty())
    return {};
  float factor = sum[0] == 0 ? 0 : 1 / sum[0];
  for (std::vector<float> *list : {&mean, &variance})
    for (float &value : *list)
      value *= factor;
  Type element = getElement(x);
  SmallVector<int64_t> shape(getShape(x));
  Value y = layer.create<nn::BatchNormOp>(
      getRank(x) < 2 ? layer.reshape(x, {product(shape), 1}) : x,
      layer.splat(1, element, channels), layer.splat(0, element, channels),
      layer.constantOf(mean, channels), layer.constantOf(variance, channels),
      APFloat(double(param.eps())));
  return y ? layer.reshape(y, shape) : Value();
}

/// Converts BN of forks: with four blobs (PSPNet) scale, shift, mean and
/// variance of each channel, with two (SegNet, ENet) scale and shift, into
/// which the statistics have been multiplied.
Value convertBN(Layer &layer) {
  const schema::BNParameter &param = layer.getParam().bn_param();
  Value x = layer.getBottom(0);
  if (getRank(x) < 2)
    return layer.broken("needs a bottom with channels, not one of shape " +
                        toString(getShape(x)));
  int64_t channels = getShape(x)[1];
  Value scale = layer.getBlob(0, channels, "scales"),
        shift = layer.getBlob(1, channels, "shifts");
  if (layer.getNumBlobs() == 2) {
    Type element = getElement(x);
    return layer.create<nn::BatchNormOp>(
        x, scale, shift, layer.splat(0, element, channels),
        layer.splat(1, element, channels), APFloat(0.0));
  }
  return layer.create<nn::BatchNormOp>(
      x, scale, shift, layer.getBlob(2, channels, "means"),
      layer.getBlob(3, channels, "variances"), APFloat(double(param.eps())));
}

//===----------------------------------------------------------------------===//
// Scale and Bias
//===----------------------------------------------------------------------===//

namespace {
/// The axes of the first bottom along which a scale or a bias has elements.
struct Span {
  int64_t axis = 0;
  SmallVector<int64_t> shape;
};
} // namespace

/// Returns the axes that the parameters `axis` and `num_axes` select; nullopt
/// after an error if the bottom lacks them.
static std::optional<Span> readSpan(Layer &layer, int64_t first,
                                    int64_t count) {
  Value x = layer.getBottom(0);
  int64_t rank = getRank(x);
  if (layer.getNumBottoms() > 1)
    count = getRank(layer.getBottom(1));
  // A number alone may have any axis.
  if (count == 0 && layer.getNumBottoms() > 1)
    return Span();
  auto axis = layer.normalizeAxis(first, rank);
  if (!axis)
    return std::nullopt;
  if (count == -1)
    count = rank - *axis;
  if (count < 0 || *axis + count > rank) {
    layer.broken("covers " + Twine(count) + " axes from axis " + Twine(*axis) +
                 " on of a bottom of shape " + toString(getShape(x)));
    return std::nullopt;
  }
  Span span{*axis, SmallVector<int64_t>(getShape(x).slice(*axis, count))};
  if (layer.getNumBottoms() > 1 &&
      getShape(layer.getBottom(1)) != ArrayRef<int64_t>(span.shape)) {
    layer.broken("has bottoms of shapes " + toString(getShape(x)) + " and " +
                 toString(getShape(layer.getBottom(1))) +
                 ", of which the second has to fit the first from axis " +
                 Twine(*axis) + " on");
    return std::nullopt;
  }
  return span;
}

/// Returns `value`, a tensor along the axes of `span`, such that it broadcasts
/// to the first bottom.
static Value align(Layer &layer, Value value, const Span &span) {
  if (!value)
    return {};
  SmallVector<int64_t> shape(getRank(layer.getBottom(0)), 1);
  llvm::copy(span.shape, shape.begin() + span.axis);
  return layer.reshape(value, shape);
}

/// Returns the batch normalization that computes the first bottom, if it has no
/// scale and no shift of its own.
static nn::BatchNormOp findPlainNorm(Value x) {
  auto norm = x.getDefiningOp<nn::BatchNormOp>();
  auto isAll = [](Value value, float wanted) {
    auto constant = value.getDefiningOp<nn::ConstantOp>();
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                          : SplatElementsAttr();
    return splat && splat.getElementType().isF32() &&
           splat.getSplatValue<float>() == wanted;
  };
  return norm && isAll(norm.getScale(), 1) && isAll(norm.getBias(), 0)
             ? norm
             : nn::BatchNormOp();
}

Value convertScale(Layer &layer) {
  const schema::ScaleParameter &param = layer.getParam().scale_param();
  Value x = layer.getBottom(0);
  auto span = readSpan(layer, param.axis(), param.num_axes());
  if (!span)
    return {};
  bool isLearned = layer.getNumBottoms() == 1;
  Value scale =
      isLearned ? layer.getBlob(0, span->shape, "scales") : layer.getBottom(1);
  Value bias = param.bias_term()
                   ? layer.getBlob(isLearned ? 1 : 0, span->shape, "bias")
                   : Value();
  // A batch normalization and the scale behind it are one op.
  bool isAlongChannels =
      isLearned && span->axis == 1 && span->shape.size() == 1;
  if (nn::BatchNormOp norm = findPlainNorm(x); norm && isAlongChannels)
    return layer.create<nn::BatchNormOp>(
        norm.getX(), scale,
        bias ? bias : layer.splat(0, getElement(x), span->shape),
        norm.getMean(), norm.getVariance(),
        APFloat(norm.getEpsilonAttr().getValue()));
  Value y = layer.createElementwise("mul", {x, align(layer, scale, *span)});
  return param.bias_term()
             ? layer.createElementwise("add", {y, align(layer, bias, *span)})
             : y;
}

Value convertBias(Layer &layer) {
  const schema::BiasParameter &param = layer.getParam().bias_param();
  auto span = readSpan(layer, param.axis(), param.num_axes());
  if (!span)
    return {};
  Value bias = layer.getNumBottoms() == 1
                   ? layer.getBlob(0, span->shape, "bias")
                   : layer.getBottom(1);
  return layer.createElementwise(
      "add", {layer.getBottom(0), align(layer, bias, *span)});
}

} // namespace nnc::caffe
