//===- Moves.cpp - Layers that move elements ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::caffe {

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value convertConcat(Layer &layer) {
  const schema::ConcatParameter &param = layer.getParam().concat_param();
  int64_t stated = param.has_concat_dim() ? int64_t(param.concat_dim())
                                          : int64_t(param.axis());
  Value first = layer.getBottom(0);
  auto axis = layer.normalizeAxis(stated, getRank(first));
  if (!axis)
    return {};
  for (Value x : layer.getBottoms()) {
    SmallVector<int64_t> shape(getShape(x)), wanted(getShape(first));
    bool fits = shape.size() == wanted.size();
    if (fits)
      shape[*axis] = wanted[*axis];
    if (!fits || shape != wanted)
      return layer.broken("has bottoms of shapes " + toString(getShape(first)) +
                          " and " + toString(getShape(x)) +
                          ", which may differ along axis " + Twine(*axis) +
                          " alone");
  }
  if (layer.getNumBottoms() == 1)
    return first;
  return layer.create<nn::ConcatOp>(ValueRange(layer.getBottoms()), *axis);
}

/// Converts Slice: one part of the axis for each top, at the given points or of
/// equal sizes.
Value convertSlice(Layer &layer) {
  const schema::SliceParameter &param = layer.getParam().slice_param();
  Value x = layer.getBottom(0);
  auto axis =
      layer.normalizeAxis(param.has_slice_dim() ? int64_t(param.slice_dim())
                                                : int64_t(param.axis()),
                          getRank(x));
  if (!axis)
    return {};
  int64_t size = getShape(x)[*axis], tops = layer.getNumTops();
  SmallVector<int64_t> points(param.slice_point().begin(),
                              param.slice_point().end());
  if (points.empty() && size % tops == 0)
    for (int64_t i = 1; i < tops; ++i)
      points.push_back(i * (size / tops));
  if (int64_t(points.size()) != tops - 1)
    return layer.broken("has " + Twine(points.size()) + " slice points and " +
                        Twine(tops) + " tops for an axis of " + Twine(size) +
                        " elements");
  points.insert(points.begin(), 0);
  points.push_back(size);
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x));
  for (int64_t i = 0; i < tops; ++i) {
    if (points[i] >= points[i + 1])
      return layer.broken("has slice points " + toString(points) +
                          ", which have to ascend");
    starts[*axis] = points[i];
    sizes[*axis] = points[i + 1] - points[i];
    layer.setTop(i, tops == 1 ? x : layer.slice(x, starts, sizes));
  }
  return layer.getTop(0);
}

Value convertSplit(Layer &layer) {
  for (size_t i = 0; i < layer.getNumTops(); ++i)
    layer.setTop(i, layer.getBottom(0));
  return layer.getBottom(0);
}

/// Converts Silence, which keeps its bottoms from becoming outputs.
Value convertSilence(Layer &) { return {}; }

/// Converts Crop: the part of the first bottom that has the sizes of the second
/// from an axis on.
Value convertCrop(Layer &layer) {
  const schema::CropParameter &param = layer.getParam().crop_param();
  Value x = layer.getBottom(0), like = layer.getBottom(1);
  auto axis = layer.normalizeAxis(param.axis(), getRank(x));
  if (!axis)
    return {};
  int64_t axes = getRank(x) - *axis, offsets = param.offset_size();
  if (getRank(like) != getRank(x) || (offsets > 1 && offsets != axes))
    return layer.broken(
        "has " + Twine(offsets) + " offsets and bottoms of shapes " +
        toString(getShape(x)) + " and " + toString(getShape(like)));
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x));
  for (int64_t i = 0; i < axes; ++i) {
    int64_t &start = starts[*axis + i];
    start = offsets == 0 ? 0 : param.offset(offsets == 1 ? 0 : int(i));
    sizes[*axis + i] = getShape(like)[*axis + i];
    if (start + sizes[*axis + i] > getShape(x)[*axis + i])
      return layer.broken("crops " + toString(getShape(x)) + " to " +
                          toString(getShape(like)) + " from offset " +
                          Twine(start) + " on, beyond the end of axis " +
                          Twine(*axis + i));
  }
  return layer.slice(x, starts, sizes);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value convertFlatten(Layer &layer) {
  const schema::FlattenParameter &param = layer.getParam().flatten_param();
  Value x = layer.getBottom(0);
  auto first = layer.normalizeAxis(param.axis(), getRank(x)),
       last = layer.normalizeAxis(param.end_axis(), getRank(x));
  if (!first || !last)
    return {};
  if (*first > *last)
    return layer.broken("flattens from axis " + Twine(*first) + " to axis " +
                        Twine(*last));
  ArrayRef<int64_t> old = getShape(x);
  SmallVector<int64_t> shape(old.take_front(*first));
  shape.push_back(product(old.slice(*first, *last - *first + 1)));
  llvm::append_range(shape, old.drop_front(*last + 1));
  return layer.reshape(x, shape);
}

