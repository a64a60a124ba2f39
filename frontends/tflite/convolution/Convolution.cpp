//===- Convolution.cpp - Convolutions and matrix products -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/convolution/SlidingWindow.h"
#include "frontends/tflite/convolution/SlidingWindow.h"
#include "frontends/tflite/qnn/Int16.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns the scales of sums of products: one for all filters, or one for
/// each. TFLite multiplies the scales of a convolution in f64.
static SmallVector<double> getSumScales(const Quantization &x,
                                        const Quantization &w) {
  return SmallVector<double>(llvm::map_range(
      w.scales, [&](double scale) { return x.getScale() * scale; }));
}

/// Returns the bias of a product of integers, which is operand `i`, or zeros if
/// there is none. Returns null after an error if the bias is not a vector of
/// `channels` i32 elements.
static Value getBias(Layer &layer, int64_t channels, size_t i) {
  Type wide = layer.getBuilder().getI32Type();
  if (!layer.hasInput(i))
    return layer.splat(0.0, wide, {channels});
  Value bias = layer.getInput(i);
  if (!bias)
    return {};
  if (getElement(bias) != wide)
    return layer.unsupported("has a bias of type " +
                             getTypeName(getElement(bias)) +
                             " beside integers; nnc handles INT32");
  if (getNumElements(bias) == channels)
    return layer.reshape(bias, {channels});
  return layer.broken("needs a bias of " + Twine(channels) +
                      " elements, not one of shape " +
                      toString(getShape(bias)));
}

/// Returns `y`, an image in NCHW or a matrix of floats, plus the bias along
/// axis 1, if the operator has input `i`.
static Value addFloatBias(Layer &layer, Value y, size_t i = 2) {
  if (!layer.hasInput(i) || !y)
    return y;
  Value bias = layer.getInput(i);
  int64_t channels = getShape(y)[1];
  if (bias && getNumElements(bias) != channels)
    return layer.broken("needs a bias of " + Twine(channels) +
                        " elements, not one of shape " +
                        toString(getShape(bias)));
  SmallVector<int64_t> shape(getRank(y) - 1, 1);
  shape[0] = channels;
  return layer.createElementwise("add", {y, layer.reshape(bias, shape)});
}

/// Returns true after an error if operand `input`, x, and operand 1, w, are
/// neither both floats nor both quantized integers.
static bool isMixed(Layer &layer, Value x, Value w, size_t input = 0) {
  if (!x || !w)
    return true;
  bool isInteger = isQuantized(x, layer.getInputQuantization(input));
  if (isInteger == isQuantized(w, layer.getInputQuantization(1)) &&
      (isInteger || (getElement(x).isF32() && getElement(w).isF32())))
    return false;
  layer.unsupported("multiplies " + getTypeName(getElement(x)) + " and " +
                    getTypeName(getElement(w)) +
                    "; nnc handles floats, and integers that are quantized");
  return true;
}

/// Returns operand 1, the weights, as floats if operand `input` holds floats.
static Value getWeights(Layer &layer, size_t input = 0) {
  Value x = layer.getInput(input);
  return x && getElement(x).isF32() ? getReals(layer, 1) : layer.getInput(1);
}

/// Returns the window of filters whose axes 1 and 2 are height and width, with
/// the strides that the options state.
template <class Options>
static Window makeWindow(Value filters, const Options &options,
                         int64_t dilationH, int64_t dilationW) {
  Window window;
  window.kernel = {getShape(filters)[1], getShape(filters)[2]};
  window.strides = {options.stride_h(), options.stride_w()};
  window.dilations = {dilationH, dilationW};
  return window;
}

