//===- Slicing.cpp - Concatenations and slices ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/StridedSlice.h"
#include "frontends/tflite/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns input `i`; null after an error if its scale or zero point differs
/// from the result's.
static Value onResultScale(Layer &layer, size_t i) {
  Value x = layer.getInput(i);
  Quantization in = layer.getInputQuantization(i),
               out = layer.getOutputQuantization();
  if (!isQuantized(x, in) || !out ||
      (in.scales == out.scales && in.zeroPoints == out.zeroPoints))
    return x;
  return layer.unsupported("joins integers with different scales or zero "
                           "points, which TFLite's kernels do not do");
}

Value convertConcatenation(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::ConcatenationOptions>(fb::Options::Concatenation);
  SmallVector<Value> parts;
  for (size_t i = 0; i < layer.getNumInputs(); ++i)
    parts.push_back(onResultScale(layer, i));
  if (!options || llvm::is_contained(parts, Value()))
    return {};
  auto axis = layer.normalizeAxis(options->axis(), getRank(parts[0]));
  if (!axis)
    return {};
  if (options->activation() != fb::Activation::NONE)
    return layer.unsupported("has an activation");
  return parts.size() == 1
             ? parts[0]
             : layer.create<nn::ConcatOp>(ValueRange(parts), *axis);
}

Value convertPack(Layer &layer) {
  const auto *options = layer.getOptions<fb::PackOptions>(fb::Options::Pack);
  SmallVector<Value> parts;
  for (size_t i = 0; i < layer.getNumInputs(); ++i)
    parts.push_back(onResultScale(layer, i));
  if (!options || llvm::is_contained(parts, Value()))
    return {};
  auto axis = layer.normalizeAxis(options->axis(), getRank(parts[0]) + 1);
  if (!axis)
    return {};
  for (Value &part : parts) {
    Sizes shape(getShape(part));
    if (int64_t(shape.size()) < *axis)
      return layer.broken("packs tensors of different ranks");
    shape.insert(shape.begin() + *axis, 1);
    part = layer.reshape(part, shape);
  }
  return parts.size() == 1
             ? parts[0]
             : layer.create<nn::ConcatOp>(ValueRange(parts), *axis);
}

/// Splits x along `axis` into parts with the sizes `sizes`, which become the
/// results.
static Value cut(Layer &layer, Value x, int64_t axis, ArrayRef<int64_t> sizes,
                 bool dropAxis) {
  Sizes starts(getRank(x), 0), shape(getShape(x));
  Value first;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size < 0 || starts[axis] + size > getShape(x)[axis])
      return layer.broken("cuts axis " + Twine(axis) + " of shape " +
                          toString(getShape(x)) + " into parts of " +
                          toString(sizes));
    shape[axis] = size;
    Value part = layer.slice(x, starts, shape);
    if (dropAxis && part) {
      Sizes less(shape);
      less.erase(less.begin() + axis);
      part = layer.reshape(part, less);
    }
    starts[axis] += size;
    if (i == 0)
      first = part;
    layer.setResult(i, part);
  }
  return first;
}

Value convertUnpack(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::UnpackOptions>(fb::Options::Unpack);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  auto axis = layer.normalizeAxis(options->axis(), getRank(x));
  if (!axis)
    return {};
  if (getShape(x)[*axis] != int64_t(layer.getNumResults()))
    return layer.broken("has " + Twine(layer.getNumResults()) +
                        " results for an axis of " + Twine(getShape(x)[*axis]));
  return cut(layer, x, *axis, Sizes(layer.getNumResults(), 1), true);
}

Value convertSplit(Layer &layer) {
  Value x = layer.getInput(1);
  auto axis = x ? layer.readAxis(0, getRank(x)) : std::nullopt;
  if (!axis)
    return {};
  auto parts = static_cast<int64_t>(layer.getNumResults());
  int64_t size = getShape(x)[*axis];
  if (size % parts != 0)
    return layer.broken("cuts an axis of " + Twine(size) + " into " +
                        Twine(parts) + " parts");
  return cut(layer, x, *axis, Sizes(parts, size / parts), false);
}

Value convertSplitV(Layer &layer) {
  Value x = layer.getInput(0);
  auto sizes = layer.readInts(layer.getInput(1), "sizes");
  auto axis = x ? layer.readAxis(2, getRank(x)) : std::nullopt;
  if (!axis || !sizes)
    return {};
  if (sizes->size() != layer.getNumResults())
    return layer.broken("has " + Twine(sizes->size()) + " sizes for " +
                        Twine(layer.getNumResults()) + " results");
  int64_t rest = getShape(x)[*axis];
  for (int64_t size : *sizes)
    rest -= std::max<int64_t>(size, 0);
  for (int64_t &size : *sizes)
    if (size == -1)
      size = std::exchange(rest, -1);
  return cut(layer, x, *axis, *sizes, false);
}

Value convertSlice(Layer &layer) {
  Value x = layer.getInput(0);
  auto starts = layer.readInts(layer.getInput(1), "starts");
  auto sizes = layer.readInts(layer.getInput(2), "sizes");
  if (!starts || !sizes || !x)
    return {};
  if (int64_t(starts->size()) != getRank(x) || sizes->size() != starts->size())
    return layer.broken("has " + Twine(starts->size()) + " starts and " +
                        Twine(sizes->size()) + " sizes for " +
                        Twine(getRank(x)) + " axes");
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    int64_t whole = getShape(x)[i], start = (*starts)[i];
    size = size == -1 ? whole - start : size;
    if (start < 0 || size < 0 || start > whole || size > whole - start)
      return layer.broken("takes " + Twine(size) + " elements from " +
                          Twine(start) + " on of an axis of " + Twine(whole));
  }
  return keepScale(layer, layer.slice(x, *starts, *sizes));
}

Value convertStridedSlice(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::StridedSliceOptions>(fb::Options::StridedSlice);
  Value x = layer.getInput(0);
  auto begins = layer.readInts(layer.getInput(1), "begins");
  auto ends = layer.readInts(layer.getInput(2), "ends");
  auto strides = layer.readInts(layer.getInput(3), "strides");
  if (!options || !x || !begins || !ends || !strides)
    return {};
  StridedSlice slice = {*begins, *ends, *strides};
  slice.beginMask = options->begin_mask();
  slice.endMask = options->end_mask();
  slice.ellipsisMask = options->ellipsis_mask();
  slice.newAxisMask = options->new_axis_mask();
  slice.shrinkMask = options->shrink_axis_mask();
  slice.endsAreSizes = options->offset();
  slice.masksIndices = true;
  auto places = resolveSlice(layer, getShape(x), slice);
  if (!places)
    return {};
  return layer.reshape(
      layer.slice(x, places->starts, places->sizes, places->steps),
      places->shape);
}

} // namespace nnc::tflite
