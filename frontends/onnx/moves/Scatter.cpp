//===- Scatter.cpp - ScatterElements, ScatterND and their like ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns how the node combines updates with the elements at their positions,
/// or nullopt after an error.
static std::optional<nn::ScatterKind> getKind(Node &node) {
  StringRef name =
      node.hasAttribute("reduction") ? node.getString("reduction") : "none";
  if (name == "none")
    return nn::ScatterKind::replace;
  auto kind = nn::symbolizeScatterKind(name);
  if (!kind || *kind == nn::ScatterKind::replace) {
    node.broken("has the reduction '" + name + "'");
    return std::nullopt;
  }
  return kind;
}

/// Builds the scatter of `updates` into slices of `x`, which is flat along its
/// first axis. Bools are the numbers 0 and 1.
static Value scatter(Node &node, nn::ScatterKind kind, Value x, Value positions,
                     Value updates) {
  Type type = getElement(x);
  if (type && type.isInteger(1)) {
    Type byte = node.getBuilder().getIntegerType(8, /*isSigned=*/false);
    x = node.castTo(x, byte);
    updates = node.castTo(updates, byte);
  }
  return node.castTo(node.create<nn::ScatterOp>(kind, x, positions, updates),
                     type);
}

Value convertScatterElements(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1),
        updates = node.getOperand(2);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  auto kind = getKind(node);
  if (!axis || !kind)
    return {};
  if (getShape(indices) != getShape(updates))
    return node.broken("has updates of shape " + toString(getShape(updates)) +
                       " for indices of shape " + toString(getShape(indices)));
  SmallVector<int64_t> shape(getShape(x));
  int64_t count = getNumElements(indices);
  Value positions =
      node.reshape(locateElements(node, shape, indices, *axis), {count});
  Value y = scatter(node, *kind, node.reshape(x, {getNumElements(x)}),
                    positions, node.reshape(updates, {count}));
  return node.reshape(y, shape);
}

Value convertScatter(Node &node) { return convertScatterElements(node); }

Value convertScatterND(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1),
        updates = node.getOperand(2);
  SmallVector<int64_t> shape(getShape(x));
  ArrayRef<int64_t> picked = getShape(indices);
  auto kind = getKind(node);
  if (!kind)
    return {};
  int64_t depth = picked.empty() ? 0 : picked.back();
  SmallVector<int64_t> wanted(picked.empty() ? picked : picked.drop_back());
  if (depth >= 1 && depth <= getRank(x))
    llvm::append_range(wanted, ArrayRef(shape).drop_front(depth));
  if (depth < 1 || depth > getRank(x) ||
      getShape(updates) != ArrayRef<int64_t>(wanted))
    return node.broken("has indices of shape " + toString(picked) +
                       " and updates of shape " + toString(getShape(updates)) +
                       " for a tensor of shape " + toString(shape));
  ArrayRef<int64_t> axes = ArrayRef(shape).take_front(depth);
  int64_t slice = product(ArrayRef(shape).drop_front(depth)),
          count = product(picked.drop_back());
  Value positions = node.reshape(locateSlices(node, axes, indices, 0), {count});
  Value y = scatter(node, *kind, node.reshape(x, {product(axes), slice}),
                    positions, node.reshape(updates, {count, slice}));
  return node.reshape(y, shape);
}

/// Returns true for 0 and for sizes that an axis can have.
static bool isSize(int64_t size) { return size >= 0 && size <= kMaxDim; }

static bool areSizes(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes,
                      [](int64_t size) { return size > 0 && isSize(size); });
}

