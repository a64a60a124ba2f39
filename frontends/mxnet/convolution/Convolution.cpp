//===- Convolution.cpp - Convolutions and transposed ones -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/convolution/Convolution.h"

#include "frontends/mxnet/convolution/Window.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Adds `bias`, unless it is null: one value per channel of `y`.
static Value addBias(Layer &layer, Value y, Value bias) {
  if (!bias || !y)
    return y;
  if (getShape(bias) != ArrayRef<int64_t>(getShape(y)[1]))
    return layer.broken("needs a bias of " + Twine(getShape(y)[1]) +
                        " elements, not one of shape " +
                        toString(getShape(bias)));
  SmallVector<int64_t> shape(getRank(y), 1);
  shape[1] = getShape(y)[1];
  return layer.add(y, layer.reshape(bias, shape));
}

/// Checks that the weight has the kernel that the node states.
static bool checkKernel(Layer &layer, Value x, Value w, const Window &window) {
  if (getRank(w) == getRank(x) &&
      getShape(w).drop_front(2) == ArrayRef<int64_t>(window.kernel))
    return true;
  layer.broken("states a kernel of " + toString(window.kernel) +
               " and has a weight of shape " + toString(getShape(w)));
  return false;
}

static Value getBias(Layer &layer, bool otherwise) {
  return layer.getBool("no_bias", otherwise) ? Value() : layer.getInput(2);
}

Value convolve(Layer &layer, Value x, Value w, Value bias) {
  auto layout = readLayout(layer, getRank(x));
  if (!layout || !x || !w)
    return {};
  x = layout->enter(layer, x);
  w = layout->enter(layer, w);
  auto window = readWindow(layer, x);
  if (!window || !checkKernel(layer, x, w, *window))
    return {};
  int64_t filters = layer.getInt("num_filter", getShape(w)[0]);
  if (filters != getShape(w)[0])
    return layer.broken("has " + Twine(filters) +
                        " filters and a weight of shape " +
                        toString(getShape(w)));
  Value y = layer.create<nn::ConvOp>(x, w, window->strides, window->dilations,
                                     window->pads, layer.getInt("num_group", 1),
                                     TypeAttr());
  return layout->leave(layer, addBias(layer, y, bias));
}

Value convertConvolution(Layer &layer) {
  return convolve(layer, layer.getInput(0), layer.getInput(1),
                  getBias(layer, false));
}

/// Sets the padding for which the output has the size `target`, and returns
/// what is added behind it.
static std::optional<SmallVector<int64_t>> fitTarget(Layer &layer,
                                                     ArrayRef<int64_t> input,
                                                     Window &window,
                                                     ArrayRef<int64_t> target) {
  SmallVector<int64_t> added;
  size_t axes = window.getAxes();
  for (size_t i = 0; i < axes; ++i) {
    int64_t total =
        (input[i] - 1) * window.strides[i] + window.getExtent(i) - target[i];
    if (total < 0) {
      layer.broken("has a target_shape of " + toString(target) +
                   ", which is larger than its windows reach");
      return std::nullopt;
    }
    added.push_back(total % 2);
    window.pads[i] = window.pads[axes + i] = (total + 1) / 2;
  }
  return added;
}

Value convertDeconvolution(Layer &layer) {
  Value x = layer.getInput(0), w = layer.getInput(1);
  auto layout = readLayout(layer, getRank(x));
  if (!layout)
    return {};
  x = layout->enter(layer, x);
  w = layout->enter(layer, w);
  auto window = readWindow(layer, x);
  if (!window || !checkKernel(layer, x, w, *window))
    return {};
  SmallVector<int64_t> added = layer.getSizes("adj", window->getAxes(), 0, 0);
  auto target = layer.getInts("target_shape");
  if (target && llvm::any_of(*target, [](int64_t v) { return v != 0; })) {
    SmallVector<int64_t> sizes =
        layer.getSizes("target_shape", window->getAxes(), 1, 1);
    auto fitted = fitTarget(layer, getShape(x).drop_front(2), *window, sizes);
    if (!fitted)
      return {};
    added = *fitted;
  }
  if (layer.hasFailed())
    return {};
  Value y = layer.create<nn::ConvTransposeOp>(
      x, w, window->strides, window->dilations, window->pads, added,
      layer.getInt("num_group", 1), /*accumulator=*/TypeAttr());
  return layout->leave(layer, addBias(layer, y, getBias(layer, true)));
}

} // namespace nnc::mxnet
