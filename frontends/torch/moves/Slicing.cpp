//===- Slicing.cpp - Parts of tensors and their concatenation -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the sizes of the parts of a split of an axis of `size` elements, or
/// an empty list after an error.
static SmallVector<int64_t> getPartSizes(Node &node, int64_t size) {
  StringRef op = node.getOp();
  SmallVector<int64_t> sizes;
  if (op.starts_with("split_with_sizes") || op == "split.sizes") {
    sizes = node.getInts("split_sizes");
    if (sizes.empty())
      sizes = node.getInts("split_size");
    int64_t sum = 0;
    for (int64_t part : sizes) {
      if (part < 0 || part > size - sum) {
        node.broken("has parts that do not fit the axis of size " +
                    Twine(size));
        return {};
      }
      sum += part;
    }
    return sizes;
  }
  if (node.has("sections")) { // the first ones are larger by one
    int64_t count = node.getInt("sections");
    if (count < 1 || count > static_cast<int64_t>(node.getNumResults())) {
      node.broken("has " + Twine(count) + " parts");
      return {};
    }
    for (int64_t i = 0; i < count; ++i)
      sizes.push_back(size / count + (i < size % count));
    return sizes;
  }
  int64_t part = node.getInt("split_size");
  if (op.starts_with("chunk")) {
    int64_t count = node.getInt("chunks");
    part = count > 0 ? llvm::divideCeil(size, count) : 0;
  }
  if (op.starts_with("unbind"))
    part = 1;
  if (part <= 0 && size > 0) {
    node.broken("has parts of size " + Twine(part));
    return {};
  }
  for (int64_t at = 0; at < size && sizes.size() <= node.getNumResults();
       at += part)
    sizes.push_back(std::min(part, size - at));
  if (size == 0)
    sizes.push_back(0);
  return sizes;
}

std::optional<Part> getPart(Node &node, Value x, size_t result) {
  StringRef op = node.getOp().split('.').first;
  op.consume_back("_");
  int64_t rank = getRank(x) - node.isComplex("self"); // with an axis of parts
  // hsplit, vsplit and dsplit have their axis in their names.
  int64_t otherwise = op == "hsplit"   ? (rank > 1 ? 1 : 0)
                      : op == "dsplit" ? 2
                                       : 0;
  auto axis = node.getAxis("dim", rank, otherwise);
  if (!axis)
    return std::nullopt;
  if (rank == 0) {
    node.broken("takes a part of a scalar");
    return std::nullopt;
  }
  int64_t size = getShape(x)[*axis];
  auto clamp = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
  };
  if (op.starts_with("select")) {
    int64_t index = node.getInt("index");
    if (index < -size || index >= size) {
      node.broken("selects index " + Twine(index) + " of an axis of size " +
                  Twine(size));
      return std::nullopt;
    }
    return Part{*axis, index < 0 ? index + size : index, 1, 1, true};
  }
  if (op.starts_with("narrow")) {
    int64_t start = node.getInt("start"), length = node.getInt("length");
    start = start < 0 ? start + size : start;
    if (start < 0 || length < 0 || start > size || length > size - start) {
      node.broken("takes " + Twine(length) + " elements from " + Twine(start) +
                  " on of an axis of size " + Twine(size));
      return std::nullopt;
    }
    return Part{*axis, start, length, 1, false};
  }
  if (op.starts_with("slice")) {
    int64_t start = clamp(node.getInt("start", 0)),
            end = clamp(node.getInt("end", INT64_MAX)),
            step = node.getInt("step", 1);
    if (step <= 0) {
      node.broken("has the step " + Twine(step));
      return std::nullopt;
    }
    int64_t length =
        end > start ? (end - start - 1) / std::min(step, size) + 1 : 0;
    return Part{*axis, start, length,
                std::min(step, std::max<int64_t>(size, 1)), false};
  }
  if (node.has("indices")) { // tensor_split: the places between parts
    SmallVector<int64_t> places = node.getInts("indices");
    if (result > places.size()) {
      node.broken("has no part number " + Twine(result));
      return std::nullopt;
    }
    int64_t start = result == 0 ? 0 : clamp(places[result - 1]),
            end = result == places.size() ? size : clamp(places[result]);
    return Part{*axis, start, std::max<int64_t>(end - start, 0), 1, false};
  }
  SmallVector<int64_t> sizes = getPartSizes(node, size);
  if (result >= sizes.size()) {
    node.broken("has no part number " + Twine(result));
    return std::nullopt;
  }
  int64_t start = 0;
  for (size_t i = 0; i < result; ++i)
    start += sizes[i];
  return Part{*axis, start, sizes[result], 1, op.starts_with("unbind")};
}

