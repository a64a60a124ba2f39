//===- VariableParts.cpp - Assignments to parts of variables --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns the value of the variable that is input 0; null after an error.
static Value readTarget(Layer &layer) {
  if (layer.getPassed(0).kind != Passed::variable)
    return layer.broken("needs a variable as input 0");
  return layer.getImporter().readVariable(layer.getPassed(0).name);
}

static Value assignTarget(Layer &layer, Value value) {
  layer.getImporter().assignVariable(layer.getPassed(0).name, value, layer);
  return {};
}

//===----------------------------------------------------------------------===//
// Strided slices
//===----------------------------------------------------------------------===//

namespace {
/// The slice to which ResourceStridedSliceAssign assigns. Its begins and ends
/// may be computed by the network, so that they are kept apart from it.
struct SliceBounds : StridedSlice {
  Value begin;                 ///< input 1
  std::optional<Sizes> starts; ///< its elements, if they are known
  std::optional<Sizes> stops;  ///< those of input 2, if they are known
};

/// The elements along one axis of a variable to which values are assigned.
struct AxisPart {
  int64_t size;      ///< of the axis
  int64_t start = 0; ///< the first element, unless `computed` is it
  Value computed = {};
  int64_t count = 0, step = 1;

  bool isWhole() const { return !computed && count == size && step == 1; }
};
} // namespace

/// Returns the part of an axis of `size` elements that entry `i` of the bounds
/// selects, of which `count` elements are assigned. Returns nullopt after an
/// error.
static std::optional<AxisPart> selectPart(Layer &layer,
                                          const SliceBounds &bounds, size_t i,
                                          int64_t size, int64_t count) {
  AxisPart part{size};
  part.count = count;
  bool shrinks = StridedSlice::has(bounds.shrinkMask, i);
  bool isOpen = StridedSlice::has(bounds.beginMask, i) && !shrinks;
  part.step = shrinks ? 1 : bounds.strides[i];
  int64_t reach = (count - 1) * std::abs(part.step);
  if (count < 1 || reach >= size) {
    layer.broken("assigns " + Twine(count) + " elements with a stride of " +
                 Twine(part.step) + " to an axis of " + Twine(size));
    return std::nullopt;
  }
  if (isOpen) {
    part.start = part.step > 0 ? 0 : size - 1;
  } else if (bounds.starts) {
    int64_t start = (*bounds.starts)[i];
    start = start < 0 ? start + size : start;
    part.start =
        shrinks ? start : std::clamp<int64_t>(start, 0, size - (part.step < 0));
  } else {
    if (part.step != 1) {
      layer.unsupported("assigns with a stride of " + Twine(part.step) +
                        " from a start on that the network computes");
      return std::nullopt;
    }
    Type element = getElement(bounds.begin);
    Value start =
        layer.reshape(layer.slice(bounds.begin, {int64_t(i)}, {1}), {});
    Value zero = layer.splat(0, element);
    start = layer.createElementwise(
        "select", {layer.createElementwise("less", {start, zero}),
                   layer.createElementwise(
                       "add", {start, layer.splat(double(size), element)}),
                   start});
    start = layer.createElementwise("max", {start, zero});
    part.computed = layer.createElementwise(
        "min", {start, layer.splat(double(size - count), element)});
    if (!part.computed)
      return std::nullopt;
    return part;
  }
  int64_t last = part.start + (count - 1) * part.step;
  bool fits = part.start >= 0 && part.start < size && last >= 0 && last < size;
  // Known ends say how many elements there are.
  if (fits && bounds.stops && !shrinks) {
    int64_t end = (*bounds.stops)[i];
    end = end < 0 ? end + size : end;
    end = StridedSlice::has(bounds.endMask, i)
              ? (part.step > 0 ? size : -1)
              : std::clamp<int64_t>(end, part.step > 0 ? 0 : -1, size);
    int64_t span = part.step > 0 ? end - part.start : part.start - end;
    fits = span > 0 &&
           int64_t(llvm::divideCeil(uint64_t(span),
                                    uint64_t(std::abs(part.step)))) == count;
  }
  if (fits)
    return part;
  layer.broken("assigns " + Twine(count) +
               " elements to a part of another size of an axis of " +
               Twine(size));
  return std::nullopt;
}

/// Returns the part of each axis of a tensor of the shape `shape` to which a
/// value of the shape `assigned` is assigned. Returns nullopt after an error.
static std::optional<SmallVector<AxisPart>>
selectParts(Layer &layer, const SliceBounds &bounds, ArrayRef<int64_t> shape,
            ArrayRef<int64_t> assigned) {
  size_t entries = bounds.strides.size();
  int64_t rank = int64_t(shape.size()), named = 0;
  for (size_t i = 0; i < entries; ++i)
    named += !StridedSlice::has(bounds.ellipsisMask, i) &&
             !StridedSlice::has(bounds.newAxisMask, i);
  SmallVector<AxisPart> parts;
  size_t next = 0; // axis of the value
  auto fail = [&]() -> std::optional<SmallVector<AxisPart>> {
    layer.broken("assigns a value of shape " + toString(assigned) +
                 " to a part of a variable of shape " + toString(shape) +
                 " of another shape");
    return std::nullopt;
  };
  auto takeWhole = [&] {
    AxisPart part{shape[parts.size()]};
    part.count = part.size;
    bool fits = next < assigned.size() && assigned[next++] == part.size;
    parts.push_back(part);
    return fits;
  };
  for (size_t i = 0; i < entries; ++i) {
    if (StridedSlice::has(bounds.ellipsisMask, i)) {
      for (int64_t n = rank - named; n > 0; --n)
        if (int64_t(parts.size()) == rank || !takeWhole())
          return fail();
      continue;
    }
    if (StridedSlice::has(bounds.newAxisMask, i)) {
      if (next == assigned.size() || assigned[next++] != 1)
        return fail();
      continue;
    }
    bool shrinks = StridedSlice::has(bounds.shrinkMask, i);
    if (int64_t(parts.size()) == rank || bounds.strides[i] == 0 ||
        std::abs(bounds.strides[i]) > kMaxDim ||
        (!shrinks && next == assigned.size()))
      return fail();
    auto part = selectPart(layer, bounds, i, shape[parts.size()],
                           shrinks ? 1 : assigned[next++]);
    if (!part)
      return std::nullopt;
    parts.push_back(*part);
  }
  while (int64_t(parts.size()) < rank)
    if (!takeWhole())
      return fail();
  if (next != assigned.size())
    return fail();
  return parts;
}

