//===- DeformConv.cpp - Convolutions whose taps are moved -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/DeformConv.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// Returns a vector of reals along `axis` of a tensor of rank `rank`.
static Value makeAlong(LayerBuilder &layer, ArrayRef<double> values,
                       Type element, int64_t axis, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = values.size();
  auto type = RankedTensorType::get(shape, layer.getBuilder().getF64Type());
  return layer.castTo(
      layer.constant(makeAttribute({type, {}, llvm::to_vector(values)})),
      element);
}

/// Returns the positions of the taps of all windows along axis `axis` of the
/// image in GridSample's coordinates, in which an image ranges from -1 to 1.
/// `offsets` is [batch and groups, taps..., windows...], in elements.
static Value locateTaps(LayerBuilder &layer, Value offsets,
                        const Window &window, size_t axis, int64_t size) {
  size_t axes = window.getAxes();
  int64_t rank = getRank(offsets);
  Type element = getElement(offsets);
  double scale = 2.0 / static_cast<double>(size);
  SmallVector<double> taps, windows;
  for (int64_t tap = 0; tap < window.kernel[axis]; ++tap)
    taps.push_back(static_cast<double>(tap * window.dilations[axis]) * scale);
  for (int64_t i = 0; i < getShape(offsets)[1 + axes + axis]; ++i)
    windows.push_back(
        (static_cast<double>(i * window.strides[axis] - window.pads[axis]) +
         0.5) *
            scale -
        1);
  Value place =
      layer.createElementwise("mul", {offsets, layer.splat(scale, element)});
  place = layer.createElementwise(
      "add", {place, makeAlong(layer, taps, element, 1 + axis, rank)});
  return layer.createElementwise(
      "add",
      {place, makeAlong(layer, windows, element, 1 + axes + axis, rank)});
}

/// Returns 1 where taps are within the image along axis `axis`, and 0
/// elsewhere. `offsets` is as in locateTaps().
static Value findInside(LayerBuilder &layer, Value offsets,
                        const Window &window, size_t axis, int64_t size) {
  size_t axes = window.getAxes();
  int64_t rank = getRank(offsets);
  Type element = getElement(offsets);
  SmallVector<double> taps, windows;
  for (int64_t tap = 0; tap < window.kernel[axis]; ++tap)
    taps.push_back(static_cast<double>(tap * window.dilations[axis]));
  for (int64_t i = 0; i < getShape(offsets)[1 + axes + axis]; ++i)
    windows.push_back(
        static_cast<double>(i * window.strides[axis] - window.pads[axis]));
  auto apply = [&](StringRef op, Value a, Value b) {
    return layer.createElementwise(op, {a, b});
  };
  Value place =
      apply("add", offsets, makeAlong(layer, taps, element, 1 + axis, rank));
  place = apply("add", place,
                makeAlong(layer, windows, element, 1 + axes + axis, rank));
  Value isInside = apply(
      "logical_and", apply("greater_equal", place, layer.splat(0, element)),
      apply("less", place, layer.splat(static_cast<double>(size), element)));
  return layer.castTo(isInside, element);
}

