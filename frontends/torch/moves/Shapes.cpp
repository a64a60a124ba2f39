//===- Shapes.cpp - Reshapes, transposes and broadcasts -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/moves/Moves.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

std::optional<SmallVector<int64_t>>
resolveShape(Node &node, ArrayRef<int64_t> shape, int64_t elements) {
  SmallVector<int64_t> sizes(shape);
  std::optional<size_t> open;
  int64_t known = 1;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (size == -1 && !open) {
      open = axis;
      continue;
    }
    if (size < 0 || llvm::MulOverflow(known, size, known)) {
      node.broken("has the shape " + toString(shape));
      return std::nullopt;
    }
  }
  if (open && (known == 0 || elements % known != 0)) {
    node.broken("has the shape " + toString(shape) + " for " + Twine(elements) +
                " elements");
    return std::nullopt;
  }
  if (open)
    sizes[*open] = elements / known;
  return sizes;
}

static Value reshapeTo(Node &node, Value x, ArrayRef<int64_t> shape) {
  if (!x)
    return {};
  auto sizes = resolveShape(node, shape, getNumElements(x));
  return sizes ? node.reshape(x, *sizes) : Value();
}

Value convertView(Node &node) {
  return reshapeTo(node, node.getTensor("self"), node.getInts("size"));
}
Value convertReshape(Node &node) {
  return reshapeTo(node, node.getTensor("self"), node.getInts("shape"));
}
Value convertViewAs(Node &node) {
  Value x = node.getTensor("self"), other = node.getTensor("other");
  return x && other ? node.reshape(x, getShape(other)) : Value();
}

Value convertFlatten(Node &node) {
  Value x = node.getTensor("self");
  auto first = node.getAxis("start_dim", getRank(x), 0),
       last = node.getAxis("end_dim", getRank(x), -1);
  if (!x || !first || !last)
    return {};
  if (getRank(x) == 0)
    return node.reshape(x, {1});
  if (*first > *last)
    return node.broken("flattens the axes from " + Twine(*first) + " to " +
                       Twine(*last));
  ArrayRef<int64_t> shape = getShape(x);
  SmallVector<int64_t> sizes(shape.take_front(*first));
  sizes.push_back(product(shape.slice(*first, *last - *first + 1)));
  llvm::append_range(sizes, shape.drop_front(*last + 1));
  return node.reshape(x, sizes);
}

Value convertRavel(Node &node) {
  Value x = node.getTensor("self");
  return x ? node.reshape(x, {getNumElements(x)}) : x;
}

/// Converts atleast_1d and the like, which add axes in front; atleast_3d adds
/// the third one behind.
Value convertAtLeast(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  int64_t least = node.getOp()[StringRef("atleast_").size()] - '0';
  while (x && getRank(x) < least)
    x = node.unsqueeze(x, least == 3 && getRank(x) == 2 ? 2 : 0);
  return x;
}

Value convertUnflatten(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x));
  if (!x || !axis || getRank(x) == 0)
    return {};
  auto parts = resolveShape(node, node.getInts("sizes"), getShape(x)[*axis]);
  if (!parts)
    return {};
  SmallVector<int64_t> sizes(getShape(x));
  sizes.erase(sizes.begin() + *axis);
  sizes.insert(sizes.begin() + *axis, parts->begin(), parts->end());
  return node.reshape(x, sizes);
}

Value convertUnsqueeze(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x) + 1);
  return axis ? node.unsqueeze(x, *axis) : Value();
}

/// Converts squeeze along all axes of size 1, or along those of them that it
/// names.
Value convertSqueeze(Node &node) {
  Value x = node.getTensor("self");
  auto axes = node.getAxes("dim", getRank(x));
  if (!x || !axes)
    return {};
  // An empty list of axes names none, unlike a list that is absent.
  if (node.has("dim") && node.getInts("dim").empty())
    axes->clear();
  SmallVector<int64_t> sizes;
  for (auto [axis, size] : llvm::enumerate(getShape(x)))
    if (size != 1 || !llvm::is_contained(*axes, int64_t(axis)))
      sizes.push_back(size);
  return node.reshape(x, sizes);
}

//===----------------------------------------------------------------------===//
// Orders of axes
//===----------------------------------------------------------------------===//

/// Returns the permutation of axes other than that of the parts of complex
/// numbers.
static std::optional<SmallVector<int64_t>> getOwnPermutation(Node &node,
                                                             int64_t rank) {
  StringRef op = node.getOp().split('.').first;
  op.consume_back("_");
  SmallVector<int64_t> order = iota(rank);
  if (op == "permute") {
    order = node.getInts("dims");
    if (!node.normalizeAxes(order, rank))
      return std::nullopt;
    if (int64_t(order.size()) != rank) {
      node.broken("has " + Twine(order.size()) + " axes for a tensor of " +
                  Twine(rank));
      return std::nullopt;
    }
    return order;
  }
  if (op == "movedim" || op == "moveaxis") {
    SmallVector<int64_t> from = node.getInts("source"),
                         to = node.getInts("destination");
    if (from.size() != to.size() || !node.normalizeAxes(from, rank) ||
        !node.normalizeAxes(to, rank)) {
      node.broken("moves axes to other numbers of axes");
      return std::nullopt;
    }
    SmallVector<int64_t> rest;
    for (int64_t axis : iota(rank))
      if (!llvm::is_contained(from, axis))
        rest.push_back(axis);
    auto next = rest.begin();
    for (int64_t place : iota(rank)) {
      const auto *found = llvm::find(to, place);
      order[place] = found != to.end() ? from[found - to.begin()] : *next++;
    }
    return order;
  }
  if (op == "transpose" || op.starts_with("swap")) {
    bool isAxis = node.has("axis0");
    auto a = node.getAxis(isAxis ? "axis0" : "dim0", rank),
         b = node.getAxis(isAxis ? "axis1" : "dim1", rank);
    if (!a || !b)
      return std::nullopt;
    if (rank > 0)
      std::swap(order[*a], order[*b]);
    return order;
  }
  // t, numpy_T, mT and the like: the last two axes or all of them in reverse.
  if ((op == "mT" || op == "mH" || op == "adjoint") && rank >= 2)
    std::swap(order[rank - 2], order[rank - 1]);
  else
    std::reverse(order.begin(), order.end());
  return order;
}