/// Converts ResourceStridedSliceAssign: the elements of the value replace those
/// of the variable at the places that the slice selects.
Value convertStridedSliceAssign(Layer &layer) {
  Value x = readTarget(layer);
  SmallVector<Value> inputs = layer.getTensors(1, 4);
  if (!x || inputs.empty())
    return {};
  Value value = inputs[3];
  auto steps = layer.readInts(inputs[2], "strides");
  if (!steps || !areIndices(layer, inputs[0]) || !areIndices(layer, inputs[1]))
    return {};
  if (getElement(value) != getElement(x))
    return layer.broken("assigns a value of another type than the variable's");
  auto read = [&](Value bound) -> std::optional<Sizes> {
    auto known = readElements(layer.foldKnown(bound));
    return known ? std::optional<Sizes>(known->ints) : std::nullopt;
  };
  SliceBounds bounds{readSliceMasks(layer), inputs[0], read(inputs[0]),
                     read(inputs[1])};
  bounds.strides = *steps;
  int64_t entries = int64_t(steps->size());
  if (entries > 32 || getNumElements(inputs[0]) != entries ||
      getNumElements(inputs[1]) != entries || getRank(inputs[0]) != 1)
    return layer.broken("has begins, ends and strides of different lengths");
  auto parts = selectParts(layer, bounds, getShape(x), getShape(value));
  if (!parts)
    return {};
  // The axes behind the last one of which only a part is assigned are one.
  size_t depth = parts->size();
  while (depth > 0 && (*parts)[depth - 1].isWhole())
    --depth;
  if (depth == 0)
    return assignTarget(layer, layer.reshape(value, getShape(x)));
  Type element = layer.getBuilder().getI64Type();
  Value places;
  int64_t count = 1, stride = 1, size = 1;
  for (const AxisPart &part : llvm::drop_begin(*parts, depth))
    size *= part.size;
  for (size_t axis = depth; axis-- > 0;) {
    const AxisPart &part = (*parts)[axis];
    Value along =
        makeCounts(layer, part.count, element, int64_t(axis), int64_t(depth));
    along = layer.createElementwise(
        "add", {layer.createElementwise(
                    "mul", {along, layer.splat(double(part.step), element)}),
                part.computed ? layer.castTo(part.computed, element)
                              : layer.splat(double(part.start), element)});
    along = layer.createElementwise(
        "mul", {along, layer.splat(double(stride), element)});
    places = places ? layer.createElementwise("add", {places, along}) : along;
    stride *= part.size;
    count *= part.count;
  }
  Value changed = layer.create<nn::ScatterOp>(
      nn::ScatterKind::replace, layer.reshape(x, {stride, size}),
      layer.reshape(places, {count}), layer.reshape(value, {count, size}));
  return assignTarget(layer, layer.reshape(changed, getShape(x)));
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Combines the slices at the places `indices`, whose last axis has the numbers
/// of a place, with the updates in input 2.
static Value scatterTarget(Layer &layer, nn::ScatterKind kind, bool isNd,
                           bool negates = false) {
  Value x = readTarget(layer), indices = layer.getInput(1),
        updates = layer.getInput(2);
  if (!x || !indices || !updates)
    return {};
  if (!isNd) {
    Sizes shape(getShape(indices));
    if (getRank(updates) == 0) {
      Sizes whole = shape;
      llvm::append_range(whole, getShape(x).drop_front(getRank(x) ? 1 : 0));
      updates = layer.expand(updates, whole);
    }
    shape.push_back(1);
    indices = layer.reshape(indices, shape);
  }
  if (negates)
    updates = layer.createElementwise("neg", {updates});
  Value changed = scatterAt(layer, kind, x, indices, updates);
  return changed ? assignTarget(layer, changed) : Value();
}

Value convertResourceScatterAdd(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::add, false);
}
Value convertResourceScatterMax(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::max, false);
}
Value convertResourceScatterMin(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::min, false);
}
Value convertResourceScatterSub(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::add, false, true);
}
Value convertResourceScatterUpdate(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::replace, false);
}
Value convertResourceScatterNdAdd(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::add, true);
}
Value convertResourceScatterNdMax(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::max, true);
}
Value convertResourceScatterNdMin(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::min, true);
}
Value convertResourceScatterNdSub(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::add, true, true);
}
Value convertResourceScatterNdUpdate(Layer &layer) {
  return scatterTarget(layer, nn::ScatterKind::replace, true);
}

} // namespace nnc::tensorflow
