//===- Slicing.cpp - Concatenations and slices ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

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

namespace {
/// The elements that a strided slice takes along one axis.
struct AxisSlice {
  int64_t start, count, step;
};
} // namespace

/// Returns the elements that begin, end and step select on an axis of `size`
/// elements.
static AxisSlice resolve(int64_t size, std::optional<int64_t> begin,
                         std::optional<int64_t> end, int64_t step) {
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto clamp = [&](int64_t place) {
    return std::clamp(place < 0 ? place + size : place, low, high);
  };
  int64_t first = begin ? clamp(*begin) : step > 0 ? 0 : size - 1;
  int64_t last = end ? clamp(*end) : step > 0 ? size : -1;
  int64_t span = step > 0 ? last - first : first - last;
  return {first,
          span > 0
              ? static_cast<int64_t>(llvm::divideCeil(span, std::abs(step)))
              : 0,
          step};
}

Value convertStridedSlice(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::StridedSliceOptions>(fb::Options::StridedSlice);
  Value x = layer.getInput(0);
  auto begins = layer.readInts(layer.getInput(1), "begins");
  auto ends = layer.readInts(layer.getInput(2), "ends");
  auto steps = layer.readInts(layer.getInput(3), "strides");
  if (!options || !x || !begins || !ends || !steps)
    return {};
  size_t entries = begins->size();
  if (ends->size() != entries || steps->size() != entries || entries > 32)
    return layer.broken("has begins, ends and strides of different lengths");
  auto has = [](int32_t mask, size_t bit) { return (mask >> bit & 1) != 0; };
  Sizes starts, sizes, strides, shape;
  int64_t rank = getRank(x), news = 0;
  for (size_t i = 0; i < entries; ++i)
    news += has(options->new_axis_mask(), i);
  int64_t hidden = rank - (int64_t(entries) - news);
  auto take = [&](AxisSlice part, bool isKept) {
    starts.push_back(part.start);
    sizes.push_back(part.count);
    strides.push_back(part.step);
    if (isKept)
      shape.push_back(part.count);
  };
  auto takeWhole = [&] { take({0, getShape(x)[starts.size()], 1}, true); };
  for (size_t i = 0; i < entries; ++i) {
    if (has(options->ellipsis_mask(), i)) {
      for (int64_t n = hidden + 1; n > 0 && int64_t(starts.size()) < rank; --n)
        takeWhole();
      continue;
    }
    if (has(options->new_axis_mask(), i)) {
      shape.push_back(1);
      continue;
    }
    if (int64_t(starts.size()) == rank || (*steps)[i] == 0)
      return layer.broken("slices axes that are not there, or with a stride "
                          "of 0");
    int64_t size = getShape(x)[starts.size()], begin = (*begins)[i],
            end = (*ends)[i], step = (*steps)[i];
    if (options->offset())
      end += begin;
    if (has(options->shrink_axis_mask(), i)) {
      int64_t place = begin < 0 ? begin + size : begin;
      if (place < 0 || place >= size)
        return layer.broken("takes element " + Twine(begin) +
                            " of an axis of " + Twine(size));
      take({place, 1, 1}, false);
      continue;
    }
    auto unless = [&](int32_t mask, int64_t place) {
      return has(mask, i) ? std::nullopt : std::optional<int64_t>(place);
    };
    take(resolve(size, unless(options->begin_mask(), begin),
                 unless(options->end_mask(), end), step),
         true);
  }
  while (int64_t(starts.size()) < rank)
    takeWhole();
  return layer.reshape(layer.slice(x, starts, sizes, strides), shape);
}

} // namespace nnc::tflite