/// Computes a convolution of x, in NHWC, with filters w, whose axes
/// `filterOrder` lists in the order K, C, H, W. `biasType` is the type of bias
/// that the options state.
static Value convolve(Layer &layer, Value x, Value w,
                      ArrayRef<int64_t> filterOrder, const Window &window,
                      int64_t groups, fb::Activation activation,
                      fb::TensorType biasType) {
  x = toChannelsFirst(layer, x);
  Value filters = layer.transpose(w, filterOrder);
  if (!x || !filters)
    return {};
  if (getElement(x).isF32()) {
    Value y =
        layer.create<nn::ConvOp>(x, filters, window.strides, window.dilations,
                                 window.pads, groups, TypeAttr());
    return toChannelsLast(layer,
                          activate(layer, addFloatBias(layer, y), activation));
  }
  Quantization from = layer.getInputQuantization(0),
               weights = layer.getInputQuantization(1);
  if (from.axis >= 0)
    return layer.unsupported("has an input with several scales");
  if (weights.axis >= 0) {
    const auto *place = llvm::find(filterOrder, weights.axis);
    weights.axis = place - filterOrder.begin();
    if (weights.axis != 0)
      return layer.unsupported("has weights with scales along an axis other "
                               "than that of the filters");
  }
  SmallVector<double> scales = getSumScales(from, weights);
  if (isInt16Activation(x, from)) {
    auto plan = planInt16Sums(layer, 0, filterOrder[0], 2, biasType);
    if (!plan)
      return {};
    Value sums =
        layer.create<nn::ConvOp>(x, filters, window.strides, window.dilations,
                                 window.pads, groups, plan->getAccumulator());
    return toChannelsLast(
        layer, finishInt16Sums(layer, sums, *plan, scales, 1, activation));
  }
  int64_t channels = getShape(filters)[0];
  Value bias = getBias(layer, channels, 2);
  x = asQuantized(layer, x, from);
  filters = asQuantized(layer, filters, weights);
  auto wide = IntegerType::get(layer.getLoc().getContext(), 32);
  // The shape is inferred by nn.conv on the same shapes, because qnn.conv does
  // not infer it.
  SmallVector<int64_t> shape;
  if (!x || !filters || !bias || !layer.check([&] {
        return nn::inferConv(
            layer.getLoc(), cast<RankedTensorType>(x.getType()),
            cast<RankedTensorType>(filters.getType()), window.strides,
            window.dilations, window.pads, groups, shape);
      }))
    return {};
  SmallVector<int64_t> zeros(scales.size(), 0);
  auto type =
      qnn::makeType(shape, wide, scales, zeros, scales.size() == 1 ? -1 : 1);
  Value sums =
      layer.createAs<qnn::ConvOp>(type, x, filters, bias, window.strides,
                                  window.dilations, window.pads, groups);
  return toChannelsLast(
      layer, requantize(layer, sums, scales, scales.size() == 1 ? -1 : 1,
                        getActivationRange(layer, activation)));
}

Value convertConv(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::ConvOptions>(fb::Options::ConvOptions);
  Value x = layer.getInput(0), w = getWeights(layer);
  if (!options || isMixed(layer, x, w))
    return {};
  if (getRank(w) != 4)
    return layer.broken("needs filters of 4 axes, not of shape " +
                        toString(getShape(w)));
  Window window =
      makeWindow(w, *options, options->dilation_h(), options->dilation_w());
  if (!fitWindow(layer, x, options->padding(), window))
    return {};
  int64_t channels = getShape(x)[3], own = getShape(w)[3];
  if (own < 1 || channels % own != 0)
    return layer.broken("has an input of " + Twine(channels) +
                        " channels and filters of " + Twine(own));
  return convolve(layer, x, w, {0, 3, 1, 2}, window, channels / own,
                  options->activation(), options->bias_type());
}