/// Converts TensorScatter: replaces a part of a cache, beginning at a separate
/// index for each sequence. A circular cache wraps around at its end.
Value convertTensorScatter(Node &node) {
  Value cache = node.getOperand(0), update = node.getOperand(1),
        indices = node.getOperand(2);
  SmallVector<int64_t> shape(getShape(cache)), part(getShape(update));
  auto axis = node.normalizeAxis(node.getInt("axis", -2), shape.size());
  if (!axis)
    return {};
  SmallVector<int64_t> wanted(shape);
  if (part.size() == shape.size())
    wanted[*axis] = std::min(part[*axis], shape[*axis]);
  if (*axis == 0 || part != wanted)
    return node.broken("puts a tensor of shape " + toString(part) +
                       " into one of shape " + toString(shape));
  StringRef mode = node.getString("mode");
  if (mode != "linear" && mode != "circular")
    return node.broken("has the mode '" + mode + "'");
  Type type = node.getBuilder().getI64Type();
  int64_t batch = shape[0], size = shape[*axis], count = part[*axis],
          middle = product(ArrayRef(shape).take_front(*axis).drop_front()),
          inner = product(ArrayRef(shape).drop_front(*axis + 1));
  if (indices && getShape(indices) != ArrayRef<int64_t>(batch))
    return node.broken("has indices of shape " + toString(getShape(indices)) +
                       " for " + Twine(batch) + " sequences");
  Value start =
      indices ? node.castTo(indices, type) : node.splat(0, type, {batch});
  // The positions of the slices along the axis, for each sequence and each
  // index of the axes in between.
  Value place = node.createElementwise(
      "add", {node.reshape(start, {batch, 1, 1}),
              makeSteps(node, count, 1, /*axis=*/2, /*rank=*/3)});
  if (mode == "circular") {
    Value size64 = node.splat(static_cast<double>(size), type);
    Value turns = node.createElementwise("div", {place, size64});
    place = node.createElementwise(
        "sub", {place, node.createElementwise("mul", {turns, size64})});
  }
  // A position behind the end must not fall into the next slice.
  Value isInside = node.createElementwise(
      "less", {place, node.splat(static_cast<double>(size), type)});
  Value first = node.createElementwise(
      "add", {makeSteps(node, batch, middle * size, 0, 3),
              makeSteps(node, middle, size, 1, 3)});
  Value positions = node.createElementwise(
      "select", {isInside, node.createElementwise("add", {first, place}),
                 node.splat(-1, type)});
  Value y = scatter(node, nn::ScatterKind::replace,
                    node.reshape(cache, {batch * middle * size, inner}),
                    node.reshape(positions, {batch * middle * count}),
                    node.reshape(update, {batch * middle * count, inner}));
  return node.reshape(y, shape);
}

/// Converts MaxUnpool: writes elements to their positions in a tensor of zeros.
Value convertMaxUnpool(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  ArrayRef<int64_t> shape = getShape(x);
  int64_t axes = getRank(x) - 2;
  auto kernel = node.getInts("kernel_shape");
  if (axes < 1 || !kernel || static_cast<int64_t>(kernel->size()) != axes ||
      getShape(indices) != shape)
    return node.broken("has a kernel and indices that do not fit a tensor of "
                       "shape " +
                       toString(shape));
  auto strides = node.getInts("strides"), pads = node.getInts("pads");
  if (!areSizes(*kernel) || (strides && !areSizes(*strides)) ||
      (pads && !llvm::all_of(*pads, isSize)) ||
      (strides && static_cast<int64_t>(strides->size()) != axes) ||
      (pads && static_cast<int64_t>(pads->size()) != 2 * axes))
    return node.broken("has a kernel, strides or pads that no pool has");
  SmallVector<int64_t> sizes(shape);
  for (int64_t i = 0; i < axes; ++i) {
    int64_t &size = sizes[i + 2];
    size = (size - 1) * (strides ? (*strides)[i] : 1) + (*kernel)[i] -
           (pads ? (*pads)[i] + (*pads)[axes + i] : 0);
    if (size < 1 || size > kMaxDim)
      return node.broken("has a result of " + Twine(size) +
                         " elements along "
                         "an axis");
  }
  SmallVector<int64_t> given(sizes);
  if (node.getOperand(2)) {
    auto stated = node.getConstantInts(2, "output shapes");
    if (!stated)
      return {};
    if (stated->size() != sizes.size())
      return node.broken("has an output shape of " + Twine(stated->size()) +
                         " axes");
    given = *stated;
  }
  Value zeros = node.splat(0, getElement(x), {product(sizes)});
  int64_t count = getNumElements(x);
  Value y = node.reshape(
      scatter(node, nn::ScatterKind::replace, zeros,
              node.reshape(node.castTo(indices, node.getBuilder().getI64Type()),
                           {count}),
              node.reshape(x, {count})),
      sizes);
  if (given == sizes)
    return y;
  // If the given output shape is larger, zeros follow behind the other
  // elements.
  SmallVector<int64_t> padding(2 * sizes.size(), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    padding[sizes.size() + i] = given[i] - sizes[i];
    if (given[i] < sizes[i] || given[i] > kMaxDim)
      return node.broken("has the output shape " + toString(given) +
                         " for elements of " + toString(sizes));
  }
  return node.create<nn::PadOp>(nn::PadMode::constant, y, padding,
                                APFloat(0.0));
}