Value readPart(Node &node, Value x, const Part &part) {
  Value y = node.slice(x, part.axis, part.start, part.size, part.step);
  if (!y || !part.dropsAxis)
    return y;
  SmallVector<int64_t> shape(getShape(x));
  shape.erase(shape.begin() + part.axis);
  return node.reshape(y, shape);
}

Value writePart(Node &node, Value x, Value values, const Part &part) {
  if (!x || !values)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  shape[part.axis] = part.size;
  values = node.expand(node.castTo(values, getElement(x)), shape);
  int64_t size = getShape(x)[part.axis];
  if (part.size == size)
    return values;
  if (part.size == 0)
    return x;
  if (part.step != 1) {
    // The axis is split into periods of `step` indices, of which the first is
    // replaced; the last period may be cut off.
    SmallVector<Value> pieces;
    int64_t at = 0;
    for (int64_t i = 0; i < part.size; ++i) {
      int64_t place = part.start + i * part.step;
      if (place > at)
        pieces.push_back(node.slice(x, part.axis, at, place - at));
      pieces.push_back(node.slice(values, part.axis, i, 1));
      at = place + 1;
    }
    if (at < size)
      pieces.push_back(node.slice(x, part.axis, at, size - at));
    return node.create<nn::ConcatOp>(ValueRange(pieces), part.axis);
  }
  SmallVector<Value> pieces;
  int64_t end = part.start + part.size;
  if (part.start > 0)
    pieces.push_back(node.slice(x, part.axis, 0, part.start));
  pieces.push_back(values);
  if (end < size)
    pieces.push_back(node.slice(x, part.axis, end, size - end));
  return node.create<nn::ConcatOp>(ValueRange(pieces), part.axis);
}

/// Returns the first elements of `x` along an axis if a slice takes as many as
/// a data-dependent size; null for other parts.
static Value takeFound(Node &node, Value x) {
  GraphImporter &importer = node.getImporter();
  auto end = node.has("end") ? node.getScalar("end") : std::nullopt;
  auto start = node.has("start") ? node.getScalar("start") : std::nullopt;
  auto axis = node.getAxis("dim", getRank(x));
  if (!end || !axis || getRank(x) == 0 || node.getInt("step", 1) != 1 ||
      (start && (start->length || start->integer != 0 || start->value)))
    return {};
  StringRef self = node.getTensorName("self");
  auto before = importer.findLength(node.getScope(), self, *axis);
  if (!before && !end->length)
    return {};
  auto size = importer.addComputedLength(node, 0, *axis);
  if (!size)
    return {};
  if (size == before)
    return x;
  SmallVector<int64_t> order = iota(getRank(x));
  std::swap(order[0], order[*axis]);
  return node.transpose(
      importer.getLengths().cut(node, node.transpose(x, order), *size), order);
}

/// Converts operators with one result that is a part of the operand.
/// Returns the part of `x` that select or narrow takes at an index that the
/// network computes; null if the index is known, or the operator is another.
static Value readComputedPart(Node &node, Value x) {
  bool isSelect = node.getOp().starts_with("select."),
       isNarrow = node.getOp().starts_with("narrow.");
  if ((!isSelect && !isNarrow) || node.isComplex("self") || getRank(x) == 0)
    return {};
  auto index = node.getScalar(isSelect ? "index" : "start");
  if (!index || !index->value || index->length || index->isOfSizes)
    return {};
  auto axis = node.getAxis("dim", getRank(x), 0);
  if (!axis)
    return {};
  Value places = node.reshape(
      node.castTo(index->value, node.getBuilder().getI64Type()), {});
  if (isNarrow) {
    int64_t length = node.getInt("length");
    if (length < 0 || length > getShape(x)[*axis])
      return node.broken("takes " + Twine(length) +
                         " elements of an axis of size " +
                         Twine(getShape(x)[*axis]));
    places =
        node.createElementwise("add", {node.constant(iota(length)), places});
  }
  return places ? node.create<nn::GatherOp>(x, places, *axis) : Value();
}