std::optional<SmallVector<int64_t>> getPermutation(Node &node, int64_t rank) {
  if (!node.isComplex("self"))
    return getOwnPermutation(node, rank);
  auto order = getOwnPermutation(node, rank - 1);
  if (order)
    order->push_back(rank - 1);
  return order;
}

Value convertTranspose(Node &node) {
  Value x = node.getTensor("self");
  auto order = x ? getPermutation(node, getRank(x)) : std::nullopt;
  return order ? node.transpose(x, *order) : Value();
}

//===----------------------------------------------------------------------===//
// Broadcasts and repetitions
//===----------------------------------------------------------------------===//

Value convertExpand(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> sizes = node.getInts("size");
  if (!x)
    return {};
  int64_t more = int64_t(sizes.size()) - getRank(x);
  if (more < 0)
    return node.broken("expands to fewer axes");
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (size == -1 && int64_t(axis) >= more)
      size = getShape(x)[axis - more];
    if (size < 0)
      return node.broken("expands to a negative size");
  }
  return node.expand(x, sizes);
}

Value convertExpandAs(Node &node) {
  Value x = node.getTensor("self"), other = node.getTensor("other");
  return x && other ? node.expand(x, getShape(other)) : Value();
}

Value convertBroadcastTensors(Node &node) {
  SmallVector<Value> tensors = node.getTensors("tensors");
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value tensor : tensors)
    shapes.push_back(getShape(tensor));
  if (tensors.empty() || llvm::is_contained(tensors, Value()))
    return {};
  SmallVector<int64_t> common(shapes[0]);
  for (ArrayRef<int64_t> shape : shapes) {
    auto wider = nn::broadcastShapes({common, shape});
    if (!wider)
      return node.broken("broadcasts tensors whose shapes do not fit");
    common.assign(wider->begin(), wider->end());
  }
  Value first;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    Value expanded = node.expand(tensor, common);
    node.setResult(i, expanded);
    if (i == 0)
      first = expanded;
  }
  return first;
}

/// Returns `x` repeated as a whole along each axis.
static Value repeat(Node &node, Value x, ArrayRef<int64_t> counts) {
  if (!x)
    return {};
  int64_t rank = counts.size();
  SmallVector<int64_t> shape(rank - getRank(x), 1);
  llvm::append_range(shape, getShape(x));
  // An axis of size 1 in front of each axis is expanded.
  SmallVector<int64_t> single, expanded, merged;
  for (auto [size, count] : llvm::zip_equal(shape, counts)) {
    int64_t total;
    if (count < 0 || llvm::MulOverflow(size, count, total))
      return node.broken("repeats an axis " + Twine(count) + " times");
    if (count != 1) {
      single.push_back(1);
      expanded.push_back(count);
    }
    single.push_back(size);
    expanded.push_back(size);
    merged.push_back(total);
  }
  if (!node.checkSize(RankedTensorType::get(merged, getElement(x))))
    return {};
  return node.reshape(node.expand(node.reshape(x, single), expanded), merged);
}

Value convertRepeat(Node &node) {
  Value x = node.getTensor("self");
  bool isTile = node.has("dims");
  SmallVector<int64_t> counts = node.getInts(isTile ? "dims" : "repeats");
  if (!x)
    return {};
  if (int64_t(counts.size()) < getRank(x)) {
    if (!isTile)
      return node.broken("has fewer counts than its operand has axes");
    counts.insert(counts.begin(), getRank(x) - counts.size(), 1);
  }
  return repeat(node, x, counts);
}

/// Converts a repetition of each element, the same number of times.
Value convertRepeatInterleave(Node &node) {
  Value x = node.getTensor("self");
  int64_t count = node.getInt("repeats");
  if (!x)
    return {};
  if (!node.has("dim"))
    x = node.reshape(x, {getNumElements(x)});
  auto axis = node.getAxis("dim", getRank(x));
  if (!axis)
    return {};
  int64_t total;
  if (count < 0 || llvm::MulOverflow(getShape(x)[*axis], count, total))
    return node.broken("repeats elements " + Twine(count) + " times");
  SmallVector<int64_t> merged(getShape(x));
  merged[*axis] = total;
  x = node.unsqueeze(x, *axis + 1);
  SmallVector<int64_t> expanded(getShape(x));
  expanded[*axis + 1] = count;
  return node.reshape(node.expand(x, expanded), merged);
}

} // namespace nnc::torch
