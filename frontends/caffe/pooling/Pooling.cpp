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

/// Returns the pool of `x` by one of Caffe's methods.
static Value pool(Layer &layer, Value x, const Window &window, bool isCeil,
                  schema::PoolingParameter::PoolMethod method) {
  using Param = schema::PoolingParameter;
  if (method == Param::MAX)
    return layer.create<nn::MaxPoolOp>(x, window.kernel, window.strides,
                                       window.dilations, window.pads, isCeil);
  // Padding counts, but not what lies behind it.
  auto average = [&](Value x) -> Value {
    return layer.create<nn::AvgPoolOp>(
        x, window.kernel, window.strides, window.dilations, window.pads, isCeil,
        /*count_include_pad=*/true, /*accumulator=*/TypeAttr());
  };
  if (method == Param::AVE)
    return average(x);
  // In inference, STOCHASTIC is the mean of the window's elements, each
  // weighted by itself, or 0 if their sum is not positive.
  if (llvm::any_of(window.pads, [](int64_t pad) { return pad != 0; }))
    return layer.broken("pools by STOCHASTIC with a pad, which Caffe refuses");
  Value squares = average(layer.createElementwise("mul", {x, x}));
  Value sums = average(x);
  return layer.createElementwise(
      "select", {layer.withNumber("greater", sums, 0),
                 layer.createElementwise("div", {squares, sums}),
                 layer.splat(0, getElement(x))});
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
  if (param.pool() == schema::PoolingParameter::MAX && layer.getNumTops() > 1)
    layer.setTop(1, findPlaces(layer, x, *window, isCeil));
  return pool(layer, x, *window, isCeil, param.pool());
}

/// Converts SPP: pools of 1, 4, 16 ... windows of an image of any size, whose
/// results follow one another.
Value convertSPP(Layer &layer) {
  const schema::SPPParameter &param = layer.getParam().spp_param();
  Value x = layer.getBottom(0);
  if (!isImage(layer, x))
    return {};
  ArrayRef<int64_t> image = getShape(x).drop_front(2);
  int64_t levels = param.pyramid_height();
  if (levels < 1 || levels > 16)
    return layer.broken("has a pyramid_height of " + Twine(levels) +
                        "; nnc handles 1 to 16");
  SmallVector<Value> parts;
  for (int64_t level = 0; level < levels; ++level) {
    int64_t count = int64_t(1) << level;
    Window window;
    for (int64_t size : image) {
      int64_t extent = llvm::divideCeil(size, count);
      window.kernel.push_back(extent);
      window.pads.push_back((extent * count - size + 1) / 2);
    }
    window.strides = window.kernel;
    window.dilations = {1, 1};
    SmallVector<int64_t> before = window.pads;
    llvm::append_range(window.pads, before);
    if (!hasCaffesWindows(layer, image, window, /*isCeil=*/true))
      return {};
    Value part = pool(layer, x, window, /*isCeil=*/true, param.pool());
    if (!part || levels == 1)
      return part;
    int64_t images = getShape(x)[0];
    parts.push_back(
        layer.reshape(part, {images, getNumElements(part) / images}));
  }
  return layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(1));
}

/// Converts ROIPooling, the layer of Fast R-CNN: the largest elements in the
/// parts of regions, which the second bottom lists as an image's number and two
/// corners.
Value convertROIPooling(Layer &layer) {
  const schema::ROIPoolingParameter &param =
      layer.getParam().roi_pooling_param();
  Value x = layer.getBottom(0), regions = layer.getBottom(1);
  if (!isImage(layer, x))
    return {};
  ArrayRef<int64_t> shape = getShape(regions);
  int64_t sizes[2] = {param.pooled_h(), param.pooled_w()};
  if (shape.empty() || shape[0] < 1 ||
      getNumElements(regions) != shape[0] * 5 || sizes[0] < 1 || sizes[1] < 1 ||
      sizes[0] > kMaxDim || sizes[1] > kMaxDim)
    return layer.broken("has pooled_h " + Twine(sizes[0]) + ", pooled_w " +
                        Twine(sizes[1]) + " and regions of shape " +
                        toString(shape) +
                        "; it needs sizes of at least 1 and rows of 5 numbers");
  return layer.create<nn::MaxRoiPoolOp>(
      x, layer.reshape(regions, {shape[0], 5}), ArrayRef<int64_t>(sizes),
      APFloat(param.spatial_scale()));
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
