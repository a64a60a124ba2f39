//===- Slicing.cpp - Parts of tensors, and tensors joined -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

static Value concat(Layer &layer, StringRef attribute, int64_t otherwise) {
  auto axis = layer.getAxis(attribute, otherwise, getRank(layer.getInput(0)));
  if (!axis)
    return {};
  if (layer.getNumInputs() == 1)
    return layer.getInput(0);
  return layer.create<nn::ConcatOp>(ValueRange(layer.getInputs()), *axis);
}

Value convertConcat(Layer &layer) {
  return concat(layer, layer.has("axis") ? "axis" : "dim", 1);
}
Value convertNumpyConcat(Layer &layer) { return concat(layer, "axis", 0); }

/// Converts _rnn_param_concat, which joins the weights of a recurrent layer.
Value convertParamConcat(Layer &layer) { return concat(layer, "dim", 0); }

Value convertStack(Layer &layer) {
  Value first = layer.getInput(0);
  auto axis = layer.getAxis("axis", 0, getRank(first) + 1);
  if (!axis)
    return {};
  SmallVector<Value> parts;
  for (Value input : layer.getInputs()) {
    SmallVector<int64_t> shape(getShape(input));
    if (getShape(input) != getShape(first))
      return layer.broken("joins tensors of shapes " +
                          toString(getShape(first)) + " and " +
                          toString(getShape(input)));
    shape.insert(shape.begin() + *axis, 1);
    parts.push_back(layer.reshape(input, shape));
  }
  return parts.size() == 1
             ? parts.front()
             : layer.create<nn::ConcatOp>(ValueRange(parts), *axis);
}

/// Returns x with axes of size 1 as NumPy's atleast_1d, 2d and 3d add them.
static Value addAxes(Layer &layer, Value x, int64_t rank) {
  SmallVector<int64_t> shape(getShape(x));
  while (int64_t(shape.size()) < rank) {
    // A vector is the middle one of three axes, and a matrix the first two.
    bool isBehind = rank == 3 && !shape.empty();
    shape.insert(isBehind ? shape.end() : shape.begin(), 1);
    if (isBehind && shape.size() == 2)
      shape.insert(shape.begin(), 1);
  }
  return x ? layer.reshape(x, shape) : x;
}

static Value convertAtLeast(Layer &layer, int64_t rank) {
  for (auto [i, input] : llvm::enumerate(layer.getInputs()))
    layer.setResult(i, addAxes(layer, input, rank));
  return addAxes(layer, layer.getInput(0), rank);
}
Value convertAtLeast1(Layer &layer) { return convertAtLeast(layer, 1); }
Value convertAtLeast2(Layer &layer) { return convertAtLeast(layer, 2); }
Value convertAtLeast3(Layer &layer) { return convertAtLeast(layer, 3); }

/// Joins tensors of at least `rank` axes along `axis`; vectors along their only
/// one.
static Value joinAlong(Layer &layer, int64_t rank, int64_t axis) {
  SmallVector<Value> parts;
  for (Value input : layer.getInputs())
    parts.push_back(addAxes(layer, input, rank));
  if (parts.size() == 1 || !parts[0])
    return parts[0];
  return layer.create<nn::ConcatOp>(ValueRange(parts),
                                    std::min(axis, getRank(parts[0]) - 1));
}
Value convertVerticalStack(Layer &layer) { return joinAlong(layer, 2, 0); }
Value convertHorizontalStack(Layer &layer) { return joinAlong(layer, 1, 1); }
Value convertDepthStack(Layer &layer) { return joinAlong(layer, 3, 2); }

