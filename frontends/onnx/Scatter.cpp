//===- Scatter.cpp - ScatterElements, ScatterND and their like ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns what the node's updates do to the elements at their places, or
/// nullopt after a report.
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

} // namespace nnc::onnx
