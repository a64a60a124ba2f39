//===- Shapes.cpp - Reshapes, transposes, and shapes as values ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

//===----------------------------------------------------------------------===//
// Reshape and its special cases
//===----------------------------------------------------------------------===//

Value convertReshape(Node &node) {
  Value x = node.getOperand(0);
  // Before opset 5 the shape was an attribute.
  auto shape = node.getVersion() < 5 ? node.getInts("shape")
                                     : node.getConstantInts(1, "shapes");
  if (!shape)
    return {};
  bool keepsZeros = node.getBool("allowzero");
  int64_t known = 1, open = -1;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size == 0 && !keepsZeros) {
      if (static_cast<int64_t>(i) >= getRank(x))
        return node.broken("takes axis " + Twine(i) +
                           " from an input of shape " + toString(getShape(x)));
      size = getShape(x)[i];
    }
    bool isOpen = size == -1;
    if (size < -1 || size > kMaxDim || (isOpen && open >= 0))
      return node.broken("asks for shape " + toString(*shape));
    if (isOpen)
      open = i;
    else if (llvm::MulOverflow(known, size, known))
      return node.broken("asks for shape " + toString(*shape));
  }
  int64_t elements = getNumElements(x);
  bool fits = open < 0 ? known == elements : known > 0 && elements % known == 0;
  if (!fits)
    return node.broken("cannot give a tensor of shape " +
                       toString(getShape(x)) + " the shape " +
                       toString(*shape));
  if (open >= 0)
    (*shape)[open] = elements / known;
  return node.reshape(x, *shape);
}

Value convertFlatten(Node &node) {
  Value x = node.getOperand(0);
  int64_t rank = getRank(x), axis = node.getInt("axis");
  if (axis < -rank || axis > rank)
    return node.broken("splits a tensor of " + Twine(rank) + " axes at axis " +
                       Twine(axis));
  axis += axis < 0 ? rank : 0;
  return node.reshape(x, {product(getShape(x).take_front(axis)),
                          product(getShape(x).drop_front(axis))});
}

Value convertSqueeze(Node &node) {
  Value x = node.getOperand(0);
  std::optional<SmallVector<int64_t>> axes;
  if (!node.getAxes(1, "axes", getRank(x), axes))
    return {};
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(getShape(x))) {
    bool isNamed =
        axes && llvm::is_contained(*axes, static_cast<int64_t>(axis));
    if (isNamed && size != 1)
      return node.broken("removes axis " + Twine(axis) +
                         " of a tensor of shape " + toString(getShape(x)));
    if (axes ? !isNamed : size != 1)
      shape.push_back(size);
  }
  return node.reshape(x, shape);
}

Value convertUnsqueeze(Node &node) {
  Value x = node.getOperand(0);
  auto given = node.getVersion() < 13 ? node.getInts("axes")
                                      : node.getConstantInts(1, "axes");
  if (!given)
    return {};
  // The axes refer to the result, not to x.
  int64_t rank = getRank(x) + given->size();
  std::optional<SmallVector<int64_t>> axes;
  if (!node.getAxes(1, "axes", rank, axes))
    return {};
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> rest = getShape(x);
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool isNew = axes && llvm::is_contained(*axes, axis);
    shape.push_back(isNew ? 1 : rest.front());
    rest = isNew ? rest : rest.drop_front();
  }
  return node.reshape(x, shape);
}

//===----------------------------------------------------------------------===//
// Permutations of axes
//===----------------------------------------------------------------------===//

Value convertTranspose(Node &node) {
  Value x = node.getOperand(0);
  auto permutation = node.getInts("perm");
  if (!permutation) {
    permutation = iota(getRank(x));
    std::reverse(permutation->begin(), permutation->end());
  }
  SmallVector<int64_t> sorted(*permutation);
  llvm::sort(sorted);
  if (sorted != iota(getRank(x)))
    return node.broken("has permutation (" + toString(*permutation) +
                       ") of an input of " + Twine(getRank(x)) + " axes");
  return node.transpose(x, *permutation);
}

/// Returns the block size of DepthToSpace or SpaceToDepth. Channels are split
/// into blocks of elements of a plane: a channel index is (block row, block
/// column, channel) in mode DCR (`channelsLast`), and (channel, row, column) in
/// mode CRD.
static std::optional<int64_t> getBlock(Node &node, bool &channelsLast) {
  Value x = node.getOperand(0);
  int64_t block = node.getInt("blocksize");
  StringRef mode = node.getString("mode");
  if (getRank(x) != 4) {
    node.broken("needs an input of 4 axes, not one of shape " +
                toString(getShape(x)));
    return std::nullopt;
  }
  if (block < 1 || block > 1 << 15 ||
      (!mode.empty() && mode != "DCR" && mode != "CRD")) {
    node.broken("has block size " + Twine(block) + " and mode '" + mode + "'");
    return std::nullopt;
  }
  channelsLast = mode != "CRD";
  return block;
}

Value convertDepthToSpace(Node &node) {
  bool isDCR = true;
  auto b = getBlock(node, isDCR);
  if (!b)
    return {};
  Value x = node.getOperand(0);
  int64_t n = getShape(x)[0], c = getShape(x)[1], h = getShape(x)[2],
          w = getShape(x)[3], depth = c / (*b * *b);
  if (depth * *b * *b != c)
    return node.broken("cannot make " + Twine(c) + " channels blocks of " +
                       Twine(*b) + " by " + Twine(*b));
  if (isDCR) {
    x = node.reshape(x, {n, *b, *b, depth, h, w});
    x = node.transpose(x, {0, 3, 4, 1, 5, 2});
  } else {
    x = node.reshape(x, {n, depth, *b, *b, h, w});
    x = node.transpose(x, {0, 1, 4, 2, 5, 3});
  }
  return node.reshape(x, {n, depth, h * *b, w * *b});
}

Value convertSpaceToDepth(Node &node) {
  bool isDCR = true;
  auto b = getBlock(node, isDCR);
  if (!b)
    return {};
  Value x = node.getOperand(0);
  int64_t n = getShape(x)[0], c = getShape(x)[1], h = getShape(x)[2] / *b,
          w = getShape(x)[3] / *b;
  if (h * *b != getShape(x)[2] || w * *b != getShape(x)[3])
    return node.broken("cannot cut a plane of " +
                       toString(getShape(x).drop_front(2)) +
                       " into blocks of " + Twine(*b));
  x = node.reshape(x, {n, c, h, *b, w, *b});
  if (isDCR)
    x = node.transpose(x, {0, 3, 5, 1, 2, 4});
  else
    x = node.transpose(x, {0, 1, 3, 5, 2, 4});
  return node.reshape(x, {n, c * *b * *b, h, w});
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

Value convertShape(Node &node) {
  ArrayRef<int64_t> shape = getShape(node.getOperand(0));
  int64_t rank = shape.size();
  auto clamp = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = clamp(node.getInt("start")),
          end = clamp(node.getInt("end", rank));
  return node.constant(shape.slice(start, std::max<int64_t>(end - start, 0)));
}

Value convertSize(Node &node) {
  return node.reshape(node.constant(getNumElements(node.getOperand(0))), {});
}

} // namespace nnc::onnx
