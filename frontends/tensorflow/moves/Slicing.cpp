//===- Slicing.cpp - Joins, parts, padding --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ReverseSequence.h"
#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"

#include "llvm/Support/MathExtras.h"

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

namespace {
/// The elements that a strided slice takes along one axis.
struct AxisSlice {
  int64_t start, count, step;
};
/// The masks of StridedSlice: bit i is about entry i of the bounds.
struct Masks {
  int64_t begin, end, ellipsis, newAxis, shrink;
  static bool has(int64_t mask, size_t bit) { return (mask >> bit & 1) != 0; }
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
  return {first, span > 0 ? int64_t(llvm::divideCeil(span, std::abs(step))) : 0,
          step};
}

Value convertStridedSlice(Layer &layer) {
  bool isComplex = layer.getPassed(0).kind == Passed::complex;
  Value x = isComplex ? layer.getPassed(0).value : layer.getInput(0),
        begin = layer.getInput(1);
  if (!x || !begin)
    return {};
  Masks masks = {layer.getInt("begin_mask"), layer.getInt("end_mask"),
                 layer.getInt("ellipsis_mask"), layer.getInt("new_axis_mask"),
                 layer.getInt("shrink_axis_mask")};
  // x[i], where the network computes i.
  if (!readElements(begin) && getNumElements(begin) == 1 && masks.shrink == 1 &&
      getRank(x) > 0)
    return layer.create<nn::GatherOp>(x, layer.reshape(begin, {}), int64_t(0));
  auto begins = layer.readInts(begin, "begins");
  auto ends = layer.readInts(layer.getInput(2), "ends");
  auto steps = layer.readInts(layer.getInput(3), "strides");
  if (!begins || !ends || !steps)
    return {};
  size_t entries = begins->size();
  if (ends->size() != entries || steps->size() != entries || entries > 32)
    return layer.broken("has begins, ends and strides of different lengths");
  Sizes starts, sizes, strides, shape;
  // The axis of real and imaginary parts is none of the model's.
  int64_t rank = getRank(x) - (isComplex ? 1 : 0), news = 0;
  for (size_t i = 0; i < entries; ++i)
    news += Masks::has(masks.newAxis, i) && !Masks::has(masks.ellipsis, i);
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
    if (Masks::has(masks.ellipsis, i)) {
      for (int64_t n = hidden + 1; n > 0 && int64_t(starts.size()) < rank; --n)
        takeWhole();
      continue;
    }
    if (Masks::has(masks.newAxis, i)) {
      shape.push_back(1);
      continue;
    }
    int64_t step = (*steps)[i];
    if (int64_t(starts.size()) == rank || step == 0 || std::abs(step) > kMaxDim)
      return layer.broken("slices axes that are not there, or with a stride "
                          "of " +
                          Twine(step));
    int64_t size = getShape(x)[starts.size()], first = (*begins)[i];
    if (Masks::has(masks.shrink, i)) {
      // With the bit of the mask of begins, begin counts as 0.
      if (Masks::has(masks.begin, i))
        first = 0;
      int64_t place = first < 0 ? first + size : first;
      if (place < 0 || place >= size)
        return layer.broken("takes element " + Twine(first) +
                            " of an axis of " + Twine(size));
      take({place, 1, 1}, false);
      continue;
    }
    auto unless = [&](int64_t mask, int64_t place) {
      return Masks::has(mask, i) ? std::nullopt : std::optional<int64_t>(place);
    };
    take(resolve(size, unless(masks.begin, first),
                 unless(masks.end, (*ends)[i]), step),
         true);
  }
  while (int64_t(starts.size()) < getRank(x))
    takeWhole();
  bool isWhole = ArrayRef<int64_t>(sizes) == getShape(x) &&
                 llvm::all_of(strides, [](int64_t step) { return step == 1; });
  // A part of an image stays in front of the transpose to channels last.
  Value image = Layer::getChannelsFirst(x);
  if (image && !isWhole && ArrayRef<int64_t>(shape) == ArrayRef(sizes)) {
    auto reorder = [](Sizes &list) {
      list.insert(list.begin() + 1, list.pop_back_val());
    };
    for (Sizes *list : {&starts, &sizes, &strides})
      reorder(*list);
    return layer.toChannelsLast(layer.slice(image, starts, sizes, strides));
  }
  if (!isWhole)
    x = layer.slice(x, starts, sizes, strides);
  Value y = layer.reshape(x, shape);
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

Value padWith(Layer &layer, Value x, ArrayRef<int64_t> pads, double value) {
  if (!x || llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  return layer.create<nn::PadOp>(nn::PadMode::constant, x, pads,
                                 APFloat(value));
}

/// Returns the pads of input 1, which has a row of two numbers for each axis,
/// as the pads in front of every axis, then those behind every axis.
static std::optional<Sizes> readPads(Layer &layer, Value x) {
  auto given = layer.readInts(layer.getInput(1), "pads");
  if (!given || !x)
    return std::nullopt;
  size_t rank = getRank(x);
  if (given->size() != 2 * rank || llvm::any_of(*given, [](int64_t pad) {
        return pad < 0 || pad > kMaxDim;
      })) {
    layer.broken("has pads " + toString(*given) + " for " + Twine(rank) +
                 " axes");
    return std::nullopt;
  }
  Sizes pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    pads[i] = (*given)[2 * i];
    pads[rank + i] = (*given)[2 * i + 1];
  }
  return pads;
}

Value convertPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto fixed = readFixedPad(layer, x, layer.getInput(1));
  auto pads = fixed ? std::optional(Sizes()) : readPads(layer, x);
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

/// Returns x padded by mirrored elements at both ends of each axis, of which
/// the first repeats the border.
static Value repeatBorders(Layer &layer, Value x, ArrayRef<int64_t> pads) {
  int64_t rank = getRank(x);
  for (int64_t axis = 0; axis < rank && x; ++axis) {
    int64_t before = pads[axis], size = getShape(x)[axis];
    if (before == 0 && pads[rank + axis] == 0)
      continue;
    if (size > 1 << 24)
      return layer.fail(ImportStatus::limit,
                        "pads an axis of " + Twine(size) +
                            " elements; nnc handles 16777216");
    Sizes places;
    for (int64_t i = -before; i < size + pads[rank + axis]; ++i)
      places.push_back(i < 0 ? -1 - i : i < size ? i : 2 * size - 1 - i);
    x = layer.create<nn::GatherOp>(x, layer.constant(places), axis);
  }
  return x;
}

Value convertMirrorPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x);
  if (!pads)
    return {};
  bool repeats = layer.getText("mode") == "SYMMETRIC";
  for (auto [i, pad] : llvm::enumerate(*pads))
    if (pad >= getShape(x)[i % getRank(x)] + (repeats ? 1 : 0) && pad != 0)
      return layer.broken("pads an axis of " +
                          Twine(getShape(x)[i % getRank(x)]) + " elements by " +
                          Twine(pad));
  if (repeats)
    return repeatBorders(layer, x, *pads);
  return layer.create<nn::PadOp>(nn::PadMode::reflect, x, *pads, APFloat(0.0));
}

} // namespace nnc::tensorflow