Value convertDepthwiseConv(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::DepthwiseOptions>(fb::Options::Depthwise);
  Value x = layer.getInput(0), w = getWeights(layer);
  if (!options || isMixed(layer, x, w))
    return {};
  if (getRank(w) != 4 || getShape(w)[0] != 1)
    return layer.broken("needs filters of shape 1 x height x width x "
                        "channels, not of shape " +
                        toString(getShape(w)));
  Window window =
      makeWindow(w, *options, options->dilation_h(), options->dilation_w());
  if (!fitWindow(layer, x, options->padding(), window))
    return {};
  return convolve(layer, x, w, {3, 0, 1, 2}, window, getShape(x)[3],
                  options->activation(), fb::TensorType::INT64);
}

/// Returns the transposed convolution of x, in NHWC, with the filters w. The
/// result is in NCHW. `more` is the number of additional rows and columns at
/// the end of the result that x does not reach.
static Value transposeConvolve(Layer &layer, Value x, Value w,
                               const Window &window, ArrayRef<int64_t> more,
                               TypeAttr accumulator) {
  // Filters are stored as O, H, W, I; nn takes I, O, H, W.
  return layer.create<nn::ConvTransposeOp>(
      toChannelsFirst(layer, x), layer.transpose(w, {3, 0, 1, 2}),
      window.strides, window.dilations, window.pads, more, int64_t(1),
      accumulator);
}

/// Returns the operator's result, a transposed convolution of integers.
static Value transposeIntegers(Layer &layer, Value x, Value w,
                               const Window &window, ArrayRef<int64_t> more,
                               const fb::TransposeConvOptions &options) {
  Quantization from = layer.getInputQuantization(2),
               weights = layer.getInputQuantization(1);
  if (from.axis >= 0 || weights.axis > 0)
    return layer.unsupported("has scales along an axis other than that of its "
                             "filters");
  SmallVector<double> scales = getSumScales(from, weights);
  if (isInt16Activation(x, from)) {
    auto plan = planInt16Sums(layer, 2, 0, 3, options.bias_type());
    if (!plan)
      return {};
    Value sums =
        transposeConvolve(layer, x, w, window, more, plan->getAccumulator());
    return toChannelsLast(layer, finishInt16Sums(layer, sums, *plan, scales, 1,
                                                 options.activation()));
  }
  if (!llvm::all_equal(weights.zeroPoints))
    return layer.unsupported("has weights with several zero points");
  // Sums at the edge have fewer terms. Therefore zero points are subtracted
  // from the elements instead of corrected in the sums.
  Type narrow = layer.getBuilder().getIntegerType(16);
  auto centreNarrow = [&](Value y, const Quantization &quantization) {
    int64_t zero = quantization.getZeroPoint();
    if (zero == 0)
      return y;
    return layer.createElementwise(
        "sub", {layer.castTo(y, narrow),
                layer.splat(IntegerAttr::get(narrow, zero), {})});
  };
  int64_t channels = getShape(w)[0];
  Value bias = getBias(layer, channels, 3);
  auto wide = TypeAttr::get(layer.getBuilder().getI32Type());
  Value sums = transposeConvolve(layer, centreNarrow(x, from),
                                 centreNarrow(w, weights), window, more, wide);
  sums = layer.createElementwise("add",
                                 {sums, layer.reshape(bias, {channels, 1, 1})});
  return toChannelsLast(
      layer, requantize(layer, sums, scales, scales.size() == 1 ? -1 : 1,
                        getActivationRange(layer, options.activation())));
}

