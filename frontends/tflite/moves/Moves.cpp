//===- Moves.cpp - Operators that move elements ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ReverseSequence.h"
#include "frontends/tflite/qnn/Quantized.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

using Sizes = SmallVector<int64_t>;

/// Returns x where the result stands for the same numbers as the operator's
/// first input; else a report. TFLite demands that of operators that only move
/// elements.
static Value keepScale(Layer &layer, Value x) {
  Quantization in = layer.getInputQuantization(0),
               out = layer.getOutputQuantization();
  if (!in || !out ||
      (in.scales == out.scales && in.zeroPoints == out.zeroPoints))
    return x;
  return layer.unsupported("has an input and a result with different scales or "
                           "zero points, which TFLite does not define");
}

//===----------------------------------------------------------------------===//
// Other shapes
//===----------------------------------------------------------------------===//

/// Returns the sizes of the result that the model states.
static Sizes getStatedShape(Layer &layer) {
  const fb::Tensor *tensor = layer.getOutputTensor();
  return tensor ? Sizes(getList(tensor->shape())) : Sizes();
}

Value convertReshape(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  Sizes shape;
  if (layer.hasInput(1)) {
    auto given = layer.readInts(layer.getInput(1), "sizes");
    if (!given)
      return {};
    shape = *given;
  } else if (layer.getOutputTensor()) {
    // Old models have the shape in their options, which says what the result's
    // shape says.
    shape = getStatedShape(layer);
  }
  int64_t known = 1, *open = nullptr;
  for (int64_t &size : shape) {
    if (size >= 0)
      known *= size;
    else if (size != -1 || open)
      return layer.broken("has a shape of " + toString(shape));
    else
      open = &size;
  }
  if (open)
    *open = known ? getNumElements(x) / known : 0;
  if (product(shape) != getNumElements(x))
    return layer.broken("reshapes a tensor of shape " + toString(getShape(x)) +
                        " to " + toString(shape));
  return keepScale(layer, layer.reshape(x, shape));
}

/// Weights are dense by then (Sparse.h).
Value convertDensify(Layer &layer) {
  return keepScale(layer, layer.getInput(0));
}

Value convertSqueeze(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::SqueezeOptions>(fb::Options::Squeeze);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  Sizes axes(getList(options->squeeze_dims()));
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  Sizes shape;
  for (auto [i, size] : llvm::enumerate(getShape(x))) {
    bool isNamed = axes.empty() ? size == 1 : llvm::is_contained(axes, i);
    if (isNamed && size != 1)
      return layer.broken("squeezes axis " + Twine(i) + " of shape " +
                          toString(getShape(x)));
    if (!isNamed)
      shape.push_back(size);
  }
  return layer.reshape(x, shape);
}

Value convertExpandDims(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x) + 1) : std::nullopt;
  if (!axis)
    return {};
  Sizes shape(getShape(x));
  shape.insert(shape.begin() + *axis, 1);
  return layer.reshape(x, shape);
}

Value convertTranspose(Layer &layer) {
  Value x = layer.getInput(0);
  auto order = layer.readInts(layer.getInput(1), "an order of axes");
  if (!order || !x || !layer.normalizeAxes(*order, getRank(x)))
    return {};
  if (int64_t(order->size()) != getRank(x))
    return layer.broken("has an order of " + Twine(order->size()) +
                        " axes for " + Twine(getRank(x)));
  return keepScale(layer, layer.transpose(x, *order));
}

//===----------------------------------------------------------------------===//
// Parts and wholes
//===----------------------------------------------------------------------===//

/// Returns input `i`; null, and a report, where it has another scale or zero
/// point than the result.
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

/// Cuts x along `axis` into parts of `sizes`, which become the results.
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
/// The elements of an axis that one entry of a strided slice takes.
struct AxisSlice {
  int64_t start, count, step;
};
} // namespace

/// Returns what begin, end and step take of an axis of `size` elements.
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

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Returns the pads of input 1, which has a row of two for each axis: those
/// before all axes, then those behind.
static std::optional<Sizes> readPads(Layer &layer, Value x) {
  auto given = layer.readInts(layer.getInput(1), "pads");
  if (!given || !x)
    return std::nullopt;
  size_t rank = getRank(x);
  if (given->size() != 2 * rank ||
      llvm::any_of(*given, [](int64_t pad) { return pad < 0; })) {
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

static Value padWith(Layer &layer, Value x, ArrayRef<int64_t> pads,
                     double value) {
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return x;
  return layer.create<nn::PadOp>(nn::PadMode::constant, x, pads,
                                 APFloat(value));
}

Value convertPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x);
  if (!pads)
    return {};
  double value = 0;
  if (layer.hasInput(2)) {
    auto given = layer.readReals(layer.getInput(2), "a value");
    if (!given)
      return {};
    if (given->size() != 1)
      return layer.broken("needs one value to pad with");
    value = (*given)[0];
  } else if (Quantization in = layer.getInputQuantization(0);
             isQuantized(x, in)) {
    value = static_cast<double>(in.getZeroPoint());
  }
  return keepScale(layer, padWith(layer, x, *pads, value));
}