/// Converts column_stack: vectors are columns.
Value convertColumnStack(Layer &layer) {
  SmallVector<Value> parts;
  for (Value input : layer.getInputs())
    parts.push_back(getRank(input) < 2
                        ? layer.reshape(input, {getNumElements(input), 1})
                        : input);
  return parts.size() == 1
             ? parts[0]
             : layer.create<nn::ConcatOp>(ValueRange(parts), int64_t(1));
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// Returns `x` without `axis`, which has size 1.
static Value dropAxis(Layer &layer, Value x, int64_t axis) {
  if (!x || getShape(x)[axis] != 1)
    return x ? layer.broken("removes an axis of size " +
                            Twine(getShape(x)[axis]))
             : x;
  SmallVector<int64_t> shape(getShape(x));
  shape.erase(shape.begin() + axis);
  return layer.reshape(x, shape);
}

/// Sets the results to the parts of x along `axis` that begin at `begins`, and
/// returns the first.
static Value splitAt(Layer &layer, Value x, int64_t axis,
                     ArrayRef<int64_t> begins) {
  bool squeezes = layer.getBool("squeeze_axis", false);
  int64_t size = getShape(x)[axis];
  Value first;
  for (size_t i = 0; i < begins.size(); ++i) {
    int64_t end = i + 1 < begins.size() ? begins[i + 1] : size;
    if (begins[i] < 0 || begins[i] > end || end > size)
      return layer.broken("splits an axis of " + Twine(size) + " elements at " +
                          toString(begins));
    Value part = layer.slice(x, axis, begins[i], end - begins[i]);
    if (squeezes)
      part = dropAxis(layer, part, axis);
    if (!part)
      return {};
    layer.setResult(i, part);
    first = i == 0 ? part : first;
  }
  return first;
}

static Value splitEvenly(Layer &layer, Value x, int64_t axis, int64_t count) {
  int64_t size = getShape(x)[axis];
  if (count < 1 || count > size || size % count != 0)
    return layer.broken("splits an axis of " + Twine(size) + " elements into " +
                        Twine(count) + " parts");
  if (count > layer.getLimits().nodes)
    return layer.fail(ImportStatus::limit, "has " + Twine(count) + " results");
  SmallVector<int64_t> begins;
  for (int64_t i = 0; i < count; ++i)
    begins.push_back(i * (size / count));
  return splitAt(layer, x, axis, begins);
}

Value convertSplit(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = layer.getAxis("axis", 1, getRank(x));
  return axis ? splitEvenly(layer, x, *axis, layer.getInt("num_outputs", 1))
              : Value();
}

/// Converts _split_v2, whose indices are the begins of all parts.
Value convertSplitV2(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = layer.getAxis("axis", 1, getRank(x));
  if (!axis)
    return {};
  int64_t sections = layer.getInt("sections", 0), size = getShape(x)[*axis];
  if (sections > 0 && size % sections == 0)
    return splitEvenly(layer, x, *axis, sections);
  if (sections > size)
    return layer.broken("splits an axis of " + Twine(size) + " elements into " +
                        Twine(sections) + " parts");
  if (sections > 0) {
    // array_split: the first parts have one element more.
    SmallVector<int64_t> begins;
    for (int64_t i = 0; i < sections; ++i)
      begins.push_back(i * (size / sections) + std::min(i, size % sections));
    return splitAt(layer, x, *axis, begins);
  }
  auto begins = layer.getInts("indices").value_or(SmallVector<int64_t>());
  if (begins.empty() || begins[0] != 0)
    begins.insert(begins.begin(), 0);
  return splitAt(layer, x, *axis, begins);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Returns the bound of a slice, counted from the front and within the axis.
static int64_t clampBound(std::optional<int64_t> bound, int64_t otherwise,
                          int64_t size, int64_t least, int64_t most) {
  if (!bound)
    return otherwise;
  int64_t from = std::clamp<int64_t>(*bound, -kMaxDim, kMaxDim);
  return std::clamp(from < 0 ? from + size : from, least, most);
}

/// Returns the elements of an axis from `begin` to `end` in steps of `step`, as
/// Python slices lists.
static Value sliceAxis(Layer &layer, Value x, int64_t axis,
                       std::optional<int64_t> begin, std::optional<int64_t> end,
                       int64_t step) {
  if (!x)
    return {};
  int64_t size = getShape(x)[axis];
  if (step == 0 || step > kMaxDim || step < -kMaxDim)
    return layer.broken("has a step of " + Twine(step));
  bool isForward = step > 0;
  int64_t from = clampBound(begin, isForward ? 0 : size - 1, size,
                            isForward ? 0 : -1, isForward ? size : size - 1),
          to = clampBound(end, isForward ? size : -1, size, isForward ? 0 : -1,
                          isForward ? size : size - 1);
  int64_t span = isForward ? to - from : from - to;
  int64_t count =
      span <= 0 ? 0 : llvm::divideCeil(span, isForward ? step : -step);
  if (count == 0)
    return layer.broken("takes no elements of an axis of size " + Twine(size));
  return layer.slice(x, axis, from, count, step);
}

Value convertSlice(Layer &layer) {
  Value x = layer.getInput(0);
  OptionalInts begins = layer.getOptionalInts("begin"),
               ends = layer.getOptionalInts("end"),
               steps = layer.getOptionalInts("step");
  if (int64_t(begins.size()) > getRank(x) || begins.size() != ends.size() ||
      (!steps.empty() && steps.size() != begins.size()))
    return layer.broken("has bounds that do not fit its input of shape " +
                        toString(getShape(x)));
  for (size_t i = 0; i < begins.size(); ++i)
    x = sliceAxis(layer, x, int64_t(i), begins[i], ends[i],
                  steps.empty() ? 1 : steps[i].value_or(1));
  return x;
}

Value convertSliceAxis(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = layer.getAxis("axis", 0, getRank(x));
  if (!axis)
    return {};
  auto get = [&](StringRef name) {
    return layer.has(name) ? std::optional(layer.getInt(name, 0))
                           : std::nullopt;
  };
  return sliceAxis(layer, x, *axis, get("begin"), get("end"), 1);
}

Value convertSliceLike(Layer &layer) {
  Value x = layer.getInput(0);
  ArrayRef<int64_t> like = getShape(layer.getInput(1));
  auto axes = layer.getInts("axes").value_or(SmallVector<int64_t>());
  if (axes.empty())
    axes = iota(std::min<int64_t>(getRank(x), like.size()));
  if (!layer.normalizeAxes(axes, std::min<int64_t>(getRank(x), like.size())))
    return {};
  for (int64_t axis : axes) {
    if (like[axis] > getShape(x)[axis])
      return layer.broken("cuts a tensor of shape " +
                          toString(getShape(layer.getInput(0))) + " like " +
                          toString(like));
    x = layer.slice(x, axis, 0, like[axis]);
  }
  return x;
}

/// Converts Crop, which cuts images to a size or to that of its second input.
Value convertCrop(Layer &layer) {
  Value x = layer.getInput(0), like = layer.getInput(1);
  if (getRank(x) != 4 || (like && getRank(like) != 4))
    return layer.broken("needs images of 4 axes");
  SmallVector<int64_t> sizes = layer.getSizes("h_w", 2, 0, 0),
                       offsets = layer.getSizes("offset", 2, 0, 0);
  if (like)
    sizes.assign(getShape(like).begin() + 2, getShape(like).end());
  for (int64_t i : {0, 1}) {
    int64_t size = getShape(x)[i + 2];
    if (layer.getBool("center_crop", false))
      offsets[i] = (size - sizes[i]) / 2;
    if (sizes[i] < 1 || offsets[i] < 0 || offsets[i] + sizes[i] > size)
      return layer.broken("cuts " + toString(sizes) + " at " +
                          toString(offsets) + " out of an image of shape " +
                          toString(getShape(layer.getInput(0))));
    x = layer.slice(x, i + 2, offsets[i], sizes[i]);
  }
  return x;
}

Value convertReverse(Layer &layer) {
  Value x = layer.getInput(0);
  // Without axes, NumPy's flip turns all.
  auto axes = layer.getInts("axis").value_or(iota(getRank(x)));
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  for (int64_t axis : axes) {
    int64_t size = getShape(x)[axis];
    x = size == 0 ? x : layer.slice(x, axis, size - 1, size, -1);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Padding and blocks
//===----------------------------------------------------------------------===//

Value convertPad(Layer &layer) {
  Value x = layer.getInput(0);
  auto widths = layer.getInts("pad_width").value_or(SmallVector<int64_t>());
  StringRef mode = layer.getText("mode", "constant");
  auto kind = nn::symbolizePadMode(mode);
  bool isSound = int64_t(widths.size()) == 2 * getRank(x) && kind &&
                 *kind != nn::PadMode::wrap &&
                 llvm::all_of(widths, [](int64_t width) {
                   return width >= 0 && width <= kMaxDim;
                 });
  if (!isSound)
    return layer.broken("has mode '" + mode + "' and pad_width " +
                        toString(widths) + " for an input of shape " +
                        toString(getShape(x)));
  SmallVector<int64_t> pads;
  for (size_t side : {0, 1})
    for (int64_t i = 0; i < getRank(x); ++i)
      pads.push_back(widths[2 * i + side]);
  return layer.create<nn::PadOp>(
      *kind, x, pads,
      APFloat(layer.getReal(layer.has("constant_value") ? "constant_value"
                                                        : "constant_values",
                            0)));
}

/// Converts depth_to_space: blocks are the slowest of the channels.
Value convertDepthToSpace(Layer &layer) {
  Value x = layer.getInput(0);
  int64_t block = layer.getInt("block_size", 0);
  if (getRank(x) != 4 || block < 1 || block > 1 << 15 ||
      getShape(x)[1] % (block * block) != 0)
    return layer.broken("has blocks of " + Twine(block) +
                        " for an input of shape " + toString(getShape(x)));
  SmallVector<int64_t> s(getShape(x));
  int64_t channels = s[1] / block / block;
  x = layer.reshape(x, {s[0], block, block, channels, s[2], s[3]});
  x = layer.transpose(x, {0, 3, 4, 1, 5, 2});
  return layer.reshape(x, {s[0], channels, s[2] * block, s[3] * block});
}

Value convertSpaceToDepth(Layer &layer) {
  Value x = layer.getInput(0);
  int64_t block = layer.getInt("block_size", 0);
  if (getRank(x) != 4 || block < 1 || block > 1 << 15 ||
      getShape(x)[2] % block != 0 || getShape(x)[3] % block != 0)
    return layer.broken("has blocks of " + Twine(block) +
                        " for an input of shape " + toString(getShape(x)));
  SmallVector<int64_t> s(getShape(x));
  x = layer.reshape(x, {s[0], s[1], s[2] / block, block, s[3] / block, block});
  x = layer.transpose(x, {0, 3, 5, 1, 2, 4});
  return layer.reshape(
      x, {s[0], s[1] * block * block, s[2] / block, s[3] / block});
}

} // namespace nnc::mxnet
