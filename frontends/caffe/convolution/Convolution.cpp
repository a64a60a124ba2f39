//===- Convolution.cpp - Convolutions and inner products ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/convolution/Window.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

/// Returns y plus a vector along its channels, axis 1: the layer's blob 1.
static Value addBias(Layer &layer, Value y, int64_t channels) {
  Value bias = layer.getBlob(1, channels, "bias");
  SmallVector<int64_t> shape(getRank(y), 1);
  if (!y || !bias)
    return {};
  shape[1] = channels;
  return layer.createElementwise("add", {y, layer.reshape(bias, shape)});
}

/// Converts a convolution or, if `isTransposed`, a deconvolution of each bottom
/// with the same weights.
static Value convolve(Layer &layer, bool isTransposed) {
  const schema::ConvolutionParameter &param =
      layer.getParam().convolution_param();
  int64_t rank = getRank(layer.getBottom(0)), filters = param.num_output();
  auto axis = layer.normalizeAxis(param.axis(), rank);
  if (!axis)
    return {};
  if (*axis != 1 || rank < 3 || rank > 5)
    return layer.unsupported("has its channels at axis " + Twine(*axis) +
                             " of " + Twine(rank) +
                             "; nnc handles axis 1, with one to three axes "
                             "behind it");
  auto window = readWindow(layer, param, rank - 2);
  if (!window)
    return {};
  int64_t channels = getShape(layer.getBottom(0))[1];
  // The layers of forks for depthwise convolutions have a group a channel.
  int64_t groups =
      layer.getOp() == "Convolution" || isTransposed || param.has_group()
          ? param.group()
          : channels;
  if (filters < 1 || groups < 1 || channels % groups || filters % groups)
    return layer.broken("has num_output " + Twine(filters) + " and group " +
                        Twine(groups) + " for " + Twine(channels) +
                        " channels; both numbers have to be multiples of the "
                        "groups");
  if (layer.getNumTops() != layer.getNumBottoms())
    return layer.broken("has " + Twine(layer.getNumBottoms()) +
                        " bottoms and " + Twine(layer.getNumTops()) + " tops");
  SmallVector<int64_t> shape = {filters, channels / groups};
  if (isTransposed)
    shape = {channels, filters / groups};
  llvm::append_range(shape, window->kernel);
  Value weights = layer.getBlob(0, shape, "weights");
  SmallVector<int64_t> none(rank - 2, 0);
  for (auto [i, x] : llvm::enumerate(layer.getBottoms())) {
    if (getRank(x) != rank || getShape(x)[1] != channels)
      return layer.broken("has bottoms of shapes " +
                          toString(getShape(layer.getBottom(0))) + " and " +
                          toString(getShape(x)) +
                          ", whose channels have to be equal");
    Value y = isTransposed
                  ? layer.create<nn::ConvTransposeOp>(
                        x, weights, window->strides, window->dilations,
                        window->pads, none, groups, /*accumulator=*/TypeAttr())
                  : layer.create<nn::ConvOp>(x, weights, window->strides,
                                             window->dilations, window->pads,
                                             groups, TypeAttr());
    layer.setTop(i, param.bias_term() ? addBias(layer, y, filters) : y);
  }
  return layer.getTop(0);
}

Value convertConvolution(Layer &layer) {
  return convolve(layer, /*isTransposed=*/false);
}
Value convertDeconvolution(Layer &layer) {
  return convolve(layer, /*isTransposed=*/true);
}

/// Converts InnerProduct: all axes from `axis` on are one vector, which is
/// multiplied with a matrix.
Value convertInnerProduct(Layer &layer) {
  const schema::InnerProductParameter &param =
      layer.getParam().inner_product_param();
  Value x = layer.getBottom(0);
  auto axis = layer.normalizeAxis(param.axis(), getRank(x));
  if (!axis)
    return {};
  int64_t outputs = param.num_output();
  if (outputs < 1)
    return layer.broken("has num_output 0");
  SmallVector<int64_t> shape(getShape(x).take_front(*axis));
  int64_t rows = product(shape),
          length = product(getShape(x).drop_front(*axis));
  SmallVector<int64_t> matrix = {outputs, length};
  if (param.transpose())
    std::swap(matrix[0], matrix[1]);
  Value weights = layer.getBlob(0, matrix, "weights");
  Value y = layer.create<nn::MatMulOp>(
      layer.reshape(x, {rows, length}), weights, /*transpose_a=*/false,
      /*transpose_b=*/!param.transpose(), TypeAttr());
  if (param.bias_term())
    y = layer.createElementwise("add", {y, layer.getBlob(1, outputs, "bias")});
  shape.push_back(outputs);
  return y ? layer.reshape(y, shape) : Value();
}

/// Converts Embed: rows of a matrix, by their numbers.
Value convertEmbed(Layer &layer) {
  const schema::EmbedParameter &param = layer.getParam().embed_param();
  int64_t rows = param.input_dim(), outputs = param.num_output();
  if (rows < 1 || outputs < 1)
    return layer.broken("has input_dim " + Twine(rows) + " and num_output " +
                        Twine(outputs));
  Value places =
      layer.castTo(layer.getBottom(0), layer.getBuilder().getI64Type());
  Value y = layer.create<nn::GatherOp>(
      layer.getBlob(0, {rows, outputs}, "weights"), places, int64_t(0));
  if (param.bias_term())
    y = layer.createElementwise("add", {y, layer.getBlob(1, outputs, "bias")});
  return y;
}

} // namespace nnc::caffe
