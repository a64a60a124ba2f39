//===- Slicing.cpp - Joins, parts, padding --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/common/ReverseSequence.h"
#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

/// Returns the place of an axis of an image of `rank` axes with the channels
/// last in the order with the channels second.
static int64_t getImageAxis(int64_t axis, int64_t rank) {
  return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1;
}

Value join(Layer &layer, ArrayRef<Value> parts, int64_t axis) {
  if (parts.empty() || llvm::is_contained(parts, Value()))
    return {};
  if (parts.size() == 1)
    return parts[0];
  SmallVector<Value> images;
  for (Value part : parts)
    images.push_back(Layer::getChannelsFirst(part));
  if (!llvm::is_contained(images, Value()) &&
      llvm::all_of(images,
                   [&](Value x) { return getRank(x) == getRank(images[0]); }))
    return layer.toChannelsLast(layer.create<nn::ConcatOp>(
        ValueRange(images), getImageAxis(axis, getRank(images[0]))));
  return layer.create<nn::ConcatOp>(ValueRange(parts), axis);
}

/// Joins `count` inputs from `first` on along the axis in input `axisInput`.
static Value concatenate(Layer &layer, size_t first, size_t count,
                         size_t axisInput) {
  SmallVector<Value> parts = layer.getTensors(first, count);
  if (parts.empty())
    return {};
  auto axis = layer.readAxis(axisInput, getRank(parts[0]));
  if (!axis)
    return {};
  if (Value filled = fillUp(layer, parts, *axis))
    return filled;
  // Empty vectors of shapes are often joined with others.
  bool hasOthers =
      llvm::any_of(parts, [](Value part) { return getNumElements(part) > 0; });
  if (hasOthers)
    llvm::erase_if(parts, [&](Value part) {
      return getNumElements(part) == 0 && layer.dropsEmpty(part);
    });
  return join(layer, parts, *axis);
}

Value convertConcat(Layer &layer) {
  return concatenate(layer, 1, layer.getNumInputs() - 1, 0);
}

Value convertConcatV2(Layer &layer) {
  size_t count = layer.getNumInputs() - 1;
  return concatenate(layer, 0, count, count);
}

Value convertPack(Layer &layer) {
  SmallVector<Value> parts = layer.getTensors(0, layer.getNumInputs());
  if (parts.empty())
    return {};
  auto axis = layer.normalizeAxis(layer.getInt("axis"), getRank(parts[0]) + 1);
  if (!axis)
    return {};
  for (Value &part : parts) {
    Sizes shape(getShape(part));
    if (getShape(part) != getShape(layer.getInput(0)))
      return layer.broken("packs tensors of different shapes");
    shape.insert(shape.begin() + *axis, 1);
    part = layer.reshape(part, shape);
  }
  return join(layer, parts, *axis);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Splits x along `axis` into parts with the sizes `sizes`, which become the
/// results.
static Value cut(Layer &layer, Value x, int64_t axis, ArrayRef<int64_t> sizes,
                 bool dropAxis) {
  Value image = dropAxis ? Value() : Layer::getChannelsFirst(x);
  Value from = image ? image : x;
  int64_t place = image ? getImageAxis(axis, getRank(x)) : axis;
  Sizes starts(getRank(from), 0), shape(getShape(from));
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size < 0 || size > getShape(from)[place] - starts[place])
      return layer.broken("cuts axis " + Twine(axis) + " of shape " +
                          toString(getShape(x)) + " into parts of " +
                          toString(sizes));
    shape[place] = size;
    Value part = layer.slice(from, starts, shape);
    if (dropAxis && part) {
      Sizes less(shape);
      less.erase(less.begin() + axis);
      part = layer.reshape(part, less);
    }
    starts[place] += size;
    layer.setResult(i, image ? layer.toChannelsLast(part) : part);
  }
  return {};
}