/// Converts Reshape of some axes: a size of 0 is that of the bottom, and one of
/// -1 follows from the others.
Value convertReshape(Layer &layer) {
  const schema::ReshapeParameter &param = layer.getParam().reshape_param();
  Value x = layer.getBottom(0);
  ArrayRef<int64_t> old = getShape(x);
  int64_t rank = getRank(x), count = param.num_axes();
  // Negative axes count from behind the last one.
  int64_t first = param.axis() < 0 ? param.axis() + rank + 1 : param.axis();
  if (first < 0 || first > rank || count < -1 ||
      (count >= 0 && first + count > rank))
    return layer.broken("has axis " + Twine(param.axis()) + " and num_axes " +
                        Twine(count) + " for a bottom of shape " +
                        toString(old));
  ArrayRef<int64_t> changed =
      old.slice(first, count < 0 ? rank - first : count);
  SmallVector<int64_t> sizes;
  int64_t inferred = -1, known = 1;
  for (int64_t size : param.shape().dim()) {
    size_t i = sizes.size();
    bool isKept = size == 0 && i < changed.size();
    bool isFirstInferred = size == -1 && inferred < 0;
    if (isKept)
      size = changed[i];
    if (isFirstInferred)
      inferred = i;
    if ((size <= 0 && !isKept && !isFirstInferred) || i >= size_t(kMaxRank) ||
        (!isFirstInferred && llvm::MulOverflow(known, size, known)))
      return layer.broken(
          "has the shape " +
          toString(SmallVector<int64_t>(param.shape().dim().begin(),
                                        param.shape().dim().end())) +
          " for axes of sizes " + toString(changed));
    sizes.push_back(size);
  }
  int64_t elements = product(changed);
  if (inferred >= 0 && known > 0)
    sizes[inferred] = elements / known;
  if (product(sizes) != elements || (inferred >= 0 && known == 0))
    return layer.broken("gives axes of sizes " + toString(changed) +
                        " the sizes " + toString(sizes) +
                        ", which have another number of elements");
  SmallVector<int64_t> shape(old.take_front(first));
  llvm::append_range(shape, sizes);
  llvm::append_range(shape, old.drop_front(first + changed.size()));
  if (int64_t(shape.size()) > kMaxRank)
    return layer.unsupported("has a top of " + Twine(shape.size()) +
                             " axes; nnc handles " + Twine(kMaxRank));
  return layer.reshape(x, shape);
}

/// Converts Permute of SSD; axes that `order` lacks follow in their own order.
Value convertPermute(Layer &layer) {
  Value x = layer.getBottom(0);
  SmallVector<int64_t> order;
  auto add = [&](int64_t axis) { order.push_back(axis); };
  for (uint32_t axis : layer.getParam().permute_param().order()) {
    if (axis >= getRank(x) || llvm::is_contained(order, int64_t(axis)))
      return layer.broken("has axis " + Twine(axis) +
                          " in its order for a bottom of shape " +
                          toString(getShape(x)) + ", or has it twice");
    add(axis);
  }
  for (int64_t axis = 0; axis < getRank(x); ++axis)
    if (!llvm::is_contained(order, axis))
      add(axis);
  return layer.transpose(x, order);
}

/// Converts ShuffleChannel of forks: channels of all groups in turn.
Value convertShuffleChannel(Layer &layer) {
  Value x = layer.getBottom(0);
  int64_t groups = layer.getParam().shuffle_channel_param().group();
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups)
    return layer.broken("has " + Twine(groups) +
                        " groups for a bottom of shape " + toString(shape));
  Value y = layer.reshape(
      x, {shape[0], groups, shape[1] / groups, product(shape.drop_front(2))});
  y = layer.transpose(y, {0, 2, 1, 3});
  return y ? layer.reshape(y, getShape(x)) : Value();
}

/// Converts Reorg of forks for YOLO, which takes its bottom for an image with
/// channels / stride^2 channels, and each pixel of a block of stride x stride
/// of that image for a channel; with `reverse` the other way round.
Value convertReorg(Layer &layer) {
  const schema::ReorgParameter &param = layer.getParam().reorg_param();
  Value x = layer.getBottom(0);
  ArrayRef<int64_t> shape = getShape(x);
  int64_t s = param.stride();
  bool fits = shape.size() == 4 && s >= 1 && s <= 1 << 15;
  if (!fits || shape[1] % (s * s) != 0 ||
      (!param.reverse() && (shape[2] % s != 0 || shape[3] % s != 0)))
    return layer.broken("has a stride of " + Twine(s) +
                        " for a bottom of shape " + toString(shape));
  int64_t n = shape[0], c = shape[1] / (s * s), h = shape[2], w = shape[3];
  if (param.reverse()) {
    Value y = layer.transpose(layer.reshape(x, {n, s, s, c, h, w}),
                              {0, 3, 4, 1, 5, 2});
    return layer.reshape(y, {n, c, h * s, w * s});
  }
  Value y =
      layer.transpose(layer.reshape(x, {n, c, h, s, w, s}), {0, 3, 5, 1, 2, 4});
  return layer.reshape(y, {n, shape[1] * s * s, h / s, w / s});
}

Value convertTile(Layer &layer) {
  const schema::TileParameter &param = layer.getParam().tile_param();
  Value x = layer.getBottom(0);
  auto axis = layer.normalizeAxis(param.axis(), getRank(x));
  if (!axis)
    return {};
  int64_t tiles = param.tiles();
  SmallVector<int64_t> shape(getShape(x));
  int64_t behind = product(ArrayRef(shape).drop_front(*axis)),
          before = product(ArrayRef(shape).take_front(*axis));
  if (tiles < 1 || llvm::MulOverflow(shape[*axis], tiles, shape[*axis]))
    return layer.broken("has " + Twine(tiles) + " tiles");
  if (!layer.checkSize(RankedTensorType::get(shape, getElement(x))))
    return {};
  Value y = layer.expand(layer.reshape(x, {before, 1, behind}),
                         {before, tiles, behind});
  return y ? layer.reshape(y, shape) : Value();
}

/// Converts Parameter, a learned tensor.
Value convertParameter(Layer &layer) {
  const schema::BlobShape &stated = layer.getParam().parameter_param().shape();
  SmallVector<int64_t> shape(stated.dim().begin(), stated.dim().end());
  for (int64_t size : shape)
    if (size < 0)
      return layer.broken("has the shape " + toString(shape));
  return layer.getBlob(0, shape, "values");
}

} // namespace nnc::caffe
