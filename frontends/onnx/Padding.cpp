//===- Padding.cpp - Tensors made larger by what they hold ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

//===----------------------------------------------------------------------===//
// Expand and Tile
//===----------------------------------------------------------------------===//

Value convertExpand(Node &node) {
  Value x = node.getOperand(0);
  auto shape = node.getConstantInts(1, "shapes");
  if (!shape)
    return {};
  for (int64_t size : *shape)
    if (size < 0 || size > kMaxDim)
      return node.broken("asks for shape " + toString(*shape));
  auto result = nn::broadcastShapes({getShape(x), *shape});
  if (!result)
    return node.broken("cannot expand a tensor of shape " +
                       toString(getShape(x)) + " to " + toString(*shape));
  // Axes that only x has come first in the other's shape too.
  return node.expand(x, *result);
}

/// Opset 1 repeated one axis, given by an input.
static std::optional<SmallVector<int64_t>> getRepeats(Node &node, Value x) {
  auto repeats = node.getConstantInts(1, "repeats");
  if (!repeats || node.getVersion() >= 6)
    return repeats;
  auto axis = node.getConstantInts(2, "axes");
  if (!axis || axis->size() != 1 || repeats->size() != 1) {
    node.broken("needs one axis and one number of tiles");
    return std::nullopt;
  }
  auto normal = node.normalizeAxis((*axis)[0], getRank(x));
  if (!normal)
    return std::nullopt;
  SmallVector<int64_t> all(getRank(x), 1);
  all[*normal] = (*repeats)[0];
  return all;
}

Value convertTile(Node &node) {
  Value x = node.getOperand(0);
  auto repeats = getRepeats(node, x);
  if (!repeats)
    return {};
  if (static_cast<int64_t>(repeats->size()) != getRank(x))
    return node.broken("has " + Twine(repeats->size()) +
                       " repeats for an input of " + Twine(getRank(x)) +
                       " axes");
  SmallVector<int64_t> shape(getShape(x));
  for (auto [axis, count] : llvm::enumerate(*repeats)) {
    if (count < 0 || count > kMaxDim)
      return node.broken("repeats an axis " + Twine(count) + " times");
    if (count == 1 || !x)
      continue;
    // [outer, size * inner] -> [outer, count, size * inner]
    int64_t outer = product(ArrayRef(shape).take_front(axis)),
            inner = product(ArrayRef(shape).drop_front(axis));
    shape[axis] *= count;
    if (auto problem = findSizeProblem(shape, getElement(x)))
      return node.fail(ImportStatus::limit, "has a result " + *problem);
    x = node.expand(node.reshape(x, {outer, 1, inner}), {outer, count, inner});
    x = node.reshape(x, shape);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// All begins, then all ends, for every axis of x.
static std::optional<SmallVector<int64_t>> getPads(Node &node, Value x) {
  int64_t rank = getRank(x);
  // Attributes before opset 11, of another name before opset 2.
  auto given = node.getVersion() >= 11 ? node.getConstantInts(1, "pads")
                                       : node.getInts("pads");
  if (node.getVersion() < 2)
    given = node.getInts("paddings");
  std::optional<SmallVector<int64_t>> axes;
  if (!given || !node.getAxes(3, "axes", rank, axes))
    return std::nullopt;
  if (!axes)
    axes = iota(rank);
  if (given->size() != 2 * axes->size()) {
    node.broken("has " + Twine(given->size()) + " pads for " +
                Twine(axes->size()) + " axes");
    return std::nullopt;
  }
  SmallVector<int64_t> pads(2 * rank, 0);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    pads[axis] = (*given)[i];
    pads[rank + axis] = (*given)[axes->size() + i];
  }
  for (int64_t pad : pads)
    if (std::abs(pad) > kMaxDim) {
      node.broken("has a pad of " + Twine(pad));
      return std::nullopt;
    }
  return pads;
}

/// What to pad with where that is known and the routines' parameter, a float,
/// holds it; else nothing.
static std::optional<double> getPadValue(Node &node) {
  if (node.getVersion() < 11)
    return node.getFloat("value");
  if (!node.getOperand(2))
    return 0;
  auto value = readElements(node.getOperand(2));
  if (!value)
    return std::nullopt;
  if (value->isReal()) {
    double real = value->reals[0];
    bool isExact = std::isnan(real) || static_cast<float>(real) == real;
    return isExact ? std::optional<double>(real) : std::nullopt;
  }
  constexpr int64_t most = 1 << 24;
  bool isExact = value->ints[0] >= -most && value->ints[0] <= most;
  return isExact ? std::optional<double>(value->ints[0]) : std::nullopt;
}

/// Pads with a value that is computed: chosen wherever a padded mask is false.
static Value padWithOperand(Node &node, Value x, ArrayRef<int64_t> pads) {
  auto pad = [&](Value value) {
    return node.create<nn::PadOp>(nn::PadMode::constant, value, pads,
                                  APFloat(0.0));
  };
  Value mask = pad(node.splat(1, node.getBuilder().getI1Type(), getShape(x)));
  return node.createElementwise(
      "select", {mask, pad(x), node.reshape(node.getOperand(2), {})});
}

Value convertPad(Node &node) {
  Value x = node.getOperand(0);
  StringRef name = node.getString("mode");
  auto mode = nn::symbolizePadMode(name);
  if (!mode)
    return node.broken("has mode '" + name + "', which ONNX does not know");
  auto pads = getPads(node, x);
  if (!pads)
    return {};
  if (llvm::all_of(*pads, [](int64_t pad) { return pad == 0; }))
    return x;
  // What reflection or repetition takes lies inside the input.
  for (auto [i, pad] : llvm::enumerate(*pads)) {
    int64_t size = getShape(x)[i % getRank(x)];
    bool isTooFar = (*mode == nn::PadMode::reflect && pad >= size) ||
                    (*mode != nn::PadMode::constant && pad > 0 && size == 0);
    if (isTooFar)
      return node.broken("pads an axis of " + Twine(size) + " elements by " +
                         Twine(pad) + " in mode '" + name + "'");
  }
  if (*mode != nn::PadMode::constant)
    return node.create<nn::PadOp>(*mode, x, *pads, APFloat(0.0));
  if (node.getOperand(2) && getNumElements(node.getOperand(2)) != 1)
    return node.broken("needs one value to pad with, not a tensor of shape " +
                       toString(getShape(node.getOperand(2))));
  if (auto value = getPadValue(node))
    return node.create<nn::PadOp>(*mode, x, *pads, APFloat(*value));
  return padWithOperand(node, x, *pads);
}

} // namespace nnc::onnx