Value convertUnpack(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  auto axis = layer.normalizeAxis(layer.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  int64_t count = layer.getInt("num");
  if (getShape(x)[*axis] != count)
    return layer.broken("has " + Twine(count) + " results for an axis of " +
                        Twine(getShape(x)[*axis]));
  return cut(layer, x, *axis, Sizes(count, 1), true);
}

Value convertSplit(Layer &layer) {
  Value x = layer.getInput(1);
  auto axis = x ? layer.readAxis(0, getRank(x)) : std::nullopt;
  if (!axis)
    return {};
  int64_t parts = layer.getInt("num_split"), size = getShape(x)[*axis];
  if (parts < 1 || parts > std::max<int64_t>(size, 1) || size % parts != 0)
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
  int64_t rest = getShape(x)[*axis];
  for (int64_t size : *sizes) {
    if (size > rest)
      return layer.broken("cuts an axis of " + Twine(getShape(x)[*axis]) +
                          " into parts of " + toString(*sizes));
    rest -= std::max<int64_t>(size, 0);
  }
  for (int64_t &size : *sizes)
    if (size == -1)
      size = std::exchange(rest, -1);
  return cut(layer, x, *axis, *sizes, false);
}

Value convertSlice(Layer &layer) {
  Value x = layer.getInput(0), begin = layer.getInput(1);
  auto sizes = layer.readInts(layer.getInput(2), "sizes");
  if (!sizes || !x || !begin)
    return {};
  auto starts = readElements(begin);
  if (!starts)
    return takeAt(layer, x, begin, *sizes);
  if (int64_t(starts->ints.size()) != getRank(x) ||
      int64_t(sizes->size()) != getRank(x))
    return layer.broken("has " + Twine(starts->ints.size()) + " starts and " +
                        Twine(sizes->size()) + " sizes for " +
                        Twine(getRank(x)) + " axes");
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    int64_t whole = getShape(x)[i], start = starts->ints[i];
    size = size == -1 ? whole - start : size;
    if (start < 0 || size < 0 || start > whole || size > whole - start)
      return layer.broken("takes " + Twine(size) + " elements from " +
                          Twine(start) + " on of an axis of " + Twine(whole));
  }
  return layer.slice(x, starts->ints, *sizes);
}

StridedSlice readSliceMasks(Layer &layer) {
  StridedSlice slice;
  slice.beginMask = layer.getInt("begin_mask");
  slice.endMask = layer.getInt("end_mask");
  slice.ellipsisMask = layer.getInt("ellipsis_mask");
  slice.newAxisMask = layer.getInt("new_axis_mask");
  slice.shrinkMask = layer.getInt("shrink_axis_mask");
  return slice;
}

Value convertStridedSlice(Layer &layer) {
  bool isComplex = layer.getPassed(0).kind == Passed::complex;
  Value x = isComplex ? layer.getPassed(0).value : layer.getInput(0),
        begin = layer.getInput(1);
  if (!x || !begin)
    return {};
  StridedSlice slice = readSliceMasks(layer);
  // x[i], where the network computes i.
  if (!readElements(begin) && getNumElements(begin) == 1 &&
      slice.shrinkMask == 1 && getRank(x) > 0)
    return layer.create<nn::GatherOp>(x, layer.reshape(begin, {}), int64_t(0));
  auto begins = layer.readInts(begin, "begins");
  auto ends = layer.readInts(layer.getInput(2), "ends");
  auto strides = layer.readInts(layer.getInput(3), "strides");
  if (!begins || !ends || !strides)
    return {};
  slice.begins = *begins;
  slice.ends = *ends;
  slice.strides = *strides;
  // The axis of real and imaginary parts is none of the model's.
  auto places = resolveSlice(layer, getShape(x).drop_back(isComplex), slice);
  if (!places)
    return {};
  if (isComplex) {
    places->starts.push_back(0);
    places->steps.push_back(1);
    for (Sizes *sizes : {&places->sizes, &places->shape})
      sizes->push_back(getShape(x).back());
  }
  bool isWhole = places->areAll(getShape(x));
  // A part of an image stays in front of the transpose to channels last.
  Value image = Layer::getChannelsFirst(x);
  if (image && !isWhole && places->shape == places->sizes) {
    for (Sizes *list : {&places->starts, &places->sizes, &places->steps})
      list->insert(list->begin() + 1, list->pop_back_val());
    return layer.toChannelsLast(
        layer.slice(image, places->starts, places->sizes, places->steps));
  }
  if (!isWhole)
    x = layer.slice(x, places->starts, places->sizes, places->steps);
  Value y = layer.reshape(x, places->shape);
  if (!isComplex || !y)
    return y;
  layer.setPassed(0, {Passed::complex, y});
  return {};
}