Value convertPart(Node &node) {
  Value x = node.getTensor("self");
  if (Value part = x ? readComputedPart(node, x) : Value())
    return part;
  if (node.hasFailed())
    return {};
  bool mayBeFound = x && node.getOp().starts_with("slice") &&
                    !node.getImporter().getLengths().getSizes().empty();
  if (Value found = mayBeFound ? takeFound(node, x) : Value())
    return found;
  auto part = x ? getPart(node, x, 0) : std::nullopt;
  return part ? readPart(node, x, *part) : Value();
}

/// Converts operators whose results are all parts of the operand.
Value convertSplit(Node &node) {
  Value x = node.getTensor("self"), first;
  for (size_t i = 0; x && i < node.getNumResults(); ++i) {
    auto part = getPart(node, x, i);
    if (!part)
      return {};
    Value y = readPart(node, x, *part);
    node.setResult(i, y);
    if (i == 0)
      first = y;
  }
  return first;
}

/// Converts slice_scatter and select_scatter: a copy of the operand with one
/// part replaced.
Value convertPartScatter(Node &node) {
  Value x = node.getTensor("self"), values = node.getTensor("src");
  auto part = x && values ? getPart(node, x, 0) : std::nullopt;
  if (!part)
    return {};
  if (part->dropsAxis)
    values = node.unsqueeze(values, part->axis);
  return writePart(node, x, values, *part);
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

/// Casts tensors to the type to which PyTorch promotes them. Returns false if
/// one is null.
static bool unify(Node &node, SmallVectorImpl<Value> &tensors) {
  SmallVector<Node::Operand> operands;
  for (Value tensor : tensors)
    operands.push_back({tensor});
  Type type = node.promote(operands);
  for (Value &tensor : tensors)
    tensor = type ? node.castTo(tensor, type) : Value();
  return !tensors.empty() && !llvm::is_contained(tensors, Value());
}

Value convertCat(Node &node) {
  SmallVector<Value> tensors = node.getTensors("tensors");
  if (!unify(node, tensors))
    return node.hasFailed() ? Value() : node.broken("has no tensors");
  // Empty vectors fit all shapes.
  Value first = tensors[0];
  llvm::erase_if(tensors, [&](Value tensor) {
    return getRank(tensor) == 1 && getNumElements(tensor) == 0;
  });
  if (tensors.empty())
    return first;
  auto axis = node.getAxis("dim", getRank(tensors[0]));
  if (!axis)
    return {};
  return tensors.size() == 1
             ? tensors[0]
             : node.create<nn::ConcatOp>(ValueRange(tensors), *axis);
}

Value convertStack(Node &node) {
  SmallVector<Value> tensors = node.getTensors("tensors");
  if (!unify(node, tensors))
    return node.hasFailed() ? Value() : node.broken("has no tensors");
  auto axis = node.getAxis("dim", getRank(tensors[0]) + 1);
  if (!axis)
    return {};
  for (Value &tensor : tensors) {
    if (getRank(tensor) < *axis)
      return node.broken("stacks tensors of different shapes");
    tensor = node.unsqueeze(tensor, *axis);
  }
  return tensors.size() == 1
             ? tensors[0]
             : node.create<nn::ConcatOp>(ValueRange(tensors), *axis);
}

/// Converts hstack, vstack and the like: concatenations along an axis, which
/// tensors with fewer axes get before.
Value convertStackAlong(Node &node) {
  SmallVector<Value> tensors = node.getTensors("tensors");
  if (!unify(node, tensors))
    return node.hasFailed() ? Value() : node.broken("has no tensors");
  bool isRows = node.getOp().starts_with("vstack") ||
                node.getOp().starts_with("row_stack"),
       isColumns = node.getOp().starts_with("column"),
       isDeep = node.getOp().starts_with("dstack");
  for (Value &tensor : tensors) {
    if (getRank(tensor) == 0)
      tensor = node.reshape(tensor, {1});
    if ((isRows || isColumns) && getRank(tensor) == 1)
      tensor = node.unsqueeze(tensor, isRows ? 0 : 1);
    if (isDeep && getRank(tensor) == 1)
      tensor = node.unsqueeze(tensor, 0);
    if (isDeep && getRank(tensor) == 2)
      tensor = node.unsqueeze(tensor, 2);
  }
  int64_t axis = isDeep ? 2 : isRows || getRank(tensors[0]) == 1 ? 0 : 1;
  return tensors.size() == 1
             ? tensors[0]
             : node.create<nn::ConcatOp>(ValueRange(tensors), axis);
}

/// Converts a reversal of axes, a roll along axes and the like.
Value convertFlip(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> axes = node.getInts("dims");
  if (!x || !node.normalizeAxes(axes, getRank(x)))
    return {};
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x)),
      steps(getRank(x), 1);
  for (int64_t axis : axes) {
    starts[axis] = std::max<int64_t>(sizes[axis] - 1, 0);
    steps[axis] = -1;
  }
  return node.create<nn::SliceOp>(x, ArrayRef<int64_t>(starts),
                                  ArrayRef<int64_t>(sizes),
                                  ArrayRef<int64_t>(steps));
}