Value convertTransposeConv(Layer &layer) {
  // Inputs: the result's shape, the filters, the image, and a bias.
  const auto *options =
      layer.getOptions<fb::TransposeConvOptions>(fb::Options::TransposeConv);
  auto shape = layer.readInts(layer.getInput(0), "sizes");
  Value w = getWeights(layer, 2), x = layer.getInput(2);
  if (!options || !shape || !w || !x)
    return {};
  if (shape->size() != 4 || getRank(w) != 4 || getRank(x) != 4)
    return layer.broken("needs images and filters of 4 axes");
  if (isMixed(layer, x, w, 2))
    return {};
  Window window = makeWindow(w, *options, 1, 1);
  if (!fitWindow(layer, x, fb::Padding::VALID, window))
    return {};
  // The pads are those of the convolution from the result to the input.
  SmallVector<int64_t> more = {0, 0};
  for (size_t i = 0; i < 2; ++i) {
    int64_t natural =
        (getShape(x)[1 + i] - 1) * window.strides[i] + window.kernel[i];
    int64_t total = natural - (*shape)[1 + i];
    if (options->padding() == fb::Padding::VALID || total < 0) {
      more[i] = std::max<int64_t>(-total, 0);
      total = std::max<int64_t>(total, 0);
      window.pads[2 + i] = total;
      continue;
    }
    window.pads[i] = total / 2;
    window.pads[2 + i] = total - total / 2;
  }
  if (getElement(x).isF32()) {
    Value y = transposeConvolve(layer, x, w, window, more, TypeAttr());
    return toChannelsLast(layer, activate(layer, addFloatBias(layer, y, 3),
                                          options->activation()));
  }
  return transposeIntegers(layer, x, w, window, more, *options);
}

/// Returns the product of the matrices x [rows, k] and the transpose of w
/// [units, k] on integers.
static Value multiplyIntegers(Layer &layer, Value x, Value w,
                              const fb::FullyConnectedOptions &options) {
  Quantization from = layer.getInputQuantization(0),
               weights = layer.getInputQuantization(1);
  if (from.axis >= 0 || weights.axis > 0)
    return layer.unsupported("has scales along an axis other than that of its "
                             "units");
  SmallVector<double> scales = getSumScales(from, weights);
  // A single product of scales is computed in f32.
  if (scales.size() == 1)
    scales[0] = static_cast<float>(from.getScale()) *
                static_cast<float>(weights.getScale());
  if (isInt16Activation(x, from)) {
    auto plan = planInt16Sums(layer, 0, 0, 2, options.bias_type());
    if (!plan)
      return {};
    Value sums = layer.create<nn::MatMulOp>(x, layer.transpose(w, {1, 0}),
                                            /*transpose_a=*/false,
                                            /*transpose_b=*/false,
                                            plan->getAccumulator());
    return finishInt16Sums(layer, sums, *plan, scales, 1, options.activation());
  }
  int64_t units = getShape(w)[0];
  Value bias = getBias(layer, units, 2);
  if (weights.axis == 0)
    weights.axis = 1;
  Value b = asQuantized(layer, layer.transpose(w, {1, 0}), weights);
  auto wide = IntegerType::get(layer.getLoc().getContext(), 32);
  SmallVector<int64_t> zeros(scales.size(), 0);
  int64_t axis = scales.size() == 1 ? -1 : 1;
  auto type = qnn::makeType({getShape(x)[0], units}, wide, scales, zeros, axis);
  Value sums =
      layer.createAs<qnn::MatMulOp>(type, asQuantized(layer, x, from), b);
  auto plain = RankedTensorType::get(type.getShape(), wide);
  sums = layer.createElementwise(
      "add", {layer.createAs<qnn::ReinterpretOp>(plain, sums), bias});
  return requantize(layer, sums, scales, axis,
                    getActivationRange(layer, options.activation()));
}