Value convertReverse(Layer &layer) {
  Value x = layer.getInput(0), second = layer.getInput(1);
  if (!x || !second)
    return {};
  std::optional<Sizes> axes = Sizes();
  if (getElement(second).isInteger(1)) { // Reverse has a bool for each axis.
    auto known = readElements(second);
    if (!known)
      return layer.needsKnown(second, "axes");
    for (auto [axis, isReversed] : llvm::enumerate(known->ints))
      if (isReversed)
        axes->push_back(int64_t(axis));
  } else {
    axes = layer.readInts(second, "axes");
  }
  if (!axes || !layer.normalizeAxes(*axes, getRank(x)))
    return {};
  Sizes starts(getRank(x), 0), steps(getRank(x), 1);
  for (int64_t axis : *axes) {
    starts[axis] = std::max<int64_t>(getShape(x)[axis] - 1, 0);
    steps[axis] = -1;
  }
  return layer.slice(x, starts, getShape(x), steps);
}

Value convertReverseSequence(Layer &layer) {
  SmallVector<Value> given = layer.getTensors(0, 2);
  if (given.empty())
    return {};
  return reverseSequence(layer, given[0], given[1], layer.getInt("seq_dim"),
                         layer.getInt("batch_dim"));
}

/// Converts Roll: each axis is cut in two parts, which change places.
Value convertRoll(Layer &layer) {
  Value x = layer.getInput(0);
  auto shifts = layer.readInts(layer.getInput(1), "shifts");
  auto axes = layer.readInts(layer.getInput(2), "axes");
  if (!x || !shifts || !axes)
    return {};
  if (shifts->size() != axes->size())
    return layer.broken("has " + Twine(shifts->size()) + " shifts for " +
                        Twine(axes->size()) + " axes");
  for (auto [shift, given] : llvm::zip(*shifts, *axes)) {
    auto axis = layer.normalizeAxis(given, getRank(x));
    if (!axis)
      return {};
    int64_t size = getShape(x)[*axis];
    int64_t back = size == 0 ? 0 : ((shift % size) + size) % size;
    if (back == 0)
      continue;
    Sizes starts(getRank(x), 0), front(getShape(x)), behind(getShape(x));
    front[*axis] = size - back;
    behind[*axis] = back;
    Value kept = layer.slice(x, starts, front);
    starts[*axis] = size - back;
    x = join(layer, {layer.slice(x, starts, behind), kept}, *axis);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

Value convertPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto fixed = readFixedPad(layer, x, layer.getInput(1));
  auto pads =
      fixed ? std::optional(Sizes()) : readPads(layer, x, layer.getInput(1));
  if (!pads)
    return {};
  double value = 0;
  if (layer.getNumInputs() > 2) {
    Value given = layer.getInput(2);
    auto known = readElements(given ? layer.foldKnown(given) : given);
    if (!known || known->ints.size() + known->reals.size() != 1)
      return layer.needsKnown(layer.getInput(2), "a value to pad with");
    value = known->isReal() ? known->reals[0] : double(known->ints[0]);
  }
  if (fixed)
    return padToFixed(layer, x, *fixed, value);
  // Images are padded as the convolutions behind read them.
  if (getRank(x) == 4) {
    size_t rank = 4;
    Sizes moved(2 * rank);
    for (size_t i = 0; i < rank; ++i) {
      auto place = size_t(getImageAxis(int64_t(i), int64_t(rank)));
      moved[place] = (*pads)[i];
      moved[rank + place] = (*pads)[rank + i];
    }
    return layer.toChannelsLast(
        padWith(layer, layer.toChannelsFirst(x), moved, value));
  }
  return padWith(layer, x, *pads, value);
}

Value convertMirrorPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x, layer.getInput(1));
  return pads ? padMirrored(layer, x, *pads,
                            layer.getText("mode") == "SYMMETRIC")
              : Value();
}

} // namespace nnc::tensorflow
