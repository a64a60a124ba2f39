//===- Pooling.cpp - Pools, and what undoes them --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/convolution/Window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

/// Reports an error unless `x` has four axes, and returns whether it has.
static bool isImage(Layer &layer, Value x) {
  if (getRank(x) == 4)
    return true;
  layer.broken("needs a bottom of four axes, not one of shape " +
               toString(getShape(x)));
  return false;
}

/// Returns true if nn's pools have as many windows as Caffe's. Without padding,
/// Caffe lets a window begin behind the image, of which it then reads nothing.
static bool hasCaffesWindows(Layer &layer, ArrayRef<int64_t> image,
                             const Window &window, bool isCeil) {
  for (size_t i = 0; i < 2; ++i) {
    int64_t room = image[i] + 2 * window.pads[i] - window.kernel[i];
    if (window.pads[i] >= window.kernel[i] || room < 0) {
      layer.broken("has a kernel of " + toString(window.kernel) +
                   " and a pad of " + toString(window.pads) +
                   " on an image of " + toString(image) +
                   "; a pad has to be smaller than the kernel, and the kernel "
                   "no larger than the padded image");
      return false;
    }
    int64_t last = llvm::divideCeil(room, window.strides[i]);
    bool isPadded = window.pads[0] > 0 || window.pads[1] > 0;
    if (isCeil && !isPadded && last * window.strides[i] >= image[i]) {
      layer.unsupported("has a last window that lies behind the image, as its "
                        "stride of " +
                        toString(window.strides) +
                        " is larger than its kernel");
      return false;
    }
  }
  return true;
}

/// Returns for each window of a max pool the place of the largest element in
/// its plane, as a float: Caffe's second top.
static Value findPlaces(Layer &layer, Value x, const Window &window,
                        bool isCeil) {
  int64_t plane = product(getShape(x).drop_front(2));
  if (plane >= 1 << 24)
    return layer.unsupported("gives places in a plane of " + Twine(plane) +
                             " elements; floats count to 16777216");
  Value places = layer.create<nn::MaxPoolIndexOp>(
      x, window.kernel, window.strides, window.dilations, window.pads, isCeil,
      /*column_major=*/false);
  places = layer.withNumber("mod", places, static_cast<double>(plane));
  return layer.castTo(places, getElement(x));
}

Value convertPooling(Layer &layer) {
  const schema::PoolingParameter &param = layer.getParam().pooling_param();
  Value x = layer.getBottom(0);
  if (!isImage(layer, x))
    return {};
  ArrayRef<int64_t> image = getShape(x).drop_front(2);
  auto window = readWindow(layer, param, image);
  if (!window)
    return {};
  bool isCeil =
      param.round_mode() == schema::PoolingParameter::CEIL && param.ceil_mode();
  if (!hasCaffesWindows(layer, image, *window, isCeil))
    return {};
  bool isMax = param.pool() == schema::PoolingParameter::MAX;
  if (!isMax && param.pool() != schema::PoolingParameter::AVE)
    return layer.unsupported("pools at random (STOCHASTIC); nnc handles MAX "
                             "and AVE");
  if (isMax && layer.getNumTops() > 1)
    layer.setTop(1, findPlaces(layer, x, *window, isCeil));
  if (isMax)
    return layer.create<nn::MaxPoolOp>(x, window->kernel, window->strides,
                                       window->dilations, window->pads, isCeil);
  // Padding counts, but not what lies behind it.
  return layer.create<nn::AvgPoolOp>(
      x, window->kernel, window->strides, window->dilations, window->pads,
      isCeil, /*count_include_pad=*/true, /*accumulator=*/TypeAttr());
}

/// Repeats each pixel, as forks for YOLO do.
static Value repeatPixels(Layer &layer, Value x, int64_t scale) {
  SmallVector<int64_t> shape(getShape(x));
  for (size_t i : {2, 3})
    if (scale < 1 || llvm::MulOverflow(shape[i], scale, shape[i]) ||
        shape[i] > kMaxDim)
      return layer.broken("has scale " + Twine(scale));
  auto ratio = static_cast<double>(scale);
  return layer.createAs<nn::ResizeOp>(
      RankedTensorType::get(shape, getElement(x)), nn::ResizeMode::nearest,
      nn::ResizeCoordinates::asymmetric, nn::ResizeNearest::floor, x,
      ArrayRef<double>({ratio, ratio}), APFloat(-0.75), false);
}

/// Converts Upsample. With two bottoms, as in SegNet, elements go to the places
/// that a max pool found, and all others are 0.
Value convertUpsample(Layer &layer) {
  const schema::UpsampleParameter &param = layer.getParam().upsample_param();
  Value x = layer.getBottom(0);
  if (!isImage(layer, x))
    return {};
  int64_t scale = param.scale();
  if (layer.getNumBottoms() == 1)
    return repeatPixels(layer, x, scale);
  Value places = layer.getBottom(1);
  ArrayRef<int64_t> shape = getShape(x);
  if (getShape(places) != shape)
    return layer.broken("has places of shape " + toString(getShape(places)) +
                        " for elements of shape " + toString(shape));
  int64_t scales[2] = {param.has_scale_h() ? param.scale_h() : scale,
                       param.has_scale_w() ? param.scale_w() : scale};
  int64_t stated[2] = {param.upsample_h(), param.upsample_w()};
  bool isShorter[2] = {param.pad_out_h(), param.pad_out_w()};
  SmallVector<int64_t> result(shape);
  for (size_t i = 0; i < 2; ++i) {
    if (scales[i] < 1 || scales[i] > kMaxDim || stated[i] > kMaxDim ||
        shape[i + 2] > kMaxDim)
      return layer.broken("has scales " + toString(scales));
    result[i + 2] =
        stated[i] ? stated[i] : shape[i + 2] * scales[i] - isShorter[i];
  }
  Type element = getElement(x);
  if (!layer.checkSize(RankedTensorType::get(result, element)))
    return {};
  // The places of each plane are counted on through all planes.
  int64_t planes = result[0] * result[1], plane = result[2] * result[3];
  SmallVector<int64_t> starts;
  for (int64_t i = 0; i < planes; ++i)
    starts.push_back(i * plane);
  int64_t each = shape[2] * shape[3];
  Value rows = layer.reshape(
      layer.castTo(places, layer.getBuilder().getI64Type()), {planes, each});
  rows = layer.createElementwise(
      "add", {rows, layer.reshape(layer.constant(starts), {planes, 1})});
  Value zeros = layer.splat(0, element, {planes * plane});
  Value y = layer.create<nn::ScatterOp>(nn::ScatterKind::replace, zeros,
                                        layer.reshape(rows, {planes * each}),
                                        layer.reshape(x, {planes * each}));
  return y ? layer.reshape(y, result) : Value();
}

} // namespace nnc::caffe