Value convertFullyConnected(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::FullyConnectedOptions>(fb::Options::FullyConnected);
  layer.markDense();
  Value x = layer.getInput(0), w = getWeights(layer);
  if (!options || isMixed(layer, x, w))
    return {};
  if (options->weights_format() != 0)
    return layer.unsupported("has shuffled weights; convert the model without "
                             "them");
  if (getRank(w) != 2)
    return layer.broken("needs weights of 2 axes, not of shape " +
                        toString(getShape(w)));
  int64_t units = getShape(w)[0], k = getShape(w)[1];
  if (k == 0 || getNumElements(x) % k != 0)
    return layer.broken("has an input of shape " + toString(getShape(x)) +
                        " and weights of shape " + toString(getShape(w)));
  SmallVector<int64_t> shape = {getNumElements(x) / k, units};
  if (options->keep_num_dims()) {
    shape.assign(getShape(x).begin(), getShape(x).end());
    if (shape.empty() || shape.back() != k)
      return layer.broken("keeps the axes of an input of shape " +
                          toString(getShape(x)) + ", whose last is not " +
                          Twine(k));
    shape.back() = units;
  }
  Value rows = layer.reshape(x, {getNumElements(x) / k, k});
  Value y;
  if (getElement(x).isF32()) {
    y = layer.create<nn::MatMulOp>(rows, w, /*transpose_a=*/false,
                                   /*transpose_b=*/true, TypeAttr());
    y = activate(layer, addFloatBias(layer, y), options->activation());
  } else {
    y = multiplyIntegers(layer, rows, w, *options);
  }
  return layer.reshape(y, shape);
}

Value convertBatchMatMul(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::BatchMatMulOptions>(fb::Options::BatchMatMul);
  Value a = layer.getInput(0), b = getWeights(layer);
  if (!options || isMixed(layer, a, b))
    return {};
  if (getRank(a) < 2 || getRank(b) < 2)
    return layer.broken("multiplies tensors of shapes " +
                        toString(getShape(a)) + " and " +
                        toString(getShape(b)));
  if (getElement(a).isF32())
    return layer.create<nn::MatMulOp>(a, b, options->adj_x(), options->adj_y(),
                                      TypeAttr());
  auto swapLast = [&](Value x) {
    SmallVector<int64_t> order = iota(getRank(x));
    std::swap(order.back(), order[order.size() - 2]);
    return layer.transpose(x, order);
  };
  a = options->adj_x() ? swapLast(a) : a;
  b = options->adj_y() ? swapLast(b) : b;
  Quantization left = layer.getInputQuantization(0),
               right = layer.getInputQuantization(1);
  if (left.axis >= 0 || right.axis >= 0)
    return layer.unsupported("has operands with several scales");
  ArrayRef<int64_t> x = getShape(a), y = getShape(b);
  auto batch = nn::broadcastShapes({x.drop_back(2), y.drop_back(2)});
  if (!batch || x.back() != y[y.size() - 2])
    return layer.broken("multiplies tensors of shapes " + toString(x) +
                        " and " + toString(y));
  SmallVector<int64_t> shape(*batch);
  shape.push_back(x[x.size() - 2]);
  shape.push_back(y.back());
  double scale = static_cast<float>(left.getScale()) *
                 static_cast<float>(right.getScale());
  if (isInt16Activation(a, left) || isInt16Activation(b, right)) {
    Type element = getElement(b);
    Quantization out = layer.getOutputQuantization();
    if (getElement(a) != element || layer.getOutputElement() != element ||
        !out || left.getZeroPoint() != 0 || right.getZeroPoint() != 0 ||
        out.getZeroPoint() != 0)
      return layer.unsupported("needs INT16 operands and results with zero "
                               "points of 0 beside INT16");
    Int16Sums plan = {layer.getBuilder().getI64Type(), true, {}};
    Value sums = layer.create<nn::MatMulOp>(a, b, /*transpose_a=*/false,
                                            /*transpose_b=*/false,
                                            plan.getAccumulator());
    return finishInt16Sums(layer, sums, plan, {scale}, -1,
                           fb::Activation::NONE);
  }
  auto wide = IntegerType::get(layer.getLoc().getContext(), 32);
  Value sums = layer.createAs<qnn::MatMulOp>(
      qnn::makeType(shape, wide, {scale}, {0}, -1), asQuantized(layer, a, left),
      asQuantized(layer, b, right));
  return requantize(layer, sums, {scale}, -1,
                    getActivationRange(layer, fb::Activation::NONE));
}

} // namespace nnc::tflite