/// The image is sampled at all taps of all windows, and the samples, as
/// columns, are multiplied with the filters.
Value nnc::frontends::convolveDeformed(LayerBuilder &layer,
                                       const DeformConv &conv) {
  const Window &window = conv.window;
  Value x = conv.x, w = conv.w, offsets = conv.offsets, mask = conv.mask;
  int64_t axes = getRank(x) - 2, groups = conv.groups, parts = conv.parts;
  SmallVector<int64_t> image(getShape(x).drop_front(2)), places;
  for (int64_t i = 0; i < axes; ++i) {
    int64_t room =
        image[i] + window.pads[i] + window.pads[axes + i] - window.getExtent(i);
    if (room < 0)
      return layer.broken("has a kernel that is larger than its padded input");
    places.push_back(room / window.strides[i] + 1);
  }
  int64_t batch = getShape(x)[0], channels = getShape(x)[1],
          filters = getShape(w)[0], taps = product(window.kernel),
          count = product(places);
  auto getWanted = [&](int64_t numbers) {
    SmallVector<int64_t> shape = {batch, parts * taps * numbers};
    llvm::append_range(shape, places);
    return shape;
  };
  bool fits = groups > 0 && parts > 0 && channels % parts == 0 &&
              filters % groups == 0 && getShape(w)[1] * groups == channels &&
              getShape(offsets) == ArrayRef<int64_t>(getWanted(axes)) &&
              (!mask || getShape(mask) == ArrayRef<int64_t>(getWanted(1)));
  if (!fits)
    return layer.broken("has a weight of shape " + toString(getShape(w)) +
                        " and offsets of shape " + toString(getShape(offsets)) +
                        " for an image of shape " + toString(getShape(x)));

  // [n * parts, taps, axes, places...] to one grid, its last axis first.
  SmallVector<int64_t> shape = {batch * parts, taps, axes, count};
  offsets = layer.reshape(offsets, shape);
  SmallVector<Value> coordinates;
  Value inside; // where a tap is within the image
  for (int64_t axis = axes; axis-- > 0;) {
    SmallVector<int64_t> starts = {0, 0, axis, 0}, steps = {1, 1, 1, 1};
    shape[2] = 1;
    Value own = layer.create<nn::SliceOp>(offsets, starts, shape, steps);
    SmallVector<int64_t> all = {batch * parts};
    llvm::append_range(all, window.kernel);
    llvm::append_range(all, places);
    Value place =
        locateTaps(layer, layer.reshape(own, all), window, axis, image[axis]);
    coordinates.push_back(
        layer.reshape(place, {batch * parts, taps * count, 1}));
    if (!conv.hasSharpEdges)
      continue;
    Value isIn =
        findInside(layer, layer.reshape(own, all), window, axis, image[axis]);
    inside = inside ? layer.createElementwise("mul", {inside, isIn}) : isIn;
  }
  Value grid = layer.create<nn::ConcatOp>(ValueRange(coordinates), int64_t(2));
  SmallVector<int64_t> gridShape(axes + 2, 1);
  gridShape[0] = batch * parts;
  gridShape[axes - 1] = taps;
  gridShape[axes] = count;
  gridShape[axes + 1] = axes;
  SmallVector<int64_t> parted = {batch * parts, channels / parts};
  llvm::append_range(parted, image);
  Value samples = layer.create<nn::GridSampleOp>(
      nn::SampleMode::linear,
      conv.hasSharpEdges ? nn::SamplePadding::border : nn::SamplePadding::zeros,
      layer.reshape(x, parted), layer.reshape(grid, gridShape),
      /*align_corners=*/false);
  samples =
      layer.reshape(samples, {batch * parts, channels / parts, taps * count});
  for (Value factor : {inside, mask})
    if (factor)
      samples = layer.createElementwise(
          "mul",
          {samples, layer.reshape(factor, {batch * parts, 1, taps * count})});
  int64_t depth = channels / groups * taps;
  Value y = layer.create<nn::MatMulOp>(
      layer.reshape(w, {1, groups, filters / groups, depth}),
      layer.reshape(samples, {batch, groups, depth, count}), false, false,
      TypeAttr());
  SmallVector<int64_t> result = {batch, filters};
  llvm::append_range(result, places);
  y = layer.reshape(y, result);
  if (!conv.bias || !y)
    return y;
  if (getShape(conv.bias) != ArrayRef<int64_t>(filters))
    return layer.broken("needs a bias of " + Twine(filters) +
                        " elements, not one of shape " +
                        toString(getShape(conv.bias)));
  SmallVector<int64_t> column(axes + 2, 1);
  column[1] = filters;
  return layer.createElementwise("add", {y, layer.reshape(conv.bias, column)});
}
