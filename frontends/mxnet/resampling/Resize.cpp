//===- Resize.cpp - Images interpolated to another size -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

static Value resize(Layer &layer, Value x, ArrayRef<int64_t> sizes,
                    nn::ResizeMode mode, nn::ResizeCoordinates coordinates) {
  if (!x)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() != 4 || llvm::is_contained(shape, 0) || sizes[0] < 1 ||
      sizes[1] < 1 || sizes[0] > kMaxDim || sizes[1] > kMaxDim)
    return layer.broken("interpolates images of shape " + toString(shape) +
                        " to " + toString(sizes));
  SmallVector<double> scales = {double(sizes[0]) / double(shape[2]),
                                double(sizes[1]) / double(shape[3])};
  return layer.createAs<nn::ResizeOp>(
      RankedTensorType::get({shape[0], shape[1], sizes[0], sizes[1]},
                            getElement(x)),
      mode, coordinates, nn::ResizeNearest::floor, x, ArrayRef<double>(scales),
      APFloat(-0.75), false);
}

/// Returns the transposed convolution that is the bilinear interpolation of
/// UpSampling, whose weights are a parameter.
static Value upsampleBilinearly(Layer &layer, int64_t scale) {
  Value x = layer.getInput(0), w = layer.getInput(1);
  if (!w)
    return layer.broken("lacks its weight");
  int64_t kernel = 2 * scale - scale % 2, pad = scale / 2;
  int64_t groups =
      layer.getInt("num_filter", getRank(x) > 1 ? getShape(x)[1] : 1);
  SmallVector<int64_t> kernels(2, kernel), strides(2, scale), ones(2, 1),
      pads(4, pad), zeros(2, 0);
  if (getRank(x) != 4 || getRank(w) != 4 ||
      getShape(w).drop_front(2) != ArrayRef<int64_t>(kernels))
    return layer.broken("needs a weight of " + toString(kernels) +
                        ", not one of shape " + toString(getShape(w)));
  return layer.create<nn::ConvTransposeOp>(x, w, strides, ones, pads, zeros,
                                           groups, /*accumulator=*/TypeAttr());
}

/// Converts UpSampling. All inputs get the size of the first times its scale.
Value convertUpSampling(Layer &layer) {
  StringRef kind = layer.getText("sample_type", "nearest");
  int64_t scale = layer.getInt("scale", 1);
  Value first = layer.getInput(0);
  if (scale < 1 || scale > 1 << 15 || getRank(first) != 4)
    return layer.broken("has the scale " + Twine(scale) +
                        " for an input of shape " + toString(getShape(first)));
  if (kind == "bilinear")
    return upsampleBilinearly(layer, scale);
  if (kind != "nearest")
    return layer.broken("has the sample_type '" + kind + "'");
  SmallVector<int64_t> sizes = {getShape(first)[2] * scale,
                                getShape(first)[3] * scale};
  SmallVector<Value> parts;
  for (Value x : layer.getInputs())
    parts.push_back(resize(layer, x, sizes, nn::ResizeMode::nearest,
                           nn::ResizeCoordinates::asymmetric));
  if (parts.size() == 1)
    return parts[0];
  if (layer.getText("multi_input_mode", "concat") == "concat")
    return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(1));
  Value sum = parts[0];
  for (Value part : llvm::drop_begin(parts))
    sum = layer.add(sum, part);
  return sum;
}

Value convertBilinearResize(Layer &layer) {
  Value x = layer.getInput(0), like = layer.getInput(1);
  StringRef mode = layer.getText("mode", "size");
  if (getRank(x) != 4)
    return layer.broken("needs images of 4 axes, not a tensor of shape " +
                        toString(getShape(x)));
  SmallVector<int64_t> sizes = {layer.getInt("height", 1),
                                layer.getInt("width", 1)};
  ArrayRef<int64_t> shape = getShape(x);
  if (mode == "like" && getRank(like) == 4)
    sizes.assign(getShape(like).begin() + 2, getShape(like).end());
  else if (mode == "size" && layer.has("scale_height"))
    sizes = {int64_t(double(shape[2]) * layer.getReal("scale_height", 1)),
             int64_t(double(shape[3]) * layer.getReal("scale_width", 1))};
  else if (mode == "to_even_down" || mode == "to_even_up")
    for (size_t i : {0, 1})
      sizes[i] = shape[i + 2] + (mode == "to_even_up" ? shape[i + 2] % 2
                                                      : -(shape[i + 2] % 2));
  else if (mode == "to_odd_down" || mode == "to_odd_up")
    for (size_t i : {0, 1})
      sizes[i] = shape[i + 2] + (mode == "to_odd_up" ? 1 - shape[i + 2] % 2
                                                     : shape[i + 2] % 2 - 1);
  else if (mode != "size")
    return layer.unsupported("has the mode '" + mode + "'");
  return resize(layer, x, sizes, nn::ResizeMode::linear,
                layer.getBool("align_corners", true)
                    ? nn::ResizeCoordinates::align_corners
                    : nn::ResizeCoordinates::half_pixel);
}

} // namespace nnc::mxnet
