//===- DeformConv.cpp - DeformConv ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/convolution/SlidingWindow.h"
#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns a vector of reals along `axis` of a tensor of rank `rank`.
static Value makeAlong(Node &node, ArrayRef<double> values, Type element,
                       int64_t axis, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = values.size();
  auto type = RankedTensorType::get(shape, node.getBuilder().getF64Type());
  return node.castTo(
      node.constant(makeAttribute({type, {}, llvm::to_vector(values)})),
      element);
}

/// Returns the positions of the taps of all windows along axis `axis` of the
/// image in GridSample's coordinates, in which an image ranges from -1 to 1.
/// `offsets` is [batch and groups, taps..., windows...], in elements.
static Value locateTaps(Node &node, Value offsets, const Window &window,
                        size_t axis, int64_t size) {
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
      node.createElementwise("mul", {offsets, node.splat(scale, element)});
  place = node.createElementwise(
      "add", {place, makeAlong(node, taps, element, 1 + axis, rank)});
  return node.createElementwise(
      "add", {place, makeAlong(node, windows, element, 1 + axes + axis, rank)});
}

/// Converts DeformConv: the image is sampled at all taps of all windows, and
/// the samples, as columns, are multiplied with the filters.
Value convertDeformConv(Node &node) {
  Value x = node.getOperand(0), w = node.getOperand(1),
        offsets = node.getOperand(2), bias = node.getOperand(3),
        mask = node.getOperand(4);
  int64_t axes = getRank(x) - 2, groups = node.getInt("group", 1),
          parts = node.getInt("offset_group", 1);
  if (axes < 2 || axes > 3)
    return node.unsupported("works along " + Twine(axes) +
                            " spatial axes; nnc handles 2 and 3");
  auto kernel = getKernel(node, x, w);
  auto window = kernel ? readWindow(node, *kernel) : std::nullopt;
  if (!window)
    return {};
  SmallVector<int64_t> image(getShape(x).drop_front(2)), places;
  for (int64_t i = 0; i < axes; ++i) {
    int64_t room = image[i] + window->pads[i] + window->pads[axes + i] -
                   window->getExtent(i);
    if (room < 0)
      return node.broken("has a kernel that is larger than its padded input");
    places.push_back(room / window->strides[i] + 1);
  }
  int64_t batch = getShape(x)[0], channels = getShape(x)[1],
          filters = getShape(w)[0], taps = product(*kernel),
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
    return node.broken("has a weight of shape " + toString(getShape(w)) +
                       " and offsets of shape " + toString(getShape(offsets)) +
                       " for an image of shape " + toString(getShape(x)));

  // [n * parts, taps, axes, places...] to one grid, its last axis first.
  SmallVector<int64_t> shape = {batch * parts, taps, axes, count};
  offsets = node.reshape(offsets, shape);
  SmallVector<Value> coordinates;
  for (int64_t axis = axes; axis-- > 0;) {
    SmallVector<int64_t> starts = {0, 0, axis, 0}, steps = {1, 1, 1, 1};
    shape[2] = 1;
    Value own = node.create<nn::SliceOp>(offsets, starts, shape, steps);
    SmallVector<int64_t> all = {batch * parts};
    llvm::append_range(all, *kernel);
    llvm::append_range(all, places);
    Value place =
        locateTaps(node, node.reshape(own, all), *window, axis, image[axis]);
    coordinates.push_back(
        node.reshape(place, {batch * parts, taps * count, 1}));
  }
  Value grid = node.create<nn::ConcatOp>(ValueRange(coordinates), int64_t(2));
  SmallVector<int64_t> gridShape(axes + 2, 1);
  gridShape[0] = batch * parts;
  gridShape[axes - 1] = taps;
  gridShape[axes] = count;
  gridShape[axes + 1] = axes;
  SmallVector<int64_t> parted = {batch * parts, channels / parts};
  llvm::append_range(parted, image);
  Value samples = node.create<nn::GridSampleOp>(
      nn::SampleMode::linear, nn::SamplePadding::zeros, node.reshape(x, parted),
      node.reshape(grid, gridShape), /*align_corners=*/false);
  samples =
      node.reshape(samples, {batch * parts, channels / parts, taps * count});
  if (mask)
    samples = node.createElementwise(
        "mul", {samples, node.reshape(mask, {batch * parts, 1, taps * count})});
  int64_t depth = channels / groups * taps;
  Value y = node.create<nn::MatMulOp>(
      node.reshape(w, {1, groups, filters / groups, depth}),
      node.reshape(samples, {batch, groups, depth, count}), false, false,
      TypeAttr());
  SmallVector<int64_t> result = {batch, filters};
  llvm::append_range(result, places);
  y = node.reshape(y, result);
  if (!bias || !y)
    return y;
  if (getShape(bias) != ArrayRef<int64_t>(filters))
    return node.broken("needs a bias of " + Twine(filters) +
                       " elements, not one of shape " +
                       toString(getShape(bias)));
  SmallVector<int64_t> column(axes + 2, 1);
  column[1] = filters;
  return node.createElementwise("add", {y, node.reshape(bias, column)});
}

} // namespace nnc::onnx