/// Converts fliplr and flipud.
Value convertFlipAlong(Node &node) {
  Value x = node.getTensor("self");
  int64_t axis = node.getOp().starts_with("fliplr") ? 1 : 0;
  if (!x || getRank(x) <= axis)
    return x ? node.broken("has too few axes") : x;
  int64_t size = getShape(x)[axis];
  return node.slice(x, axis, std::max<int64_t>(size - 1, 0), size, -1);
}

Value convertRoll(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> shifts = node.getInts("shifts"),
                       axes = node.getInts("dims");
  if (!x)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  if (axes.empty()) {
    x = node.reshape(x, {getNumElements(x)});
    axes.push_back(0);
  }
  if (shifts.size() != axes.size())
    return node.broken("has other numbers of shifts and axes");
  for (auto [shift, given] : llvm::zip_equal(shifts, axes)) {
    auto axis = node.normalizeAxis(given, std::max<int64_t>(getRank(x), 1));
    if (!axis || getNumElements(x) == 0 || getRank(x) == 0)
      return axis ? x : Value();
    int64_t size = getShape(x)[*axis], by = ((shift % size) + size) % size;
    if (by == 0)
      continue;
    SmallVector<Value> parts = {node.slice(x, *axis, size - by, by),
                                node.slice(x, *axis, 0, size - by)};
    x = node.create<nn::ConcatOp>(ValueRange(parts), *axis);
    if (!x)
      return {};
  }
  return node.reshape(x, shape);
}

/// Converts fft_fftshift and fft_ifftshift, which turn axes by half their size.
Value convertFftShift(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  // Complex numbers have an axis of parts.
  bool isComplex =
      node.getImporter().isComplex(node.getScope(), node.getTensorName("self"));
  auto axes = node.getAxes("dim", getRank(x) - isComplex);
  if (!axes)
    return {};
  bool isInverse = node.getOp().starts_with("fft_ifft");
  for (int64_t axis : *axes) {
    int64_t size = getShape(x)[axis];
    int64_t first = isInverse ? size / 2 : size - size / 2; // goes to the front
    if (first == 0 || first == size)
      continue;
    SmallVector<Value> parts = {node.slice(x, axis, first, size - first),
                                node.slice(x, axis, 0, first)};
    x = node.create<nn::ConcatOp>(ValueRange(parts), axis);
    if (!x)
      return {};
  }
  return x;
}

} // namespace nnc::torch
