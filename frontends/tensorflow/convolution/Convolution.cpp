//===- Convolution.cpp - Convolutions -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/convolution/SlidingWindow.h"
#include "frontends/tensorflow/qnn/FakeQuant.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns true if filters have as many axes as the image `x`; otherwise
/// reports an error.
static bool areFilters(Layer &layer, Value x, Value w) {
  if (!x || !w)
    return false;
  if (getRank(w) == getRank(x) && getNumElements(w) > 0)
    return true;
  layer.broken("has filters of shape " + toString(getShape(w)) +
               " for an image of shape " + toString(getShape(x)));
  return false;
}

/// Gives a window the dilations that the inputs behind the filters state, which
/// are the sizes of blocks, the pads and the crops (graph/Dilations.h). `crops`
/// gets what remains to be cut off the result: two numbers for each spatial
/// axis. Returns false after an error.
static bool takeDilations(Layer &layer, Window &window, Sizes &crops) {
  size_t axes = window.kernel.size();
  crops.assign(2 * axes, 0);
  if (layer.getNumInputs() == 2)
    return true;
  if (layer.getNumInputs() != 5)
    return layer.broken("has " + Twine(layer.getNumInputs()) + " inputs"),
           false;
  auto blocks = layer.readInts(layer.getInput(2), "sizes of blocks");
  auto pads = layer.readInts(layer.getInput(3), "pads");
  auto cuts = layer.readInts(layer.getInput(4), "crops");
  if (!blocks || !pads || !cuts)
    return false;
  auto isSound = [](int64_t number) { return number >= 0 && number < 1 << 30; };
  size_t count = blocks->size();
  if (count > axes || pads->size() != 2 * count || cuts->size() != 2 * count ||
      !llvm::all_of(*blocks, isSound) || llvm::is_contained(*blocks, 0) ||
      !llvm::all_of(*pads, isSound) || !llvm::all_of(*cuts, isSound)) {
    layer.broken("is dilated by blocks of " + toString(*blocks) + ", pads " +
                 toString(*pads) + " and crops " + toString(*cuts));
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    size_t axis = axes - count + i;
    window.dilations[axis] = (*blocks)[i];
    for (size_t end : {0, 1}) {
      int64_t pad = (*pads)[2 * i + end] - (*cuts)[2 * i + end];
      window.pads[end * axes + axis] = std::max<int64_t>(pad, 0);
      crops[2 * axis + end] = std::max<int64_t>(-pad, 0);
    }
  }
  return true;
}

/// Cuts `crops` off the image `y`, whose channels are second.
static Value cropImage(Layer &layer, Value y, ArrayRef<int64_t> crops) {
  if (!y || llvm::all_of(crops, [](int64_t crop) { return crop == 0; }))
    return y;
  Sizes starts(getRank(y), 0), sizes(getShape(y));
  for (size_t i = 0; 2 * i < crops.size(); ++i) {
    starts[2 + i] = crops[2 * i];
    sizes[2 + i] -= crops[2 * i] + crops[2 * i + 1];
    if (sizes[2 + i] < 0)
      return layer.broken("crops more than there is");
  }
  return layer.slice(y, starts, sizes);
}

/// Converts Conv2D and Conv3D. Filters are stored as height x width x channels
/// of a group x filters.
Value convertConv(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0)), w = layer.getInput(1);
  if (!areFilters(layer, x, w))
    return {};
  int64_t rank = getRank(w), channels = getShape(x)[1],
          own = getShape(w)[rank - 2];
  if (own < 1 || channels % own != 0)
    return layer.broken("has an input of " + Twine(channels) +
                        " channels and filters of " + Twine(own));
  auto window =
      readWindow(layer, getShape(x).drop_front(2), getShape(w).drop_back(2));
  Sizes crops;
  if (!window || !takeDilations(layer, *window, crops))
    return {};
  Sizes order = {rank - 1, rank - 2};
  llvm::append_range(order, iota(rank - 2));
  Value y = layer.create<nn::ConvOp>(x, transposeWeights(layer, w, order),
                                     window->strides, window->dilations,
                                     window->pads, channels / own, TypeAttr());
  return fromImage(layer, cropImage(layer, y, crops));
}