/// Returns x with the elements at both ends of each axis in reverse before and
/// behind it.
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
  const auto *options =
      layer.getOptions<fb::MirrorPadOptions>(fb::Options::MirrorPad);
  Value x = layer.getInput(0);
  auto pads = readPads(layer, x);
  if (!options || !pads)
    return {};
  // SYMMETRIC repeats the border, REFLECT does not.
  bool repeats = options->mode() == 1;
  for (auto [i, pad] : llvm::enumerate(*pads))
    if (pad < 0 || pad >= getShape(x)[i % getRank(x)] + (repeats ? 1 : 0))
      return layer.broken("pads an axis of " +
                          Twine(getShape(x)[i % getRank(x)]) + " elements by " +
                          Twine(pad));
  if (repeats)
    return repeatBorders(layer, x, *pads);
  return layer.create<nn::PadOp>(nn::PadMode::reflect, x, *pads, APFloat(0.0));
}

//===----------------------------------------------------------------------===//
// Repeating and picking
//===----------------------------------------------------------------------===//

Value convertBroadcastTo(Layer &layer) {
  auto shape = layer.readInts(layer.getInput(1), "sizes");
  return shape ? layer.expand(layer.getInput(0), *shape) : Value();
}

Value convertTile(Layer &layer) {
  Value x = layer.getInput(0);
  auto repeats = layer.readInts(layer.getInput(1), "numbers of copies");
  if (!repeats || !x)
    return {};
  if (int64_t(repeats->size()) != getRank(x) ||
      llvm::any_of(*repeats, [](int64_t n) { return n < 0; }))
    return layer.broken("repeats a tensor of shape " + toString(getShape(x)) +
                        " " + toString(*repeats) + " times");
  Sizes from, to, shape;
  for (auto [size, copies] : llvm::zip(getShape(x), *repeats)) {
    from.append({1, size});
    to.append({copies, size});
    shape.push_back(size * copies);
  }
  if (to.size() > size_t(kMaxRank)) {
    // Axes that are not repeated need no axis of copies.
    from.clear(), to.clear();
    for (auto [size, copies] : llvm::zip(getShape(x), *repeats)) {
      if (copies != 1)
        from.push_back(1), to.push_back(copies);
      from.push_back(size), to.push_back(size);
    }
  }
  return layer.reshape(layer.expand(layer.reshape(x, from), to), shape);
}

Value convertFill(Layer &layer) {
  auto shape = layer.readInts(layer.getInput(0), "sizes");
  if (!shape)
    return {};
  return layer.expand(layer.reshape(layer.getInput(1), {}), *shape);
}

Value convertReverse(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.readInts(layer.getInput(1), "axes");
  if (!axes || !x || !layer.normalizeAxes(*axes, getRank(x)))
    return {};
  Sizes starts(getRank(x), 0), steps(getRank(x), 1);
  for (int64_t axis : *axes) {
    starts[axis] = std::max<int64_t>(getShape(x)[axis] - 1, 0);
    steps[axis] = -1;
  }
  return layer.slice(x, starts, getShape(x), steps);
}

Value convertReverseSequence(Layer &layer) {
  const auto *options = layer.getOptions<fb::ReverseSequenceOptions>(
      fb::Options::ReverseSequence);
  if (!options)
    return {};
  return reverseSequence(layer, keepScale(layer, layer.getInput(0)),
                         layer.getInput(1), options->seq_dim(),
                         options->batch_dim());
}

Value convertShape(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  return layer.castTo(layer.constant(getShape(x)), layer.getOutputElement());
}

Value convertRank(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(double(getRank(x)), layer.getOutputElement())
           : Value();
}

Value convertZerosLike(Layer &layer) {
  Value x = layer.getInput(0);
  return x ? layer.splat(0.0, getElement(x), getShape(x)) : Value();
}

//===----------------------------------------------------------------------===//
// Blocks and calls
//===----------------------------------------------------------------------===//

Value convertDepthToSpace(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::BlockOptions>(fb::Options::DepthToSpace);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  int64_t b = options->block_size();
  if (getRank(x) != 4 || b < 1 || getShape(x)[3] % (b * b) != 0)
    return layer.broken("cannot cut a tensor of shape " +
                        toString(getShape(x)) + " into blocks of " + Twine(b));
  int64_t n = getShape(x)[0], h = getShape(x)[1], w = getShape(x)[2],
          c = getShape(x)[3] / (b * b);
  Value y =
      layer.transpose(layer.reshape(x, {n, h, w, b, b, c}), {0, 1, 3, 2, 4, 5});
  return layer.reshape(y, {n, h * b, w * b, c});
}