/// The largest number of positions of elements that Col2Im stores as a
/// constant.
static constexpr int64_t kMostPlaces = 1 << 24;

/// Converts Col2Im: the elements of all windows are added at their places.
Value convertCol2Im(Node &node) {
  Value x = node.getOperand(0);
  auto image = node.getConstantInts(1, "image shapes");
  auto block = node.getConstantInts(2, "block shapes");
  if (!image || !block)
    return {};
  size_t axes = image->size();
  auto getAll = [&](StringRef name, size_t count, int64_t otherwise) {
    auto list = node.getInts(name);
    return list && !list->empty() ? *list
                                  : SmallVector<int64_t>(count, otherwise);
  };
  SmallVector<int64_t> strides = getAll("strides", axes, 1),
                       dilations = getAll("dilations", axes, 1),
                       pads = getAll("pads", 2 * axes, 0), windows;
  bool fits = axes > 0 && block->size() == axes && strides.size() == axes &&
              dilations.size() == axes && pads.size() == 2 * axes &&
              areSizes(*image) && areSizes(*block) && areSizes(strides) &&
              areSizes(dilations) && llvm::all_of(pads, isSize) &&
              getRank(x) == 3;
  int64_t taps = 1, count = 1;
  for (size_t i = 0; fits && i < axes; ++i) {
    int64_t span = (*image)[i] + pads[i] + pads[axes + i] -
                   dilations[i] * ((*block)[i] - 1) - 1;
    fits = span >= 0;
    windows.push_back(fits ? span / strides[i] + 1 : 0);
    taps *= (*block)[i];
    count *= windows.back();
    if (fits && (taps > kMostPlaces || count > kMostPlaces ||
                 taps * count > kMostPlaces))
      return node.fail(ImportStatus::limit, "adds more than " +
                                                Twine(kMostPlaces) +
                                                " elements of each channel");
  }
  if (!fits || getShape(x)[1] % taps != 0 || getShape(x)[2] != count)
    return node.broken("has columns of shape " + toString(getShape(x)) +
                       " for an image of " + toString(*image) +
                       " and blocks of " + toString(*block));
  // The position of each element of each window, or -1 in the padding.
  SmallVector<int64_t> positions;
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t window = 0; window < count; ++window) {
      int64_t place = 0, stride = 1, t = tap, w = window;
      for (size_t i = axes; i-- > 0;) {
        int64_t at = w % windows[i] * strides[i] - pads[i] +
                     t % (*block)[i] * dilations[i];
        bool isInside = at >= 0 && at < (*image)[i];
        place = place < 0 || !isInside ? -1 : place + at * stride;
        stride *= (*image)[i];
        w /= windows[i];
        t /= (*block)[i];
      }
      positions.push_back(place);
    }
  int64_t batch = getShape(x)[0], channels = getShape(x)[1] / taps,
          planes = batch * channels;
  Value columns =
      node.transpose(node.reshape(x, {planes, taps * count}), {1, 0});
  Value y = scatter(node, nn::ScatterKind::add,
                    node.splat(0, getElement(x), {product(*image), planes}),
                    node.constant(positions), columns);
  SmallVector<int64_t> shape = {batch, channels};
  llvm::append_range(shape, *image);
  return node.reshape(node.transpose(y, {1, 0}), shape);
}

} // namespace nnc::onnx