/// Converts DepthwiseConv2dNative. Filters are stored as height x width x
/// channels x filters of a channel.
Value convertDepthwiseConv(Layer &layer) {
  Value x = toImage(layer, layer.getInput(0)), w = layer.getInput(1);
  if (!areFilters(layer, x, w))
    return {};
  int64_t channels = getShape(x)[1];
  if (getRank(w) != 4 || getShape(w)[2] != channels)
    return layer.broken("has an input of " + Twine(channels) +
                        " channels and filters of shape " +
                        toString(getShape(w)));
  auto window =
      readWindow(layer, getShape(x).drop_front(2), getShape(w).drop_back(2));
  Sizes crops;
  if (!window || !takeDilations(layer, *window, crops))
    return {};
  int64_t height = getShape(w)[0], width = getShape(w)[1],
          filters = channels * getShape(w)[3];
  Value flat = reshapeWeights(layer, w, {height, width, 1, filters});
  Value y = layer.create<nn::ConvOp>(
      x, transposeWeights(layer, flat, {3, 2, 0, 1}), window->strides,
      window->dilations, window->pads, channels, TypeAttr());
  return fromImage(layer, cropImage(layer, y, crops));
}

/// Converts Conv2DBackpropInput and Conv3DBackpropInputV2: the gradient of a
/// convolution with respect to its input, which is a transposed convolution.
/// The inputs are the sizes of the result, the filters, stored as height x
/// width x channels of the result x channels of the image, and the image.
Value convertConvTranspose(Layer &layer) {
  auto given = layer.readInts(layer.getInput(0), "the sizes of its result");
  Value w = layer.getInput(1), x = toImage(layer, layer.getInput(2));
  if (!given || !areFilters(layer, x, w))
    return {};
  int64_t rank = getRank(x), axes = rank - 2;
  if (int64_t(given->size()) != rank)
    return layer.broken("has a result of " + Twine(given->size()) +
                        " axes for an image of " + Twine(rank));
  size_t first = isChannelsLast(layer) ? 1 : 2;
  ArrayRef<int64_t> sizes = ArrayRef<int64_t>(*given).slice(first, axes);
  if (llvm::any_of(sizes,
                   [](int64_t size) { return size < 1 || size > 1 << 30; }))
    return layer.broken("has a result of shape " + toString(*given));
  auto window = readWindow(layer, sizes, getShape(w).drop_back(2));
  if (!window)
    return {};
  // The pads are those of the convolution from the result to the image. Where
  // its last window ends in front of the end of the result, zeros remain.
  Sizes more(axes, 0);
  for (int64_t i = 0; i < axes; ++i) {
    int64_t extent = (window->kernel[i] - 1) * window->dilations[i] + 1;
    int64_t whole = (getShape(x)[2 + i] - 1) * window->strides[i] + extent;
    int64_t behind = whole - window->pads[i] - sizes[i];
    more[i] = std::max<int64_t>(-behind, 0);
    window->pads[axes + i] = std::max<int64_t>(behind, 0);
  }
  Sizes order = {rank - 1, rank - 2};
  llvm::append_range(order, iota(rank - 2));
  Value y = layer.create<nn::ConvTransposeOp>(
      x, transposeWeights(layer, w, order), window->strides, window->dilations,
      window->pads, more, int64_t(1), TypeAttr());
  return fromImage(layer, y);
}

/// Converts BiasAdd: a vector added along the channels.
Value convertBiasAdd(Layer &layer) {
  Value x = layer.getInput(0), bias = layer.getInput(1);
  if (!x || !bias)
    return {};
  bool isLast = isChannelsLast(layer) || getRank(x) < 3;
  if (getRank(bias) != 1 || getRank(x) < 2 ||
      getNumElements(bias) != (isLast ? getShape(x).back() : getShape(x)[1]))
    return layer.broken("adds a bias of shape " + toString(getShape(bias)) +
                        " to a tensor of shape " + toString(getShape(x)));
  if (!isLast) {
    Sizes shape(getRank(x) - 1, 1);
    shape[0] = getNumElements(bias);
    bias = layer.reshape(bias, shape);
  }
  return layer.elementwise("add", {x, bias});
}

} // namespace nnc::tensorflow