Value convertSpaceToDepth(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::BlockOptions>(fb::Options::SpaceToDepth);
  Value x = layer.getInput(0);
  if (!options || !x)
    return {};
  int64_t b = options->block_size();
  if (getRank(x) != 4 || b < 1 || getShape(x)[1] % b != 0 ||
      getShape(x)[2] % b != 0)
    return layer.broken("cannot cut a tensor of shape " +
                        toString(getShape(x)) + " into blocks of " + Twine(b));
  int64_t n = getShape(x)[0], h = getShape(x)[1] / b, w = getShape(x)[2] / b,
          c = getShape(x)[3];
  Value y =
      layer.transpose(layer.reshape(x, {n, h, b, w, b, c}), {0, 1, 3, 2, 4, 5});
  return layer.reshape(y, {n, h, w, b * b * c});
}

/// Returns the sizes of blocks and a row of two numbers for each of them.
static bool readBlocks(Layer &layer, Value x, Sizes &blocks, Sizes &pairs) {
  auto sizes = layer.readInts(layer.getInput(1), "sizes of blocks");
  auto rows = layer.readInts(layer.getInput(2), "pads or crops");
  if (!sizes || !rows || !x)
    return false;
  blocks = *sizes;
  pairs = *rows;
  bool isSound = pairs.size() == 2 * blocks.size() &&
                 int64_t(blocks.size()) < getRank(x) &&
                 llvm::all_of(
                     blocks, [](int64_t b) { return b > 0; }) &&
                 llvm::all_of(pairs, [](int64_t p) { return p >= 0; });
  if (!isSound)
    layer.broken("has blocks of " + toString(blocks) + " and pads or crops " +
                 toString(pairs) + " for shape " + toString(getShape(x)));
  return isSound;
}

Value convertSpaceToBatch(Layer &layer) {
  Value x = layer.getInput(0);
  Sizes blocks, pairs;
  if (!readBlocks(layer, x, blocks, pairs))
    return {};
  size_t rank = getRank(x), m = blocks.size();
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < m; ++i) {
    pads[1 + i] = pairs[2 * i];
    pads[rank + 1 + i] = pairs[2 * i + 1];
  }
  Quantization in = layer.getInputQuantization(0);
  x = padWith(layer, x, pads,
              isQuantized(x, in) ? double(in.getZeroPoint()) : 0.0);
  if (!x)
    return {};
  Sizes split = {getShape(x)[0]}, order, shape = {getShape(x)[0]};
  for (size_t i = 0; i < m; ++i) {
    int64_t size = getShape(x)[1 + i];
    if (size % blocks[i] != 0)
      return layer.broken("cuts an axis of " + Twine(size) +
                          " into blocks of " + Twine(blocks[i]));
    split.append({size / blocks[i], blocks[i]});
    order.push_back(2 + 2 * int64_t(i));
    shape[0] *= blocks[i];
    shape.push_back(size / blocks[i]);
  }
  order.push_back(0);
  for (size_t i = 0; i < m; ++i)
    order.push_back(1 + 2 * int64_t(i));
  for (size_t i = m + 1; i < rank; ++i) {
    order.push_back(int64_t(split.size()));
    split.push_back(getShape(x)[i]);
    shape.push_back(getShape(x)[i]);
  }
  return layer.reshape(layer.transpose(layer.reshape(x, split), order), shape);
}

Value convertBatchToSpace(Layer &layer) {
  Value x = layer.getInput(0);
  Sizes blocks, pairs;
  if (!readBlocks(layer, x, blocks, pairs))
    return {};
  size_t rank = getRank(x), m = blocks.size();
  int64_t batch = getShape(x)[0];
  if (batch % product(blocks) != 0)
    return layer.broken("joins " + Twine(batch) + " images in blocks of " +
                        toString(blocks));
  Sizes split(blocks), order = {int64_t(m)}, shape = {batch / product(blocks)};
  split.push_back(shape[0]);
  for (size_t i = 1; i < rank; ++i)
    split.push_back(getShape(x)[i]);
  for (size_t i = 0; i < m; ++i) {
    order.append({int64_t(m + 1 + i), int64_t(i)});
    shape.push_back(getShape(x)[1 + i] * blocks[i]);
  }
  for (size_t i = m + 1; i < rank; ++i) {
    order.push_back(int64_t(m + i));
    shape.push_back(getShape(x)[i]);
  }
  Value y =
      layer.reshape(layer.transpose(layer.reshape(x, split), order), shape);
  Sizes starts(rank, 0), sizes(shape);
  for (size_t i = 0; i < m; ++i) {
    starts[1 + i] = pairs[2 * i];
    sizes[1 + i] -= pairs[2 * i] + pairs[2 * i + 1];
    if (sizes[1 + i] < 0)
      return layer.broken("crops more than there is");
  }
  return sizes == shape ? y : layer.slice(y, starts, sizes);
}

} // namespace nnc::tflite
